"""The source tree as the rules of this folder see it: modules, or a snippet in place of one."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "codeflow_memory"
BACKUP = "backup/codeflow_backup"
CLIENT = "codeflow_memory_client"
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A file by its place below the root, its text and its syntax."""

    place: str
    text: str
    syntax: ast.Module

    @property
    def layer(self) -> str:
        """``storage`` for ``codeflow_memory/storage/engine.py``, ``app`` for ``…/app.py``."""
        return self.place.removesuffix(".py").split("/")[1]

    def at(self, node: ast.AST) -> str:
        return f"{self.place}:{getattr(node, 'lineno', 1)}"

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        return (node for node in ast.walk(self.syntax) if isinstance(node, FUNCTIONS))


def snippet(text: str, place: str = f"{PACKAGE}/storage/snippet.py") -> Module:
    """Make a module that is in no file: what a rule is shown to prove that it can fail."""
    return Module(place, text, ast.parse(text))


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Read all Python files below *folders*, by place."""
    return tuple(
        snippet(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
    )
