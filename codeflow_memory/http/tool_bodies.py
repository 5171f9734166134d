"""The wire format of the tools: arguments, which every face reads alike, and answers."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from codeflow_memory.domain.memory import Collection, Kind, Sensitivity, Status
from codeflow_memory.http.memory_bodies import DraftBody, Input, Prose
from codeflow_memory.http.openapi import Problem
from codeflow_memory.http.selections import SelectionRequestBody

MAX_QUERY = 8_192
MAX_PATH = 1_000
MAX_RESULTS = 50
MAX_LINES = 2_000
MAX_TEXT = 65_536
"""Characters of a text argument: more than an entry holds, whose own limit is what is told."""

_ID = "mem_01KABCDEFGHJKMNPQRSTVWXYZ0"

Repo = Annotated[
    str | None, Field(max_length=4_096, description="Repository id, key, remote or path")
]
ProjectId = Annotated[
    str | None,
    Field(max_length=200, description="Project id or slug; left out where only one can be meant"),
]


class Arguments(Input):
    """What every tool takes: the project, where the token does not name it."""

    repo: Repo = None
    project_id: ProjectId = None


class SearchArguments(Arguments):
    """What is searched for."""

    query: str = Field(
        max_length=MAX_QUERY,
        description="Words; nothing in it is an operator",
        examples=["retry idempotent requests"],
    )
    max_results: int = Field(6, ge=1, le=MAX_RESULTS)
    collections: list[Collection] | None = Field(None, max_length=3)
    path_prefix: str | None = Field(
        None, max_length=MAX_PATH, description="Only memories with a path below this folder"
    )


class GetArguments(Arguments):
    """Which memory is read: by its id, or the path that a search gave."""

    id: str | None = Field(None, max_length=200, examples=[_ID])
    path: str | None = Field(None, max_length=MAX_PATH, description="`memories/<id>`")
    from_line: int = Field(1, ge=1, le=1_000_000)
    lines: int = Field(30, ge=1, le=MAX_LINES)


class AppendArguments(Arguments):
    """What is worth remembering, in a sentence or a few."""

    content: str = Field(max_length=MAX_TEXT, examples=["The user prefers tabs in Makefiles."])


class ProposeArguments(DraftBody, Arguments):
    """A memory for the whole project; ``kind``, ``title`` and ``body`` are required."""

    collection: Literal[Collection.PROJECT] = Collection.PROJECT
    team_id: None = None


class SelectArguments(SelectionRequestBody, Arguments):
    """What a run asks for at its start."""


class FeedbackArguments(Arguments):
    """Whether a memory helped."""

    memory_id: str = Field(max_length=200, examples=[_ID])
    helpful: bool
    note: Prose | None = Field(None, max_length=4_096)


class FileArguments(Arguments):
    """A command on files below `/memories`; ``revision`` refuses a file that changed since."""

    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"]
    path: str | None = Field(None, max_length=MAX_PATH, examples=["/memories/notes.md"])
    file_text: str | None = Field(None, max_length=MAX_TEXT)
    old_str: str | None = Field(None, max_length=MAX_TEXT)
    new_str: str | None = Field(None, max_length=MAX_TEXT)
    insert_line: int | None = Field(None, ge=0, le=1_000_000)
    insert_text: str | None = Field(None, max_length=MAX_TEXT)
    old_path: str | None = Field(None, max_length=MAX_PATH)
    new_path: str | None = Field(None, max_length=MAX_PATH)
    view_range: list[int] | None = Field(None, min_length=2, max_length=2)
    revision: int | None = Field(
        None, ge=1, le=2**31 - 1, description="Of the file as it was viewed"
    )


class FoundLinesBody(BaseModel):
    """A place that was found; ``channels`` has the score of each leg that found it."""

    path: str = Field(examples=[f"memories/{_ID}"])
    memory_id: str
    revision: int = Field(ge=1)
    title: str
    lines: str = Field(examples=["L1-L3"])
    score: float = Field(ge=0, le=1)
    snippet: str
    channels: dict[str, float]


class WarningBody(BaseModel):
    """What a reader should know of an answer."""

    code: str
    message: str


class SearchAnswer(BaseModel):
    """What was found, best first; ``legs_used`` says how it was looked for."""

    results: list[FoundLinesBody]
    provider: str = Field(examples=["none"])
    vector_enabled: bool
    legs_used: list[str] = Field(examples=[["keyword"]])
    warnings: list[WarningBody]


class LinesBody(BaseModel):
    """Lines of a memory's body; ``to_line`` is the last one given, ``total_lines`` all it has.

    ``quarantined``: the scanner found something that no person has reviewed, and no text is given.
    """

    path: str
    memory_id: str
    revision: int = Field(ge=1)
    title: str
    kind: Kind
    status: Status
    collection: Collection
    sensitivity: Sensitivity
    trust: int = Field(ge=0, le=10_000)
    sources: list[str]
    text: str
    from_line: int = Field(ge=1)
    to_line: int = Field(ge=0)
    total_lines: int = Field(ge=1)
    quarantined: bool


class SimilarBody(BaseModel):
    """The entry that a text nearly repeats."""

    memory_id: str
    revision: int = Field(ge=1)
    title: str
    similarity: float = Field(ge=0, le=1)


class AppendAnswer(BaseModel):
    """What became of a text; ``reason`` says why it was refused."""

    status: Literal["appended", "duplicate", "near_duplicate", "review", "refused"]
    memory_id: str | None
    revision: int | None
    similar: SimilarBody | None
    reason: str | None


class FileBody(BaseModel):
    """A file in a folder."""

    path: str
    memory_id: str
    revision: int = Field(ge=1)
    status: Status
    characters: int = Field(ge=0)


class FileAnswer(BaseModel):
    """What a command came to, in words for the model in ``text``.

    ``files`` is what lies in the folder that was viewed; ``changed`` how many files were changed.
    """

    command: str
    path: str
    memory_id: str | None
    revision: int | None
    status: Status | None
    text: str
    files: list[FileBody]
    changed: int = Field(ge=0)


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of arguments as agents are shown it: titles say nothing new."""
    found: dict[str, Any] = _bare(model.model_json_schema())
    return found


def answer_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of what a tool gives back: its answer, or a problem.

    A refusal has structured content too, and there are clients that hold it against this schema as
    well: they would tell an agent of a broken server in place of the problem.
    """
    kinds: list[dict[str, Any]] = []
    defined: dict[str, Any] = {}
    for part in (model, Problem):
        schema = _bare(part.model_json_schema(mode="serialization"))
        defined |= schema.pop("$defs", {})
        kinds.append(schema)
    return {"type": "object", "anyOf": kinds} | ({"$defs": defined} if defined else {})


def _bare(node: Any, *, names: bool = False) -> Any:  # noqa: ANN401 - any JSON
    """Leave out generated titles; below *names* keys are names, not words of the schema."""
    if isinstance(node, list):
        return [_bare(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _bare(value, names=key in {"properties", "$defs"} and not names)
        for key, value in node.items()
        if names or key != "title" or not isinstance(value, str)
    }
