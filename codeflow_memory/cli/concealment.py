"""A password on the command line: taken from where every user of the machine can read it.

What a process was called with is in the list of processes. So the command begins anew, as the same
process, with the password where libpq looks for it and only its own user can see it. The moment
before was seen: a file is better, as the runbook says.
"""

import os
import re
import sys
from urllib.parse import unquote

_USER = re.compile(r"(postgres(?:ql)?://[^:@/?]*):([^?]*|[^/]*)(?=@)")
"""Up to the last ``@``: one that ought to have been escaped is part of the password."""

_PARAMETER = re.compile(r"(postgres(?:ql)?://.*[?&])password=([^&]*)&?")


def conceal() -> None:
    """Begin anew where one password stands among the arguments; else do nothing."""
    words = [_parted(word) for word in sys.orig_argv[1:]]
    passwords = {password for _, password in words if password}
    if len(passwords) == 1:
        os.execve(  # noqa: S606 - this program with its own arguments, no shell
            sys.executable,
            [sys.executable, *(word for word, _ in words)],
            os.environ | {"PGPASSWORD": passwords.pop()},
        )


def _parted(word: str) -> tuple[str, str]:
    """Return an argument without the password of a database's address, and that password."""
    for pattern in (_USER, _PARAMETER):
        found = pattern.search(word)
        if found is not None:
            return word[: found.end(1)] + word[found.end() :], unquote(found[2])
    return word, ""
