"""A world: a home of its own, an application over it, and a script that fills both.

Two worlds are built by the same script. One of them also carries out the steps that are hidden
from the callers to be compared. Hidden steps happen between the others, at times of their own, and
draw identifiers from a stream of their own, so that what is visible has the same ids and times in
both worlds.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from urllib.parse import unquote

from codeflow_memory import app as wiring
from codeflow_memory.adapters.secrets import TokenParts
from codeflow_memory.domain.access import Origin, Role
from codeflow_memory.services import access as accesses
from codeflow_memory.services import runs, tokens
from codeflow_memory.services.mutation import Operation
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.services.tokens import NewToken
from codeflow_memory.settings import Limits, Settings
from codeflow_memory.storage import principals
from codeflow_memory.storage.home import Home

START = 1_800_000_000_000_000
STEP = 1_000_000
HOST = "memory.test:8787"
MANY = 1_000_000_000

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client gets: status, headers as they were sent, body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    def made(self, *statuses: int):
        """The body of an answer that must be a success while a world is built."""
        assert self.status in (statuses or (200, 201)), self
        return self.json


@dataclass(frozen=True, slots=True)
class Ask:
    """One request; ``{cursor}`` in the path stands for the last ``next_cursor`` of that world."""

    method: str
    path: str
    body: object = None
    if_match: int | None = None
    key: str | None = None
    token: str | None = None


@dataclass
class Streams:
    """Where identifiers and times come from; hidden steps do not move the visible stream."""

    visible: Random = field(default_factory=lambda: Random(7))  # noqa: S311 - repeatable
    hidden: Random = field(default_factory=lambda: Random(8))  # noqa: S311 - repeatable
    hiding: bool = False
    at: int = START

    def bytes(self, count: int) -> bytes:
        return (self.hidden if self.hiding else self.visible).randbytes(count)

    def text(self, length: int) -> str:
        return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in self.bytes(length))

    def now(self) -> int:
        return self.at + (STEP // 2 if self.hiding else 0)

    def advance(self) -> None:
        self.at += STEP


class Tokens:
    """Takes the place of the source of tokens, which is never seeded: ids and secrets by stream."""

    active: Streams

    def new(self, tenant: str) -> TokenParts:
        return TokenParts(tenant, self.active.text(16), self.active.text(43))


class World:
    """One home, empty at first, with its application; asked in this process, by one thread."""

    def __init__(self, home: Home, secrets: Tokens) -> None:
        self.streams = Streams()
        self._secrets = secrets
        key = home.path / "key"
        key.write_bytes(bytes(range(32)))
        key.chmod(0o600)
        self.tenants = Tenants(home, now=self.streams.now, random_bytes=self.streams.bytes)
        limits = Limits(
            requests_per_minute_token=MANY, requests_per_minute_tenant=MANY, failed_sign_ins=MANY
        )
        self._loop = asyncio.new_event_loop()
        self.wiring = wiring.Wiring(
            self.tenants, Settings(limits=limits), [HOST], lambda: "request"
        )
        self._app = wiring.create_app(self.wiring)
        self.ids: dict[str, str] = {}
        self.revisions: dict[str, int] = {}
        self.tokens: dict[str, str] = {}
        self._cursor = ""

    def close(self) -> None:
        # The life of the protocol ends with that of the application, which nobody has ended here.
        self._loop.run_until_complete(_cancel(asyncio.all_tasks(self._loop)))
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()
        self.tenants.close()

    @contextmanager
    def hidden(self) -> Iterator[None]:
        self.streams.hiding = True
        yield
        self.streams.hiding = False

    def tenant(self, slug: str) -> None:
        self.tenants.create(slug)

    def first_token(self, tenant: str, name: str) -> None:
        """Make the token of a tenant's first owner, as the owner of the home's files does."""
        self._secrets.active = self.streams
        store = self.tenants.get(tenant)
        with store.engine.read() as tx:
            owner = principals.first_owner(tx)
            first = accesses.of_principal(store, tx, owner.principal_id, Origin.USER)
        new = NewToken("owner", "user", Role.OWNER)
        self.tokens[name] = tokens.create(store, first, new, Operation(None, ())).text

    def ask(self, caller: str, wanted: Ask) -> Reply:
        """Send a request of *caller* and return the whole answer."""
        self._secrets.active = self.streams
        bearer = self.tokens.get(caller) if wanted.token is None else wanted.token
        reply = self._loop.run_until_complete(self._exchange(bearer, wanted))
        if reply.status == 200 and b'"next_cursor":"' in reply.body:
            self._cursor = reply.json["next_cursor"]
        return reply

    def post(self, caller: str, path: str, body: object, revision: int | None = None):
        return self.ask(caller, Ask("POST", path, body, revision)).made()

    def keep(self, name: str, body) -> dict:
        """Remember a memory by name, with the revision that it has now."""
        self.ids[name] = body["id"]
        self.revisions[name] = body["revision"]
        return body

    def act(self, caller: str, name: str, action: str, **body) -> None:
        path = f"/api/memories/{self.ids[name]}/{action}"
        self.keep(name, self.post(caller, path, body, self.revisions[name]))

    async def _exchange(self, bearer: str | None, wanted: Ask) -> Reply:
        path, _, query = wanted.path.replace("{cursor}", self._cursor).partition("?")
        headers = [(b"host", HOST.encode())]
        if bearer:
            headers.append((b"authorization", f"Bearer {bearer}".encode()))
        if wanted.if_match is not None:
            headers.append((b"if-match", f'"{wanted.if_match}"'.encode()))
        if wanted.key is not None:
            headers.append((b"idempotency-key", wanted.key.encode()))
        body = b"" if wanted.body is None else json.dumps(wanted.body).encode()
        if body:
            headers += [
                (b"accept", b"application/json"),
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
            ]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": wanted.method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8787),
            "state": {},
        }
        sent: list[dict] = []
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            # After the body comes nothing: the client stays until it has its answer.
            return parts.pop() if parts else await asyncio.Event().wait()

        async def send(message):
            sent.append(message)

        await self._app(scope, receive, send)
        start = sent[0]
        whole = b"".join(m.get("body", b"") for m in sent[1:])
        return Reply(start["status"], tuple((n, v) for n, v in start["headers"]), whole)


async def _cancel(tasks: set[asyncio.Task]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class StandingTime:
    """The monotonic clock of rate limits, which would count what the machine does besides."""

    @staticmethod
    def monotonic() -> float:
        return 0.0


def seeded(monkeypatch) -> Tokens:
    """Let tokens and rate limits of worlds be repeatable."""
    secrets = Tokens()
    monkeypatch.setattr(tokens, "new_token", secrets.new)
    monkeypatch.setattr(runs, "new_token", secrets.new)
    monkeypatch.setattr(wiring, "time", StandingTime)
    return secrets
