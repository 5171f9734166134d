"""Runs an ASGI application under uvicorn: bind first, serve, end on a signal.

Binding comes first so that the port is known, and with it the hosts that the application admits.
"""

import re
import signal
import socket
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import uvicorn
from litestar.types import ASGIApp
from uvicorn.server import HANDLED_SIGNALS

from codeflow_memory.http.protocol import Bounds, bounded

LOOPBACK: Final = "127.0.0.1"

GRACEFUL_SECONDS: Final = 10
"""How long requests may take to end once the server was told to."""

_BACKLOG = 512

_OWN_NAMES: Final = {LOOPBACK: (LOOPBACK, "localhost"), "::1": ("[::1]", "localhost")}

_HOST = re.compile(r"(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Listener:
    """A bound socket and the URL under which it is reached."""

    socket: socket.socket
    address: str
    port: int

    @property
    def url(self) -> str:
        """The root, without a slash at its end."""
        name = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{name}:{self.port}"

    def close(self) -> None:
        """Give the port back."""
        self.socket.close()


def bind(address: str = LOOPBACK, port: int = 0) -> Listener:
    """Take *port* of *address*, an IP address; port 0 takes any free one.

    Raises:
        OSError: The port is taken, or the address is not one of this machine's.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind((address, port))
        # Only listening takes the port for good: until then another may bind it as well.
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    return Listener(bound, address, bound.getsockname()[1])


def own_hosts(listener: Listener, declared: Collection[str] = ()) -> frozenset[str]:
    """Return the ``Host`` values to serve: those of loopback, and the *declared* ``host:port``.

    Raises:
        ValueError: Other machines can reach the address and no host is declared, so any name that
            points here would be served; or a declared host is not one, such as ``*``.
    """
    names = _OWN_NAMES.get(listener.address, ())
    if not names and not declared:
        raise ValueError("a server that other machines can reach needs its hosts declared")
    for host in declared:
        if _HOST.fullmatch(host) is None:
            raise ValueError(f"not a host:port: {host!r}")
    own = {f"{name}:{listener.port}" for name in names}
    if listener.port == 80:  # noqa: PLR2004 - the port that clients leave out
        own.update(names)
    return frozenset(own.union(declared))


def run(
    app: ASGIApp,
    listener: Listener,
    *,
    ready: Callable[[str], None],
    bounds: Bounds | None = None,
) -> None:
    """Serve *app* until SIGTERM or SIGINT; then end within `GRACEFUL_SECONDS` and return.

    A second SIGINT does not wait for requests. In a thread other than the main one no signal is
    handled.

    Args:
        app: Its lifespan runs around the serving.
        listener: Closed at the end.
        ready: Called with the URL once connections are served.
        bounds: Those of `Bounds` where not given.
    """
    _Server(configure(app, bounds or Bounds()), lambda: ready(listener.url)).run([listener.socket])


def configure(app: ASGIApp, bounds: Bounds) -> uvicorn.Config:
    """Return uvicorn's settings; no proxy header counts and nothing of a request is logged."""
    return uvicorn.Config(
        app,
        http=bounded(bounds),
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=bounds.idle_seconds,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )


class _Server(uvicorn.Server):
    """Tells when it serves, and outlives the signal that ends it."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's own raises the signal again at the end, which kills the process before the
        # caller has closed its stores and given its locks back.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
