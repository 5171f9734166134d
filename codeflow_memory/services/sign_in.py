"""Signing in: passwords of people, set by themselves or an owner, and checked with the same work.

An account that does not exist, has no password or was removed is answered like a wrong password:
same error, same look-ups, one slow hash.
"""

from contextlib import suppress
from typing import Protocol

from codeflow_memory.adapters.passwords import Passwords
from codeflow_memory.domain.access import Access, Origin
from codeflow_memory.domain.errors import (
    BusyError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    StorageFullError,
    UnauthenticatedError,
)
from codeflow_memory.domain.labels import label
from codeflow_memory.domain.password import canonical, parse_new_password
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.services import access as accesses
from codeflow_memory.services.administration import get_principal, require_owner
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.principals import USER
from codeflow_memory.services.store import Store
from codeflow_memory.services.throttle import Throttle
from codeflow_memory.storage import passwords as rows
from codeflow_memory.storage import principals
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt

_REFUSAL = "no person has this name and password"
_NOBODY = ""
"""No principal has this id, so looking it up costs what any other costs."""


class Stores(Protocol):
    """The tenants that this process serves."""

    def get(self, tenant: str) -> Store:
        """Return a tenant's store.

        Raises:
            NotFoundError: There is no such tenant.
        """


def set_password(
    store: Store, access: Access, passwords: Passwords, principal: str, password: str
) -> Principal:
    """Give a person a password, in the place of an earlier one.

    It takes no operation: done again it has the same effect, and a receipt would keep a quick hash
    of a request that holds the password.

    Args:
        store: The tenant.
        access: The person itself with all that it may do, or an owner.
        passwords: Hashes it.
        principal: Name or id.
        password: As it was typed.

    Raises:
        ForbiddenError: The caller is neither, or the principal is an agent.
        NotFoundError: There is no such principal.
        InvalidRequestError: The password is too short or too long.
        BusyError: Too many passwords are being hashed.
    """
    data = parse_new_password("/password", password)
    with store.engine.read() as tx:
        chosen = _settable(store, tx, accesses.refresh(store, tx, access), principal)
    encoded = passwords.hash(data)

    def work(mutation: Mutation) -> Receipt:
        _settable(store, mutation.tx, mutation.access, chosen.principal_id)
        rows.put(mutation.tx, chosen.principal_id, encoded, mutation.at)
        mutation.record("password.set", chosen.principal_id)
        return Receipt("password.set", chosen.principal_id, 1, {})

    def render(tx: Transaction, _: Access, receipt: Receipt) -> Principal:
        return get_principal(tx, receipt.target_id)

    return mutate(store, access, Operation(None, ("password.set",)), work, render)


class SignIn:
    """Checks names and passwords for one server, whose threads share it.

    Args:
        stores: The tenants.
        passwords: Checks hashes.
        throttle: Slows guessing down.
    """

    def __init__(self, stores: Stores, passwords: Passwords, throttle: Throttle) -> None:
        self._stores = stores
        self._passwords = passwords
        self._throttle = throttle

    def __call__(self, tenant: str, name: str, password: str, address: str) -> Access:
        """Return the person whom a name and a password name, with all of its roles.

        Args:
            tenant: As typed.
            name: As typed.
            password: As typed.
            address: The peer's own, never one that a header claims.

        Raises:
            UnauthenticatedError: They name nobody; why is not said.
            RateLimitedError: Too many failures of this account or address.
            BusyError: Too many passwords are being checked.
        """
        name = _readable(name)
        account = f"{_readable(tenant)}\n{name}"
        self._throttle.begin(account, address)
        failed = False
        try:
            return self._check(tenant, name, password)
        except UnauthenticatedError:
            failed = True
            raise
        finally:
            if not failed:
                self._throttle.forgive(account, address)

    def _check(self, tenant: str, name: str, password: str) -> Access:
        try:
            store = self._stores.get(tenant)
        except NotFoundError:
            # An unknown tenant takes the steps of a known one, with a name that nobody can have.
            store, name = self._stores.get(LOCAL), _NOBODY
        with store.engine.read() as tx:
            person, encoded = _find(tx, name)
        data = canonical(password)
        # What is no password at all is refused for that, whoever is named: without a hash.
        if data is None or not self._passwords.verify(data, encoded) or encoded is None:
            raise UnauthenticatedError(_REFUSAL)
        with store.engine.read() as tx:
            # It was checked outside a transaction, and may have been changed meanwhile.
            if rows.find(tx, person) != encoded:
                raise UnauthenticatedError(_REFUSAL)
            access = accesses.of_principal(store, tx, person, Origin.USER)
        # A stronger hash can wait for another time; who signs in may have to make room.
        with suppress(BusyError, StorageFullError):
            renewed = self._passwords.renew(data, encoded)
            if renewed is not None:
                with store.engine.write() as tx:
                    rows.renew(tx, person, encoded, renewed)
        return access


def _readable(name: str) -> str:
    """Return a name as it is stored, or `_NOBODY` for what can be none."""
    try:
        return label("/name", name)
    except InvalidRequestError:
        return _NOBODY


def _find(tx: Transaction, name: str) -> tuple[str, str | None]:
    """Find a person's id and hash by name; every name is looked up in the same steps."""
    found = principals.find_by_name(tx, name)
    known = found is not None and found.kind == USER and found.removed_at is None
    person = found.principal_id if found is not None and known else _NOBODY
    return person, rows.find(tx, person)


def _settable(store: Store, tx: Transaction, access: Access, principal: str) -> Principal:
    """Return the person whose password the caller may set."""
    found = principals.named(tx, principal)
    own = found is not None and found.principal_id == access.principal_id
    # A password opens all that its person may do: a token with less would widen itself by it.
    whole = accesses.of_principal(store, tx, access.principal_id, access.origin).grants
    if not (own and access.decides and access.grants == whole):
        require_owner(access, "set this password")
    chosen = get_principal(tx, principal)
    if chosen.kind != USER:
        raise ForbiddenError("an agent has tokens and no password")
    return chosen
