"""Exit codes, the same as ``codeflow-memory``'s: one table for every refusal.

====  =========================================
0     done
1     failed
2     wrong usage
3     no permission: the key does not open it
4     not found
5     conflict with what stands
====  =========================================
"""

from collections.abc import Mapping
from typing import Final

from codeflow_backup import errors
from codeflow_backup.errors import BackupError

OK: Final = 0
FAILED: Final = 1
USAGE: Final = 2
PERMISSION: Final = 3
NOT_FOUND: Final = 4
CONFLICT: Final = 5

INTERRUPTED: Final = 130
"""What shells give a program that Ctrl-C ended."""

EXIT: Final[Mapping[type[BackupError], int]] = {
    errors.WrongKeyError: PERMISSION,
    errors.DamagedError: FAILED,
    errors.UnknownVersionError: FAILED,
    errors.InvalidKeyError: USAGE,
    errors.HomeInUseError: CONFLICT,
    errors.StandsError: CONFLICT,
    errors.MissingError: NOT_FOUND,
    errors.OtherInstanceError: CONFLICT,
    errors.OlderGenerationError: CONFLICT,
    errors.NoRoomError: FAILED,
    errors.UnusableError: FAILED,
}
