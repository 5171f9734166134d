"""The command as a process: exit codes, one line for each refusal, JSON for programs."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from codeflow_backup import exits
from codeflow_backup.errors import BackupError

from .acting import NEEDLE, OTHER_SECRET, SECRET


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(SECRET.data)
    return path


@pytest.fixture
def other_key(tmp_path):
    path = tmp_path / "other-key"
    path.write_bytes(OTHER_SECRET.data)
    return path


@pytest.fixture
def names(place, backup, key, other_key, tmp_path):
    """What stands for the files of a command line."""
    return {
        "home": place.home,
        "backup": backup,
        "key": key,
        "other": other_key,
        "new": tmp_path / "new.cfmb",
        "no": tmp_path / "absent" / "x",
        "folder": tmp_path,
    }


def errors(kind=BackupError):
    for below in kind.__subclasses__():
        yield below
        yield from errors(below)


def test_every_refusal_has_its_exit_code():
    assert set(exits.EXIT) == set(errors())
    assert len({error.code for error in exits.EXIT}) == len(exits.EXIT)


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("create", "--home", "{home}", "--to", "{new}"), exits.USAGE, "usage"),
        (("create", "--home", "{home}", "--keyfile", "{key}"), exits.USAGE, "usage"),
        (("create", "--home", "{home}", "--to", "{new}", "--keyfile", "{no}"), 2, "invalid-key"),
        (("create", "--home", "{home}", "--to", "{backup}", "--keyfile", "{key}"), 5, "exists"),
        (("create", "--home", "{no}", "--to", "{new}", "--keyfile", "{key}"), 4, "not-found"),
        (("verify", "{no}"), exits.NOT_FOUND, "not-found"),
        (("verify", "{backup}", "--keyfile", "{other}"), exits.PERMISSION, "wrong-key"),
        (("verify", "{key}"), exits.FAILED, "damaged"),
        (("verify", "{backup}", "--level", "2"), exits.USAGE, "invalid-key"),
        (("verify", "{backup}", "--level", "3"), exits.USAGE, "usage"),
        (("restore", "{backup}", "--home", "{home}", "--keyfile", "{key}"), 5, "exists"),
        (("restore", "{backup}", "--home", "{home}"), exits.USAGE, "usage"),
        (("restore", "--home", "{home}"), exits.USAGE, "usage"),
        (("list", "{no}"), exits.NOT_FOUND, "not-found"),
        (("prune", "{folder}"), exits.USAGE, "usage"),
        (("prune", "{folder}", "--keep-last", "-1"), exits.USAGE, "usage"),
        (("keygen", "{key}"), exits.CONFLICT, "exists"),
        (("add-key", "{backup}", "--keyfile", "{key}"), exits.USAGE, "usage"),
        (("remove-key", "{backup}", "--keyfile", "{key}", "--slot", "1"), 1, "store-unusable"),
        (("remove-key", "{backup}", "--keyfile", "{key}", "--slot", "9"), 4, "not-found"),
        (("sign", "{backup}", "--signing-key", "{no}"), exits.USAGE, "invalid-key"),
        (("verify", "{backup}", "--signed-by", "{no}"), exits.USAGE, "invalid-key"),
        (("frobnicate",), exits.USAGE, "usage"),
    ],
)
def test_a_refusal_is_one_line_with_its_word_and_exit_code(names, command, arguments, code, word):
    done = command(*(part.format(**names) for part in arguments), code=code)

    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("codeflow-backup: ")
    assert done.stderr.endswith(f"[{word}]\n")
    assert not names["new"].exists()


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"x" * 5_000])
def test_a_passphrase_file_without_a_passphrase_is_refused(place, command, tmp_path, content):
    path = tmp_path / "passphrase"
    path.write_bytes(content)

    target = tmp_path / "b.cfmb"
    create = ("create", "--home", place.home, "--to", target, "--passphrase-file", path)
    done = command(*create, code=exits.USAGE)

    assert done.stderr.endswith("[invalid-key]\n")
    assert not target.exists()


def test_the_whole_way_from_a_key_to_a_restored_home(place, command, tmp_path):
    key, target = tmp_path / "my key", tmp_path / "b.cfmb"
    home = tmp_path / "new home"
    command("keygen", key)
    made = command("create", "--home", place.home, "--to", target, "--keyfile", key, "--json")
    verified = command("verify", target, "--keyfile", key, "--json")
    listed = command("list", tmp_path, "--json")
    restored = command("restore", target, "--home", home, "--keyfile", key, "--json")

    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    told = [json.loads(done.stdout) for done in (made, verified, restored)]
    assert len({one["backup_id"] for one in told}) == 1
    assert told[1]["level"] == 2
    assert [one["file"] for one in json.loads(listed.stdout)["backups"]] == ["b.cfmb"]
    assert NEEDLE.encode() in (home / "memory.sqlite").read_bytes()


def test_a_second_key_opens_until_it_is_removed(backup, key, other_key, command):
    opening = ("verify", backup, "--keyfile", other_key)
    command(*opening, code=exits.PERMISSION)
    adding = ("add-key", backup, "--keyfile", key, "--new-keyfile", other_key, "--json")
    slot = json.loads(command(*adding).stdout)["slot"]
    command(*opening)
    command("remove-key", backup, "--keyfile", key, "--slot", slot)

    command(*opening, code=exits.PERMISSION)
    command("verify", backup, "--keyfile", key)


def test_a_signature_is_checked_without_any_key_of_the_backup(backup, key, other_key, command):
    public = backup.with_name("public")
    public.write_text(command("sign", backup, "--signing-key", other_key).stdout)

    assert "True" in command("verify", backup, "--signed-by", public).stdout
    raw = bytearray(backup.read_bytes())
    raw[-1] ^= 1
    backup.write_bytes(raw)
    command("verify", backup, "--signed-by", public, code=exits.FAILED)
    command("sign", backup, "--signing-key", key, code=exits.CONFLICT)


def test_pruning_only_shows_what_would_go_until_it_is_told_to(place, key, command, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    for number in range(3):
        place.back_up(folder / f"{number}.cfmb")
    pruned = ("prune", folder, "--keep-last", "1", "--json")

    for more in ((), ("--preview",), ("--preview", "--yes")):
        shown = json.loads(command(*pruned, *more).stdout)
        assert (shown["applied"], shown["removed"]) == (False, [])
        assert [one["keep"] for one in shown["backups"]] == [False, False, True]
    assert len(list(folder.iterdir())) == 3

    done = json.loads(command(*pruned, "--yes", "--keyfile", key).stdout)

    assert (done["verified_level"], done["removed"]) == (1, ["0.cfmb", "1.cfmb"])
    assert [path.name for path in folder.iterdir()] == ["2.cfmb"]


def test_what_was_replaced_is_discarded_when_it_is_said(place, backup, key, command):
    restoring = ("restore", backup, "--home", place.home, "--keyfile", key, "--replace", "--json")
    first = json.loads(command(*restoring).stdout)
    assert (place.home / first["undo"] / "memory.sqlite").is_file()

    alone = command("restore", "--home", place.home, "--discard-previous", "--json")

    assert json.loads(alone.stdout)["discarded"] == [first["undo"]]
    assert list(place.home.glob("undo-*")) == []
    place.settle()
    again = json.loads(command(*restoring, "--discard-previous").stdout)
    assert again["discarded"] == [again["undo"]]
    assert list(place.home.glob("undo-*")) == []


def test_the_servers_command_passes_everything_on(place, backup, key, tmp_path):
    def run(*arguments):
        return subprocess.run(  # noqa: S603 - this program, no shell
            [sys.executable, "-I", "-m", "codeflow_memory", *map(str, arguments)],
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    shown = run("backup", "verify", backup, "--keyfile", key, "--json")
    refused = run("backup", "verify", tmp_path / "absent")
    target = tmp_path / "of the home.cfmb"
    made = run("--home", place.home, "backup", "create", "--to", target, "--keyfile", key)

    assert json.loads(shown.stdout)["level"] == 2
    assert (refused.returncode, made.returncode) == (exits.NOT_FOUND, 0)
    assert target.is_file()
    assert "codeflow-backup restore" in run("backup", "restore", "--help").stdout


def test_nothing_of_the_server_is_imported(backup, key):
    code = (
        "import sys; from codeflow_backup.cli import main; code = main(sys.argv[1:]);"
        "print(code, [m for m in sys.modules if m.startswith('codeflow_memory')])"
    )
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", code, "verify", backup, "--keyfile", key],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines()[-1] == "0 []"


def test_a_backup_that_is_told_to_end_leaves_nothing(place, key, tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    code = (
        "import os, signal, sys; from codeflow_backup import creating, cli;"
        "creating._read_back = lambda *_: os.kill(os.getpid(), signal.SIGTERM);"
        "sys.exit(cli.main(sys.argv[1:]))"
    )
    arguments = ("create", "--home", place.home, "--to", folder / "b.cfmb", "--keyfile", key)
    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == exits.INTERRUPTED
    assert done.stderr.strip() == "codeflow-backup: stopped [interrupted]"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("create", "--home", "", "--to", "{new}", "--keyfile", "{key}"),
        ("create", "--home", "{home}", "--to", "", "--keyfile", "{key}"),
        ("restore", "{backup}", "--home", "", "--keyfile", "{key}"),
        ("list", ""),
        ("prune", "", "--keep-last", "1", "--yes"),
    ],
)
def test_an_empty_path_is_not_the_current_folder(command, names, arguments):
    done = command(*(part.format(**names) for part in arguments), code=exits.USAGE)

    assert "an empty path would be the current folder" in done.stderr


def test_the_folder_of_a_user_whom_nobody_knows_is_wrong_usage(command, key, tmp_path):
    home = ("--home", "~no-such-user/x", "--to", tmp_path / "b", "--keyfile", key)

    assert "~no-such-user/x: no user" in command("create", *home, code=exits.USAGE).stderr


FULL = Path("/dev/full")


def _run(*arguments, **more):
    return subprocess.run(  # noqa: S603 - this program, no shell
        [sys.executable, "-m", "codeflow_backup", *map(str, arguments)],
        stderr=subprocess.PIPE,
        check=False,
        **more,
    )


def test_a_stdout_that_is_closed_changes_nothing_else(place, key, tmp_path):
    target = tmp_path / "b.cfmb"
    create = ("create", "--home", place.home, "--to", target, "--keyfile", key)

    done = _run(*create, preexec_fn=lambda: os.close(1))

    assert (done.returncode, done.stderr) == (0, b"")
    assert target.is_file()


@pytest.mark.skipif(not FULL.exists(), reason="the system has no full device")
def test_a_stdout_that_is_full_is_named(backup):
    with FULL.open("wb") as full:
        done = _run("list", backup.parent, "--json", stdout=full)

    assert done.returncode == exits.FAILED
    assert done.stderr.startswith(b"codeflow-backup: stdout: No space left")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_in_every_encoding_of_stdout(backup, tmp_path, encoding):
    folder = tmp_path / "shelf"
    folder.mkdir()
    name = "\u00fc \U0001f600\x1b\udcff.cfmb"
    backup.rename(folder / name)
    environment = {**os.environ, "PYTHONIOENCODING": encoding}

    done = _run("list", folder, "--json", stdout=subprocess.PIPE, env=environment)

    assert [one["file"] for one in json.loads(done.stdout)["backups"]] == [name]


def test_the_name_of_a_file_does_nothing_to_a_terminal(backup, command):
    backup.with_name("no\x1b[2J\u202ebackup").write_text("x")
    backup.rename(backup.with_name("a\x1b]0;x\x07.cfmb"))

    done = command("list", backup.parent)

    assert r"a\x1b]0;x\x07.cfmb" in done.stdout
    assert r"no\x1b[2J\u202ebackup: not touched" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_more_keys_than_a_backup_has_slots_are_wrong_usage(place, key, command, tmp_path):
    keys = ["--keyfile", key] * 17

    done = command("create", "--home", place.home, "--to", tmp_path / "b", *keys, code=exits.USAGE)

    assert "16 keys at most" in done.stderr


def test_an_interruption_while_the_program_is_loaded_is_told_in_a_line(tmp_path):
    """A package that interrupts stands for a person who is quick."""
    (tmp_path / "rich_click.py").write_text("raise KeyboardInterrupt")

    done = _run("list", tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)})

    assert done.stderr == b"codeflow-backup: stopped [interrupted]\n"
    assert done.returncode == exits.INTERRUPTED
