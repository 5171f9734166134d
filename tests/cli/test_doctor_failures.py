"""Each way in which the program fails people, made for real: ``doctor`` names it with its fix."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from email.utils import formatdate

import pytest

from ..client.breaking import Breaking, answer
from ..faults.power.room import may_mount, small_disk
from ..program import COMMAND, SECONDS, environment
from .conftest import Done

MIB = 1024 * 1024


def faults(done):
    """What is not well, by name, each with its fix."""
    wrong = {c["name"]: c for c in done.json["checks"] if c["state"] != "ok"}
    assert all(check["fix"] and check["detail"] for check in wrong.values())
    return wrong


@contextmanager
def nobody_there():
    """The URL of a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_a_server_that_is_down(cli):
    with nobody_there() as url:
        pass

    for done in (cli("doctor", "--json", "--url", url), cli("doctor", "--json", CODEFLOW_URL=url)):
        found = faults(done)
        assert (done.code, list(found)) == (1, ["server"])
        assert "codeflow-memory up" in found["server"]["fix"]
        assert "refused" in found["server"]["detail"]


def test_another_program_in_the_place_of_a_server(cli, home):
    home.mkdir()
    other = Breaking(0)
    other.arm(answer("200 OK", body="<html>"))
    done = cli("doctor", "--json", "--url", other.url)
    other.close()

    assert (done.code, list(faults(done))) == (1, ["server"])
    assert "no Code Flow Memory server" in faults(done)["server"]["detail"]


def test_a_server_that_stopped_answering_in_the_middle_of_its_life(cli, serve):
    server = serve()
    server.process.send_signal(signal.SIGSTOP)
    done = cli("doctor", "--json")
    server.process.send_signal(signal.SIGCONT)

    assert (done.code, faults(done)["server"]["state"]) == (1, "fault")
    assert "does not answer" in faults(done)["server"]["detail"]


@pytest.mark.parametrize("wrong", ["cfm_local_abc_def", "nonsense"], ids=["unknown", "shapeless"])
def test_a_wrong_token(cli, serve, wrong):
    server = serve()

    remote = cli("doctor", "--json", "--url", server.url, CODEFLOW_TOKEN=wrong)
    local = cli("doctor", "--json", CODEFLOW_TOKEN=wrong)

    assert (remote.code, list(faults(remote))) == (1, ["token"])
    assert (local.code, list(faults(local))) == (1, ["given token"])
    assert "token create" in faults(remote)["token"]["fix"]
    assert wrong not in remote.out + local.out


def test_a_token_that_was_revoked(cli, serve):
    server = serve()
    role = ("--kind", "user", "--role", "reader")
    text = cli("token", "create", "--principal", "ann", *role, "--json").ok().json["token"]
    sound = cli("doctor", "--json", "--url", server.url, CODEFLOW_TOKEN=text)
    for row in cli("token", "list", "--json").ok().json["items"]:
        cli("token", "revoke", row["id"], "--yes")

    revoked = cli("doctor", "--json", "--url", server.url, CODEFLOW_TOKEN=text)

    assert (sound.code, faults(sound)) == (0, {})
    assert (revoked.code, list(faults(revoked))) == (1, ["token"])
    assert "revoked" in faults(revoked)["token"]["detail"]


def test_no_token(cli, serve, tmp_path):
    server = serve()

    done = cli("doctor", "--json", "--url", server.url, CODEFLOW_HOME=str(tmp_path / "none"))

    assert (done.code, list(faults(done))) == (1, ["token"])
    assert "CODEFLOW_TOKEN" in faults(done)["token"]["fix"]


def test_a_host_that_is_not_allowed(cli, serve, home):
    server = serve()
    name = f"localhost.localdomain:{server.port}"
    proxy = Named(server.port, name)
    refused = cli("doctor", "--json", "--url", proxy.url)
    server.stop()
    (home / "config.toml").write_text(f'[server]\nhosts = ["{name}"]\n')
    (home / "config.toml").chmod(0o600)
    again = serve()
    proxy.lead_to(again.port)
    allowed = cli(
        "doctor", "--json", "--url", proxy.url, CODEFLOW_TOKEN=(home / "token").read_text().strip()
    )
    proxy.close()

    assert (refused.code, list(faults(refused))) == (1, ["host"])
    assert "hosts under [server]" in faults(refused)["host"]["fix"]
    assert (allowed.code, faults(allowed)) == (0, {})


class Named(Breaking):
    """A way to the server on which it is asked under another name."""

    def __init__(self, port, name):
        super().__init__(port)
        self._name = name

    def lead_to(self, port):
        self._port = port

    def host(self):
        return self._name


@pytest.mark.parametrize(("seconds", "side"), [(3_600, "ahead of"), (-90, "behind")])
def test_a_server_whose_clock_is_another(cli, serve, seconds, side):
    server = serve()
    proxy = Breaking(server.port)
    date = formatdate(time.time() + seconds, usegmt=True)
    proxy.arm(answer("200 OK", f"Date: {date}", body='{"status": "ok"}'))
    given = server.first["token"]

    done = cli("doctor", "--json", "--url", proxy.url, CODEFLOW_TOKEN=given)
    proxy.close()

    assert (done.code, list(faults(done))) == (7, ["clock"])
    assert side in faults(done)["clock"]["detail"]


def test_a_clock_that_is_behind_what_was_recorded(cli, home):
    cli("tenant", "create", "birch").ok()
    config = home / "config.toml"
    config.write_text("[clock]\noffset_seconds = 7200\nallow_offset = true\n")
    config.chmod(0o600)
    cli("tenant", "create", "oak").ok()
    shifted = faults(cli("doctor", "--json"))
    config.unlink()

    done = cli("doctor", "--json")

    assert list(shifted) == ["clock"]
    assert "7200 s forward" in shifted["clock"]["detail"]
    assert (done.code, list(faults(done))) == (7, ["clock"])
    assert "newest change of oak" in faults(done)["clock"]["detail"]
    assert "set this machine's clock" in faults(done)["clock"]["fix"]


def unprivileged(home):
    """Run ``doctor`` so that the modes of files hold for it, for the superuser too."""
    drop = [shutil.which("setpriv"), "--bounding-set=-dac_override,-dac_read_search"]
    done = subprocess.run(  # noqa: S603 - this program, no shell
        [*(drop if os.geteuid() == 0 else ()), *COMMAND, "doctor", "--json"],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda home: home, "home"),
        (lambda home: home / "key", "key"),
        (lambda home: home / "memory.sqlite", "memory.sqlite"),
        (lambda home: home / "tenants", "tenants"),
        (lambda home: home.parent, "enter"),
    ],
)
def test_what_this_user_may_not_use(cli, home, spoil, word):
    cli("tenant", "create", "birch").ok()
    assert unprivileged(home).code == 0
    path = spoil(home)
    path.chmod(0)
    done = unprivileged(home)
    path.chmod(0o700)

    assert (done.code, faults(done)["permissions"]["state"]) == (1, "fault")
    found = faults(done)["permissions"]
    assert (home.name if word == "home" else word) in found["detail"]
    assert unprivileged(home).code == 0 or path.is_file()


_OLDER = """
import sys
from codeflow_memory.cli import main
from codeflow_memory.storage import migrate

files = migrate.migration_files()
migrate.migration_files = lambda: files[:-1]
sys.exit(main(["tenant", "create", "birch"]))
"""


def test_an_old_schema(cli, home):
    """A home that an earlier version made: one that had all migrations but the last."""
    subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", "-c", _OLDER],
        env=environment(home),
        capture_output=True,
        check=True,
        timeout=SECONDS,
    )

    done = cli("doctor", "--json")

    assert (done.code, sorted(faults(done))) == (1, ["database birch", "database local"])
    assert "its schema is older" in faults(done)["database local"]["detail"]
    assert "codeflow-memory up" in faults(done)["database local"]["detail"]


def test_a_machine_without_git(cli, serve, tmp_path):
    server = serve()

    local = cli("doctor", "--json", PATH=str(tmp_path))
    remote = cli("doctor", "--json", "--url", server.url, PATH=str(tmp_path))

    for done in (local, remote):
        assert (done.code, list(faults(done))) == (7, ["git"])
        assert "install git" in faults(done)["git"]["fix"]


@pytest.mark.skipif(not may_mount(), reason="mounting a file system needs root")
@pytest.mark.parametrize(
    ("size", "code", "state"), [(64 * MIB, 7, "warning"), (9 * MIB, 1, "fault")]
)
def test_a_disk_with_little_room(cli, home, size, code, state):
    with small_disk(home, size):
        cli("tenant", "create", "birch").ok()
        done = cli("doctor", "--json")

    assert (done.code, faults(done)["disk"]["state"]) == (code, state)
    assert "make room" in faults(done)["disk"]["fix"]


def not_written(path, size):
    """Write what does not fit; tell whether the disk refused it."""
    try:
        path.write_bytes(bytes(size))
    except OSError as error:
        return error.errno == errno.ENOSPC
    return False


@pytest.mark.skipif(not may_mount(), reason="mounting a file system needs root")
def test_a_disk_that_is_full(cli, home):
    with small_disk(home, 12 * MIB):
        cli("tenant", "create", "birch").ok()
        assert not_written(home / "filler", 12 * MIB)
        done = cli("doctor", "--json")

    assert (done.code, faults(done)["disk"]["state"]) == (1, "fault")
    assert "0 MiB free" in faults(done)["disk"]["detail"]


@pytest.mark.skipif(not may_mount(), reason="mounting a file system needs root")
def test_a_disk_that_is_mounted_for_reading_only(cli, home):
    with small_disk(home, 256 * MIB):
        cli("tenant", "create", "birch").ok()
        mount = [shutil.which("mount"), "-o", "remount,ro", str(home)]
        subprocess.run(mount, check=True, capture_output=True)  # noqa: S603 - fixed words
        done = cli("doctor", "--json")

    assert (done.code, faults(done)["disk"]["state"]) == (1, "fault")
    assert "reading only" in faults(done)["disk"]["detail"]
    assert "permissions" not in faults(done)


def test_a_server_in_order_seen_from_outside(cli, serve):
    server = serve()

    done = cli("doctor", "--json", "--url", server.url).ok()

    names = [check["name"] for check in done.json["checks"]]
    assert names == ["server", "clock", "store", "token", "version", "git"]
