"""Every route has a caller, or is listed here as public."""

from inspect import iscoroutinefunction

import pytest
from litestar import Litestar, get, post
from litestar.di import NamedDependency, Provide
from litestar.routes import HTTPRoute

from codeflow_memory.app import Wiring, create_litestar
from codeflow_memory.http.caller import PUBLIC
from codeflow_memory.settings import Settings

from .tree import PACKAGE

PUBLIC_PATHS = {"/healthz", "/readyz", "/schema", "/schema/openapi.json", "/schema/{path:str}"}

CALLERS = {"call", "change"}
READ_BY_POST = {
    "/api/projects/{project_id:str}/memory/selections",
    "/api/projects/{project_id:str}/memory/selections/{selection_id:str}/replay",
    *(f"/api/tools/{name}" for name in ("memory_search", "memory_get", "memory_select")),
}
"""A selection stores its manifest and what else only reads nothing: none of it has a receipt."""


class Nowhere:
    """No tenant: the routes are looked at, never called."""

    def get(self, tenant):
        raise AssertionError(tenant)


@pytest.fixture(scope="module")
def handlers():
    return handlers_of(create_litestar(Wiring(Nowhere(), Settings(), {"local"}, lambda: "req_1")))


def handlers_of(app):
    return [
        (route.path, handler)
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        if "OPTIONS" not in handler.http_methods
    ]


def without_caller(handlers):
    return {
        path
        for path, handler in handlers
        if not CALLERS & handler.parsed_fn_signature.parameters.keys()
    }


def without_receipt(handlers):
    return {
        path
        for path, handler in handlers
        if not handler.http_methods <= {"GET", "HEAD"}
        and "change" not in handler.parsed_fn_signature.parameters
    }


def declared_public(handlers):
    return {path for path, handler in handlers if handler.opt.get(PUBLIC) is True}


def test_every_route_needs_a_caller_or_is_listed_as_public(handlers):
    assert without_caller(handlers) == PUBLIC_PATHS


def test_no_other_route_is_declared_public(handlers):
    assert declared_public(handlers) == PUBLIC_PATHS


def test_every_route_that_changes_something_names_its_operation(handlers):
    assert without_receipt(handlers) == READ_BY_POST


def test_every_handler_is_asynchronous(handlers):
    """Work goes to the application's own threads; Litestar's would be a second pool."""
    own = [handler.fn for _, handler in handlers if handler.fn.__module__.startswith(PACKAGE)]

    assert len(own) > 40
    assert [fn.__qualname__ for fn in own if not iscoroutinefunction(fn)] == []


def test_the_checks_see_what_breaks_them():
    @get("/open", opt={PUBLIC: True})
    async def forgot() -> None: ...

    @post("/changes")
    async def changes(call: NamedDependency[int]) -> None: ...

    provided = Provide(lambda: 1, sync_to_thread=False)
    pairs = handlers_of(Litestar([forgot, changes], dependencies={"call": provided}))
    pairs = [pair for pair in pairs if not pair[0].startswith("/schema")]

    assert without_caller(pairs) == {"/open"}
    assert declared_public(pairs) == {"/open"}
    assert without_receipt(pairs) == {"/changes"}
