"""The server itself: bounds of connections and heads, binding, signals."""

import json
import signal
import socket
import subprocess
import sys
import textwrap
from contextlib import suppress

import pytest

from codeflow_memory.http.admission import EdgePolicy
from codeflow_memory.http.protocol import Bounds
from codeflow_memory.http.server import Listener, bind, own_hosts

BOUNDS = Bounds(head_seconds=0.15, head_bytes=4096, head_lines=20, connections_per_peer=4)

ENDLESS = 24 << 20
"""More than the kernel keeps for both sides of a connection."""


async def echo(scope, receive, send):
    """Answer with the headers' names and the body's length; ``/held`` waits for the client."""
    if scope["type"] == "lifespan":
        for _ in range(2):
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
        return
    length = 0
    more = True
    while more:
        message = await receive()
        length += len(message["body"])
        more = message["more_body"]
    if scope["path"] == "/held":
        await receive()
        return
    names = [name.decode() for name, _ in scope["headers"]]
    body = json.dumps({"names": names, "bytes": length, "path": scope["path"]}).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def server(serve):
    return serve(lambda _: echo, BOUNDS)


def test_the_bounds_are_those_of_the_specification():
    """What a request may take, and a body: of those no test waits for the end of all."""
    policy, bounds = EdgePolicy(frozenset(), frozenset()), Bounds()

    assert (bounds.head_seconds, policy.body_seconds, policy.request_seconds) == (10, 15, 30)
    assert policy.body_bytes == 1024 * 1024
    assert (bounds.connections, bounds.connections_per_peer) == (512, 64)


def read_all(connection: socket.socket) -> bytes:
    got = b""
    while part := connection.recv(65536):
        got += part
    return got


def has_ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def problem_code(answer) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    return json.loads(answer.body)["code"]


@pytest.mark.parametrize(
    "begun",
    [b"", b"G", b"\r\n", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 100],
)
def test_a_head_that_does_not_come_in_time_ends_the_connection(server, begun):
    with server.connect() as connection:
        connection.sendall(begun)
        assert read_all(connection) == b""


def test_dribbling_does_not_buy_more_time(server):
    with server.connect() as connection:
        connection.settimeout(0.01)
        connection.sendall(b"GET / HTTP/1.1\r\nA: ")
        sent = 0
        while sent < 500 and not has_ended(connection):
            connection.sendall(b"b")
            sent += 1

    assert sent < 100


def test_a_second_request_may_not_dribble_either(server):
    with server.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(65536).endswith(b"}")
        connection.sendall(b"GET /second HTTP/1.1\r\n")

        assert read_all(connection) == b""


def test_requests_follow_each_other_on_one_connection(server):
    one = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    with server.connect() as connection:
        connection.sendall(one * 3 + one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        got = read_all(connection)

    assert got.count(b"HTTP/1.1 200") == 4


@pytest.mark.parametrize("head", [b"GET /", b"GET / HTTP/1.1\r\nA", b"GET / HTTP/1.1\r\nA: "])
def test_a_head_behind_a_request_at_work_may_not_grow_without_end(server, head):
    """Its bytes are kept until it is whole, and that may never be."""
    sent = 0
    with server.connect() as connection, suppress(ConnectionError):
        connection.sendall(b"GET /held HTTP/1.1\r\nHost: x\r\n\r\n" + head)
        while sent < ENDLESS:
            sent += connection.send(b"b" * 65536)

    assert sent < ENDLESS


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 5000,
        b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 5000 + b"\r\n\r\n",
        b"GET /" + b"p" * 5000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 30 + b"\r\n",
    ],
)
def test_a_head_that_is_too_large_is_refused(server, head):
    answer = server.raw(head)

    assert (answer.status, problem_code(answer)) == (413, "limit-exceeded")


@pytest.mark.parametrize(
    "payload",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
        b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA\x00: b\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
    ],
)
def test_what_is_not_http_is_a_problem(server, payload):
    answer = server.raw(payload)

    assert (answer.status, problem_code(answer)) == (422, "invalid-request")
    assert answer.headers["connection"] == "close"


def test_trailers_do_not_become_headers(server):
    answer = server.raw(
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nabc\r\n0\r\nAuthorization: Bearer x\r\nIf-Match: y\r\n\r\n"
    )

    assert json.loads(answer.body)["names"] == ["host", "transfer-encoding"]
    assert json.loads(answer.body)["bytes"] == 3


@pytest.mark.parametrize("protocol", ["websocket", "h2c"])
def test_an_upgrade_is_served_as_the_plain_request_that_it_also_is(server, protocol):
    upgrade = f"Connection: Upgrade\r\nUpgrade: {protocol}\r\n"

    answer = server.raw(f"GET /plain HTTP/1.1\r\nHost: x\r\n{upgrade}\r\n".encode())

    assert json.loads(answer.body)["path"] == "/plain"


def test_a_peer_may_hold_only_so_many_connections(server):
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n"
    held = [server.connect() for _ in range(BOUNDS.connections_per_peer)]
    for connection in held:
        connection.sendall(request)

    try:
        with server.connect() as one_more:
            assert has_ended(one_more)
    finally:
        for connection in held:
            connection.sendall(b"x")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
            connection.close()


def test_a_free_port_is_known_before_anything_is_served():
    listener = bind()
    try:
        assert listener.port > 0
        assert listener.url == f"http://127.0.0.1:{listener.port}"
        with pytest.raises(OSError, match="in use"):
            bind(port=listener.port)
    finally:
        listener.close()


def at(address: str, port: int) -> Listener:
    return Listener(socket.socket(), address, port)


@pytest.mark.parametrize(
    ("address", "port", "declared", "hosts"),
    [
        ("127.0.0.1", 8787, [], {"127.0.0.1:8787", "localhost:8787"}),
        ("::1", 8787, [], {"[::1]:8787", "localhost:8787"}),
        ("127.0.0.1", 80, [], {"127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"}),
        ("0.0.0.0", 8787, ["memory.example"], {"memory.example"}),  # noqa: S104 - not bound
        ("127.0.0.1", 1, ["a.example:8"], {"127.0.0.1:1", "localhost:1", "a.example:8"}),
    ],
)
def test_own_hosts_are_those_of_loopback_and_those_declared(address, port, declared, hosts):
    listener = at(address, port)
    listener.close()

    assert own_hosts(listener, declared) == hosts


@pytest.mark.parametrize(
    ("address", "declared"),
    [
        ("0.0.0.0", []),  # noqa: S104 - not bound
        ("192.0.2.1", []),
        ("127.0.0.1", ["*"]),
        ("127.0.0.1", [""]),
        ("127.0.0.1", ["http://a.example"]),
        ("127.0.0.1", ["a.example:port"]),
    ],
)
def test_a_server_that_would_answer_to_any_name_is_refused(address, declared):
    listener = at(address, 8787)
    listener.close()

    with pytest.raises(ValueError, match=r"host"):
        own_hosts(listener, declared)


PROGRAM = textwrap.dedent(
    """
    import asyncio, sys
    from codeflow_memory.http.server import bind, run

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            for _ in range(2):
                kind = (await receive())["type"]
                print(kind, flush=True)
                await send({"type": kind + ".complete"})
            return
        print("begun", flush=True)
        while (await receive())["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"done"})

    run(app, bind(), ready=lambda url: print(url, flush=True))
    print("closed", flush=True)
    """
)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_requests_end_and_the_program_close_its_stores(number):
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as p:  # noqa: S603 - ours
        assert p.stdout.readline() == "lifespan.startup\n"
        port = int(p.stdout.readline().rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na")
            assert p.stdout.readline() == "begun\n"
            p.send_signal(number)
            connection.sendall(b"b")
            answer = read_all(connection)
        rest = p.stdout.read()
        p.wait(15)

    assert answer.endswith(b"done")
    assert rest == "lifespan.shutdown\nclosed\n"
    assert p.returncode == 0
