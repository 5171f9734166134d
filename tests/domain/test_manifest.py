"""The hashes of a manifest: what they cover and what they leave out."""

import hashlib

import pytest

from codeflow_memory.domain.manifest import for_others, seal, sha256, whole

RECORD = {"id": "sel_1", "created_at": "now", "entries": [{"memory_id": "mem_1", "score": 1.5}]}
FREE = {"query": "walrus", "terms": ["walrus"], "reasons": {}}


def test_id_and_time_are_left_out_of_the_hash():
    other = RECORD | {"id": "sel_2", "created_at": "later"}

    assert seal(RECORD, FREE, "text") == seal(other, FREE, "text")


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
    assert seal(*changed).manifest != seal(RECORD, FREE, "text").manifest


def test_the_order_of_names_makes_no_difference():
    backwards = dict(reversed(RECORD.items()))

    assert seal(backwards, dict(reversed(FREE.items())), "t") == seal(RECORD, FREE, "t")


def test_the_whole_verifies_without_the_free_text():
    hashes = seal(RECORD, FREE, "text")

    assert whole(RECORD, hashes.free, hashes.context) == hashes.manifest
    assert hashes.context == hashlib.sha256(b"text").hexdigest() == sha256("text")


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
