"""What every command gets as ``ctx.obj``: which home or server, which credential, which output."""

import fcntl
import importlib
import importlib.util
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from codeflow_memory.storage.home import Home, find_server, is_regular

TOKEN = "token"  # noqa: S105 - a file's name
SERVER = "server"
"""Files of a home: its first owner's token; the lock of its server, which holds the URL too."""

MAX_TOKEN_BYTES = 4_096
_KEYRING_SERVICE = "codeflow-memory"


class Context:
    """The choices of one command line. An option wins over a variable.

    Args:
        environment: The process's own, or a test's.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._home: Path | None = None
        self._server: str | None = None
        self._files = False
        self._url: str | None = None
        self._token_file: Path | None = None
        self.json = False

    def choose(self, name: str, value: Any) -> None:  # noqa: ANN401 - an option's value
        """Take the value of a shared option.

        Raises:
            click.UsageError: It does not go with another.
        """
        match name:
            case "url":
                self._url = checked_url(value)
            case "database" if "://" in value:
                self._server = checked_server(value)
            case "home" | "database":
                self._files |= name == "database"
                path = home_folder(value)
                if self._home not in {None, path}:
                    raise click.UsageError("--home and --database name different homes.")
                self._home = path
            case "token_file":
                self._token_file = Path(value)
            case _:
                self.json = bool(value)
        if self._server is not None and self._files:
            raise click.UsageError("--database names a file and a server: give one.")
        if self._url is not None and self._is_local:
            raise click.UsageError("--url means a server and --home a local home: give one.")

    @property
    def url(self) -> str | None:
        """The server to talk to; ``None`` for a local home."""
        if self._url is not None or self._is_local:
            return self._url
        given = self._environment.get("CODEFLOW_URL")
        return checked_url(given) if given else None

    @property
    def home(self) -> Home | None:
        """The local home to work on; ``None`` when a server is meant."""
        return None if self.url is not None else Home(self._home_path(), self.server)

    @property
    def server(self) -> str | None:
        """The PostgreSQL database that has the home's tenants; ``None``: files of the home do.

        Raises:
            click.UsageError: What names it is no address.
            InvalidRequestError: The configuration, which is asked last, cannot be read.
        """
        if self._server is not None or self._files:
            return self._server
        given = self._credential() or self._environment.get("CODEFLOW_DATABASE", "")
        if "://" in given:
            return checked_server(given)
        if given and self._home is None:
            # The path of a file.
            return None
        # Reads TOML by a model: no command of a server waits for that.
        from codeflow_memory.settings import load  # noqa: PLC0415 - when it is needed

        configured = load(self._home_path(), self._environment).database.url
        return None if configured is None else configured.get_secret_value()

    @property
    def token(self) -> str | None:
        """The credential, the first that is set; ``None`` for the owner of a local home's files.

        Raises:
            click.UsageError: The named file cannot be read or holds none.
        """
        if self._token_file is not None:
            return read_token(self._token_file)
        given = self._environment.get("CODEFLOW_TOKEN", "").strip()
        if given:
            return given
        url = self.url
        return None if url is None else _from_keyring(url) or self._of_own_server(url)

    def local(self, command: str) -> Home:
        """Return the local home for a command that no server can do.

        Raises:
            click.UsageError: A server is meant.
        """
        self.folder(command)
        return Home(self._home_path(), self.server)

    def folder(self, command: str) -> Home:
        """Return the local home without asking its configuration where its tenants are.

        Raises:
            click.UsageError: A server is meant.
        """
        if self.url is not None:
            means = "leave out --url" if self._url else "unset CODEFLOW_URL"
            raise click.UsageError(f"{command} works on a local home: {means} or give --home.")
        return Home(self._home_path())

    @property
    def _is_local(self) -> bool:
        return self._home is not None or self._server is not None

    def _home_path(self) -> Path:
        if self._home is not None:
            return self._home
        named = self._environment.get("CODEFLOW_HOME")
        given = self._environment.get("CODEFLOW_DATABASE", "")
        if not given or "://" in given:
            return home_folder(named or "~/.codeflow")
        if named and home_folder(named) != home_folder(given):
            raise click.UsageError("CODEFLOW_HOME and CODEFLOW_DATABASE name different homes.")
        return home_folder(given)

    def _credential(self) -> str:
        """Return the address that the credential ``codeflow-database`` holds; empty: none does."""
        folder = self._environment.get("CREDENTIALS_DIRECTORY")
        path = Path(folder, "codeflow-database") if folder else None
        if path is None or not path.is_file():
            return ""
        return checked_server(_text(path, "database's address"))

    def _of_own_server(self, url: str) -> str | None:
        """Return the home's own token, for the server that holds the home now and no other."""
        home = Home(self._home_path())
        if served_url(home) != url:
            return None
        path = home.path / TOKEN
        return read_token(path) if path.is_file() else None


def checked_server(text: str) -> str:
    """Return the URL of a PostgreSQL database.

    Raises:
        click.UsageError: It is of another kind.
    """
    address = find_server(text)
    if address is None:
        raise click.UsageError("a database is a path, or postgresql://user@host/name.")
    return address


def checked_url(text: str) -> str:
    """Return a server's root URL without a slash at its end.

    Raises:
        click.UsageError: It is none.
    """
    try:
        parts = urlsplit(text)
        well_formed = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        well_formed = False
    if not well_formed:
        raise click.UsageError("a server is given as http://host:port or https://host.")
    return text.rstrip("/")


def read_token(path: Path) -> str:
    """Read the token that a file holds.

    Raises:
        click.UsageError: It cannot be read, or holds none.
    """
    return _text(path, "token")


def _text(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_TOKEN_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        text = ""
    if not text:
        raise click.UsageError(f"no {what} can be read from {path}.")
    return text


def served_url(home: Home) -> str | None:
    """Return the URL of the server that owns *home* now; ``None`` where none does."""
    if not is_regular(home.path / SERVER):
        # Opening a pipe would wait for its other end.
        return None
    try:
        with (home.path / SERVER).open("rb") as file:
            url = file.read(MAX_TOKEN_BYTES).decode("utf-8", "replace").strip()
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return url or None
    except OSError:
        return None
    return None


def shared_options() -> list[click.Option]:
    """Make the options that every command takes."""

    def option(*names: str, **more: Any) -> click.Option:  # noqa: ANN401 - click's own
        return click.Option(names, callback=_chosen, expose_value=False, **more)

    return [
        option("--home", metavar="DIR", help="A local home (else CODEFLOW_HOME, ~/.codeflow)."),
        option(
            "--database",
            metavar="PATH|URL",
            help="Its database: a path in it, or postgresql://… (else CODEFLOW_DATABASE).",
        ),
        option("--url", metavar="URL", help="A server (else CODEFLOW_URL)."),
        option("--token-file", metavar="FILE", help="Holds the token (else CODEFLOW_TOKEN)."),
        option("--json", is_flag=True, default=None, help="Print JSON."),
    ]


def _chosen(ctx: click.Context, param: click.Parameter, value: Any) -> None:  # noqa: ANN401 - click's own
    if value is not None and not ctx.resilient_parsing and param.name is not None:
        ctx.find_object(Context).choose(param.name, value)  # type: ignore[union-attr] # made by the root


def expanded(path: Path) -> Path:
    """Return a path whose ``~`` or ``~user`` at the beginning is that user's folder.

    Raises:
        click.UsageError: Nobody knows such a user.
    """
    try:
        return path.expanduser()
    except RuntimeError:
        raise click.UsageError(f"{path}: no user has that folder.") from None


_CONNECTION = re.compile(r"^postgres(?:ql)?:|\b(?:host|hostaddr|dbname|password|user)\s*=", re.I)
"""How a database server is named in ways that are none of ours."""


def home_folder(text: str) -> Path:
    """Return a home's absolute folder; the path of its database or document means the folder."""
    if not text:
        raise click.UsageError("a home has a path; an empty one would be the current folder.")
    if "://" in text:
        raise click.UsageError("a home is a folder: --database names a database server.")
    if _CONNECTION.search(text):
        # Its password would stand in what is said of the folder.
        raise click.UsageError("a database server is named as postgresql://user@host/name.")
    return Home(expanded(Path(text)).absolute()).path


def _from_keyring(url: str) -> str | None:
    """Ask the system's keyring, where the package for it is installed."""
    if importlib.util.find_spec("keyring") is None:
        return None
    keyring = importlib.import_module("keyring")
    failed: type[Exception] = importlib.import_module("keyring.errors").KeyringError
    ask: Callable[[str, str], str | None] = keyring.get_password
    try:
        return ask(_KEYRING_SERVICE, url)
    except failed:
        return None
