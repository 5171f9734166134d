"""Write the bill of materials of the program: CycloneDX 1.6 as JSON, for `ops/dist`.

Versions and the digests of their files are those of requirements.lock; what needs what, and the
licences, are those of the packages installed from it. What the program needs to run is listed, and
as optional what tenants in PostgreSQL need beside it; nothing that only makes or tests it. The same
lock and environment give the same bytes.

    .venv/bin/python ops/sbom.py > codeflow-memory.cdx.json
"""

import json
import re
import sys
import tomllib
import uuid
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]

_LOCKED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)")
_DIGEST = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_NAMESPACE = uuid.UUID("6f1c7d0a-54b0-5a8e-9d0b-2f6a54a4c1de")


def main() -> None:
    """Print the document."""
    json.dump(document(), sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")


def document() -> dict[str, Any]:
    """Return the document.

    Raises:
        KeyError: A package that is needed is not in the lock.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    locked = locked_packages((ROOT / "requirements.lock").read_text("utf-8"))
    required = needed(project["dependencies"]).keys()
    wanted = project["dependencies"] + project["optional-dependencies"]["postgres"]
    graph = needed(wanted)
    own = f"pkg:pypi/{project['name']}@{project['version']}"
    components = [
        component(name, *locked[name], required=name in required) for name in sorted(graph)
    ]
    refs = {name: f"pkg:pypi/{name}@{locked[name][0]}" for name in graph}
    direct = {canonicalize_name(r.name) for r in map(Requirement, wanted)}
    edges = {own: sorted(refs[name] for name in direct & graph.keys())}
    edges |= {refs[name]: sorted(refs[of] for of in of_it) for name, of_it in graph.items()}
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": project["version"],
                "purl": own,
            }
        },
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": edges[ref]} for ref in sorted(edges)],
    }
    serial = uuid.uuid5(_NAMESPACE, json.dumps(body, sort_keys=True))
    return {"serialNumber": f"urn:uuid:{serial}", **body}


def locked_packages(text: str) -> dict[str, tuple[str, list[str]]]:
    """Read a lock: canonical name to version and the SHA-256 of each of its files."""
    packages: dict[str, tuple[str, list[str]]] = {}
    for block in re.split(r"\n(?=\S)", text):
        found = _LOCKED.match(block)
        if found is not None:
            digests = sorted(_DIGEST.findall(block))
            packages[canonicalize_name(found["name"])] = (found["version"], digests)
    return packages


def needed(dependencies: list[str]) -> dict[str, set[str]]:
    """Return what the program needs here, each with what it needs itself."""
    graph: dict[str, set[str]] = {}
    waiting = [(Requirement(text), "") for text in dependencies]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        known = graph.setdefault(name, set())
        for option in requirement.extras or {""}:
            for text in metadata.requires(name) or ():
                below = Requirement(text)
                if below.marker is not None and not below.marker.evaluate({"extra": option}):
                    continue
                target = canonicalize_name(below.name)
                if target not in known:
                    known.add(target)
                    waiting.append((below, option))
    return graph


def component(name: str, version: str, digests: list[str], *, required: bool) -> dict[str, Any]:
    """Describe one package."""
    purl = f"pkg:pypi/{name}@{version}"
    described: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "scope": "required" if required else "optional",
        "properties": [{"name": "codeflow:file-sha256", "value": digest} for digest in digests],
    }
    about = metadata.metadata(name)
    licence = about.get("License-Expression")
    if licence:
        described["licenses"] = [{"expression": licence}]
    else:
        stated = [c for c in about.get_all("Classifier") or () if c.startswith("License :: ")]
        named = [c.rpartition(" :: ")[2] for c in stated] or [about.get("License") or "unknown"]
        described["licenses"] = [{"license": {"name": text.splitlines()[0]}} for text in named]
    return described


if __name__ == "__main__":
    main()
