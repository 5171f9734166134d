"""The door to the protocol: loaded once, late, and again where it could not be."""

import asyncio
import subprocess
import sys

import pytest

from codeflow_memory.mcp import gateway
from codeflow_memory.mcp.gateway import Gateway

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
HEADERS = ((b"accept", b"application/json"), (b"content-type", b"application/json"))


async def alive(door, do):
    async with door.lifespan(None):
        return await do()


def test_an_sdk_that_cannot_be_loaded_is_an_error_and_is_tried_again(monkeypatch):
    door = Gateway("1")

    async def ask():
        monkeypatch.setattr(gateway, "_SERVER", "codeflow_memory.mcp.absent")
        with pytest.raises(ModuleNotFoundError):
            await door.answer(HEADERS, PING, None)
        monkeypatch.setattr(gateway, "_SERVER", "codeflow_memory.mcp.server")
        return await door.answer(HEADERS, PING, None)

    answer = asyncio.run(alive(door, ask))

    assert (answer.status, b'"result":{}' in answer.body) == (200, True)


def test_messages_that_come_while_it_is_loaded_are_all_answered():
    door = Gateway("1")

    async def ask():
        return await asyncio.gather(*(door.answer(HEADERS, PING, None) for _ in range(8)))

    assert [answer.status for answer in asyncio.run(alive(door, ask))] == [200] * 8


def test_a_door_that_nobody_came_to_ends_with_its_application():
    async def nothing():
        return "nothing"

    assert asyncio.run(alive(Gateway("1"), nothing)) == "nothing"


def test_who_waits_when_the_application_ends_is_let_go():
    door = Gateway("1")

    async def ask():
        return asyncio.create_task(door.answer(HEADERS, PING, None))

    async def run():
        waiting = await alive(door, ask)
        return await asyncio.gather(waiting, return_exceptions=True)

    [ended] = asyncio.run(run())
    assert isinstance(ended, asyncio.CancelledError) or ended.status == 200


PRELOADED = """
import sys, threading
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
