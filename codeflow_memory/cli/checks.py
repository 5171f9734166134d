"""The checks of ``doctor``, each with its fix. None of them changes or makes anything."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from codeflow_memory.cli import machine_checks, server_checks, stores
from codeflow_memory.cli.audit import faults
from codeflow_memory.cli.context import TOKEN, read_token, served_url
from codeflow_memory.cli.findings import Check, State
from codeflow_memory.domain.errors import CodeflowError
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import checkpoints
from codeflow_memory.services.recomputation import SAMPLE, recompute
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.settings import FILE, Settings, load, path_of
from codeflow_memory.storage import audit, snapshots
from codeflow_memory.storage.databases import of
from codeflow_memory.storage.home import BALLAST, LEGACY_DOCUMENT, LOCK, Home

_OTHERS = 0o077
_KEY_BYTES = 32
_SHOWN = 3
"""Examples of one finding."""


def folder(home: Home) -> Iterator[Check]:
    """Check that the home is its owner's alone."""
    mode = stat.S_IMODE(home.path.stat().st_mode)
    if mode & _OTHERS:
        yield Check(
            "home", State.WARNING, f"others may enter it (mode {mode:o})", f"chmod 700 {home.path}"
        )
    else:
        yield Check("home", State.OK, str(home.path))


def modes(home: Home) -> Iterator[Check]:
    """Check that no file that this program made can be read by others."""
    open_files = [
        path.relative_to(home.path).as_posix()
        for path in _own_files(home)
        if stat.S_IMODE(path.lstat().st_mode) & _OTHERS
    ]
    if open_files:
        yield Check(
            "modes", State.WARNING, f"others may use {_few(open_files)}", "chmod go= those files"
        )
    else:
        yield Check("modes", State.OK, "files are their owner's alone")


def key(home: Home) -> Iterator[Check]:
    """Check that the home key is there."""
    credentials = os.environ.get("CREDENTIALS_DIRECTORY")
    path = home.path / "key"
    if credentials and (Path(credentials) / "codeflow-key").is_file():
        path = Path(credentials) / "codeflow-key"
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        fault = bool(_slugs(home))
        state = State.FAULT if fault else State.WARNING
        fix = "restore it from a backup of this home" if fault else "`codeflow-memory up` makes it"
        yield Check("key", state, "there is none", fix)
        return
    if size == _KEY_BYTES:
        yield Check("key", State.OK, f"{size} bytes")
    else:
        yield Check(
            "key", State.FAULT, f"{size} bytes, not {_KEY_BYTES}", "restore it from a backup"
        )


def ballast(home: Home) -> Iterator[Check]:
    """Check that a full disk's deletions and revocations have the room that is set aside."""
    if home.is_ballast_spent():
        yield Check(
            "ballast",
            State.WARNING,
            "it was given up on a full disk; writes are refused until it is set aside again",
            "make room on the disk",
        )
    elif not (home.path / BALLAST).exists():
        yield Check("ballast", State.WARNING, "there is none", "`codeflow-memory up` makes it")
    else:
        yield Check("ballast", State.OK, "set aside")


def locks(home: Home) -> Iterator[Check]:
    """Check who uses the home."""
    url = served_url(home)
    if url is None:
        yield Check("server", State.OK, "none runs")
    else:
        yield from _serving(url)
    if not home.has_lock():
        return
    try:
        with home.shared():
            pass
    except CodeflowError as error:
        yield Check("lock", State.WARNING, str(error), "wait until it is done, then look again")


def _serving(url: str) -> Iterator[Check]:
    found = list(server_checks.answers(url))
    if all(check.state is State.OK for check in found):
        yield Check("server", State.OK, f"serves {url}")
    else:
        detail = f"it holds the home for {url} and does not answer there"
        yield Check("server", State.FAULT, detail, "end its process and start it anew")


def configuration(home: Home) -> Iterator[Check]:
    """Check the configuration and the folders that it lists."""
    settings, file = _settings(home), path_of(home.path)
    if isinstance(settings, str):
        yield Check("configuration", State.FAULT, settings, f"correct {file}")
        return
    yield Check("configuration", State.OK, f"{file} read" if file.exists() else "none")
    shift = settings.clock.offset_seconds
    yield from machine_checks.clock("", seconds_behind=0, shift=shift)
    for root in settings.repositories.roots:
        if not root.is_dir() or not os.access(root, os.R_OK | os.X_OK):
            yield Check(
                "roots",
                State.WARNING,
                f"{root} cannot be read",
                f"correct repositories.roots in {file}",
            )


def earlier(home: Home) -> Iterator[Check]:
    """Name what is kept of earlier states: it may hold what was deleted since."""
    for path in snapshots.of(home):
        yield Check(
            "earlier state",
            State.WARNING,
            f"{path.relative_to(home.path)} may hold what was deleted since",
            snapshots.FIX[path.is_dir()],
        )
    for kept in snapshots.beside(home):
        yield Check(
            "earlier state",
            State.WARNING,
            f"{kept.name} of {kept.tenant} may hold what was deleted since",
            snapshots.FIX_BESIDE[kept.retired],
        )


def document(home: Home) -> Iterator[Check]:
    """Check that no older document waits."""
    if not os.path.lexists(home.path / LEGACY_DOCUMENT):
        return
    if LOCAL in _slugs(home):
        yield Check(
            "import",
            State.FAULT,
            f"{LEGACY_DOCUMENT} and the database both stand: only reads are served",
            f"keep the one that is right and move the other out of {home.path}",
        )
    else:
        yield Check(
            "import",
            State.WARNING,
            f"{LEGACY_DOCUMENT} is not imported yet",
            "codeflow-memory import-json --check, then without --check",
        )


def engine(home: Home) -> Iterator[Check]:
    """Check what carries the databases, and whether files of the home are left beside it."""
    try:
        with closing(of(home)) as found:
            found.reach()
            findings = found.findings()
    except CodeflowError as error:
        yield Check("engine", State.FAULT, str(error), "correct the database's URL, or its server")
        return
    for finding in findings:
        state = State.OK if finding.fix is None else State.WARNING
        yield Check(finding.name, state, finding.detail, finding.fix)
    left = home.tenants() if home.server is not None else []
    if left:
        yield Check(
            "files",
            State.WARNING,
            f"nobody is served the files of {_few(left)}: the home's tenants are in its database",
            "`codeflow-memory tenant move` copies them; or remove them",
        )


def machine(home: Home) -> Iterator[Check]:
    """Check the disk, and who may use the home's files."""
    yield from machine_checks.disk(home.path)
    may_enter = os.access(home.path, os.R_OK | os.X_OK)
    yield from machine_checks.permissions(home.path, _own_files(home) if may_enter else ())


def databases(home: Home, *, every: bool, token: str | None) -> Iterator[Check]:
    """Check every tenant's database, the clock against each, and the tokens.

    Args:
        home: The home.
        every: Whether each entry is recomputed.
        token: That a command is given; ``None`` where the home's owner acts.
    """
    settings = _settings(home)
    slugs = _slugs(home)
    if not slugs:
        yield Check("databases", State.WARNING, "none yet", "`codeflow-memory up` makes the first")
    if isinstance(settings, str) or not slugs or not (home.path / "key").exists():
        return
    tenants = stores.tenants_of(home, settings)
    try:
        with home.shared():
            for slug in slugs:
                yield from _database(tenants, slug, every=every)
            yield from _token(home, tenants)
            yield from _given(tenants, token)
    except CodeflowError as error:
        yield Check("databases", State.WARNING, str(error), "look again when it is done")
    finally:
        tenants.close()


def _slugs(home: Home) -> list[str]:
    with closing(of(home)) as found:
        return found.slugs()


def _database(tenants: Tenants, slug: str, *, every: bool) -> Iterator[Check]:
    name = f"database {slug}"
    try:
        store = tenants.get(slug)
        report = checkpoints.verify(store)
        with store.engine.read() as tx:
            newest = audit.newest(tx)
        compared, drifts = recompute(store, sample=None if every else SAMPLE)
    except CodeflowError as error:
        fix = f"follow that for {tenants.place(slug)}; `codeflow-memory doctor` again then"
        yield Check(name, State.FAULT, str(error), fix)
        return
    behind = (newest - store.now()) / 1_000_000
    yield from machine_checks.clock(slug, seconds_behind=behind, shift=0)
    if report.sound:
        earlier = report.order_only
        order = f" (1 to {earlier}, from an earlier key, by order alone)" if earlier else ""
        detail = (
            f"sound; {report.rows} audit rows unbroken{order}, {report.rows_since} of them after"
            f" the last of {report.checkpoints} checkpoints; {compared} entries agree"
        )
        yield Check(name, State.OK, detail)
    else:
        yield Check(
            f"audit {slug}",
            State.FAULT,
            "; ".join(faults(report)),
            "compare with a backup: somebody changed or put back a file",
        )
    if drifts:
        found = _few([f"{d.what} of {d.where}" for d in drifts])
        fix = (
            "`codeflow-memory up` makes an index of older rules anew; if they still differ, restore"
            " a backup, or export and import into a new home"
        )
        yield Check(f"index {slug}", State.FAULT, f"{len(drifts)} differ: {found}", fix)


def _token(home: Home, tenants: Tenants) -> Iterator[Check]:
    path = home.path / TOKEN
    if not path.exists():
        return
    try:
        stores.caller(tenants, read_token(path))
    except CodeflowError:
        yield Check(
            "token",
            State.WARNING,
            f"the file {TOKEN} holds none that works",
            f"remove {path}; `codeflow-memory up` makes a new one",
        )
    else:
        yield Check("token", State.OK, f"the file {TOKEN} works")


def _given(tenants: Tenants, token: str | None) -> Iterator[Check]:
    if token is None:
        return
    try:
        stores.caller(tenants, token)
    except CodeflowError:
        yield Check(
            "given token",
            State.FAULT,
            "it names nobody here: it is wrong, has expired or was revoked",
            "unset CODEFLOW_TOKEN and leave out --token-file to act as the home's owner; or"
            " `codeflow-memory token create` makes another",
        )
    else:
        yield Check("given token", State.OK, "it works")


def _settings(home: Home) -> Settings | str:
    try:
        return load(home.path)
    except CodeflowError as error:
        return str(error)


def _own_files(home: Home) -> Iterator[Path]:
    names = ("key", TOKEN, "server", LOCK, BALLAST, FILE)
    yield from (home.path / name for name in names if (home.path / name).exists())
    yield from (home.path.glob("memory.*"))
    tenants = home.path / "tenants"
    if tenants.is_dir():
        yield from (tenants, *tenants.glob("*"), *tenants.glob("*/memory.*"))


def _few(names: list[str]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
