"""A real server in a process of its own, a proxy before it, and clients of both."""

import asyncio
from itertools import count

import pytest

from codeflow_memory_client import AsyncClient, Client, Retry

from ..program import Server
from .breaking import Breaking

_NAMES = count()

AT_ONCE = Retry(first_wait=0.0)
"""Waits for nothing but what a server asks for."""


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """A server and its first owner's token."""
    server = Server(tmp_path_factory.mktemp("served") / "home")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def token(served):
    return served.first["token"]


@pytest.fixture(scope="session")
def client(served, token):
    with Client(served.url, token, retry=AT_ONCE) as made:
        yield made


@pytest.fixture
def project(client):
    """A project of this test's own."""
    name = f"shop-{next(_NAMES)}"
    repository = client.register_repository({"key": name})
    return client.create_project(repository["id"], {"slug": name})


@pytest.fixture
def new_draft():
    def made(**more):
        word = f"word{next(_NAMES)}"
        return {
            "kind": "guidance",
            "collection": "project",
            "title": f"About {word}",
            "body": f"The rule of {word} {word * 2}.",
        } | more

    return made


@pytest.fixture
def proxy(served):
    made = Breaking(served.port)
    yield made
    made.close()


class Blocking:
    """An `AsyncClient` whose methods wait: the same tests for both clients."""

    def __init__(self, url, token, **options):
        self._runner = asyncio.Runner()
        try:
            self._client = self._run(self._made(url, token, options))
        except ValueError:
            self._runner.close()
            raise

    @staticmethod
    async def _made(url, token, options):
        return AsyncClient(url, token, **options)

    def _run(self, coroutine):
        return self._runner.run(coroutine)

    def __getattr__(self, name):
        method = getattr(self._client, name)

        def call(*arguments, **options):
            begun = method(*arguments, **options)
            return self._run(begun if asyncio.iscoroutine(begun) else listed(begun))

        return call

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._runner:
            self._run(self._client.aclose())


async def listed(items):
    return [item async for item in items]


@pytest.fixture(params=[Client, Blocking], ids=["sync", "async"])
def connect(request, token):
    """Make a client of either kind."""
    made = []

    def to(url, token=token, **options):
        made.append(request.param(url, token, **{"retry": AT_ONCE} | options))
        return made[-1]

    yield to
    for one in made:
        one.__exit__(None, None, None)
