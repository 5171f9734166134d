"""``GET /api/projects/{project_id}/memory/graph``."""

from typing import Annotated, Any, Literal

from litestar import Response, get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, QueryParameter
from pydantic import BaseModel, ConfigDict, Field

from codeflow_memory.domain.graph import MEMORY
from codeflow_memory.domain.memory import Status
from codeflow_memory.domain.provenance import Edge
from codeflow_memory.http.caller import Call
from codeflow_memory.http.memories import Repo
from codeflow_memory.http.openapi import refusals
from codeflow_memory.http.refused import READS
from codeflow_memory.services import graph
from codeflow_memory.services.graph import MAX_EDGES, Filter, Picture

EdgeType = Literal["applies_to", "learned_from", "verified_at", "derived_from", "cites"]
NodeKind = Literal["memory", "file", "run", "commit", "branch"]


class NodeBody(BaseModel):
    """An entity; a memory that the caller sees has title and status, an unresolved one neither."""

    model_config = ConfigDict(extra="allow")

    id: str = Field(examples=["file:src/http/client.py"])
    kind: NodeKind
    key: str


class EdgeBody(BaseModel):
    """A relationship with the memory and exact revision that supplied it."""

    source: str
    type: EdgeType
    target: str
    memory_id: str
    memory_revision: int = Field(ge=1)
    target_revision: int | None
    resolved: bool | None


class GraphBody(BaseModel):
    """Nodes and edges in a fixed order; proposals are marked, nothing here approves them."""

    nodes: list[NodeBody]
    edges: list[EdgeBody]
    truncated: bool
    limits: dict[str, int]


async def provide_filter(
    type: Annotated[list[EdgeType] | None, QueryParameter()] = None,
    kind: Annotated[list[NodeKind] | None, QueryParameter()] = None,
    status: Annotated[list[Status] | None, QueryParameter()] = None,
    around: Annotated[str | None, QueryParameter(description="A node's id")] = None,
    depth: Annotated[int, QueryParameter(ge=1, le=2)] = 1,
) -> Filter:
    """Read what the graph is narrowed to."""
    return Filter(
        frozenset(type or ()),
        frozenset(kind or ()),
        frozenset(status or ()),
        None if around is None else _node(around),
        depth,
    )


@get(
    "/api/projects/{project_id:str}/memory/graph",
    tags=["graph"],
    dependencies={"wanted": Provide(provide_filter)},
    responses=refusals(*READS),
)
async def draw(
    project_id: FromPath[str],
    call: NamedDependency[Call],
    wanted: NamedDependency[Filter],
    repo: Repo = None,
) -> Response[GraphBody]:
    """Show where a project's memories come from and what they apply to."""
    return Response(_body(await call.run(graph.draw, project_id, repo, wanted)))


def _node(text: str) -> graph.Node:
    """Read a node's id; a bare memory id or path names its node too."""
    kind, colon, key = text.partition(":")
    if colon and kind == MEMORY:
        return MEMORY, key.partition("@")[0]
    if colon and kind in {"file", "run", "commit", "branch"}:
        return kind, key
    return (MEMORY if text.startswith("mem_") else "file"), text


def _body(picture: Picture) -> Any:  # noqa: ANN401 - the JSON of GraphBody
    nodes: dict[str, dict[str, Any]] = {}
    for edge in picture.edges:
        for name, kind, key in (
            (f"{MEMORY}:{edge.memory_id}", MEMORY, edge.memory_id),
            (_target(edge, picture), edge.target_kind, edge.target_key),
        ):
            nodes.setdefault(name, {"id": name, "kind": kind, "key": key})
    for memory_id, row in picture.memories.items():
        nodes[f"{MEMORY}:{memory_id}"] |= {
            "title": picture.titles.get(memory_id),
            "status": str(row.status),
            "proposed": row.status is Status.PROPOSED,
            "collection": str(row.collection),
            "memory_kind": row.kind,
            "revision": row.revision,
        }
    return {
        "nodes": [nodes[name] for name in sorted(nodes)],
        "edges": [_edge(edge, picture) for edge in picture.edges],
        "truncated": picture.truncated,
        "limits": {"edges": MAX_EDGES},
    }


def _edge(edge: Edge, picture: Picture) -> dict[str, Any]:
    to_memory = edge.target_kind == MEMORY
    return {
        "source": f"{MEMORY}:{edge.memory_id}",
        "type": edge.type,
        "target": _target(edge, picture),
        "memory_id": edge.memory_id,
        "memory_revision": edge.memory_revision,
        "target_revision": edge.target_revision if to_memory else None,
        "resolved": edge in picture.resolved if to_memory else None,
    }


def _target(edge: Edge, picture: Picture) -> str:
    """Name an edge's target; one that is not resolved is a node of its own, by id and revision.

    The entry itself may stand in the picture with its title, for what it supplies.
    """
    name = f"{edge.target_kind}:{edge.target_key}"
    if edge.target_kind == MEMORY and edge not in picture.resolved:
        name += f"@{edge.target_revision}"
    return name


ROUTES = (draw,)
