"""``/api/projects``: the projects that a caller sees, with limits and their use."""

from typing import Annotated, Any

from litestar import Controller, Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, QueryParameter
from pydantic import BaseModel, Field

from codeflow_memory.domain.project import Project
from codeflow_memory.domain.times import to_rfc3339
from codeflow_memory.http.caller import Call
from codeflow_memory.http.memory_bodies import Input
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.refused import READS
from codeflow_memory.http.turning import Cursor, Limit, turn
from codeflow_memory.services import projects
from codeflow_memory.services.projects import NewProject, View

ProjectId = Annotated[str | None, QueryParameter(description="Project id or slug; else all")]
Repo = Annotated[str | None, QueryParameter(description="Repository id, key, remote or path")]


class NewProjectBody(Input):
    """What a project is to be."""

    slug: str = Field(examples=["checkout"])
    name: str | None = Field(None, examples=["Checkout"])
    path_prefix: str | None = Field(None, examples=["services/checkout"])

    def to_project(self) -> NewProject:
        """Leave the wire format."""
        return NewProject(self.slug, self.name, self.path_prefix)


class UseBody(BaseModel):
    """How much of a limit is used; ``audience`` is whose entries count."""

    limit: str = Field(examples=["project_entries"])
    audience: str = Field(examples=["project"])
    value: int
    maximum: int


class ListedProjectBody(BaseModel):
    """A project in a list."""

    id: str = Field(examples=["prj_01KABCDEFGHJKMNPQRSTVWXYZ0"])
    repository_id: str = Field(examples=["rep_01KABCDEFGHJKMNPQRSTVWXYZ0"])
    slug: str
    name: str
    path_prefix: str | None
    created_at: str


class ProjectBody(ListedProjectBody):
    """A project; ``limits`` are those that the caller's own writes may reach."""

    limits: list[UseBody]


class ProjectsBody(BaseModel):
    """A page of projects."""

    items: list[ListedProjectBody]
    next_cursor: str | None


class ProjectController(Controller):
    """The projects of the caller's tenant."""

    path = "/api/projects"
    tags = ("projects",)

    @get(responses=refusals(*READS))
    async def find(
        self,
        call: NamedDependency[Call],
        repo: Repo = None,
        cursor: Cursor = None,
        limit: Limit = None,
    ) -> Response[ProjectsBody]:
        """List the projects that the caller sees, oldest first."""
        items, after = await turn(call, "projects", {"repo": repo}, projects.page, cursor, limit)
        body: Any = {"items": [wire(row) for row in items], "next_cursor": after}
        return Response(body)

    @get("/{project_id:str}", responses=refusals(*READS))
    async def get_one(
        self, project_id: FromPath[str], call: NamedDependency[Call], repo: Repo = None
    ) -> Response[ProjectBody]:
        """Return a project by its id, or by its slug where only one visible project has it."""
        return shown_project(await call.run(projects.show, project_id, repo))


def shown_project(view: View, status_code: int = 200) -> Response[Any]:
    """Answer with a project and its limits."""
    limits = [
        {"limit": use.limit, "audience": use.audience, "value": use.value, "maximum": use.maximum}
        for use in view.limits
    ]
    return Response(wire(view.project) | {"limits": limits}, status_code=status_code)


def wire(project: Project) -> dict[str, object]:
    """Write a project without its limits; see `ListedProjectBody`."""
    return {
        "id": project.project_id,
        "repository_id": project.repository_id,
        "slug": project.slug,
        "name": project.name,
        "path_prefix": project.path_prefix,
        "created_at": to_rfc3339(project.created_at),
    }


ROUTES = (ProjectController,)
