"""``/metrics`` and ``/api/status``: who is shown what, and that labels tell nothing of anybody."""

import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from codeflow_memory.domain.access import Role

OUTSIDERS = ("reader", "ann", "bob", "max", "elsewhere")


def samples(text):
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scraped(api, who="ops"):
    answer = api(who, "GET", "/metrics")
    assert (answer.status, answer.headers["content-type"]) == (
        200,
        "text/plain; version=0.0.4; charset=utf-8",
    )
    return samples(answer.text)


def counted(api, route, who="ops", **labels):
    wanted = {"route": route, "method": "GET", "status": "2xx"} | labels
    return scraped(api, who).get(
        ("codeflow_memory_requests_total", tuple(sorted(wanted.items()))), 0
    )


@pytest.mark.parametrize("who", OUTSIDERS)
def test_only_who_runs_the_tenant_reads_its_metrics(api, who):
    api(who, "GET", "/metrics").refused(403, "forbidden")


def test_without_a_token_nothing_is_told(api):
    api(None, "GET", "/metrics").refused(401, "unauthenticated")
    api("cfm_local_x_y", "GET", "/metrics").refused(401, "unauthenticated")
    api(None, "GET", "/api/status").refused(401, "unauthenticated")


def test_a_run_of_an_owner_reads_none(api):
    body = {"agent": "codex", "project_id": api.project.project_id}
    run = api("olga", "POST", "/api/runs", body).ok(201)["token"]

    api(run, "GET", "/metrics").refused(403, "forbidden")
    assert api(run, "GET", "/api/status").ok()["operations"] is None


@pytest.mark.parametrize("who", ["ops", "olga"])
def test_operators_and_owners_are_shown_what_can_be_measured(api, who):
    found = scraped(api, who)

    assert found["codeflow_memory_database_bytes", ()] > 100_000
    assert found["codeflow_memory_audit_rows", ()] > 10
    assert found["codeflow_memory_schema_version", ()] >= 1
    assert ("codeflow_memory_limit_used", (("limit", "scope_bytes"),)) in found
    assert found["codeflow_memory_pool_in_use", ()] >= 0
    assert found["codeflow_memory_pool_size", ()] > 4


def test_requests_are_counted_by_the_template_of_their_route_and_their_end(api):
    memory = api.write()
    route, path = "/api/memories/{memory_id}", f"/api/memories/{memory['id']}"
    before = counted(api, route), counted(api, route, status="4xx")

    api("ann", "GET", path).ok()
    api("ann", "GET", "/api/memories/mem_absent").refused(404, "not-found")

    assert (counted(api, route), counted(api, route, status="4xx")) == (
        before[0] + 1,
        before[1] + 1,
    )
    found = scraped(api)
    assert found["codeflow_memory_requests_refused_total", (("code", "not-found"),)] >= 1
    assert found["codeflow_memory_requests_seconds_count", (("route", route),)] >= 2


def test_what_a_client_makes_up_becomes_no_label(api):
    for number in range(20):
        api("ann", "GET", f"/api/needle-{number}/absent").refused(404, "not-found")
        api("ann", "GET", f"/api/projects/needle-{number}/memories")
        api(None, "GET", f"/needle-{number}")
    text = api("ops", "GET", "/metrics").text

    assert "needle" not in text
    assert len(text) < 200_000


def test_no_name_and_no_id_of_anybody_is_a_label(api):
    project = api.project
    for who in ("ann", "bob", "olga"):
        api(who, "GET", f"/api/projects/{project.project_id}").ok()
    text = api("olga", "GET", "/metrics").text

    ids = re.findall(r"(?:mem|prj|rep|prn|grt|bat|req)_[0-9A-Za-z]{4,}", text)
    names = ["local", "birch", "shop", "olga", "ann", api.tokens["ann"].split("_")[2]]
    assert (ids, [name for name in names if name in text]) == ([], [])


def test_one_tenant_is_told_nothing_of_another(api):
    for _ in range(3):
        api("ann", "GET", "/api/projects").ok()
    before = api("foreign", "GET", "/metrics").text

    for _ in range(3):
        api("ann", "GET", "/api/projects").ok()
        api(None, "GET", "/api/projects").refused(401, "unauthenticated")
    after = samples(api("foreign", "GET", "/metrics").text)

    own = {
        key: value for key, value in samples(before).items() if ("route", "/metrics") not in key[1]
    }
    assert {key: after[key] for key in own} == own
    assert all(("route", "/api/projects") not in labels for _, labels in after)
    assert not any("pool" in name or "anonymous" in name for name, _ in after)


def test_who_was_not_known_is_counted_for_who_made_the_home(api):
    key = (
        "codeflow_memory_anonymous_requests_refused_total",
        (("code", "unauthenticated"),),
    )
    before = scraped(api).get(key, 0)

    api("cfm_birch_x_y", "GET", "/api/projects").refused(401, "unauthenticated")

    assert scraped(api)[key] == before + 1


def test_a_request_over_its_rate_is_counted_as_such(serve_product, api):
    served = serve_product(requests_per_minute_token=3)
    slow = type(api)(served, api.world)
    answers = [slow("ann", "GET", "/api/projects").status for _ in range(5)]

    key = "codeflow_memory_requests_refused_total", (("code", "rate-limited"),)
    assert answers.count(429) == scraped(slow)[key] == 2


def test_the_status_tells_its_version_to_all_and_the_rest_to_who_runs_the_tenant(api):
    for who in OUTSIDERS:
        told = api(who, "GET", "/api/status").ok()
        assert (told.keys(), told["operations"]) == ({"version", "operations"}, None)

    told = api("ops", "GET", "/api/status").ok()["operations"]

    assert told["database_bytes"] == api.world.store.engine.size_bytes() > 0
    assert told["audit"]["rows"] > told["audit"]["rows_since"] - 1 >= 0
    assert {use["limit"] for use in told["limits"]} == {"project_entries", "scope_bytes"}
    assert told["jobs"] == {"waiting": 0, "dead": 0}


def test_of_the_home_itself_only_its_first_tenant_is_told(api):
    home = api.world.tenants.home.path
    (home / "operations.json").write_text('{"last_backup": {"at": "2026-05-01T02:00:00Z"}}')
    (home / "undo-20990501T020000Z").mkdir()

    own = api("ops", "GET", "/api/status").ok()["operations"]
    other = api("foreign", "GET", "/api/status").ok()["operations"]

    assert own["last_backup"] == {"at": "2026-05-01T02:00:00Z"}
    assert own["earlier_states"] == ["undo-20990501T020000Z"]
    assert (other["last_backup"], other["earlier_states"]) == (None, [])


def test_an_operator_of_one_repository_runs_no_tenant(api):
    made = api.world.token("oli", Role.OPERATOR, repo=api.project.repository_id)

    api(made.text, "GET", "/metrics").refused(403, "forbidden")
