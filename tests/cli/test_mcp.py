"""``mcp``: messages on stdin and stdout, from a server or the home itself."""

import asyncio
import http.client
import json
import socket
import subprocess
import threading
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from mcp import Client, StdioServerParameters

from codeflow_memory import __version__
from codeflow_memory.cli.mcp import MAX_LINE, headers_of
from codeflow_memory.mcp.handshake import HANDSHAKES, STATELESS, VERSION_KEY, greet

from .conftest import COMMAND, SECONDS, environment

CLIENT = {"name": "test", "version": "1"}
META = {VERSION_KEY: STATELESS[0], "io.modelcontextprotocol/clientCapabilities": {}}
PROJECT = {"slug": "core"}
WRONG = {"CODEFLOW_TOKEN": "wrong"}


def line(method, identifier=1, **params):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message | ({} if identifier is None else {"id": identifier})) + "\n"


def initialize(version=HANDSHAKES[-1], identifier=1):
    return line(
        "initialize", identifier, protocolVersion=version, capabilities={}, clientInfo=CLIENT
    )


def call(name, identifier=2, **arguments):
    return line("tools/call", identifier, name=name, arguments=arguments)


def answers(done):
    return {answer["id"]: answer for answer in map(json.loads, done.out.splitlines())}


def post(url, token, body, path="/mcp", **headers):
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)
    with closing(connection):
        sent = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        sent |= {"Accept": "application/json, text/event-stream"} | headers
        connection.request("POST", path, body, sent)
        return json.loads(connection.getresponse().read())


@pytest.fixture
def token(home):
    return lambda: (home / "token").read_text().strip()


@pytest.fixture
def place(serve, token):
    """Make the home with one project; return its server."""
    server = serve()
    repository = post(server.url, token(), json.dumps({"key": "shop"}), "/api/repositories")
    path = f"/api/repositories/{repository['id']}/projects"
    assert post(server.url, token(), json.dumps(PROJECT), path)["slug"] == "core"
    return server


def test_without_a_home_or_a_server_it_says_so(cli):
    done = cli("mcp", stdin=initialize())

    assert (done.code, done.out) == (4, "")
    assert "`codeflow-memory up`" in done.err


def test_a_wrong_token_is_an_error_with_the_problem(cli, place):
    for env in ({"CODEFLOW_URL": place.url}, {}):
        done = cli("mcp", stdin=call("memory_search", query="x"), **WRONG, **env)
        error = answers(done.ok())[2]["error"]
        assert (error["code"], error["data"]["code"]) == (-32603, "unauthenticated")
    assert place.stop() == 0
    done = cli("mcp", stdin=call("memory_search", query="x"), **WRONG)
    assert answers(done.ok())[2]["error"]["data"]["code"] == "unauthenticated"


def test_what_does_not_answer_is_an_error_that_names_it(cli, place):
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    done = cli("mcp", stdin=initialize(), CODEFLOW_URL=url, CODEFLOW_TOKEN=place.first["token"])

    assert "does not answer" in answers(done.ok())[1]["error"]["message"]


def test_lines_that_are_no_message_are_answered_and_passed_over(cli, place):
    lines = [
        "{\n",
        "\n",
        "[" * 100_000 + "\n",
        '"' + "a" * (2 * MAX_LINE) + '"\n',
        '{"jsonrpc": "2.0", "id": 7, "id": 8, "method": "ping"}\n',
        line("ping", 9),
    ]

    done = cli("mcp", stdin="".join(lines), CODEFLOW_URL=place.url)

    codes = [json.loads(told).get("error", {}).get("code") for told in done.ok().out.splitlines()]
    assert sorted(codes, key=str) == [-32700, -32700, -32700, -32700, None]


@pytest.mark.parametrize("served", [True, False])
def test_a_session_of_lines(cli, place, served):
    if not served:
        assert place.stop() == 0
    lines = [
        initialize("2025-06-18"),
        line("notifications/initialized", None),
        line("tools/list", "list"),
        call("memory_append", 3, content="The okapi prefers its own lines."),
    ]

    told = answers(cli("mcp", stdin="".join(lines)).ok())

    assert told.keys() == {1, "list", 3}
    assert told[1]["result"]["protocolVersion"] == "2025-06-18"
    assert told["list"]["result"]["tools"][0]["name"] == "memory_search"
    assert told[3]["result"]["structuredContent"]["status"] == "appended"
    again = answers(cli("mcp", stdin=call("memory_search", query="okapi")).ok())
    assert len(again[2]["result"]["structuredContent"]["results"]) == 1


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize("mode", ["legacy", "auto", STATELESS[0]])
def test_the_client_of_the_sdk_speaks_it(home, place, served, mode):
    if not served:
        assert place.stop() == 0
    program = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "mcp"], env=environment(home), cwd=home.parent
    )

    async def speak():
        async with Client(program, mode=mode) as client:
            tools = (await client.list_tools()).tools
            made = await client.call_tool(
                "memory",
                {"command": "create", "path": "/memories/a.md", "file_text": "Of a tapir."},
            )
            viewed = await client.call_tool("memory", {"command": "view", "path": "/memories/a.md"})
            absent = await client.call_tool("memory_get", {"id": "mem_absent"})
            return tools, made, viewed, absent

    tools, made, viewed, absent = asyncio.run(asyncio.wait_for(speak(), SECONDS))

    assert len(tools) == 7
    assert (made.is_error, viewed.is_error, absent.is_error) == (False, False, True)
    assert "Of a tapir." in viewed.content[0].text
    assert absent.structured_content["code"] == "not-found"


def test_the_home_is_free_again_when_it_ends(cli, place, serve):
    assert place.stop() == 0

    cli("mcp", stdin=call("memory_search", query="x")).ok()

    assert serve().stop() == 0


def test_the_greeting_is_what_the_sdk_says_byte_for_byte(place, token):
    for version in (*HANDSHAKES, "1999-01-01"):
        asked = initialize(version)
        assert greet(json.loads(asked), __version__) == post(place.url, token(), asked)
    asked = line("server/discover", 1, _meta=META)
    headers = headers_of(json.loads(asked), None)
    assert greet(json.loads(asked), __version__) == post(place.url, token(), asked, **headers)


@pytest.mark.parametrize(
    "message",
    [
        {"method": "tools/list"},
        {"method": "initialize"},
        {"method": "initialize", "params": {"protocolVersion": 1}},
        {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"method": "server/discover", "params": {"_meta": {VERSION_KEY: "2027-01-01"}}},
        {"method": "server/discover", "params": {"_meta": {VERSION_KEY: STATELESS[0]}}},
        {"method": "server/discover", "params": []},
    ],
)
def test_all_but_a_whole_greeting_is_left_to_the_sdk(message):
    assert greet({"jsonrpc": "2.0", "id": 1} | message, __version__) is None


def test_headers_repeat_what_a_message_says_of_itself():
    named = {"params": {"name": "memory_get", "_meta": META}, "method": "tools/call"}
    assert headers_of(named, None) == {
        "MCP-Protocol-Version": STATELESS[0],
        "Mcp-Method": "tools/call",
        "Mcp-Name": "memory_get",
    }
    odd = {"params": {"uri": "x://\u7b14\r\nHost: evil", "_meta": META}, "method": "resources/read"}
    assert headers_of(odd, None)["Mcp-Name"].startswith("=?base64?")
    assert headers_of({"method": "ping"}, "2025-06-18") == {"MCP-Protocol-Version": "2025-06-18"}
    assert headers_of({"method": "ping", "params": [1]}, None) == {}


class Listener:
    """A server that does with each request what the test says, with its bytes as they came."""

    def __init__(self, *replies):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.requests = []
        self._thread = threading.Thread(target=self._serve, args=(replies,))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._thread.join(SECONDS)
        self._socket.close()

    def _serve(self, replies):
        for reply in replies:
            connection, _ = self._socket.accept()
            with connection:
                connection.settimeout(SECONDS)
                head, _, body = self._read(connection)
                self.requests.append((head, body))
                reply(connection)

    @staticmethod
    def _read(connection):
        got = b""
        while b"\r\n\r\n" not in got:
            got += connection.recv(65536)
        head, separator, body = got.partition(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(body) < size:
            body += connection.recv(65536)
        return head.lower(), separator, body


def hang_up(_):
    """Say nothing."""


def accept(connection):
    body = b'{"jsonrpc": "2.0", "id": 2, "result": {}}'
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


def until_gone(connection):
    assert connection.recv(1) == b""


def key_of(head):
    return next(row for row in head.split(b"\r\n") if row.startswith(b"idempotency-key"))


def test_a_message_whose_answer_got_lost_is_sent_again_as_the_same_operation(cli):
    with Listener(hang_up, accept) as listener:
        done = cli("mcp", stdin=call("memory_get", id="x"), CODEFLOW_URL=listener.url)

    assert answers(done.ok())[2]["result"] == {}
    (first, body), (second, again) = listener.requests
    assert (key_of(first), body) == (key_of(second), again)


def test_a_message_that_is_cancelled_is_given_up_and_not_answered(home, tmp_path):
    seen = threading.Event()

    def wait(connection):
        seen.set()
        until_gone(connection)

    with (
        Listener(wait) as listener,
        subprocess.Popen(  # noqa: S603 - this program, no shell
            [*COMMAND, "mcp"],
            env=environment(home, CODEFLOW_URL=listener.url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        ) as process,
    ):
        process.stdin.write(call("memory_search", query="x"))
        process.stdin.flush()
        assert seen.wait(SECONDS)
        told, _ = process.communicate(line("notifications/cancelled", None, requestId=2), SECONDS)

    assert (told, process.returncode) == ("", 0)
    assert len(listener.requests) == 1


def test_a_proxy_of_a_server_imports_neither_the_application_nor_the_sdk(place, probe):
    code, _, imported = probe("mcp", "--url", place.url)

    assert code == 0
    assert not {"mcp", "mcp_types", "litestar", "apsw", "pydantic"} & imported
