"""Pages: bounded parts of a list, and where the next one begins."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list.

    Args:
        items: In the list's order.
        after: The position behind the last item; ``None`` when nothing comes after it.
    """

    items: tuple[T, ...]
    after: str | None


def cut(rows: Sequence[T], limit: int, position: Callable[[T], str]) -> Page[T]:
    """Make a page of *limit* items; one more was read to see whether there is a next page."""
    items = tuple(rows[:limit])
    return Page(items, position(items[-1]) if len(rows) > limit else None)
