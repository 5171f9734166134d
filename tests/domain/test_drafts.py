import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeflow_memory.domain.drafts import MAX_FAULTS, parse_changes, parse_draft
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.memory import Content, Kind, Pair, Sensitivity
from codeflow_memory.domain.times import parse_rfc3339

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DRAFT = {"kind": "fact", "title": "A title", "body": "A body."}
PAIR = {"memory_id": "mem_01ARZ3NDEKTSV4RRFFQ69G5FAV", "revision": 1}


def faults(**changes: object) -> list[tuple[str, str]]:
    with pytest.raises(InvalidRequestError) as refused:
        parse_draft({**DRAFT, **changes})
    return [(fault.pointer, fault.detail) for fault in refused.value.faults]


def pointers(**changes: object) -> list[str]:
    return [pointer for pointer, _ in faults(**changes)]


@pytest.mark.parametrize("name", ["kind", "title", "body"])
def test_a_required_field_is_named(name):
    with pytest.raises(InvalidRequestError) as refused:
        parse_draft({k: v for k, v in DRAFT.items() if k != name})

    assert [(f.pointer, f.detail) for f in refused.value.faults] == [(f"/{name}", "is required")]


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("title", "", "/title"),
        ("title", " \u3000", "/title"),
        ("title", "one\ntwo", "/title"),
        ("title", "one\ttwo", "/title"),
        ("title", None, "/title"),
        ("title", 7, "/title"),
        ("body", "", "/body"),
        ("body", "\n\n", "/body"),
        ("body", "b" * 100_000, "/body"),
        ("body", ["b"], "/body"),
        ("body", "bell \x07", "/body"),
        ("body", "a\r\nb", "/body"),
        ("body", "lone \ud800", "/body"),
        ("kind", "rumour", "/kind"),
        ("kind", None, "/kind"),
        ("kind", ["fact"], "/kind"),
        ("kind", {}, "/kind"),
        ("sensitivity", "odd", "/sensitivity"),
        ("sensitivity", None, "/sensitivity"),
        ("sensitivity", True, "/sensitivity"),
        ("tags", "tag", "/tags"),
        ("tags", None, "/tags"),
        ("tags", ["ok", "t" * 65], "/tags/1"),
        ("tags", [""], "/tags/0"),
        ("tags", ["a\nb"], "/tags/0"),
        ("tags", [3], "/tags/0"),
        ("paths", ["fine.py", "/etc/passwd"], "/paths/1"),
        ("paths", ["../up"], "/paths/0"),
        ("paths", ["a\0b"], "/paths/0"),
        ("paths", ["C:\\x"], "/paths/0"),
        ("paths", [None], "/paths/0"),
        ("branches", ["commit:abc"], "/branches/0"),
        ("branches", ["two words"], "/branches/0"),
        ("branches", ["a..b"], "/branches/0"),
        ("branches", ["-x"], "/branches/0"),
        ("branches", [False], "/branches/0"),
        ("sources", ["run:r1", "file:../x"], "/sources/1"),
        ("sources", ["run:a\u202eb"], "/sources/0"),
        ("sources", [{}], "/sources/0"),
        ("derived_from", PAIR, "/derived_from"),
        ("derived_from", ["mem_1"], "/derived_from/0"),
        ("derived_from", [{"revision": 1}], "/derived_from/0/memory_id"),
        ("derived_from", [{**PAIR, "memory_id": 3}], "/derived_from/0/memory_id"),
        ("derived_from", [PAIR, {**PAIR, "revision": 0}], "/derived_from/1/revision"),
        ("derived_from", [{**PAIR, "revision": True}], "/derived_from/0/revision"),
        ("derived_from", [{**PAIR, "revision": 1.0}], "/derived_from/0/revision"),
        ("derived_from", [{**PAIR, "revision": 2**31}], "/derived_from/0/revision"),
        ("derived_from", [{"memory_id": "mem_1"}], "/derived_from/0/revision"),
        ("derived_from", [{**PAIR, "note": 1}], "/derived_from/0/note"),
        ("key", "", "/key"),
        ("key", 5, "/key"),
        ("valid_from", "yesterday", "/valid_from"),
        ("valid_from", "2026-01-01T00:00:00", "/valid_from"),
        ("valid_from", 1_700_000_000, "/valid_from"),
        ("valid_to", "2026-13-01T00:00:00Z", "/valid_to"),
        ("valid_to", "9999-12-31T23:59:59-01:00", "/valid_to"),
        ("valid_from", "0001-01-01T00:00:00+01:00", "/valid_from"),
        ("status", "accepted", "/status"),
        ("supersedes", None, "/supersedes"),
        ("a/b~c", 1, "/a~1b~0c"),
        ("\u202e\ud800", 1, "/\\u{202E}\\u{D800}"),
    ],
)
def test_a_fault_points_at_its_field(field, value, pointer):
    assert pointers(**{field: value}) == [pointer]


@pytest.mark.parametrize(
    ("field", "maximum", "made", "pointer"),
    [
        ("title", 200, lambda n: "字" * n, "/title"),
        ("body", 16_384, lambda n: "字" * n, "/body"),
        ("tags", 16, lambda n: [f"t{i}" for i in range(n)], "/tags"),
        ("tags", 64, lambda n: ["字" * n], "/tags/0"),
        ("paths", 64, lambda n: [f"p/{i}" for i in range(n)], "/paths"),
        ("branches", 16, lambda n: [f"b{i}" for i in range(n)], "/branches"),
        ("branches", 255, lambda n: ["b" * n], "/branches/0"),
        ("sources", 64, lambda n: [f"session:s{i}" for i in range(n)], "/sources"),
        (
            "derived_from",
            32,
            lambda n: [PAIR | {"revision": i + 1} for i in range(n)],
            "/derived_from",
        ),
        (
            "derived_from",
            200,
            lambda n: [PAIR | {"memory_id": "m" * n}],
            "/derived_from/0/memory_id",
        ),
        ("key", 200, lambda n: "字" * n, "/key"),
    ],
)
def test_what_is_at_its_maximum_is_read_and_one_more_is_refused(field, maximum, made, pointer):
    """The limits of 01 §2; those of one branch and one id are git's and this server's own."""
    assert parse_draft({**DRAFT, field: made(maximum)}).fields()[field] == made(maximum)
    assert pointers(**{field: made(maximum + 1)}) == [pointer]


def test_all_faults_are_told_at_once():
    found = pointers(title="", paths=["a", "/b"], derived_from=[{**PAIR, "revision": 0}], colour=1)

    assert found == ["/title", "/paths/1", "/derived_from/0/revision", "/colour"]


def test_a_hidden_character_is_named_with_its_offset():
    assert faults(body="字\u202ex\u200b") == [
        ("/body", "U+202E at offset 1 is not allowed"),
        ("/body", "U+200B at offset 3 is not allowed"),
    ]
    assert faults(paths=["a/\u00adb"]) == [("/paths/0", "U+00AD at offset 2 is not allowed")]


def test_marks_that_only_normalising_multiplies_are_found():
    assert pointers(body="a" + "\u0344" * 5) == ["/body"]


def test_the_number_of_faults_is_bounded():
    assert len(faults(**{f"field{i}": 1 for i in range(500)})) == MAX_FAULTS


def test_no_fault_repeats_the_text():
    for _, detail in faults(title="needle\u202e", key="needle" * 50, sources=["needle"]):
        assert "needle" not in detail


def test_everything_at_its_limit_is_read():
    raw = {
        "kind": "skill",
        "title": "t" * 200,
        "body": "字" * 16_384,
        "tags": ["t" * 64] * 16,
        "paths": ["src/auth/**", "*.toml", "a..b/c", "..."] * 16,
        "branches": ["main", "release/*", f"commit:{COMMIT}", "b" * 255] * 4,
        "sources": [f"required:file:src/c.py@{COMMIT}#L1-L2", "run:r"] * 32,
        "derived_from": [{**PAIR, "revision": 2**31 - 1}] * 32,
        "sensitivity": "sensitive",
        "key": "k" * 200,
        "valid_from": "2026-01-01T00:00:00+01:00",
        "valid_to": "2025-12-31T23:00:00Z",
    }

    content = parse_draft(raw)

    fields = content.fields()
    assert {k: v for k, v in fields.items() if not k.startswith("valid")} == {
        k: v for k, v in raw.items() if not k.startswith("valid")
    }
    assert content.valid_from == content.valid_to == parse_rfc3339("2025-12-31T23:00:00Z")


def test_what_is_left_out_has_its_default():
    assert parse_draft(DRAFT) == Content(Kind.FACT, "A title", "A body.")


def test_text_is_normalised_and_measured_afterwards():
    decomposed = unicodedata.normalize("NFD", "é")

    content = parse_draft(
        {**DRAFT, "title": decomposed * 200, "tags": [decomposed], "paths": [decomposed]}
    )

    assert (content.title, content.tags, content.paths) == ("é" * 200, ("é",), ("é",))


def test_null_is_a_value_of_what_may_be_absent():
    content = parse_draft({**DRAFT, "key": None, "valid_from": None, "valid_to": None})

    assert (content.key, content.valid_from, content.valid_to) == (None, None, None)


def test_a_period_ends_after_it_begins():
    period = {"valid_from": "2026-02-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}

    assert pointers(**period) == ["/valid_to"]


CONTENT = Content(
    Kind.FACT,
    "A title",
    "A body.",
    tags=("one",),
    derived_from=(Pair(PAIR["memory_id"], 1),),
    valid_from=parse_rfc3339("2026-02-01T00:00:00Z"),
)


def test_an_edit_changes_what_it_gives():
    edited = parse_changes(CONTENT, {"title": "Another", "tags": [], "sensitivity": "secret"})

    assert edited.fields() == {
        **CONTENT.fields(),
        "title": "Another",
        "tags": [],
        "sensitivity": Sensitivity.SECRET,
    }


def test_an_empty_edit_is_equal():
    assert parse_changes(CONTENT, {}) == CONTENT


@pytest.mark.parametrize("name", ["status", "trust", "owner", "project_id", "collection", "id"])
def test_an_edit_of_what_the_server_sets_is_refused(name):
    with pytest.raises(InvalidRequestError, match=f"/{name}"):
        parse_changes(CONTENT, {name: "x"})


def test_an_edit_is_checked_against_what_stays():
    with pytest.raises(InvalidRequestError, match="/valid_to"):
        parse_changes(CONTENT, {"valid_to": "2026-01-01T00:00:00Z"})
    assert parse_changes(CONTENT, {"valid_from": None}).valid_from is None


@given(
    st.dictionaries(
        st.sampled_from([*CONTENT.fields(), "other"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["memory_id", "revision"]), inner, max_size=2)
            ),
            max_leaves=6,
        ),
        max_size=6,
    )
)
@settings(max_examples=150)
def test_any_json_is_read_or_refused(raw):
    try:
        content = parse_draft({**DRAFT, **raw})
    except InvalidRequestError:
        return
    assert parse_draft(content.fields()) == content
    assert parse_changes(content, content.fields()) == content
