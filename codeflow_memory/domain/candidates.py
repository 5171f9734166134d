"""A candidate: content on its way in, with the audience it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass

from codeflow_memory.domain.drafts import parse_draft
from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.memory import Collection, Content, Pair

_PLACE_FIELDS = ("collection", "team_id", "run_id", "supersedes")
_ID_LENGTH = 200
_REVISION_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a caller proposes; not yet a memory."""

    content: Content
    collection: Collection
    team_id: str | None = None
    run_id: str | None = None
    supersedes: Pair | None = None


def parse_candidate(raw: Mapping[str, object]) -> Candidate:
    """Read the body of a create request.

    Raises:
        InvalidRequestError: With a pointer to every field that is wrong.
    """
    faults: list[Fault] = []
    collection = _collection(raw.get("collection"), faults)
    team_id = _identifier(raw, "team_id", faults)
    run_id = _identifier(raw, "run_id", faults)
    supersedes = _pair(raw.get("supersedes"), faults)
    if collection is Collection.TEAM and team_id is None and not faults:
        faults.append(Fault("/team_id", "required for a team entry"))
    if collection is not Collection.TEAM and team_id is not None:
        faults.append(Fault("/team_id", "only a team entry has a team"))
    try:
        content = parse_draft({k: v for k, v in raw.items() if k not in _PLACE_FIELDS})
    except InvalidRequestError as error:
        raise InvalidRequestError([*error.faults, *faults]) from None
    if faults or collection is None:
        raise InvalidRequestError(faults)
    return Candidate(content, collection, team_id, run_id, supersedes)


def _collection(value: object, faults: list[Fault]) -> Collection | None:
    try:
        return Collection(value)  # type: ignore[arg-type] # any other value is refused below
    except ValueError:
        allowed = ", ".join(Collection)
        faults.append(Fault("/collection", f"required, one of {allowed}"))
        return None


def _identifier(raw: Mapping[str, object], name: str, faults: list[Fault]) -> str | None:
    value = raw.get(name)
    if value is None or (isinstance(value, str) and 0 < len(value) <= _ID_LENGTH):
        return value
    faults.append(Fault(f"/{name}", f"a text of 1 to {_ID_LENGTH} characters, or null"))
    return None


def _pair(value: object, faults: list[Fault]) -> Pair | None:
    if value is None:
        return None
    match value:
        case {"memory_id": str(memory_id), "revision": int(revision)} if (
            isinstance(value, dict)
            and value.keys() == {"memory_id", "revision"}
            and not isinstance(revision, bool)
            and 0 < revision <= _REVISION_MAX
            and 0 < len(memory_id) <= _ID_LENGTH
        ):
            return Pair(memory_id, revision)
    faults.append(Fault("/supersedes", "null, or {memory_id, revision}"))
    return None
