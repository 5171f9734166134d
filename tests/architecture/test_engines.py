"""Nothing outside of storage knows which database engine runs."""

import ast
import re
import tomllib

import pytest

from .tree import PACKAGE, ROOT, Module, modules, snippet

ENGINES = ("catalog", "connections", "dialect", "postgresql", "schemas", "servers", "sqlite")
"""Modules of storage that only storage itself may import."""

ALLOWED = {
    "services/legacy_report.py pre-sqlite": "what an imported document is renamed to, for good",
    "http/operations.py sqlite": "an example of the name of a copy that was kept",
    "cli/sample_repository.py sqlite": "a decision of the sample's people, about their own shop",
    "cli/concealment.py postgres": "an address, whose password is taken off the command line",
    "cli/context.py postgres": "an address in a form that is none, which is refused",
    "domain/secret_values.py postgres": "a name that is no secret where a password is looked for",
}
"""What stands in the text of the program all the same, and why."""

_ADDRESS = re.compile(r"\bpostgres(?:ql)?://")
"""How a database's address begins: people write it, and it is passed on as it is."""

_WORD = re.compile(
    r"(?:pre-)?\w*(?:sqlite|apsw|psycopg|postgres|pragma|libpq|pg_)\w*", re.IGNORECASE
)


def told(module: Module) -> set[str]:
    """List the words for an engine in names and texts; comments and docstrings may explain."""
    found = set()
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
    }
    for node in ast.walk(module.syntax):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                texts = [text]
            case ast.Name(id=text) | ast.Attribute(attr=text) | ast.arg(arg=text):
                texts = [text]
            case ast.keyword(arg=str(text)) | ast.ClassDef(name=text) | ast.FunctionDef(name=text):
                texts = [text]
            case ast.Import():
                texts = [alias.name for alias in node.names]
            case ast.ImportFrom():
                texts = [node.module or "", *(alias.name for alias in node.names)]
            case _:
                continue
        found |= {word.lower() for text in texts for word in _WORD.findall(_ADDRESS.sub("", text))}
    place = module.place.removeprefix(f"{PACKAGE}/")
    return {f"{place} {word}" for word in found}


def outside() -> list[Module]:
    return [module for module in modules(PACKAGE) if module.layer != "storage"]


def test_no_name_and_no_text_outside_of_storage_is_of_an_engine():
    found = {word for module in outside() for word in told(module)}

    assert len(outside()) > 150
    assert found == ALLOWED.keys()


@pytest.mark.parametrize(
    "line",
    [
        "import apsw",
        "import sqlite3",
        "from psycopg import errors",
        "from codeflow_memory.storage.sqlite import SQLiteEngine",
        "from codeflow_memory.storage import postgresql",
        "if isinstance(engine, SQLiteEngine): ...",
        "kind = engine.is_postgresql",
        "def open_sqlite(path): ...",
        "def f(pragma): ...",
        "f(psycopg_pool=1)",
        "tx.rows('PRAGMA quick_check')",
        "tx.rows('SELECT relname FROM pg_class')",
        "name = f'{engine}.sqlite'",
        "if kind == 'postgresql': ...",
    ],
)
def test_the_check_sees_each_way_to_name_one(line):
    assert told(snippet(line, f"{PACKAGE}/services/x.py"))


@pytest.mark.parametrize(
    "line", ['"""Of SQLite."""', "x = 1  # as apsw has it", "f('postgresql://h/d')"]
)
def test_what_explains_and_an_address_may_name_one(line):
    assert not told(snippet(line, f"{PACKAGE}/services/x.py"))


def test_the_linter_keeps_the_engines_and_their_libraries_within_storage():
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (contract,) = (c for c in linter["contracts"] if c["name"].startswith("storage alone"))
    others = {path.stem for path in (ROOT / PACKAGE).iterdir() if not path.name.startswith("__")}

    assert set(contract["source_modules"]) == {f"{PACKAGE}.{name}" for name in others - {"storage"}}
    assert set(contract["forbidden_modules"]) == {
        "apsw",
        "psycopg",
        *(f"{PACKAGE}.storage.{name}" for name in ENGINES),
    }
    assert contract["allow_indirect_imports"] is True
    assert "ignore_imports" not in contract
