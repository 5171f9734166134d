"""A call that is tried again does what it says once, whatever becomes of its connections."""

import json
import socket

import pytest

from codeflow_memory_client import (
    ConnectionLostError,
    ProblemError,
    Retry,
    UnexpectedAnswerError,
)
from codeflow_memory_client.asking import Ask
from codeflow_memory_client.problems import BusyError, NotFoundError, RateLimitedError
from codeflow_memory_client.retrying import is_passing

from .breaking import Break, answer

URN = "urn:codeflow-memory:problem:"


def refusal(code, status, *headers):
    body = json.dumps({"type": URN + code, "title": "T", "status": status, "detail": "D"})
    return answer(f"{status} Refused", *headers, body=body)


BUSY = refusal("busy", 503, "Retry-After: 0")
LIMITED = refusal("rate-limited", 429, "Retry-After: 0")


def changes(client, memory):
    return [row["action"] for row in client.list_changes(item=memory["id"])["items"]]


@pytest.mark.parametrize("where", list(Break))
def test_a_write_whose_answer_is_lost_happens_once(
    connect, client, proxy, project, new_draft, where
):
    broken = connect(proxy.url)
    draft = new_draft()
    proxy.arm(where, where)

    made = broken.create_memory(project["id"], draft)

    keys = proxy.keys()
    assert (len(keys), len(set(keys)), b"" in keys) == (3, 1, False)
    assert proxy.passed == (1 if where is Break.BEFORE else 3)
    found = list(client.iter_memories(project["id"], status="proposed"))
    assert [(m["id"], m["title"]) for m in found] == [(made["id"], draft["title"])]
    assert len(changes(client, made)) == 1


@pytest.mark.parametrize("where", [Break.AFTER, Break.BODY])
def test_a_change_is_based_on_the_revision_that_was_given_and_not_made_twice(
    connect, client, proxy, project, new_draft, where
):
    broken = connect(proxy.url)
    memory = client.create_memory(project["id"], new_draft(collection="private"))
    proxy.arm(where)

    revised = broken.update_memory(memory, {"title": "Another"})

    assert (revised["revision"], revised["title"]) == (memory["revision"] + 1, "Another")
    assert client.get_memory(memory["id"])["revision"] == memory["revision"] + 1


@pytest.mark.parametrize("refused", [BUSY, LIMITED, answer("502 Bad Gateway", body="<html>")])
def test_what_passes_is_tried_again_under_the_same_name(
    connect, client, proxy, project, new_draft, refused
):
    patient = connect(proxy.url)
    proxy.arm(refused, refused)

    made = patient.create_memory(project["id"], new_draft())

    assert (len(proxy.keys()), len(set(proxy.keys())), proxy.passed) == (3, 1, 1)
    assert client.get_memory(made["id"])["revision"] == 1


def test_two_calls_are_two_operations(connect, proxy, project, new_draft):
    patient = connect(proxy.url)
    proxy.arm()
    for _ in range(2):
        patient.create_memory(project["id"], new_draft())

    assert len(set(proxy.keys())) == 2


def test_an_operation_that_the_caller_names_converges_over_processes(
    connect, client, project, served, new_draft
):
    draft, name = new_draft(), f"lost-{project['id']}"
    made = [
        connect(served.url).create_memory(project["id"], draft, operation_id=name) for _ in range(2)
    ]

    assert made[0]["id"] == made[1]["id"]
    assert len(list(client.iter_memories(project["id"], status="proposed"))) == 1


@pytest.mark.parametrize("where", [Break.AFTER, Break.HEAD, Break.BODY])
def test_what_names_no_operation_is_not_asked_twice(connect, proxy, project, where):
    """A selection is a manifest: a second one would be another."""
    broken = connect(proxy.url)
    proxy.arm(where)

    with pytest.raises(ConnectionLostError) as lost:
        broken.create_selection(project["id"], {"query": "rules"})

    assert (lost.value.sent, len(proxy.heads)) == (True, 1)


@pytest.mark.parametrize("where", list(Break))
def test_a_read_is_asked_again(connect, proxy, project, where):
    broken = connect(proxy.url)
    proxy.arm(where, where)

    assert broken.get_project(project["id"])["id"] == project["id"]
    assert len(proxy.heads) == 3


def test_a_client_gives_up_after_its_tries(connect, proxy, project, new_draft):
    broken = connect(proxy.url, retry=Retry(tries=3, first_wait=0.0))
    proxy.arm(*[Break.AFTER] * 5)

    with pytest.raises(ConnectionLostError):
        broken.create_memory(project["id"], new_draft())

    assert len(proxy.heads) == 3


def test_a_server_that_asks_for_more_patience_than_there_is_is_left_at_once(connect, proxy):
    hasty = connect(proxy.url, retry=Retry(patience=2.0))
    proxy.arm(refusal("rate-limited", 429, "Retry-After: 3"))

    with pytest.raises(RateLimitedError) as refused:
        hasty.get_status()

    assert (refused.value.retry_after, len(proxy.heads)) == (3.0, 1)


def test_a_server_that_is_not_there_is_said_to_be_so(connect):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

    with pytest.raises(ConnectionLostError) as lost:
        connect(url).get_status()

    assert lost.value.sent is False


def test_a_silent_server_is_left_after_the_time_that_was_set(connect):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        hasty = connect(url, timeout=0.05, retry=Retry(tries=1))

        with pytest.raises(ConnectionLostError):
            hasty.get_status()


@pytest.mark.parametrize(
    ("failure", "read", "named", "bare"),
    [
        (RateLimitedError({}, status=429), True, True, True),
        (ConnectionLostError("x", sent=False), True, True, True),
        (ConnectionLostError("x", sent=True), True, True, False),
        (BusyError({}, status=503), True, True, False),
        (UnexpectedAnswerError(502), True, True, False),
        (UnexpectedAnswerError(200), False, False, False),
        (UnexpectedAnswerError(302), False, False, False),
        (NotFoundError({}, status=404), False, False, False),
        (ProblemError({}, status=500), False, False, False),
    ],
)
def test_each_line_of_the_table(failure, read, named, bare):
    asked = (Ask("GET", "/"), Ask("POST", "/", operation_id="x"), Ask("POST", "/"))

    assert [is_passing(ask, failure) for ask in asked] == [read, named, bare]


def test_waits_grow_to_their_bound_and_never_pass_the_patience():
    retry = Retry(tries=100, first_wait=1.0, longest_wait=8.0, patience=40.0)
    ask, lost = Ask("GET", "/"), ConnectionLostError("x", sent=True)

    waits = [retry.wait(ask, lost, tried, 0.0) for tried in range(1, 9)]

    bounds = [1, 2, 4, 8, 8, 8, 8, 8]
    assert all(b / 2 <= wait <= b for wait, b in zip(waits, bounds, strict=True))
    assert retry.wait(ask, lost, 100, 0.0) is None
    assert retry.wait(ask, lost, 8, 39.0) is None
    assert retry.wait(ask, RateLimitedError({}, status=429, retry_after=30.0), 1, 0.0) == 30.0


@pytest.mark.parametrize("wrong", [{"tries": 0}, {"first_wait": -1.0}, {"patience": -0.1}])
def test_a_patience_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match="at least 1 try"):
        Retry(**wrong)
