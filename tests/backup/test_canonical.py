"""Canonical JSON: a value has one spelling, and every other is refused."""

import json

import pytest
from codeflow_backup import canonical
from codeflow_backup.canonical import MAX_INTEGER, Fields
from codeflow_backup.errors import DamagedError
from hypothesis import assume, given
from hypothesis import strategies as st

plain = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E, exclude_characters='"\\'))
values = st.recursive(
    st.one_of(plain, st.integers(0, MAX_INTEGER)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(plain, inner, max_size=4)),
    max_leaves=12,
)


@given(values)
def test_a_value_is_read_as_it_was_written(value):
    assert canonical.parse(canonical.encode(value), "it") == value


@given(values, st.data())
def test_any_other_byte_is_another_value_or_refused(value, data):
    written = canonical.encode(value)
    at = data.draw(st.integers(0, len(written) - 1))
    changed = written[:at] + data.draw(st.binary(max_size=2)) + written[at + 1 :]
    assume(changed != written)

    try:
        found = canonical.parse(changed, "it")
    except DamagedError:
        return
    assert canonical.encode(found) == changed
    assert found != value


@given(st.dictionaries(plain, values, min_size=2, max_size=4), st.randoms())
def test_another_order_or_space_is_refused(value, rng):
    written = canonical.encode(value)
    members = list(value.items())
    rng.shuffle(members)
    for other in (
        json.dumps(dict(members), separators=(",", ":")),
        json.dumps(value),
        f" {written}",
    ):
        if other.encode() != written:
            with pytest.raises(DamagedError, match="it "):
                canonical.parse(other.encode(), "it")


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        (lambda fields: fields.integer("none"), "no none"),
        (lambda fields: fields.integer("text"), "text of it"),
        (lambda fields: fields.integer("number", 0, 4), "in 0 to 4"),
        (lambda fields: fields.octets("text", 2), "text of it"),
        (lambda fields: fields.octets("number", 1), "number of it"),
        (lambda fields: fields.end(), "unknown member"),
    ],
)
def test_a_member_is_of_its_form_or_the_sentence_names_it(taken, said):
    with pytest.raises(DamagedError, match=said):
        taken(Fields({"number": 5, "text": "ab"}, "it"))


@pytest.mark.parametrize("value", [[], "text", 5, [{}]])
def test_only_an_object_has_members(value):
    with pytest.raises(DamagedError, match="object"):
        Fields(value, "it")
