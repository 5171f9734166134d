"""Homes in memory: these tests commit thousands of times, and each commit syncs."""

import tempfile
from pathlib import Path

import pytest


def in_memory() -> tempfile.TemporaryDirectory[str]:
    """Make a folder in memory where the system has one; gone when its context ends."""
    memory = Path("/dev/shm")  # noqa: S108 - only the parent of a private folder
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None)


@pytest.fixture
def place():
    """Give such a folder."""
    with in_memory() as folder:
        yield Path(folder)
