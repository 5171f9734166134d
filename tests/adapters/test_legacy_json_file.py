import hashlib
import os
import stat
import time
from pathlib import Path

import pytest

from codeflow_memory.adapters import legacy_json
from codeflow_memory.adapters.legacy_json import MAX_BYTES, read_document
from codeflow_memory.domain.errors import InvalidRequestError, NotFoundError

CONTENT = b'{"version": 2, "entries": [], "receipts": [], "feedback": []}'


def test_a_document_is_read_as_it_is_with_its_hash(tmp_path):
    path = tmp_path / "memory.json"
    path.write_bytes(CONTENT)

    assert read_document(path) == (CONTENT, hashlib.sha256(CONTENT).hexdigest())


def test_a_file_of_exactly_the_limit_is_read(tmp_path):
    path = tmp_path / "memory.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES)

    assert len(read_document(path)[0]) == MAX_BYTES


def make_fifo(path):
    os.mkfifo(path)


def make_folder(path):
    path.mkdir()


def make_link(path):
    target = path.with_name("target.json")
    target.write_bytes(CONTENT)
    path.symlink_to(target)


def make_dangling_link(path):
    path.symlink_to(path.with_name("nothing"))


def make_too_large(path):
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (make_fifo, "not a regular file"),
        (make_folder, "not a regular file"),
        (make_link, "symbolic link"),
        (make_dangling_link, "symbolic link"),
        (make_too_large, "32 MiB"),
    ],
)
def test_what_is_not_a_plain_file_of_fair_size_is_refused_at_once(tmp_path, make, expected):
    path = tmp_path / "memory.json"
    make(path)

    start = time.perf_counter()
    with pytest.raises(InvalidRequestError, match=expected) as caught:
        read_document(path)

    assert time.perf_counter() - start < 2
    assert str(tmp_path) not in str(caught.value)


def test_a_device_is_refused_without_reading_it():
    with pytest.raises(InvalidRequestError, match="not a regular file"):
        read_document(Path("/dev/zero"))


@pytest.mark.parametrize("name", ["memory.json", "file/memory.json"])
def test_a_missing_file_is_not_found_and_its_folder_is_not_told(tmp_path, name):
    (tmp_path / "file").touch()

    with pytest.raises(NotFoundError, match=r"memory\.json") as caught:
        read_document(tmp_path / name)

    assert str(tmp_path) not in str(caught.value)


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "memory.json"
    make_too_large(path)
    announced = os.stat_result((stat.S_IFREG, 0, 0, 0, 0, 0, 1, 0, 0, 0))
    monkeypatch.setattr(legacy_json.os, "fstat", lambda _descriptor: announced)

    with pytest.raises(InvalidRequestError, match="32 MiB"):
        read_document(path)
