"""A trap: a repository that tries to make its reader run a script or read what lies outside."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

GUIDANCE = "# Rules\n\n## Tests\n\nRun all tests before a commit.\n"
PRIVATE = "what is in another folder"


@dataclass(frozen=True)
class Trap:
    """A repository with one commit, and a script that leaves a canary behind."""

    git: Callable[..., str]
    path: Path
    script: Path
    canary: Path
    outside: Path
    commit: str

    def config(self, text: str) -> None:
        with (self.path / ".git/config").open("a") as file:
            file.write(text.replace("$RUN", str(self.script)).replace("$OUT", str(self.outside)))
