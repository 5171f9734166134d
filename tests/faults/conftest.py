"""Fixtures of the fault harnesses."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .power.drill import Rung, Workload, ladder


@pytest.fixture(scope="session")
def rungs_of(tmp_path_factory) -> Callable[[Workload], list[Rung]]:
    """Give each workload's ladder, made at its first use and only read afterwards."""
    made: dict[str, list[Rung]] = {}

    def rungs(workload: Workload) -> list[Rung]:
        if workload.name not in made:
            made[workload.name] = ladder(workload, tmp_path_factory.mktemp("ladder"))
        return made[workload.name]

    return rungs


@pytest.fixture
def place(tmp_path) -> Iterator[Path]:
    """Give a folder in memory where the system has one: these tests sync thousands of times.

    What the test leaves there, failing images above all, is found in ``tmp_path`` afterwards.
    """
    memory = Path("/dev/shm")  # noqa: S108 - only the parent of a private folder
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else tmp_path))
    yield folder
    shutil.move(folder, tmp_path / "left")
