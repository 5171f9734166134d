"""Audit: a chain in which every edit shows."""

import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeflow_memory.storage import audit
from codeflow_memory.storage.audit import Entry


def sign(epoch, previous, text):
    return hashlib.sha256(f"key {epoch} {previous} {text}".encode()).hexdigest()


def fill(tx, rows=5):
    for number in range(rows):
        entry = Entry(
            at=number,
            principal_id="prn_1",
            origin="user",
            batch_id="bat_1",
            action="create",
            item=f"mem_{number}",
            scope_id=number,
            to_revision=1,
        )
        assert audit.append(tx, entry, sign) == number + 1


def test_a_chain_that_nobody_touched_is_sound(tx):
    assert audit.first_fault(tx, sign) is None
    fill(tx)

    assert audit.first_fault(tx, sign) is None
    assert audit.count(tx) == 5


@pytest.mark.parametrize(
    ("edit", "sequence", "fault"),
    [
        ("UPDATE audit SET item = 'mem_9' WHERE sequence = 3", 3, "changed"),
        ("UPDATE audit SET reason = 'x' WHERE sequence = 5", 5, "changed"),
        ("UPDATE audit SET scope_id = NULL WHERE sequence = 1", 1, "changed"),
        ("UPDATE audit SET hash = previous_hash WHERE sequence = 2", 2, "changed"),
        ("UPDATE audit SET previous_hash = '' WHERE sequence = 2", 2, "does not follow"),
        ("DELETE FROM audit WHERE sequence = 2", 2, "missing"),
        ("DELETE FROM audit WHERE sequence = 1", 1, "missing"),
        ("DELETE FROM audit WHERE sequence = 5", 5, "at the end"),
        ("DELETE FROM audit", 1, "at the end"),
        ("UPDATE audit SET sequence = 6 WHERE sequence = 5", 5, "missing"),
        ("UPDATE store SET audit_count = 4", 6, "at the end"),
    ],
)
def test_every_edit_shows_with_its_place(tx, edit, sequence, fault):
    fill(tx)
    tx.execute(edit)

    found = audit.first_fault(tx, sign)

    assert found is not None
    assert found[0] == sequence
    assert fault in found[1]


def test_two_rows_that_changed_places_show(tx):
    fill(tx)
    for old, new in ((2, 90), (3, 2), (90, 3)):
        tx.execute(
            "UPDATE audit SET sequence = :new WHERE sequence = :old", {"old": old, "new": new}
        )

    assert audit.first_fault(tx, sign) is not None


def test_another_key_verifies_nothing(tx):
    fill(tx)

    assert audit.first_fault(tx, lambda e, p, t: sign(e, p, f"other {t}")) == (
        1,
        "the row was changed",
    )


def test_rows_of_an_earlier_epoch_are_checked_for_their_order_alone(tx):
    fill(tx)
    tx.execute("UPDATE store SET audit_epoch = 2")
    later = Entry(7, "system", "system", "bat_2", audit.KEY_CHANGE, "local")
    audit.append(tx, later, lambda e, p, t: sign(e, p, f"new {t}"))

    assert audit.first_fault(tx, lambda e, p, t: sign(e, p, f"new {t}")) is None
    tx.execute("DELETE FROM audit WHERE sequence = 2")
    assert audit.first_fault(tx, lambda e, p, t: sign(e, p, f"new {t}")) == (
        2,
        "the row is missing",
    )


def test_rows_are_not_passed_off_as_an_earlier_epochs(tx):
    fill(tx)
    tx.execute("UPDATE audit SET item = 'x' WHERE sequence = 2")
    tx.execute("UPDATE store SET audit_epoch = 2")
    assert audit.first_fault(tx, sign) == (6, "rows at the end are missing")

    audit.append(tx, Entry(7, "prn_1", "user", "bat_2", "create", "mem_7"), sign)
    assert audit.first_fault(tx, sign) == (6, "the epoch does not begin with a change of keys")


@pytest.mark.parametrize("epoch", [0, 2])
def test_a_row_is_not_changed_under_the_name_of_another_epoch(tx, epoch):
    fill(tx)
    tx.execute("UPDATE audit SET item = 'x', epoch = :epoch WHERE sequence = 3", {"epoch": epoch})

    assert audit.first_fault(tx, sign) == (3, "the row was changed")


def test_a_chain_longer_than_a_page_is_followed(tx, monkeypatch):
    monkeypatch.setattr(audit, "_PAGE", 2)
    fill(tx, rows=6)
    assert audit.first_fault(tx, sign) is None

    tx.execute("UPDATE audit SET item = 'x' WHERE sequence = 6")

    assert audit.first_fault(tx, sign) == (6, "the row was changed")


NAMES = ("at", "principal_id", "origin", "batch_id", "action", "item", "to_revision", "to_status")


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 5), st.sampled_from(NAMES))
def test_whatever_field_of_whatever_row_is_changed_it_shows(engine, sequence, name):
    with engine.write() as tx:
        tx.execute("DELETE FROM audit")
        tx.execute("UPDATE store SET audit_count = 0, audit_head = ''")
        fill(tx)
        tx.execute(
            f"UPDATE audit SET {name} = '77' WHERE sequence = :sequence",  # noqa: S608 - of ours
            {"sequence": sequence},
        )

        assert audit.first_fault(tx, sign) == (sequence, "the row was changed")


def test_the_newest_change_is_told_and_its_loss_is_no_failure(tx):
    assert audit.newest(tx) == 0
    fill(tx)
    assert audit.newest(tx) == 4
    tx.execute("DELETE FROM audit WHERE sequence = 5")

    assert audit.newest(tx) == 0


def test_the_newest_change_is_found_without_the_others(asked, plan):
    audit.newest(asked)

    steps = plan(*asked.statements[0])
    assert "SEARCH a USING" in steps
    assert "SCAN a" not in steps
