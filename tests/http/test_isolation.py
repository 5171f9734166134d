"""A token never leads to a statement in another tenant's schema: the server's own log is read."""

import re
from dataclasses import replace

import pytest

from codeflow_memory.domain.access import Role

from ..postgresql import Cluster

_TAKEN = re.compile(r'SET LOCAL ROLE "(cfm_\w+)"')
_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE|JOIN)\s+(?!pg_)(\w+)")


@pytest.fixture(scope="module")
def logged():
    """A server that writes down every statement."""
    made = Cluster()
    made.start("log_statement=all", "log_line_prefix=''")
    yield made
    made.remove()


@pytest.fixture(scope="module")
def new_server(logged):
    return lambda: logged.url(logged.make())


@pytest.fixture
def ran(logged):
    """Tell the statements that the server ran since the last time."""
    log = logged.folder / "log"
    seen = len(log.read_text())

    def told() -> str:
        nonlocal seen
        text = log.read_text()
        since, seen = text[seen:], len(text)
        return since

    return told


@pytest.fixture(scope="module")
def theirs(shared_world):
    """Ids of the tenant ``birch``: a project, an entry of it and its repository."""
    birch = replace(shared_world, tenant="birch")
    project = birch.project("theirs")
    memory = birch.propose(birch.person("nan", Role.CONTRIBUTOR), project)
    return project, memory


def roles(text):
    return set(_TAKEN.findall(text))


@pytest.mark.parametrize("who", ["ann", "olga", "elsewhere"])
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/memories/{memory}"),
        ("GET", "/api/memories/{memory}/revisions"),
        ("POST", "/api/memories/{memory}/approve"),
        ("DELETE", "/api/memories/{memory}"),
        ("GET", "/api/projects/{project}/memories"),
        ("POST", "/api/projects/{project}/memories"),
        ("POST", "/api/projects/{project}/memory/selections"),
        ("GET", "/api/projects/{project}/memory/search?q=queue"),
        ("GET", "/api/repositories/{repository}"),
        ("GET", "/api/projects"),
        ("GET", "/api/projects?tenant=birch"),
    ],
)
def test_what_another_tenant_has_is_asked_for_in_the_callers_own_schema_alone(
    api, theirs, ran, who, method, path
):
    project, memory = theirs
    ids = {
        "memory": memory.memory_id,
        "project": project.project_id,
        "repository": project.repository_id,
    }

    body = None if method == "GET" else {}
    answer = api(who, method, path.format(**ids), body, match=1)

    text = ran()
    assert roles(text) == {"cfm_local"}
    assert "cfm_birch" not in text
    assert answer.status >= 400 or not any(one in answer.text for one in ids.values())


def test_a_token_that_names_another_tenant_is_looked_up_there_and_no_more(api, ran):
    """It is as good as any token that nobody has: whoever may send a request can make one up."""
    mine = api.tokens["ann"]
    assert mine.startswith("cfm_local_")

    api(mine.replace("cfm_local_", "cfm_birch_"), "GET", "/api/projects").refused(
        401, "unauthenticated"
    )

    text = ran()
    assert roles(text) == {"cfm_birch"}
    assert "READ WRITE" not in text
    assert set(_TABLE.findall(text)) <= {"tokens", "schema_migrations"}


def test_the_log_shows_who_runs_a_statement(api, ran):
    """Control."""
    api("foreign", "GET", "/api/projects").ok()

    text = ran()
    assert roles(text) == {"cfm_birch"}
    assert {"tokens", "projects"} <= set(_TABLE.findall(text))
