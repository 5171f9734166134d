"""What a caller may not see changes nothing of what it gets: status, headers and body, byte by byte.

Two worlds have the same seeds and clocks; one also holds hidden data, and goes on changing it
between the requests. Everything a caller can ask is asked in both.
"""

from contextlib import ExitStack
from itertools import count

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
    with pytest.MonkeyPatch.context() as patch, ExitStack() as closing:
        secrets = seeded(patch)

        def twins(setting: Setting) -> Twins:
            if setting.name not in made:
                made[setting.name] = Twins(setting, tmp_path_factory.mktemp("twins"), secrets)
                closing.callback(made[setting.name].close)
            return made[setting.name]

        yield twins


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_hidden_data_changes_no_byte_of(setting, name, twins_of):
    assert twins_of(setting).differences(name) == []


def test_the_comparison_is_wide(twins_of):
    pairs = sum(1 for s in SETTINGS for name in CHANNELS for _ in twins_of(s).asks(name))

    assert pairs >= PAIRS
    assert len(CHANNELS) >= 45
