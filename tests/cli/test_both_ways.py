"""A command gives the same bytes whether it asks a server or works on the home itself."""

import gc
import io
import json
import os
import re
from contextlib import redirect_stderr, redirect_stdout

import click
import pytest

from codeflow_memory.cli import main
from codeflow_memory.cli.commands import root

from ..program import Server
from .conftest import AGENTS, Repository

READS = {
    "status",
    "verify",
    "memory list",
    "memory show",
    "memory search",
    "memory review list",
    "memory review show",
    "memory audit list",
    "memory trust report",
    "memory status",
    "review list",
    "review show",
    "repo list",
    "repo show",
    "repo settings",
    "project list",
    "project show",
    "token list",
    "audit list",
}
"""Commands that read, and that a server answers as well."""

WRITES = {
    "learn", "demo", "undo", "memory undo", "memory feedback", "memory correct", "memory accept",
    "memory reject", "memory review accept", "memory review reject", "review accept",
    "review reject", "repo register", "repo merge", "token create", "token revoke",
}  # fmt: skip
"""Commands that change something; some read with the same words when they are told no change."""

OF_A_HOME = {
    "up", "doctor", "tenant create", "tenant list", "tenant move", "tenant rekey", "backup",
    "retention preview", "retention apply", "retention hold add", "retention hold remove",
    "retention hold list", "memory audit verify", "audit verify", "erase", "import-json", "export",
    "import-jsonl", "mcp",
}  # fmt: skip
"""Commands of a home's files; `doctor` tells other things of a server, and `mcp` is a protocol."""


def leaves(command, name=""):
    if not isinstance(command, click.Group):
        yield name
        return
    context = click.Context(command)
    for below in command.list_commands(context):
        yield from leaves(command.get_command(context, below), f"{name} {below}".strip())


def test_every_command_is_of_one_kind():
    """A new one that reads gets its lines below."""
    kinds = [READS, WRITES, OF_A_HOME]

    assert {name for name in leaves(root) if sum(name in kind for kind in kinds) != 1} == set()


def forms(name, ids):
    """The command lines of a command that reads."""
    within = ("--project", ids["project"])
    match name:
        case "memory show" | "memory review show" | "review show":
            yield name, ids["accepted"]
            yield name, ids["proposed"]
            yield name, "mem_unknown"
            if name == "memory show":
                yield name, ids["accepted"], "--revision", "1"
        case "memory search":
            yield name, "push", *within
            yield name, "push", *within, "--kind", "guidance"
            yield name, "nothing-like-it", *within
            yield name, "push", "--project", "unknown"
        case "memory list":
            yield name, *within
            yield name, *within, "--status", "proposed"
            yield name, *within, "--limit", "1"
            yield name, *within, "--cursor", "forged"
        case "project show":
            yield name, ids["project"]
            yield name, "unknown"
        case "repo show" | "repo settings":
            yield name, ids["repository"]
            yield name, "unknown"
        case "memory review list" | "review list":
            yield (name,)
            yield name, "--exit-code"
        case _:
            yield (name,)


PLAIN = {"status", "verify", "memory show", "memory status", "memory trust report"}
PLAIN |= {"memory review show", "review show", "repo show", "repo settings", "project show"}
"""Without ``--jsonl``: they show one thing."""


class Ways:
    """Runs commands in this process: on a home, and on the server that serves the home."""

    def __init__(self, home, url):
        self._homes = {"home": ("--home", str(home)), "server": ("--url", url)}

    def __call__(self, way, *argv):
        written = io.BytesIO(), io.BytesIO()
        out, err = (io.TextIOWrapper(bytes_, "utf-8", write_through=True) for bytes_ in written)
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*argv, *self._homes[way]])
        return code, *(bytes_.getvalue().decode() for bytes_ in written)

    def ok(self, *argv):
        code, out, err = self("home", *argv, "--json")
        assert code == 0, err
        return json.loads(out)


@pytest.fixture(scope="module")
def ways(tmp_path_factory):
    """A home beside its running server, with a learned repository as the current folder."""
    folder = tmp_path_factory.mktemp("both")
    repository = Repository(folder / "shop")
    repository.commit({"AGENTS.md": AGENTS})
    # The server may read the clone, as who runs a command there may.
    home = folder / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(f"[repositories]\nroots = ['{folder}']\n")
    (home / "config.toml").chmod(0o600)
    threshold, umask = gc.get_threshold(), os.umask(0o022)
    server = Server(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository.path)
        # Whose file `token` is given to the server; the other way nothing is given.
        patch.setenv("CODEFLOW_TOKEN", server.first["token"])
        patch.delenv("CODEFLOW_URL", raising=False)
        yield Ways(home, server.url)
    server.stop()
    gc.set_threshold(*threshold)
    os.umask(umask)


@pytest.fixture(scope="module")
def ids(ways):
    """Entries in several states, a judged one among them."""
    ways.ok("learn", ".")
    project = ways.ok("project", "list")["items"][0]
    accepted, proposed, *_ = (row["id"] for row in ways.ok("review", "list")["items"])
    ways.ok("review", "accept", accepted)
    ways.ok("memory", "feedback", accepted, "--helpful")
    person = ("--principal", "ann", "--kind", "user", "--role", "reviewer")
    ways.ok("token", "create", *person)
    return {
        "project": project["id"],
        "repository": project["repository_id"],
        "accepted": accepted,
        "proposed": proposed,
    }


_OF_THE_WAY = re.compile(
    r'"last_used_at": (?:null|"[^"]*")|"(?:home|url)": (?:null|"[^"]*"),?|^(?:home|url) .*\n',
    re.MULTILINE,
)
"""When a token was last used, and in `status` what was asked: a home, or a server."""

_USED = re.compile(r"  2\d{3}-\S+Z$", re.MULTILINE)
"""The last column of ``token list``."""


def normal(name, out):
    out = _OF_THE_WAY.sub("", out)
    return re.sub(r" +", " ", _USED.sub("", out)) if name == "token list" else out


@pytest.mark.parametrize("name", sorted(READS))
def test_a_server_and_a_home_give_the_same_bytes(ways, ids, name):
    compared = 0
    for form in forms(name, ids):
        words = [*form[0].split(), *form[1:]]
        for output in ((), ("--json",), ("--jsonl",))[: 2 if name in PLAIN else 3]:
            there, here = (ways(way, *words, *output) for way in ("server", "home"))
            assert normal(name, there[1]) == normal(name, here[1]), (words, output)
            assert (there[0], there[2]) == (here[0], here[2]), (words, output)
            compared += bool(here[1] or here[2])

    assert compared >= 2


def test_the_comparison_sees_what_is_not_the_same(ways, ids):
    one = ways("home", "memory", "show", ids["accepted"])
    other = ways("server", "memory", "show", ids["proposed"])

    assert normal("memory show", one[1]) != normal("memory show", other[1])
    assert normal("status", '{"version": "1"}') != normal("status", '{"version": "2"}')
