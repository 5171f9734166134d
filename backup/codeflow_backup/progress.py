"""How far long work has come: a bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Watch = Callable[[str, int, int], None]
"""``(what is done, how much of it, of how much)``; called often."""


def unwatched(_label: str, _done: int, _total: int) -> None:
    """Show nothing."""


@contextmanager
def watching() -> Iterator[Watch]:
    """Show on stderr, while the block runs, what it tells, if a person looks at it."""
    if not sys.stderr.isatty():
        yield unwatched
        return
    # Drawing a bar takes a library that no other output needs.
    from rich.console import Console  # noqa: PLC0415 - when it is needed
    from rich.progress import Progress  # noqa: PLC0415 - when it is needed

    with Progress(console=Console(stderr=True), transient=True) as bars:
        tasks = {}

        def watch(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=total)
            bars.update(tasks[label], completed=done)

        yield watch
