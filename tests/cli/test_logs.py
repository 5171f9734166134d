"""Logs: lines of JSON that say how requests ended, and nothing of what was in them."""

import http.client
import io
import json
import logging
import signal
import socket
from urllib.parse import urlsplit

import pytest

from codeflow_memory.cli.logs import FIELDS, JsonLines, begin
from codeflow_memory.settings import Logging

NEEDLE = "zyxwvut"
"""Part of every text that a client sends."""


def formatted(record_of):
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    logger = logging.Logger("test")
    logger.addHandler(handler)
    record_of(logger)
    return out.getvalue()


def test_a_record_is_one_line_of_its_listed_fields():
    line = formatted(
        lambda log: log.info("request", extra={"route": "/api/x", "status": 200, "body": NEEDLE})
    )

    fields = json.loads(line)
    assert line.count("\n") == 1
    assert fields.keys() == {"time", "level", "source", "event", "route", "status"}
    assert (fields["level"], fields["event"]) == ("info", "request")


@pytest.mark.parametrize(
    "text", ["a\nb", "a\r\nb", "\x1b[2J", "a\u2028b", "a\u202eb", "\ud800", "é"]
)
def test_whatever_is_no_visible_ascii_is_escaped(text):
    line = formatted(lambda log: log.warning("told %s", text))

    assert line.removesuffix("\n").isprintable()
    assert line.isascii()
    assert json.loads(line)["event"] == f"told {text}"


def test_of_an_error_its_kinds_and_places_are_told_and_never_its_message():
    def broken():
        try:
            return {}[NEEDLE]
        except KeyError as error:
            raise ValueError(NEEDLE) from error

    def fail(log):
        try:
            broken()
        except ValueError:
            log.exception("failed")

    line = formatted(fail)

    fields = json.loads(line)
    assert NEEDLE not in line
    assert fields["error"] == ["builtins.ValueError", "builtins.KeyError"]
    assert any("test_logs.py" in place for place in fields["at"])
    assert "/" not in "".join(fields["at"])


def test_a_long_event_is_cut():
    assert len(formatted(lambda log: log.warning("x" * 100_000))) < 2_000


def test_libraries_write_the_same_lines(monkeypatch):
    root, out = logging.getLogger(), io.StringIO()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)

    begin(Logging(level="warning"), out)
    logging.getLogger("uvicorn.error").error("stopped")
    logging.getLogger("uvicorn.error").info("not shown")

    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["stopped"]


# --- A server


@pytest.fixture
def logged(launch, home):
    """Serve a home with the given settings; returns the server's address, token and its end."""

    def start(settings):
        home.mkdir(mode=0o700, exist_ok=True)
        (home / "config.toml").write_text(settings)
        process = launch("up", "--port", "0", "--json")
        first = json.loads(process.stdout.readline())

        def end():
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=60)
            assert process.returncode == 0, err
            return err

        token = first.get("token") or (home / "token").read_text().strip()
        return urlsplit(first["url"]).netloc, token, end

    return start


ALL = '[logging]\nlevel = "debug"\nrequests = true\n'


def ask(host, method, path, body=None, **headers):
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def raw(host, data):
    name, port = host.split(":")
    with socket.create_connection((name, int(port)), 60) as connection:
        connection.sendall(data)
        connection.settimeout(60)
        return connection.recv(65536)


def requests_of(err):
    return [line for line in map(json.loads, err.splitlines()) if line["event"] == "request"]


def test_nothing_that_a_client_sent_is_logged(logged):
    host, token, end = logged(ALL)
    own = {"Authorization": f"Bearer {token}", "Content_Type": "application/json"}
    made = json.dumps({"key": NEEDLE, "remote": f"https://{NEEDLE}.example/{NEEDLE}"})
    status, body = ask(host, "POST", "/api/repositories", made, **own)
    assert status == 201
    base = f"/api/repositories/{json.loads(body)['id']}/projects"
    status, body = ask(host, "POST", base, json.dumps({"slug": NEEDLE}), **own)
    assert status == 201
    memories = f"/api/projects/{json.loads(body)['id']}/memories"
    draft = {
        "collection": "private",
        "kind": "fact",
        "title": f"Title {NEEDLE}",
        "body": f"Body {NEEDLE}",
        "tags": [NEEDLE],
        "paths": [f"{NEEDLE}/**"],
    }
    assert ask(host, "POST", memories, json.dumps(draft), **own)[0] == 201
    strange = {
        "If_Match": f'"{NEEDLE}"',
        "Idempotency_Key": NEEDLE,
        "User_Agent": NEEDLE,
        "X_Request_Id": NEEDLE,
        "X_Forwarded_For": NEEDLE,
        "Referer": f"https://{NEEDLE}/",
        "Cookie": f"a={NEEDLE}",
    }
    asked = [
        ask(
            host,
            "PATCH",
            f"/api/memories/{NEEDLE}",
            json.dumps({"title": NEEDLE}),
            **own,
            **strange,
        ),
        ask(host, "GET", f"{memories}?status={NEEDLE}&cursor={NEEDLE}&{NEEDLE}=1", **own),
        ask(host, "GET", f"/api/{NEEDLE}", **own),
        ask(host, "POST", memories, f'{{"title": "{NEEDLE}", "title": "{NEEDLE}"', **own),
        ask(host, "POST", memories, json.dumps({NEEDLE: NEEDLE, "kind": NEEDLE}), **own),
        ask(
            host, "POST", memories, NEEDLE, Content_Type=NEEDLE, Authorization=own["Authorization"]
        ),
        ask(host, "GET", "/api/projects", Authorization=f"Bearer cfm_local_{NEEDLE}_{NEEDLE}"),
        ask(host, "GET", "/api/projects", Authorization=NEEDLE),
        ask(host, "GET", "/api/projects", Origin=f"https://{NEEDLE}", **own),
        ask(host, "GET", "/healthz", Host=f"{NEEDLE}.example"),
    ]
    raw(host, f"{NEEDLE} / HTTP/1.1\r\nHost: {NEEDLE}\r\n\r\n".encode())
    raw(host, f"GET /{NEEDLE}%0d%0aX HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())

    err = end()

    assert all(status >= 400 for status, _ in asked), asked
    assert NEEDLE not in err
    for secret in (token, token.split("_")[3], "Title", "Body"):
        assert secret not in err
    found = requests_of(err)
    assert len(found) >= len(asked) + 3
    assert {line["status"] for line in found} >= {201, 401, 403, 404, 415, 421, 422}
    known = {"time", "level", "source", "event", *FIELDS}
    assert all(line.keys() <= known for line in map(json.loads, err.splitlines()))


def test_a_request_is_told_by_its_route_its_end_and_who_made_it(logged):
    host, token, end = logged(ALL)
    ask(host, "GET", "/api/memories/mem_absent", Authorization=f"Bearer {token}")

    (line,) = requests_of(end())

    assert line["route"] == "/api/memories/{memory_id}"
    assert (line["method"], line["status"], line["code"]) == ("GET", 404, "not-found")
    assert line["duration_ms"] > 0
    assert line["token_id"] == token.split("_")[2]
    assert line["principal_id"].startswith("prn_")
    assert line["request_id"].startswith("req_")


def test_requests_are_told_only_where_the_operator_wants_it(logged):
    host, token, end = logged("")
    ask(host, "GET", "/api/projects", Authorization=f"Bearer {token}")
    ask(host, "GET", "/api/projects", Authorization="Bearer cfm_local_x_y")

    events = [json.loads(line)["event"] for line in end().splitlines()]

    assert events[0] == "serving"
    assert "request" not in events
    assert events.count("sign-in refused") == 1
    assert events[-2:] == ["stopping", "stopped"]


def test_what_jobs_did_is_told(logged):
    _, _, end = logged('[logging]\nlevel = "debug"\n')
    jobs = {}
    for line in map(json.loads, end().splitlines()):
        if line["event"] == "job done":
            jobs[line["job"]] = (line["tenant"], line["level"], line.get("result"))

    assert jobs["checkpoints"] == ("local", "info", True)
    assert jobs["expiry"] == ("local", "debug", 0)


def test_a_level_that_is_none_is_refused(cli, home):
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text('[logging]\nlevel = "all"\n')

    done = cli("up", "--port", "0")

    assert (done.code, "config.toml/logging/level" in done.err) == (2, True)
