"""Migrations are numbered without gaps, say why they exist, and never change once released."""

import hashlib
import re

import pytest

from .tree import ROOT

MIGRATIONS = ROOT / "migrations"
HASHES = MIGRATIONS / "SHA256SUMS"

_NAME = re.compile(r"(\d{4})_[a-z0-9]+(?:_[a-z0-9]+)*\.sql")
_HEADER = re.compile(r"-- [A-Z][^\n]{20,}")


def read(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.sql"))}


def misnamed(names):
    """List names that are not the next number and a subject."""
    return [
        name
        for number, name in enumerate(sorted(names), start=1)
        if (found := _NAME.fullmatch(name)) is None or int(found[1]) != number
    ]


def headless(files):
    return [name for name, text in files.items() if not _HEADER.match(text.decode("utf-8"))]


def changed(files, hashes):
    """List files whose hash is not the recorded one, or is not recorded, or that are gone."""
    recorded = dict(reversed(line.split("  ")) for line in hashes.splitlines())
    present = {name: hashlib.sha256(text).hexdigest() for name, text in files.items()}
    return sorted(name for name in recorded | present if recorded.get(name) != present.get(name))


def test_the_files_are_numbered_from_one_without_gaps():
    assert misnamed(read(MIGRATIONS)) == []


def test_each_file_begins_with_why_it_exists():
    assert headless(read(MIGRATIONS)) == []


def test_no_released_file_was_edited():
    """A new file needs its line: ``cd migrations && sha256sum *.sql > SHA256SUMS``."""
    assert changed(read(MIGRATIONS), HASHES.read_text("ascii")) == []


def test_nothing_else_is_in_the_folder():
    others = {path.name for path in MIGRATIONS.iterdir()} - read(MIGRATIONS).keys()

    assert others == {"README.md", "SHA256SUMS"}


@pytest.mark.parametrize("name", ["0003_more.sql", "2_more.sql", "0002-more.sql", "0002_More.sql"])
def test_the_check_sees_a_wrong_name(name):
    assert misnamed(["0001_baseline.sql", name]) == [name]


def test_the_checks_see_a_changed_a_new_and_a_lost_file():
    files = {"0001_a.sql": b"-- Baseline: what every database begins with.\n", "0002_b.sql": b"x"}
    hashes = f"{hashlib.sha256(b'else').hexdigest()}  0001_a.sql\n{'0' * 64}  0003_c.sql\n"

    assert headless(files) == ["0002_b.sql"]
    assert changed(files, hashes) == ["0001_a.sql", "0002_b.sql", "0003_c.sql"]
