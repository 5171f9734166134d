"""Statements and tables: where they are, how they are written, and that they name their repository.

The rules of portable SQL hold for both engines the product is made for.
"""

import ast
import re
from dataclasses import dataclass

import pytest

from .tree import PACKAGE, ROOT, Module, modules, snippet

GLOBAL_TABLES = {
    "store",
    "imports",
    "principals",
    "teams",
    "team_members",
    "grants",
    "passwords",
    "tokens",
    "token_grants",
    "receipts",
    "audit",
    "jobs",
    "rates",
    "erasures",
    "schema_migrations",
    "json_each",
    "sqlite_schema",
    "pragma_table_info",
    "pragma_foreign_key_list",
}
"""Tables of the whole tenant: they have no repository."""

REWRITTEN = "codeflow_memory/storage/bulk.py"
"""Puts a whole statement of the program into another, with placeholders in place of its own."""

OF_EVERY_TABLE = {"codeflow_memory/storage/copier.py", "codeflow_memory/storage/fingerprint.py"}
"""Their statements are put together: over whichever tables and columns the schema names, quoted."""

OF_ONE_ENGINE = {
    f"codeflow_memory/storage/{name}.py"
    for name in ("catalog", "connections", "postgresql", "schemas", "servers")
}
"""They ask PostgreSQL's own catalogues, which SQLite has none of, and no table of a tenant."""

SQLITE = "codeflow_memory/storage/sqlite.py"

TENANT_WIDE = {
    "imports.has_memories": "an older document is imported into an empty database only",
    "imports.known_memories": "an id is an entry's own in the whole tenant",
    "operations.fullest_project": "how near the tenant is to a limit, for who runs it",
    "operations.largest_scope": "how near the tenant is to a limit, for who runs it",
    "principals.grants": "who may do what where; answers the question of an access",
    "projects.named": "an id or slug is looked up before its repository is known; filtered then",
    "projects.list_of_repositories": "the list of :repository_ids, or an owner's of all",
    "repositories.matching": "a repository is found by what it is known by",
    "repositories.page": "the list of :repository_ids, or an owner's of all",
    "repositories.ids": "jobs go through every repository of the tenant",
    "runs.find_by_id": "a run's token names its run alone; the caller checks whose it is",
    "runs.list_of_principal": "a principal's own runs, in whichever repository",
    "scopes.of_audiences": "what a caller may see begins here",
    "teams.in_use": "a team is of the whole tenant",
    "tokens.grants": "who may do what where; answers the question of an access",
}
"""Functions that may ask across the repositories of one tenant, and why."""

_OPENING = (
    r"SELECT\s|INSERT\s+(?:OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s"
    r"|WITH\s+\w+\s+AS\b"
)
_SMALL = re.sub(r"(?<!\\)\b[A-Z]+", lambda word: word[0].lower(), _OPENING)
_CONTROL = (
    r"(?:CREATE|DROP|ALTER)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|VIEW|TRIGGER)\b"
    r"|PRAGMA\b|BEGIN\b|COMMIT\b|ROLLBACK\b|VACUUM\b|ATTACH\b|DETACH\b"
)
_STATEMENT = re.compile(rf"\s*(?:{_OPENING}|{_SMALL}|{_CONTROL})")
"""In capitals, or wrongly in small letters; a sentence begins with one capital."""

_TABLE = re.compile(r"\b(?:FROM|INTO|(?<!DO )UPDATE|JOIN)\s+(\w+)")
_SCOPED = re.compile(r":(?:repository_id|scope_id|scopes)\b")
_FORBIDDEN = re.compile(
    r"SELECT\s+\*|\b(?:I?LIKE|GLOB|REGEXP|MATCH|ATTACH)\b|\b(?:upper|lower|group_concat|rowid)\b",
    re.IGNORECASE,
)
_KEYWORD = re.compile(
    r"(?<![:.\w])(?:select|from|where|insert|into|values|update|delete|join|using|order|group|by|"
    r"having|limit|set|and|or|not|null|exists|case|when|then|else|returning|union|distinct)(?!\w)"
)
_QUOTED = re.compile(r"'[^']*'")
_JSON_EACH = re.compile(r"json_each\(\s*([^)]*)\)")
_ORDER = re.compile(r"ORDER BY\s+((?:[^()]|\([^()]*\))*?)\s*(?:LIMIT\b.*)?(?=\)|$)", re.DOTALL)
_OF_ONE = re.compile(
    r"\b(?:PRAGMA|pragma_\w+|sqlite_\w+|VACUUM|ATTACH|DETACH|pg_\w+|to_reg\w+|jsonb\w*|current_\w+"
    r"|FOR (?:NO KEY )?UPDATE|FOR SHARE|LOCK TABLE|SET LOCAL|INSERT OR|REPLACE INTO|strftime)\b|::"
)
"""What one of the engines alone reads, as far as somebody would think of it."""

_ENGINE_ONLY = ("PRAGMA", "BEGIN", "COMMIT", "ROLLBACK", "VACUUM", "ATTACH", "DETACH", "CREATE")

_UNIQUE_LAST = {
    "at, revision, principal": "one decision or opinion a principal, revision and moment",
    "r.memory_id, r.type, e.kind, e.key, r.target_revision": "the keys of entity and edge",
    "kind, value": "the key of a repository's aliases",
    "t.term, t.form": "the key of one memory's terms",
    "2 NULLS FIRST, 1": "a union has no doubles: role and repository are its key",
    "2, 1": "a union has no doubles: role and repository are its key",
    "1": "the only column of a union",
    "source": "of one memory: the key of sightings",
    "a.value": "one kind of a repository's aliases",
    "revision": "of one memory",
    "memory_id, revision": "the key of revisions",
    "s.at, s.memory_id, s.source": "the key of sightings",
    "r.memory_id, r.revision": "the key of revisions",
    "c.memory_id, c.source": "the key of citations",
    "memory_id, source": "the key of citations",
    "run_id DESC, repository_id": "the key of runs",
    "sequence": "the key of audit",
    "sequence DESC": "the key of audit",
    "r.memory_id, e.key": "rows are distinct, and an entry has one scope",
    "at DESC, sequence DESC": "the key of audit comes last",
    "cid": "the place of a column in its table",
    "id, seq": "the number of a foreign key, and the place of a column in it",
    "operation_id": "of one principal, or of all that an import wrote",
}
"""Orders that do not end in an id, and why their last column is unique there."""

_IDS = re.compile(
    r"(?:\w+\.)?(?:memory_id|scope_id|project_id|repository_id|principal_id|team_id|token_id|run_id|"
    r"grant_id|manifest_id|job_id)(?: DESC)?"
)


@dataclass(frozen=True)
class Statement:
    """A literal of SQL, the function that holds it and its line."""

    module: Module
    function: str
    line: int
    sql: str

    @property
    def place(self) -> str:
        return f"{self.module.place}:{self.line}"

    @property
    def owner(self) -> str:
        return f"{self.module.place.rsplit('/', 1)[1].removesuffix('.py')}.{self.function}"

    @property
    def bare(self) -> str:
        """Without the text in quotes."""
        return _QUOTED.sub("''", self.sql)


def statements(module: Module) -> list[Statement]:
    owners = {
        child: function.name for function in module.functions() for child in ast.walk(function)
    }
    return [
        Statement(module, owners.get(node, ""), node.lineno, node.value)
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _STATEMENT.match(node.value)
        and " " in node.value.strip()
    ]


def built(module: Module) -> list[str]:
    """List SQL that is put together from parts: f-strings with names in them, ``+``, ``%``."""
    found = []
    for node in ast.walk(module.syntax):
        match node:
            case ast.JoinedStr(values=[ast.Constant(value=str(text)), *parts]) if parts:
                # A number in digits is no text: what PRAGMA takes, which has no parameters.
                numbers = all(
                    isinstance(part, ast.FormattedValue)
                    and isinstance(part.format_spec, ast.JoinedStr)
                    and ast.unparse(part.format_spec) == "f'd'"
                    for part in parts
                )
                pieces = [text] if not numbers else []
            case ast.BinOp(op=ast.Add() | ast.Mod(), left=left, right=right):
                pieces = [n.value for n in (left, right) if isinstance(n, ast.Constant)]
            case ast.Call(
                func=ast.Attribute(attr="format" | "join", value=ast.Constant(value=text))
            ):
                pieces = [text]
            case _:
                continue
        if any(isinstance(piece, str) and _STATEMENT.match(piece) for piece in pieces):
            found.append(module.at(node))
    return found


def unscoped(statement: Statement) -> bool:
    tables = set(_TABLE.findall(statement.bare)) - GLOBAL_TABLES
    return bool(tables) and not _SCOPED.search(statement.sql)


def orders(statement: Statement) -> list[str]:
    return [" ".join(order.split()) for order in _ORDER.findall(statement.bare)]


def loose_orders(statement: Statement) -> list[str]:
    return [
        order
        for order in orders(statement)
        if order not in _UNIQUE_LAST and not _IDS.fullmatch(order.rsplit(", ", 1)[-1])
    ]


def faults(statement: Statement) -> list[str]:
    """List what is wrong with the writing of one statement."""
    found = [f"forbidden: {word}" for word in _FORBIDDEN.findall(statement.bare)]
    if not statement.sql.lstrip().startswith(_ENGINE_ONLY):
        # Of its names some are words of the language, such as "from" of a pragma's columns.
        words = re.sub(r'"[^"]*"', "", statement.bare)
        found += [f"lower case: {word}" for word in _KEYWORD.findall(words)]
    found += [
        f"json_each of {argument}"
        for argument in _JSON_EACH.findall(statement.bare)
        if not re.fullmatch(r":\w+", argument)
    ]
    found += [f"order: {order}" for order in loose_orders(statement)]
    return [f"{statement.place} {fault}" for fault in found]


def own_statements() -> list[Statement]:
    return [statement for module in modules(PACKAGE) for statement in statements(module)]


def portable_statements() -> list[Statement]:
    return [s for s in own_statements() if s.place.rsplit(":", 1)[0] not in OF_ONE_ENGINE]


def one(sql: str, function: str = "find") -> Statement:
    (statement,) = statements(snippet(f"def {function}(tx):\n    tx.rows({sql!r})"))
    return statement


def test_the_checks_see_the_statements():
    assert len(own_statements()) > 120


def test_statements_are_in_storage_only():
    assert [s.place for s in own_statements() if s.module.layer != "storage"] == []


def test_no_statement_is_put_together_from_text():
    found = [place for module in modules(PACKAGE) for place in built(module)]

    assert {place.rsplit(":", 1)[0] for place in found} == OF_EVERY_TABLE | {REWRITTEN}


@pytest.mark.parametrize(
    "line",
    [
        'f"SELECT a FROM {table}"',
        '"SELECT a FROM " + table',
        '"SELECT a FROM %s" % table',
        '"SELECT a FROM {}".format(table)',
        'f"PRAGMA user_version = {text}"',
    ],
)
def test_the_check_sees_a_statement_put_together(line):
    assert built(snippet(line)) == ["codeflow_memory/storage/snippet.py:1"]


def test_every_statement_on_scoped_data_names_its_repository():
    open_ones = {s.owner for s in portable_statements() if unscoped(s)}

    assert open_ones == TENANT_WIDE.keys()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT title FROM memories WHERE memory_id = :memory_id", True),
        ("SELECT title FROM memories WHERE repository_id = :repository_id", False),
        ("SELECT name FROM teams WHERE team_id = :team_id", False),
        ("UPDATE memories SET title = :title WHERE memory_id = :memory_id", True),
        ("DELETE FROM memory_terms WHERE scope_id = :scope_id", False),
        ("SELECT 1 FROM teams JOIN memories ON memories.team_id = teams.team_id", True),
    ],
)
def test_the_check_tells_a_scoped_statement_from_one_that_is_not(sql, expected):
    assert unscoped(one(sql)) is expected


def test_every_statement_is_written_for_both_engines():
    assert [fault for statement in portable_statements() for fault in faults(statement)] == []


def test_what_one_engine_alone_reads_stands_in_its_own_modules():
    """There are no pairs of statements: each is written once, or asks an engine about itself."""
    places = {s.module.place for s in own_statements() if _OF_ONE.search(s.bare)}

    assert SQLITE in places
    assert places - {SQLITE} <= OF_ONE_ENGINE
    assert OF_ONE_ENGINE - places <= {
        f"codeflow_memory/storage/{name}.py" for name in ("connections", "servers")
    }


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM pragma_table_info(:name)",
        "SELECT name FROM sqlite_schema",
        "INSERT OR IGNORE INTO teams (team_id) VALUES (:team_id)",
        "SELECT relname FROM pg_class",
        "SELECT name FROM teams FOR UPDATE",
        "SELECT name::text FROM teams",
    ],
)
def test_the_check_sees_what_one_engine_alone_reads(sql):
    assert _OF_ONE.search(one(sql).bare)


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("SELECT * FROM teams", "forbidden: SELECT *"),
        ("SELECT name FROM teams WHERE name LIKE :name", "forbidden: LIKE"),
        ("SELECT upper(name) FROM teams", "forbidden: upper"),
        ("SELECT rowid FROM teams", "forbidden: rowid"),
        ("SELECT name from teams", "lower case: from"),
        ("SELECT value FROM json_each('[1]')", "json_each of ''"),
        ("SELECT name FROM teams ORDER BY name", "order: name"),
        ("SELECT name FROM teams ORDER BY team_id, name DESC LIMIT 3", "order: team_id, name DESC"),
    ],
)
def test_the_check_sees_each_fault(sql, fault):
    assert faults(one(sql)) == [f"codeflow_memory/storage/snippet.py:2 {fault}"]


def test_every_excuse_is_needed():
    used = {order for statement in own_statements() for order in orders(statement)}

    assert _UNIQUE_LAST.keys() - used == set()


def _tables(schema):
    return schema.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'").fetchall()


def lax(tables):
    return [name for name, sql in tables if not re.search(r"\)\s*STRICT\b", sql)]


def led_by_another(schema, name):
    """Return the first column of a table's key when it is neither repository nor scope."""
    columns = schema.execute("SELECT name, pk FROM pragma_table_info(?)", (name,)).fetchall()
    first = next((column for column, place in columns if place == 1), None)
    return None if first in {"repository_id", "scope_id"} else first


def test_every_table_is_strict(schema):
    assert len(_tables(schema)) > 20
    assert lax(_tables(schema)) == []


def test_every_table_is_led_by_its_repository_or_is_of_the_whole_tenant(schema):
    names = {name for name, _ in _tables(schema)}
    others = {name for name in names if led_by_another(schema, name) is not None}

    # Made with its id alone: a scope is what stands for the repository elsewhere.
    assert others - {"scopes"} == (names & GLOBAL_TABLES)


def test_the_checks_see_a_lax_table_and_one_led_by_another(schema):
    schema.execute("CREATE TEMP TABLE loose (name TEXT PRIMARY KEY, repository_id TEXT)")

    assert lax([("loose", "CREATE TABLE loose (name TEXT)")]) == ["loose"]
    assert led_by_another(schema, "loose") == "name"


def test_the_migrations_use_upper_case_and_nothing_of_one_engine():
    found = []
    for file in sorted((ROOT / "migrations").glob("*.sql")):
        text = _QUOTED.sub("''", re.sub(r"--.*", "", file.read_text("utf-8")))
        found += [f"{file.name} {word}" for word in _KEYWORD.findall(text)]
        found += [f"{file.name} {word}" for word in _FORBIDDEN.findall(text) if word != "ROWID"]

    assert found == []
