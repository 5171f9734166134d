"""What the home's file of operations says, whoever wrote what into it."""

import json

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import ForbiddenError
from codeflow_memory.services import checkpoints, operations
from codeflow_memory.storage import operations as rows


@pytest.fixture
def file(world):
    return world.tenants.home.path / rows.FILE


def last(world):
    return rows.last(world.tenants.home, "last_backup")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"last_backup": 1}',
        b'{"last_backup": []}',
        b"[" * 60_000,
        b'{"last_backup": {"at": "' + b"x" * 70_000 + b'"}}',
    ],
)
def test_what_is_no_such_file_says_nothing(world, file, content):
    file.write_bytes(content)

    assert last(world) is None


def test_where_there_is_no_file_nothing_is_known(world, file):
    assert last(world) is None
    file.mkdir()
    assert last(world) is None
    file.rmdir()
    file.symlink_to("/absent")
    assert last(world) is None


def test_only_short_plain_texts_come_out_of_it(world, file):
    told = {"at": "2026-05-01T02:00:00Z", "file": "a.cfmb", "new": "kept too"}
    odd = {"bytes": 1, "long": "x" * 201, "control": "a\nb", "nested": {"a": "b"}}
    file.write_text(json.dumps({"last_backup": told | odd, "other": {"at": "x"}}))

    assert last(world) == told


def test_who_does_not_run_the_tenant_is_refused(world, cast):
    project = world.project()
    for access in (cast.reader, cast.max, world.sign_in(world.run(world.owner, project).text)):
        with pytest.raises(ForbiddenError):
            operations.measure(world.store, access)
        assert operations.status(world.store, access) is None


def test_rows_after_the_last_checkpoint_are_counted(world):
    ops = world.person("ops", Role.OPERATOR)
    assert operations.measure(world.store, ops).audit_checkpoints == 0
    checkpoints.write(world.store)

    gauges = operations.measure(world.store, ops)

    assert (gauges.audit_checkpoints, gauges.audit_rows_since) == (1, 0)
    world.project()
    assert operations.measure(world.store, ops).audit_rows_since > 0
