"""``tenant move`` and ``backup`` as commands, between files and a PostgreSQL."""

import pytest

from codeflow_memory.cli import exits
from codeflow_memory.storage.home import Home


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "backup.key"
    path.write_bytes(bytes(range(32)))
    return path


@pytest.fixture
def begun(cli):
    """A home of files with ``local`` and ``acme``; returns a token of ``acme``."""
    cli("tenant", "create", "acme").ok()
    made = cli(
        *("token", "create", "--tenant", "acme", "--principal", "ann", "--kind", "user"),
        *("--role", "owner", "--json"),
    )
    return made.ok().json["token"]


def slugs(cli, *argv):
    return [row["tenant"] for row in cli("tenant", "list", "--json", *argv).ok().json["items"]]


@pytest.mark.parametrize(
    ("argv", "code", "word"),
    [
        (("nobody", "--to", "{url}"), exits.NOT_FOUND, "not-found"),
        (("No Slug", "--to", "{url}"), exits.USAGE, "invalid-request"),
        (("acme", "--to", ""), exits.USAGE, "usage"),
        (("acme", "--to", "mysql://x/y"), exits.USAGE, "usage"),
        (("acme", "--to", "{home}"), exits.USAGE, "invalid-request"),
        (("acme",), exits.USAGE, "usage"),
        (("acme", "--to", "{url}"), exits.USAGE, "usage"),
    ],
)
def test_what_cannot_be_moved_is_refused_and_stays(cli, begun, url, argv, code, word):
    given = [part.format(url=url, home=cli.home) for part in argv]

    done = cli("tenant", "move", *given)

    assert (done.code, done.out) == (code, "")
    assert done.err.rstrip().endswith(f"[{word}]")
    assert slugs(cli) == ["local", "acme"]
    assert begun


def test_without_an_answer_the_copy_waits_and_nothing_else_changed(cli, begun, url):
    first = cli("tenant", "move", "acme", "--to", url)
    again = cli("tenant", "move", "acme", "--to", url)

    assert "every row compared" in first.err
    assert "--yes" in first.err
    assert "still the same" in again.err
    assert slugs(cli) == ["local", "acme"]
    assert slugs(cli, "--database", url) == []
    assert "earlier state" in cli("doctor", "--database", url).out
    assert begun


def test_a_dry_run_copies_nothing(cli, begun, url):
    done = cli("tenant", "move", "acme", "--to", url, "--dry-run", "--json")

    assert done.ok().json["moved"] is False
    assert "earlier state" not in cli("doctor", "--database", url).out
    assert begun


def test_a_dry_run_to_a_folder_makes_nothing_there(cli, begun, tmp_path):
    there, empty, file = (tmp_path / name for name in ("new/there", "empty", "file"))
    empty.mkdir(mode=0o755)
    file.write_text("")
    before = sorted(tmp_path.rglob("*"))

    for to in (there, empty):
        done = cli("tenant", "move", "acme", "--to", to, "--dry-run", "--json")
        assert done.ok().json == {"tenant": "acme", "to": str(to), "moved": False}
    refused = cli("tenant", "move", "acme", "--to", file / "below", "--dry-run")

    assert (refused.code, "not a folder" in refused.err) == (exits.FAILED, True)
    assert sorted(tmp_path.rglob("*")) == before
    assert empty.stat().st_mode & 0o777 == 0o755
    assert begun
    cli("tenant", "move", "acme", "--to", there, "--yes").ok()
    assert slugs(cli, "--home", there) == ["acme"]


def test_a_dry_run_leaves_a_home_alone_that_another_process_uses(cli, begun, tmp_path):
    other = Home(tmp_path / "other")
    other.make()
    with other.shared():
        done = cli("tenant", "move", "acme", "--to", other.path, "--dry-run")

    assert (done.code, "in use" in done.err) == (exits.FAILED, True)
    assert begun


def test_a_move_that_is_asked_for_again_is_told_as_done(cli, begun, url, serve):
    for slug in ("acme", "local"):
        first = cli("tenant", "move", slug, "--to", url, "--yes", "--json").ok().json

        for more in ((), ("--yes",), ("--dry-run",)):
            again = cli("tenant", "move", slug, "--to", url, "--json", *more).ok()
            assert again.json == first | {"kept": None}
            assert "an earlier run moved it" in again.err
    assert cli("tenant", "move", "nobody", "--to", url, "--yes").code == exits.NOT_FOUND
    serve("--database", url)
    assert cli("tenant", "move", "acme", "--to", url, "--yes").code == 0
    assert begun


def test_a_token_that_is_no_owners_moves_nothing(cli, begun, url):
    done = cli("tenant", "move", "acme", "--to", url, "--yes", CODEFLOW_TOKEN=begun)

    assert done.code == exits.PERMISSION
    assert slugs(cli) == ["local", "acme"]


def test_a_home_whose_server_runs_is_left_alone(cli, begun, serve, url):
    serve()

    done = cli("tenant", "move", "acme", "--to", url, "--yes")

    assert done.code != 0
    assert "in use" in done.err
    assert begun


def test_a_home_goes_to_a_server_and_serves_on_with_its_tokens(cli, begun, serve, url):
    serve().stop()
    for slug in ("acme", "local"):
        done = cli("tenant", "move", slug, "--to", url, "--yes", "--json").ok()
        assert done.json["moved"]
        assert done.json["kept"].startswith("undo-")

    refused = cli("up", "--no-browser", "--port", "0")
    assert refused.code == exits.FAILED
    assert "it is where memory.moved in the home says" in refused.err
    server = serve("--database", url)
    assert "token" not in server.first
    shown = cli("repo", "list", "--json", "--url", server.url, CODEFLOW_TOKEN=begun)
    assert shown.ok().json["items"] == []
    server.stop()
    assert cli("audit", "verify", "--tenant", "acme", "--database", url).code == 0
    assert cli("audit", "verify", "--database", url).code == 0
    assert slugs(cli, "--database", url) == ["local", "acme"]


def test_and_back_again(cli, begun, url):
    cli("tenant", "move", "acme", "--to", url, "--yes").ok()

    back = cli("tenant", "move", "acme", "--to", cli.home, "--database", url, "--yes", "--json")

    assert back.ok().json["kept"].startswith("cfm-old-")
    assert slugs(cli) == ["local", "acme"]
    assert slugs(cli, "--database", url) == []
    assert cli("audit", "verify", "--tenant", "acme").code == 0
    shown = cli("doctor", "--database", url)
    assert "cfm-old-" in shown.out
    assert begun


def test_what_was_put_aside_is_in_the_status(cli, begun, url):
    cli("tenant", "move", "local", "--to", url, "--yes").ok()
    cli("tenant", "move", "acme", "--to", url, "--yes").ok()

    cli("tenant", "move", "acme", "--to", cli.home, "--database", url, "--yes").ok()

    shown = cli("status", "--json", "--database", url).ok().out
    assert "cfm-old-" in shown
    assert shown.count("undo-") == 2
    assert begun


def test_a_backup_of_a_server_comes_back_into_it_and_into_files(cli, begun, url, key, tmp_path):
    for slug in ("acme", "local"):
        cli("tenant", "move", slug, "--to", url, "--yes").ok()
    target, database = tmp_path / "b.cfmb", ("--database", url)
    made = cli("backup", "create", "--to", target, "--keyfile", key, "--json", *database)
    assert "tenants/acme/memory.sqlite" in made.ok().json["files"]
    assert not list(cli.home.glob(".backup-*"))
    assert cli("backup", "verify", target, "--keyfile", key, *database).code == 0

    refused = cli("backup", "restore", target, "--keyfile", key, *database)
    assert (refused.code, refused.out) == (exits.CONFLICT, "")
    assert "--replace" in refused.err
    done = cli("backup", "restore", target, "--keyfile", key, "--replace", "--json", *database)
    assert done.ok().json["tenants"] == ["local", "acme"]
    assert slugs(cli, *database) == ["local", "acme"]
    gone = cli("backup", "restore", "--discard-previous", "--json", *database)
    assert len(gone.ok().json["discarded"]) == 4

    files = tmp_path / "files"
    cli("backup", "restore", target, "--keyfile", key, "--home", files).ok()
    assert slugs(cli, "--home", files) == ["local", "acme"]
    assert begun


def test_a_wrong_key_of_a_backup_changes_nothing(cli, begun, url, key, tmp_path):
    cli("tenant", "move", "acme", "--to", url, "--yes").ok()
    target, wrong = tmp_path / "b.cfmb", tmp_path / "wrong.key"
    wrong.write_bytes(bytes(32))
    cli("backup", "create", "--to", target, "--keyfile", key, "--database", url).ok()

    done = cli("backup", "restore", target, "--keyfile", wrong, "--database", url)

    assert done.code == exits.PERMISSION
    assert not (cli.home / "restore.json").exists()
    assert not list(cli.home.glob(".restore-*"))
    assert begun


def test_a_backup_of_a_home_that_is_not_there_makes_none(cli, url, key, tmp_path):
    done = cli("backup", "create", "--to", tmp_path / "b", "--keyfile", key, "--database", url)

    assert done.code == exits.NOT_FOUND
    assert not cli.home.exists()
