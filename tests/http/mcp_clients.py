"""Clients of the protocol that others wrote, behind one interface."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from fastmcp import Client as FastClient
from fastmcp.client.transports import StreamableHttpTransport
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

SECONDS = 60


@dataclass
class Result:
    """What a tool came to."""

    refused: bool
    value: dict[str, Any]
    text: str


@dataclass
class Spoken:
    """A connection that one client made.

    Args:
        call: Calls a tool by name with arguments.
        tools: Lists the tools.
        read: Reads a resource by URI.
        prompt: Makes a prompt.
    """

    call: Callable[..., Awaitable[Result]]
    tools: Callable[[], Awaitable[list[Any]]]
    read: Callable[[str], Awaitable[str]]
    prompt: Callable[..., Awaitable[str]]


@asynccontextmanager
async def _sdk(url: str, token: str, mode: str) -> AsyncIterator[Spoken]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=SECONDS) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments)
            return Result(result.is_error, result.structured_content, result.content[0].text)

        async def tools():
            return (await client.list_tools()).tools

        async def read(uri):
            return (await client.read_resource(uri)).contents[0].text

        async def prompt(name, **arguments):
            return (await client.get_prompt(name, arguments)).messages[0].content.text

        yield Spoken(call, tools, read, prompt)


@asynccontextmanager
async def _fastmcp(url: str, token: str, _: str) -> AsyncIterator[Spoken]:
    transport = StreamableHttpTransport(url, headers={"Authorization": f"Bearer {token}"})
    async with FastClient(transport, timeout=SECONDS) as client:

        async def call(name, **arguments):
            result = await client.call_tool(name, arguments, raise_on_error=False)
            return Result(result.is_error, result.structured_content, result.content[0].text)

        async def read(uri):
            return (await client.read_resource(uri))[0].text

        async def prompt(name, **arguments):
            return (await client.get_prompt(name, arguments)).messages[0].content.text

        yield Spoken(call, client.list_tools, read, prompt)


CLIENTS = {
    "sdk-handshake": (_sdk, "legacy"),
    "sdk-2026-07-28": (_sdk, "2026-07-28"),
    "sdk-auto": (_sdk, "auto"),
    "fastmcp": (_fastmcp, ""),
}


def spoken(client: str, url: str, token: str, do: Callable[[Spoken], Awaitable[Any]]) -> Any:
    """Connect with *client*, do something, and part."""

    async def run():
        connect, mode = CLIENTS[client]
        async with connect(f"{url}/mcp", token, mode) as connection:
            return await do(connection)

    return asyncio.run(asyncio.wait_for(run(), SECONDS))
