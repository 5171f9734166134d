"""The engines differ in nothing that anybody can read: the same life, told by the same bytes.

Two homes with the same seeds and clocks go through the same operations, one on files and one on
PostgreSQL, whose words sort by a language there and not by bytes.
"""

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice

import pytest

from codeflow_memory.services import batch, removal
from codeflow_memory.storage import dialect

from .engines.life import Life
from .engines.pair import DifferentError, Pair
from .engines.questions import ask_everything, carry_over
from .grounds import ground
from .worlds.building import Ask, StandingTime, seeded
from .worlds.channels import CHANNELS, Known
from .worlds.scripts import CALLERS, SETTINGS, fill

LONG = os.environ.get("CODEFLOW_LONG") == "1"
SEEDS = range(30 if LONG else 3)
OPERATIONS = 400 if LONG else 150
ASKING = CALLERS if LONG else ("rev", "red")
ONE_IN = 1 if LONG else 3
"""Of the questions each, other ones for each seed."""

SUCCESSES = OPERATIONS // 3
"""The least number of operations of a life that were carried out."""


@contextmanager
def pair(cluster) -> Iterator[Pair]:
    """Two worlds that hold people, a team, runs, and some entries of every kind."""
    with (
        pytest.MonkeyPatch.context() as patch,
        ground(None) as files,
        ground(cluster) as schemas,
        closing(Pair(files, schemas, seeded(patch))) as made,
    ):
        # They do less in one step when time runs.
        patch.setattr(removal, "time", StandingTime)
        patch.setattr(batch, "time", StandingTime)
        for world in made.worlds:
            fill(world, SETTINGS[0].hide(world))
        made.both("what they hold", lambda world: (world.ids, world.revisions, world.tokens))
        yield made


def lived(two: Pair, seed: int) -> Life:
    life = Life(two, seed)
    life.live(OPERATIONS)
    two.compare_rows()
    ask_everything(life, ASKING, one_in=ONE_IN, first=seed % ONE_IN)
    carry_over(two)
    two.compare_rows()
    return life


@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_life_is_told_by_the_same_bytes(cluster, seed):
    with pair(cluster) as two:
        life = lived(two, seed)

    assert sum(n for (_, status), n in life.answers.items() if status < 300) > SUCCESSES
    assert {entry.status for entry in life.entries.values()} > {"proposed", "accepted", "rejected"}


def test_every_channel_answers_with_the_same_bytes(cluster):
    with pair(cluster) as two:
        for caller in ASKING:
            for name in CHANNELS:
                for wanted in islice(CHANNELS[name](Known(two.ids, caller)), 0, None, ONE_IN):
                    two.ask(caller, wanted)
        two.compare_rows()


def test_metrics_and_status_tell_the_same_of_both(cluster):
    with pair(cluster) as two:
        for path in ("/metrics", "/api/status"):
            of_files, of_schemas = (world.ask("owner", Ask("GET", path)) for world in two.worlds)
            assert of_files.status == of_schemas.status == 200
            assert (SIZE.search(of_files.body), SIZE.search(of_schemas.body)) != (None, None)
            assert steady(of_files) == steady(of_schemas)


SIZE = re.compile(rb'(database_bytes(?:"?:| ))[0-9.e+]+')
TIMED = re.compile(rb"(?m)^[^\n]*(?:seconds|process|python|content-length)[^\n]*\n")


def steady(reply) -> bytes:
    """What of an answer is neither the room that the engine takes nor the time that passed."""
    return TIMED.sub(b"", SIZE.sub(rb"\1", reply.body))


# Controls: engines that differ.


def _no_collation(patch) -> None:
    """Texts sort as the server's language has them."""
    plain = dialect.definition
    patch.setattr(dialect, "definition", lambda sql: plain(sql).replace(b' COLLATE "C"', b""))


def _ties_turned(patch) -> None:
    """What an order leaves open comes the other way round."""
    plain = dialect.statement
    ties = re.compile(rb"(ORDER BY [^\n]*, [\w.]+)(?=\s)")

    def turned(sql: str, **options: bool) -> bytes:
        return ties.sub(rb"\1 DESC", plain(sql, **options))

    patch.setattr(dialect, "statement", turned)


def _ties_dropped(patch) -> None:
    plain = dialect.statement
    ties = re.compile(rb"(ORDER BY [^\n]*), [\w.]+(?=\s)")

    def dropped(sql: str, **options: bool) -> bytes:
        return ties.sub(rb"\1", plain(sql, **options))

    patch.setattr(dialect, "statement", dropped)


@pytest.mark.parametrize("broken", [_no_collation, _ties_turned, _ties_dropped])
def test_engines_that_differ_are_noticed(cluster, monkeypatch, broken):
    broken(monkeypatch)

    with pytest.raises(DifferentError), pair(cluster) as two:
        lived(two, 0)
