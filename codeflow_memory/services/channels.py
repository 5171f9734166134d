"""Channels: the parts that a score is made of, by words and paths or without words (01 §9)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from codeflow_memory.domain import ranking
from codeflow_memory.services.search import Scored
from codeflow_memory.storage.lights import Light


@dataclass(frozen=True, slots=True)
class Standing:
    """What entries are worth to a request before any connection.

    Args:
        scored: Their keyword scores.
        closeness: Memory id to nearness from 0 to 1.
        memory_ids: Those that passed the filter.
        rows: The entries that the caller sees, by id.
    """

    scored: Scored
    closeness: Mapping[str, float]
    memory_ids: Collection[str]
    rows: Mapping[str, Light]

    def scores(self) -> dict[str, float]:
        """Score them by words and paths; without words by paths, trust and recency alone."""
        if self.scored.query.tokens:
            return ranking.with_closeness(self.scored.scores, self.closeness)
        return {memory_id: fsum(parts) for memory_id, parts in self._wordless().items()}

    def explain(
        self, memory_ids: Sequence[str], seeds: Collection[str], boosts: Mapping[str, float]
    ) -> dict[str, dict[str, float]]:
        """Return what each channel added to the score of *memory_ids*, rounded.

        What is not among the *seeds* has nothing but what a connection lends it.
        """
        explained: dict[str, dict[str, float]] = {}
        if not memory_ids:
            return explained
        own = self._by_words() if self.scored.query.tokens else self._without_words()
        for memory_id in memory_ids:
            seed = memory_id in seeds
            parts = {name: of.get(memory_id, 0.0) if seed else 0.0 for name, of in own.items()}
            parts["connection"] = boosts.get(memory_id, 0.0)
            explained[memory_id] = {n: round(v, ranking.DECIMALS) for n, v in parts.items()}
        return explained

    def _by_words(self) -> dict[str, Mapping[str, float]]:
        gains = ranking.closeness_gains(self.scored.scores, self.closeness)
        return {"keyword": self.scored.scores, "path": gains}

    def _without_words(self) -> dict[str, Mapping[str, float]]:
        found = self._wordless()
        return {
            "path": {m: parts.path for m, parts in found.items()},
            "trust": {m: parts.trust for m, parts in found.items()},
            "recency": {m: parts.recency for m, parts in found.items()},
        }

    def _wordless(self) -> dict[str, ranking.Wordless]:
        rows = [self.rows[memory_id] for memory_id in self.memory_ids]
        newest = max((row.updated_at for row in rows), default=0)
        return {
            row.memory_id: ranking.without_words(
                self.closeness.get(row.memory_id, 0.0), row.trust, row.updated_at, newest
            )
            for row in rows
        }
