"""Tokens: bearer tokens of principals; the secret is shown once and only its hash is kept."""

import re
from dataclasses import dataclass

from codeflow_memory.adapters.secrets import format_token, new_token
from codeflow_memory.domain.access import RANK, Access, Grant, Origin, Role
from codeflow_memory.domain.errors import (
    InvalidRequestError,
    NotFoundError,
)
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.times import SECOND
from codeflow_memory.services import grants
from codeflow_memory.services.administration import (
    get_principal,
    get_repository_id,
    require_owner,
)
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.pages import Page, cut
from codeflow_memory.services.principals import add
from codeflow_memory.services.store import Store
from codeflow_memory.storage import principals, tokens
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt
from codeflow_memory.storage.tokens import Token

MAX_TTL_SECONDS = 10 * 366 * 24 * 3600

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 24 * 3600}
_TTL = re.compile(r"([1-9][0-9]{0,9})([smhd]?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class NewToken:
    """What a token is to be made of.

    Args:
        principal: Name, or id, of whom it acts for; one that does not exist is made.
        kind: ``user`` or ``agent``; required for a principal that does not exist.
        role: What the token may do; its principal is given it where it lacks it.
        repo: Names the one repository it is for; ``None`` is the whole tenant.
        ttl_seconds: ``None`` for a token that does not expire.
        background: Whether it can write background sessions only.
    """

    principal: str
    kind: str | None
    role: Role
    repo: str | None = None
    ttl_seconds: int | None = None
    background: bool = False


@dataclass(frozen=True, slots=True)
class Issued:
    """A token as its maker sees it.

    ``text`` is the bearer token itself: in the first answer only, because nothing that could write
    it again is kept; a repetition of the request has ``None``.
    """

    token: Token
    principal: Principal
    roles: tuple[Grant, ...]
    text: str | None


def parse_ttl(pointer: str, text: str) -> int:
    """Read a time to live: seconds, or ``90s``, ``30m``, ``12h``, ``7d``; return seconds.

    Raises:
        InvalidRequestError: At *pointer*: another form, or more than ten years.
    """
    found = _TTL.fullmatch(text)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 1 <= seconds <= MAX_TTL_SECONDS:
        raise InvalidRequestError.at(
            pointer, "must be seconds, or a number with s, m, h or d, at most ten years"
        )
    return seconds


def create(store: Store, access: Access, new: NewToken, operation: Operation) -> Issued:
    """Make a token; its principal and that one's grant too where they are missing.

    It expires no later than the caller's own, and of a background token comes another such.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such repository.
        InvalidRequestError: The principal is of another kind, was removed, or a field is wrong.
    """
    parts = new_token(store.tenant)

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "make tokens")
        where = None
        if new.repo is not None:
            where = get_repository_id(mutation.tx, mutation.access, new.repo)
        holder = _holder(mutation, new)
        if not _holds(mutation.tx, holder.principal_id, new.role, where):
            grants.give(mutation, holder.principal_id, new.role, where)
        token = Token(
            token_id=parts.token_id,
            secret_hash=store.keys.token_hash(parts.secret),
            principal_id=holder.principal_id,
            background=new.background or mutation.access.origin is Origin.BACKGROUND,
            run_repository_id=None,
            run_id=None,
            created_by=mutation.access.principal_id,
            created_at=mutation.at,
            expires_at=expiry(mutation, new.ttl_seconds),
            revoked_at=None,
            last_used_at=None,
        )
        tokens.insert(mutation.tx, token, [Grant(new.role, where)])
        mutation.record(
            "token.create", token.token_id, repository_id=where, reason=holder.principal_id
        )
        return Receipt("token.create", token.token_id, 1, {})

    def render(tx: Transaction, _: Access, receipt: Receipt) -> Issued:
        fresh = receipt.target_id == parts.token_id
        return _issued(tx, receipt.target_id, format_token(parts) if fresh else None)

    return mutate(store, access, operation, work, render)


def expiry(mutation: Mutation, ttl_seconds: int | None) -> int | None:
    """Return when a token that the caller makes expires: never after the caller's own."""
    own = None
    if mutation.access.token_id is not None:
        own = tokens.find(mutation.tx, mutation.access.token_id)
    ends = [
        at
        for at in (
            None if ttl_seconds is None else mutation.at + ttl_seconds * SECOND,
            None if own is None else own.expires_at,
        )
        if at is not None
    ]
    return min(ends, default=None)


def page(
    store: Store, access: Access, *, principal: str | None, after: str | None, limit: int
) -> Page[Issued]:
    """List tokens without their secrets, by id, of one principal or of all.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such principal.
    """
    require_owner(access, "list tokens")
    with store.engine.read() as tx:
        holder = None if principal is None else get_principal(tx, principal).principal_id
        rows = tokens.list_all(tx, principal_id=holder, after=after, limit=limit + 1)
        shown = [_issued(tx, row.token_id, None) for row in rows]
    return cut(shown, limit, lambda i: i.token.token_id)


def revoke(store: Store, access: Access, token_id: str, operation: Operation) -> Issued:
    """Revoke a token: from the end of this call on it names nobody; doing so again is no change.

    Raises:
        ForbiddenError: The caller does not own the tenant.
        NotFoundError: There is no such token.
    """

    def work(mutation: Mutation) -> Receipt:
        require_owner(mutation.access, "revoke tokens")
        if tokens.find(mutation.tx, token_id) is None:
            raise NotFoundError("token", token_id)
        if tokens.revoke(mutation.tx, token_id, mutation.at):
            mutation.record("token.revoke", token_id)
        return Receipt("token.revoke", token_id, 1, {})

    def render(tx: Transaction, _: Access, receipt: Receipt) -> Issued:
        return _issued(tx, receipt.target_id, None)

    return mutate(store, access, operation, work, render, needs_room=False)


def _holder(mutation: Mutation, new: NewToken) -> Principal:
    found = principals.named(mutation.tx, new.principal)
    if found is None:
        return add(mutation, name=new.principal, kind=new.kind, pointer="/principal")
    if found.removed_at is not None:
        raise InvalidRequestError.at("/principal", "was removed")
    if new.kind not in {None, found.kind}:
        raise InvalidRequestError.at("/kind", f"the principal is of kind {found.kind}")
    return found


def _holds(tx: Transaction, principal_id: str, role: Role, repository_id: str | None) -> bool:
    """Tell whether a principal has *role* or a greater one there; operator is no lesser reader."""
    held = [
        g.role
        for g in principals.grants(tx, principal_id)
        if g.repository_id in {None, repository_id}
    ]
    if role is Role.OPERATOR:
        return role in held
    return any(h is not Role.OPERATOR and RANK[h] >= RANK[role] for h in held)


def _issued(tx: Transaction, token_id: str, text: str | None) -> Issued:
    token = tokens.find(tx, token_id)
    principal = None if token is None else principals.find(tx, token.principal_id)
    if token is None or principal is None:
        raise NotFoundError("token", token_id)
    return Issued(token, principal, tuple(tokens.grants(tx, token_id)), text)


def record_uses(store: Store) -> int:
    """Write when tokens were used since the last time; return how many there were."""
    seen = store.uses.take()
    if seen:
        with store.engine.write() as tx:
            for token_id, at in sorted(seen.items()):
                tokens.touch(tx, token_id, at)
    return len(seen)
