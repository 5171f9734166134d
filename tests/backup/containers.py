"""What the tests of the container share: keys, small backups, the answer that a reader gives."""

import importlib.util
from hashlib import sha256
from io import BytesIO
from pathlib import Path

from codeflow_backup import plaintext
from codeflow_backup.ciphers import Suite
from codeflow_backup.container import Reader, Writer
from codeflow_backup.derivations import Argon2id, Prepared
from codeflow_backup.errors import BackupError
from codeflow_backup.header import Core, new_backup_id, new_nonce_prefix
from codeflow_backup.keys import KeyFile, Passphrase
from codeflow_backup.manifest import File, Manifest
from codeflow_backup.slots import prepare

BACKUP = Path(__file__).resolve().parents[2] / "backup"
VECTORS = BACKUP / "vectors"

KEY = KeyFile(bytes(range(32)))
OTHER = KeyFile(bytes(range(32, 64)))
WORDS = Passphrase(b"correct horse")

SQLITE = b"SQLite format 3\0"


def new_core(suite=Suite.AES_256_GCM, **changes):
    facts = {
        "suite": suite,
        "backup_id": new_backup_id(),
        "nonce_prefix": new_nonce_prefix(),
        "instance_id": "0123456789abcdef",
        "generation": 42,
        "created_at": 1_800_000_000_000_000,
        "schema_version": 1,
        "app_version": "0.1.0",
    }
    return Core(**facts | changes)


def quickly_prepared(secret=WORDS):
    """A passphrase slot at the least cost that a reader takes."""
    slow = Argon2id(b"s" * 16, memory_kib=64 * 1024, passes=1, lanes=1)
    return Prepared(slow, slow.key(secret))


def sealed(plain, *secrets, core=None):
    """A container of *plain*, which opens with each of *secrets*: ``KEY`` if none is given."""
    file = BytesIO()
    keys = [
        quickly_prepared(s) if isinstance(s, Passphrase) else prepare(s) for s in secrets or (KEY,)
    ]
    writer = Writer(file, core or new_core(), keys)
    writer.write(plain)
    writer.finish()
    return file.getvalue()


def listed(**contents):
    """The manifest of files, by name and content."""
    return Manifest(
        tuple(
            File(name.replace("__", "."), len(content), sha256(content).hexdigest())
            for name, content in contents.items()
        )
    )


def backup_of(**contents):
    """The plaintext of a backup of files; two underscores in a name are a dot."""
    manifest = listed(**contents)
    return manifest.prologue() + b"".join(contents.values()) + manifest.trailer()


def opened(data, *secrets):
    return Reader(BytesIO(data)).unlock(secrets or (KEY,))


def answer(data, *secrets):
    """Say what reading the whole backup comes to, and what the plaintext was."""
    try:
        payload = opened(data, *secrets)
        manifest = plaintext.read_manifest(payload)
        for _ in plaintext.read_files(payload, manifest):
            continue
        return "ok", sha256(b"".join(payload.chunks())).hexdigest()
    except BackupError as error:
        return error.code, None


def decoder():
    """The verifier that stands alone, as a module."""
    spec = importlib.util.spec_from_file_location("decode", BACKUP / "decode.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
