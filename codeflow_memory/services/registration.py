"""Registration: a repository is found, or made, by what one of its clones says of itself."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from codeflow_memory.domain.access import Access, Role
from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.identity import normalise_remote
from codeflow_memory.domain.labels import MAX_PATH, absolute_path, label
from codeflow_memory.domain.registration import STRENGTH, Alias, Fact, Known, identify, strongest
from codeflow_memory.services import access as accesses
from codeflow_memory.services import repositories as registered
from codeflow_memory.services.mutation import Mutation, Operation, mutate
from codeflow_memory.services.repositories import View
from codeflow_memory.services.store import Store
from codeflow_memory.storage import repositories
from codeflow_memory.storage.engine import Transaction
from codeflow_memory.storage.receipts import Receipt
from codeflow_memory.storage.repositories import Repository

MAX_PATHS = 64
"""Paths in one registration."""

_HASH_LENGTHS = frozenset({40, 64})
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Clone:
    """What a clone says of itself, as given; see 01 §10."""

    key: str | None = None
    remote: str | None = None
    root_commit: str | None = None
    common_dir: str | None = None
    paths: tuple[str, ...] = ()
    name: str | None = None


def register(store: Store, access: Access, clone: Clone, operation: Operation) -> View:
    """Register a repository, or find the registered one that this clone is and add its aliases.

    Raises:
        ForbiddenError: The caller is no contributor of the whole tenant.
        InvalidRequestError: Nothing identifies the repository, or a fact has not its form.
    """
    facts = facts_of(clone)

    def work(mutation: Mutation) -> Receipt:
        accesses.require(mutation.access, Role.CONTRIBUTOR, None, "register repositories")
        repository_id, rule, created = admit(mutation, facts, clone.name)
        outcome = {"rule": str(rule), "created": created}
        return Receipt("repository.register", repository_id, 1, outcome)

    def render(tx: Transaction, _: Access, receipt: Receipt) -> View:
        return replace(
            registered.view(tx, receipt.target_id),
            identified_by=Fact(str(receipt.facts["rule"])),
            created=bool(receipt.facts["created"]),
        )

    return mutate(store, access, operation, work, render)


def admit(mutation: Mutation, facts: tuple[Alias, ...], name: str | None) -> tuple[str, Fact, bool]:
    """Find or make the repository of *facts* within a mutation.

    Returns:
        Its id, the rule that applied, and whether it was made.

    Raises:
        InvalidRequestError: Only paths are told, and none is known.
    """
    tx = mutation.tx
    fitting = {r.repository_id: r for r, _ in repositories.matching(tx, facts)}
    known = [
        Known(
            r.repository_id, r.identified_by, frozenset(repositories.aliases(tx, r.repository_id))
        )
        for r in fitting.values()
    ]
    found = identify(facts, known)
    if found is not None:
        _enrich(mutation, fitting[found[0]], facts)
        return found[0], found[1], False
    rule = strongest(fact.kind for fact in facts)
    if rule is Fact.PATH:
        raise InvalidRequestError.at("", _UNIDENTIFIED)
    made = _new(mutation, facts, rule, name)
    return made.repository_id, rule, True


def facts_of(clone: Clone) -> tuple[Alias, ...]:
    """Read what a clone says of itself, in the one spelling of each fact.

    A remote that is a path or file of some machine identifies nothing and is left out.

    Raises:
        InvalidRequestError: A fact has not its form, or there is none.
    """
    found: list[Alias] = []
    if clone.key is not None:
        found.append(Alias(Fact.KEY, label("/key", clone.key)))
    remote = None if clone.remote is None else normalise_remote(clone.remote)
    if remote is not None:
        found.append(Alias(Fact.REMOTE, remote))
    if clone.root_commit is not None:
        found.append(Alias(Fact.ROOT_COMMIT, _commit(clone.root_commit)))
    if clone.common_dir is not None:
        found.append(Alias(Fact.COMMON_DIR, _path("/common_dir", clone.common_dir)))
    if len(clone.paths) > MAX_PATHS:
        raise InvalidRequestError.at("/paths", f"must have at most {MAX_PATHS} items")
    for place, path in enumerate(clone.paths):
        found.append(Alias(Fact.PATH, _path(f"/paths/{place}", path)))
    if not found:
        raise InvalidRequestError.at("/remote" if clone.remote else "", _UNIDENTIFIED)
    return tuple(dict.fromkeys(found))


_UNIDENTIFIED = "one of key, remote (a network address), root_commit and common_dir is required"


def _commit(text: str) -> str:
    text = text.lower()
    if len(text) not in _HASH_LENGTHS or not _HEX.issuperset(text):
        raise InvalidRequestError.at("/root_commit", "must be a full commit hash")
    return text


def _path(pointer: str, text: str) -> str:
    path = absolute_path(text)
    if path is None:
        raise InvalidRequestError.at(
            pointer, f"must be an absolute path of at most {MAX_PATH} characters"
        )
    return path


def _new(mutation: Mutation, facts: tuple[Alias, ...], rule: Fact, name: str | None) -> Repository:
    made = Repository(
        repository_id=mutation.store.ids.new("rep"),
        name=_name(facts) if name is None else label("/name", name),
        identified_by=rule,
        revision=1,
        required_approvals=1,
        codeowners=False,
        allow_own_approval=False,
        capture=False,
        merged_into=None,
        created_by=mutation.access.principal_id,
        created_at=mutation.at,
    )
    repositories.insert(mutation.tx, made)
    repositories.add_aliases(mutation.tx, made.repository_id, facts, mutation.at)
    mutation.record(
        "repository.register",
        made.repository_id,
        repository_id=made.repository_id,
        to_revision=1,
    )
    return made


def _name(facts: Iterable[Alias]) -> str:
    """Return what people may call a repository that nobody named; it identifies nothing."""
    first = min(facts, key=lambda fact: STRENGTH[fact.kind])
    match first.kind:
        case Fact.KEY:
            return first.value
        case Fact.REMOTE:
            return first.value[-200:].lstrip("/")
        case Fact.ROOT_COMMIT:
            return f"repository {first.value[:12]}"
        case _:
            return "repository"


def _enrich(mutation: Mutation, repository: Repository, facts: Iterable[Alias]) -> None:
    """Keep what is new about a registered repository; a stronger fact identifies it from now on."""
    facts = tuple(facts)
    added = repositories.add_aliases(mutation.tx, repository.repository_id, facts, mutation.at)
    if not added:
        return
    rule = strongest([repository.identified_by, *(fact.kind for fact in facts)])
    repositories.replace(
        mutation.tx, replace(repository, identified_by=rule), base_revision=repository.revision
    )
    registered.record(mutation, "repository.alias", repository)
