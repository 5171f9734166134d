"""Query parameters: what a route does not have, and what has no value, is refused by name."""

import pytest

MISSPELT = [
    ("GET", "{base}/memories", "kinds"),
    ("GET", "{base}/memory/search", "math"),
    ("GET", "{base}/memory/graph", "types"),
    ("GET", "{base}/memory/selections", "run"),
    ("GET", "/api/projects", "repository"),
    ("GET", "/api/memories/mem_absent", "revision"),
    ("GET", "/api/runs", "colour"),
    ("POST", "{base}/memories", "dry_run"),
    ("POST", "/api/memories/batch", "dry_run"),
]


@pytest.mark.parametrize(("method", "path", "name"), MISSPELT)
def test_a_misspelt_parameter_widens_no_answer(api, method, path, name):
    body = {} if method == "POST" else None

    reply = api("ann", method, path.format(base=api.base), body, **{name: "x"})

    (fault,) = reply.refused(422, "invalid-request")["errors"]
    assert fault["pointer"] == f"/{name}"


@pytest.mark.parametrize("query", ["kind=null", "kind=null&kind=null", "status=NULL", "limit=null"])
def test_a_filter_of_null_is_not_read_as_none(api, query):
    reply = api("ann", "GET", f"{api.base}/memories?{query}")

    (fault,) = reply.refused(422, "invalid-request")["errors"]
    assert fault["pointer"] == f"/{query.partition('=')[0]}"


@pytest.mark.parametrize(
    "query", ["limit=1&limit=2", "cursor=a&cursor=b", "collection=team&collection=project"]
)
def test_of_a_parameter_that_comes_twice_neither_is_taken(api, query):
    reply = api("ann", "GET", f"{api.base}/memories?{query}")

    (fault,) = reply.refused(422, "invalid-request")["errors"]
    assert fault["pointer"] == f"/{query.partition('=')[0]}"


def test_null_is_a_word_where_words_are_meant(api):
    memory = api.accept(title="Null", body="A null is no value.")

    found = api("ann", "GET", f"{api.base}/memory/search?q=null").ok()

    assert memory["id"] in [row["memory_id"] for row in found["results"]]
    api("ann", "GET", f"{api.base}/memory/search?q=x&branch=null").ok()
    api("ann", "GET", f"{api.base}/memories?tag=null&path=null").ok()


def test_who_is_not_known_is_not_told_of_parameters(api):
    api(None, "GET", "/api/runs", colour="red").refused(401, "unauthenticated")
