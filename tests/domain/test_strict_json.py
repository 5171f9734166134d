import json
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.strict_json import MAX_DEPTH, MAX_FAULTS, MAX_ITEMS, parse, pointer

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
integers = st.integers(min_value=-(2**63), max_value=2**63 - 1)
scalars = (
    st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


def faults_of(data, **bounds):
    with pytest.raises(InvalidRequestError) as caught:
        parse(data, **bounds)
    return [fault.pointer for fault in caught.value.faults]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" \n",
        b"{",
        b"[1,]",
        b"{'a':1}",
        b"{} {}",
        b"[01]",
        b"[+1]",
        b"[.5]",
        b"nul",
        b"\0" * 100,
        b'"a\nb"',
        b'"\\x"',
        b'"\\u12"',
        b'"unfinished',
        b'"unfinished\\',
        b"\xef\xbb\xbf{}",
        b'{"\xff":1}',
        b'"\xed\xa0\x80"',
        b"\x1f\x8b\x08\x00",
        "{}".encode("utf-16"),
        "{}".encode("utf-16-le"),
        "{}".encode("utf-32"),
    ],
)
def test_bytes_that_are_not_one_json_document_in_utf8_are_refused(data):
    assert faults_of(data) == [""]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"version":2,"version":2}', ["/version"]),
        (b'{"entries":[{"status":"a","\\u0073tatus":"b"}]}', ["/entries/0/status"]),
        (b'{"a":{"b":NaN},"a":1}', ["/a"]),
        (b'{"a":1,"a":1,"a":1}', ["/a"]),
        (b"NaN", [""]),
        (b"[1,Infinity,-Infinity]", ["/1", "/2"]),
        (b'{"x":1e999}', ["/x"]),
        (b'{"x":-1e999}', ["/x"]),
        (b'{"x":9223372036854775808}', ["/x"]),
        (b'{"x":-9223372036854775809}', ["/x"]),
        (b'{"x":[' + b"7" * 5_000 + b"]}", ["/x/0"]),
        (b'{"x":' + b"9" * 5_000_000 + b"}", ["/x"]),
        (b'{"title":"a\\ud800"}', ["/title"]),
        (b'["\\udc00\\ud800"]', ["/0"]),
        (b'["\\uDBFFx","\\uDC00"]', ["/0", "/1"]),
        (b'{"a\\udfff":"b"}', ["/a\\udfff"]),
        (b'{"a/b~":NaN}', ["/a~1b~0"]),
    ],
)
def test_a_value_that_is_refused_has_its_pointer(data, expected):
    assert faults_of(data) == expected


def test_at_most_a_hundred_faults_are_reported_in_document_order():
    data = b"[" + b",".join([b"NaN"] * 150) + b"]"

    assert faults_of(data) == [f"/{i}" for i in range(MAX_FAULTS)]


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
        b'{"tags":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b'["\\\\",' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"]",
    ],
)
def test_deep_nesting_is_refused_at_once(data):
    start = time.thread_time()

    assert faults_of(data) == [""]
    assert time.thread_time() - start < 1


@pytest.mark.parametrize(
    "data",
    [
        b"{" + b",".join(b'"k%d":1' % i for i in range(60_000)) + b"}",
        b"[" + b'"",' * 1_000_000 + b"1]",
        b"[" + b"[]," * 1_000_000 + b"1]",
        b"[" * 33 + b'"' + rb"\"" * 1_000_000,
    ],
)
def test_a_document_of_very_many_items_is_refused_cheaply(data):
    start = time.thread_time()
    tracemalloc.start()
    try:
        faults = faults_of(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert faults == [""]
    assert time.thread_time() - start < 1
    assert peak < 4 * len(data) + 1_000_000


def test_exactly_the_deepest_and_the_longest_document_is_read():
    deepest = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    longest = b"[" + b",".join([b"1"] * MAX_ITEMS) + b"]"

    assert (MAX_DEPTH, MAX_ITEMS) == (32, 20_000)
    assert json.dumps(parse(deepest)).encode() == deepest
    assert parse(longest) == [1] * MAX_ITEMS
    assert faults_of(longest[:-1] + b",1]") == [""]


def test_brackets_and_commas_inside_strings_count_for_nothing():
    document = {'{["\\': "[{," * 30_000, "\\": '"[' * 100}

    assert parse(json.dumps(document).encode()) == document


def test_text_that_only_looks_refused_is_let_through():
    assert parse(b'["\\\\ud800","NaN","\\ud83d\\ude00","\\u0000"]') == [
        "\\ud800",
        "NaN",
        "\U0001f600",
        "\0",
    ]


def test_the_ends_of_the_number_ranges_are_kept():
    assert parse(b"[-9223372036854775808,9223372036854775807,-0,1e308,1e-999]") == [
        -(2**63),
        2**63 - 1,
        0,
        1e308,
        0.0,
    ]


def test_a_pointer_shows_a_hostile_key_escaped_and_cut():
    assert pointer("/a", "\x1b[31m\u202e\ud800") == "/a/\\u001b[31m\\u202e\\ud800"
    assert pointer("", "k" * 1_000_000) == "/" + "k" * 100 + "…"
    assert pointer("/a", 3) == "/a/3"


@given(values, st.booleans())
def test_what_was_written_is_read_back(value, ascii_only):
    data = json.dumps(value, ensure_ascii=ascii_only).encode()

    assert parse(data) == value


@settings(max_examples=300)
@given(st.binary(max_size=60) | st.text('[]{}",:\\u0dD18tfn. e-', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused_and_never_read_otherwise_than_python_does(data):
    try:
        value = parse(data)
    except InvalidRequestError:
        return

    assert value == json.loads(data)


def test_a_large_document_is_read_in_seconds():
    entry = {"id": "m", "body": 'He said "no"\n' * 300, "tags": ["a", "b"], "revision": 1}
    data = json.dumps([entry] * 4_000).encode()

    start = time.thread_time()
    value = parse(data, max_items=100_000)

    assert time.thread_time() - start < 3
    assert len(value) == 4_000
