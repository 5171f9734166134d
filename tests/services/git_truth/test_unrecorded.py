"""No audit row, no change: what no request but a command, job or start does either."""

import ast
from pathlib import Path

import codeflow_memory.services
from codeflow_memory.domain.access import Origin
from codeflow_memory.domain.times import DAY
from codeflow_memory.services import access as accesses
from codeflow_memory.services import (
    checkpoints,
    exact_import,
    expiry,
    learning,
    rekeying,
    verification,
)
from codeflow_memory.services.export import Format, export
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage import principals
from codeflow_memory.storage.home import Home

from ..unrecorded import attempted

WRITERS = {
    "checkpoints.record_restore": "here",
    "checkpoints.write": "here",
    "decay._step": "here",
    "expiry._step": "here",
    "findings._hold": "a row with each: `test_findings`",
    "findings.run": "no change of a record: which catalogue has read them",
    "jobs._keep": "no change of a record: who is at which work",
    "jobs.held": "no change of a record: how a work ended",
    "jobs.take": "no change of a record: who does which work next",
    "rates.add_up": "no change of a record: how often was asked",
    "indexing.run": "no change of a record: terms follow from the texts",
    "rekeying.run": "here",
    "mutation._attempt": "the way of every request, learning, imports and verification",
    "legacy_import._import_beside": "a first import: `tests/faults` breaks it at every step",
    "legacy_import._import_fresh": "a first import begins a database, which is whole or not there",
    "legacy_import._make_room": "no change of a record: the document was renamed",
    "manifests.keep": "no change of a record: what was selected, which is its own record",
    "sign_in.SignIn._check": "no change of what opens it: the same password, hashed anew",
    "tenants.Tenants.create": "begins a database, which is whole or not there",
    "tokens.record_uses": "no change of what anybody may see or do",
}
"""Every service with a transaction of its own that writes, and where its row is seen to."""


def writers() -> set[str]:
    folder = Path(codeflow_memory.services.__file__).parent
    return {
        f"{path.stem}.{'.'.join(names)}"
        for path in folder.glob("*.py")
        for names, node in _functions(ast.parse(path.read_text("utf-8")))
        if any(
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and ast.unparse(call.func).endswith(("engine.write", "databases.create"))
            for call in ast.walk(node)
        )
    }


def _functions(tree, outer=()):
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node, (*outer, node.name))
        elif isinstance(node, ast.FunctionDef):
            yield (*outer, node.name), node


def test_every_service_that_writes_by_itself_is_here():
    assert writers() == WRITERS.keys()


def test_what_is_learned(site):
    site.git.save({"AGENTS.md": "# Rules\n\n## Tests\n\nRun every test before a push.\n"})

    attempted(
        site.store,
        lambda: learning.learn(site.store, site.world.owner, site.git.path, None, dry_run=False),
    )


def test_what_is_verified(site):
    site.propose(sources=["file:src/app.py#L1-L3"])
    site.git.save({"src/app.py": "nothing of what was cited\n"})

    attempted(site.store, site.verify)
    site.git.save({"src/app.py": "something else again\n"})
    attempted(
        site.store,
        lambda: verification.verify_checkout(site.store, site.world.owner, site.git.path),
    )


def test_what_is_imported(site, tmp_path, clock, new_server):
    for number in range(3):
        site.propose(title=f"Exported {number}")
    data = export(site.store, site.world.owner, Format.JSONL).encode()
    home = Home(tmp_path / "other", new_server())
    home.make()
    tenants = Tenants(home, now=clock)
    try:
        store = tenants.create("local")
        attempted(store, lambda: exact_import.run(store, first_owner(store), data))
    finally:
        tenants.close()


def first_owner(store):
    with store.engine.read() as tx:
        owner = principals.first_owner(tx).principal_id
        return accesses.of_principal(store, tx, owner, Origin.USER)


def test_what_expires(site):
    site.write(kind="temporal", valid_to="2030-01-01T00:00:00Z")
    site.world.clock.at += 10_000 * DAY

    attempted(site.store, lambda: expiry.run(site.store))


def test_what_begins_with_another_key_or_a_restore(site):
    attempted(site.store, lambda: rekeying.run(site.store))
    attempted(site.store, lambda: checkpoints.record_restore(site.store))
