"""The rules of 01 §3 to §6 over plain dictionaries.

Each method answers what the product must answer: the class of the refusal, or ``None`` when the
change is made. It is written from the specification and shares no code with what it is compared to
but the names of statuses and errors.
"""

from dataclasses import dataclass, field, replace

from codeflow_memory.domain import errors

PROPOSED, ACCEPTED, REJECTED = "proposed", "accepted", "rejected"
OUTDATED, SUPERSEDED, ARCHIVED, DELETED = "outdated", "superseded", "archived", "deleted"
RANKS = {"reader": 1, "contributor": 2, "reviewer": 3, "maintainer": 4, "owner": 5}
TARGETS = {
    "approve": ACCEPTED, "reject": REJECTED, "supersede": SUPERSEDED, "outdate": OUTDATED,
    "archive": ARCHIVED, "restore": ACCEPTED, "return": PROPOSED,
}  # fmt: skip
MOVES = {
    PROPOSED: {ACCEPTED, REJECTED, SUPERSEDED, OUTDATED, DELETED},
    ACCEPTED: {SUPERSEDED, OUTDATED, ARCHIVED, REJECTED, PROPOSED, DELETED},
    OUTDATED: {ACCEPTED, SUPERSEDED, REJECTED, DELETED},
    SUPERSEDED: {ACCEPTED, DELETED},
    ARCHIVED: {ACCEPTED, DELETED},
    REJECTED: {DELETED},
    DELETED: set(),
}
STARTS = {"approve": {PROPOSED}, "restore": {SUPERSEDED, ARCHIVED, OUTDATED}}
FIRST_TRUST, HELPED, HINDERED, FLOOR = 8_500, 1_000, -1_500, 5_500
SEEN, SOURCES = 500, 3

Refusal = type[errors.CodeflowError] | None


@dataclass
class Caller:
    """Somebody who acts; ``roles`` are ``(role, repository or None)``, cut to the token's own."""

    name: str
    principal: str
    person: bool
    roles: set[tuple[str, str | None]]
    teams: set[str] = field(default_factory=set)
    sponsored: set[str] = field(default_factory=set)
    run: tuple[str, str] | None = None

    def rank(self, repository: str) -> int:
        return max(
            (RANKS[role] for role, where in self.roles if where in {None, repository}), default=-1
        )

    @property
    def decides(self) -> bool:
        return self.person and self.run is None


@dataclass(frozen=True)
class Entry:
    """One memory as it should stand."""

    id: str
    repository: str
    project: str
    collection: str
    owner: str
    author: str
    editor: str
    team: str | None
    run: str | None
    status: str
    text: int
    paths: tuple[str, ...]
    sensitivity: str
    derived: tuple[tuple[str, int], ...]
    supersedes: tuple[str, int] | None
    trust: int
    at: int
    revision: int = 1
    before: str | None = None
    superseded_by: str | None = None

    @property
    def scope(self) -> tuple[str, str]:
        whose = {"project": "", "team": self.team, "private": self.owner}[self.collection]
        return self.project, f"{self.collection}:{whose}"


@dataclass(frozen=True)
class Wish:
    """What somebody wants to write."""

    project: str
    collection: str
    text: int
    paths: tuple[str, ...] = ()
    sensitivity: str = "normal"
    team: str | None = None
    derived: tuple[tuple[str, int], ...] = ()
    supersedes: tuple[str, int] | None = None


class Believed:
    """The whole state."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.history: dict[tuple[str, int], Entry] = {}
        self.projects: dict[str, str] = {}
        self.judged: set[tuple[str, int, str]] = set()
        self.sources: dict[str, set[str]] = {}
        self.now = 0

    # What exists for whom.

    def sees_project(self, who: Caller, project: str) -> bool:
        return who.rank(self.projects[project]) >= RANKS["reader"]

    def reaches(self, who: Caller, entry: Entry) -> bool:
        """Whether the entry's audience is one that the caller reads."""
        if who.rank(entry.repository) < RANKS["reader"]:
            return False
        if who.run is not None and who.run[1] != entry.project:
            return False
        match entry.collection:
            case "team":
                return entry.team in who.teams
            case "private":
                return entry.owner == who.principal or entry.owner in who.sponsored
        return True

    def sees(self, who: Caller, entry: Entry) -> bool:
        if not self.reaches(who, entry):
            return False
        if entry.sensitivity == "secret" and entry.owner != who.principal:
            return False
        if entry.collection == "private" and entry.owner != who.principal:
            return entry.status == PROPOSED
        status = entry.before if entry.status == DELETED else entry.status
        if entry.collection == "project" and status in {PROPOSED, REJECTED}:
            return who.rank(entry.repository) >= RANKS["contributor"]
        return True

    def visible(self, who: Caller) -> dict[str, Entry]:
        return {i: e for i, e in self.entries.items() if self.sees(who, e)}

    # What may be written.

    def create(self, who: Caller, wish: Wish) -> tuple[Refusal, str | None]:
        """Return the refusal, or the id of the entry that says the same already."""
        refused = self._may_write_to(who, wish) or self._provenance(who, wish)
        if refused is None and wish.supersedes is not None:
            refused = self._succeeds(who, wish)
        if refused is not None:
            return refused, None
        known = None if wish.supersedes else self._same(who, wish)
        refused = None if known else self._decided_before(who, wish.project, wish.text)
        return refused, known

    def added(self, who: Caller, wish: Wish, memory_id: str) -> None:
        status = ACCEPTED
        if wish.collection == "project" or wish.sensitivity != "normal":
            status = PROPOSED
        trusts = [self.entries[i].trust for i, _ in wish.derived]
        entry = Entry(
            id=memory_id,
            repository=self.projects[wish.project],
            project=wish.project,
            collection=wish.collection,
            owner=who.principal,
            author=who.principal,
            editor=who.principal,
            team=wish.team,
            run=None if who.run is None else who.run[0],
            status=status,
            text=wish.text,
            paths=wish.paths,
            sensitivity=wish.sensitivity,
            derived=wish.derived,
            supersedes=wish.supersedes,
            trust=min([FIRST_TRUST, *trusts]),
            at=self.now,
        )
        self._put(entry)
        if status == ACCEPTED and wish.supersedes is not None:
            self._superseded(wish.supersedes[0], memory_id)

    def said_again(self, who: Caller, memory_id: str) -> None:
        """Somebody wrote what an entry says: the first three others who do add to its trust."""
        entry = self.entries[memory_id]
        sources = self.sources.setdefault(memory_id, {_source(entry.run, entry.author)})
        source = _source(None if who.run is None else who.run[0], who.principal)
        if source in sources:
            return
        sources.add(source)
        trust = min(10_000, entry.trust + (SEEN if len(sources) <= 1 + SOURCES else 0))
        if entry.status == PROPOSED:
            trusts = [self.entries[i].trust for i, _ in entry.derived if self._within(who, i)]
            trust = max(entry.trust, min([trust, *trusts]))
        self.entries[memory_id] = replace(entry, trust=trust)

    def revise(self, who: Caller, memory_id: str, revision: int, **changes) -> Refusal:
        refused = self._stands(who, memory_id, revision)
        if refused is not None:
            return refused
        entry = self.entries[memory_id]
        if not self._may_edit(who, entry):
            return errors.ForbiddenError
        if entry.status not in {PROPOSED, ACCEPTED, OUTDATED}:
            return errors.IllegalTransitionError
        wanted = replace(entry, **changes)
        if wanted == entry:
            return None
        if wanted.text != entry.text and self._standing(who, wanted.scope, wanted) is None:
            refused = self._decided_before(who, entry.project, wanted.text)
        if refused is not None:
            return refused
        held = wanted.collection == "project" or wanted.sensitivity != "normal"
        trusts = [self.entries[i].trust for i, _ in entry.derived if self._within(who, i)]
        ruled = min([FIRST_TRUST, *trusts])
        status = (PROPOSED if held else ACCEPTED) if entry.status == ACCEPTED else entry.status
        anew = wanted.text != entry.text and who.person and who.run is None and not held
        trust = ruled if anew else min(entry.trust, ruled)
        self._next(replace(wanted, status=status, trust=trust, editor=who.principal))
        return None

    def decide(
        self, who: Caller, memory_id: str, revision: int, action: str, successor: str | None
    ) -> Refusal:
        refused = self._stands(who, memory_id, revision)
        if refused is not None:
            return refused
        entry = self.entries[memory_id]
        if not self._may_decide(who, entry, action):
            return errors.ForbiddenError
        if action == "supersede":
            return self._supersede(who, entry, successor)
        if entry.status == TARGETS[action]:
            return None
        return self._refused_move(entry, action) or self._moved(who, entry, action)

    def delete(self, who: Caller, memory_id: str, revision: int) -> Refusal:
        refused = self._stands(who, memory_id, revision)
        if refused is not None:
            return refused
        entry = self.entries[memory_id]
        rank = who.rank(entry.repository)
        own = who.principal in {entry.author, entry.owner}
        if rank < RANKS["contributor"] or (
            not own and (entry.collection == "private" or rank < RANKS["maintainer"])
        ):
            return errors.ForbiddenError
        if entry.status != DELETED:
            gone = replace(entry, status=DELETED, before=entry.status, superseded_by=None)
            self._next(gone)
        return None

    def publish(self, who: Caller, memory_id: str, revision: int) -> tuple[Refusal, Wish | None]:
        refused = self._stands(who, memory_id, revision)
        if refused is not None:
            return refused, None
        entry = self.entries[memory_id]
        if who.rank(entry.repository) < RANKS["contributor"] or (
            entry.collection == "private" and entry.owner != who.principal
        ):
            return errors.ForbiddenError, None
        if (
            entry.collection == "project"
            or entry.status != ACCEPTED
            or entry.sensitivity != "normal"
            or not self._ancestors_stand(who, entry)
            or self._twin(who, entry)
            or self._decided_before(who, entry.project, entry.text)
        ):
            return errors.PublicationRefusedError, None
        derived = ((memory_id, revision),)
        return None, Wish(entry.project, "project", entry.text, entry.paths, derived=derived)

    def judge(self, who: Caller, memory_id: str, *, helpful: bool) -> Refusal:
        entry = self.entries.get(memory_id)
        if entry is None or not self.sees(who, entry) or entry.status == DELETED:
            return errors.NotFoundError
        key = (memory_id, entry.revision, who.principal)
        if key in self.judged:
            return None
        self.judged.add(key)
        trust = max(0, min(10_000, entry.trust + (HELPED if helpful else HINDERED)))
        judged = replace(entry, trust=trust)
        if entry.status == ACCEPTED and trust < FLOOR and not helpful:
            self._next(replace(judged, status=PROPOSED))
        else:
            self.entries[memory_id] = judged
        return None

    # The rules' parts.

    def _put(self, entry: Entry) -> None:
        self.entries[entry.id] = entry
        self.history[entry.id, entry.revision] = entry

    def _next(self, entry: Entry) -> None:
        self._put(replace(entry, revision=entry.revision + 1, at=self.now))

    def _superseded(self, old: str, by: str) -> None:
        entry = self.entries[old]
        if entry.status != SUPERSEDED:
            self._next(replace(entry, status=SUPERSEDED, superseded_by=by))

    def _within(self, who: Caller, memory_id: str) -> bool:
        return memory_id in self.entries and self.reaches(who, self.entries[memory_id])

    def _stands(self, who: Caller, memory_id: str, revision: int) -> Refusal:
        entry = self.entries.get(memory_id)
        if entry is None or not self.sees(who, entry):
            return errors.NotFoundError
        return None if entry.revision == revision else errors.RevisionConflictError

    def _may_write_to(self, who: Caller, wish: Wish) -> Refusal:
        repository = self.projects[wish.project]
        if who.rank(repository) < RANKS["reader"]:
            return errors.NotFoundError
        if who.run is not None and who.run[1] != wish.project:
            return errors.ForbiddenError
        if who.rank(repository) < RANKS["contributor"]:
            return errors.ForbiddenError
        if wish.collection != "project" and not who.person and who.run is None:
            return errors.InvalidRequestError
        if wish.collection == "team" and wish.team not in who.teams:
            return errors.InvalidRequestError
        return None

    def _provenance(self, who: Caller, wish: Wish) -> Refusal:
        for memory_id, revision in wish.derived:
            entry = self.entries.get(memory_id)
            if (
                entry is None
                or entry.status == DELETED
                or not self.sees(who, entry)
                or revision > entry.revision
            ):
                return errors.ProvenanceInvalidError
        return None

    def _succeeds(self, who: Caller, wish: Wish) -> Refusal:
        memory_id, revision = wish.supersedes
        entry = self.entries.get(memory_id)
        whose = {"project": "", "team": wish.team, "private": who.principal}[wish.collection]
        if (
            entry is None
            or entry.scope != (wish.project, f"{wish.collection}:{whose}")
            or not self.sees(who, entry)
            or entry.status not in {ACCEPTED, OUTDATED}
        ):
            return errors.ProvenanceInvalidError
        return None if entry.revision == revision else errors.RevisionConflictError

    def _decided_before(self, who: Caller, project: str, text: int) -> Refusal:
        if who.decides and who.rank(self.projects[project]) >= RANKS["reviewer"]:
            return None
        for entry in self.entries.values():
            if (
                entry.project == project
                and entry.text == text
                and entry.status in {REJECTED, DELETED}
                and (entry.collection == "project" or entry.author == who.principal)
                and not (entry.collection == "private" and entry.owner != who.principal)
                and self.sees(who, entry)
            ):
                return errors.PreviouslyRejectedError
        return None

    def _same(self, who: Caller, wish: Wish) -> str | None:
        whose = {"project": "", "team": wish.team, "private": who.principal}[wish.collection]
        return self._standing(who, (wish.project, f"{wish.collection}:{whose}"), wish)

    def _standing(self, who: Caller, scope: tuple[str, str], said: Wish | Entry) -> str | None:
        """Return the first entry of a scope that says the same of the same places."""
        for memory_id, entry in sorted(self.entries.items()):
            if (
                entry.scope == scope
                and entry.text == said.text
                and entry.status not in {REJECTED, DELETED}
                and (entry.paths, entry.sensitivity) == (said.paths, said.sensitivity)
                and self.sees(who, entry)
            ):
                return memory_id
        return None

    def _may_edit(self, who: Caller, entry: Entry) -> bool:
        rank = who.rank(entry.repository)
        if rank < RANKS["contributor"]:
            return False
        match entry.collection:
            case "team":
                return entry.team in who.teams
            case "private":
                return entry.owner == who.principal
        reviewer = who.decides and rank >= RANKS["reviewer"]
        return entry.author == who.principal or reviewer

    def _may_decide(self, who: Caller, entry: Entry, action: str) -> bool:
        rank = who.rank(entry.repository)
        if entry.collection == "private":
            own = entry.owner == who.principal
            if rank < RANKS["contributor"]:
                return False
            if own and action in {"outdate", "archive"}:
                return True
            return who.decides and (own or entry.owner in who.sponsored)
        least = "reviewer" if entry.collection == "project" else "contributor"
        if not who.decides or rank < RANKS[least]:
            return False
        return entry.status != PROPOSED or who.principal not in {entry.author, entry.editor}

    def _supersede(self, who: Caller, entry: Entry, successor: str | None) -> Refusal:
        other = None if successor is None else self.entries.get(successor)
        if (
            other is None
            or other.id == entry.id
            or other.scope != entry.scope
            or other.status != ACCEPTED
            or not self.sees(who, other)
        ):
            return errors.InvalidRequestError
        if entry.status == SUPERSEDED:
            return None
        if SUPERSEDED not in MOVES[entry.status]:
            return errors.IllegalTransitionError
        self._superseded(entry.id, other.id)
        return None

    def _refused_move(self, entry: Entry, action: str) -> Refusal:
        target = TARGETS[action]
        if target not in MOVES[entry.status] or (
            action in STARTS and entry.status not in STARTS[action]
        ):
            return errors.IllegalTransitionError
        if target == ACCEPTED and entry.sensitivity == "secret":
            return errors.ForbiddenError
        return None

    def _moved(self, who: Caller, entry: Entry, action: str) -> Refusal:
        target = TARGETS[action]
        old = entry.supersedes if action == "approve" else None
        if old is not None and (
            not self._within(who, old[0]) or self.entries[old[0]].revision != old[1]
        ):
            return errors.RevisionConflictError
        by = None if target == ACCEPTED else entry.superseded_by
        self._next(replace(entry, status=target, superseded_by=by))
        if old is not None:
            self._superseded(old[0], entry.id)
        return None

    def _ancestors_stand(self, who: Caller, entry: Entry) -> bool:
        waiting, known = {i for i, _ in entry.derived}, set()
        while waiting:
            known |= waiting
            found = [self.entries[i] for i in waiting]
            if any(e.status in {DELETED, OUTDATED} or not self.sees(who, e) for e in found):
                return False
            waiting = {i for e in found for i, _ in e.derived} - known
        return True

    def _twin(self, who: Caller, entry: Entry) -> bool:
        return any(
            other.collection == "project"
            and other.project == entry.project
            and other.text == entry.text
            and other.status != DELETED
            and self.sees(who, other)
            for other in self.entries.values()
        )


def _source(run: str | None, principal: str) -> str:
    return f"principal:{principal}" if run is None else f"run:{run}"
