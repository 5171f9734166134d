"""An idempotency key names one request: another one under the same key is refused."""

from itertools import count

import pytest

_KEYS = count()

CHANGED = {
    "method": ("DELETE", "", {}, 1),
    "path": ("PATCH", "another", {}, 1),
    "If-Match": ("PATCH", "", {}, 2),
    "body": ("PATCH", "", {"title": "Another title"}, 1),
}


@pytest.mark.parametrize("part", CHANGED)
def test_a_key_belongs_to_the_whole_of_its_request(api, part):
    memory, other = api.write(), api.write()
    path, key = f"/api/memories/{memory['id']}", f"key-{next(_KEYS)}"
    first = api("ann", "PATCH", path, {}, match=1, key=key)
    assert first.ok() == api("ann", "PATCH", path, {}, match=1, key=key).ok()
    method, more, body, match = CHANGED[part]

    where = f"/api/memories/{other['id']}" if more == "another" else path + more
    api("ann", method, where, body, match=match, key=key).refused(409, "operation-reused")

    for written in (memory, other):
        assert api("ann", "GET", f"/api/memories/{written['id']}").ok()["revision"] == 1


def test_a_key_belongs_to_the_query_of_its_request_too(api):
    draft = {"collection": "private", "kind": "fact", "title": "Walrus", "body": "It swims."}
    key = f"key-{next(_KEYS)}"
    first = api("ann", "POST", f"{api.base}/memories", draft, key=key).ok(201)

    again = api("ann", "POST", f"{api.base}/memories", draft, key=key, repo=first["repository_id"])

    again.refused(409, "operation-reused")
