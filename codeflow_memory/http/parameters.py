"""Query parameters: one that its route does not know is refused.

Passed over, a misspelt filter would widen the answer without a word.
"""

from collections.abc import Mapping
from typing import Any

from litestar import Litestar, Request
from litestar.routes import HTTPRoute

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.strict_json import pointer

Parameters = Mapping[tuple[str, str], frozenset[str]]
"""Path template and method to the parameters that a route has."""

_STATE = "parameters"


def learn_parameters(app: Litestar) -> None:
    """Keep with *app* which parameters each of its routes has."""
    app.state[_STATE] = {
        (route.path_format, str(method)): frozenset(
            p.field_alias for p in model.expected_query_params
        )
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for method, (_, model) in route.route_handler_map.items()
    }


def refuse_unknown_parameters(request: Request[Any, Any, Any]) -> None:
    """Refuse a request with a parameter that its route does not have.

    Raises:
        InvalidRequestError: Names the first of them.
    """
    known: Parameters = request.app.state[_STATE]
    names = known.get((request.scope["path_template"], request.method), frozenset())
    for name in request.query_params:
        if name not in names:
            raise InvalidRequestError.at(pointer("", name), "this route has no such parameter")
