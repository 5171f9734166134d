"""Made-up projects for measuring: words by Zipf's law, paths as in a real tree, always the same."""

import random
from dataclasses import dataclass, replace

from codeflow_memory.domain.access import Access
from codeflow_memory.domain.candidates import Candidate
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.memory import Collection, Content, Kind
from codeflow_memory.domain.project import Project
from codeflow_memory.services import access as accesses
from codeflow_memory.services import governance, memories, review
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.projects import NewProject, add
from codeflow_memory.services.registration import Clone, register
from codeflow_memory.services.review import Decision
from codeflow_memory.services.store import Store
from codeflow_memory.storage import memories as rows
from codeflow_memory.storage.receipts import Receipt

_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "br", "dr", "gr", "st")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ou")
_STEP = 100
"""Entries written in one transaction."""


@dataclass(frozen=True)
class Made:
    """A seeded project and the words of its vocabulary, most frequent first."""

    project: Project
    vocabulary: list[str]


def vocabulary(size: int = 8_000) -> list[str]:
    """Return *size* words, most frequent first."""
    chance = random.Random(11)  # noqa: S311 - repeatable on purpose
    words: dict[str, None] = {}
    while len(words) < size:
        parts = chance.randint(2, 4)
        word = "".join(chance.choice(_ONSETS) + chance.choice(_VOWELS) for _ in range(parts))
        words[word] = None
    return list(words)


def seed(store: Store, owner: Access, slug: str, entries: int) -> Made:
    """Make a project with *entries* accepted memories of about 60 words each."""
    words = vocabulary()
    view = register(store, owner, Clone(key=f"bench-{slug}"), Operation(None, (slug,)))
    repository_id = view.repository.repository_id
    chance = random.Random(slug)  # noqa: S311 - repeatable on purpose
    made: list[Project] = []

    def project(mutation: Mutation) -> Receipt:
        made.append(add(mutation, repository_id, NewProject(slug)))
        return Receipt("bench", slug, 0, {})

    mutate(store, owner, Operation(None, ("project", slug)), project, lambda *_: None)
    for start in range(0, entries, _STEP):
        contents = [
            _content(chance, words, slug, at) for at in range(start, min(start + _STEP, entries))
        ]
        _write(store, owner, made[0], contents)
    return Made(made[0], words)


def query(chance: random.Random, words: list[str], count: int) -> str:
    """Return *count* words, rarer ones as likely as in a question that somebody asks."""
    return " ".join(
        words[min(int(chance.paretovariate(0.5)) + 40, len(words) - 1)] for _ in range(count)
    )


def _content(chance: random.Random, words: list[str], slug: str, at: int) -> Content:
    def text(count: int) -> str:
        return " ".join(
            words[min(int(chance.paretovariate(0.7)) - 1, len(words) - 1)] for _ in range(count)
        )

    folder = f"src/{words[at % 40]}"
    return Content(
        kind=Kind.GUIDANCE,
        title=f"{text(5)} {slug} {at}",
        body=text(chance.randint(30, 90)) + ".",
        tags=(words[at % 97],),
        paths=(f"{folder}/{words[at % 300]}.py",) if at % 2 else (f"{folder}/**",),
        sources=(f"file:{folder}/{words[at % 500]}.py",),
    )


def _write(store: Store, owner: Access, project: Project, contents: list[Content]) -> None:
    prepared = [governance.prepare(store, Candidate(c, Collection.PROJECT)) for c in contents]

    def work(mutation: Mutation) -> Receipt:
        reviewer = replace(owner, principal_id="bench-reviewer")
        for candidate in prepared:
            mutation.access = owner
            memory, _ = memories.admit(mutation, project, candidate)
            mutation.access = reviewer
            reach = accesses.reach_everywhere(mutation.tx, mutation.access)
            stored = rows.find(mutation.tx, [memory.scope_id], memory.memory_id)
            assert stored is not None
            review.carry_out(mutation, reach, stored, Decision(Action.APPROVE), None)
        return Receipt("bench", project.project_id, 0, {})

    mutate(store, owner, Operation(None, (store.ids.new("b"),)), work, lambda *_: None)
