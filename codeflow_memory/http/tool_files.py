"""The file-style tool `memory`: commands on a caller's private entries as files."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from codeflow_memory.domain import files as names
from codeflow_memory.domain.errors import Fault, InvalidRequestError
from codeflow_memory.domain.files import FilePath
from codeflow_memory.domain.findings import is_flagged
from codeflow_memory.domain.memory import Memory, Status
from codeflow_memory.http.caller import Change
from codeflow_memory.http.tool_bodies import Arguments, FileArguments
from codeflow_memory.http.tool_uses import project_of
from codeflow_memory.services import files, filing
from codeflow_memory.services.filing import Filed

_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "view": ("path",),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}
_OPTIONAL: Final[Mapping[str, tuple[str, ...]]] = {
    "view": ("view_range",),
    "create": ("revision",),
    "str_replace": ("new_str", "revision"),
    "insert": ("revision",),
    "delete": ("revision",),
    "rename": ("revision",),
}
"""What each command takes; without ``new_str`` the place is cleared."""

_HELD = "(held back: the scanner found something in it that no person has reviewed yet)"

_SHOWN = 500
"""Files of a folder that are listed; how many more there are is said."""


async def use(change: Change, asked: FileArguments) -> Any:  # noqa: ANN401 - the JSON of FileAnswer
    """Do one command.

    Raises:
        InvalidRequestError: A field is missing, or is none of this command.
    """
    _check_fields(asked)
    project_id = await project_of(change, asked)
    return await _COMMANDS[asked.command](change, project_id, asked)


def _check_fields(asked: FileArguments) -> None:
    needed, optional = _NEEDED[asked.command], _OPTIONAL[asked.command]
    given = asked.model_dump(exclude_unset=True)
    faults = [Fault(f"/{name}", "is required") for name in needed if given.get(name) is None]
    known = {"command", *needed, *optional, *Arguments.model_fields}
    faults += [
        Fault(f"/{name}", f"is no field of {asked.command}")
        for name in sorted(given.keys() - known)
        if given[name] is not None
    ]
    if faults:
        raise InvalidRequestError(faults)


async def _view(change: Change, project_id: str, asked: FileArguments) -> dict[str, Any]:
    viewed = await change.run(files.view, project_id, asked.path)
    if viewed.memory is None:
        if asked.view_range is not None:
            raise InvalidRequestError.at("/view_range", "a folder has no lines")
        return _folder(viewed.path, viewed.files)
    if is_flagged(viewed.memory.review_reason):
        return _answer("view", viewed.path, _HELD, viewed.memory)
    text = names.numbered(files.text_of(viewed.memory), asked.view_range)
    return _answer("view", viewed.path, text, viewed.memory)


def _folder(path: FilePath, found: tuple[tuple[FilePath, Memory], ...]) -> dict[str, Any]:
    shown = found[:_SHOWN]
    lines = [f"{path} ({len(found)} files)"]
    lines += [f"{at} (revision {memory.revision})" for at, memory in shown]
    if len(found) > len(shown):
        lines.append(f"and {len(found) - len(shown)} more: view a folder of them")
    listed = [
        {
            "path": str(at),
            "memory_id": memory.memory_id,
            "revision": memory.revision,
            "status": str(memory.status),
            "characters": len(files.text_of(memory)),
        }
        for at, memory in shown
    ]
    return _answer("view", path, "\n".join(lines), None) | {"files": listed}


async def _create(change: Change, project_id: str, asked: FileArguments) -> dict[str, Any]:
    made = await change.run(
        filing.create, project_id, asked.path, asked.file_text, asked.revision, change.operation
    )
    return _done(asked.command, made, "written")


async def _str_replace(change: Change, project_id: str, asked: FileArguments) -> dict[str, Any]:
    old, new = str(asked.old_str), asked.new_str or ""
    return await _edit(change, project_id, asked, partial(names.replaced, old=old, new=new))


async def _insert(change: Change, project_id: str, asked: FileArguments) -> dict[str, Any]:
    line, text = asked.insert_line or 0, str(asked.insert_text)
    return await _edit(change, project_id, asked, partial(names.inserted, line=line, new=text))


async def _edit(
    change: Change, project_id: str, asked: FileArguments, edit: filing.Edit
) -> dict[str, Any]:
    made = await change.run(
        filing.edit, project_id, asked.path, edit, asked.revision, change.operation
    )
    return _done(asked.command, made, "edited")


async def _delete(change: Change, project_id: str, asked: FileArguments) -> dict[str, Any]:
    gone = await change.run(filing.delete, project_id, asked.path, asked.revision, change.operation)
    return _done(asked.command, gone, "deleted")


async def _rename(change: Change, project_id: str, asked: FileArguments) -> dict[str, Any]:
    paths = (asked.old_path, asked.new_path)
    made = await change.run(filing.rename, project_id, paths, asked.revision, change.operation)
    return _done(asked.command, made, f"what {asked.old_path} was")


def _done(command: str, made: Filed, what: str) -> dict[str, Any]:
    held = "; it waits for a person's decision" if made.status is Status.PROPOSED else ""
    count = f", {made.files} files" if made.files > 1 else f" (revision {made.revision})"
    return _answer(command, made.path, f"{made.path}: {what}{count}{held}", None) | {
        "memory_id": made.memory_id,
        "revision": made.revision,
        "status": str(made.status),
        "changed": made.files,
    }


def _answer(command: str, path: FilePath, text: str, memory: Memory | None) -> dict[str, Any]:
    return {
        "command": command,
        "path": str(path),
        "memory_id": None if memory is None else memory.memory_id,
        "revision": None if memory is None else memory.revision,
        "status": None if memory is None else str(memory.status),
        "text": text,
        "files": [],
        "changed": 0,
    }


_Command = Callable[[Change, str, FileArguments], Awaitable[dict[str, Any]]]

_COMMANDS: Final[Mapping[str, _Command]] = {
    "view": _view,
    "create": _create,
    "str_replace": _str_replace,
    "insert": _insert,
    "delete": _delete,
    "rename": _rename,
}
