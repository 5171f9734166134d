"""Faults that the tests of the backup ask for."""

import resource
from contextlib import contextmanager

import pytest


@contextmanager
def _full():
    """Let no file grow, as a full disk does; the kernel says so to every write."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def full_disk():
    return _full()
