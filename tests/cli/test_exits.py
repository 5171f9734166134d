"""Exit codes: complete, and one line on stderr for each refusal."""

import subprocess
from collections.abc import Iterator

import pytest

from codeflow_memory.cli.exits import EXIT, exit_code
from codeflow_memory.domain.errors import CodeflowError

from ..program import COMMAND, environment


def every(kind: type[CodeflowError]) -> Iterator[type[CodeflowError]]:
    for found in kind.__subclasses__():
        yield found
        yield from every(found)


def test_every_error_has_an_exit_code():
    assert set(EXIT) == set(every(CodeflowError))


def test_codes_are_those_that_the_help_of_scripts_relies_on():
    assert set(EXIT.values()) == {1, 2, 3, 4, 5}
    assert exit_code("unreachable") == 6
    assert exit_code("a word of a newer server") == 1


REFUSED = [
    (["nonsense"], 2, "usage"),
    (["token", "create"], 2, "usage"),
    (["token", "create", "--principal", "a", "--role", "king"], 2, "usage"),
    (["token", "create", "--principal", "a", "--kind", "user", "--role", "reader", "--ttl", "x"],
     2, "usage"),
    (["status", "--url", "http://127.0.0.1:9", "--home", "x"], 2, "usage"),
    (["status", "--url", "ftp://127.0.0.1"], 2, "usage"),
    (["status", "--database", "mysql://x/y"], 2, "usage"),
    (["status", "--database", "postgresql://127.0.0.1:9/y"], 6, "unreachable"),
    (["status", "--home", "a", "--database", "b"], 2, "usage"),
    (["export", "--url", "http://127.0.0.1:9"], 2, "usage"),
    (["status", "--url", "http://127.0.0.1:9", "--token-file", "absent"], 2, "usage"),
    (["status", "--url", "http://127.0.0.1:9"], 6, "unreachable"),
    (["memory", "list"], 4, "not-found"),
    (["learn", "."], 4, "not-found"),
    (["learn", "absent"], 4, "not-found"),
    (["tenant", "create", "No Slug"], 2, "invalid-request"),
    (["token", "create", "--tenant", "gone", "--principal", "a", "--role", "reader"],
     4, "not-found"),
    (["token", "create", "--principal", "a", "--role", "reader"], 2, "invalid-request"),
    (["token", "revoke", "absent", "--yes"], 4, "not-found"),
    (["token", "revoke", "absent"], 2, "usage"),
    (["review", "accept", "mem_absent"], 4, "not-found"),
    (["up", "--host", "203.0.113.1"], 1, "failed"),
    (["up", "--home", "/dev/null/home"], 1, "store-unusable"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("argv", "code", "word"), REFUSED, ids=lambda v: " ".join(v) if isinstance(v, list) else str(v)
)
def test_a_refusal_is_one_line_on_stderr_and_its_code(cli, argv, code, word):
    if argv[0] in {"review", "tenant"} or "gone" in argv or "revoke" in argv:
        cli("tenant", "create", "other").ok()

    done = cli(*argv)

    lines = done.err.splitlines()
    assert (done.code, done.out, len(lines)) == (code, "", 1), done
    assert lines[0].startswith("codeflow-memory: ")
    assert lines[0].endswith(f"[{word}]")


def test_a_token_that_names_nobody_is_no_permission(cli):
    cli("tenant", "create", "other").ok()

    for token in ("nonsense", "cfm_local_abc_" + "x" * 43, "cfm_gone_abc_" + "x" * 43):
        done = cli("memory", "list", CODEFLOW_TOKEN=token)
        assert (done.code, done.err.endswith("[unauthenticated]\n")) == (3, True)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_is_closed_from_the_start_is_written_to_nothing(home, closed):
    done = subprocess.run(  # noqa: S603 - this program
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, "--version"],
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_pipe_is_no_traceback(launch):
    process = launch("--help")
    process.stdout.close()

    assert "Traceback" not in process.stderr.read()
