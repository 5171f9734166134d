"""A memory's content: its canonical form, its hash and what is told of it."""

import hashlib
import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.memory import (
    Collection,
    Content,
    Kind,
    Memory,
    Pair,
    Sensitivity,
    Status,
    Tombstone,
    Verification,
    canonical_json,
    describe,
    parse_content,
)
from codeflow_memory.domain.times import EARLIEST, LATEST

words = st.text(max_size=20)
lists = st.lists(words, max_size=3).map(tuple)
times = st.none() | st.integers(EARLIEST, LATEST - 1)
contents = st.builds(
    Content,
    kind=st.sampled_from(Kind),
    title=words,
    body=words,
    tags=lists,
    paths=lists,
    branches=lists,
    sources=lists,
    derived_from=st.lists(st.builds(Pair, words, st.integers(1, 9)), max_size=2).map(tuple),
    sensitivity=st.sampled_from(Sensitivity),
    key=st.none() | words,
    valid_from=times,
    valid_to=times,
)
ON_THE_WIRE = """
id revision repository_id project_id collection owner team_id run_id kind status title body tags
paths branches sources derived_from supersedes verification sensitivity key valid_from valid_to
trust origin review_reason conflicts_with superseded_by extractor created_at updated_at author
content_sha256
"""
PLAIN = Content(Kind.FACT, "Title", "Body")
MEMORY = Memory(
    memory_id="mem_1",
    revision=3,
    repository_id="rep_1",
    project_id="prj_1",
    scope_id=1,
    collection=Collection.PROJECT,
    owner="prn_1",
    team_id=None,
    run_id=None,
    status=Status.ACCEPTED,
    content=PLAIN,
    content_sha256=PLAIN.sha256(),
    author="prn_1",
    origin="user",
    trust=8_500,
    created_at=0,
    updated_at=1,
    supersedes=Pair("mem_0", 2),
    verification=Verification("c" * 40, 0, "prn_1", "valid"),
)


@given(contents)
def test_content_is_read_back_as_it_was_written(content):
    assert parse_content(content.canonical()) == content


@given(contents)
def test_the_hash_is_that_of_sorted_compact_json_in_utf_8(content):
    text = json.dumps(content.fields(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    assert content.canonical() == text
    assert content.sha256() == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("name", [field.name for field in fields(Content)])
def test_every_field_of_the_content_counts_for_the_hash(name):
    other = {
        "kind": Kind.SKILL,
        "derived_from": (Pair("mem_1", 1),),
        "sensitivity": Sensitivity.SECRET,
        "valid_from": 1,
        "valid_to": 1,
    }
    changed = {"title": "x", "body": "x", "key": "x"} | other

    assert replace(PLAIN, **{name: changed.get(name, ("x",))}).sha256() != PLAIN.sha256()


def test_equal_values_have_one_canonical_form():
    assert canonical_json({"b": [1, None], "a": "é"}) == '{"a":"é","b":[1,null]}'


def test_a_memory_is_described_with_every_field_of_the_wire():
    told = describe(MEMORY)

    assert told.keys() >= set(ON_THE_WIRE.split())
    assert told["supersedes"] == {"memory_id": "mem_0", "revision": 2}
    assert told["created_at"] == "1970-01-01T00:00:00.000000Z"
    assert told["verification"]["at"] == "1970-01-01T00:00:00.000000Z"


def test_a_tombstone_is_described_without_a_word_of_its_text():
    stone = replace(
        MEMORY,
        status=Status.DELETED,
        content=None,
        content_sha256=None,
        tombstone=Tombstone("prn_9", 5, "wrong", Sensitivity.SECRET),
    )

    told = describe(stone)

    assert (told["deleted_by"], told["reason"]) == ("prn_9", "wrong")
    assert told["deleted_at"] == "1970-01-01T00:00:00.000005Z"
    assert not told.keys() & {"title", "body", "tags", "key", "content_sha256", "sensitivity"}
    assert stone.sensitivity is Sensitivity.SECRET
    assert replace(stone, tombstone=None).sensitivity is Sensitivity.NORMAL
