"""``demo``: the main job on a real repository, step by step, in a tenant of its own."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rich_click as click

from codeflow_memory.adapters import git, guidance
from codeflow_memory.cli import output, stores, up
from codeflow_memory.cli.context import Context
from codeflow_memory.cli.places import get_clone
from codeflow_memory.cli.sample_repository import make_sample
from codeflow_memory.cli.stores import Opened
from codeflow_memory.domain.errors import CodeflowError

_TENANT = "demo"


@click.command("demo")
@click.argument("folder", metavar="[PATH]", required=False, type=click.Path(path_type=Path))
@click.option("--serve", is_flag=True, help="Go on as a server, and print its address.")
@click.option("--host", default=up.LOOPBACK, show_default=True, help="With --serve.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="With --serve; 0: any free.")
@click.pass_obj
def demo(context: Context, folder: Path | None, host: str, port: int, *, serve: bool) -> None:
    """Learn, review, select and replay on a real repository.

    By default it is that of the current folder, else this program's own, else a small one that is
    made for it. What it writes goes into a tenant of its own, "demo".
    """
    with _repository(folder) as path:
        if not serve:
            with stores.opened(context, "demo", making=True, roots=(path,)) as home:
                _demonstrate(home, path, as_json=context.json)
            return
        with up.started(context, (path,)) as start:
            shown = _demonstrate(start.opened, path, as_json=context.json)
            up.serve(start, host, port, lambda url: _tell(shown, url, as_json=context.json))


def _demonstrate(home: Opened, path: Path, *, as_json: bool) -> dict[str, Any]:
    # Imports the whole application.
    from codeflow_memory.cli.demonstration import Demonstration  # noqa: PLC0415 - when it is needed
    from codeflow_memory.cli.local import LocalClient  # noqa: PLC0415 - when it is needed

    store = home.tenants.create(_free_slug(home))
    with LocalClient(home, None).running() as client:
        return Demonstration(client, store, path, quiet=as_json).run()


def _tell(shown: dict[str, Any], url: str, *, as_json: bool) -> None:
    """Say what the server has to show: the tenant of the demonstration, not the empty `local`."""
    if as_json:
        output.print_json({"url": url} | shown)
        return
    token = shown["token"]
    click.echo(url)
    output.talk(f"token of the owner of the tenant {shown['tenant']}: {token}")
    output.talk("what its project remembers:")
    where = f"{url}/api/projects/{shown['project']}/memories?status={shown['status']}"
    output.talk(f"  curl -s '{where}' -H 'Authorization: Bearer {token}'")
    output.talk(f"documentation: {url}/schema; Ctrl-C ends")


def _free_slug(home: Opened) -> str:
    """Return a name that no tenant has: a demonstration begins with nothing."""
    taken, number = set(home.tenants.slugs()), 1
    while (slug := _TENANT if number == 1 else f"{_TENANT}-{number}") in taken:
        number += 1
    return slug


@contextmanager
def _repository(folder: Path | None) -> Iterator[Path]:
    """Give a repository with guidance in it.

    Raises:
        NotThereError: The named one is not there.
        CodeflowError: It cannot be read.
        click.ClickException: The named one has no guidance.
    """
    if folder is not None:
        path = get_clone(folder)
        if not _has_guidance(path):
            raise click.ClickException("nothing to learn there: no AGENTS.md or other guidance")
        yield path
        return
    for place in (Path.cwd(), Path(__file__).resolve().parents[2]):
        if _is_usable(place):
            yield place.resolve()
            return
    with tempfile.TemporaryDirectory(prefix="codeflow-demo-") as made:
        yield make_sample(Path(made).resolve() / "shop")


def _is_usable(place: Path) -> bool:
    try:
        return _has_guidance(place.resolve())
    except CodeflowError:
        return False


def _has_guidance(path: Path) -> bool:
    repository = git.open_repository(path)
    commit = repository.head().commit
    return commit is not None and bool(guidance.read_guidance(repository, commit).pieces)
