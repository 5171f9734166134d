"""``up``: makes the home, its tenant `local` and a first token, and serves until SIGTERM."""

import errno
import gc
import logging
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import rich_click as click

from codeflow_memory import __version__
from codeflow_memory.adapters.secrets import parse_token
from codeflow_memory.cli import logs, stores
from codeflow_memory.cli.context import SERVER, TOKEN, Context
from codeflow_memory.cli.output import print_json, talk
from codeflow_memory.cli.stores import Opened
from codeflow_memory.domain.errors import (
    ImportConflictError,
    StoreUnusableError,
    UnauthenticatedError,
)
from codeflow_memory.domain.ids import Ids
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import access as accesses
from codeflow_memory.services.store import Store
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.settings import load
from codeflow_memory.storage import copies, databases
from codeflow_memory.storage.engine import APPLICATION_ID, Engine
from codeflow_memory.storage.home import Home, sync_folder, write_private
from codeflow_memory.storage.migrate import newest_version

_log = logging.getLogger(__name__)

PORT = 8787
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Start:
    """What a server begins with; ``token`` is set when it was just made."""

    opened: Opened
    token: str | None


@click.command("up")
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any free."
)
@click.option("--no-browser", is_flag=True, help="Accepted for scripts; no browser is opened.")
@click.pass_obj
def up(context: Context, host: str, port: int, *, no_browser: bool) -> None:  # noqa: ARG001 - see its help
    """Make the home, its tenant and a first token, then serve until SIGTERM.

    With --json the first line on stdout is {"url", "home", "tenant", "token"}; the token is in it
    only when it was just made. It is kept in the file "token" of the home.
    """
    with started(context) as start:
        serve(start, host, port, lambda url: _tell(start, url, as_json=context.json))


@contextmanager
def started(context: Context, roots: tuple[Path, ...] = ()) -> Iterator[Start]:
    """Own a home as its server: made, migrated, its older document imported, opened.

    Args:
        context: Names the home.
        roots: Folders that may be read beside those of the configuration.

    Raises:
        StoreUnusableError: Another server owns it, or its database cannot be used.
    """
    home = context.local("up")
    stores.reach(home)
    home.make()
    if home.server is not None and home.tenants():
        talk("the files of tenants in this home are not served: its tenants are in its database")
    with home.serving():
        stores.make(home)
        settings = load(home.path)
        kept = copies.kept(home)
        migrated = _migrate(home)
        _sweep(home)
        with home.shared():
            tenants = stores.tenants_of(home, settings, roots)
            try:
                store = stores.ensure_local(tenants)
                home.fill_ballast()
                _drop(tenants, {slug: kept[slug] for slug in kept.keys() - migrated})
                yield Start(Opened(home, settings, tenants), _token(home, store))
            finally:
                stores.close(tenants)
                _log.info("stopped")


def serve(start: Start, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve until a signal ends it.

    Args:
        start: What it begins with.
        host: A name or address.
        port: 0 is any free one.
        tell: Says what there is at a URL, as soon as that answers.

    Raises:
        click.UsageError: Nothing can listen there.
    """
    # Imports the whole application and its server.
    from codeflow_memory.app import Wiring, create_app  # noqa: PLC0415 - when it is needed
    from codeflow_memory.http import server, witness  # noqa: PLC0415 - when it is needed
    from codeflow_memory.mcp import gateway  # noqa: PLC0415 - as above
    from codeflow_memory.worker import Worker  # noqa: PLC0415 - as above

    home, settings = start.opened.home, start.opened.settings
    ids = Ids(stores.clock(settings), os.urandom)
    try:
        listener = server.bind(_address(host), port)
    except OSError as error:
        hint = "; --port 0 takes any that is free" if error.errno == errno.EADDRINUSE else ""
        sentence = f"cannot listen on {host}:{port}: {error.strerror}{hint}"
        raise click.ClickException(sentence) from None
    with closing(listener):
        try:
            hosts = server.own_hosts(listener, settings.server.hosts)
        except ValueError as error:
            raise click.UsageError(f"{error}: set server.hosts in the configuration.") from None
        logs.begin(settings.logging)
        observers = (witness.log,) if settings.logging.requests else ()
        app = create_app(
            Wiring(
                start.opened.tenants,
                settings,
                hosts,
                lambda: ids.new("req"),
                observers=observers,
                shared=start.opened.tenants.shared,
            )
        )
        (home.path / SERVER).write_text(listener.url, "utf-8")
        # What was imported lives as long as the server: no collection need look at it again.
        gc.freeze()
        worker = Worker(start.opened.tenants, time.monotonic, settings.policies())

        def ready(url: str) -> None:
            _log.info("serving", extra={"version": __version__})
            tell(url)
            sys.stdout.flush()
            worker.start()
            gateway.preload()

        try:
            server.run(app, listener, ready=ready)
        finally:
            _log.info("stopping")
            worker.stop()


def _token(home: Home, store: Store) -> str | None:
    try:
        return first_token(home, store)
    except ImportConflictError:
        # Reads are served on, to whoever has a token; that there is a conflict was told.
        talk("no first token can be made until then")
        return None


def first_token(home: Home, store: Store) -> str | None:
    """Make the first owner's token where the home keeps none that can work; return a new one."""
    path = home.path / TOKEN
    kept = path.read_text("ascii", "replace").strip() if path.is_file() else ""
    if _works(store, kept):
        return None
    text = stores.owner_token(store)
    temporary = path.with_name(f".{TOKEN}.{os.getpid()}")
    write_private(temporary, f"{text}\n".encode("ascii"))
    temporary.replace(path)
    sync_folder(home.path)
    return text


def _works(store: Store, kept: str) -> bool:
    """Tell whether a kept token names a caller: after a move under another key none does."""
    parts = parse_token(kept)
    if parts is None or parts.tenant != store.tenant:
        return False
    try:
        accesses.authenticate(store, parts.token_id, parts.secret)
    except UnauthenticatedError:
        return False
    return True


def _migrate(home: Home) -> set[str]:
    """Bring older databases to the newest schema, with the home held alone; return whose."""
    with closing(databases.of(home)) as found:
        older = {slug for slug in found.slugs() if _is_older(found.engine(slug))}
    if not older:
        return older
    with home.exclusive():
        tenants = stores.tenants_of(home, load(home.path), migrating=True)
        try:
            for slug in sorted(older):
                tenants.get(slug)
        finally:
            tenants.close()
    return older


def _drop(tenants: Tenants, kept: Mapping[str, list[Path]]) -> None:
    """Remove the copies of databases that an earlier start migrated and that still open well."""
    for slug, paths in sorted(kept.items()):
        with suppress(StoreUnusableError):
            tenants.get(slug)
            copies.remove(paths)


def _sweep(home: Home) -> None:
    """Take away what killed makers left, unless some process is at work in the home."""
    with suppress(StoreUnusableError), home.exclusive():
        home.sweep()


def _is_older(engine: Engine) -> bool:
    try:
        application, version = engine.header()
    except StoreUnusableError:
        # Refused when somebody asks for this tenant; it does not keep the others from being served.
        return False
    return application == APPLICATION_ID and version < newest_version()


def _address(host: str) -> str:
    """Return the IP address of *host*.

    Raises:
        OSError: It has none.
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return str(found[0][4][0])


def _tell(start: Start, url: str, *, as_json: bool) -> None:
    home = start.opened.home
    first = {"url": url, "home": str(home.path), "tenant": LOCAL}
    if as_json:
        print_json(first | ({} if start.token is None else {"token": start.token}))
    else:
        click.echo(url)
        if start.token is not None:
            talk(f"token of the first owner: {start.token}")
        talk(f"home: {home.path}; its token is in the file {TOKEN}")
        if home.server is not None and start.opened.settings.database.url is None:
            talk("its commands need --database too, or [database] url in its config.toml")
        talk(f"next: codeflow-memory learn .   (documentation: {url}/schema; Ctrl-C ends)")
