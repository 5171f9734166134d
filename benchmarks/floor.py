"""What the rows of a write cost alone: the same statements on a copy, with no logic of ours.

What the engine takes for the pages that a governed write touches, no change of our code can spare.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codeflow_memory.services.store import Store
from codeflow_memory.storage.engine import Engine
from codeflow_memory.storage.sqlite import SQLiteEngine

Statement = tuple[str, Any]
WRITING = ("INSERT", "UPDATE", "DELETE")


def rows_alone(store: Store, work: Callable[[Any], object], arguments: Iterable) -> list[float]:
    """Do *work* with each of *arguments*, and its writing statements again on a copy.

    Returns:
        The seconds of each transaction on the copy, which was made before the first.
    """
    with tempfile.TemporaryDirectory(dir=store.engine.path.parent) as folder:
        copy = SQLiteEngine(Path(shutil.copy(store.engine.path, folder)))
        writes = []
        for argument in arguments:
            with _recorded(store) as statements:
                work(argument)
            writes.append(list(_grouped(statements)))
        taken = [_again(copy, write) for write in writes]
        copy.close()
    # The first opens the copy.
    return taken[1:]


@contextmanager
def _recorded(store: Store) -> Iterator[list[Statement]]:
    statements: list[Statement] = []

    def record(_: object, sql: str, values: Any) -> bool:  # noqa: ANN401 - as apsw has it
        if sql.split(None, 1)[0] in WRITING:
            statements.append((sql, values))
        return True

    # The one that every operation of the block will borrow.
    with store.engine._connection() as connection:  # noqa: SLF001 - no other needs it
        connection.exec_trace = record
    yield statements
    with store.engine._connection() as connection:  # noqa: SLF001 - as above
        connection.exec_trace = None


def _grouped(statements: Iterable[Statement]) -> Iterator[tuple[str, list]]:
    """Put statements that follow one another with other values together."""
    group: tuple[str, list] | None = None
    for sql, values in statements:
        if group is not None and group[0] == sql:
            group[1].append(values)
        else:
            if group is not None:
                yield group
            group = (sql, [values])
    if group is not None:
        yield group


def _again(copy: Engine, write: list[tuple[str, list]]) -> float:
    began = time.perf_counter()
    with copy.write() as tx:
        for sql, values in write:
            if len(values) == 1:
                tx.execute(sql, values[0])
            else:
                tx.executemany(sql, values)
    return time.perf_counter() - began
