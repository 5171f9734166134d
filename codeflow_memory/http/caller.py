"""Who calls: the bearer token of a request becomes the `Access` and `Store` that handlers get."""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Protocol, TypeVar

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency
from litestar.handlers import BaseRouteHandler
from litestar.params import HeaderParameter

from codeflow_memory.adapters.secrets import TokenParts, parse_token
from codeflow_memory.domain.access import Access
from codeflow_memory.domain.errors import NotFoundError, UnauthenticatedError
from codeflow_memory.domain.tenant import LOCAL
from codeflow_memory.http import exchange
from codeflow_memory.http.exchange import Caller
from codeflow_memory.http.pool import Pool
from codeflow_memory.http.preconditions import parse_idempotency_key, parse_if_match
from codeflow_memory.http.rate import RateLimits
from codeflow_memory.services import access as accesses
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.store import Store

T = TypeVar("T")

PUBLIC = "public"
"""The ``opt`` of a route that needs no caller: ``{PUBLIC: True}``; there is no other way."""

Connection = ASGIConnection[Any, Any, Any, Any]

_log = logging.getLogger(__name__)

_ACCESS = "codeflow.access"
_SCHEME = "Bearer "
_NO_TENANT = "0" * 63
_NO_TOKEN = TokenParts(LOCAL, "0", "0")


class Stores(Protocol):
    """The tenants that this process serves."""

    def get(self, tenant: str) -> Store:
        """Return a tenant's store.

        Raises:
            NotFoundError: There is no such tenant.
        """

    def ask(self) -> None:
        """Ask what carries the databases for a sign of life.

        Raises:
            BusyError: There is none.
            DeadlineExceededError: There was none by the deadline.
            StoreUnusableError: It refuses us.
        """


class Callers:
    """Authenticates requests.

    Args:
        stores: The tenants.
        pool: Where the look-up runs.
        limits: Rate limits; ``None`` for a caller in this process.
        fixed: Takes the token's place for the owner of the home's files: returns the access.
    """

    def __init__(
        self,
        stores: Stores,
        pool: Pool,
        limits: RateLimits | None,
        fixed: Callable[[], Access] | None = None,
    ) -> None:
        self._stores = stores
        self._pool = pool
        self._limits = limits
        self._fixed = fixed

    async def guard(self, connection: Connection, handler: BaseRouteHandler) -> None:
        """Authenticate before anything of the request is read; the only way around is `PUBLIC`.

        Raises:
            UnauthenticatedError: No token, or one that does not name a caller.
            RateLimitedError: Too many requests of this token, tenant or address.
        """
        if handler.opt.get(PUBLIC) is not True:
            connection.scope["state"][_ACCESS] = await self._access(connection)

    async def _access(self, connection: Connection) -> Access:
        if self._fixed is not None:
            return await self._pool.run(self._fixed)
        header = connection.headers.get("authorization", "")
        parts = parse_token(header.removeprefix(_SCHEME)) if header.startswith(_SCHEME) else None
        if parts is None:
            raise UnauthenticatedError
        try:
            access = await self._pool.run(partial(self._authenticate, parts))
        except UnauthenticatedError as error:
            raise self._failed(connection) or error from None
        exchange.identify(Caller(access.tenant, access.principal_id, access.token_id))
        if self._limits is not None:
            admission = self._limits.admit(token_id=access.token_id or "", tenant=access.tenant)
            exchange.add_headers(dict(admission.headers))
            if admission.refusal is not None:
                raise admission.refusal
        return access

    async def call(self, request: Request[Any, Any, Any]) -> "Call":
        """Bring together what a reading handler works with: the guard has seen the caller."""
        access: Access = request.scope["state"][_ACCESS]
        return Call(access, self._stores.get(access.tenant), self._pool)

    def _authenticate(self, parts: TokenParts) -> Access:
        try:
            store = self._stores.get(parts.tenant)
        except NotFoundError:
            # An unknown tenant takes the steps of a known one, with a token that nobody has.
            return accesses.authenticate(
                self._stores.get(LOCAL), _NO_TOKEN.token_id, _NO_TOKEN.secret
            )
        try:
            return accesses.authenticate(store, parts.token_id, parts.secret)
        except UnauthenticatedError:
            # And the other way round: a wrong token of a known tenant looks for an unknown one.
            with suppress(NotFoundError):
                self._stores.get(_NO_TENANT)
            raise

    def _failed(self, connection: Connection) -> Exception | None:
        peer = connection.client
        limited = None
        if self._limits is not None and peer is not None:
            limited = self._limits.fail_sign_in(peer.host)
        if limited is None:
            # Once an address is held up, its attempts are counted and no longer written down.
            _log.warning("sign-in refused", extra={"request_id": exchange.request_id()})
        return limited


class Call:
    """What a reading handler works with: the caller, its tenant, and threads to work in.

    No dataclass: Litestar would look into its fields at every request.
    """

    __slots__ = ("access", "pool", "store")

    def __init__(self, access: Access, store: Store, pool: Pool) -> None:
        self.access = access
        self.store = store
        self.pool = pool

    async def run(self, service: Callable[..., T], *arguments: object, **options: object) -> T:
        """Do a service's work in a thread: *service* gets store and access first."""
        return await self.pool.run(partial(service, self.store, self.access, *arguments, **options))


class Change(Call):
    """What a writing handler works with.

    Args:
        call: What a reading handler works with.
        operation: Names the request for its receipt.
        if_match: The header as sent.
    """

    __slots__ = ("_if_match", "operation")

    def __init__(self, call: Call, operation: Operation, if_match: str | None) -> None:
        super().__init__(call.access, call.store, call.pool)
        self.operation = operation
        self._if_match = if_match

    @property
    def base_revision(self) -> int:
        """The revision that the caller read.

        Raises:
            RevisionRequiredError: ``If-Match`` is missing.
            InvalidRequestError: It is no entity tag of ours.
        """
        return parse_if_match(self._if_match)


async def provide_change(
    request: Request[Any, Any, Any],
    call: NamedDependency[Call],
    if_match: Annotated[
        str | None, HeaderParameter(name="If-Match", description='`"<revision>"`, as in `ETag`')
    ] = None,
    idempotency_key: Annotated[str | None, HeaderParameter(name="Idempotency-Key")] = None,
) -> Change:
    """Bring together what a writing handler works with."""
    named = Operation(
        parse_idempotency_key(idempotency_key),
        (request.method, request.url.path, request.url.query, if_match or "", await request.body()),
    )
    return Change(call, named, if_match)
