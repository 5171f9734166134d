"""Write the generated modules of codeflow_memory_client from the API's own description.

``.venv/bin/python ops/client.py`` writes them; a test compares. What a route is called in Python
follows from its path; `NAMES` has those for which that reads badly, or would name two.
"""

import inspect
import json
import keyword
import re
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from litestar.testing import TestClient

from codeflow_memory.app import Wiring, create_litestar
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.http.caller import Stores
from codeflow_memory.http.problems import STATUS
from codeflow_memory.services.store import Store
from codeflow_memory.settings import Settings

PLACE: Final = Path(__file__).resolve().parent.parent / "codeflow_memory_client"

Schema = dict[str, Any]

_BY = "Written by ``ops/client.py`` from the API's description; a test keeps it true."
_METHODS = ("get", "post", "put", "patch", "delete")
_JSON = "application/json"
_PROBLEM = "application/problem+json"

NAMES: Final[Mapping[str, str]] = {
    "GET /healthz": "check_health",
    "GET /readyz": "check_readiness",
    "POST /api/admin/teams/{team_id}/members": "add_team_member",
    "DELETE /api/admin/teams/{team_id}/members/{principal}": "remove_team_member",
    "DELETE /api/admin/grants/{grant_id}": "remove_grant",
    "DELETE /api/admin/principals/{principal_id}": "remove_principal",
    "DELETE /api/admin/teams/{team_id}": "remove_team",
    "DELETE /api/admin/tokens/{token_id}": "revoke_token",
    "GET /api/audit": "list_changes",
    "POST /api/memories/batch": "run_batch",
    "POST /api/memories/{memory_id}/feedback": "give_memory_feedback",
    "GET /api/projects/{project_id}/memory/search": "search_memories",
    "POST /api/projects/{project_id}/memory/selections/{selection_id}/feedback": (
        "give_selection_feedback"
    ),
    "POST /api/projects/{project_id}/memory/verify": "verify_memories",
    "POST /api/repositories": "register_repository",
    "POST /api/repositories/{repository_id}/projects": "create_project",
    "GET /api/review": "list_waiting",
    "POST /api/runs": "start_run",
}
"""The names that a rule would not find."""


class Nowhere(Stores):
    """No tenant: nothing is called."""

    def get(self, tenant: str) -> Store:
        """Refuse."""
        raise LookupError(tenant)


def document() -> Schema:
    """Return the description as the server gives it."""
    app = create_litestar(Wiring(Nowhere(), Settings(), {"local"}, lambda: "req"))
    with TestClient(app) as client:
        found: Schema = client.get("/schema/openapi.json").json()
    return found


def files() -> dict[str, str]:
    """Return the text of each generated module by its name."""
    described = document()
    routes = sorted(_routes(described), key=lambda route: route.name)
    twice = [name for name, count in Counter(route.name for route in routes).items() if count > 1]
    unknown = NAMES.keys() - {route.key for route in routes}
    if twice or unknown:
        raise SystemExit(f"NAMES: two routes are called {twice}; there is no {sorted(unknown)}")
    texts = {
        "models.py": "\n".join(_models(described["components"]["schemas"])),
        "problems.py": "\n".join(_problems()),
        "client.py": "\n".join(_client(routes, concurrent=False)),
        "async_client.py": "\n".join(_client(routes, concurrent=True)),
    }
    return {name: _formatted(text) for name, text in texts.items()}


@dataclass(frozen=True)
class Route:
    """One JSON operation of the description."""

    method: str
    path: str
    operation: Schema
    schemas: Mapping[str, Schema]

    @property
    def key(self) -> str:
        """What `NAMES` calls it."""
        return f"{self.method} {self.path}"

    @cached_property
    def name(self) -> str:
        """The name of its method in Python."""
        return NAMES.get(self.key) or self._ruled()

    @property
    def listed(self) -> str | None:
        """The type of the items, where the answer is a page of a list."""
        queries = {p["name"] for p in self._parameters("query")}
        items = [self.schemas[name]["properties"].get("items") for name in self._answer_names]
        return _type(items[0]["items"]) if "cursor" in queries and len(items) == 1 else None

    @property
    def answer(self) -> str:
        """The type of the answer's JSON."""
        return " | ".join(dict.fromkeys(t for s in self._answers for t in _type(s).split(" | ")))

    def has_json(self) -> bool:
        """Tell whether it answers with JSON."""
        return bool(self._answers)

    def arguments(self, *, paging: bool = True) -> tuple[list[str], list[str]]:
        """Return the parameters that go by place, and those that go by name."""
        placed = [f"{name}: {kind}" for name, kind in self._placed()]
        if self._body is not None:
            kind = _type(self._body["content"][_JSON]["schema"])
            optional = not self._body.get("required", False)
            placed.append(f"body: {kind} | None = None" if optional else f"body: {kind}")
        named = [
            f"{_identifier(p['name'])}: {_type(p['schema'])}"
            + ("" if p["required"] else " | None = None")
            for p in self._queries(paging=paging)
        ]
        if self._conditional and not self._placed():
            # What it changes is in the body.
            named.append("revision: int | None = None")
        if self._keyed:
            named.append("operation_id: str | None = None")
        return placed, named

    def ask(self) -> str:
        """Return the expression that makes the request."""
        placed = iter(
            f'{name}["id"]' if kind == "Versioned" else name for name, kind in self._placed()
        )
        versioned = next((name for name, kind in self._placed() if kind == "Versioned"), None)
        segments = [
            next(placed) if part.startswith("{") else json.dumps(part)
            for part in self.path.strip("/").split("/")
        ]
        parts = [json.dumps(self.method), f"place({', '.join(segments)})"]
        queries = [
            f"{json.dumps(p['name'])}: {_identifier(p['name'])}" for p in self._queries(paging=True)
        ]
        if queries:
            parts.append(f"query={{{', '.join(queries)}}}")
        if self._body is not None:
            parts.append("body=body")
        if versioned is not None:
            parts.append(f'revision={versioned}["revision"]')
        elif self._conditional:
            parts.append("revision=revision")
        if self._keyed:
            parts.append("operation_id=named(operation_id)")
        return f"Ask({', '.join(parts)})"

    def passed(self) -> str:
        """Return the arguments with which an iterator asks for a page."""
        placed = [name for name, _ in self._placed()]
        named = [f"{(n := _identifier(p['name']))}={n}" for p in self._queries(paging=False)]
        limited = "limit" in {p["name"] for p in self._parameters("query")}
        return ", ".join([*placed, *named, *(["limit=PAGE"] if limited else []), "cursor=cursor"])

    @property
    def _body(self) -> Schema | None:
        body: Schema | None = self.operation.get("requestBody")
        return body if body is not None and _JSON in body["content"] else None

    @property
    def _keyed(self) -> bool:
        return "Idempotency-Key" in {p["name"] for p in self._parameters("header")}

    @property
    def _conditional(self) -> bool:
        return "If-Match" in {p["name"] for p in self._parameters("header")}

    @property
    def _answers(self) -> list[Schema]:
        answers = sorted(self.operation["responses"].items())
        return [
            answer["content"][_JSON]["schema"]
            for status, answer in answers
            if int(status) < HTTPStatus.MULTIPLE_CHOICES and _JSON in answer.get("content", {})
        ]

    @property
    def _answer_names(self) -> list[str]:
        names = [schema.get("$ref", "").rpartition("/")[2] for schema in self._answers]
        return [n for n in names if "items" in self.schemas.get(n, {}).get("properties", {})]

    def _parameters(self, place: str) -> list[Schema]:
        return [p for p in self.operation.get("parameters", ()) if p["in"] == place]

    def _queries(self, *, paging: bool) -> list[Schema]:
        found = [p for p in self._parameters("query") if paging or p["name"] not in _PAGING]
        return sorted(found, key=lambda p: not p["required"])

    def _placed(self) -> list[tuple[str, str]]:
        """Return the parameters of the path in its order; the last is what ``If-Match`` is of."""
        types = {p["name"]: _type(p["schema"]) for p in self._parameters("path")}
        found = [(name, types[name]) for name in re.findall(r"{(\w+)}", self.path)]
        if self._conditional and found:
            found[-1] = (found[-1][0].removesuffix("_id"), "Versioned")
        return [(_identifier(name), kind) for name, kind in found]

    def _ruled(self) -> str:
        """Call it by what it does to what: ``approve_memory``, ``list_team_members``."""
        path = re.sub(r"^/api/(admin/)?", "", self.path)
        path = re.sub(r"^projects/{project_id}/(memory/)?(?=\w)", "", path)
        parts = [part for part in path.strip("/").split("/") if not part.startswith("{")]
        *above, last = [part.replace("-", "_") for part in parts]
        owners = [_singular(part) for part in above]
        of_one = path.endswith("}")
        does = self.method == "POST" and not of_one and _singular(last) == last
        if does:
            return "_".join([last, *owners])
        many = self.listed is not None
        verb = "list" if many else _VERBS[self.method]
        noun = last if many or not (of_one or self.method == "POST") else _singular(last)
        return "_".join([verb, *owners, noun])


_PAGING = {"cursor", "limit"}
_VERBS = {
    "GET": "get",
    "POST": "create",
    "PUT": "replace",
    "PATCH": "update",
    "DELETE": "delete",
}


def _routes(described: Schema) -> Iterator[Route]:
    for path, item in sorted(described["paths"].items()):
        for method in _METHODS:
            if method in item:
                route = Route(
                    method.upper(), path, item[method], described["components"]["schemas"]
                )
                if route.has_json():
                    yield route


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word.removesuffix("ies") + "y"
    return word if word.endswith(("ss", "us")) else word.removesuffix("s")


def _identifier(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name.replace("-", "_")


def _class(name: str) -> str:
    """Return a schema's name as that of a class: ``audits_ReportBody`` is not one."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"\W|_", name))


def _type(schema: Schema, *, here: bool = False) -> str:
    """Return the type of what *schema* allows; *here*: in the module of the models."""
    if "$ref" in schema:
        name = _class(schema["$ref"].rpartition("/")[2])
        return name if here else f"models.{name}"
    if "enum" in schema or "const" in schema:
        return f"Literal[{', '.join(map(repr, schema.get('enum') or [schema['const']]))}]"
    several = schema.get("oneOf") or schema.get("anyOf")
    if several:
        return " | ".join(dict.fromkeys(_type(one, here=here) for one in several))
    match schema.get("type"):
        case "array":
            return f"list[{_type(schema.get('items', {}), here=here)}]"
        case "object":
            return f"dict[str, {_type(schema.get('additionalProperties') or {}, here=here)}]"
        case kind:
            return _PLAIN.get(str(kind), "Any")


_PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def _models(schemas: Mapping[str, Schema]) -> Iterator[str]:
    yield f'"""The bodies of requests and answers.\n\n{_BY}\n"""\n'
    yield "from __future__ import annotations\n"
    yield "from typing import Any, Literal, NotRequired, TypedDict, final\n"
    for name, schema in sorted(schemas.items(), key=lambda item: _class(item[0])):
        if "properties" not in schema:
            yield f"{_class(name)} = {_type(schema, here=True)}"
            yield _docstring(schema.get("description", ""), "") + "\n"
            continue
        fields = {
            field: _type(kind, here=True)
            if field in schema.get("required", ())
            else f"NotRequired[{_type(kind, here=True)}]"
            for field, kind in schema["properties"].items()
        }
        yield from _typed_dict(_class(name), fields, schema.get("description", ""))


def _typed_dict(name: str, fields: Mapping[str, str], told: str) -> Iterator[str]:
    if all(field.isidentifier() and not keyword.iskeyword(field) for field in fields):
        # Of two final ones, ``"title" in found`` tells a type checker which it is.
        yield f"@final\nclass {name}(TypedDict):"
        yield _docstring(told or f"``{name}`` of the API.", "    ") + "\n"
        yield from (f"    {field}: {kind}" for field, kind in fields.items())
        yield ""
        return
    # A field that is a word of Python cannot be written as one of a class.
    rows = ", ".join(f"{field!r}: {kind!r}" for field, kind in fields.items())
    yield f"{name} = TypedDict({name!r}, {{{rows}}})\n"


def _problems() -> Iterator[str]:
    kinds: dict[str, type[CodeflowError]] = {}
    for kind in STATUS:
        if "code" in vars(kind):
            kinds[kind.code] = kind
    yield f'"""One exception for each type of problem.\n\n{_BY}\n"""\n'
    yield "from collections.abc import Mapping\nfrom typing import Final\n"
    yield "from codeflow_memory_client.errors import ProblemError\n\n"
    for code, kind in sorted(kinds.items()):
        yield f"class {kind.__name__}(ProblemError):"
        yield _docstring(f"{kind.__doc__ or ''}", "    ") + "\n"
        yield f'    code = "{code}"\n\n'
    rows = ", ".join(f'"{code}": {kind.__name__}' for code, kind in sorted(kinds.items()))
    yield f"BY_CODE: Final[Mapping[str, type[ProblemError]]] = {{{rows}}}"
    yield '"""The class of each code."""'


def _client(routes: list[Route], *, concurrent: bool) -> Iterator[str]:
    name, of = ("AsyncClient", "AsyncConnection") if concurrent else ("Client", "Connection")
    iterator = "AsyncIterator" if concurrent else "Iterator"
    yield f'"""Every JSON route as a method{" of asyncio" if concurrent else ""}.\n\n{_BY}\n"""\n'
    yield f"from collections.abc import {iterator}\nfrom typing import Any, Literal\n"
    yield "from codeflow_memory_client import models"
    yield "from codeflow_memory_client.asking import Ask, Versioned, named, place"
    yield f"from codeflow_memory_client.connection import PAGE, {of}\n\n"
    yield f"class {name}({of}):"
    yield '    """Asks a server. Each method names its route, and the problems that it adds."""\n'
    for route in routes:
        yield from _method(route, concurrent=concurrent)
        if route.listed is not None:
            yield from _iterator(route, iterator)


def _method(route: Route, *, concurrent: bool) -> Iterator[str]:
    begun, awaited = ("async def", "await ") if concurrent else ("def", "")
    yield f"    {begun} {route.name}({_signature(*route.arguments())}) -> {route.answer}:"
    yield _docstring(_told(route), "        ")
    yield f"        answer: {route.answer} = {awaited}self._send({route.ask()})"
    yield "        return answer\n"


def _iterator(route: Route, iterator: str) -> Iterator[str]:
    name = route.name.removeprefix("list_").removeprefix("get_")
    signature = _signature(*route.arguments(paging=False))
    yield f"    def iter_{name}({signature}) -> {iterator}[{route.listed}]:"
    yield f'        """Yield the items of `{route.name}`, page by page as they are needed."""'
    yield f"        return self._pages(lambda cursor: self.{route.name}({route.passed()}))\n"


def _signature(placed: list[str], named: list[str]) -> str:
    parts = ["self", *placed, "/", *(["*", *named] if named else [])]
    return ", ".join(parts if placed else [part for part in parts if part != "/"])


def _told(route: Route) -> str:
    codes = [
        code
        for status, answer in sorted(route.operation["responses"].items())
        if _PROBLEM in answer.get("content", {})
        for code in re.findall(r"`([\w-]+)`", answer["description"])
    ]
    added = [code for code in dict.fromkeys(codes) if code not in _EVERYWHERE]
    described = inspect.cleandoc(route.operation["description"])
    if len(described.split("\n\n")[0]) > _SUMMARY:
        short = route.operation["summary"]
        short = short if len(short) <= _SUMMARY else f"Ask for ``{route.name}``"
        described = f"{short}.\n\n{described}"
    told = f"{described}\n\n``{route.key}``."
    return told + (f" Adds the problems {', '.join(added)}." if added else "")


_EVERYWHERE = {
    "forbidden", "not-found", "limit-exceeded", "unsupported-media-type", "misdirected-request",
    "invalid-request", "internal", "deadline-exceeded", "unauthenticated", "rate-limited", "busy",
}  # fmt: skip
"""Problems that any route may answer with."""


_SUMMARY = 80
"""Characters of a first sentence that has a line to itself."""


def _docstring(told: str, indent: str) -> str:
    paragraphs = inspect.cleandoc(told).split("\n\n")
    width = 96 - len(indent)
    wrapped = [
        textwrap.fill(" ".join(p.split()), width, break_on_hyphens=False, break_long_words=False)
        for p in paragraphs
    ]
    text = "\n\n".join(wrapped)
    if "\n" not in text:
        return f'{indent}"""{text}"""' if text else ""
    return textwrap.indent(f'"""{text}\n"""', indent)


def _formatted(text: str) -> str:
    """Return *text* as ruff sorts and formats it."""
    ruff = (sys.executable, "-m", "ruff")
    for words in (("check", "--fix", "--quiet", "--select", "I,F401"), ("format", "--quiet")):
        text = subprocess.run(  # noqa: S603 - the formatter, no shell
            [*ruff, *words, "--stdin-filename", str(PLACE / "x.py"), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return text


if __name__ == "__main__":
    for module, content in files().items():
        (PLACE / module).write_text(content, "utf-8")
