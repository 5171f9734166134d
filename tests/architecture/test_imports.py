"""Who may import what; that imports point down is import-linter's to check, in the gate."""

import ast
import re
import subprocess
import sys
import tomllib

import pytest

from .tree import BACKUP, CLIENT, PACKAGE, ROOT, Module, modules, snippet

HOMES = {
    "apsw": ("storage/",),
    "psycopg": ("storage/",),
    "litestar": ("http/", "app.py", "cli/local.py"),
    "pydantic": ("http/", "mcp/server.py", "settings.py", "adapters/"),
    "mcp": ("mcp/server.py",),
    "mcp_types": ("mcp/server.py",),
    "starlette": ("mcp/server.py",),
    "uvicorn": ("http/",),
    "httptools": ("http/",),
    "prometheus_client": ("http/measures.py",),
    "Stemmer": ("adapters/stems.py",),
    "markdown_it": ("adapters/markdown.py",),
    "cryptography": ("adapters/secrets.py",),
    "hmac": ("adapters/secrets.py", "http/pagination.py"),
    "argon2": ("adapters/passwords.py",),
    "betterleaks": ("adapters/detector.py",),
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

BACKUP_HOMES = {
    "cryptography": ("ciphers.py", "signature.py"),
    "hmac": ("ciphers.py",),
    "argon2": ("derivations.py",),
    PACKAGE: (),
    "litestar": (),
    "pydantic": (),
    "sqlite3": (),
    "pickle": (),
}
"""The same of the backup; ``signature.py`` has keys that are none of a backup."""

CLIENT_HOMES = {
    "httpx": ("wire.py",),
    **dict.fromkeys((PACKAGE, "codeflow_backup", "litestar", "pydantic", "click"), ()),
}
"""The same of the client."""

KNOWN = {PACKAGE: HOMES, BACKUP: BACKUP_HOMES, CLIENT: CLIENT_HOMES}

RUNS_PROGRAMS = {"adapters/git_process.py", "cli/backup.py", "cli/sample_repository.py"}

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
    folder = next(f for f in KNOWN if module.place.startswith(f"{f}/"))
    known = KNOWN[folder]
    inside = module.place.removeprefix(f"{folder}/")
    return [
        f"{module.at(node)} {name}"
        for node, name in imports(module)
        if (homes := known.get(name.split(".")[0])) is not None and not inside.startswith(homes)
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


def reaches_storage(module: Module) -> list[str]:
    """List what a transport takes from storage itself, in whichever way it is written."""
    within = f"{PACKAGE}.storage"
    found = []
    for node in ast.walk(module.syntax):
        aliases = (
            getattr(node, "names", []) if isinstance(node, ast.Import | ast.ImportFrom) else []
        )
        names = [alias.name for alias in aliases]
        match node:
            case ast.Import():
                taken = names
            case ast.ImportFrom(module=str(source)):
                taken = [f"{source}.{name}" for name in names]
            case _:
                continue
        found += [
            f"{module.at(node)} {name}" for name in taken if f"{name}.".startswith(f"{within}.")
        ]
    return found


def test_each_library_is_imported_at_its_home_only():
    assert [place for m in modules(*KNOWN) for place in away_from_home(m)] == []


def test_each_home_of_the_backup_imports_its_library():
    used = {(m.place, name.split(".")[0]) for m in modules(BACKUP) for _, name in imports(m)}
    homes = {(f"{BACKUP}/{home}", name) for name, at in BACKUP_HOMES.items() for home in at}

    assert homes <= used


def test_the_domain_uses_the_standard_library_and_does_nothing_with_it():
    domain = [module for module in modules(PACKAGE) if module.layer == "domain"]

    assert len(domain) > 30
    found = [place for module in domain for place in impure(module)]
    assert {re.sub(r":\d+", "", place) for place in found} == CLOCKWORK


def test_programs_are_run_in_three_places():
    found = [place for module in modules(PACKAGE) for place in runs_programs(module)]

    assert {place.split(":")[0].removeprefix(f"{PACKAGE}/") for place in found} == RUNS_PROGRAMS


def test_http_takes_nothing_from_storage():
    http = [module for module in modules(PACKAGE) if module.layer == "http"]

    assert len(http) > 20
    assert [place for module in http for place in reaches_storage(module)] == []


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
    apart = snippet(
        "import hmac\nfrom codeflow_memory.domain import text\nfrom argon2 import low_level",
        f"{BACKUP}/ciphers.py",
    )
    assert away_from_home(apart) == [
        f"{BACKUP}/ciphers.py:2 codeflow_memory.domain",
        f"{BACKUP}/ciphers.py:3 argon2",
    ]
    assert runs_programs(bad) == ["codeflow_memory/http/x.py:3 subprocess"]
    beside = snippet(
        "import httpx\nfrom codeflow_memory.domain import text", f"{CLIENT}/answers.py"
    )
    assert away_from_home(beside) == [
        f"{CLIENT}/answers.py:1 httpx",
        f"{CLIENT}/answers.py:2 codeflow_memory.domain",
    ]


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("from codeflow_memory.storage.runs import Run", "codeflow_memory.storage.runs.Run"),
        ("from codeflow_memory.storage import runs", "codeflow_memory.storage.runs"),
        ("from codeflow_memory import storage", "codeflow_memory.storage"),
        ("import codeflow_memory.storage.runs", "codeflow_memory.storage.runs"),
    ],
)
def test_the_check_sees_each_way_to_reach_storage(line, taken):
    assert reaches_storage(snippet(line, "codeflow_memory/http/x.py")) == [
        f"codeflow_memory/http/x.py:1 {taken}"
    ]


def contracts():
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    return {contract["name"]: contract for contract in linter["contracts"]}


def test_the_linter_forbids_http_to_import_storage():
    contract = contracts()["http reaches storage through services only"]

    assert contract["type"] == "forbidden"
    assert contract["source_modules"] == [f"{PACKAGE}.http"]
    assert contract["forbidden_modules"] == [f"{PACKAGE}.storage"]
    assert "ignore_imports" not in contract


def test_the_linter_keeps_the_server_its_client_and_the_backup_apart():
    contract = contracts()["the server, its client and the backup share no import"]

    assert contract["type"] == "independence"
    assert contract["modules"] == [PACKAGE, CLIENT, "codeflow_backup"]
    assert "ignore_imports" not in contract


def test_the_layers_are_exhaustive_and_know_no_exception():
    contract = contracts()["imports point down"]

    assert contract["type"] == "layers"
    assert contract["exhaustive"] is True
    assert contract["exhaustive_ignores"] == ["__main__"]
    assert "ignore_imports" not in contract
    layers = {name for row in contract["layers"] for name in re.split(r"\W+", row)}
    present = {path.stem for path in (ROOT / PACKAGE).iterdir() if not path.name.startswith("_")}
    assert layers == present


_STARTED = """
import os, signal, sys
from codeflow_memory.cli import main, up
from codeflow_memory.domain.patterns import compiled

def told(first):
    print(*sorted(sys.modules), compiled.cache_info().currsize)
    os.kill(os.getpid(), signal.SIGTERM)

up.print_json = told
sys.exit(main(["up", "--port", "0", "--json", "--home", sys.argv[1]]))
"""

NEEDED = {
    f"{PACKAGE}.cli.{name}"
    for name in ("commands", "concealment", "context", "exits", "logs", "output", "stores")
}
NEEDED |= {f"{PACKAGE}.cli.up", *(f"{PACKAGE}.services.legacy_{of}" for of in ("guard", "report"))}
"""Of the commands, and of what belongs to the older document, all that a start imports."""

LATE = re.compile(
    rf"{PACKAGE}\.cli\..*|{PACKAGE}\.(adapters|services)\.(legacy|exact|export|proposed)\w*"
    r"|(mcp|mcp_types|psycopg|psycopg_pool|markdown_it|rich|pygments|argon2|jinja2|git|pytest|hypothesis|schemathesis)"
)


def late(names: list[str]) -> list[str]:
    return [name for name in names if LATE.fullmatch(name) and name not in NEEDED]


def test_a_start_waits_for_nothing_that_only_some_homes_or_texts_need(tmp_path):
    """Of a second, 40 ms for the patterns of the catalogues, 30 for a reader of Markdown and 40 for
    the import of an older document."""
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-c", _STARTED, str(tmp_path / "home")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    *names, patterns = done.stdout.split()
    assert {*NEEDED, f"{PACKAGE}.app", f"{PACKAGE}.worker"} <= set(names)
    assert (late(names), patterns) == ([], "0")


def test_the_check_sees_what_a_start_need_not_import():
    bad = [
        "markdown_it",
        "schemathesis",
        f"{PACKAGE}.cli.demo",
        f"{PACKAGE}.adapters.legacy_shape",
        f"{PACKAGE}.services.exact_rows",
        f"{PACKAGE}.services.exported_records",
    ]

    assert late(bad) == bad
    assert late([*NEEDED, "rich_click", "click", f"{PACKAGE}.services.runs"]) == []


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
