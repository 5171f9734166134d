"""``/api/repositories``: register, look up, set how they are reviewed, merge."""

from typing import Annotated, Any

from litestar import Controller, Response, get, patch, post
from litestar.di import NamedDependency
from litestar.openapi import ResponseSpec
from litestar.params import FromPath, JSONBody, QueryParameter
from pydantic import BaseModel, Field

from codeflow_memory.domain.registration import Alias, Fact
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.http.caller import Call, Change
from codeflow_memory.http.memory_bodies import Input
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.preconditions import etag
from codeflow_memory.http.projects import NewProjectBody, ProjectBody, shown_project
from codeflow_memory.http.refused import CHANGES, READS, REVISIONS
from codeflow_memory.http.turning import Cursor, Limit, turn
from codeflow_memory.services import projects, registration, repositories
from codeflow_memory.services.registration import MAX_PATHS, Clone
from codeflow_memory.services.repositories import Settings, View


class CloneBody(Input):
    """What a clone says of itself; one fact but paths is required."""

    key: str | None = Field(None, examples=["shop"])
    remote: str | None = Field(None, examples=["https://git.example/acme/shop.git"])
    root_commit: str | None = Field(None, examples=["5f0c1a7e3b9d2c4f6a8e0b1d3c5f7a9e2b4d6c8f"])
    common_dir: str | None = Field(None, examples=["/home/ann/shop/.git"])
    paths: list[str] = Field(default=[], max_length=MAX_PATHS, examples=[["/home/ann/shop"]])
    name: str | None = Field(None, examples=["Shop"])

    def to_clone(self) -> Clone:
        """Leave the wire format."""
        return Clone(
            key=self.key,
            remote=self.remote,
            root_commit=self.root_commit,
            common_dir=self.common_dir,
            paths=tuple(self.paths),
            name=self.name,
        )


class SettingsBody(Input):
    """The settings to change; the others stay."""

    required_approvals: int | None = Field(None, ge=1, le=16, examples=[1])
    codeowners: bool | None = None
    allow_own_approval: bool | None = None
    capture: bool | None = None

    def to_settings(self) -> Settings:
        """Leave the wire format."""
        return Settings(
            self.required_approvals, self.codeowners, self.allow_own_approval, self.capture
        )


class MergeBody(Input):
    """Which repository the one in the path becomes part of."""

    into: str = Field(min_length=1, max_length=4096, examples=["shop"])


class AliasesBody(BaseModel):
    """What a repository is known by, each list in order."""

    key: list[str]
    remote: list[str]
    root_commit: list[str]
    common_dir: list[str]
    paths: list[str]


class RepositoryBody(BaseModel):
    """A repository; a registration answers with the rule that applied in ``identified_by``."""

    id: str = Field(examples=["rep_01KABCDEFGHJKMNPQRSTVWXYZ0"])
    name: str
    identified_by: Fact
    aliases: AliasesBody
    revision: int
    required_approvals: int
    codeowners: bool
    allow_own_approval: bool
    capture: bool
    created_at: str


class RepositoriesBody(BaseModel):
    """A page of repositories."""

    items: list[RepositoryBody]
    next_cursor: str | None


class RepositoryController(Controller):
    """The repositories of the caller's tenant."""

    path = "/api/repositories"
    tags = ("repositories",)

    @post(
        responses=refusals(*CHANGES)
        | {200: ResponseSpec(RepositoryBody, generate_examples=False, description="Known already")}
    )
    async def register(
        self, data: JSONBody[CloneBody], change: NamedDependency[Change]
    ) -> Response[RepositoryBody]:
        """Register a repository; the same one again is returned with 200, its aliases merged."""
        view = await change.run(registration.register, data.to_clone(), change.operation)
        return shown(view, 201 if view.created else 200)

    @get(responses=refusals(*READS))
    async def find(
        self,
        call: NamedDependency[Call],
        repo: Annotated[
            str | None, QueryParameter(description="Repository id, key, remote or path")
        ] = None,
        cursor: Cursor = None,
        limit: Limit = None,
    ) -> Response[RepositoriesBody]:
        """List the repositories that the caller sees, oldest first."""
        items, after = await turn(
            call, "repositories", {"repo": repo}, repositories.page, cursor, limit
        )
        body: Any = {"items": [wire(view) for view in items], "next_cursor": after}
        return Response(body)

    @get("/{repository_id:str}", responses=refusals(*READS))
    async def get_one(
        self, repository_id: FromPath[str], call: NamedDependency[Call]
    ) -> Response[RepositoryBody]:
        """Return a repository; a merged one is the one that it became part of."""
        return shown(await call.run(repositories.show, repository_id))

    @patch("/{repository_id:str}", responses=refusals(*REVISIONS))
    async def update(
        self,
        repository_id: FromPath[str],
        data: JSONBody[SettingsBody],
        change: NamedDependency[Change],
    ) -> Response[RepositoryBody]:
        """Change how a repository is reviewed and whether hooks may capture in it."""
        view = await change.run(
            repositories.update,
            repository_id,
            data.to_settings(),
            base_revision=change.base_revision,
            operation=change.operation,
        )
        return shown(view)

    @post("/{repository_id:str}/merge", status_code=200, responses=refusals(*CHANGES))
    async def merge(
        self,
        repository_id: FromPath[str],
        data: JSONBody[MergeBody],
        change: NamedDependency[Change],
    ) -> Response[RepositoryBody]:
        """Make a repository part of another, which is returned."""
        return shown(
            await change.run(repositories.merge, repository_id, data.into, change.operation)
        )

    @post("/{repository_id:str}/projects", responses=refusals(*CHANGES))
    async def create_project(
        self,
        repository_id: FromPath[str],
        data: JSONBody[NewProjectBody],
        change: NamedDependency[Change],
    ) -> Response[ProjectBody]:
        """Make a project of a repository."""
        view = await change.run(projects.create, repository_id, data.to_project(), change.operation)
        return shown_project(view, 201)


def shown(view: View, status_code: int = 200) -> Response[Any]:
    """Answer with a repository and its entity tag."""
    return Response(
        wire(view),
        status_code=status_code,
        headers={"ETag": etag(view.repository.revision)},
    )


def wire(view: View) -> dict[str, object]:
    """Write a repository; see `RepositoryBody`."""
    row = view.repository
    return {
        "id": row.repository_id,
        "name": row.name,
        "identified_by": str(view.identified_by),
        "aliases": {
            "key": _values(view.aliases, Fact.KEY),
            "remote": _values(view.aliases, Fact.REMOTE),
            "root_commit": _values(view.aliases, Fact.ROOT_COMMIT),
            "common_dir": _values(view.aliases, Fact.COMMON_DIR),
            "paths": _values(view.aliases, Fact.PATH),
        },
        "revision": row.revision,
        "required_approvals": row.required_approvals,
        "codeowners": row.codeowners,
        "allow_own_approval": row.allow_own_approval,
        "capture": row.capture,
        "created_at": to_rfc3339(row.created_at),
    }


def _values(aliases: tuple[Alias, ...], kind: Fact) -> list[str]:
    return [alias.value for alias in aliases if alias.kind is kind]


ROUTES = (RepositoryController,)
