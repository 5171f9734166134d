"""A folder of backups: what is listed, what rules keep, and what is never touched."""

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random

import pytest
from codeflow_backup import header, pruning, shelf
from codeflow_backup.ciphers import TAG_BYTES, Suite
from codeflow_backup.container import Reader, Writer
from codeflow_backup.errors import MissingError
from codeflow_backup.header import Core
from codeflow_backup.manifest import File, Manifest
from codeflow_backup.pruning import Policy
from codeflow_backup.slots import prepare
from codeflow_backup.stream import SEALED_BYTES
from codeflow_backup.verifying import Level

from .acting import OTHER_SECRET, SECRET

START = datetime(2027, 1, 1, 12, tzinfo=UTC)
PREPARED = prepare(SECRET)


def core(at, instance="a", generation=0):
    return Core(
        suite=Suite.AES_256_GCM,
        backup_id=header.new_backup_id(),
        nonce_prefix=header.new_nonce_prefix(),
        instance_id=instance,
        generation=generation,
        created_at=int(at.timestamp() * 1_000_000),
        schema_version=1,
        app_version="1",
    )


def make(folder, name, at, **more):
    """Write a backup that holds one configuration, over two chunks."""
    content = bytes(70_000)
    manifest = Manifest((File("config.toml", len(content), sha256(content).hexdigest()),))
    with (folder / name).open("xb") as file:
        writer = Writer(file, core(at, **more), [PREPARED])
        for part in (manifest.prologue(), content, manifest.trailer()):
            writer.write(part)
        writer.finish()
    return folder / name


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "backups"
    made.mkdir()
    return made


def kept(folder, policy, *secrets):
    planned = pruning.plan(folder, policy, secrets)
    return {v.entry.path.name: v.kept_by for v in planned.verdicts if v.kept_by}


def test_a_missing_folder_is_not_found(tmp_path):
    with pytest.raises(MissingError):
        shelf.look(tmp_path / "absent")


def test_foreign_and_damaged_files_are_told_of_and_never_touched(folder):
    make(folder, "good", START)
    raw = (folder / "good").read_bytes()
    with (folder / "good").open("rb") as file:
        second_chunk = Reader(file).payload_at + SEALED_BYTES
    others = {
        "text": b"mine",
        "empty": b"",
        "cut": raw[: second_chunk + TAG_BYTES - 1],
        "header cut": raw[:100],
        "flipped": raw[:20] + b"?" + raw[21:],
    }
    for name, content in others.items():
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "pipe")
    (folder / "folder").mkdir()
    (folder / ".hidden").write_bytes(raw)
    make(folder, "older", START - timedelta(days=9))

    planned = pruning.plan(folder, Policy(last=1), [])
    gone = pruning.apply(planned)

    assert [entry.path.name for entry in gone] == ["older"]
    named = {other.path.name for other in planned.others}
    assert named == {"text", "empty", "cut", "header cut", "flipped", "pipe"} | (named & {"longer"})
    assert {path.name for path in folder.iterdir()} >= {*others, "good", "pipe", "folder"}


def test_each_rule_keeps_the_last_of_its_periods(folder):
    for hours in range(0, 24 * 70, 11):
        make(folder, f"{hours:05}", START - timedelta(hours=hours))

    found = kept(folder, Policy(last=2, daily=3, weekly=2, monthly=2))

    by_rule = {
        rule: sorted(name for name, rules in found.items() if rule in rules)
        for rule in ("last", "daily", "weekly", "monthly", "newest verified")
    }
    assert by_rule == {
        "last": ["00000", "00011"],
        "daily": ["00000", "00022", "00044"],
        "weekly": ["00000", "00110"],
        "monthly": ["00000", "00022"],
        "newest verified": ["00000"],
    }


def test_the_newest_that_verifies_stays_whatever_the_rules_say(folder):
    make(folder, "old", START - timedelta(days=3))
    make(folder, "verifies", START - timedelta(days=1))
    newest = make(folder, "damaged", START)
    raw = newest.read_bytes()
    newest.write_bytes(raw[:-100] + bytes([raw[-100] ^ 1]) + raw[-99:])

    with_key = pruning.plan(folder, Policy(last=1), [SECRET])
    without = pruning.plan(folder, Policy(last=1), [])

    assert (with_key.level, without.level) == (Level.CHUNKS, Level.STRUCTURE)
    assert [e.path.name for e in with_key.removed] == ["old"]
    assert [e.path.name for e in without.removed] == ["old", "verifies"]


def test_where_none_verifies_all_stay(folder):
    make(folder, "a", START)
    make(folder, "b", START - timedelta(days=1))

    assert pruning.plan(folder, Policy(last=1), [OTHER_SECRET]).removed == []


def test_each_store_is_pruned_by_itself(folder):
    make(folder, "mine", START)
    make(folder, "mine older", START - timedelta(days=1))
    make(folder, "theirs", START - timedelta(days=30), instance="b")

    planned = pruning.plan(folder, Policy(last=1), [])

    assert [entry.path.name for entry in planned.removed] == ["mine older"]


def test_the_one_that_saw_most_changes_stays_where_a_clock_went_back(folder):
    make(folder, "later by the clock", START, generation=1)
    make(folder, "later by its changes", START - timedelta(days=400), generation=9)

    assert pruning.plan(folder, Policy(last=1), []).removed == []


def test_a_time_that_no_calendar_has_is_no_obstacle(folder):
    make(folder, "a", START)
    with (folder / "b").open("xb") as file:
        writer = Writer(file, replace(core(START), created_at=2**63 - 1), [PREPARED])
        writer.finish()

    assert set(kept(folder, Policy(daily=9))) == {"a", "b"}


def test_what_became_another_file_since_the_plan_stays(folder):
    make(folder, "new", START)
    old = make(folder, "old", START - timedelta(days=1))
    planned = pruning.plan(folder, Policy(last=1), [])
    old.unlink()
    old.write_bytes(b"mine")

    assert pruning.apply(planned) == []
    assert old.read_bytes() == b"mine"


def test_a_signature_goes_with_its_backup(folder):
    make(folder, "new", START)
    make(folder, "old", START - timedelta(days=1))
    for name in ("new.sig", "old.sig", "alone.sig"):
        (folder / name).write_text("signature")

    planned = pruning.plan(folder, Policy(last=1), [])
    pruning.apply(planned)

    assert sorted(p.name for p in folder.iterdir()) == ["alone.sig", "new", "new.sig"]
    assert [other.path.name for other in planned.others] == ["alone.sig"]


def test_whatever_the_rules_the_newest_of_each_store_is_never_removed(tmp_path):
    chance = Random(3)  # noqa: S311 - reproducible folders
    for number in range(60):
        where = tmp_path / str(number)
        where.mkdir()
        newest = {}
        for name in range(chance.randrange(1, 9)):
            at = START - timedelta(hours=chance.randrange(2_000), seconds=name)
            store = chance.choice("abc")
            make(where, str(name), at, instance=store)
            if store not in newest or at > newest[store][0]:
                newest[store] = at, str(name)
        policy = Policy(*(chance.randrange(4) for _ in range(4)))
        removed = {entry.path.name for entry in pruning.plan(where, policy, []).removed}

        assert not removed & {name for _, name in newest.values()}
