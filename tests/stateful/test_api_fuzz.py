"""Requests made from the API's own description, sent to a real server with tokens of several roles.

No answer is a 5xx, has a status, content type or body that is not described, or takes what the
description refuses.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from uuid import uuid4

import pytest

from codeflow_memory.app import Wiring, create_app, create_litestar
from codeflow_memory.domain.lifecycle import Action
from codeflow_memory.domain.selection import Request
from codeflow_memory.http.bodies import read_body
from codeflow_memory.services import memories, review, selections
from codeflow_memory.services.review import Decision
from codeflow_memory.settings import Limits, Settings

from .asking import Asking, served
from .model.acting import NEW, Acting, candidate, prepare
from .model.believed import Wish

LONG = os.environ.get("CODEFLOW_LONG") == "1"
SEED = 2
SECONDS = 3_000 if LONG else 240
UNLIMITED = 1_000_000_000

CASES = {"owner": 1_000, "rev": 250, "rea": 250, "run": 250}
"""The least number of requests for each role."""

SERVED = {"owner": 30, "rev": 15, "rea": 12, "run": 12}
"""The least number of methods and paths that a role has success with."""

EXAMPLES = {"owner": 20, "rev": 4, "rea": 4, "run": 4}

PHASES = ("examples", *(["coverage"] if LONG else []), "fuzzing", "stateful")
# One worker: threads that parse sources at once break Python 3.11's parser now and then.
RUN = "from schemathesis.cli import schemathesis; schemathesis()"

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
    "ensure_resource_availability",
)
"""Left out: that what the schema allows is taken, because no schema tells which ids exist; and
that a deleted thing is gone, because its tombstone stays."""

_IDS = re.compile(r"/(?:(?:mem|prj|rep|sel|run|team|prn|grt)_\w+|[^/]*%[^/]*)")


class Heard:
    """An application around the served one: counts answers by method, path and status."""

    def __init__(self, app) -> None:
        self._app = app
        self.answers: Counter = Counter()

    async def __call__(self, scope, receive, send) -> None:
        async def heard(message):
            if message["type"] == "http.response.start":
                path = _IDS.sub("/*", scope["path"])
                self.answers[scope["method"], path, message["status"]] += 1
            await send(message)

        await self._app(scope, receive, heard if scope["type"] == "http" else send)


@pytest.fixture
def api(place):
    """A served home with something of everything; its URL, people, and what was heard."""
    cast = prepare(place.home("prepared"))
    real = Acting(cast, place)
    limits = Limits(
        requests_per_minute_token=UNLIMITED,
        requests_per_minute_tenant=UNLIMITED,
        failed_sign_ins=UNLIMITED,
    )
    heard = []

    def build(hosts):
        wiring = Wiring(real.tenants, Settings(limits=limits), hosts, lambda: uuid4().hex)
        heard.append(Heard(create_app(wiring)))
        return heard[0]

    real.start_run("con", cast.project)
    with served(build) as url:
        yield url, real, cast, heard[0]
    real.close()


def known_ids(real: Acting, cast, role: str) -> dict[str, str]:
    """Ids that the role can use: the tool finds none of the other kind by itself."""
    writer = "rev" if role == "rea" else role
    wish = candidate(Wish(cast.project, "project", 1))
    memory_id = real.do(writer, memories.create, cast.project, None, wish, NEW).memory.memory_id
    decision = Decision(Action.APPROVE)
    real.do("max", review.decide, memory_id, decision, 1, NEW)
    made = real.do(role, selections.create, cast.project, None, Request(query="basil"))
    return {
        "path.project_id": cast.project,
        "path.repository_id": cast.repository,
        "path.memory_id": memory_id,
        "path.selection_id": made.manifest.manifest_id,
        "path.team_id": cast.team,
    }


def configuration(ids: dict[str, str]) -> str:
    lines = ["[parameters]", *(f'"{name}" = "{value}"' for name, value in ids.items())]
    steps = 40 if LONG else 8
    lines += ["[phases.stateful]", f"max-steps = {steps}"]
    # It repeats parameters that are read once; the last one counts then.
    lines += ["[phases.coverage.checks]", "negative_data_rejection.enabled = false"]
    return "\n".join(lines)


@pytest.mark.parametrize("role", CASES)
def test_no_answer_contradicts_the_description(role, api, tmp_path):
    url, real, cast, heard = api
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(configuration(known_ids(real, cast, role)))
    report = tmp_path / "report.json"

    done = subprocess.run(  # noqa: S603 - the tool of this interpreter, arguments of our own
        [
            sys.executable, "-W", "ignore", "-c", RUN,
            "--config-file", str(settings), "run", f"{url}/schema/openapi.json",
            "--header", f"Authorization: Bearer {real.tokens[role]}",
            "--seed", str(SEED), "--max-examples", str(EXAMPLES[role] * (20 if LONG else 1)),
            "--phases", ",".join(PHASES),
            "--checks", ",".join(CHECKS), "--continue-on-failure", "--no-shrink",
            "--report", "json", "--report-json-path", str(report), "--workers", "1",
            "--exclude-path", "/api/runs/{run_id}/end",
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr[-2_000:]
    told = json.loads(report.read_text())
    assert (told["failures"], told["errors"]) == ([], [])
    assert told["test_cases"]["generated"] >= CASES[role]
    assert [key for key in heard.answers if key[2] >= 500] == []
    served_well = {(method, path) for method, path, status in heard.answers if status < 300}
    assert len(served_well) >= SERVED[role], "most requests must get past the checks of their form"


def test_every_operation_is_described_and_its_example_is_taken(api):
    url, real, _, _ = api
    document = Asking(url, real.tokens["owner"]).send("GET", "/schema/openapi.json").json
    models = {
        handler.parsed_data_field.annotation.__name__: handler.parsed_data_field.annotation
        for route in create_litestar(Wiring(real.tenants, Settings(), (), str)).routes
        for handler in getattr(route, "route_handlers", ())
        if handler.parsed_data_field is not None
    }

    assert document["openapi"].startswith("3.1")
    operations = [o for item in document["paths"].values() for o in item.values()]
    for operation in operations:
        assert operation["summary"]
        assert operation["description"].endswith(".")
        for media in operation.get("requestBody", {}).get("content", {}).values():
            model = models[media["schema"]["$ref"].rpartition("/")[2]]
            read_body(model, json.dumps(media["examples"]["example"]["value"]).encode())


def test_options_names_every_method_of_a_path(api):
    url, real, _, _ = api
    document = Asking(url, real.tokens["rea"]).send("GET", "/schema/openapi.json").json

    for path, item in document["paths"].items():
        answer = Asking(url, real.tokens["rea"]).send("OPTIONS", re.sub(r"{\w+}", "1", path))
        assert answer.status == 204
        allowed = set(answer.headers["allow"].split(", "))
        assert allowed == {method.upper() for method in item} | {"OPTIONS"}, path
