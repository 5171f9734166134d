"""Turning pages: one question of a caller, asked part by part."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from litestar.params import QueryParameter

from codeflow_memory.http.caller import Call
from codeflow_memory.http.pagination import Listing, parse_limit
from codeflow_memory.services.pages import Page

T = TypeVar("T")

Cursor = Annotated[str | None, QueryParameter(description="`next_cursor` of the answer before")]
Limit = Annotated[str | None, QueryParameter(description="Items of a page, 1 to 100; 20")]


async def turn(
    call: Call,
    route: str,
    filters: Mapping[str, str | None],
    service: Callable[..., Page[T]],
    cursor: str | None,
    limit: str | None,
    *arguments: object,
) -> tuple[tuple[T, ...], str | None]:
    """Ask *service* for the page that *cursor* goes on with.

    Args:
        call: The caller.
        route: Names the list, with the ids in its path.
        filters: What narrows the list: keyword arguments of *service*.
        service: Takes store, access and *arguments*, then *filters*, ``after`` and ``limit``.
        cursor: From the answer before; ``None`` at the start.
        limit: The parameter as sent.
        *arguments: What the path names.

    Returns:
        The items, and the next cursor or ``None``.

    Raises:
        InvalidRequestError: The cursor or limit is none of ours.
    """
    question = Listing(call.store.keys.cursor_key, call.access.principal_id, route, filters)
    position = question.parse_cursor(cursor)
    after: Any = None if position is None else position[0]
    page = await call.run(service, *arguments, **filters, after=after, limit=parse_limit(limit))
    return page.items, None if page.after is None else question.to_cursor((page.after,))
