"""What a caller may not see changes nothing of what it gets, byte by byte.

Two worlds have the same seeds and clocks; one also holds hidden data, and goes on changing it
between the requests. Everything a caller can ask is asked in both.
"""

import re
from contextlib import ExitStack, closing
from itertools import count

import pytest
from litestar.routes import HTTPRoute

from codeflow_memory.app import create_litestar
from codeflow_memory.domain.access import Access, Reach
from codeflow_memory.domain.errors import NotFoundError
from codeflow_memory.services import listing, replay
from codeflow_memory.services import runs as run_services
from codeflow_memory.storage import principals, projects, scopes
from codeflow_memory.storage import runs as run_rows

from .grounds import Ground, ground
from .worlds.building import World, seeded
from .worlds.channels import CHANNELS, Known
from .worlds.scripts import SETTINGS, Setting, fill

PAIRS = 5_000
STIR_EVERY = 12
"""Requests between two hidden changes."""


class Twins:
    """A world without the hidden part and one with it."""

    def __init__(self, setting: Setting, ground: Ground, secrets) -> None:
        self.setting = setting
        self.without = World(ground.home("without"), secrets)
        self.with_hidden = World(ground.home("with"), secrets)
        fill(self.without, iter(()))
        fill(self.with_hidden, setting.hide(self.with_hidden))
        self._turns = count()

    def close(self) -> None:
        self.without.close()
        self.with_hidden.close()

    def asks(self, name: str):
        for caller in self.setting.callers:
            for ask in CHANNELS[name](Known(self.with_hidden.ids, caller)):
                yield caller, ask

    def differences(self, name: str) -> list[str]:
        """Send what the channel asks to both worlds; say where the answers differ."""
        found = []
        for caller, ask in self.asks(name):
            turn = next(self._turns)
            if turn % STIR_EVERY == 0:
                with self.with_hidden.hidden():
                    self.setting.stir(self.with_hidden, turn)
            self.without.streams.advance()
            self.with_hidden.streams.advance()
            a, b = self.without.ask(caller, ask), self.with_hidden.ask(caller, ask)
            assert a.status < 500, (ask, a)
            if a != b:
                found.append(f"{caller}: {ask.method} {ask.path} {ask.body}\n  {a}\n  {b}")
        return found


@pytest.fixture(scope="module")
def twins_of(engine_cluster):
    """The worlds of each setting, made at its first use; every test leaves both alike."""
    made: dict[str, Twins] = {}
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        secrets = seeded(patch)

        def twins(setting: Setting) -> Twins:
            if setting.name not in made:
                own = stack.enter_context(ground(engine_cluster))
                made[setting.name] = stack.enter_context(closing(Twins(setting, own, secrets)))
            return made[setting.name]

        yield twins


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_hidden_data_changes_no_byte_of(setting, name, twins_of):
    found = twins_of(setting).differences(name)

    assert not found, f"{len(found)} answers differ:\n" + "\n".join(found[:3])


def test_the_comparison_is_wide(twins_of):
    pairs = sum(1 for s in SETTINGS for name in CHANNELS for _ in twins_of(s).asks(name))

    assert pairs >= PAIRS


def test_every_route_of_the_server_is_asked(twins_of):
    """In the setting with the most callers; a new route without a channel fails here."""
    twins = twins_of(SETTINGS[0])
    asked = {(ask.method, ask.path.partition("?")[0]) for n in CHANNELS for _, ask in twins.asks(n)}
    served = [
        (method, route.path)
        for route in create_litestar(twins.without.wiring).routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in handler.http_methods - {"OPTIONS", "HEAD"}
    ]

    unasked = set(served) - {route_of(served, *ask) for ask in asked}

    assert len(served) > 50
    assert unasked == set()


def route_of(served: list[tuple[str, str]], method: str, path: str) -> tuple[str, str] | None:
    """Return which route answers: of several that fit, the one with the fewest parameters."""
    fitting = [
        (route, template)
        for route, template in served
        if route == method and re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", template), path)
    ]
    return min(fitting, key=lambda found: found[1].count("{"), default=None)


def _sees_everything(patch) -> None:
    patch.setattr(Reach, "sees", lambda self, memory, **_: memory.scope_id in self.scopes)


def _lists_everything(patch) -> None:
    patch.setattr(listing, "visible", lambda reach, row: row.scope_id in reach.scopes)


def _reads_a_private_scope(patch) -> None:
    """One private scope of somebody else joins what everybody reads."""
    whole = scopes.of_project

    def leaking(tx, repository_id, project_id, audiences):
        hal = principals.find_by_name(tx, "hal")
        more = [] if hal is None else [f"private:{hal.principal_id}"]
        return whole(tx, repository_id, project_id, [*audiences, *more])

    patch.setattr(scopes, "of_project", leaking)


def _shows_every_selection(patch) -> None:
    patch.setattr(replay, "_sees", lambda *_: True)


def _shows_every_run(patch) -> None:
    def any_run(tx, _, run_id):
        found = run_rows.find_by_id(tx, run_id)
        if found is None:
            raise NotFoundError("run", run_id)
        return found

    patch.setattr(run_services, "_own", any_run)


def _counts_secrets(patch) -> None:
    patch.setattr(projects, "hidden_secrets", lambda *_: (0, 0))


def _lets_every_role_read(patch) -> None:
    patch.setattr(Access, "may", lambda *_: True)


LEAKS = {
    "others": (
        (
            _reads_a_private_scope,
            (
                "search",
                "the graph",
                "a selection by words",
                "a search and a selection by the tools",
            ),
        ),
        (_shows_every_selection, ("a selection by id", "a replay", "selections of a run")),
        (_shows_every_run, ("runs",)),
        (_lets_every_role_read, ("a project by id or slug",)),
    ),
    "held": (
        (_sees_everything, ("a memory by id", "its diff", "a memory by the tools")),
        (_lists_everything, ("lists by status", "the graph")),
    ),
    "secrets": (
        (_sees_everything, ("a memory by id", "a new memory with a hidden text")),
        (_counts_secrets, ("the limits of a project and their use",)),
    ),
}


@pytest.mark.parametrize(
    ("setting", "remove", "names"),
    [
        pytest.param(setting, remove, names, id=f"{setting.name}-{remove.__name__[1:]}")
        for setting in SETTINGS
        for remove, names in LEAKS[setting.name]
    ],
)
def test_a_filter_that_is_missing_is_noticed(setting, remove, names, place):
    """Control: in worlds of their own, because what leaks may change them differently."""
    with pytest.MonkeyPatch.context() as patch, closing(Twins(setting, place, seeded(patch))) as a:
        remove(patch)

        silent = [name for name in names if not a.differences(name)]

    assert silent == []
