"""Query parameters: what a route does not have is refused by name."""

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


def test_who_is_not_known_is_not_told_of_parameters(api):
    api(None, "GET", "/api/runs", colour="red").refused(401, "unauthenticated")
