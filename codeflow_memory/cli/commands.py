"""The tree of commands: each name leads to a module and the command in it, imported when called."""

import importlib
from collections.abc import Mapping
from typing import Any

import click
import rich_click

from codeflow_memory import __version__
from codeflow_memory.cli.context import Context, shared_options

_MEMORY = "codeflow_memory.cli.memory"
_REVIEW = "codeflow_memory.cli.review"
_RETENTION = "codeflow_memory.cli.retention"
_HOLD = "codeflow_memory.cli.hold"
_TRANSFER = "codeflow_memory.cli.transfer"
_DECIDING = "codeflow_memory.cli.decisions"
_DECISIONS = {"accept": f"{_DECIDING}:accept", "reject": f"{_DECIDING}:reject"}
_QUEUE = {"list": f"{_REVIEW}:queue", "show": f"{_REVIEW}:show", **_DECISIONS}

_AUDIT = {
    "list": "codeflow_memory.cli.audits:list_changes",
    "verify": "codeflow_memory.cli.audit:verify",
}

Place = str | Mapping[str, Any]
"""``module:command``, or the same for each command of a group."""


class LazyGroup(rich_click.RichGroup):
    """A group whose commands are imported when they are called, or listed by ``--help``."""

    def __init__(self, *args: Any, places: Mapping[str, Place], **kwargs: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **kwargs)
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names in the order of the table."""
        return [*super().list_commands(ctx), *self._places]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command with the options that all have."""
        place = self._places.get(cmd_name)
        if place is None:
            return super().get_command(ctx, cmd_name)
        if not isinstance(place, str):
            return _group(cmd_name, place)
        return _load(place)


def _group(name: str, places: Mapping[str, Place]) -> click.Command:
    queue = places.get("list") if name in {"review", "audit"} else None
    group = LazyGroup(name, help=_HELP[name], places=places, invoke_without_command=bool(queue))
    if isinstance(queue, str):
        # ``review`` alone shows the queue, ``audit`` alone the changes.
        listed = _load(queue)
        group.params = list(listed.params)
        group.callback = _unless_called(listed)
    else:
        group.no_args_is_help = True
    return group


def _unless_called(command: click.Command) -> Any:  # noqa: ANN401 - click's own
    """Run *command* as its group, where none of the group's commands is called."""

    @click.pass_context
    def run(ctx: click.Context, /, **values: Any) -> Any:  # noqa: ANN401 - click's own
        return None if ctx.invoked_subcommand else ctx.invoke(command, **values)

    return run


def _load(place: str) -> click.Command:
    module, _, name = place.partition(":")
    command: click.Command = getattr(importlib.import_module(module), name)
    known = {option for param in command.params for option in param.opts}
    command.params += [o for o in shared_options() if not known.intersection(o.opts)]
    return command


_HELP = {
    "memory": "Read, search and judge memories.",
    "review": "Decide proposals; alone it shows the queue.",
    "repo": "Repositories: registered, how they are reviewed, merged.",
    "project": "The projects of repositories.",
    "token": "Bearer tokens.",
    "tenant": "The tenants of a home.",
    "audit": "The record of every change.",
    "trust": "What trust foretold.",
    "retention": "What is deleted by age, and what is held from it.",
    "hold": "Legal holds: what no deletion may take.",
}

_TREE: Mapping[str, Place] = {
    "up": "codeflow_memory.cli.up:up",
    "demo": "codeflow_memory.cli.demo:demo",
    "doctor": "codeflow_memory.cli.doctor:doctor",
    "status": "codeflow_memory.cli.status:status",
    "learn": "codeflow_memory.cli.learn:learn",
    "verify": "codeflow_memory.cli.verify:verify",
    "mcp": "codeflow_memory.cli.mcp:mcp",
    "memory": {
        "list": f"{_MEMORY}:list_memories",
        "show": f"{_MEMORY}:show",
        "search": f"{_MEMORY}:search",
        "feedback": f"{_MEMORY}:feedback",
        "correct": f"{_MEMORY}:correct",
        "review": _QUEUE,
        **_DECISIONS,
        "undo": "codeflow_memory.cli.undo:undo",
        "audit": _AUDIT,
        "trust": {"report": "codeflow_memory.cli.trust:report"},
        "status": "codeflow_memory.cli.status:status",
    },
    "review": _QUEUE,
    "undo": "codeflow_memory.cli.undo:undo",
    "repo": {
        "list": "codeflow_memory.cli.repository:list_repositories",
        "register": "codeflow_memory.cli.repository:register",
        "show": "codeflow_memory.cli.repository:show",
        "settings": "codeflow_memory.cli.repository:settings",
        "merge": "codeflow_memory.cli.repository:merge",
    },
    "project": {
        "list": "codeflow_memory.cli.project:list_projects",
        "show": "codeflow_memory.cli.project:show",
    },
    "token": {
        "create": "codeflow_memory.cli.token:create",
        "list": "codeflow_memory.cli.token:list_tokens",
        "revoke": "codeflow_memory.cli.token:revoke",
    },
    "tenant": {
        "create": "codeflow_memory.cli.tenant:create",
        "list": "codeflow_memory.cli.tenant:list_tenants",
        "move": "codeflow_memory.cli.move:move",
        "rekey": "codeflow_memory.cli.tenant:rekey",
    },
    "retention": {
        "preview": f"{_RETENTION}:preview",
        "apply": f"{_RETENTION}:apply",
        "hold": {
            "add": f"{_HOLD}:add",
            "remove": f"{_HOLD}:remove",
            "list": f"{_HOLD}:list_holds",
        },
    },
    "audit": _AUDIT,
    "backup": "codeflow_memory.cli.backup:backup",
    "erase": "codeflow_memory.cli.erase:erase",
    "import-json": f"{_TRANSFER}:import_json",
    "export": f"{_TRANSFER}:export",
    "import-jsonl": f"{_TRANSFER}:import_jsonl",
}


class _Root(LazyGroup):
    """The command itself; its options count for every command below it."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's own
    ) -> click.Context:
        """Give the context its object before any option is read."""
        return super().make_context(info_name, args, parent, obj=Context(), **extra)


root = _Root(
    "codeflow-memory",
    help="Reviewed project memory for coding agents and their teams.",
    places=_TREE,
    params=shared_options(),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
root = click.version_option(__version__, prog_name="codeflow-memory")(root)
