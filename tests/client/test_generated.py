"""The client says what the API's description says, and costs little to import."""

import importlib.util
import inspect
import json
import subprocess
import sys
import typing
from functools import cache

import pytest

from codeflow_memory_client import AsyncClient, Client, models

from ..architecture.tree import ROOT
from ..program import Server

PACKAGE = ROOT / "codeflow_memory_client"

HEAVY = {"httpx", "asyncio", "ssl", "socket", "pydantic", "litestar", "click", "codeflow_memory"}
"""What an import of the client does without."""


@cache
def generator():
    spec = importlib.util.spec_from_file_location("client_writer", ROOT / "ops" / "client.py")
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def test_the_client_is_what_the_description_says():
    """Run ``.venv/bin/python ops/client.py`` when this fails."""
    written = generator().files()

    assert len(written) == 4
    for name, text in written.items():
        assert (PACKAGE / name).read_text("utf-8") == text, name


def methods(kind):
    return {
        name
        for name, _ in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith(("_", "iter_")) and name not in {"close", "aclose"}
    }


def test_every_json_route_of_a_running_server_is_one_method_of_both_clients(tmp_path):
    server = Server(tmp_path / "home")
    try:
        with Client(server.url) as client:
            shown = client._wire._client.get(f"{server.url}/schema/openapi.json").json()
    finally:
        server.stop()
    routes = {
        f"``{method.upper()} {path}``"
        for path, item in shown["paths"].items()
        for method, operation in item.items()
        if any(
            "application/json" in answer.get("content", {})
            for answer in operation["responses"].values()
        )
    }

    for kind in (Client, AsyncClient):
        told = [inspect.getdoc(getattr(kind, name)) or "" for name in methods(kind)]
        assert len(told) == len(routes) > 60
        assert {route for route in routes if sum(route in text for text in told) != 1} == set()


def test_both_clients_take_and_give_the_same():
    assert methods(Client) == methods(AsyncClient)
    for name in methods(Client):
        plain, waiting = getattr(Client, name), getattr(AsyncClient, name)
        assert inspect.signature(plain) == inspect.signature(waiting), name
        assert inspect.iscoroutinefunction(waiting), name


def test_every_annotation_names_a_type():
    for name in methods(Client):
        assert "return" in typing.get_type_hints(getattr(Client, name)), name
    kinds = [kind for kind in vars(models).values() if typing.is_typeddict(kind)]

    assert len(kinds) > 80
    assert all(typing.get_type_hints(kind) is not None for kind in kinds)


def test_a_change_takes_the_thing_that_it_changes_and_a_name():
    needing = {
        name
        for name in methods(Client)
        if "revision-required" in (inspect.getdoc(getattr(Client, name)) or "")
    }

    assert {"update_memory", "approve_memory", "delete_memory", "update_repository"} <= needing
    for name in needing:
        taken = inspect.signature(getattr(Client, name)).parameters
        if "revision" in taken:
            # What it changes is named in the body.
            continue
        first = list(taken.values())[1]
        assert first.annotation.__name__ == "Versioned", name
        assert "operation_id" in inspect.signature(getattr(Client, name)).parameters


@pytest.mark.parametrize(("extra", "more"), [("", set()), ("import ssl", {"ssl", "socket"})])
def test_importing_the_client_is_cheap(extra, more):
    program = (
        f"import json, sys, codeflow_memory_client\n{extra}\nprint(json.dumps([*sys.modules]))"
    )
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )

    assert set(json.loads(done.stdout)) & HEAVY == more
