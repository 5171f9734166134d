"""Who is let in when a server is full, and who gives way."""

from dataclasses import dataclass

import pytest

from codeflow_memory.http.room import Room


@dataclass(eq=False)
class Connection:
    """One that is at work, or waits for its client since a moment."""

    peer: str
    waiting_since: float | None = 0.0
    ended: bool = False

    def give_way(self) -> None:
        self.ended = True


def full(*connections: Connection, per_peer: int = 9) -> Room:
    room = Room(len(connections), per_peer)
    assert all(room.enter(connection) for connection in connections)
    return room


def test_a_peer_that_has_its_share_is_refused_while_others_are_let_in():
    room = Room(9, 2)

    entered = [room.enter(Connection(peer)) for peer in ("a", "a", "a", "b")]

    assert entered == [True, True, False, True]


def test_of_a_full_server_the_one_that_waits_longest_gives_way():
    older, newer, busy = Connection("a", 1.0), Connection("b", 2.0), Connection("c", None)
    room = full(busy, newer, older)

    assert room.enter(Connection("d", 3.0))

    assert (older.ended, newer.ended, busy.ended) == (True, False, False)


def test_the_peer_that_holds_the_most_gives_way_before_one_that_waits_longer():
    lone, first, second = Connection("a", 1.0), Connection("b", 2.0), Connection("b", 3.0)
    room = full(lone, first, second)

    assert room.enter(Connection("c", 4.0))

    assert (lone.ended, first.ended, second.ended) == (False, True, False)


def test_what_is_at_work_never_gives_way():
    room = full(Connection("a", None), Connection("b", None))

    assert not room.enter(Connection("c"))


def test_one_that_gave_way_or_left_makes_room_once():
    first = Connection("a", 1.0)
    room = full(first, Connection("b", None))
    assert room.enter(Connection("c", None))

    room.leave(first)
    room.leave(first)

    assert not room.enter(Connection("d"))


def test_one_that_left_is_counted_no_more_for_its_peer():
    room, first = Room(9, 1), Connection("a")
    room.enter(first)

    room.leave(first)

    assert room.enter(Connection("a"))


def test_one_that_was_refused_takes_nothing_with_it():
    room, refused = Room(9, 1), Connection("a")
    room.enter(Connection("a"))
    assert not room.enter(refused)

    room.leave(refused)

    assert not room.enter(Connection("a"))


@pytest.mark.parametrize("waiting_since", [None, 1.0])
def test_a_newcomer_beyond_its_peer_s_share_displaces_nobody(waiting_since):
    held = [Connection("a", 1.0), Connection("b", waiting_since)]
    room = full(*held, per_peer=1)

    assert not room.enter(Connection("a", 2.0))

    assert not any(connection.ended for connection in held)
