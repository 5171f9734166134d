"""What a caller may not see changes nothing of what it gets: status, headers and body, byte by byte.

Two worlds have the same seeds and clocks; one also holds hidden data, and goes on changing it
between the requests. Everything a caller can ask is asked in both.
"""

import tempfile
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from codeflow_memory.domain.access import Reach
from codeflow_memory.services import access as accesses
from codeflow_memory.services import listing, projects, replay
from codeflow_memory.services import runs as run_services
from codeflow_memory.storage import runs as run_rows

from .worlds.building import World, seeded
from .worlds.channels import CHANNELS, Known
from .worlds.scripts import SETTINGS, Setting, fill

PAIRS = 5_000
STIR_EVERY = 8
"""Requests between two hidden changes."""


class Twins:
    """A world without the hidden part and one with it."""

    def __init__(self, setting: Setting, folder, secrets) -> None:
        self.setting = setting
        self.without = World(folder / "without", secrets)
        self.with_hidden = World(folder / "with", secrets)
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
def twins_of(tmp_path_factory):
    """The worlds of each setting, made at its first use; every test leaves both alike."""
    made: dict[str, Twins] = {}
    memory = Path("/dev/shm")  # noqa: S108 - only the parent of private folders
    place = memory if memory.is_dir() else tmp_path_factory.mktemp("twins")
    with pytest.MonkeyPatch.context() as patch, ExitStack() as closing:
        secrets = seeded(patch)

        def twins(setting: Setting) -> Twins:
            if setting.name not in made:
                folder = closing.enter_context(tempfile.TemporaryDirectory(dir=place))
                made[setting.name] = Twins(setting, Path(folder), secrets)
                closing.callback(made[setting.name].close)
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
    assert len(CHANNELS) >= 45


def _sees_everything(patch) -> None:
    patch.setattr(Reach, "sees", lambda self, memory, **_: memory.scope_id in self.scopes)


def _lists_everything(patch) -> None:
    patch.setattr(listing, "visible", lambda reach, row: row.scope_id in reach.scopes)


def _reads_a_private_scope(patch) -> None:
    """One private scope of somebody else joins what everybody reads."""
    whole = accesses.scopes.of_project

    def leaking(tx, repository_id, project_id, audiences):
        asked = sorted(audiences)
        rows = tx.rows(
            "SELECT audience FROM scopes WHERE project_id = :id AND audience LIKE 'private:%'"
            " ORDER BY scope_id DESC LIMIT 1",
            {"id": project_id},
        )
        more = [row[0] for row in rows] if "project" in asked and len(asked) > 1 else []
        return whole(tx, repository_id, project_id, [*asked, *more])

    patch.setattr(accesses.scopes, "of_project", leaking)


def _shows_every_selection(patch) -> None:
    patch.setattr(replay, "_sees", lambda *_: True)


def _shows_every_run(patch) -> None:
    def any_run(tx, access, run_id):
        found = run_rows.find_by_id(tx, run_id)
        return run_services.NotFoundError("run", run_id) if found is None else found

    patch.setattr(run_services, "_own", any_run)


def _counts_secrets(patch) -> None:
    patch.setattr(projects.projects, "hidden_secrets", lambda *_: (0, 0))


def _lets_every_role_read(patch) -> None:
    patch.setattr("codeflow_memory.domain.access.Access.may", lambda *_: True)


LEAKS = {
    "others": (
        (_reads_a_private_scope, ("search", "the graph", "a selection by words")),
        (_shows_every_selection, ("a selection by id", "a replay", "selections of a run")),
        (_shows_every_run, ("runs",)),
        (_lets_every_role_read, ("a project by id or slug",)),
    ),
    "held": (
        (_sees_everything, ("a memory by id", "its diff")),
        (_lists_everything, ("lists by status", "the graph")),
    ),
    "secrets": (
        (_sees_everything, ("a memory by id", "a new memory with a hidden text")),
        (_counts_secrets, ("the limits of a project and their use",)),
    ),
}


@pytest.mark.parametrize(
    ("setting", "remove", "name"),
    [
        pytest.param(setting, remove, name, id=f"{setting.name}-{remove.__name__[1:]}-{name}")
        for setting in SETTINGS
        for remove, names in LEAKS[setting.name]
        for name in names
    ],
)
def test_a_filter_that_is_missing_is_noticed(setting, remove, name, tmp_path):
    """Control: in worlds of their own, because what leaks may change them differently."""
    with pytest.MonkeyPatch.context() as patch:
        twins = Twins(setting, tmp_path, seeded(patch))
        remove(patch)

        found = twins.differences(name)
        twins.close()

    assert found
