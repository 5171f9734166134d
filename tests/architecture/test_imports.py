"""Who may import what; that imports point down is import-linter's to check, in the gate."""

import ast
import re
import subprocess
import sys
import tomllib

import pytest

from .tree import PACKAGE, ROOT, Module, modules, snippet

HOMES = {
    "apsw": ("storage/",),
    "litestar": ("http/", "app.py", "cli/local.py"),
    "pydantic": ("http/", "settings.py", "adapters/"),
    "uvicorn": ("http/",),
    "httptools": ("http/",),
    "Stemmer": ("adapters/stems.py",),
    "markdown_it": ("adapters/markdown.py",),
    "cryptography": ("adapters/secrets.py",),
    "hmac": ("adapters/secrets.py", "http/pagination.py"),
    "argon2": ("adapters/secrets.py",),
    "click": ("cli/",),
    "rich_click": ("cli/",),
    "sqlite3": (),
    "git": (),
    "yaml": (),
    "pickle": (),
}
"""Library to the only places that import it.

``cli/local.py`` takes ASGI's types from Litestar; ``http/pagination.py`` signs cursors.
"""

RUNS_PROGRAMS = {"adapters/git_process.py", "cli/sample_repository.py"}

PURE = {"asyncio", "io", "os", "pathlib", "random", "secrets", "socket", "subprocess", "tempfile"}
PURE |= {"threading", "time", "uuid"}
"""What the domain does without: input, output, the clock, randomness."""

CLOCKWORK = {
    "codeflow_memory/domain/deadline.py time",
    "codeflow_memory/domain/ids.py threading",
}
"""A deadline tells whether it has passed; ids of one process never repeat, whatever the thread."""


def imports(module: Module) -> list[tuple[ast.AST, str]]:
    found: list[tuple[ast.AST, str]] = []
    for node in ast.walk(module.syntax):
        if isinstance(node, ast.Import):
            found += [(node, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append((node, "." * node.level + (node.module or "")))
    return found


def away_from_home(module: Module) -> list[str]:
    inside = module.place.removeprefix(f"{PACKAGE}/")
    return [
        f"{module.at(node)} {name}"
        for node, name in imports(module)
        if (homes := HOMES.get(name.split(".")[0])) is not None and not inside.startswith(homes)
    ]


def impure(module: Module) -> list[str]:
    return [
        f"{module.at(node)} {name}"
        for node, name in imports(module)
        if name.split(".")[0] in PURE
        or not (name.split(".")[0] in sys.stdlib_module_names or name.startswith(PACKAGE))
    ]


def runs_programs(module: Module) -> list[str]:
    return [f"{module.at(n)} {name}" for n, name in imports(module) if name == "subprocess"]


def takes_more_than_records(module: Module) -> list[str]:
    """List what a transport takes from storage that is neither a record's class nor a constant."""
    return [
        f"{module.at(node)} {alias.name}"
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}.storage")
        for alias in node.names
        if not alias.name[0].isupper()
    ]


def test_each_library_is_imported_at_its_home_only():
    assert [place for module in modules(PACKAGE) for place in away_from_home(module)] == []


def test_the_domain_uses_the_standard_library_and_does_nothing_with_it():
    domain = [module for module in modules(PACKAGE) if module.layer == "domain"]

    assert len(domain) > 30
    found = [place for module in domain for place in impure(module)]
    assert {re.sub(r":\d+", "", place) for place in found} == CLOCKWORK


def test_programs_are_run_in_two_places():
    found = [place for module in modules(PACKAGE) for place in runs_programs(module)]

    assert {place.split(":")[0].removeprefix(f"{PACKAGE}/") for place in found} == RUNS_PROGRAMS


def test_http_takes_records_from_storage_and_never_a_statement():
    http = [module for module in modules(PACKAGE) if module.layer == "http"]

    assert [place for module in http for place in takes_more_than_records(module)] == []


def test_no_import_is_relative():
    relative = [
        f"{module.at(node)} {name}"
        for module in modules(PACKAGE)
        for node, name in imports(module)
        if name.startswith(".")
    ]

    assert relative == []


def test_the_rules_see_what_breaks_them():
    bad = snippet(
        "import apsw\nfrom time import time\nimport subprocess", "codeflow_memory/http/x.py"
    )

    assert away_from_home(bad) == ["codeflow_memory/http/x.py:1 apsw"]
    assert impure(bad) == [
        "codeflow_memory/http/x.py:1 apsw",
        "codeflow_memory/http/x.py:2 time",
        "codeflow_memory/http/x.py:3 subprocess",
    ]
    assert runs_programs(bad) == ["codeflow_memory/http/x.py:3 subprocess"]
    assert takes_more_than_records(snippet("from codeflow_memory.storage import memories")) == [
        "codeflow_memory/storage/snippet.py:1 memories"
    ]


def test_the_layers_are_exhaustive_and_know_no_exception():
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (contract,) = linter["contracts"]

    assert contract["type"] == "layers"
    assert contract["exhaustive"] is True
    assert contract["exhaustive_ignores"] == ["__main__"]
    assert "ignore_imports" not in contract
    layers = {name for row in contract["layers"] for name in re.split(r"\W+", row)}
    present = {path.stem for path in (ROOT / PACKAGE).iterdir() if not path.name.startswith("_")}
    assert layers == present


_WATCHED = """
import importlib, pkgutil, sys

def watch(event, arguments):
    if event in {"open"} and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        print("opened for writing:", arguments[0])
    if event in {"socket.connect", "socket.bind", "subprocess.Popen", "os.mkdir", "os.putenv"}:
        print(event, arguments)

import codeflow_memory
sys.dont_write_bytecode = True
sys.addaudithook(watch)
for found in pkgutil.walk_packages(codeflow_memory.__path__, "codeflow_memory."):
    if found.name != "codeflow_memory.__main__":
        importlib.import_module(found.name)
EXTRA
"""


@pytest.mark.parametrize(
    ("extra", "printed"), [("", ""), ("import os; os.putenv('X', 'Y')", "os.putenv (b'X', b'Y')\n")]
)
def test_importing_a_module_writes_connects_and_runs_nothing(tmp_path, extra, printed):
    watched = _WATCHED.replace("EXTRA", extra)

    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", watched],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == printed
