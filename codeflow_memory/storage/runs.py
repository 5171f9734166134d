"""Runs: single executions of a coding agent, each bound to one project."""

from codeflow_memory.domain.run import Run
from codeflow_memory.storage.engine import Transaction

_BEHIND_ALL = "~"
"""Sorts behind every id."""


def find(tx: Transaction, repository_id: str, run_id: str) -> Run | None:
    """Find a run of a repository."""
    row = tx.row(
        """
        SELECT repository_id, run_id, project_id, principal_id, branch, agent, team_id,
               live_entries, started_at, ended_at
          FROM runs
         WHERE repository_id = :repository_id
           AND run_id = :run_id
        """,
        {"repository_id": repository_id, "run_id": run_id},
    )
    return None if row is None else Run(*row)


def find_by_id(tx: Transaction, run_id: str) -> Run | None:
    """Find a run where only its id is known; the caller checks whose it is.

    An imported run may have the id of another repository's: then the id names none of them.
    """
    rows = tx.rows(
        """
        SELECT repository_id, run_id, project_id, principal_id, branch, agent, team_id,
               live_entries, started_at, ended_at
          FROM runs
         WHERE run_id = :run_id
         ORDER BY repository_id
         LIMIT 2
        """,
        {"run_id": run_id},
    )
    return Run(*rows[0]) if len(rows) == 1 else None


def insert(tx: Transaction, run: Run) -> None:
    """Write a new run."""
    tx.execute(
        """
        INSERT INTO runs (
            repository_id, run_id, project_id, principal_id, branch, agent, team_id, live_entries,
            started_at, ended_at
        ) VALUES (
            :repository_id, :run_id, :project_id, :principal_id, :branch, :agent, :team_id,
            :live_entries, :started_at, :ended_at
        )
        """,
        {
            "repository_id": run.repository_id,
            "run_id": run.run_id,
            "project_id": run.project_id,
            "principal_id": run.principal_id,
            "branch": run.branch,
            "agent": run.agent,
            "team_id": run.team_id,
            "live_entries": run.live_entries,
            "started_at": run.started_at,
            "ended_at": run.ended_at,
        },
    )


def end(tx: Transaction, repository_id: str, run_id: str, at: int) -> bool:
    """Mark a run as ended; tell whether it was not so before."""
    changed = tx.execute(
        """
        UPDATE runs
           SET ended_at = :at
         WHERE repository_id = :repository_id
           AND run_id = :run_id
           AND ended_at IS NULL
        """,
        {"repository_id": repository_id, "run_id": run_id, "at": at},
    )
    return changed == 1


def count_entries(tx: Transaction, repository_id: str, run_id: str, by: int) -> int:
    """Move the count of a run's live entries by *by*; return the new count.

    An entry may name a run that has no row here (an import's): that one is counted nowhere, 0.
    """
    row = tx.row(
        """
        UPDATE runs
           SET live_entries = live_entries + :by
         WHERE repository_id = :repository_id
           AND run_id = :run_id
        RETURNING live_entries
        """,
        {"repository_id": repository_id, "run_id": run_id, "by": by},
    )
    return 0 if row is None else int(row[0])


def list_of_principal(
    tx: Transaction, principal_id: str, *, after: str | None, limit: int
) -> list[Run]:
    """List a principal's runs, newest id first, at most *limit* of them from behind *after*."""
    rows = tx.rows(
        """
        SELECT repository_id, run_id, project_id, principal_id, branch, agent, team_id,
               live_entries, started_at, ended_at
          FROM runs
         WHERE principal_id = :principal_id
           AND run_id < :after
         ORDER BY run_id DESC, repository_id
         LIMIT :limit
        """,
        {"principal_id": principal_id, "after": after or _BEHIND_ALL, "limit": limit},
    )
    return [Run(*row) for row in rows]
