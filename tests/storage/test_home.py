"""A home: its files are its owner's alone, and its locks say who may do what."""

import os
import subprocess
import sys
from contextlib import ExitStack
from stat import S_IMODE

import pytest

from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError, StoreUnusableError
from codeflow_memory.storage.home import (
    BALLAST_BYTES,
    Home,
    check_slug,
    find_server,
    is_regular,
    require_tenant,
    write_private,
)

MAKE_KEY = """
import sys
from pathlib import Path
from codeflow_memory.storage.home import Home
sys.stdout.write(Home(Path(sys.argv[1])).key().hex())
"""


@pytest.fixture
def home(tmp_path):
    made = Home(tmp_path / "ho me")
    made.make()
    return made


@pytest.fixture
def loose_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path):
    return S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("name", ["memory.json", "memory.sqlite"])
def test_a_path_of_a_document_or_database_means_its_folder(tmp_path, name):
    assert Home(tmp_path / name).path == tmp_path


@pytest.mark.usefixtures("loose_umask")
def test_folders_and_files_are_private_whatever_the_umask(tmp_path):
    home = Home(tmp_path / "a" / "b")
    home.make()
    home.make_tenant_folder("birch")
    home.key()
    home.fill_ballast()
    write_private(home.path / "some", b"x")
    with home.serving(), home.shared():
        pass

    folders = [home.path, home.path / "tenants", home.path / "tenants" / "birch"]
    assert [mode(folder) for folder in folders] == [0o700] * 3
    files = sorted(p.name for p in home.path.iterdir() if p.is_file())
    assert files == ["ballast", "key", "lock", "server", "some"]
    assert {mode(home.path / name) for name in files} == {0o600}


def test_a_home_that_was_open_to_others_is_closed(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir(mode=0o755)

    Home(folder).make()

    assert mode(folder) == 0o700


def test_a_home_that_is_a_file_is_refused_without_its_path(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreUnusableError) as refused:
        Home(tmp_path / "file").make()

    assert str(tmp_path) not in str(refused.value)


def test_the_key_is_made_once_and_kept(home, monkeypatch):
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    first = home.key()

    assert len(first) == 32
    assert Home(home.path).key() == first
    assert not list(home.path.glob(".key*"))


def test_of_many_first_starts_one_key_wins(home, monkeypatch):
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    command = [sys.executable, "-c", MAKE_KEY, str(home.path)]
    starts = [
        subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603 - this program, no shell
        for _ in range(4)
    ]

    found = {start.communicate()[0].decode() for start in starts}

    assert found == {home.key().hex()}


def test_a_credential_goes_before_the_file(home, tmp_path, monkeypatch):
    home.key()
    (tmp_path / "codeflow-key").write_bytes(b"c" * 32)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))

    assert home.key() == b"c" * 32


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_key_of_another_length_is_refused(home, monkeypatch, length):
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    (home.path / "key").write_bytes(b"x" * length)

    with pytest.raises(StoreUnusableError):
        home.key()


@pytest.mark.parametrize("slug", ["a", "0", "a-b", "x" * 63])
def test_a_slug_is_a_tenants_name(slug):
    assert check_slug(slug) == slug


@pytest.mark.parametrize(
    "slug", ["", "-a", "A", "a_b", "a/b", "..", "a\n", "é", "x" * 64, "a.b", " a"]
)
def test_anything_else_is_no_tenants_name(home, slug):
    with pytest.raises(InvalidRequestError):
        home.database(slug)


def test_tenants_lie_apart_and_the_local_one_first(home):
    assert home.tenants() == []
    for slug in ("birch", "local", "ash"):
        home.make_tenant_folder(slug)
        home.database(slug).write_bytes(b"")

    assert home.tenants() == ["local", "ash", "birch"]
    assert home.database("local") == home.path / "memory.sqlite"
    assert home.database("ash") == home.path / "tenants" / "ash" / "memory.sqlite"
    assert require_tenant(home, "ash") == home.database("ash")
    with pytest.raises(NotFoundError):
        require_tenant(home, "oak")


@pytest.mark.parametrize(
    ("held", "asked", "allowed"),
    [
        ("serving", "serving", False),
        ("serving", "shared", True),
        ("shared", "shared", True),
        ("shared", "exclusive", False),
        ("exclusive", "shared", False),
        ("exclusive", "exclusive", False),
    ],
)
def test_who_may_use_a_home_at_the_same_time(home, held, asked, allowed):
    with ExitStack() as stack:
        stack.enter_context(getattr(home, held)())
        if allowed:
            stack.enter_context(getattr(Home(home.path), asked)())
            return
        with pytest.raises(StoreUnusableError):
            stack.enter_context(getattr(Home(home.path), asked)())

    with getattr(home, asked)():
        pass


def test_the_ballast_is_set_aside_once_and_given_back_once(home):
    home.fill_ballast()
    home.fill_ballast()
    assert (home.path / "ballast").stat().st_size == BALLAST_BYTES

    assert not home.is_ballast_spent()
    assert [home.release_ballast(), home.release_ballast()] == [True, False]
    assert home.is_ballast_spent()
    home.fill_ballast()
    assert (home.path / "ballast").stat().st_size == BALLAST_BYTES


def test_a_home_that_never_had_a_ballast_has_not_spent_it(home):
    assert (home.release_ballast(), home.is_ballast_spent()) == (False, False)


def test_a_private_file_never_replaces_what_stands_there(home):
    write_private(home.path / "some", b"first")

    with pytest.raises(FileExistsError):
        write_private(home.path / "some", b"second")
    assert (home.path / "some").read_bytes() == b"first"


def test_a_link_is_no_regular_file(home):
    (home.path / "file").write_bytes(b"")
    (home.path / "link").symlink_to(home.path / "file")

    assert [is_regular(home.path / name) for name in ("file", "link", "none")] == [
        True,
        False,
        False,
    ]


def test_what_killed_makers_left_is_swept_and_nothing_else(home):
    home.make_tenant_folder("ash")
    kept = [home.path / "memory.sqlite", home.path / ".other", home.path / "key"]
    left = [
        home.path / ".memory.sqlite.ab",
        home.path / ".key.7",
        home.path / ".ballast.7",
        home.path / ".token.7",
        home.path / "tenants" / "ash" / ".memory.sqlite.cd",
    ]
    for path in (*kept, *left):
        path.write_bytes(b"")

    home.sweep()

    assert all(path.exists() for path in kept)
    assert not any(path.exists() for path in left)


def test_what_a_restore_had_decrypted_before_it_was_cut_off_is_swept_away(tmp_path):
    home = Home(tmp_path)
    staging = tmp_path / ".restore-0011223344556677"
    (staging / "tenants" / "birch").mkdir(parents=True)
    (staging / "memory.sqlite").write_bytes(b"decrypted")
    (staging / "tenants" / "birch" / "memory.sqlite").write_bytes(b"decrypted")
    (tmp_path / ".restore-marker-0011").write_bytes(b"half")
    (tmp_path / "undo-20270101T000000Z").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / ".restore-link").symlink_to(elsewhere)

    home.sweep()

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "elsewhere",
        "undo-20270101T000000Z",
    ]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", None),
        ("memory.sqlite", None),
        ("mysql://a@b/c", None),
        ("postgresql:a@b/c", None),
        (" postgresql://a@b/c", None),
        ("xpostgresql://a@b/c", None),
        ("postgresql://Ann@Host/Name", "postgresql://Ann@Host/Name"),
        ("POSTGRESQL://Ann@Host/Name", "postgresql://Ann@Host/Name"),
        ("Postgres://Ann@Host/Name?x=POSTGRES://", "postgres://Ann@Host/Name?x=POSTGRES://"),
    ],
)
def test_a_database_server_is_known_by_its_scheme_in_any_case(text, address):
    assert find_server(text) == address
