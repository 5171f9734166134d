"""Moves: the note in a home that says where a tenant is which is no file of it, or went.

It lies where the tenant's file would be, whichever engine the tenant had. Before a tenant leaves
its place the note says where to, so that a move that is cut off can be ended; afterwards it keeps
whoever starts a server on the old place from making the tenant anew there. Of a tenant that was
made on a database server it says so from the beginning: a command that forgets to name that server
must not make a second one, whose audit would go on with the checkpoints of the first.
"""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codeflow_memory.domain import strict_json
from codeflow_memory.domain.errors import InvalidRequestError, StoreUnusableError
from codeflow_memory.domain.memory import canonical_json
from codeflow_memory.storage.home import DATABASE, Home, is_regular, sync_folder, write_private

FILE = "memory.moved"
_MAX_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Moved:
    """Where a tenant went.

    Args:
        target: Where it is, or will be; nothing in it is secret.
        fingerprint: What it held when it went there; ``""`` when it began there.
        done: Whether it is there; else the move goes on when it is asked for again.
    """

    target: str
    fingerprint: str
    done: bool


def find(home: Home, tenant: str) -> Moved | None:
    """Return the note about a tenant; ``None`` without one.

    Raises:
        StoreUnusableError: It cannot be read.
    """
    path = _path(home, tenant)
    if not os.path.lexists(path):
        return None
    try:
        if is_regular(path):
            with path.open("rb") as file:
                said: Any = strict_json.parse(file.read(_MAX_BYTES))
            return Moved(said["target"], said["fingerprint"], said["done"])
    except (InvalidRequestError, KeyError, TypeError):
        refusal = "it is not what a move writes; move it aside"
    else:
        refusal = "it is no regular file; move it aside"
    raise StoreUnusableError(FILE, refusal)


def write(home: Home, tenant: str, moved: Moved) -> None:
    """Write the note, durably, in place of an earlier one."""
    home.make_tenant_folder(tenant)
    path = _path(home, tenant)
    # The home sweeps away what begins like this.
    temporary = path.with_name(f".{DATABASE}.{os.urandom(8).hex()}")
    write_private(temporary, canonical_json(asdict(moved)).encode() + b"\n")
    temporary.replace(path)
    sync_folder(path.parent)


def keep_place(home: Home, tenant: str, address: str) -> None:
    """Note that a tenant is at *address*, unless a move says so or is not done.

    Raises:
        StoreUnusableError: The note cannot be read.
    """
    known = find(home, tenant)
    if known is None or (known.done and known.target != address):
        write(home, tenant, Moved(address, "", done=True))


def remove(home: Home, tenant: str) -> None:
    """Take the note away, where there is one."""
    path = _path(home, tenant)
    if os.path.lexists(path):
        path.unlink()
        sync_folder(path.parent)


def refuse_making(home: Home, tenant: str, address: str) -> None:
    """Refuse to make a tenant at *address* when it is elsewhere.

    Raises:
        StoreUnusableError: It is.
    """
    moved = find(home, tenant)
    if moved is not None and not moved.done:
        detail = "its move was cut off: run the same `codeflow-memory tenant move` again"
    elif moved is not None and moved.target != address:
        detail = f"it is where {FILE} in the home says: name that with --database or --home"
    else:
        return
    raise StoreUnusableError(f"tenant {tenant}", detail)


def _path(home: Home, tenant: str) -> Path:
    return home.database(tenant).with_name(FILE)
