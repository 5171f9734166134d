"""How the source is written: what ruff has no rule for, or not this one."""

import ast
import io
import re
import tokenize
from statistics import median

import pytest

from .tree import BACKUP, CLIENT, FUNCTIONS, PACKAGE, ROOT, Module, modules, snippet

SHIPPED = (PACKAGE, BACKUP, CLIENT)
EVERYWHERE = (*SHIPPED, "tests", "benchmarks", "ops")

LAST_RESORTS = {
    "codeflow_memory/http/edge.py": "a defect becomes an answer, logged with its request id",
    "codeflow_memory/worker.py": "a defect of one job must not end the others; it is logged",
}
"""Where any exception may be caught."""

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
"""Where a file or function must be split; most are far shorter."""

MAX_MEDIAN_LINES = 150

WORDS = {
    "org": "tenant",
    "orgs": "tenant",
    "organisation": "tenant",
    "organization": "tenant",
    "namespace": "tenant",
    "visibility": "collection",
    "observation": "memory",
    "observations": "memory",
    "suggestion": "candidate",
    "suggestions": "candidate",
    "overwrite": "supersede",
    "dedup": "receipt",
    "checksum": "fingerprint",
    "upsert": "insert or replace",
}
"""Words that mean nothing here, and the one to use."""

EMPTY_NAMES = {"util", "utils", "helper", "helpers", "common", "manager", "base", "misc"}
"""No name for a module or class: they do not say what it is for."""

OTHERS_WORDS = {"common_dir", "commondir", "git_common_dir"}
"""Names that git gave."""

_SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore|pragma:\s*no)\b", re.IGNORECASE)
_GOOD_SUPPRESSION = re.compile(
    r"# noqa: [A-Z]+\d+(?:, [A-Z]+\d+)* - \S"
    r"|# type: ignore\[[a-z-]+(?:, ?[a-z-]+)*\]\s+# \S"
    r"|# pragma: no (?:cover|branch) - \S"
)
_UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def comments(module: Module) -> list[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(module.text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]


def catches_all(module: Module) -> list[str]:
    """List handlers of any exception that do not raise it again at once."""
    found = []
    for node in ast.walk(module.syntax):
        if not isinstance(node, ast.ExceptHandler):
            continue
        names = {"bare"} if node.type is None else {n.id for n in _names(node.type)}
        again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
        all_of_them = names & {"bare", "BaseException"} and not again
        if all_of_them or ("Exception" in names and module.place not in LAST_RESORTS):
            found.append(module.at(node))
    return found


def _names(node: ast.AST) -> list[ast.Name]:
    return [name for name in ast.walk(node) if isinstance(name, ast.Name)]


def swallows(module: Module) -> list[str]:
    return [
        module.at(node)
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.ExceptHandler) and all(isinstance(n, ast.Pass) for n in node.body)
    ]


def unexplained(module: Module) -> list[str]:
    return [
        f"{module.place}:{line} {text}"
        for line, text in comments(module)
        if _SUPPRESSION.search(text) and not _GOOD_SUPPRESSION.search(text)
    ]


def unfinished(module: Module) -> list[str]:
    return [
        f"{module.place}:{n} {text}" for n, text in comments(module) if _UNFINISHED.search(text)
    ]


def generated(module: Module) -> bool:
    """Tell whether a program wrote *module*: nobody reads it from top to bottom."""
    return "Written by ``ops/client.py``" in (ast.get_docstring(module.syntax) or "")


def too_long(module: Module) -> list[str]:
    lines = module.text.count("\n")
    found = [] if lines <= MAX_FILE_LINES else [f"{module.place} has {lines} lines"]
    for function in module.functions():
        length = (function.end_lineno or 0) - function.lineno + 1
        if length > MAX_FUNCTION_LINES:
            found.append(f"{module.at(function)} {function.name} has {length} lines")
    return found


def defined(module: Module) -> list[tuple[str, str]]:
    """List the names that *module* gives: functions, classes, arguments, variables."""
    names = []
    for node in ast.walk(module.syntax):
        match node:
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                names.append((module.at(node), name))
            case ast.Name(id=name, ctx=ast.Store()):
                names.append((module.at(node), name))
            case _ if isinstance(node, FUNCTIONS):
                names.append((module.at(node), node.name))
    return names


def wrong_words(names: list[tuple[str, str]]) -> list[str]:
    return [
        f"{place} {name}: say {WORDS[word]}"
        for place, name in names
        if name.lower().strip("_") not in OTHERS_WORDS
        for word in {part.lower() for part in _PART.findall(name)} & WORDS.keys()
    ]


def empty_names(module: Module) -> list[str]:
    names = [(module.place, part) for part in module.place.removesuffix(".py").split("/")[1:]]
    names += [
        (module.at(n), n.name) for n in ast.walk(module.syntax) if isinstance(n, ast.ClassDef)
    ]
    return [
        f"{place} {name}"
        for place, name in names
        if {part.lower() for part in _PART.findall(name)} & EMPTY_NAMES
    ]


def schema_names() -> list[tuple[str, str]]:
    return [
        (f"{file.name}:{number}", word)
        for file in sorted((ROOT / "migrations").glob("*.sql"))
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1)
        for word in re.findall(r"\w+", re.sub(r"--.*|'[^']*'", "", line))
    ]


def test_any_exception_is_caught_in_three_places():
    assert [place for module in modules(*SHIPPED) for place in catches_all(module)] == []
    for place in LAST_RESORTS:
        assert "except Exception" in (ROOT / place).read_text("utf-8"), place


def test_no_refusal_is_passed_over_in_silence():
    assert [place for module in modules(*SHIPPED) for place in swallows(module)] == []


def test_every_suppression_names_a_rule_and_a_reason():
    assert [line for module in modules(*EVERYWHERE) for line in unexplained(module)] == []


def test_nothing_is_left_for_later():
    assert [line for module in modules(*EVERYWHERE) for line in unfinished(module)] == []


def test_files_and_functions_are_short():
    written = [module for module in modules(*SHIPPED) if not generated(module)]
    sizes = [module.text.count("\n") for module in written]

    assert len(modules(*SHIPPED)) - len(written) == 4
    assert [line for module in written for line in too_long(module)] == []
    assert median(sizes) <= MAX_MEDIAN_LINES


def test_one_word_stands_for_one_thing():
    names = [pair for module in modules(*SHIPPED) for pair in defined(module)]

    assert wrong_words(names + schema_names()) == []


def test_modules_and_classes_are_named_for_what_they_are():
    assert [place for module in modules(*SHIPPED) for place in empty_names(module)] == []


@pytest.mark.parametrize(
    ("check", "line", "expected"),
    [
        (catches_all, "try:\n    f()\nexcept Exception:\n    g()", ":3"),
        (catches_all, "try:\n    f()\nexcept (KeyError, Exception):\n    raise", ":3"),
        (catches_all, "try:\n    f()\nexcept:\n    g()", ":3"),
        (catches_all, "try:\n    f()\nexcept BaseException:\n    g()", ":3"),
        (swallows, "try:\n    f()\nexcept KeyError:\n    pass", ":3"),
        (unexplained, "x = 1  # noqa", ":1 # noqa"),
        (unexplained, "x = 1  # noqa: E501", ":1 # noqa: E501"),
        (unexplained, "x = 1  # type: ignore", ":1 # type: ignore"),
        (unexplained, "x = 1  # pragma: no cover", ":1 # pragma: no cover"),
        (unfinished, "x = 1  # TODO later", ":1 # TODO later"),
        (empty_names, "class MemoryManager: ...", ":1 MemoryManager"),
        (too_long, "def f():\n" + "    x = 1\n" * 60, ":1 f has 61 lines"),
        (too_long, "x = 1\n" * 401, " has 401 lines"),
    ],
)
def test_each_check_sees_what_breaks_it(check, line, expected):
    assert check(snippet(line)) == [f"codeflow_memory/storage/snippet.py{expected}"]


@pytest.mark.parametrize(
    ("check", "line"),
    [
        (catches_all, "try:\n    f()\nexcept BaseException:\n    g()\n    raise"),
        (catches_all, "try:\n    f()\nexcept KeyError:\n    g()"),
        (unexplained, "x = 1  # noqa: E501 - a table"),
        (unexplained, "x = 1  # type: ignore[misc]  # the library says so"),
    ],
)
def test_what_is_allowed_passes(check, line):
    assert check(snippet(line)) == []


def test_the_word_check_sees_a_wrong_word():
    bad = snippet("class Memory:\n    def f(self, orgId): checksum = 1")

    assert wrong_words(defined(bad)) == [
        "codeflow_memory/storage/snippet.py:2 orgId: say tenant",
        "codeflow_memory/storage/snippet.py:2 checksum: say fingerprint",
    ]
