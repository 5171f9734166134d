"""The bill of materials: what the program needs and nothing else, and always the same."""

import json
import re
import runpy
import tomllib
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SBOM = runpy.run_path(str(ROOT / "ops" / "sbom.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def document():
    return SBOM["document"]()


def names(texts):
    return {re.split(r"[^\w-]", text)[0].lower() for text in texts}


def test_it_is_the_same_every_time(document):
    again = SBOM["document"]()

    assert json.dumps(again, sort_keys=True) == json.dumps(document, sort_keys=True)
    assert uuid.UUID(document["serialNumber"].removeprefix("urn:uuid:")).version == 5


def test_it_lists_what_the_program_needs_and_no_tool_of_its_making(document):
    listed = {component["name"] for component in document["components"]}
    more = names(PROJECT["optional-dependencies"]["postgres"])

    assert names(PROJECT["dependencies"]) | more <= listed
    assert not (names(PROJECT["optional-dependencies"]["dev"]) - more) & listed
    assert {"pytest", "setuptools", "pip"} & listed == set()


def test_what_only_one_kind_of_database_needs_is_optional(document):
    scopes = {component["name"]: component["scope"] for component in document["components"]}

    assert {name for name, scope in scopes.items() if scope == "optional"} == {
        "psycopg",
        "psycopg-binary",
    }
    assert scopes["typing-extensions"] == "required"


def test_every_part_has_its_locked_version_its_files_digests_and_a_licence(document):
    lock = (ROOT / "requirements.lock").read_text("utf-8").lower()
    for component in document["components"]:
        assert f"{component['name']}=={component['version']}" in lock.replace("_", "-")
        digests = [p["value"] for p in component["properties"]]
        assert digests
        assert all(f"sha256:{digest}" in lock for digest in digests)
        assert component["licenses"]
        assert "unknown" not in json.dumps(component["licenses"])


def test_it_has_the_form_of_its_standard(document):
    refs = [component["bom-ref"] for component in document["components"]]
    own = document["metadata"]["component"]["bom-ref"]

    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert len(refs) == len(set(refs))
    assert {edge["ref"] for edge in document["dependencies"]} == {*refs, own}
    assert all(set(edge["dependsOn"]) <= set(refs) for edge in document["dependencies"])
    assert all(re.fullmatch(r"pkg:pypi/[a-z0-9-]+@\S+", ref) for ref in [*refs, own])


def test_a_package_that_is_not_locked_stops_it():
    read = SBOM["locked_packages"]

    assert read("a==1 \\\n    --hash=sha256:" + "0" * 64 + "\nB_c==2 ; x\n    # via a\n") == {
        "a": ("1", ["0" * 64]),
        "b-c": ("2", []),
    }
    assert read("# nothing\n") == {}
