"""Every field of a selection's request counts, and what is left out has the specified default."""

import pytest

ENTRIES = 22
"""More than a selection takes unless it is told otherwise (01 §9: 20)."""

LONG = 3_000
"""Characters of a body: few of them fit into the default 12,000."""

HEAD = "a" * 40


@pytest.fixture(scope="module")
def tides(api):
    """More short entries than fit by number, each with its own name."""
    made = [api.accept(title=f"Ebb {n}", body=f"tide {n * 7919}") for n in range(ENTRIES)]
    return {memory["id"] for memory in made}


@pytest.fixture(scope="module")
def whales(api):
    """More long entries than fit by their characters."""
    made = [api.accept(title=f"Whale {n}", body=f"pod{n} " * (LONG // 5)) for n in range(5)]
    return {memory["id"]: memory for memory in made}


@pytest.fixture(scope="module")
def crabs(api):
    """Private entries of ann's, by what tells one from the others."""
    kinds = {"rule": "guidance", "truth": "fact", "track": "trace"}
    return {
        name: api.write(collection="private", kind=kind, title=name, body=f"crab {name}")["id"]
        for name, kind in kinds.items()
    }


def select(api, **request):
    return api("ann", "POST", f"{api.base}/memory/selections", request).ok(201)


def ids(made):
    return {entry["memory_id"] for entry in made["entries"]}


def test_what_a_request_leaves_out_has_the_specified_defaults(api):
    asked = select(api)["request"]

    assert asked["budget"] == {"characters": 12_000, "entries": 20}
    assert (asked["match"], asked["explain"], asked["head"]) == ("all", False, None)
    assert (asked["branch"], asked["paths"], asked["profile"]) == (None, [], "project")
    assert "trace" not in asked["kinds"]
    assert {"guidance", "fact", "decision", "skill"} < set(asked["kinds"])


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        ({}, {"characters": 12_000, "entries": 20}),
        ({"characters": 900}, {"characters": 900, "entries": 20}),
        ({"entries": 3}, {"characters": 12_000, "entries": 3}),
        ({"characters": 90_000, "entries": 4}, {"characters": 90_000, "entries": 4}),
    ],
)
def test_of_a_budget_each_part_counts_and_has_its_own_default(api, given, counts):
    assert select(api, budget=given)["request"]["budget"] == counts


def test_by_default_twenty_entries_are_taken(api, tides):
    made = select(api, query="tide")

    assert (len(made["entries"]), ids(made) < tides) == (20, True)
    assert [left["reason"] for left in made["omitted"]] == ["entries"] * (ENTRIES - 20)


@pytest.mark.usefixtures("tides")
@pytest.mark.parametrize("entries", [1, 7, 100])
def test_as_many_entries_are_taken_as_the_budget_says(api, entries):
    made = select(api, query="tide", budget={"entries": entries, "characters": 50_000})

    assert len(made["entries"]) == min(entries, ENTRIES)
    assert {left["reason"] for left in made["omitted"]} <= {"entries"}


@pytest.mark.usefixtures("whales")
def test_by_default_a_context_has_at_most_twelve_thousand_characters(api):
    made = select(api, query="whale")

    assert 12_000 - LONG < len(made["context"]) <= 12_000
    assert "characters" in {left["reason"] for left in made["omitted"]}


def test_a_context_is_as_long_as_the_budget_says(api, whales):
    whole = select(api, query="whale", budget={"characters": 100_000})
    assert ids(whole) == set(whales)
    size = len(whole["context"])

    exact = select(api, query="whale", budget={"characters": size})
    less = select(api, query="whale", budget={"characters": size - 1})
    none = select(api, query="whale", budget={"characters": 1})

    assert (exact["context"], exact["omitted"]) == (whole["context"], [])
    assert len(less["entries"]) == len(whales) - 1
    assert (none["entries"], len(none["omitted"])) == ([], len(whales))


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        ({}, {"rule", "truth"}),
        ({"kinds": ["fact"]}, {"truth"}),
        ({"kinds": ["trace"]}, {"track"}),
        ({"kinds": ["guidance", "trace"]}, {"rule", "track"}),
        ({"kinds": []}, set()),
    ],
)
def test_only_the_kinds_that_are_wanted_are_taken(api, crabs, request_, names):
    made = select(api, query="crab", **request_)

    assert ids(made) == {crabs[name] for name in names}
    if "kinds" in request_:
        assert made["request"]["kinds"] == sorted(request_["kinds"])


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        ({"query": "crabs"}, True),
        ({"query": "crabs", "match": "all"}, True),
        ({"query": "crabs", "match": "literal"}, False),
        ({"query": "crab", "match": "literal"}, True),
        ({"query": "squid"}, False),
    ],
)
def test_a_selection_looks_for_other_forms_unless_it_is_literal(api, crabs, request_, found):
    made = select(api, **request_)

    assert ids(made) == ({crabs["rule"], crabs["truth"]} if found else set())
    assert made["request"]["match"] == request_.get("match", "all")


def test_with_a_head_the_ancestry_of_entries_is_asked_for(api):
    without, with_head = select(api, query="crab"), select(api, query="crab", head=HEAD)

    assert [m["request"]["head"] for m in (without, with_head)] == [None, HEAD]
    assert [m["filters"]["ancestry"] for m in (without, with_head)] == ["unknown", "not-needed"]


def test_with_a_branch_and_paths_what_belongs_elsewhere_is_left_out(api):
    here = api.accept(body="shrimp one", branches=["main"], paths=["src/**"])["id"]

    assert ids(select(api, query="shrimp")) == {here}
    assert ids(select(api, query="shrimp", branch="main", paths=["src/a.py"])) == {here}
    assert ids(select(api, query="shrimp", branch="next")) == set()
    assert ids(select(api, query="shrimp", paths=["docs/a.md"])) == set()


@pytest.mark.usefixtures("tides")
def test_an_explained_selection_tells_the_channels_of_what_missed(api):
    for explain in (False, True):
        made = select(api, query="tide", explain=explain)
        assert made["request"]["explain"] is explain
        assert len(made["omitted"]) == ENTRIES - 20
        for left in made["omitted"]:
            assert ("channels" in left) is explain
            assert not explain or left["channels"]["keyword"] > 0


@pytest.fixture(scope="module")
def runs(api):
    """Two runs of ann's, each with three selections, and one selection outside."""
    made = {}
    for branch in ("main", "next"):
        body = {"agent": "codex", "project_id": api.project.project_id, "branch": branch}
        run = api("ann", "POST", "/api/runs", body).ok(201)["run_id"]
        made[run] = [select(api, run_id=run)["id"] for _ in range(3)]
        asked = select(api, run_id=run)
        assert (asked["run_id"], asked["request"]["branch"]) == (run, branch)
        made[run].append(asked["id"])
    outside = select(api)
    assert outside["run_id"] is None
    made[None] = [outside["id"]]
    return made


def test_the_selections_of_the_run_named_are_listed(api, runs):
    path = f"{api.base}/memory/selections"

    for run, made in runs.items():
        if run is not None:
            listed = api("ann", "GET", path, run_id=run).ok()
            assert [item["id"] for item in listed["items"]] == made[::-1]
            assert listed["next_cursor"] is None
    own = [item["id"] for item in api("ann", "GET", path, limit=100).ok()["items"]]
    assert {made for several in runs.values() for made in several} <= set(own)
    assert api("ann", "GET", path, run_id="run_absent").ok()["items"] == []


def test_a_page_of_a_run_s_selections_goes_on_where_the_last_one_ended(api, runs):
    path = f"{api.base}/memory/selections"
    run, made = next(iter(runs.items()))

    first = api("ann", "GET", path, run_id=run, limit=3).ok()
    second = api("ann", "GET", path, run_id=run, limit=3, cursor=first["next_cursor"]).ok()

    listed = [[item["id"] for item in page["items"]] for page in (first, second)]
    assert listed == [made[:0:-1], made[:1]]
    assert second["next_cursor"] is None
    other = {"run_id": next(r for r in runs if r not in {run, None})}
    for query in ({}, other):
        api("ann", "GET", path, **query, cursor=first["next_cursor"]).refused(
            422, "invalid-request"
        )
