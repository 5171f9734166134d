"""What a backup holds: its files in order, and of each database what must be the same afterwards.

The manifest is the first thing in the plaintext, so that all of it is known before any file comes.
"""

import re
from dataclasses import dataclass, field
from itertools import accumulate

from codeflow_backup import canonical
from codeflow_backup.canonical import Fields
from codeflow_backup.ciphers import DIGEST_BYTES, digest
from codeflow_backup.errors import DamagedError

MAX_BYTES = 2 * 1024 * 1024
"""About 400 tenants; it is read into memory as a whole."""

MAX_FILES = 10_000
LENGTH_BYTES = 4
"""Of the length that stands before the manifest and before the trailer."""

_MAX_NAME = 255
_NAME = re.compile(r"[0-9A-Za-z_-][0-9A-Za-z._-]*(?:/[0-9A-Za-z_-][0-9A-Za-z._-]*)*")
_LABEL = re.compile(r"[0-9A-Za-z._-]{1,64}")
_TABLE = re.compile(r"[A-Za-z_][0-9A-Za-z_]{0,63}")
_HEAD = re.compile(r"(?:[0-9a-f]{64})?")


@dataclass(frozen=True, slots=True)
class Table:
    """What a table must hold: its rows and their digest, as the logical fingerprint counts them."""

    rows: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Database:
    """What is in a SQLite file.

    Args:
        tenant: Its slug.
        instance_id: Of the tenant.
        generation: Of the tenant, growing with its changes.
        schema_version: The number of its last migration.
        ddl_sha256: Of its schema.
        tables: By name.
        fingerprint: The logical fingerprint, version 1.
        audit_count: Rows of the audit chain.
        audit_head: The chain's last link; empty if there is none.
    """

    tenant: str
    instance_id: str
    generation: int
    schema_version: int
    ddl_sha256: str
    tables: dict[str, Table]
    fingerprint: str
    audit_count: int
    audit_head: str


@dataclass(frozen=True, slots=True)
class File:
    """One file of the backup.

    Args:
        name: Its place in the home, ``tenants/birch/memory.sqlite``: no part begins with a dot.
        bytes: Its length.
        sha256: Of its content.
        database: What is in it, if it is a database.
    """

    name: str
    bytes: int
    sha256: str
    database: Database | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files, in the order in which they follow."""

    files: tuple[File, ...]
    encoded: bytes = field(default=b"", compare=False, repr=False)
    """The bytes it was read from; what it encodes to, if it was made here."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoded", self.encoded or encode(self.files))

    def prologue(self) -> bytes:
        """Return the plaintext before the files."""
        return _counted(self.encoded)

    def trailer(self) -> bytes:
        """Return the plaintext after the files: the totals once more."""
        totals = {
            "bytes": sum(file.bytes for file in self.files),
            "files": len(self.files),
            "manifest_sha256": digest(self.encoded).hex(),
        }
        return _counted(canonical.encode(totals))

    def offsets(self) -> tuple[int, ...]:
        """Return where each file begins in the plaintext, and last where the trailer does."""
        start = LENGTH_BYTES + len(self.encoded)
        return tuple(accumulate((file.bytes for file in self.files), initial=start))

    def total(self) -> int:
        """Return the length of the whole plaintext."""
        return self.offsets()[-1] + len(self.trailer())


def encode(files: tuple[File, ...]) -> bytes:
    """Return *files* as the manifest's canonical JSON.

    Raises:
        DamagedError: A value that no reader would take.
    """
    data = canonical.encode({"files": [_members(file) for file in files]})
    parse_files(data)
    return data


def parse(data: bytes) -> Manifest:
    """Read a manifest.

    Raises:
        DamagedError: It is none.
    """
    return Manifest(parse_files(data), data)


def parse_files(data: bytes) -> tuple[File, ...]:
    """Read the files of a manifest.

    Raises:
        DamagedError: It is none.
    """
    if len(data) > MAX_BYTES:
        raise DamagedError(f"the manifest is longer than {MAX_BYTES} bytes")
    fields = Fields(canonical.parse(data, "the manifest"), "the manifest")
    listed = fields.take("files")
    fields.end()
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_FILES:
        raise DamagedError(f"the manifest does not list 1 to {MAX_FILES} files")
    files = tuple(_file(item) for item in listed)
    names = {file.name for file in files}
    folders = {name[:at] for name in names for at, mark in enumerate(name) if mark == "/"}
    if len(names) < len(files) or names & folders:
        raise DamagedError("two files of the manifest have one name")
    return files


def _counted(data: bytes) -> bytes:
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


def _members(file: File) -> dict[str, object]:
    members: dict[str, object] = {"name": file.name, "bytes": file.bytes, "sha256": file.sha256}
    held = file.database
    if held is not None:
        members["database"] = {
            "tenant": held.tenant,
            "instance_id": held.instance_id,
            "generation": held.generation,
            "schema_version": held.schema_version,
            "ddl_sha256": held.ddl_sha256,
            "tables": {
                name: {"rows": table.rows, "sha256": table.sha256}
                for name, table in held.tables.items()
            },
            "fingerprint": held.fingerprint,
            "audit_count": held.audit_count,
            "audit_head": held.audit_head,
        }
    return members


def _file(value: object) -> File:
    fields = Fields(value, "a file of the manifest")
    name = fields.text("name", _NAME)
    if len(name) > _MAX_NAME:
        raise DamagedError(f"a file of the manifest has a name of more than {_MAX_NAME} characters")
    database = _database(fields.take("database")) if fields.has("database") else None
    size, sha256 = fields.integer("bytes"), fields.octets("sha256", DIGEST_BYTES).hex()
    fields.end()
    return File(name, size, sha256, database)


def _database(value: object) -> Database:
    fields = Fields(value, "a database of the manifest")
    tables = fields.take("tables")
    if not isinstance(tables, dict) or any(_TABLE.fullmatch(name) is None for name in tables):
        raise DamagedError("the tables of a database of the manifest are not named as tables are")
    found = Database(
        tenant=fields.text("tenant", _LABEL),
        instance_id=fields.text("instance_id", _LABEL),
        generation=fields.integer("generation"),
        schema_version=fields.integer("schema_version"),
        ddl_sha256=fields.octets("ddl_sha256", DIGEST_BYTES).hex(),
        tables={name: _table(item) for name, item in tables.items()},
        fingerprint=fields.octets("fingerprint", DIGEST_BYTES).hex(),
        audit_count=fields.integer("audit_count"),
        audit_head=fields.text("audit_head", _HEAD),
    )
    fields.end()
    return found


def _table(value: object) -> Table:
    fields = Fields(value, "a table of the manifest")
    table = Table(fields.integer("rows"), fields.octets("sha256", DIGEST_BYTES).hex())
    fields.end()
    return table
