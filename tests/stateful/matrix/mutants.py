"""Mutants of the rules: each changes one decision in the source, and the matrix must notice.

Run as a process of its own with a script's file: ``python -m tests.stateful.matrix.mutants FILE``.
It prints a line of JSON for each mutant. A child of it, forked for one mutant, puts the changed
code into the functions that stand and plays cells until one answers otherwise.
"""

import ast
import importlib
import inspect
import json
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from types import FunctionType, ModuleType
from zlib import crc32

from ...postgresql import Cluster
from ..grounds import ground
from . import rules, table
from .playing import Stage
from .rules import Cell
from .stage import Script

PACKAGE = "codeflow_memory"
SECONDS = 120
EVERYWHERE = ["get", "list", "search", "replay", "verify", "update", "delete", "approve", "create"]
RULES: dict[str, set[str]] = {
    "domain.access": {"rank", "may", "decides", "sees"},
    "domain.lifecycle": {"allows", "move", "MOVES", "_STARTS"},
    "services.access": {
        "authenticate", "require", "reach", "reach_everywhere", "_audiences", "_reach",
        "get_project",
    },
    "services.deletion": {"erase", "_may_delete"},
    "services.listing": {"visible"},
    "services.memories": {"create", "revise_stored", "may_edit", "placed", "_EDITABLE"},
    "services.publication": {"propose"},
    "services.replay": {"seen", "_sees"},
    "services.review": {"_may_decide", "_may_decide_private", "require_decider", "_OWNERS_OWN"},
    "services.views": {"seen", "expect", "_is_open"},
}  # fmt: skip
"""What decides who may do what: modules, and the functions and tables in them.

What a token is worth after its principal lost or gained roles, `_access` and `narrowed` of
`services.access`, has properties of its own in the tests of tokens: on the stage nothing changes
between the making of a token and its use.
"""

ASKING = {"create", "erase", "propose", "revise_stored"}
"""Of these only the questions are left away, one at a time: the rest of them decides nothing."""

_QUESTIONS = ("_may", "require")

ASKED = {
    "domain.access": EVERYWHERE,
    "domain.lifecycle": [*table.DECISIONS, "delete"],
    "services.access": EVERYWHERE,
    "services.deletion": ["delete"],
    "services.listing": ["list", "graph"],
    "services.memories": ["update", *table.CREATIONS],
    "services.publication": ["publish"],
    "services.replay": ["replay"],
    "services.review": table.DECISIONS,
    "services.views": [*table.READS, "stale", "update"],
}
"""The operations that come through a module, and so the cells that may notice a change of it."""

MOST = 2_000
"""Cells that one mutant is shown."""

_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
_SHIFTED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.GtE: ast.Gt, ast.Gt: ast.GtE, ast.LtE: ast.Lt, ast.Lt: ast.LtE,
}  # fmt: skip
_ROLES = ["READER", "CONTRIBUTOR", "REVIEWER", "MAINTAINER", "OWNER"]

Change = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one rule: the place in the walk of its tree, and which change there."""

    module: str
    rule: str
    position: int
    turn: int
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.rule}: {self.what}"


def _load(module: str) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.{module}")


def _tree(module: str) -> ast.Module:
    return ast.parse(inspect.getsource(_load(module)))


def _named(node: ast.AST) -> set[str]:
    match node:
        case ast.FunctionDef(name=name):
            return {name}
        case ast.Assign(targets=targets):
            return {t.id for t in targets if isinstance(t, ast.Name)}
        case ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()


def _nodes(tree: ast.Module, module: str) -> list[tuple[str, ast.AST]]:
    """List the nodes of a module's rules with the rule that each is of, in a fixed order."""
    return [
        (rule, node)
        for root in ast.walk(tree)
        for rule in sorted(_named(root) & RULES[module])
        for node in ast.walk(root)
    ]


def of_rule(rule: str, node: ast.AST) -> list[tuple[str, Change]]:
    """List the changes of one node of a rule."""
    return list(_statements(node) if rule in ASKING else changes(node))


def changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Give every change of one node, as what it is called and what makes it."""
    match node:
        case ast.Compare(ops=[op]):
            for kind in (_NEGATED, _SHIFTED):
                if type(op) in kind:
                    other = kind[type(op)]()
                    yield f"{type(other).__name__} for {type(op).__name__}", _set(node, ops=[other])
        case ast.BoolOp(op=op, values=values):
            yield "and for or, or or for and", _set(node, op=_other(op))
            yield from _without(values)
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.BoolOp):
            for value in (True, False):
                yield f"if {value}", _set(node, test=ast.Constant(value=value))
        case ast.comprehension(ifs=[_, *_]):
            yield "unfiltered", _set(node, ifs=[])
        case _:
            yield from _values(node)
    yield from _statements(node)


def _values(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Constant(value=bool() as value):
            yield f"{not value}", _set(node, value=not value)
        case ast.Attribute(value=ast.Name(id="Role"), attr=attr) if attr in _ROLES:
            at = _ROLES.index(attr)
            for other in _ROLES[max(0, at - 1) : at] + _ROLES[at + 1 : at + 2]:
                yield f"{other} for {attr}", _set(node, attr=other)
        case ast.Set(elts=elements) | ast.List(elts=elements) if len(elements) > 1:
            yield from _without(elements)


def _other(op: ast.boolop) -> ast.boolop:
    return ast.Or() if isinstance(op, ast.And) else ast.And()


def _without(values: list[ast.expr]) -> Iterator[tuple[str, Change]]:
    for at, value in enumerate(values):
        yield f"without {ast.unparse(value)}", _drop(values, at)


def _statements(node: ast.AST) -> Iterator[tuple[str, Change]]:
    """Give what leaves one statement of a body away: a refusal, or a question that may refuse."""
    for block in ("body", "orelse"):
        body = getattr(node, block, None)
        if not isinstance(body, list):
            continue
        for at, statement in enumerate(body):
            refuses = isinstance(statement, ast.Raise)
            if refuses or _asks(statement):
                yield f"without {ast.unparse(statement)[:60]}", _pass(body, at)


def _asks(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name.startswith(_QUESTIONS)
    return False


def _set(node: ast.AST, **fields: object) -> Change:
    def change() -> None:
        for name, value in fields.items():
            setattr(node, name, value)

    return change


def _drop(values: list[ast.expr], at: int) -> Change:
    return lambda: values.pop(at) and None


def _pass(body: list[ast.stmt], at: int) -> Change:
    def change() -> None:
        body[at] = ast.copy_location(ast.Pass(), body[at])

    return change


def mutants() -> Iterator[Mutant]:
    """Give every mutant."""
    for module in RULES:
        for position, (rule, node) in enumerate(_nodes(_tree(module), module)):
            line = getattr(node, "lineno", 0)
            for turn, (what, _) in enumerate(of_rule(rule, node)):
                yield Mutant(module, rule, position, turn, line, what)


def apply(mutant: Mutant) -> None:
    """Put the mutant in the place of what stands in this process."""
    module, tree = _load(mutant.module), _tree(mutant.module)
    rule, node = _nodes(tree, mutant.module)[mutant.position]
    _, change = of_rule(rule, node)[mutant.turn]
    change()
    made = dict(vars(module))
    source = compile(ast.fix_missing_locations(tree), str(module.__file__), "exec")
    exec(source, made)  # noqa: S102 - our own source with one decision changed
    for name in RULES[mutant.module]:
        _transplant(module, made, name)


def _transplant(module: ModuleType, made: dict[str, object], name: str) -> None:
    if name in made:
        old, new = getattr(module, name), made[name]
        if isinstance(old, FunctionType) and isinstance(new, FunctionType):
            old.__code__ = new.__code__
        else:
            setattr(module, name, new)
        return
    # A method: the class that stands keeps its identity and gets the code.
    for owner in [c for c in vars(module).values() if inspect.isclass(c) and name in vars(c)]:
        if owner.__module__ == module.__name__:
            _function(vars(owner)[name]).__code__ = _function(
                vars(made[owner.__name__])[name]
            ).__code__


def _function(attribute: object) -> FunctionType:
    found = attribute.fget if isinstance(attribute, property) else attribute
    assert isinstance(found, FunctionType), attribute
    return found


def shown(script: Script, module: str) -> list[Cell]:
    """List the cells that a mutant of *module* is shown: one of each sort first, then another."""
    sorts: dict[tuple[str, ...], list[Cell]] = {}
    for cell in sorted(script.cells(), key=lambda cell: crc32(str(cell).encode())):
        if cell.operation in ASKED[module]:
            sort = (cell.operation, cell.caller, cell.relation, cell.collection)
            sorts.setdefault((*sort, rules.expected(cell)), []).append(cell)
    turns = zip_longest(*sorted(sorts.values(), key=lambda cells: crc32(str(cells[0]).encode())))
    return [cell for turn in turns for cell in turn if cell is not None][:MOST]


def noticed(
    script: Script, cluster: Cluster | None, cells: list[Cell], mutant: Mutant | None
) -> str | None:
    """Return the first cell that answers otherwise with *mutant*, or ``None``."""
    if mutant is not None:
        apply(mutant)
    with ground(cluster) as own:
        stage = Stage(script, own)
        for cell in cells:
            got = stage.play(cell).answer
            if got != rules.expected(cell):
                return f"{cell}: {got}"
        stage.close()
    return None


def _alone(
    script: Script, cluster: Cluster | None, cells: list[Cell], mutant: Mutant | None
) -> str | None:
    """Ask in a child, which is free to be broken in any way; return what it noticed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        told: str | None = "ended with a defect"
        try:
            told = noticed(script, cluster, cells, mutant)
        finally:
            os.write(writing, json.dumps(told).encode())
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read() or b'"hung"'
    os.waitpid(child, 0)
    told = json.loads(text)
    return None if told is None else str(told)


def main(file: str, part: int = 0, parts: int = 1) -> int:
    """Try every mutant, after the product itself, which no cell may notice."""
    script, cluster = pickle.loads(Path(file).read_bytes())  # noqa: S301 - written by the test that runs this
    cells = {module: shown(script, module) for module in RULES}
    report(None, _alone(script, cluster, cells["domain.access"], None))
    for mutant in list(mutants())[part::parts]:
        report(str(mutant), _alone(script, cluster, cells[mutant.module], mutant))
    return 0


def report(mutant: str | None, told: str | None) -> None:
    print(json.dumps({"mutant": mutant, "noticed": told}), flush=True)  # noqa: T201 - the report


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
