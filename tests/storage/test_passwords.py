import pytest

from codeflow_memory.storage import passwords


def test_a_person_has_one_password_and_a_later_one_takes_its_place(tx):
    assert passwords.find(tx, "prn_1") is None

    passwords.put(tx, "prn_1", "first", 1)
    passwords.put(tx, "prn_1", "second", 2)

    assert passwords.find(tx, "prn_1") == "second"


def test_nobody_has_a_password(tx, constraint_error):
    with pytest.raises(constraint_error), tx.attempt():
        passwords.put(tx, "prn_nobody", "first", 1)


def test_a_hash_that_was_replaced_meanwhile_is_not_renewed(tx):
    passwords.put(tx, "prn_1", "first", 1)

    assert not passwords.renew(tx, "prn_1", "other", "stronger")
    assert passwords.renew(tx, "prn_1", "first", "stronger")

    assert passwords.find(tx, "prn_1") == "stronger"


def test_a_password_goes_once_and_for_all(tx):
    passwords.put(tx, "prn_1", "first", 1)

    passwords.delete(tx, "prn_1")
    passwords.delete(tx, "prn_1")

    assert passwords.find(tx, "prn_1") is None


def test_every_statement_goes_to_its_row_by_the_key(asked, plan):
    passwords.find(asked, "prn_1")
    passwords.renew(asked, "prn_1", "old", "new")
    passwords.delete(asked, "prn_1")

    steps = [plan(sql, parameters) for sql, parameters in asked.statements]

    assert len(steps) == 3
    assert all("SEARCH passwords USING INDEX" in step for step in steps)
