"""``mcp``: the Model Context Protocol on stdin and stdout, for agents that start a program.

Each line is one message. It is passed on to a running server, else to the application inside this
process; nothing is understood here but what the way over HTTP asks for.
"""

import json
import sys
from base64 import b64encode
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Lock
from typing import Any, BinaryIO, Final

import rich_click as click

from codeflow_memory import __version__
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.exits import NotThereError, UnreachableError
from codeflow_memory.cli.relay import Relay, relay_of
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.mcp import handshake

MAX_LINE: Final = 2 * 1024 * 1024
"""Bytes; a server takes half of it."""

AT_ONCE: Final = 8
"""Messages under way."""

_PARSE_ERROR: Final = -32700
_INTERNAL_ERROR: Final = -32603


@click.command("mcp")
@click.pass_obj
def mcp(context: Context) -> None:
    """Speak the Model Context Protocol on stdin and stdout, until stdin ends.

    It speaks for the server of --url or the home, and for the home itself while no server runs.
    """
    with closing(relay_of(context)) as relay:
        Proxy(relay, sys.stdout.buffer).serve(sys.stdin.buffer)


class Proxy:
    """Passes messages on and answers back.

    Args:
        relay: The way to the application.
        output: Where answers go, a line each.
    """

    def __init__(self, relay: Relay, output: BinaryIO) -> None:
        self._relay = relay
        self._output = output
        self._lock = Lock()
        self._version: str | None = None

    def serve(self, lines: BinaryIO) -> None:
        """Serve until *lines* end and every answer is given."""
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="mcp") as pool:
            while line := lines.readline(MAX_LINE):
                if not line.endswith(b"\n") and len(line) == MAX_LINE:
                    _skip(lines)
                    self._write(_error(None, _PARSE_ERROR, "the message is too long"))
                elif line.strip():
                    self._take(line, pool)

    def _take(self, line: bytes, pool: ThreadPoolExecutor) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._write(_error(None, _PARSE_ERROR, "the line is no JSON"))
            return
        known = message if isinstance(message, dict) else {}
        if known.get("method") == "notifications/cancelled":
            params = known.get("params")
            self._relay.cancel(params.get("requestId") if isinstance(params, dict) else None)
            return
        greeting = handshake.greet(known, __version__) if self._relay.begins else None
        if greeting is not None:
            self._settle(greeting)
            self._write(greeting)
            return
        pool.submit(self._pass, line, known)

    def _pass(self, line: bytes, message: Mapping[str, Any]) -> None:
        identifier = message.get("id")
        try:
            status, body = self._relay.post(identifier, headers_of(message, self._version), line)
        except (UnreachableError, NotThereError, CodeflowError, click.ClickException) as error:
            self._write(_error(identifier, _INTERNAL_ERROR, str(error)))
            return
        if not body or "id" not in message:
            # Nothing to say: a notification, or a request that was cancelled meanwhile.
            return
        answer = _answer(identifier, status, body)
        if message.get("method") == "initialize":
            self._settle(answer)
        self._write(answer)

    def _settle(self, answer: Mapping[str, Any]) -> None:
        result = answer.get("result")
        if isinstance(result, Mapping) and "protocolVersion" in result:
            self._version = str(result["protocolVersion"])

    def _write(self, answer: Mapping[str, object]) -> None:
        line = json.dumps(answer, separators=(",", ":")).encode("ascii")
        with self._lock:
            self._output.write(line + b"\n")
            self._output.flush()


def headers_of(message: Mapping[str, Any], version: str | None) -> dict[str, str]:
    """Return the headers that a message has over HTTP.

    Args:
        message: Of any revision: one that names its own repeats in headers what it says.
        version: What a handshake agreed on.
    """
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    own = meta.get(handshake.VERSION_KEY) if isinstance(meta, dict) else None
    if not isinstance(own, str):
        return {} if version is None else {"MCP-Protocol-Version": version}
    headers = {"MCP-Protocol-Version": own, "Mcp-Method": str(message.get("method"))}
    named = params.get("name", params.get("uri"))
    if isinstance(named, str):
        headers["Mcp-Name"] = named
    return {name: _field(value) for name, value in headers.items()}


def _field(text: str) -> str:
    """Write a value as a header can hold it; the form is the protocol's own."""
    if text.isascii() and text.isprintable() and text == text.strip():
        return text
    return f"=?base64?{b64encode(text.encode('utf-8', 'replace')).decode('ascii')}?="


def _answer(identifier: object, status: int, body: bytes) -> Mapping[str, Any]:
    """Return the answer of the application as one of the protocol: a problem becomes an error."""
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if isinstance(value, dict) and "jsonrpc" in value:
        return value
    if isinstance(value, dict) and "detail" in value:
        return _error(identifier, _INTERNAL_ERROR, str(value["detail"]), value)
    return _error(identifier, _INTERNAL_ERROR, f"what answers there is no server of ours: {status}")


def _error(
    identifier: object, code: int, sentence: str, data: Mapping[str, object] | None = None
) -> dict[str, object]:
    error: dict[str, object] = {"code": code, "message": sentence}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "id": identifier, "error": error}


def _skip(lines: BinaryIO) -> None:
    """Read to the end of a line that is too long."""
    while (rest := lines.readline(MAX_LINE)) and not rest.endswith(b"\n"):
        pass
