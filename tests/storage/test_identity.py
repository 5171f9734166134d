"""Rows of principals, teams, grants, tokens, runs, repositories and projects."""

from dataclasses import replace

import pytest

from codeflow_memory.domain.access import Grant, Role
from codeflow_memory.domain.errors import NotFoundError, RevisionConflictError
from codeflow_memory.domain.grant import StoredGrant
from codeflow_memory.domain.principal import Principal
from codeflow_memory.domain.project import Project
from codeflow_memory.domain.registration import Alias, Fact
from codeflow_memory.domain.run import Run
from codeflow_memory.domain.team import Team
from codeflow_memory.storage import (
    grants,
    principals,
    projects,
    repositories,
    runs,
    teams,
    tokens,
)
from codeflow_memory.storage.tokens import Token

TOKEN = Token("t1", "0" * 64, "prn_1", False, None, None, "prn_1", 1, None, None, None)  # noqa: FBT003 - a row in the order of its columns
RUN = Run("rep_1", "run_1", "prj_1", "prn_1", "main", "codex", None, 0, 1, None)


def named(token_id):
    return {"token_id": token_id}


def give(tx, grant_id, role, repository_id=None, principal_id="prn_1"):
    grants.insert(tx, StoredGrant(grant_id, principal_id, role, repository_id, "prn_1", 1))


def project(tx, repository_id, project_id, slug):
    made = Project(repository_id, project_id, slug, slug, None, 1)
    projects.insert(tx, made)
    return made


def test_a_principal_reads_back_as_it_was_written(tx):
    agent = Principal("prn_2", "bot", "agent", "prn_1", 5, None)
    principals.insert(tx, agent)

    assert principals.find(tx, "prn_2") == principals.find_by_name(tx, "bot") == agent
    assert principals.named(tx, "prn_2") == principals.named(tx, "bot") == agent
    assert principals.find(tx, "prn_9") is principals.find_by_name(tx, "BOT") is None
    assert principals.sponsored(tx, "prn_1") == ["prn_2"]


def test_a_principal_is_removed_once(tx):
    assert principals.remove(tx, "prn_1", 7)
    assert not principals.remove(tx, "prn_1", 8)
    assert principals.find(tx, "prn_1").removed_at == 7
    assert principals.list_all(tx, after=None, limit=9) == []


def test_the_first_owner_is_the_oldest_living_person_with_the_whole_tenant(tx):
    assert principals.first_owner(tx) is None
    for number, kind in ((2, "agent"), (3, "user"), (4, "user")):
        principals.insert(tx, Principal(f"prn_{number}", f"p{number}", kind, None, number, None))
    give(tx, "g1", Role.OWNER, "rep_1", "prn_1")
    give(tx, "g2", Role.OWNER, None, "prn_2")
    give(tx, "g3", Role.MAINTAINER, None, "prn_1")
    give(tx, "g4", Role.OWNER, None, "prn_4")
    give(tx, "g5", Role.OWNER, None, "prn_3")

    assert principals.first_owner(tx).principal_id == "prn_3"
    principals.remove(tx, "prn_3", 9)
    assert [p.principal_id for p in principals.owners(tx, limit=9)] == ["prn_4"]


def test_people_are_counted_no_further_than_is_asked(tx):
    for number in range(2, 6):
        principals.insert(tx, Principal(f"prn_{number}", f"p{number}", "user", None, 1, None))
    principals.insert(tx, Principal("prn_9", "bot", "agent", None, 1, None))

    assert [principals.people(tx, limit=n) for n in (1, 2, 9)] == [1, 2, 5]


def test_a_role_on_any_of_merged_repositories_is_a_role_on_each(tx):
    give(tx, "g1", Role.READER, "rep_1")
    give(tx, "g2", Role.REVIEWER, "rep_2")
    give(tx, "g3", Role.OPERATOR)
    tokens.insert(tx, TOKEN, [Grant(Role.READER, "rep_1"), Grant(Role.OPERATOR)])
    alone = [Grant(Role.OPERATOR), Grant(Role.READER, "rep_1"), Grant(Role.REVIEWER, "rep_2")]
    assert principals.grants(tx, "prn_1") == alone

    repositories.merge(tx, "rep_1", "rep_3", 5)
    repositories.merge(tx, "rep_3", "rep_2", 6)

    family = ("rep_1", "rep_2", "rep_3")
    assert set(principals.grants(tx, "prn_1")) == {Grant(Role.OPERATOR)} | {
        Grant(role, place) for role in (Role.READER, Role.REVIEWER) for place in family
    }
    assert set(tokens.grants(tx, "t1")) == {Grant(Role.OPERATOR)} | {
        Grant(Role.READER, place) for place in family
    }


def test_teams_and_their_members_read_back(tx):
    red = Team("team_1", "red", "Red", 1)
    teams.insert(tx, red)

    assert teams.find(tx, "team_1") == teams.find_by_slug(tx, "red") == red
    assert teams.add_member(tx, "team_1", "prn_1", 5)
    assert not teams.add_member(tx, "team_1", "prn_1", 6)
    assert teams.of_principal(tx, "prn_1") == ["team_1"]
    assert teams.members(tx, "team_1") == ["prn_1"]
    assert teams.remove_member(tx, "team_1", "prn_1")
    assert not teams.remove_member(tx, "team_1", "prn_1")
    assert not teams.in_use(tx, "team_1")
    assert teams.delete(tx, "team_1")
    assert not teams.delete(tx, "team_1")


def test_a_grant_is_found_by_exactly_what_it_gives(tx):
    give(tx, "g1", Role.READER)
    give(tx, "g2", Role.READER, "rep_1")

    assert grants.find_same(tx, "prn_1", Role.READER, None).grant_id == "g1"
    assert grants.find_same(tx, "prn_1", Role.READER, "rep_1").grant_id == "g2"
    assert grants.find_same(tx, "prn_1", Role.READER, "rep_2") is None
    assert grants.find_same(tx, "prn_1", Role.OWNER, None) is None
    assert [g.grant_id for g in grants.list_all(tx, principal_id=None, after="g1", limit=9)] == [
        "g2"
    ]
    assert grants.delete(tx, "g1")
    assert not grants.delete(tx, "g1")


def test_a_token_reads_back_and_is_revoked_once(tx):
    tokens.insert(tx, TOKEN, [Grant(Role.READER), Grant(Role.OWNER, "rep_1")])

    assert tokens.find(tx, "t1") == TOKEN
    assert tokens.grants(tx, "t1") == [Grant(Role.READER), Grant(Role.OWNER, "rep_1")]
    assert tokens.revoke(tx, "t1", 7)
    assert not tokens.revoke(tx, "t1", 8)
    assert tokens.find(tx, "t1").revoked_at == 7
    assert tokens.revoke_of_principal(tx, "prn_1", 9) == 0


def test_some_token_is_read_whatever_id_is_asked_for(tx):
    assert tokens.nearest(tx, "t1") is None
    tokens.insert(tx, TOKEN, [])
    tokens.insert(tx, replace(TOKEN, **named("t3")), [])

    read = [tokens.nearest(tx, asked).token_id for asked in ("t1", "t2", "t3", "", "t4", "zzz")]

    assert read == ["t1", "t3", "t3", "t1", "t1", "t1"]


def test_the_last_use_never_steps_back(tx):
    tokens.insert(tx, TOKEN, [])

    for at in (5, 9, 7):
        tokens.touch(tx, "t1", at)

    assert tokens.find(tx, "t1").last_used_at == 9


def test_the_tokens_of_one_run_are_revoked_and_no_others(tx):
    project(tx, "rep_1", "prj_1", "core")
    runs.insert(tx, RUN)
    runs.insert(tx, replace(RUN, run_id="run_2"))
    bound = replace(TOKEN, run_repository_id="rep_1", run_id="run_1")
    tokens.insert(tx, bound, [])
    tokens.insert(tx, replace(bound, **named("t2"), run_id="run_2"), [])
    tokens.insert(tx, replace(TOKEN, **named("t3")), [])
    project(tx, "rep_2", "prj_2", "core")
    runs.insert(tx, replace(RUN, repository_id="rep_2", project_id="prj_2"))
    tokens.insert(tx, replace(bound, **named("t4"), run_repository_id="rep_2"), [])

    assert tokens.revoke_of_run(tx, "rep_1", "run_1", 5) == 1
    assert [
        t.token_id
        for t in tokens.list_all(tx, principal_id="prn_1", after=None, limit=9)
        if t.revoked_at is None
    ] == ["t2", "t3", "t4"]


def test_a_run_reads_back_ends_once_and_an_ambiguous_id_names_none(tx):
    project(tx, "rep_1", "prj_1", "core")
    project(tx, "rep_2", "prj_2", "core")
    runs.insert(tx, RUN)

    assert runs.find(tx, "rep_1", "run_1") == runs.find_by_id(tx, "run_1") == RUN
    assert runs.end(tx, "rep_1", "run_1", 5)
    assert not runs.end(tx, "rep_1", "run_1", 6)
    assert runs.find(tx, "rep_1", "run_1").ended_at == 5
    runs.insert(tx, replace(RUN, repository_id="rep_2", project_id="prj_2"))
    assert runs.find_by_id(tx, "run_1") is None


def test_a_repository_is_replaced_from_its_own_revision_only(tx):
    stored = repositories.find(tx, "rep_1")
    repositories.replace(tx, replace(stored, capture=True), base_revision=1)

    assert repositories.find(tx, "rep_1") == replace(stored, capture=True, revision=2)
    for base in (1, 3):
        with pytest.raises(RevisionConflictError) as refused:
            repositories.replace(tx, stored, base_revision=base)
        assert refused.value.current == 2


def test_a_fact_finds_every_repository_that_it_fits(tx):
    root, key = Alias(Fact.ROOT_COMMIT, "a" * 40), Alias(Fact.KEY, "a" * 40)
    repositories.add_aliases(tx, "rep_1", [root], 1)
    repositories.add_aliases(tx, "rep_2", [root, key], 1)

    found = repositories.matching(tx, [key, root])

    assert [(r.repository_id, a) for r, a in found] == [
        ("rep_2", key),
        ("rep_1", root),
        ("rep_2", root),
    ]
    assert repositories.add_aliases(tx, "rep_1", [root, key], 2) == 1


def test_merged_repositories_share_their_aliases_and_follow_every_chain(tx):
    repositories.add_aliases(tx, "rep_1", [Alias(Fact.PATH, "/a"), Alias(Fact.PATH, "/b")], 1)
    repositories.add_aliases(tx, "rep_2", [Alias(Fact.PATH, "/b")], 1)

    repositories.merge(tx, "rep_1", "rep_2", 5)
    repositories.merge(tx, "rep_2", "rep_3", 6)

    for name in ("rep_1", "rep_2", "rep_3"):
        assert repositories.find(tx, name).repository_id == "rep_3"
        assert repositories.paths(tx, name) == ["/a", "/b"]
    assert repositories.members(tx, "rep_3") == ["rep_1", "rep_2", "rep_3"]
    page = repositories.page(tx, None, after=None, limit=9)
    assert [r.repository_id for r in page] == ["rep_3"]


def test_projects_are_named_by_id_before_slug_and_narrowed_by_any_name_of_a_repository(tx):
    repositories.add_aliases(
        tx, "rep_1", [Alias(Fact.REMOTE, "h.example/a/shop"), Alias(Fact.PATH, "/srv/shop")], 1
    )
    one = project(tx, "rep_1", "prj_1", "core")
    two = project(tx, "rep_2", "prj_2", "core")
    odd = project(tx, "rep_2", "prj_3", "prj_1")

    assert projects.named(tx, "prj_1", None) == [one]
    assert projects.named(tx, "core", None) == [one, two]
    for repo in ("rep_1", "git@h.example:a/shop.git", "/srv//shop/"):
        assert projects.named(tx, "core", repo) == [one]
        assert projects.named(tx, "prj_2", repo) == []
    assert projects.named(tx, "core", "nowhere") == []
    assert projects.list_of_repository(tx, "rep_2") == [two, odd]
    assert projects.find_by_slug(tx, "rep_2", "prj_1") == odd
    with pytest.raises(NotFoundError):
        projects.get(tx, "rep_1", "prj_2")


@pytest.mark.parametrize(
    ("sql", "parameters", "index"),
    [
        (
            "SELECT repository_id FROM repository_aliases WHERE kind = :k AND value = :v",
            {"k": "key", "v": "x"},
            "repository_aliases_by_value",
        ),
        ("SELECT repository_id FROM projects WHERE slug = :s", {"s": "x"}, "projects_by_slug"),
        (
            "SELECT run_id FROM runs WHERE principal_id = :p AND run_id < :r ORDER BY run_id DESC",
            {"p": "x", "r": "~"},
            "runs_of_principal",
        ),
        ("SELECT repository_id FROM runs WHERE run_id = :r", {"r": "x"}, "runs_by_id"),
        (
            "SELECT token_id FROM tokens WHERE principal_id = :p ORDER BY token_id",
            {"p": "x"},
            "tokens_of_principal",
        ),
    ],
)
def test_a_lookup_on_a_growing_table_uses_its_index(plan, sql, parameters, index):
    steps = plan(sql, parameters)

    assert index in steps
    assert "TEMP B-TREE" not in steps


def test_no_statement_of_a_sign_in_scans_a_table(engine, plan, monkeypatch):
    asked = []

    def noted(original):
        def run(self, sql, parameters=None):
            asked.append((sql, parameters or {}))
            return original(self, sql, parameters)

        return run

    with monkeypatch.context() as watched, engine.read() as tx:
        kind = type(tx)
        for name in ("rows", "row"):
            watched.setattr(kind, name, noted(getattr(kind, name)))
        tokens.nearest(tx, "t1")
        tokens.grants(tx, "t1")
        principals.find(tx, "prn_1")
        principals.grants(tx, "prn_1")
        principals.sponsored(tx, "prn_1")
        teams.of_principal(tx, "prn_1")
        runs.find(tx, "rep_1", "run_1")
        repositories.find(tx, "rep_1")

    assert len(asked) == 8
    steps = [step for statement in asked for step in plan(*statement).splitlines()]
    assert [s for s in steps if s.startswith("SCAN") and "SUBQUERY" not in s] == []
