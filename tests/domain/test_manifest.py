"""The hashes of a manifest: what they cover and what they leave out."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.manifest import for_others, seal, sha256, whole
from codeflow_memory.domain.memory import canonical_json

RECORD = {"id": "sel_1", "created_at": "now", "entries": [{"memory_id": "mem_1", "score": 1.5}]}
FREE = {"query": "walrus", "terms": ["walrus"], "reasons": {}}


def test_id_and_time_are_left_out_of_the_hash():
    other = RECORD | {"id": "sel_2", "created_at": "later"}

    assert seal(RECORD, FREE, "text").hashes == seal(other, FREE, "text").hashes


@pytest.mark.parametrize(
    "changed",
    [
        (RECORD | {"entries": []}, FREE, "text"),
        (RECORD | {"more": None}, FREE, "text"),
        (RECORD, FREE | {"query": "zebra"}, "text"),
        (RECORD, FREE, "other text"),
    ],
)
def test_everything_else_counts_for_the_hash(changed):
    first = seal(RECORD, FREE, "text").hashes
    assert seal(*changed).hashes.manifest != first.manifest


def test_the_order_of_names_makes_no_difference():
    backwards = dict(reversed(RECORD.items()))

    assert seal(backwards, dict(reversed(FREE.items())), "t") == seal(RECORD, FREE, "t")


def test_the_whole_verifies_without_the_free_text():
    hashes = seal(RECORD, FREE, "text").hashes

    assert whole(RECORD, hashes.free, hashes.context) == hashes.manifest
    assert hashes.context == hashlib.sha256(b"text").hexdigest() == sha256("text")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.text() | st.sampled_from(["id", "created_at"]), values))
def test_what_is_stored_and_hashed_is_the_canonical_json_of_the_whole(record):
    sealed = seal(record, {"query": "a"}, "text")

    assert sealed.record == canonical_json(record)
    assert sealed.free == canonical_json({"query": "a"})
    kept = {name: value for name, value in record.items() if name not in {"id", "created_at"}}
    sums = {"free_sha256": sha256(sealed.free), "context_sha256": sha256("text")}
    assert sealed.hashes.manifest == sha256(canonical_json(sums | {"record": kept}))
    assert sealed.hashes.manifest == whole(record, **sums)


WHOLE = {
    "id": "sel_1",
    "filters": {"removed": {"path": 3}, "branch": "known"},
    "entries": [{"memory_id": "mem_a", "score": 2.5}],
    "omitted": [{"memory_id": "mem_b", "reason": "entries", "score": 1.5, "channels": {}}],
    "truncated": {"seeds": True},
}


def reasons(seed, entity):
    hops = [{"type": "derived_from", "entity": entity}, {"type": "cites", "entity": "a.py"}]
    return {"type": "connection", "seed": seed, "boost": 0.3, "hops": hops}


def test_others_read_no_number_that_rests_on_what_the_caller_alone_saw():
    term = {"type": "term", "term": "walrus", "fields": ["body"]}
    free = {"query": "walrus", "reasons": {"mem_a": [term, reasons("mem_b", "mem_a")]}}

    record, text = for_others(WHOLE, free)

    assert record["entries"] == [{"memory_id": "mem_a", "score": None}]
    assert record["omitted"] == [{"memory_id": "mem_b", "reason": "entries"}]
    assert (record["filters"], record["truncated"]) == ({"branch": "known"}, {})
    kept = [{k: v for k, v in reasons("mem_b", "mem_a").items() if k != "boost"}]
    assert text["reasons"] == {"mem_a": [term, *kept]}
    assert WHOLE["entries"][0]["score"] == 2.5


@pytest.mark.parametrize(("seed", "entity"), [("mem_hidden", "mem_a"), ("mem_b", "mem_hidden")])
def test_a_connection_over_what_is_not_listed_is_left_out(seed, entity):
    _, text = for_others(WHOLE, {"reasons": {"mem_a": [reasons(seed, entity)]}})

    assert text["reasons"] == {"mem_a": []}
