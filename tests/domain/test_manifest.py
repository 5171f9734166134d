"""The hashes of a manifest: what they cover and what they leave out."""

import hashlib

import pytest

from codeflow_memory.domain.manifest import seal, sha256, whole

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
