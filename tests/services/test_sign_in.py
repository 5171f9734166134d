"""Signing in with a password: who may set it, and what a wrong one is told."""

from dataclasses import replace

import pytest

from codeflow_memory.adapters.passwords import Cost, Passwords
from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    BusyError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    RateLimitedError,
    StorageFullError,
    UnauthenticatedError,
)
from codeflow_memory.services import principals as services
from codeflow_memory.services import sign_in
from codeflow_memory.services.sign_in import SignIn, set_password
from codeflow_memory.services.throttle import FAILURES, WINDOW_SECONDS, Throttle
from codeflow_memory.storage import passwords as rows
from codeflow_memory.storage import principals

from ..remains import IN_DATABASE

RIGHT = "correct horse battery staple"
WRONG = "correct horse battery stable"
HOME = "192.0.2.1"
ATTACKER = "198.51.100.7"


class Counted(Passwords):
    """Real hashes of a small cost, which can be refused and are counted."""

    def __init__(self) -> None:
        super().__init__(Cost(64, 1, 1))
        self.verified: list[bool] = []
        self.busy = False

    def verify(self, password, encoded):
        if self.busy:
            raise BusyError
        self.verified.append(encoded is not None)
        return super().verify(password, encoded)


class Seconds:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def passwords() -> Counted:
    return Counted()


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def signing(world, passwords, seconds) -> SignIn:
    return SignIn(world.tenants, passwords, Throttle(seconds))


@pytest.fixture
def ann(world, passwords):
    """A contributor who has a password."""
    access = world.person("ann", Role.CONTRIBUTOR)
    set_password(world.store, access, passwords, "ann", RIGHT)
    return access


def stored(world, name: str) -> str | None:
    with world.store.engine.read() as tx:
        return rows.find(tx, principals.find_by_name(tx, name).principal_id)


def refused(signing: SignIn, *, tenant="local", name="ann", password=WRONG, address=HOME) -> str:
    with pytest.raises(UnauthenticatedError) as refusal:
        signing(tenant, name, password, address)
    return str(refusal.value)


# Who may set a password.


def callers_that_may_not(world):
    """Of everybody but Ann with all her roles and an owner: nobody sets Ann's password."""
    project = world.project("core")
    boss = world.person("boss", Role.OWNER)
    yield from (world.person(f"a-{role}", role) for role in Role if role is not Role.OWNER)
    yield world.person("agent", Role.OWNER, "agent")
    yield world.person("boss", Role.MAINTAINER)
    yield world.sign_in(world.run(boss, project).text)


@pytest.mark.usefixtures("ann")
def test_nobody_sets_the_password_of_another_but_an_owner(world, passwords):
    before = stored(world, "ann")

    for caller in list(callers_that_may_not(world)):
        with pytest.raises(ForbiddenError):
            set_password(world.store, caller, passwords, "ann", RIGHT)

    assert stored(world, "ann") == before


def test_who_may_not_learns_not_who_exists(world, passwords, cast):
    with pytest.raises(ForbiddenError) as absent:
        set_password(world.store, cast.abe, passwords, "nobody", RIGHT)
    with pytest.raises(ForbiddenError) as present:
        set_password(world.store, cast.abe, passwords, "owner", RIGHT)

    assert str(absent.value) == str(present.value)


def test_a_token_of_fewer_roles_than_its_person_has_sets_no_password(world, passwords):
    """Else it would widen itself: a password opens all that its person may do."""
    world.person("pat", Role.MAINTAINER)
    lesser = world.person("pat", Role.READER)
    project = world.project("core")
    bound = world.sign_in(world.run(world.person("pat", Role.MAINTAINER), project).text)

    for access in (lesser, bound):
        with pytest.raises(ForbiddenError):
            set_password(world.store, access, passwords, "pat", RIGHT)

    assert stored(world, "pat") is None


@pytest.mark.parametrize("by", ["owner", "itself"])
def test_an_agent_has_no_password(world, passwords, by):
    agent = world.person("bot", Role.CONTRIBUTOR, "agent")

    with pytest.raises(ForbiddenError):
        set_password(world.store, world.owner if by == "owner" else agent, passwords, "bot", RIGHT)

    assert stored(world, "bot") is None


def test_a_short_password_is_refused_and_the_earlier_one_stays(world, passwords, ann):
    before = stored(world, "ann")

    with pytest.raises(InvalidRequestError):
        set_password(world.store, ann, passwords, "ann", "too short")

    assert stored(world, "ann") == before


def test_an_owner_gives_a_password_to_nobody_who_is_not_there(world, passwords):
    with pytest.raises(NotFoundError):
        set_password(world.store, world.owner, passwords, "nobody", RIGHT)


def test_a_refused_caller_costs_no_hash(world, cast):
    class Never(Passwords):
        def hash(self, password):
            raise AssertionError(password)

    with pytest.raises(ForbiddenError):
        set_password(world.store, cast.abe, Never(), "owner", RIGHT)


@pytest.mark.usefixtures("ann")
def test_no_trace_of_a_password_is_kept_but_its_slow_hash(world, passwords):
    set_password(world.store, world.owner, passwords, "ann", "tulips in november")

    assert world.holding("tulips in november") == []
    assert world.holding("password.set") == [IN_DATABASE]


# What signing in answers.


def test_name_and_password_name_the_person_with_all_of_its_roles(world, signing, ann):
    access = signing("local", "ann", RIGHT, HOME)

    assert access == replace(world.again(ann), token_id=None)


def test_an_owner_s_reset_takes_the_place_of_the_earlier_password(world, signing, passwords, ann):
    set_password(world.store, world.owner, passwords, ann.principal_id, "another one of length")

    assert signing("local", "ann", "another one of length", HOME).principal_id == ann.principal_id
    refused(signing, password=RIGHT)


def test_a_name_in_another_normal_form_is_the_same_name(world, signing, passwords):
    person = world.person("zo\u00e9", Role.READER)
    set_password(world.store, world.owner, passwords, "zo\u00e9", "cafe\u0301 au lait")

    access = signing("local", "zoe\u0301", "caf\u00e9 au lait", HOME)

    assert access.principal_id == person.principal_id


UNKNOWN = {
    "wrong password": {},
    "empty password": {"password": ""},
    "no such person": {"name": "nobody", "password": RIGHT},
    "no password": {"name": "owner", "password": RIGHT},
    "an agent": {"name": "bot", "password": RIGHT},
    "removed": {"name": "gone", "password": RIGHT},
    "no such tenant": {"tenant": "nowhere", "password": RIGHT},
    "no tenant's name": {"tenant": "../local", "password": RIGHT},
    "no name": {"name": "", "password": RIGHT},
    "a longer name": {"name": "ann" + " " * 300, "password": RIGHT},
    "a name without encoding": {"name": "ann\ud800", "password": RIGHT},
    "another case": {"name": "Ann", "password": RIGHT},
    "an id": {"name": "prn", "password": RIGHT},
}


@pytest.mark.usefixtures("ann")
@pytest.mark.parametrize("asked", UNKNOWN.values(), ids=UNKNOWN)
def test_whoever_is_not_named_takes_the_same_work_and_gets_the_same_answer(
    world, signing, passwords, asked
):
    world.person("bot", Role.READER, "agent")
    world.person("gone", Role.READER)
    set_password(world.store, world.owner, passwords, "gone", RIGHT)
    services.remove(world.store, world.owner, "gone", sign_in.Operation(None, ()))

    told = refused(signing, **asked)

    assert told == "no person has this name and password"
    assert len(passwords.verified) == 1


@pytest.mark.usefixtures("ann")
def test_what_is_longer_than_any_password_is_not_hashed_whoever_is_named(signing, passwords):
    for name in ("ann", "nobody"):
        refused(signing, name=name, password="x" * 100_000)

    assert passwords.verified == []


@pytest.mark.usefixtures("ann")
def test_a_removed_person_s_password_is_gone(world, signing):
    services.remove(world.store, world.owner, "ann", sign_in.Operation(None, ()))

    assert stored(world, "ann") is None
    refused(signing, password=RIGHT)


@pytest.mark.usefixtures("ann")
def test_a_password_that_is_changed_while_it_is_checked_names_nobody(world):
    class Meanwhile(Passwords):
        def verify(self, password, encoded):
            answer = super().verify(password, encoded)
            set_password(world.store, world.owner, Passwords(Cost(64, 1, 1)), "ann", "x" * 20)
            return answer

    signing = SignIn(world.tenants, Meanwhile(Cost(64, 1, 1)), Throttle(Seconds()))

    refused(signing, password=RIGHT)


# Hashes grow with what is asked of them.


def test_a_right_password_makes_a_weaker_hash_stronger_and_a_wrong_one_does_not(world, ann):
    stronger = SignIn(world.tenants, Passwords(Cost(128, 2, 1)), Throttle(Seconds()))
    weak = stored(world, "ann")

    refused(stronger)
    assert stored(world, "ann") == weak
    stronger("local", "ann", RIGHT, HOME)

    assert "$m=128,t=2,p=1$" in stored(world, "ann")
    assert stronger("local", "ann", RIGHT, HOME).principal_id == ann.principal_id


@pytest.mark.usefixtures("ann")
def test_a_cheaper_configuration_makes_no_hash_weaker(world, signing):
    set_password(world.store, world.owner, Passwords(Cost(256, 3, 1)), "ann", RIGHT)
    strong = stored(world, "ann")

    signing("local", "ann", RIGHT, HOME)

    assert stored(world, "ann") == strong


@pytest.mark.parametrize("error", [BusyError, StorageFullError])
def test_a_hash_that_cannot_be_renewed_now_lets_its_person_in(world, ann, error):
    class Unable(Passwords):
        def renew(self, *_):
            raise error

    signing = SignIn(world.tenants, Unable(Cost(128, 2, 1)), Throttle(Seconds()))

    assert signing("local", "ann", RIGHT, HOME).principal_id == ann.principal_id


# Guessing is slow, and nobody is locked out by it.


def guess(signing: SignIn, address: str, name: str = "ann") -> bool:
    """Guess once; tell whether the guess was looked at."""
    try:
        signing("local", name, WRONG, address)
    except UnauthenticatedError:
        return True
    except RateLimitedError:
        return False
    raise AssertionError


def test_an_address_has_twenty_guesses_a_window_and_the_rest_cost_nothing(
    signing, passwords, seconds, ann
):
    looked_at = [guess(signing, ATTACKER, f"name-{number}") for number in range(30)]

    assert looked_at.count(True) == FAILURES == len(passwords.verified)
    with pytest.raises(RateLimitedError) as refusal:
        signing("local", "ann", RIGHT, ATTACKER)
    assert refusal.value.retry_after_seconds == WINDOW_SECONDS // FAILURES
    seconds.now += WINDOW_SECONDS
    assert signing("local", "ann", RIGHT, ATTACKER).principal_id == ann.principal_id


def test_while_everybody_guesses_at_an_account_its_owner_signs_in(signing, ann):
    for number in range(200):
        guess(signing, f"203.0.113.{number}")

    assert not guess(signing, "203.0.113.1")
    assert signing("local", "ann", RIGHT, HOME).principal_id == ann.principal_id


@pytest.mark.usefixtures("ann")
def test_an_account_that_does_not_exist_is_throttled_like_one_that_does(signing):
    """Else the throttle would tell them apart."""
    told = [
        [guess(signing, f"203.{name}.{n % 25}.1", account) for n in range(60)]
        for name, account in ((0, "ann"), (1, "nobody"))
    ]

    assert told[0] == told[1]
    assert False in told[0]


@pytest.mark.usefixtures("ann")
def test_the_guesses_at_one_tenant_s_account_are_not_another_s(world, signing, passwords):
    world.tenants.create("birch")
    birch = replace(world, tenant="birch")
    birch.person("ann", Role.READER)
    set_password(birch.store, birch.owner, passwords, "ann", RIGHT)
    for number in range(60):
        guess(signing, f"203.0.113.{number}")
    assert not guess(signing, "203.0.113.59")

    assert signing("birch", "ann", RIGHT, "203.0.113.59").tenant == "birch"


def test_a_try_that_came_to_no_answer_is_no_failure(signing, passwords, ann):
    passwords.busy = True
    for _ in range(3 * FAILURES):
        with pytest.raises(BusyError):
            signing("local", "ann", RIGHT, HOME)
    passwords.busy = False

    assert signing("local", "ann", RIGHT, HOME).principal_id == ann.principal_id
