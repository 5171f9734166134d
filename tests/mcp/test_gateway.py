"""The door to the protocol: loaded once, late, and again where it could not be."""

import asyncio
import json
import subprocess
import sys

import pytest

from codeflow_memory.http import edge
from codeflow_memory.mcp import gateway
from codeflow_memory.mcp.gateway import Gateway
from codeflow_memory.mcp.handshake import STATELESS, VERSION_KEY

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = {"name": "test", "version": "1"}
SECONDS = 30

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
HEADERS = ((b"accept", b"application/json"), (b"content-type", b"application/json"))


class Nobody:
    """A caller of what needs none: a handshake, a ping."""

    answered = staticmethod(edge.answered)


NOBODY = Nobody()


async def alive(door, do):
    async with door.lifespan(None):
        return await do()


def test_an_sdk_that_cannot_be_loaded_is_an_error_and_is_tried_again(monkeypatch):
    door = Gateway("1")

    async def ask():
        monkeypatch.setattr(gateway, "_SERVER", "codeflow_memory.mcp.absent")
        with pytest.raises(ModuleNotFoundError):
            await door.answer(HEADERS, PING, NOBODY)
        monkeypatch.setattr(gateway, "_SERVER", "codeflow_memory.mcp.server")
        return await door.answer(HEADERS, PING, NOBODY)

    answer = asyncio.run(alive(door, ask))

    assert (answer.status, b'"result":{}' in answer.body) == (200, True)


def test_messages_that_come_while_it_is_loaded_are_all_answered():
    door = Gateway("1")

    async def ask():
        return await asyncio.gather(*(door.answer(HEADERS, PING, NOBODY) for _ in range(8)))

    assert [answer.status for answer in asyncio.run(alive(door, ask))] == [200] * 8


def test_a_door_that_nobody_came_to_ends_with_its_application():
    async def nothing():
        return "nothing"

    assert asyncio.run(alive(Gateway("1"), nothing)) == "nothing"


def test_who_waits_when_the_application_ends_is_let_go():
    door = Gateway("1")

    async def ask():
        return asyncio.create_task(door.answer(HEADERS, PING, NOBODY))

    async def run():
        waiting = await alive(door, ask)
        return await asyncio.gather(waiting, return_exceptions=True)

    [ended] = asyncio.run(run())
    assert isinstance(ended, asyncio.CancelledError) or ended.status == 200


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT},
}
DISCOVER = {
    "jsonrpc": "2.0",
    "id": "a",
    "method": "server/discover",
    "params": {"_meta": {VERSION_KEY: STATELESS[0], CAPABILITIES: {}}},
}
OF_DISCOVER = (
    (b"mcp-protocol-version", STATELESS[0].encode()),
    (b"mcp-method", b"server/discover"),
)


@pytest.mark.parametrize(("message", "more"), [(INITIALIZE, ()), (DISCOVER, OF_DISCOVER)])
def test_a_handshake_waits_for_nothing_and_is_what_the_sdk_says(message, more):
    door, body = Gateway("1"), json.dumps(message).encode()

    async def ask():
        first = await asyncio.wait_for(door.answer((*HEADERS, *more), body, NOBODY), SECONDS)
        waited = "codeflow_memory.mcp.server" in sys.modules and door._made.done()
        await door.answer(HEADERS, PING, NOBODY)
        return waited, first, await door.answer((*HEADERS, *more), body, NOBODY)

    waited, first, later = asyncio.run(alive(door, ask))

    assert not waited
    assert (first.status, json.loads(first.body)) == (later.status, json.loads(later.body))


@pytest.mark.parametrize(
    ("message", "headers"),
    [
        (INITIALIZE | {"id": None}, HEADERS),
        (INITIALIZE | {"jsonrpc": "1.0"}, HEADERS),
        (INITIALIZE, HEADERS[1:]),
        (INITIALIZE, (*HEADERS, *OF_DISCOVER)),
        (DISCOVER, HEADERS),
        (DISCOVER, (*HEADERS, OF_DISCOVER[0])),
        (DISCOVER, (*HEADERS, OF_DISCOVER[0], (b"mcp-method", b"tools/list"))),
    ],
)
def test_a_handshake_that_is_not_whole_is_the_sdks_to_refuse(message, headers):
    door, body = Gateway("1"), json.dumps(message).encode()

    async def ask():
        return [await door.answer(headers, body, NOBODY) for _ in range(2)]

    first, second = asyncio.run(alive(door, ask))

    assert first == second
    assert b"serverInfo" not in first.body


PRELOADED = """
import sys, threading
from codeflow_memory.http import edge
from codeflow_memory.mcp import gateway
print("mcp" in sys.modules)
gateway.preload()
[thread.join() for thread in threading.enumerate() if thread is not threading.current_thread()]
print("mcp" in sys.modules)
"""


def test_it_is_loaded_ahead_in_a_thread_and_not_before():
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", PRELOADED], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["False", "True"]
