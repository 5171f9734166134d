"""Light commands start light: what they do without is what would make them slow.

How many seconds that takes, `benchmarks/startup.py` measures.
"""

import socket

import pytest

from .test_both_ways import READS

HEAVY = {
    "apsw", "argon2", "asyncio", "httpx", "litestar", "markdown_it", "msgspec", "psycopg",
    "pydantic", "rich", "Stemmer", "uvicorn",
}  # fmt: skip
"""Of the application, its libraries and its databases."""

OF_A_SERVER = [
    *sorted(READS),
    "doctor",
    "undo",
    "memory feedback --helpful",
    "memory correct",
    "review accept",
    "review reject --reason wrong",
    "repo register",
    "token create --principal ann --role reader",
    "token revoke --yes",
]

ARGUMENTS = {
    "memory show": ["mem_1"], "memory search": ["push"], "memory review show": ["mem_1"],
    "review show": ["mem_1"], "undo": ["bat_1"], "memory feedback --helpful": ["mem_1"],
    "memory correct": ["mem_1", "text"], "review accept": ["mem_1"],
    "review reject --reason wrong": ["mem_1"], "token revoke --yes": ["tok_1"],
}  # fmt: skip


@pytest.mark.parametrize("line", OF_A_SERVER)
def test_a_command_of_a_server_imports_nothing_heavy(probe, repository, monkeypatch, line):
    monkeypatch.chdir(repository.path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

    code, _, modules = probe(*line.split(), *ARGUMENTS.get(line, []), "--url", url)

    assert code == (1 if line == "doctor" else 6), "it went as far as the server"
    assert modules & HEAVY == set()


@pytest.mark.parametrize("argv", [("--version",), ("status", "--help"), ("review", "--help")])
def test_a_word_of_help_imports_no_application(probe, argv):
    code, _, modules = probe(*argv)

    assert code == 0
    assert modules & (HEAVY - {"rich", "markdown_it"}) == set()


def test_the_check_sees_what_is_heavy(probe, cli):
    cli("tenant", "create", "birch").ok()

    code, _, modules = probe("status")

    assert code == 0
    assert {"apsw", "litestar", "pydantic"} <= modules & HEAVY
