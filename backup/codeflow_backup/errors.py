"""Every refusal of a backup, as one tree.

``BackupError``
    ``WrongKeyError`` ``DamagedError`` ``UnknownVersionError`` ``InvalidKeyError``
    ``HomeInUseError`` ``StandsError`` ``MissingError`` ``OtherInstanceError``
    ``OlderGenerationError`` ``NoRoomError`` ``UnusableError``

A wrong key, a damaged file and an unknown version are three different errors. No sentence carries
content of a backup, a passphrase or a key.
"""

from typing import ClassVar


class BackupError(Exception):
    """The root: something was refused, and nothing was changed."""

    code: ClassVar[str] = "failed"


class WrongKeyError(BackupError):
    """No slot of the container opens with what was given."""

    code = "wrong-key"


class DamagedError(BackupError):
    """The container is not what was written: cut, changed, lengthened or put together."""

    code = "damaged"


class UnknownVersionError(BackupError):
    """A format, suite or kind of key that this program does not know; the number is named."""

    code = "unknown-version"


class InvalidKeyError(BackupError):
    """A passphrase or key file that cannot be one: empty, too short, unreadable."""

    code = "invalid-key"


class HomeInUseError(BackupError):
    """Another process holds the home."""

    code = "home-in-use"


class StandsError(BackupError):
    """Something stands under the name that was to be made."""

    code = "exists"


class MissingError(BackupError):
    """What was named is not there."""

    code = "not-found"


class OtherInstanceError(BackupError):
    """The home holds another instance than the backup."""

    code = "other-instance"


class OlderGenerationError(BackupError):
    """The home is newer than the backup."""

    code = "older-generation"


class NoRoomError(BackupError):
    """The disk has no room for what was asked."""

    code = "storage-full"


class UnusableError(BackupError):
    """A home, database or backup cannot be used as it is; the sentence says what to do."""

    code = "store-unusable"
