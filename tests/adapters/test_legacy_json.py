import contextlib
import json
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeflow_memory.adapters import legacy_json
from codeflow_memory.adapters.legacy_json import parse_document
from codeflow_memory.adapters.legacy_records import (
    Document,
    LegacyApproval,
    LegacyEntry,
    LegacyFeedback,
    LegacyReceipt,
    LegacyVerification,
)
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.memory import Collection, Content, Kind, Pair, Status
from codeflow_memory.domain.times import parse_rfc3339

MARCH = "2026-03-01T08:00:00Z"
APRIL = "2026-04-01T09:00:00.123456Z"
COMMIT = "0123456789abcdef" * 2 + "01234567"


def entry_id(number):
    return f"mem_{number:026d}"


def entry(number, **changes):
    """One valid project entry; a change to ``None`` leaves the field out."""
    fields = {
        "id": entry_id(number),
        "revision": 3,
        "collection": "project",
        "repo": "/srv/code/shop",
        "projectId": "core",
        "status": "accepted",
        "title": "Cache the prices",
        "body": "Prices are cached for an hour.",
        "createdAt": MARCH,
        "updatedAt": APRIL,
    }
    return {k: v for k, v in (fields | changes).items() if v is not None}


def tombstone(number, **changes):
    gone = {"status": "deleted", "title": None, "body": None, "deletedAt": APRIL}
    return entry(number, **(gone | changes))


def receipt(number, **changes):
    fields = {
        "operationId": f"op-{number}",
        "entryId": entry_id(number),
        "revision": 3,
        "action": "update",
        "at": APRIL,
        "requestHash": "0f" * 32,
    }
    return fields | changes


def vote(number, **changes):
    return {"entryId": entry_id(number), "revision": 2, "helpful": True, "at": APRIL} | changes


def document(entries=(), receipts=(), feedback=(), **changes):
    fields = {"version": 2, "entries": entries, "receipts": receipts, "feedback": feedback}
    return {k: list(v) if not isinstance(v, int) else v for k, v in fields.items()} | changes


def encode(value):
    return json.dumps(value, ensure_ascii=False).encode()


def faults_of(value):
    with pytest.raises(InvalidRequestError) as caught:
        parse_document(value if isinstance(value, bytes) else encode(value))
    return [fault.pointer for fault in caught.value.faults]


APPROVAL = {"by": "r", "at": APRIL, "revision": 3, "decision": "approve"}
CHECK = {"commit": COMMIT, "at": APRIL, "by": "ci"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"color": "red"}, "color"),
        ({"id": None}, "id"),
        ({"id": "mem_short"}, "id"),
        ({"id": entry_id(1) + "\n"}, "id"),
        ({"id": "mem_٠١٢٣٤٥٦٧٨٩"}, "id"),
        ({"id": 7}, "id"),
        ({"revision": 0}, "revision"),
        ({"revision": 1.5}, "revision"),
        ({"revision": 2.0}, "revision"),
        ({"revision": True}, "revision"),
        ({"revision": "1"}, "revision"),
        ({"revision": 2**31}, "revision"),
        ({"revision": 2**63}, "revision"),
        ({"collection": "public"}, "collection"),
        ({"collection": ["project"]}, "collection"),
        ({"repo": ""}, "repo"),
        ({"repo": "r" * 4097}, "repo"),
        ({"projectId": ""}, "projectId"),
        ({"projectId": "p" * 201}, "projectId"),
        ({"status": "active"}, "status"),
        ({"status": "archived"}, "status"),
        ({"kind": ""}, "kind"),
        ({"title": None}, "title"),
        ({"title": "t" * 201}, "title"),
        ({"title": ["t"]}, "title"),
        ({"body": None}, "body"),
        ({"body": "b" * 16_385}, "body"),
        ({"tags": "a"}, "tags"),
        ({"tags": ["t"] * 17}, "tags"),
        ({"tags": ["t", ""]}, "tags/1"),
        ({"tags": ["t" * 65]}, "tags/0"),
        ({"paths": ["p"] * 65}, "paths"),
        ({"paths": ["../etc/passwd"]}, "paths/0"),
        ({"paths": ["a", "a/../../b"]}, "paths/1"),
        ({"paths": ["/etc/passwd"]}, "paths/0"),
        ({"paths": ["a\\b"]}, "paths/0"),
        ({"paths": ["a\0b"]}, "paths/0"),
        ({"paths": ["C:x"]}, "paths/0"),
        ({"paths": [""]}, "paths/0"),
        ({"paths": ["p" * 1025]}, "paths/0"),
        ({"branches": ["b"] * 17}, "branches"),
        ({"branches": ["b" * 256]}, "branches/0"),
        ({"sources": ["run:a"] * 65}, "sources"),
        ({"sources": ["ftp://x"]}, "sources/0"),
        ({"sources": ["run:"]}, "sources/0"),
        ({"sources": [" run:a"]}, "sources/0"),
        ({"sources": ["commit:0123"]}, "sources/0"),
        ({"sources": ["url:http://docs.example/"]}, "sources/0"),
        ({"sources": ["required:file:a"]}, "sources/0"),
        ({"sources": ["file:../a"]}, "sources/0"),
        ({"sources": [f"file:a/../../b@{COMMIT}#L1-L2"]}, "sources/0"),
        ({"sources": ["file:/etc/passwd"]}, "sources/0"),
        ({"sources": [f"file:@{COMMIT}"]}, "sources/0"),
        ({"sources": ["file:#L1-L2"]}, "sources/0"),
        ({"sources": ["file:a#L0-L2"]}, "sources/0"),
        ({"sources": ["file:a#L3-L2"]}, "sources/0"),
        ({"derivedFrom": [{"id": entry_id(2)}]}, "derivedFrom/0/revision"),
        ({"derivedFrom": [{"id": entry_id(9), "revision": 1}]}, "derivedFrom/0/id"),
        ({"derivedFrom": [{"id": entry_id(2), "revision": 999}]}, "derivedFrom/0/revision"),
        ({"derivedFrom": [{"id": entry_id(2), "revision": 1, "x": 1}]}, "derivedFrom/0/x"),
        ({"derivedFrom": [{"id": entry_id(2), "revision": 1}] * 33}, "derivedFrom"),
        ({"verification": {"at": APRIL}}, "verification/commit"),
        ({"verification": CHECK | {"commit": COMMIT.upper()}}, "verification/commit"),
        ({"verification": CHECK | {"by": ""}}, "verification/by"),
        ({"approvals": {}}, "approvals"),
        ({"approvals": [APPROVAL, 1]}, "approvals/1"),
        ({"approvals": [APPROVAL | {"revision": 4}]}, "approvals/0/revision"),
        ({"approvals": [APPROVAL | {"decision": "maybe"}]}, "approvals/0/decision"),
        ({"approvals": [APPROVAL | {"at": "yesterday"}]}, "approvals/0/at"),
        ({"approvals": [APPROVAL | {"comment": "c" * 4097}]}, "approvals/0/comment"),
        ({"status": "superseded"}, "supersededBy"),
        ({"status": "superseded", "supersededBy": entry_id(9)}, "supersededBy"),
        ({"status": "superseded", "supersededBy": entry_id(1)}, "supersededBy"),
        ({"supersededBy": entry_id(9)}, "supersededBy"),
        ({"collection": "private", "agent": "a"}, "runId"),
        ({"collection": "private", "runId": "r"}, "agent"),
        ({"collection": "team", "runId": "r", "agent": "a"}, "teamId"),
        ({"createdAt": "yesterday"}, "createdAt"),
        ({"createdAt": "2026-03-01T08:00:00"}, "createdAt"),
        ({"createdAt": "10000-01-01T00:00:00Z"}, "createdAt"),
        ({"createdAt": "9999-12-31T23:59:59-00:01"}, "createdAt"),
        ({"createdAt": "0001-01-01T00:00:00+00:01"}, "createdAt"),
        ({"createdAt": "٢٠٢٦-03-01T08:00:00Z"}, "createdAt"),
        ({"updatedAt": 1_700_000_000}, "updatedAt"),
        ({"status": "deleted", "title": None, "body": None}, "deletedAt"),
    ],
)
def test_one_fault_in_an_entry_is_reported_at_its_pointer(changes, field):
    faulty = document([entry(1, **changes), entry(2)])

    assert faults_of(faulty) == [f"/entries/0/{field}"]


@pytest.mark.parametrize("field", ["title", "body", "tags", "paths", "branches", "sources"])
def test_a_tombstone_with_text_is_refused(field):
    value = "x" if field in {"title", "body"} else []

    assert faults_of(document([tombstone(1, **{field: value})])) == [f"/entries/0/{field}"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"entryId": entry_id(9)}, "entryId"),
        ({"entryId": None}, "entryId"),
        ({"revision": 4}, "revision"),
        ({"operationId": ""}, "operationId"),
        ({"action": "archive"}, "action"),
        ({"at": "soon"}, "at"),
        ({"requestHash": "0F" * 32}, "requestHash"),
        ({"note": "x"}, "note"),
    ],
)
def test_one_fault_in_a_receipt_is_reported_at_its_pointer(changes, field):
    faulty = document([entry(1)], [receipt(1), receipt(1, **({"operationId": "other"} | changes))])

    assert faults_of(faulty) == [f"/receipts/1/{field}"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"entryId": entry_id(9)}, "entryId"),
        ({"revision": 4}, "revision"),
        ({"helpful": 1}, "helpful"),
        ({"note": "n" * 4097}, "note"),
        ({"runId": ""}, "runId"),
        ({"extra": 1}, "extra"),
    ],
)
def test_one_fault_in_feedback_is_reported_at_its_pointer(changes, field):
    assert faults_of(document([entry(1)], [], [vote(1, **changes)])) == [f"/feedback/0/{field}"]


@pytest.mark.parametrize(
    ("faulty", "expected"),
    [
        ([], [""]),
        (None, [""]),
        (b'{"version":2,', [""]),
        (document(version=3), ["/version"]),
        (document(version=True), ["/version"]),
        (encode(document()).replace(b"2", b"2.0"), ["/version"]),
        (encode(document()).replace(b'"version": 2', b'"version":2,"version":2'), ["/version"]),
        (document(extra=1), ["/extra"]),
        ({"version": 2}, ["/entries", "/receipts", "/feedback"]),
        (document() | {"entries": {}}, ["/entries"]),
        (document([1, None]), ["/entries/0", "/entries/1"]),
        (document([entry(1), entry(2), entry(1)]), ["/entries/2/id"]),
        (
            document([entry(1)], [receipt(1), receipt(1)]),
            ["/receipts/1/operationId"],
        ),
        (
            encode(document([entry(1)])).replace(b'"revision": 3', b'"revision": NaN'),
            ["/entries/0/revision"],
        ),
        (
            encode(document([entry(1)])).replace(b"Cache", b"\\ud800"),
            ["/entries/0/title"],
        ),
        (
            encode(document([entry(1)])).replace(b'"title"', b'"status":"proposed","title"'),
            ["/entries/0/status"],
        ),
    ],
)
def test_a_fault_of_the_document_is_reported_at_its_pointer(faulty, expected):
    assert faults_of(faulty) == expected


def test_faults_of_several_records_come_together_in_document_order():
    faulty = document(
        [entry(1, status="odd"), entry(2, derivedFrom=[{"id": entry_id(9), "revision": 1}])],
        [receipt(9)],
        [vote(2, helpful="yes")],
        version=9,
    )

    assert faults_of(faulty) == [
        "/version",
        "/entries/0/status",
        "/entries/1/derivedFrom/0/id",
        "/receipts/0/entryId",
        "/feedback/0/helpful",
    ]


def test_at_most_a_hundred_faults_are_reported():
    faulty = document(entry(i, status="odd") for i in range(150))

    assert faults_of(faulty) == [f"/entries/{i}/status" for i in range(100)]


def test_a_fault_repeats_no_text_of_the_document():
    told = "hunter2 and more"
    faulty = document([entry(1, status=told, title=[told], createdAt=told, sources=[told])])

    with pytest.raises(InvalidRequestError) as caught:
        parse_document(encode(faulty))

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "most"),
    [({}, 5_000), ({"collection": "private", "runId": "r", "agent": "a"}, 512)],
)
def test_one_entry_over_a_limit_is_refused_and_exactly_the_limit_is_not(fields, most):
    entries = [entry(i, body="b", **fields) for i in range(most)]
    spared = [
        entry(most, kind="trace", **fields),
        tombstone(most + 1, **fields),
        entry(most + 2, **(fields | {"projectId": "other"})),
        entry(most + 3, **(fields | {"repo": "/srv/code/other"})),
    ]

    assert len(parse_document(encode(document(entries + spared))).entries) == most + 4
    with pytest.raises(InvalidRequestError, match=f"{most}") as caught:
        parse_document(encode(document([*entries, *spared, entry(most + 4, **fields)])))
    assert [f.pointer for f in caught.value.faults] == [f"/entries/{most + 4}"]


def test_private_and_team_entries_of_a_run_count_together():
    run = {"runId": "r", "agent": "a"}
    entries = [entry(i, collection="private", **run) for i in range(300)]
    entries += [entry(i, collection="team", teamId="t", **run) for i in range(300, 513)]

    assert faults_of(document(entries)) == ["/entries/512"]


def test_a_scope_over_its_bytes_is_refused(monkeypatch):
    monkeypatch.setattr(legacy_json, "MAX_BYTES", 40_000)
    run = {"agent": "a", "body": "b" * 16_000}
    spread = [
        entry(1, **run),
        entry(2, **run),
        entry(3, collection="private", runId="r1", **run),
        entry(4, collection="private", runId="r2", **run),
        entry(5, collection="team", teamId="a", runId="r1", **run),
        entry(6, collection="team", teamId="b", runId="r1", **run),
    ]

    assert len(parse_document(encode(document(spread))).entries) == 6
    over = [*spread, entry(7, collection="private", runId="r3", **run)]
    assert faults_of(document(over)) == ["/entries/6"]


FULL = document(
    [
        entry(
            1,
            kind="decision",
            title="Cafe\u0301 \u202e\0 <tag>",
            body="",
            tags=["HTTP"],
            paths=["src/**", "a..b/c"],
            branches=["main", f"commit:{COMMIT}"],
            sources=[
                "run:r 1",
                f"commit:{COMMIT}",
                "file:src/a.py",
                f"file:src/@scope/a#b.py@{COMMIT}#L3-L7",
                "session:s",
                "message:m",
                "url:https://docs.example/a?b=c",
            ],
            derivedFrom=[{"id": entry_id(2), "revision": 1}],
            verification=CHECK,
            approvals=[APPROVAL, APPROVAL | {"decision": "reject", "comment": "no", "revision": 1}],
        ),
        tombstone(2, derivedFrom=[{"id": entry_id(1), "revision": 3}]),
        entry(
            3,
            collection="team",
            teamId="t",
            runId="r",
            agent="a",
            kind="note",
            status="superseded",
            supersededBy=entry_id(1),
            createdAt="2026-03-01T10:30:00+02:30",
        ),
    ],
    [receipt(1), receipt(2, action="delete")],
    [vote(1), vote(2, helpful=False, runId="r", note="gone")],
    version=1,
)
AT_MARCH = parse_rfc3339(MARCH)
AT_APRIL = parse_rfc3339(APRIL)


def test_a_valid_document_becomes_records_that_keep_all_it_says():
    raw = FULL["entries"][0]
    common = {"repo": "/srv/code/shop", "project_id": "core", "revision": 3}
    times = {"created_at": AT_MARCH, "updated_at": AT_APRIL}
    second, first = Pair(entry_id(2), 1), Pair(entry_id(1), 3)

    assert parse_document(encode(FULL)) == Document(
        version=1,
        entries=(
            LegacyEntry(
                memory_id=entry_id(1),
                collection=Collection.PROJECT,
                run_id=None,
                agent=None,
                team_id=None,
                status=Status.ACCEPTED,
                kind="decision",
                content=Content(
                    kind=Kind.DECISION,
                    title=raw["title"],
                    body="",
                    tags=("HTTP",),
                    paths=("src/**", "a..b/c"),
                    branches=tuple(raw["branches"]),
                    sources=tuple(raw["sources"]),
                    derived_from=(second,),
                ),
                derived_from=(second,),
                verification=LegacyVerification(COMMIT, AT_APRIL, "ci"),
                approvals=(
                    LegacyApproval("r", AT_APRIL, 3, "approve", None),
                    LegacyApproval("r", AT_APRIL, 1, "reject", "no"),
                ),
                superseded_by=None,
                deleted_at=None,
                **common,
                **times,
            ),
            LegacyEntry(
                memory_id=entry_id(2),
                collection=Collection.PROJECT,
                run_id=None,
                agent=None,
                team_id=None,
                status=Status.DELETED,
                kind=None,
                content=None,
                derived_from=(first,),
                verification=None,
                approvals=(),
                superseded_by=None,
                deleted_at=AT_APRIL,
                **common,
                **times,
            ),
            LegacyEntry(
                memory_id=entry_id(3),
                collection=Collection.TEAM,
                run_id="r",
                agent="a",
                team_id="t",
                status=Status.SUPERSEDED,
                kind="note",
                content=Content(
                    kind=Kind.GUIDANCE,
                    title="Cache the prices",
                    body="Prices are cached for an hour.",
                ),
                derived_from=(),
                verification=None,
                approvals=(),
                superseded_by=entry_id(1),
                deleted_at=None,
                **common,
                **times,
            ),
        ),
        receipts=(
            LegacyReceipt("op-1", entry_id(1), 3, "update", AT_APRIL, "0f" * 32),
            LegacyReceipt("op-2", entry_id(2), 3, "delete", AT_APRIL, "0f" * 32),
        ),
        feedback=(
            LegacyFeedback(entry_id(1), 2, helpful=True, at=AT_APRIL, run_id=None, note=None),
            LegacyFeedback(entry_id(2), 2, helpful=False, at=AT_APRIL, run_id="r", note="gone"),
        ),
    )


def test_entries_at_the_ends_of_every_range_are_valid():
    widest = entry(
        1,
        id="mem_" + "Z" * 40,
        revision=2**31 - 1,
        repo="r" * 4096,
        projectId="p" * 200,
        title="𝄞" * 200,
        body="字" * 16_384,
        tags=["t" * 64] * 16,
        paths=["p" * 1024] * 64,
        branches=["b" * 255] * 16,
        sources=["session:s"] * 64,
        derivedFrom=[{"id": entry_id(2), "revision": 1}] * 32,
        createdAt="0001-01-01T00:00:00Z",
        updatedAt="9999-12-31T23:59:59.999999Z",
    )
    narrowest = entry(2, repo="r", projectId="p", title="", body="", tags=[], approvals=[])

    assert len(parse_document(encode(document([widest, narrowest]))).entries) == 2
    assert parse_document(encode(document())) == Document(2, (), (), ())


GOOD = encode(FULL)
places = st.integers(0, len(GOOD) - 1)
edits = st.tuples(
    places,
    st.integers(0, 12),
    st.binary(max_size=4)
    | st.sampled_from([b"NaN", b"[" * 40, b"1e999", b"null", b'"', b"\\ud800", b"{}", b"-1"]),
)


@settings(max_examples=300)
@given(st.lists(edits, min_size=1, max_size=3))
def test_no_mutation_of_the_bytes_raises_anything_but_a_refusal(changes):
    data = GOOD
    for start, length, put in changes:
        data = data[:start] + put + data[start + length :]

    with contextlib.suppress(InvalidRequestError):
        assert isinstance(parse_document(data), Document)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@settings(max_examples=100)
@given(st.data(), json_values)
def test_no_value_in_any_place_raises_anything_but_a_refusal(data, value):
    changed = deepcopy(FULL)
    node, key = {"": changed}, ""
    while isinstance(node[key], dict | list) and node[key] and data.draw(st.booleans()):
        node = node[key]
        keys = list(node) if isinstance(node, dict) else range(len(node))
        key = data.draw(st.sampled_from(keys))
    node[key] = value
    whole = value if key == "" else changed

    with contextlib.suppress(InvalidRequestError):
        assert isinstance(parse_document(json.dumps(whole).encode()), Document)
