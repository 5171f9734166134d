"""Ways to make a part of a git directory lead to a foreign repository, a file or a device."""

import os
from collections.abc import Callable
from pathlib import Path

from .trap import Trap


def link_file(path: Path, target: Path) -> None:
    if path.exists():
        path.unlink()
    path.symlink_to(target)


Spring = Callable[[Trap, Path], None]


def move_and_link(name: str) -> Spring:
    def spring(trap: Trap, _victim: Path) -> None:
        (trap.path / ".git" / name).rename(trap.outside / "moved")
        (trap.path / ".git" / name).symlink_to(trap.outside / "moved")

    return spring


def alternates(text: str) -> Spring:
    def spring(trap: Trap, victim: Path) -> None:
        path = trap.path / ".git/objects/info/alternates"
        path.write_text(text.replace("$VICTIM", str(victim)))

    return spring


def replace_git(text: str) -> Spring:
    def spring(trap: Trap, victim: Path) -> None:
        (trap.path / ".git").rename(trap.path / "old")
        (trap.path / ".git").write_text(text.replace("$VICTIM", str(victim)))

    return spring


def link(name: str, target: str) -> Spring:
    def spring(trap: Trap, victim: Path) -> None:
        link_file(trap.path / ".git" / name, Path(target.replace("$VICTIM", str(victim))))

    return spring


def link_git(trap: Trap, victim: Path) -> None:
    (trap.path / ".git").rename(trap.path / "old")
    (trap.path / ".git").symlink_to(victim / ".git")


def common(trap: Trap, victim: Path) -> None:
    (trap.path / ".git/commondir").write_text(f"{victim}/.git\n")


def bare_common(trap: Trap, victim: Path) -> None:
    bare = trap.path / "bare"
    (trap.path / ".git").rename(bare)
    (bare / "commondir").write_text(f"{victim}/.git\n")
    bare.rename(trap.path / ".git")


def fan_out(trap: Trap, victim: Path) -> None:
    folder = next((victim / ".git/objects").glob("??"))
    name = next(
        n for n in map("{:02x}".format, range(256)) if not (trap.path / ".git/objects" / n).exists()
    )
    (trap.path / ".git/objects" / name).symlink_to(folder)


def loose(trap: Trap, victim: Path) -> None:
    source = next((victim / ".git/objects").glob("??/*"))
    target = trap.path / ".git/objects" / source.parent.name / source.name
    target.parent.mkdir(exist_ok=True)
    link_file(target, source)


def worktree_of_another(trap: Trap, victim: Path) -> None:
    (victim / ".git/worktrees/x").mkdir(parents=True)
    (victim / ".git/worktrees/x/commondir").write_text("../..\n")
    (victim / ".git/worktrees/x/gitdir").write_text("/elsewhere/.git\n")
    (victim / ".git/worktrees/x/HEAD").write_text("ref: refs/heads/main\n")
    replace_git("gitdir: $VICTIM/.git/worktrees/x\n")(trap, victim)


def pack_pipe(trap: Trap, _victim: Path) -> None:
    os.mkfifo(trap.path / ".git/objects/pack/pack-x.idx")


def head_pipe(trap: Trap, _victim: Path) -> None:
    (trap.path / ".git/packed-refs").unlink(missing_ok=True)
    os.mkfifo(trap.path / ".git/packed-refs")


LEADING_OUT = {
    "objects": move_and_link("objects"),
    "packs": move_and_link("objects/pack"),
    "object info": move_and_link("objects/info"),
    "branches": move_and_link("refs/heads"),
    "config": move_and_link("config"),
    "absolute alternate": alternates("$VICTIM/.git/objects\n"),
    "relative alternate": alternates("../../../victim/.git/objects\n"),
    "quoted alternate": alternates("../info/../../../victim/.git/objects\n"),
    "alternate device": alternates("/dev\n"),
    "alternate of itself": alternates("../objects\n"),
    "git file": replace_git("gitdir: $VICTIM/.git\n"),
    "relative git file": replace_git("gitdir: ../victim/.git\n"),
    "git file without words": replace_git(""),
    "git file of text": replace_git("hello\n"),
    "git file to nowhere": replace_git("gitdir: nowhere\n"),
    "git file to a device": replace_git("gitdir: /dev/zero\n"),
    "git link": link_git,
    "common directory": common,
    "bare common directory": bare_common,
    "worktree of another": worktree_of_another,
    "packed refs": link("packed-refs", "$VICTIM/.git/config"),
    "head": link("HEAD", "$VICTIM/.git/HEAD"),
    "head loop": link("HEAD", "HEAD"),
    "shallow": link("shallow", "/dev/zero"),
    "fan-out folder": fan_out,
    "loose object": loose,
    "pipe among packs": pack_pipe,
    "pipe of refs": head_pipe,
}
