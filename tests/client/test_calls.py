"""Every method of the client, and what it makes of answers and refusals, against a real server."""

import pytest

from codeflow_memory_client import Fault, ProblemError
from codeflow_memory_client.problems import (
    BY_CODE,
    IllegalTransitionError,
    InvalidRequestError,
    NotFoundError,
    RevisionConflictError,
    UnauthenticatedError,
)


def test_a_refused_body_tells_each_fault_by_its_pointer(connect, served, project, new_draft):
    with pytest.raises(InvalidRequestError) as refused:
        connect(served.url).create_memory(project["id"], new_draft(kind="gossip", title=7))

    problem = refused.value
    assert (problem.status, problem.code) == (422, "invalid-request")
    assert {fault.pointer for fault in problem.faults} == {"/kind", "/title"}
    assert all(isinstance(fault, Fault) and fault.detail for fault in problem.faults)
    assert problem.request_id.startswith("req_")
    assert str(problem)


def test_a_change_of_what_was_read_before_is_refused_with_both_revisions(
    connect, served, project, new_draft
):
    client = connect(served.url)
    memory = client.create_memory(project["id"], new_draft(collection="private"))
    client.update_memory(memory, {"title": "First"})

    with pytest.raises(RevisionConflictError) as refused:
        client.update_memory(memory, {"title": "Second"})

    facts = refused.value.facts
    assert (facts["expected_revision"], facts["current_revision"]) == (1, 2)
    assert facts["current"]["title"] == "First"
    assert refused.value.faults == []


@pytest.mark.parametrize("bad", [None, "cfm_local_nobody_nothing"])
def test_who_has_no_token_is_told_so(connect, served, bad):
    with pytest.raises(UnauthenticatedError):
        connect(served.url, bad).get_status()


def test_what_needs_no_token_gets_none(connect, served):
    assert connect(served.url, None).check_health() == {"status": "ok"}
    assert connect(served.url, None).check_readiness() == {"status": "ok"}


@pytest.mark.parametrize("segment", ["", ".", "..", "a/revisions", "../audit"])
def test_an_id_that_would_name_another_route_is_refused_before_anything_is_sent(
    connect, proxy, segment
):
    client = connect(proxy.url)
    with pytest.raises(ValueError, match="an id must not be"):
        client.get_memory(segment)

    assert proxy.heads == []


@pytest.mark.parametrize(
    ("odd", "sent"),
    [("a?b=c", "a%3Fb%3Dc"), ("a#b", "a%23b"), ("ä b", "%C3%A4%20b"), ("a;b", "a%3Bb")],
)
def test_an_odd_id_stays_one_segment(connect, proxy, odd, sent):
    with pytest.raises(NotFoundError):
        connect(proxy.url).get_memory(odd)

    assert proxy.heads[0].startswith(f"GET /api/memories/{sent} HTTP/1.1\r\n".encode())


def test_a_problem_of_a_later_version_is_a_problem_all_the_same():
    from codeflow_memory_client.answers import Answer  # noqa: PLC0415 - of this test alone

    body = b'{"type": "urn:codeflow-memory:problem:new-one", "detail": "D", "more": 1}'

    with pytest.raises(ProblemError) as refused:
        Answer(409, body, None, None).read()

    assert type(refused.value) is ProblemError
    assert (refused.value.facts, str(refused.value)) == ({"more": 1}, "D")


def test_a_memory_lives_by_the_objects_that_the_client_gave(connect, served, project, new_draft):
    client = connect(served.url)
    proposed = client.create_memory(project["id"], new_draft())
    made = client.create_token({"principal": "bob", "kind": "user", "role": "reviewer"})
    bob = connect(served.url, made["token"])
    with pytest.raises(IllegalTransitionError):
        bob.archive_memory(proposed)
    approved = bob.approve_memory(proposed, {"comment": "sound"})

    word = proposed["title"].removeprefix("About ")
    found = client.search_memories(project["id"], q=word)["results"]
    chosen = client.create_selection(project["id"], {"query": word})
    replayed = client.replay_selection(project["id"], chosen["id"])
    diff = client.get_memory_diff(approved["id"], from_=1, to=2)
    gone = client.delete_memory(approved, {"reason": "wrong"})

    assert (proposed["status"], approved["status"]) == ("proposed", "accepted")
    assert [result["memory_id"] for result in found] == [proposed["id"]]
    assert replayed["context"] == chosen["context"]
    assert diff
    assert (gone["status"], gone["revision"]) == ("deleted", approved["revision"] + 1)
    assert "body" not in gone


def test_an_iterator_gives_every_item_once_whatever_the_pages(
    connect, served, client, project, new_draft, monkeypatch
):
    made = {client.create_memory(project["id"], new_draft())["id"] for _ in range(7)}
    for name in ("client", "async_client"):
        monkeypatch.setattr(f"codeflow_memory_client.{name}.PAGE", 3)

    found = list(connect(served.url).iter_memories(project["id"], status="proposed"))

    assert len(found) == 7
    assert {memory["id"] for memory in found} == made
    assert list(connect(served.url).iter_memories(project["id"], status="rejected")) == []


def test_an_iterator_asks_for_a_page_when_it_is_needed(
    client, proxy, token, project, new_draft, monkeypatch
):
    from codeflow_memory_client import Client  # noqa: PLC0415 - of this test alone

    for _ in range(3):
        client.create_memory(project["id"], new_draft())
    monkeypatch.setattr("codeflow_memory_client.client.PAGE", 1)
    with Client(proxy.url, token) as counted:
        items = counted.iter_memories(project["id"], status="proposed")
        asked = [len(proxy.heads)]
        for _ in items:
            asked.append(len(proxy.heads))

    assert asked == [0, 1, 2, 3]


def test_queries_carry_every_kind_of_value(connect, served, project, new_draft):
    client = connect(served.url)
    client.create_memory(project["id"], new_draft(tags=["a b&c=d"]))

    page = client.list_memories(project["id"], status="proposed", tag="a b&c=d", limit=1)

    assert len(page["items"]) == 1
    assert page["facets"]["status"] == {"proposed": 1}


def test_a_text_that_json_cannot_have_is_refused_before_anything_is_sent(connect, proxy, project):
    client = connect(proxy.url)
    for bad in (float("nan"), "\ud800"):
        with pytest.raises(ValueError, match=r"JSON|surrogates"):
            client.create_selection(project["id"], {"query": bad})

    assert proxy.heads == []


def test_each_known_problem_has_a_class_of_its_own():
    assert len(set(BY_CODE.values())) == len(BY_CODE) >= 24
    assert all(kind.code == code for code, kind in BY_CODE.items())
