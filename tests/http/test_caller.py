"""Signing in and rate limits as they are served: each test has a server, so full buckets."""

from copy import copy
from types import SimpleNamespace

import pytest

from codeflow_memory import app
from codeflow_memory.adapters.secrets import TenantKeys, parse_token

PATH = "/api/projects"
NAMES = ("ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """The clock of rate limits, seconds: it stands until it is moved."""
    standing = SimpleNamespace(now=1_000.0)
    monkeypatch.setattr(app, "time", SimpleNamespace(monotonic=lambda: standing.now))
    return standing


@pytest.fixture
def limited(api, serve_product):
    """Serve with other limits; the callers are those of `api`."""

    def start(**limits):
        other = copy(api)
        other.served = serve_product(**limits)
        return other

    return start


def test_a_token_that_asks_too_often_is_refused_and_told_when_to_come_again(limited, clock):
    api = limited(requests_per_minute_token=2)

    first, second, third = (api("ann", "GET", PATH) for _ in range(3))

    assert [reply.status for reply in (first, second)] == [200, 200]
    third.refused(429, "rate-limited")
    assert third.headers["retry-after"] == "30"
    told = [tuple(r.headers[name] for name in NAMES) for r in (first, second, third)]
    assert told == [("2", "1", "30"), ("2", "0", "60"), ("2", "0", "60")]
    assert api("abe", "GET", PATH).headers["ratelimit-remaining"] == "1"
    clock.now += 30
    assert api("ann", "GET", PATH).status == 200


def test_a_refused_write_is_not_carried_out(limited, api):
    few = limited(requests_per_minute_token=1)
    few("ann", "GET", PATH).ok()
    body = {"collection": "private", "kind": "fact", "title": "Late", "body": "It never came."}

    few("ann", "POST", f"{api.base}/memories", body).refused(429, "rate-limited")

    listed = api("ann", "GET", f"{api.base}/memories", collection="private", q="never").ok()
    assert listed["items"] == []


def test_all_tokens_of_a_tenant_share_a_bucket_that_no_header_shows(limited):
    api = limited(requests_per_minute_tenant=2, requests_per_minute_token=10)

    for who in ("ann", "abe"):
        api(who, "GET", PATH).ok()
    refused = api("bob", "GET", PATH)

    refused.refused(429, "rate-limited")
    assert refused.headers["retry-after"] == "30"
    assert tuple(refused.headers[name] for name in NAMES) == ("10", "10", "0")
    api("foreign", "GET", PATH).ok()


@pytest.mark.parametrize(
    ("who", "method", "path", "status"),
    [
        ("ann", "GET", PATH, 200),
        ("ann", "GET", f"{PATH}/absent", 404),
        ("ann", "GET", "/api/admin/tokens", 403),
        ("ann", "POST", "/api/memories/batch", 422),
    ],
)
def test_every_answer_to_a_known_token_carries_its_limits(api, who, method, path, status):
    reply = api(who, method, path, {} if method == "POST" else None)

    assert (reply.status, reply.headers.keys() & set(NAMES)) == (status, set(NAMES))


@pytest.mark.parametrize("token", [None, "cfm_local_a_b"])
def test_an_answer_to_nobody_carries_no_limits(api, token):
    assert not api(token, "GET", PATH).headers.keys() & set(NAMES)


@pytest.mark.parametrize("wrong", ["cfm_local_a_b", "cfm_nobody_a_b", "another's secret"])
def test_failed_sign_ins_of_an_address_are_counted_and_hold_up_no_token(limited, clock, wrong):
    api = limited(failed_sign_ins=2)
    if wrong == "another's secret":
        known = parse_token(api.tokens["ann"])
        wrong = f"cfm_local_{known.token_id}_x"

    for _ in range(2):
        api(wrong, "GET", PATH).refused(401, "unauthenticated")
        api("ann", "GET", PATH).ok()
    refused = api(wrong, "GET", PATH)

    refused.refused(429, "rate-limited")
    assert refused.headers["retry-after"] == "450"
    api("ann", "GET", PATH).ok()
    clock.now += 450
    api(wrong, "GET", PATH).refused(401, "unauthenticated")


@pytest.mark.parametrize(
    "header",
    [
        "X-Forwarded-For",
        "X-Real-IP",
        "Forwarded",
        "X-Client-IP",
        "True-Client-IP",
        "CF-Connecting-IP",
    ],
)
def test_no_header_makes_another_address_of_who_guesses(limited, header):
    api = limited(failed_sign_ins=2)

    told = [
        api.served.get(PATH, "Authorization: Bearer cfm_local_a_b", f"{header}: {claimed}").status
        for claimed in ("192.0.2.1", "192.0.2.2", "for=192.0.2.3", "127.0.0.1, 192.0.2.4")
    ]

    assert told == [401, 401, 429, 429]


def test_who_signs_in_is_not_counted_as_a_failure(limited):
    api = limited(failed_sign_ins=1)

    for _ in range(3):
        api("ann", "GET", PATH).ok()

    api("cfm_local_a_b", "GET", PATH).refused(401, "unauthenticated")


@pytest.fixture
def hashed(monkeypatch):
    """The keys that secrets were hashed with, one an attempt: the work of a verification."""
    calls = []
    plain = TenantKeys.token_hash

    def counted(keys, secret):
        calls.append(keys.instance_id)
        return plain(keys, secret)

    monkeypatch.setattr(TenantKeys, "token_hash", counted)
    return calls


def test_an_unknown_tenant_s_token_takes_the_steps_of_one_that_local_does_not_know(api, hashed):
    unknown = api("cfm_nobody_a_b", "GET", PATH)
    wrong = api("cfm_local_a_b", "GET", PATH)

    unknown.refused(401, "unauthenticated")
    assert unknown.shape() == wrong.shape()
    assert hashed == [api.world.store.keys.instance_id] * 2


@pytest.mark.parametrize("tenant", ["nobody", "birch"])
def test_a_token_under_another_tenant_s_name_names_nobody(api, tenant):
    """What an unknown tenant is looked up in is `local`, where this token is known."""
    known = parse_token(api.tokens["max"])

    for secret in (known.secret, "x"):
        text = f"cfm_{tenant}_{known.token_id}_{secret}"
        assert api(text, "GET", PATH).shape() == api("cfm_local_a_b", "GET", PATH).shape()
        api(text, "GET", PATH).refused(401, "unauthenticated")
