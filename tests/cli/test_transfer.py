"""``import-json``, ``export`` and ``import-jsonl`` as processes."""

import json
import os
import pty
import subprocess
import urllib.request

import pytest

from ..program import COMMAND, SECONDS, environment

ENTRY = {
    "id": "mem_00000000000000000000000001",
    "revision": 2,
    "collection": "project",
    "repo": "/srv/code/shop",
    "projectId": "core",
    "status": "accepted",
    "createdAt": "2026-03-01T08:00:00Z",
    "updatedAt": "2026-04-01T09:00:00Z",
    "title": "数据库连接池",
    "body": "POST is never retried.",
}


def document(*entries):
    return {"version": 2, "entries": list(entries), "receipts": [], "feedback": []}


@pytest.fixture
def legacy(home):
    """Return a function that puts an older document into the home."""

    def put(content):
        home.mkdir(mode=0o700, exist_ok=True)
        path = home / "memory.json"
        path.write_text(json.dumps(content))
        return path

    return put


def test_a_refused_document_is_told_fault_by_fault(cli, legacy):
    path = legacy(document(*({**ENTRY, "status": "odd"} for _ in range(150))))

    done = cli("import-json", path)

    assert done.code == 1
    faults = [line for line in done.err.splitlines() if line.startswith("/entries/")]
    assert len(faults) == 100
    assert faults[0].startswith("/entries/0/status: must be one of")
    assert not (cli.home / "memory.sqlite").exists()


def test_a_server_imports_no_file(cli, legacy):
    path = legacy(document(ENTRY))

    assert cli("import-json", path, "--url", "http://127.0.0.1:9").code == 2
    assert path.exists()


def test_a_check_writes_nothing(cli, legacy):
    path = legacy(document(ENTRY))

    done = cli("import-json", path, "--check", "--json").ok()

    assert (done.json["outcome"], done.json["counts"]["entries"]) == ("checked", 1)
    assert [p.name for p in cli.home.iterdir()] == ["memory.json"]


@pytest.mark.parametrize("command", [("status",), ("review",), ("export", "--format", "jsonl")])
def test_whatever_comes_first_to_a_home_imports_what_waits_there(cli, legacy, command):
    path = legacy(document(ENTRY))

    cli(*command).ok()

    assert not path.exists()
    assert cli("memory", "show", ENTRY["id"], "--json").ok().json["title"] == ENTRY["title"]


def test_a_home_in_conflict_is_served_though_it_has_no_token(cli, legacy, serve):
    cli("import-json", legacy(document(ENTRY))).ok()
    path = legacy(document({**ENTRY, "revision": 3}))
    assert not (cli.home / "token").exists()

    server = serve()

    assert "token" not in server.first
    with urllib.request.urlopen(f"{server.url}/healthz") as answer:  # noqa: S310 - loopback
        assert answer.status == 200
    assert path.exists()


def test_another_document_is_not_picked_while_the_homes_own_waits(cli, legacy, tmp_path):
    legacy(document(ENTRY))
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document({**ENTRY, "revision": 3})))

    done = cli("import-json", other)

    assert (done.code, "import-conflict" in done.err) == (5, True)
    assert not (cli.home / "memory.sqlite").exists()
    same = tmp_path / "same.json"
    same.write_bytes((cli.home / "memory.json").read_bytes())
    cli("import-json", same).ok()


def test_on_a_terminal_an_import_shows_how_far_it_has_come(cli, home, legacy):
    path = legacy(document(ENTRY))
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        done = subprocess.run(  # noqa: S603 - this program, no shell
            [*COMMAND, "import-json", str(path)],
            env=environment(home, TERM="xterm"),
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=SECONDS,
            check=True,
        )
        os.close(theirs)
        shown = terminal.read(65_536).decode()

    assert "entries" in shown
    assert "100%" in shown
    assert done.stdout.decode().startswith("imported\n")
    assert "entries" not in cli("import-json", path).err


def test_a_conflict_has_its_own_exit_code(cli, legacy):
    cli("import-json", legacy(document(ENTRY))).ok()
    path = legacy(document({**ENTRY, "revision": 3}))

    done = cli("import-json", path)

    assert done.code == 5
    assert "import-conflict" in done.err


def test_an_import_goes_out_and_comes_back_the_same(cli, legacy, tmp_path):
    cli("import-json", legacy(document(ENTRY))).ok()

    text = cli("export", "--format", "jsonl", LC_ALL="C").ok().out

    file = tmp_path / "out.jsonl"
    file.write_text(text, "utf-8")
    other = type(cli)(tmp_path / "other")
    assert other("import-jsonl", "--exact", file, "--json").ok().json["memories"] == 1
    again = other("export", "--format", "jsonl").ok().out
    memories = [
        [line for line in map(json.loads, t.splitlines()) if line["record"] == "memory"]
        for t in (text, again)
    ]
    assert memories[0] == memories[1]
    assert memories[0][0]["content"]["title"] == ENTRY["title"]


def test_an_import_that_is_not_exact_needs_a_project_and_lands_in_review(cli, legacy, tmp_path):
    cli("import-json", legacy(document(ENTRY))).ok()
    file = tmp_path / "out.jsonl"
    file.write_text(cli("export", "--format", "jsonl").ok().out, "utf-8")

    assert cli("import-jsonl", file).code == 2
    assert cli("import-jsonl", file, "--dry-run", "--json").ok().json["memories"] == 1
    # The text is there already.
    done = cli("import-jsonl", file, "--project", "core", "--json").ok().json
    assert (done["proposed"], done["duplicates"]) == (0, 1)


def test_a_faulty_export_is_told_line_by_line(cli, tmp_path):
    file = tmp_path / "out.jsonl"
    file.write_text('{"record":"export","format":1,"tenant":"a"}\n{"record":"memory"}\n')

    done = cli("import-jsonl", "--exact", file)

    assert done.code == 1
    assert "/1/id: " in done.err


def test_guidance_goes_out_in_a_marked_block(cli, legacy):
    cli("import-json", legacy(document(ENTRY))).ok()

    out = cli("export", "--format", "agents-md").ok().out

    assert "codeflow-memory: begin" in out.splitlines()[0]
    assert f"### {ENTRY['title']}" in out
