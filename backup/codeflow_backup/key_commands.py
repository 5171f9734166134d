"""``keygen``, ``add-key``, ``remove-key`` and ``sign``: what opens a backup, and who made it."""

from pathlib import Path

import rich_click as click

from codeflow_backup import backup_file, signature, slotting
from codeflow_backup.errors import StandsError
from codeflow_backup.files import create_private
from codeflow_backup.keys import Secret, new_key_file, read_key_file, read_passphrase
from codeflow_backup.options import (
    file_argument,
    json_option,
    key_options,
    needed,
    path_type,
)
from codeflow_backup.output import show
from codeflow_backup.slots import prepare
from codeflow_backup.terminal import talk


@click.command("keygen")
@file_argument
def keygen(file: Path) -> None:
    """Make a key file: 32 random bytes in base64, for its owner alone to read."""
    new_key_file(file)
    talk(f"{file} opens what is encrypted with it, and nothing else does: keep a copy elsewhere")


@click.command("add-key")
@file_argument
@key_options
@click.option("--new-passphrase-file", type=path_type, metavar="FILE", help="The key to add.")
@click.option("--new-keyfile", type=path_type, metavar="FILE", help="The key to add.")
@json_option
def add_key(
    file: Path,
    secrets: list[Secret],
    new_passphrase_file: Path | None,
    new_keyfile: Path | None,
    as_json: bool,  # noqa: FBT001 - click's
) -> None:
    """Let a further key open a backup; one that opens it must be named."""
    new = _new_secret(new_passphrase_file, new_keyfile)
    number = slotting.add_key(file, needed(secrets), prepare(new))
    show({"file": str(file), "slot": number}, as_json=as_json)


@click.command("remove-key")
@file_argument
@key_options
@click.option(
    "--slot", type=click.IntRange(1, 16), required=True, help="Its number, as `list` says."
)
@json_option
def remove_key(
    file: Path,
    secrets: list[Secret],
    slot: int,
    as_json: bool,  # noqa: FBT001 - click's
) -> None:
    """Take a key from a backup; one that opens it must be named, and the last one stays.

    Copies of the file made before still open with it: only a new backup has a new data key.
    """
    slotting.remove_key(file, needed(secrets), slot)
    show({"file": str(file), "removed": slot}, as_json=as_json)


@click.command("sign")
@file_argument
@click.option(
    "--signing-key", type=path_type, required=True, metavar="FILE", help="A key file of `keygen`."
)
def sign(file: Path, signing_key: Path) -> None:
    """Sign a backup: FILE.sig says who made it to those who hold no key of it.

    The public key is printed: give it, in a file, to those who verify with --signed-by.
    """
    key = signature.read_signing_key(signing_key)
    with backup_file.opened(file) as opened:
        sidecar = signature.sign(opened, key)
    try:
        create_private(file.with_name(file.name + signature.SUFFIX), sidecar)
    except FileExistsError:
        raise StandsError("a signature stands beside the backup already") from None
    click.echo(key.public().text(), nl=False)


def _new_secret(passphrase_file: Path | None, key_file: Path | None) -> Secret:
    match passphrase_file, key_file:
        case Path() as path, None:
            return read_passphrase(path)
        case None, Path() as path:
            return read_key_file(path)
        case _:
            raise click.UsageError("name one key to add: --new-passphrase-file or --new-keyfile.")
