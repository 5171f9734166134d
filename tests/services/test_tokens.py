"""Tokens: what each may do is what it was made with and what its principal still holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.adapters.secrets import parse_token, same
from codeflow_memory.domain.access import RANK, Access, Grant, Origin, Role
from codeflow_memory.domain.errors import (
    InvalidRequestError,
    NotFoundError,
    UnauthenticatedError,
)
from codeflow_memory.domain.times import HOUR, SECOND
from codeflow_memory.services import access as accesses
from codeflow_memory.services import grants, tokens
from codeflow_memory.services.access import narrowed
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.tokens import NewToken, parse_ttl
from codeflow_memory.storage.connections import Connections
from codeflow_memory.storage.sqlite import SQLiteEngine

NEW = Operation(None, ())


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "1.5", "1w", "m", "1 h", "01", "1H", "99999d", "9999999999", "٣"]
)
def test_what_is_no_time_to_live_is_refused(text):
    with pytest.raises(InvalidRequestError) as refused:
        parse_ttl("/ttl", text)

    assert refused.value.faults[0].pointer == "/ttl"


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("30m", 1800), ("12h", 43200), ("7d", 604800)]
)
def test_a_time_to_live_is_seconds_or_a_number_with_a_unit(text, seconds):
    assert parse_ttl("/ttl", text) == seconds


@pytest.mark.parametrize(
    ("new", "error"),
    [
        (NewToken("eve", None, Role.READER), InvalidRequestError),
        (NewToken("owner", "agent", Role.READER), InvalidRequestError),
        (NewToken("eve", "robot", Role.READER), InvalidRequestError),
        (NewToken("", "user", Role.READER), InvalidRequestError),
        (NewToken("eve", "user", Role.READER, repo="nowhere"), NotFoundError),
    ],
    ids=["no kind", "other kind", "no such kind", "no name", "no repository"],
)
def test_a_refused_token_leaves_neither_token_nor_principal(world, new, error):
    with pytest.raises(error):
        tokens.create(world.store, world.owner, new, NEW)

    with world.store.engine.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM tokens") == 0
        assert tx.value("SELECT COUNT(*) FROM principals") == 1


@pytest.mark.parametrize("part", ["token_id", "secret", "both"])
def test_a_wrong_id_or_secret_names_nobody(world, part):
    parts = parse_token(world.token("ann", Role.READER).text)
    token_id = parts.token_id if part == "secret" else "x" * 16
    secret = parts.secret if part == "token_id" else "x" * 43

    with pytest.raises(UnauthenticatedError):
        accesses.authenticate(world.store, token_id, secret)


def test_id_and_hash_are_both_compared_in_constant_time(world, monkeypatch):
    parts = parse_token(world.token("ann", Role.READER).text)
    asked = []
    monkeypatch.setattr(accesses, "same", lambda *of: asked.append(of) or same(*of))

    accesses.authenticate(world.store, parts.token_id, parts.secret)

    hashed = world.store.keys.token_hash(parts.secret)
    assert sorted(asked) == sorted([(hashed, hashed), (parts.token_id, parts.token_id)])


def test_a_token_makes_its_principal_and_grant_where_they_are_missing(world):
    issued = world.token("ann", Role.CONTRIBUTOR)

    with world.store.engine.read() as tx:
        held = tx.rows("SELECT principal_id, role, repository_id FROM grants ORDER BY grant_id")
    assert (issued.principal.name, issued.principal.kind) == ("ann", "user")
    assert issued.roles == (Grant(Role.CONTRIBUTOR),)
    assert held[1:] == [(issued.principal.principal_id, "contributor", None)]


def test_a_lesser_role_than_is_held_adds_no_grant(world):
    world.token("ann", Role.MAINTAINER)
    ann = world.person("ann", Role.READER)

    assert (
        len(grants.page(world.store, world.owner, principal="ann", after=None, limit=9).items) == 1
    )
    assert ann.grants == {Grant(Role.READER)}


def test_an_operator_is_no_lesser_reader_and_gets_a_grant_of_its_own(world):
    world.token("ann", Role.OWNER)
    ann = world.person("ann", Role.OPERATOR)

    assert ann.operates
    assert not ann.may(Role.READER, None)


def test_a_token_for_one_repository_reaches_no_other(world):
    shop = world.repository(key="shop").repository.repository_id
    other = world.repository(key="other").repository.repository_id
    ann = world.person("ann", Role.REVIEWER, repo="shop")

    assert ann.may(Role.REVIEWER, shop)
    assert not ann.may(Role.READER, other)
    assert not ann.may(Role.READER, None)


def test_a_later_grant_does_not_widen_a_token(world):
    ann = world.person("ann", Role.READER)

    grants.create(world.store, world.owner, NEW, principal="ann", role=Role.OWNER, repo=None)

    assert world.again(ann).grants == {Grant(Role.READER)}


def test_a_grant_that_is_taken_back_narrows_every_token_at_once(world):
    ann = world.person("ann", Role.REVIEWER)
    [grant] = grants.page(world.store, world.owner, principal="ann", after=None, limit=9).items

    grants.remove(world.store, world.owner, grant.grant_id, NEW)

    assert world.again(ann).grants == frozenset()


def test_a_revoked_token_names_nobody_at_once_and_revoking_again_is_no_change(world):
    issued = world.token("ann", Role.READER)
    ann = world.sign_in(issued.text)

    first = tokens.revoke(world.store, world.owner, issued.token.token_id, NEW)
    world.clock.at += HOUR
    second = tokens.revoke(world.store, world.owner, issued.token.token_id, NEW)

    assert first.token.revoked_at is not None
    assert second == first
    for refused in (lambda: world.sign_in(issued.text), lambda: world.again(ann)):
        with pytest.raises(UnauthenticatedError):
            refused()
    with pytest.raises(NotFoundError):
        tokens.revoke(world.store, world.owner, "x", NEW)


def test_a_revocation_beats_a_write_that_was_authenticated_before(world):
    issued = world.token("boss", Role.OWNER)
    boss = world.sign_in(issued.text)
    tokens.revoke(world.store, world.owner, issued.token.token_id, NEW)

    with pytest.raises(UnauthenticatedError):
        tokens.create(world.store, boss, NewToken("eve", "user", Role.OWNER), NEW)


def test_a_token_expires_and_a_clock_that_steps_back_does_not_revive_it(world):
    issued = world.token("ann", Role.READER, ttl_seconds=60)
    world.clock.at += 59 * SECOND
    assert world.sign_in(issued.text)

    world.clock.at += SECOND
    with pytest.raises(UnauthenticatedError):
        world.sign_in(issued.text)
    world.person("bob")
    world.clock.at -= HOUR

    with pytest.raises(UnauthenticatedError):
        world.sign_in(issued.text)


@pytest.mark.parametrize("ttl_seconds", [None, 3600, 59])
def test_a_token_makes_none_that_outlives_it(world, ttl_seconds):
    maker = world.person("boss", Role.OWNER, ttl_seconds=60)
    new = NewToken("ann", "user", Role.READER, ttl_seconds=ttl_seconds)

    made = tokens.create(world.store, maker, new, NEW)

    assert made.token.expires_at == world.clock.at + min(ttl_seconds or 60, 60) * SECOND


def test_a_token_for_background_sessions_makes_none_for_others(world):
    maker = world.person("boss", Role.OWNER, background=True)

    made = tokens.create(world.store, maker, NewToken("ann", "user", Role.READER), NEW)

    assert made.token.background
    assert world.sign_in(made.text).origin is Origin.BACKGROUND


def test_the_secret_is_told_once_and_kept_nowhere(world):
    same = Operation("op-1", ("POST",))
    new = NewToken("ann", "user", Role.READER)
    first = tokens.create(world.store, world.owner, new, same)
    second = tokens.create(world.store, world.owner, new, same)
    listed = tokens.page(world.store, world.owner, principal="ann", after=None, limit=9).items

    assert first.text is not None
    assert second.token == first.token
    assert second.text is None
    assert [i.text for i in listed] == [None]
    assert world.holding(parse_token(first.text).secret) == []


def test_a_background_token_keeps_its_origin_and_an_agents_is_an_agents(world):
    assert world.person("cron", Role.CONTRIBUTOR, background=True).origin is Origin.BACKGROUND
    assert world.person("bot", Role.CONTRIBUTOR, "agent").origin is Origin.AGENT
    assert not world.person("bot2", Role.OWNER, "agent").decides


roles = st.sampled_from(list(Role))
places = st.sampled_from([None, "rep_1", "rep_2"])
some_grants = st.sets(st.builds(Grant, roles, places), max_size=5)


def access_of(held):
    return Access(
        tenant="local",
        principal_id="prn_1",
        person=True,
        grants=frozenset(held),
        teams=frozenset(),
        origin=Origin.USER,
    )


@given(some_grants, some_grants)
def test_a_token_can_do_what_both_allow_and_nothing_more(made_with, held):
    token, own, now = (access_of(g) for g in (narrowed(made_with, held), made_with, held))

    for place in (None, "rep_1", "rep_2"):
        for role in set(Role) - {Role.OPERATOR}:
            # Operator ranks below all others, so that its holder is none of them.
            both = own.may(role, place) and now.may(role, place)
            assert token.may(role, place) == both
        assert token.rank(place) <= min(own.rank(place), now.rank(place))
    assert not token.operates or (own.operates and now.operates)


@given(some_grants, some_grants, some_grants)
def test_more_grants_never_narrow_and_fewer_never_widen(made_with, held, more):
    before, after = narrowed(made_with, held), narrowed(made_with, held | more)

    assert before <= after
    assert all(RANK[g.role] >= 0 for g in after)


def test_a_token_that_names_nobody_costs_no_connection(world, monkeypatch):
    """Opening one costs twenty times what the check does, and whoever guesses pays nothing."""
    known = parse_token(world.token("ann", Role.READER).text)
    opened = []
    where, name = (Connections, "_opened") if world.tenants.shared else (SQLiteEngine, "_open")
    plain = getattr(where, name)
    monkeypatch.setattr(where, name, lambda engine: opened.append(1) or plain(engine))
    accesses.authenticate(world.store, known.token_id, known.secret)
    opened.clear()

    for token_id in (known.token_id, "unknown"):
        for _ in range(20):
            with pytest.raises(UnauthenticatedError):
                accesses.authenticate(world.store, token_id, "wrong")

    assert len(opened) < 20


def test_a_secret_under_the_id_of_no_token_names_nobody(world):
    """What is read for an id that nothing has is another's token, and its secret may be known."""
    known = parse_token(world.token("ann", Role.READER).text)

    for token_id in ("", "0", "zzz", known.token_id[:-1], f"{known.token_id}0"):
        with pytest.raises(UnauthenticatedError):
            accesses.authenticate(world.store, token_id, known.secret)

    assert accesses.authenticate(world.store, known.token_id, known.secret).token_id
