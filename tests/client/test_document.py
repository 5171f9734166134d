"""The examples of the client's page run as they stand, and a type checker follows them."""

import re
import subprocess
import sys

import pytest

from ..architecture.tree import ROOT

PAGE = ROOT / "docs" / "client.md"
SECONDS = 120


def examples():
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def run(served, program):
    environment = {"CODEFLOW_URL": served.url, "CODEFLOW_TOKEN": served.first["token"]}
    return subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-W", "error", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture
def program():
    found = examples()
    assert len(found) >= 7
    return "\n".join(found)


def test_the_examples_of_the_page_run(served, program):
    done = run(served, program)

    assert (done.returncode, done.stderr) == (0, "")


def test_an_example_that_is_not_true_would_be_seen(served, program):
    wrong = program.replace('"revision"] == 2', '"revision"] == 3')

    done = run(served, wrong.replace('"shop"', '"another"'))

    assert "AssertionError" in done.stderr


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("", None),
        ('memory["titel"]', "typeddict-item"),
        ('client.create_memory(project["id"], {"kind": "convention"})', "typeddict-item"),
        ('client.update_memory({"id": memory["id"]}, {})', "typeddict-item"),
    ],
)
@pytest.mark.slow
def test_a_type_checker_knows_what_the_methods_take_and_give(tmp_path, program, said, wrong):
    (tmp_path / "page.py").write_text(f"{program}\n{said}\n", "utf-8")

    done = subprocess.run(  # noqa: S603 - the type checker, no shell
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", tmp_path / "page.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert (f"[{wrong}]" in done.stdout) is (wrong is not None), done.stdout
    assert done.returncode == (0 if wrong is None else 1), done.stdout
