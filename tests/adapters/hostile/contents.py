"""What a repository may hold that is awkward to read: names, links, bombs, damage, odd refs.

A reader may answer or refuse; it may not run, reach out, hang or say what lies outside.
"""

import os
import zlib
from collections.abc import Callable

from .trap import Trap

Spring = Callable[[Trap], None]

BOMB_LEVELS = 9
BOMB_WIDTH = 10
"""Ten to the ninth paths from ten small trees."""


def links_in_the_tree(trap: Trap) -> None:
    (trap.path / "AGENTS.md").unlink()
    (trap.path / "AGENTS.md").symlink_to(trap.outside / "secret")
    (trap.path / "CODEOWNERS").symlink_to(trap.outside / "secret")
    (trap.path / "CLAUDE.md").symlink_to("/etc/passwd")
    (trap.path / "docs").symlink_to(trap.outside)
    trap.git.save({})


def links_in_the_working_tree(trap: Trap) -> None:
    for name in ("AGENTS.md", "src/app.py"):
        (trap.path / name).unlink()
        (trap.path / name).symlink_to(trap.outside / "secret")


def pipes_in_the_working_tree(trap: Trap) -> None:
    for name in ("AGENTS.md", "src/app.py"):
        (trap.path / name).unlink()
        os.mkfifo(trap.path / name)


def submodule(trap: Trap) -> None:
    modules = (
        f'[submodule "x"]\n\tpath = x\n\turl = ext::{trap.script}\n\tupdate = !{trap.script}\n'
    )
    (trap.path / ".gitmodules").write_text(modules)
    trap.git("update-index", "--add", "--cacheinfo", f"160000,{trap.commit},x")
    trap.git.save({})
    nested = trap.path / ".git/modules/x"
    nested.mkdir(parents=True)
    (nested / "config").write_text(f"[core]\n\tfsmonitor = {trap.script}\n")


def option_like_names(trap: Trap) -> None:
    canary = trap.canary
    trap.git.save({"--output=x": "x", "-c core.pager=x": "x", f"--upload-pack={canary.name}": "x"})


def unspeakable_names(trap: Trap) -> None:
    trap.git.save({"new\nline": "x", "tab\tx": "x", "back\\slash": "x", "AGENTS.md ": "x"})
    (trap.path / os.fsdecode(b"not-\xff-text")).write_text("x")
    trap.git.save({})


def option_like_refs(trap: Trap) -> None:
    refs = trap.path / ".git/refs"
    for name in ("heads/--exec=x", "tags/-x", f"heads/--upload-pack={trap.script.name}"):
        (refs / name).write_text(f"{trap.commit}\n")
    with (trap.path / ".git/packed-refs").open("a") as file:
        file.write(f"{trap.commit} --output={trap.canary}\n{trap.commit} refs/heads/-c\n")


def option_like_head(trap: Trap) -> None:
    (trap.path / ".git/HEAD").write_text(f"ref: refs/heads/--output={trap.canary}\n")


def option_in_head(trap: Trap) -> None:
    (trap.path / ".git/HEAD").write_text(f"--output={trap.canary}\n")


def remote_head_out(trap: Trap) -> None:
    head = trap.path / ".git/refs/remotes/origin/HEAD"
    head.parent.mkdir(parents=True)
    head.write_text("ref: ../../../../outside/secret\n")


def replaced(trap: Trap) -> None:
    tree = trap.git("write-tree")
    other = trap.git("commit-tree", "-m", "other", tree)
    trap.git("replace", trap.commit, other)


def grafted(trap: Trap) -> None:
    (trap.path / ".git/info").mkdir(exist_ok=True)
    (trap.path / ".git/info/grafts").write_text(f"{trap.commit} {'1' * 40}\n")


def attributes(trap: Trap) -> None:
    (trap.path / ".git/info").mkdir(exist_ok=True)
    (trap.path / ".git/info/attributes").write_text("* filter=evil diff=evil ident export-subst\n")
    trap.config('[filter "evil"]\n\tclean = $RUN\n\tsmudge = $RUN\n\tprocess = $RUN\n')
    trap.git.write({".gitattributes": "* working-tree-encoding=UTF-16 text eol=crlf\n"})


def every_hook(trap: Trap) -> None:
    hooks = trap.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        *("pre-commit", "post-commit", "post-checkout", "post-merge", "pre-auto-gc", "pre-push"),
        *("fsmonitor-watchman", "post-index-change", "reference-transaction", "sendemail-validate"),
        *("update", "pre-receive", "post-receive", "proc-receive", "post-rewrite"),
    ):
        (hooks / name).write_text(trap.script.read_text())
        (hooks / name).chmod(0o755)


def worktree_config(trap: Trap) -> None:
    trap.config("[extensions]\n\tworktreeConfig = true\n")
    text = f"[core]\n\tfsmonitor = {trap.script}\n\tworktree = {trap.outside}\n"
    (trap.path / ".git/config.worktree").write_text(text)


def unused_worktree_out(trap: Trap) -> None:
    tree = trap.path / ".git/worktrees/x"
    tree.mkdir(parents=True)
    (tree / "gitdir").write_text(f"{trap.outside}/.git\n")
    (tree / "commondir").write_text(f"{trap.outside}\n")
    (tree / "HEAD").write_text("ref: refs/heads/main\n")


def split_index_out(trap: Trap) -> None:
    (trap.path / ".git/index").unlink(missing_ok=True)
    (trap.path / ".git/index").symlink_to(trap.outside / "secret")


def http_alternates(trap: Trap) -> None:
    info = trap.path / ".git/objects/info"
    (info / "http-alternates").write_text("http://192.0.2.1/objects\n")


def bundle_and_lazy_fetch(trap: Trap) -> None:
    blob = trap.git("rev-parse", "HEAD:src/app.py")
    (trap.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    trap.config(
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n"
        '[remote "origin"]\n\turl = http://192.0.2.1/x\n\tpromisor = true\n\tuploadpack = $RUN\n'
        "[fetch]\n\tbundleURI = http://192.0.2.1/b\n[protocol]\n\tallow = always\n"
    )


def rewritten_urls(trap: Trap) -> None:
    trap.config(
        f'[url "ext::{trap.script} "]\n\tinsteadOf = https://\n\tpushInsteadOf = https://\n'
        '[remote "origin"]\n\turl = https://example.org/x\n\tvcs = evil\n'
        "[http]\n\tproxy = http://192.0.2.1\n\tsslVerify = false\n"
    )


def option_like_remote(trap: Trap) -> None:
    trap.config('[remote "origin"]\n\turl = --upload-pack=$RUN\n')


def commit_graph(trap: Trap) -> None:
    info = trap.path / ".git/objects/info"
    (info / "commit-graph").write_bytes(b"CGPH\x01\x01\x03\x00" + b"\xff" * 4_000)


def commit_graph_chain(trap: Trap) -> None:
    chain = trap.path / ".git/objects/info/commit-graphs"
    chain.mkdir()
    (chain / "commit-graph-chain").write_text(f"{'1' * 40}\n../../../../outside/secret\n")


def pack_index(trap: Trap) -> None:
    packs = trap.path / ".git/objects/pack"
    (packs / f"pack-{'1' * 40}.idx").write_bytes(b"\xfftOc\x00\x00\x00\x02" + b"\xff" * 8_000)
    (packs / f"pack-{'1' * 40}.pack").write_bytes(b"PACK\x00\x00\x00\x02\xff\xff\xff\xff")
    (packs / "multi-pack-index").write_bytes(b"MIDX\x01\x01\xff\x00" + b"\xff" * 4_000)


def _write(trap: Trap, kind: str, content: bytes) -> str:
    (trap.path / "object").write_bytes(content)
    made = trap.git("hash-object", "-w", "--literally", "-t", kind, "object")
    (trap.path / "object").unlink()
    return made


def _commit(trap: Trap, tree: str) -> None:
    trap.git("update-ref", "refs/heads/main", trap.git("commit-tree", "-m", "x", tree))


def tree_bomb(trap: Trap) -> None:
    """Trees that hold one another: few objects, and more paths than anything could list."""
    entry, mode = _write(trap, "blob", b"# Rule\n\nText.\n"), b"100644"
    for _ in range(BOMB_LEVELS):
        rows = (b"%b f%d\0%b" % (mode, n, bytes.fromhex(entry)) for n in range(BOMB_WIDTH))
        entry, mode = _write(trap, "tree", b"".join(rows)), b"40000"
    _commit(trap, entry)


def large_file(trap: Trap) -> None:
    trap.git.save({"AGENTS.md": b"# Rules\n" + bytes(40 << 20), "CODEOWNERS": bytes(6 << 20)})


def inflated_object(trap: Trap) -> None:
    """A loose object that says it is short and inflates without end."""
    blob = trap.git("rev-parse", "HEAD:AGENTS.md")
    path = trap.path / ".git/objects" / blob[:2] / blob[2:]
    path.chmod(0o600)
    path.write_bytes(zlib.compress(b"blob 5\0" + bytes(64 << 20)))


def escaping_tree(trap: Trap) -> None:
    blob = bytes.fromhex(trap.git("rev-parse", "HEAD:AGENTS.md"))
    names = (b"..", b".git", b"../AGENTS.md", b"/AGENTS.md", b".", b"")
    rows = b"".join(b"100644 %b\0%b" % (name, blob) for name in names)
    _commit(trap, _write(trap, "tree", rows))


def damaged_tree(trap: Trap) -> None:
    _commit(trap, _write(trap, "tree", b"100644 AGENTS.md\0short"))


def damaged_commit(trap: Trap) -> None:
    made = _write(trap, "commit", b"tree --output=x\nauthor \xff\n\n" + b"x" * 100_000)
    (trap.path / ".git/refs/heads/main").write_text(f"{made}\n")


def tag_chain(trap: Trap) -> None:
    made = trap.commit
    for number in range(40):
        kind = "tag" if number else "commit"
        who = "A <a@example.org> 1700000000 +0000"
        text = f"object {made}\ntype {kind}\ntag t{number}\ntagger {who}\n\nx\n"
        made = _write(trap, "tag", text.encode())
    (trap.path / ".git/refs/tags/main").write_text(f"{made}\n")


def embedded_bare(trap: Trap) -> None:
    """A bare repository in the tree, with a configuration of its own."""
    bare = trap.path / "src"
    for name in ("refs", "objects"):
        (bare / name).mkdir()
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text(f"[core]\n\tfsmonitor = {trap.script}\n\tworktree = ..\n")


def case_of_git(trap: Trap) -> None:
    for name in (".GIT", ".git.", "git~1", ".g\u200cit"):
        (trap.path / name).mkdir(exist_ok=True)
        (trap.path / name / "config").write_text(f"[core]\n\tfsmonitor = {trap.script}\n")


def lock_files(trap: Trap) -> None:
    for name in ("HEAD.lock", "index.lock", "config.lock", "packed-refs.lock", "shallow.lock"):
        (trap.path / ".git" / name).touch()


CONTENTS: dict[str, Spring] = {
    spring.__name__.replace("_", " "): spring
    for spring in (
        links_in_the_tree,
        links_in_the_working_tree,
        pipes_in_the_working_tree,
        submodule,
        option_like_names,
        unspeakable_names,
        option_like_refs,
        option_like_head,
        option_in_head,
        remote_head_out,
        replaced,
        grafted,
        attributes,
        every_hook,
        worktree_config,
        unused_worktree_out,
        split_index_out,
        http_alternates,
        bundle_and_lazy_fetch,
        rewritten_urls,
        option_like_remote,
        commit_graph,
        commit_graph_chain,
        pack_index,
        tree_bomb,
        large_file,
        inflated_object,
        escaping_tree,
        damaged_tree,
        damaged_commit,
        tag_chain,
        embedded_bare,
        case_of_git,
        lock_files,
    )
}
