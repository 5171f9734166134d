"""Anchors: what is kept of the cited files when an entry is written."""

import hashlib
from dataclasses import replace

import pytest

from codeflow_memory.domain.access import Role
from codeflow_memory.domain.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    RevisionConflictError,
)
from codeflow_memory.domain.memory import Status
from codeflow_memory.services import anchors, batch, memories, publication, repositories, views
from codeflow_memory.services.batch import Step
from codeflow_memory.services.mutation import Operation
from codeflow_memory.storage import audit

NEW = Operation(None, ())


def blob(text):
    data = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def lines(first, last):
    return "".join(f"line {n}\n" for n in range(first, last + 1))


def test_a_write_that_is_refused_stores_no_anchor(site):
    reader = site.world.person("rae", Role.READER)
    with pytest.raises(ForbiddenError):
        site.write(reader, sources=["file:src/app.py"])
    with pytest.raises(InvalidRequestError):
        site.write(sources=["file:../app.py"])
    memory = site.write(sources=["file:src/app.py"])
    with pytest.raises(NotFoundError):
        site.revise(memory, site.bob, sources=["file:src/other.py"])
    with pytest.raises(RevisionConflictError):
        site.revise(replace(memory, revision=9), sources=["file:src/other.py"])

    assert set(site.rows(memory)) == {"file:src/app.py"}
    with site.store.engine.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM citations") == 1


def test_nobody_without_the_right_to_write_makes_the_server_ask_git(site):
    reader = site.world.person("rae", Role.READER)
    elsewhere = site.world.repository(key="x").repository.repository_id
    stranger = site.world.person("sam", Role.CONTRIBUTOR, repo=elsewhere)

    for access in (reader, stranger):
        taken = anchors.for_new(
            site.store, access, site.project.project_id, None, ["file:src/app.py"]
        )
        assert taken == anchors.Anchors()
    hidden = site.write(sources=["file:src/app.py"])
    taken = anchors.for_revision(site.store, site.bob, hidden.memory_id, {"title": "x"})
    assert taken == anchors.Anchors()


def test_each_cited_file_gets_its_blob_hash_and_a_range_that_of_its_lines(site):
    memory = site.write(
        sources=["file:src/app.py", "file:src/app.py#L3-L5", "url:https://example.org/x"]
    )

    rows = site.rows(memory)

    assert set(rows) == {"file:src/app.py", "file:src/app.py#L3-L5"}
    assert {r.blob_hash for r in rows.values()} == {blob(lines(1, 20))}
    assert rows["file:src/app.py"].lines_hash is None
    assert len(rows["file:src/app.py#L3-L5"].lines_hash) == 64
    assert {r.result for r in rows.values()} == {"valid"}


def test_a_citation_is_anchored_at_the_commit_that_it_names_else_at_the_default_branch(site):
    first = site.git("rev-parse", "HEAD")
    site.git.save({"src/app.py": "second\n"})
    site.git("checkout", "-q", "-b", "topic")
    site.git.save({"src/app.py": "topic\n", "src/new.py": "new\n"})

    memory = site.write(sources=[f"file:src/app.py@{first}", "file:src/app.py", "file:src/new.py"])

    rows = site.rows(memory)
    assert rows[f"file:src/app.py@{first}"].blob_hash == blob(lines(1, 20))
    assert rows["file:src/app.py"].blob_hash == blob("second\n")
    assert "file:src/new.py" not in rows


@pytest.mark.parametrize(
    "source",
    [
        "file:src/absent.py",
        "file:src",
        "file:src/link.py",
        "file:src/app.py#L19-L21",
        "file:src/app.py@" + "f" * 40,
        "file:.git/config",
    ],
)
def test_what_is_not_there_has_no_anchor_and_is_no_reason_to_refuse_the_write(site, source):
    (site.git.path / "src/link.py").symlink_to("/etc/passwd")
    site.git.save({})

    memory = site.write(sources=[source, "file:src/app.py#L1-L1"])

    assert set(site.rows(memory)) == {"file:src/app.py#L1-L1"}


def test_many_files_at_many_commits_are_all_anchored(site):
    names = [f"lib/m{n}.py" for n in range(20)]
    old = site.git.save({name: f"old {name}\n" for name in names})
    site.git.save({name: f"new {name}\n" for name in names})
    sources = [f"file:{name}@{old}#L1-L1" for name in names] + [f"file:{name}" for name in names]

    rows = site.rows(site.write(sources=sources))

    assert len(rows) == 40
    for name in names:
        assert rows[f"file:{name}@{old}#L1-L1"].blob_hash == blob(f"old {name}\n")
        assert rows[f"file:{name}"].blob_hash == blob(f"new {name}\n")


def test_where_the_repository_cannot_be_read_nothing_is_stored(site):
    site.unreadable()

    memory = site.write(sources=["file:src/app.py"])

    assert memory.status is Status.ACCEPTED
    assert site.rows(memory) == {}


def test_a_path_outside_of_the_roots_is_never_opened(site, tmp_path):
    outside = tmp_path / "outside"
    site.git.path.rename(outside)
    repository = site.world.repository(key="app", paths=(str(outside),)).repository

    memory = site.write(sources=["file:src/app.py"])

    assert repository.repository_id == memory.repository_id
    assert site.rows(memory) == {}


def test_a_revision_forgets_sources_that_are_gone_and_anchors_new_ones(site):
    memory = site.write(sources=["file:src/app.py", "file:src/app.py#L1-L2"])
    kept = site.rows(memory)["file:src/app.py"]

    revised = site.revise(memory, sources=["file:src/app.py", "file:src/other.py"])

    rows = site.rows(revised)
    assert set(rows) == {"file:src/app.py", "file:src/other.py"}
    assert rows["file:src/app.py"].blob_hash == kept.blob_hash


def test_only_a_revision_of_the_claims_takes_a_suspect_citation_anew(site):
    memory = site.write(sources=["required:file:src/app.py"])
    site.git.save({"src/app.py": "changed\n"})
    site.verify()

    tagged = site.revise(memory, tags=["seen"])
    assert site.rows(tagged)["required:file:src/app.py"].result == "changed"
    assert site.now(tagged).review_reason == "citation:changed"

    rewritten = site.revise(tagged, body="What the file says now.")
    assert site.rows(rewritten)["required:file:src/app.py"].result == "valid"
    assert site.now(rewritten).review_reason is None


def test_a_revision_of_the_claims_keeps_the_suspicion_where_git_cannot_be_asked(site):
    memory = site.write(sources=["file:src/app.py"])
    site.git.save({"src/app.py": "changed\n"})
    site.verify()
    site.unreadable()

    rewritten = site.revise(memory, body="What the file says now.")

    assert site.rows(rewritten)["file:src/app.py"].result == "changed"
    assert site.now(rewritten).review_reason == "citation:changed"


def test_a_revision_without_sources_leaves_no_citation(site):
    memory = site.write(sources=["file:src/app.py"])

    revised = site.revise(memory, sources=[])

    assert site.rows(revised) == {}


def test_a_revision_in_a_batch_is_anchored_too(site):
    memory = site.write()
    step = Step(
        "update", memory.memory_id, memory.revision, changes={"sources": ["file:src/app.py"]}
    )

    def run(step, atomic):
        return batch.run(site.store, site.ann, [step], NEW, dry_run=False, atomic=atomic).results

    for atomic in (True, False):
        (done,) = run(step, atomic)
        assert done.error is None
        assert set(site.rows(memory)) == {"file:src/app.py"}
        step = replace(step, revision=done.revision, changes={"sources": ["file:src/other.py"]})
        (done,) = run(step, atomic)
        assert set(site.rows(memory)) == {"file:src/other.py"}
        step = replace(step, revision=done.revision, changes={"sources": ["file:src/app.py"]})


def test_a_publication_cites_what_its_original_cited(site):
    private = site.write(sources=["file:src/app.py#L2-L3", "message:m1"])
    site.git.save({"src/app.py": "changed since\n"})

    public = publication.publish(site.store, site.ann, private.memory_id, 1, NEW).memory

    original, copied = site.rows(private), site.rows(public)
    source = "file:src/app.py#L2-L3"
    assert set(copied) == {source}
    assert copied[source] == replace(original[source], memory_id=public.memory_id)


def test_an_anchor_of_another_repository_is_not_taken_for_ours(site):
    memory = site.write(sources=["file:src/app.py"])
    with site.store.engine.read() as tx:
        before = audit.count(tx)
    foreign = anchors.Anchors("rep_other", {"file:src/other.py": anchors.Anchor("0" * 40)})

    def work(mutation):
        reach = memories.accesses.reach_everywhere(mutation.tx, mutation.access)
        stored = views.expect(mutation.tx, reach, memory.memory_id, 1)
        changes = {"sources": ["file:src/other.py"]}
        done = memories.revise_stored(mutation, reach, stored, changes, foreign)
        return memories.Receipt("revise", done.memory_id, done.revision, {})

    memories.mutate(site.store, site.ann, NEW, work, views.render)

    assert site.rows(memory) == {}
    with site.store.engine.read() as tx:
        assert audit.count(tx) == before + 1


def test_a_merged_repository_is_read_where_the_whole_is(site):
    whole = site.world.repository(key="whole").repository
    repositories.merge(
        site.store, site.world.owner, site.project.repository_id, whole.repository_id, NEW
    )

    memory = site.write(sources=["file:src/app.py"])

    assert memory.repository_id == site.project.repository_id
    assert set(site.rows(memory)) == {"file:src/app.py"}
