"""Which credential is sent: the first that is set, and a home's own to its own server only."""

import fcntl
import sys

import click
import pytest

from codeflow_memory.cli.context import Context

URL = "http://127.0.0.1:8123"
KEYRING = """
from keyring.errors import KeyringError
asked = []
failing = False

def get_password(service, user):
    asked.append((service, user))
    if failing:
        raise KeyringError
    return "of the keyring" if (service, user) == ("codeflow-memory", "{url}") else None
"""


@pytest.fixture
def keyring(tmp_path, monkeypatch):
    """A keyring package with one entry, for the URL."""
    folder = tmp_path / "packages"
    (folder / "keyring").mkdir(parents=True)
    (folder / "keyring" / "__init__.py").write_text(KEYRING.format(url=URL))
    (folder / "keyring" / "errors.py").write_text("class KeyringError(Exception): ...\n")
    for name in ("keyring", "keyring.errors"):
        # What the test imports under these names goes with it.
        monkeypatch.setitem(sys.modules, name, sys)
        del sys.modules[name]
    monkeypatch.syspath_prepend(folder)
    import keyring as made  # noqa: PLC0415 - the package that was just written

    return made


@pytest.fixture
def served(tmp_path):
    """A home with a token, which a server at the URL holds."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "token").write_text("of the home\n")
    (home / "server").write_text(URL)
    with (home / "server").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield home


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "of the option"
    made.write_text("of the option\n")
    return made


def sent(home, *, url=None, given=None, file=None):
    """The credential of a command with these variables and options."""
    variables = {"CODEFLOW_URL": url, "CODEFLOW_TOKEN": given, "CODEFLOW_HOME": str(home)}
    context = Context({name: value for name, value in variables.items() if value})
    if file is not None:
        context.choose("token_file", str(file))
    return context.token


def test_the_first_credential_that_is_set_is_the_one(keyring, served, file):
    assert sent(served, url=URL, given="given", file=file) == "of the option"
    assert sent(served, url=URL, given=" of the variable\n") == "of the variable"
    assert keyring.asked == []
    assert sent(served, url=URL) == "of the keyring"
    assert keyring.asked == [("codeflow-memory", URL)]


@pytest.mark.parametrize("without", ["entry", "answer", "package"])
def test_without_a_keyring_entry_the_homes_own_server_gets_its_token(
    keyring, served, monkeypatch, without
):
    if without == "entry":
        monkeypatch.setattr(keyring, "get_password", lambda _, __: None)
    elif without == "answer":
        monkeypatch.setattr(keyring, "failing", True)
    else:
        monkeypatch.setitem(sys.modules, "keyring", None)

    assert sent(served, url=URL) == "of the home"


def test_no_other_server_gets_the_token_of_the_home_or_of_the_entry(keyring, served):
    other = "http://127.0.0.1:8124"

    assert sent(served, url=other) is None
    assert keyring.asked == [("codeflow-memory", other)]


def test_a_local_home_asks_no_keyring_and_takes_a_token_that_is_given(keyring, served, file):
    assert sent(served) is None
    assert sent(served, given="given") == "given"
    assert sent(served, file=file) == "of the option"
    assert keyring.asked == []


def test_a_file_that_holds_no_token_is_refused_and_nothing_else_is_taken(keyring, served, tmp_path):
    for name in ("empty", "absent"):
        file = tmp_path / name
        if name == "empty":
            file.write_text(" \n")
        with pytest.raises(click.UsageError, match="no token can be read"):
            sent(served, url=URL, given="given", file=file)

    assert keyring.asked == []
