"""``create``, ``verify`` and ``restore``."""

from pathlib import Path

import rich_click as click

from codeflow_backup import creating, restoring, signature, undo, verifying
from codeflow_backup.home import MARKER, Home
from codeflow_backup.keys import Secret
from codeflow_backup.options import (
    file_argument,
    home_of,
    home_option,
    json_option,
    key_options,
    needed,
    path_type,
)
from codeflow_backup.output import core_fields, show, slot_fields, slot_words
from codeflow_backup.progress import watching
from codeflow_backup.slots import MAX_SLOTS
from codeflow_backup.terminal import talk
from codeflow_backup.verifying import Level, Verified

_DEPTHS = {
    Level.STRUCTURE: "structure only: without a key nothing proves what is in it",
    Level.CHUNKS: "every chunk is what was written",
    Level.CONTENT: "every chunk and every row is what was written, and the rows agree",
}


@click.command("create")
@home_option
@click.option("--tenant", metavar="SLUG", help="Only this tenant, not the whole home.")
@click.option("--to", type=path_type, required=True, metavar="FILE", help="The new backup.")
@key_options
@json_option
def create(
    home: Path | None,
    tenant: str | None,
    to: Path,
    secrets: list[Secret],
    as_json: bool,  # noqa: FBT001 - click's
) -> None:
    """Back up a home, beside its running server too.

    Each key that is named opens the backup by itself. Nothing is replaced: the file must not be
    there. It is read back and verified before it gets its name.
    """
    if len(secrets) > MAX_SLOTS:
        raise click.UsageError(f"a backup has {MAX_SLOTS} keys at most.")
    with watching() as watch:
        made = creating.create(home_of(home), to, needed(secrets), watch, tenant)
    names = [file.name for file in made.manifest.files]
    fields = {"file": str(to), "bytes": made.bytes, **core_fields(made.core), "files": names}
    show(fields, as_json=as_json)


@click.command("verify")
@file_argument
@key_options
@click.option(
    "--level",
    type=click.IntRange(0, 2),
    help="0 structure, without a key; 1 every chunk; 2 everything in it; else the deepest.",
)
@click.option(
    "--signed-by",
    type=path_type,
    metavar="FILE",
    help="The public key whose signature must stand beside the backup.",
)
@json_option
def verify(
    file: Path,
    secrets: list[Secret],
    level: int | None,
    signed_by: Path | None,
    as_json: bool,  # noqa: FBT001 - click's
) -> None:
    """Verify a backup; nothing of it is written anywhere."""
    signer = None if signed_by is None else signature.read_public_key(signed_by)
    with watching() as watch:
        found = verifying.verify(
            file, secrets, None if level is None else Level(level), watch, signer
        )
    show(_verified_fields(file, found, as_json=as_json), as_json=as_json)


def _verified_fields(file: Path, found: Verified, *, as_json: bool) -> dict[str, object]:
    files = [] if found.manifest is None else [part.name for part in found.manifest.files]
    shown: object = slot_fields(found.slots) if as_json else slot_words(found.slots)
    return {
        "file": str(file),
        "level": int(found.level),
        "verified": _DEPTHS[found.level],
        "signed": found.signed,
        **core_fields(found.core),
        "slots": shown,
        "files": files,
    }


@click.command("restore")
@click.argument("file", type=path_type, required=False)
@home_option
@key_options
@click.option(
    "--replace",
    is_flag=True,
    help="Replace the store that the home holds, whichever it is and however new.",
)
@click.option(
    "--discard-previous",
    is_flag=True,
    help="Remove what restores replaced, now and before; without FILE only that.",
)
@json_option
def restore(
    file: Path | None,
    home: Path | None,
    secrets: list[Secret],
    replace: bool,  # noqa: FBT001 - click's
    discard_previous: bool,  # noqa: FBT001 - click's
    as_json: bool,  # noqa: FBT001 - click's
) -> None:
    """Put a backup into a home that no server runs on.

    Run it again if it was cut off: it goes on. What the home held goes to a folder "undo-…" in it,
    deleted texts that stood there too; the server removes it after seven days. The first start
    afterwards revokes the tokens of runs.
    """
    where = home_of(home)
    fields: dict[str, object] = {"home": str(where.path)}
    if file is None:
        if not discard_previous:
            raise click.UsageError("name the backup to restore.")
    else:
        with watching() as watch:
            done = restoring.restore(file, where, needed(secrets), watch, replace=replace)
        fields |= {**core_fields(done.backup), "files": list(done.places), "undo": done.undo}
        if done.resumed:
            talk("this backup was placed before: nothing was left to do")
    if discard_previous:
        fields["discarded"] = _discard(where)
    show(fields, as_json=as_json)
    if file is not None:
        talk(f"next: start the server; {MARKER} in the home waits for its first start")


def _discard(home: Home) -> list[str]:
    with home.exclusive():
        restoring.settle(home)
        return undo.discard(home)
