"""Administration, asked through HTTP: who may do what to the tenant, its repositories and runs.

Callers have their role for the whole tenant; `repo-…` have it for the repository `shop` alone and
made the run that is asked about. The foreign caller owns another tenant: what it makes or lists is
of that one. Columns are read as in `table`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from .rules import parse
from .wire import Asked

TOKENS = {
    **{
        role: (role, "teammate", "person")
        for role in (
            "reader", "contributor", "reviewer", "maintainer", "owner", "operator", "run",
            "run-of-owner", "agent", "owner-agent",
        )
    },
    "repo-reader": ("reader", "colleague", "person"),
    "repo-contributor": ("contributor", "colleague", "person"),
    "repo-owner": ("owner", "colleague", "person"),
    "elsewhere": ("owner", "elsewhere", "person"),
    **{who: (who, "outside", "person") for who in ("nobody", "revoked", "expired", "foreign")},
}  # fmt: skip
"""The token of each caller, as the script names it."""

REQUESTS: Mapping[str, tuple[str, str, dict[str, Any] | None]] = {
    "principal.create": ("POST", "/api/admin/principals", {"name": "newcomer", "kind": "user"}),
    "principal.list": ("GET", "/api/admin/principals", None),
    "principal.remove": ("DELETE", "/api/admin/principals/{colleague}", None),
    "team.create": ("POST", "/api/admin/teams", {"slug": "green"}),
    "team.list": ("GET", "/api/admin/teams", None),
    "team.remove": ("DELETE", "/api/admin/teams/{empty_team}", None),
    "member.add": ("POST", "/api/admin/teams/{team}/members", {"principal": "{colleague}"}),
    "member.list": ("GET", "/api/admin/teams/{team}/members", None),
    "member.remove": ("DELETE", "/api/admin/teams/{team}/members/{member}", None),
    "grant.create": ("POST", "/api/admin/grants", {"principal": "{member}", "role": "operator"}),
    "grant.list": ("GET", "/api/admin/grants", None),
    "grant.remove": ("DELETE", "/api/admin/grants/{grant}", None),
    "token.create": (
        "POST", "/api/admin/tokens", {"principal": "newcomer", "kind": "user", "role": "reader"},
    ),
    "token.list": ("GET", "/api/admin/tokens", None),
    "token.revoke": ("DELETE", "/api/admin/tokens/{token}", None),
    "repository.register": ("POST", "/api/repositories", {"key": "new"}),
    "repository.list": ("GET", "/api/repositories", None),
    "repository.get": ("GET", "/api/repositories/{shop}", None),
    "repository.update": ("PATCH", "/api/repositories/{shop}", {"allow_own_approval": True}),
    "repository.merge": ("POST", "/api/repositories/{shop}/merge", {"into": "{other}"}),
    "project.create": ("POST", "/api/repositories/{shop}/projects", {"slug": "new"}),
    "project.list": ("GET", "/api/projects", None),
    "project.get": ("GET", "/api/projects/{project}", None),
    "project.get-docs": ("GET", "/api/projects/{docs}", None),
    "manifest.list": ("GET", "/api/projects/{project}/memory/selections", None),
    "run.start": ("POST", "/api/runs", {"agent": "codex", "project_id": "{project}"}),
    "run.list": ("GET", "/api/runs", None),
    "run.get": ("GET", "/api/runs/{run}", None),
    "run.end": ("POST", "/api/runs/{run}/end", {}),
    "review.list": ("GET", "/api/review", None),
    "audit.list": ("GET", "/api/audit", None),
    "audit.verify": ("GET", "/api/audit/verify", None),
    "trust.report": ("GET", "/api/trust", None),
    "predicate.list": ("GET", "/api/predicates", None),
    "predicate.replace": ("PUT", "/api/predicates", {"functional": ["codename"]}),
}  # fmt: skip

AXES = {"operation": list(REQUESTS), "caller": list(TOKENS)}

GROUPS = {
    "made": "principal.create principal.list team.create team.list grant.list token.create "
    "token.list",
    "named": "principal.remove team.remove member.add member.list member.remove grant.create "
    "grant.remove token.revoke",
    "lists": "repository.list project.list run.list audit.list review.list trust.report",
    "one": "repository.get project.get manifest.list",
    "a-run": "run.get run.end",
    "strangers": "nobody revoked expired",
    "tenant": "reader contributor reviewer maintainer owner agent owner-agent",
    "repo": "repo-reader repo-contributor repo-owner",
    "residents": "reader contributor reviewer maintainer owner agent owner-agent repo-reader "
    "repo-contributor repo-owner",
    "runs": "run run-of-owner",
    "out": "operator elsewhere foreign",
    "registrars": "contributor reviewer maintainer owner agent owner-agent foreign",
    "upkeepers": "maintainer owner owner-agent",
    "keepers": "maintainer owner owner-agent repo-owner",
    "writers": "contributor reviewer maintainer owner agent owner-agent repo-contributor "
    "repo-owner",
}

TABLE = """
operation           | caller             | answer          | source
*                   | strangers          | unauthenticated | 01 §1: only through a token
made named          | residents runs     | forbidden       | 01 §3, row 6
made named          | operator elsewhere | forbidden       | 01 §3, row 6
made named          | owner              | done            | 01 §13: role owner
made                | foreign            | done            | 01 §1: in its own tenant
named               | foreign            | missing         | 01 §1: no query spans tenants
repository.register | residents runs out | forbidden       | 01 §3: a tenant-wide contributor
repository.register | registrars         | done            | 01 §3: a tenant-wide contributor
lists               | residents runs out | done            | 08 §1: lists span what one sees
one                 | residents runs     | done            | 01 §3, row 1
one                 | out                | missing         | 01 §3: out of reach is like absent
project.get-docs    | residents          | done            | 01 §3, row 1
project.get-docs    | runs               | forbidden       | 01 §3: contradicts the run token
project.get-docs    | out                | missing         | 01 §3: out of reach is like absent
repository.update   | residents runs     | forbidden       | 01 §3, row 5: CODEOWNERS policy
repository.update   | keepers            | done            | 01 §3, row 5: CODEOWNERS policy
repository.update   | out                | missing         | 01 §3: out of reach is like absent
repository.merge    | tenant             | forbidden       | 01 §10: only by the owner
repository.merge    | owner              | done            | 01 §10: only by the owner
repository.merge    | repo runs          | missing         | 01 §3: the other is out of reach
repository.merge    | out                | missing         | 01 §3: out of reach is like absent
project.create      | residents runs     | forbidden       | 01 §3, rows 2, 3 (silent)
project.create      | writers            | done            | 01 §3, rows 2, 3 (silent)
project.create      | out                | missing         | 01 §3: out of reach is like absent
run.start           | residents          | done            | 01 §3, row 1 (silent)
run.start           | runs               | forbidden       | 01 §3: contradicts the run token
run.start           | out                | missing         | 01 §3: out of reach is like absent
audit.verify        | residents runs     | forbidden       | 03 §8: maintainer
audit.verify        | out                | forbidden       | 03 §8: maintainer
audit.verify        | upkeepers          | done            | 03 §8: maintainer
audit.verify        | foreign            | done            | 01 §1: in its own tenant
predicate.list      | residents runs     | done            | 08 §4, 01 §3, row 1 (silent)
predicate.list      | out                | done            | 08 §4, 01 §3, row 1 (silent)
predicate.list      | operator           | forbidden       | 01 §3: an operator reads no memory
predicate.replace   | residents runs out | forbidden       | 08 §4: maintainer
predicate.replace   | maintainer owner   | done            | 08 §4: maintainer
predicate.replace   | foreign            | done            | 01 §1: in its own tenant
a-run               | tenant runs out    | missing         | 01 §3: acts for who made it
a-run               | repo               | done            | 01 §3: acts for who made it
"""


@dataclass(frozen=True, slots=True)
class Act:
    """One question of administration."""

    operation: str
    caller: str

    def __str__(self) -> str:
        return f"{self.operation} by {self.caller}"


ADMINISTRATION = parse("ADMINISTRATION", TABLE, AXES, GROUPS)


def acts() -> list[Act]:
    """List every question: each operation by each caller."""
    return [Act(*values) for values in product(REQUESTS, TOKENS)]


def request(act: Act, places: Mapping[str, str]) -> Asked:
    """Return what *act* asks of the server; names in braces are *places*."""
    method, path, body = REQUESTS[act.operation]
    if body is not None:
        body = {k: v.format_map(places) if isinstance(v, str) else v for k, v in body.items()}
    return Asked(method, path.format_map(places), body, 1 if method == "PATCH" else None)
