"""``demo``: the main job on a real repository, which ends by itself."""

import json
import shlex
import signal
import urllib.request


def test_a_folder_without_guidance_is_refused(cli, tmp_path, repository):
    bare = type(repository)(tmp_path / "bare")
    bare.commit({"a.txt": "a"})

    assert cli("demo", bare.path).code == 1
    assert cli("demo", tmp_path / "absent").code == 4


def test_every_step_is_told_and_the_replay_is_verified(cli, repository):
    done = cli("demo", repository.path).ok()

    assert "byte for byte the same" in done.out
    assert "verified" in done.out
    assert [line[:2] for line in done.out.splitlines() if line[0].isdigit()] == [
        f"{n}." for n in range(1, 9)
    ]


def test_again_it_begins_anew_and_leaves_the_tenant_local_alone(cli, tmp_path):
    for tenant in ("demo", "demo-2"):
        facts = cli("demo", "--json", cwd=tmp_path).ok().json
        assert (facts["tenant"], facts["replay"]["verified"]) == (tenant, True)

    assert cli("repo", "list").ok().out == ""


def test_it_goes_on_as_a_server(launch, repository):
    process = launch("demo", str(repository.path), "--serve", "--json")
    facts, first = (json.loads(process.stdout.readline()) for _ in range(2))
    process.send_signal(signal.SIGTERM)

    assert facts["replay"]["verified"]
    assert first["url"].startswith("http://127.0.0.1:")
    assert first["tenant"] == facts["tenant"]
    assert first["token"].startswith(f"cfm_{facts['tenant']}_")
    assert process.wait(60) == 0


def test_the_line_that_a_served_demonstration_prints_shows_its_memories(launch, repository):
    process = launch("demo", str(repository.path), "--serve")
    told = [process.stderr.readline() for _ in range(4)]
    command = shlex.split(next(line for line in told if "curl" in line))
    url, header = command[2], command[4]
    request = urllib.request.Request(url, headers=dict([header.split(": ")]))  # noqa: S310 - the server that the test started
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - the same
        found = json.load(answer)["items"]
    process.send_signal(signal.SIGTERM)

    assert found != []
    assert not any("learn" in line for line in told)
    assert process.wait(60) == 0
