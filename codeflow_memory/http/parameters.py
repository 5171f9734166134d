"""Query parameters: an unknown one is refused, and so are a ``null`` and one that comes twice.

Passed over, a misspelt filter would widen the answer without a word. Litestar reads ``null`` as
nothing where the parameter is no text, which is the same, and of a parameter that may come once it
takes the last.
"""

from collections.abc import Mapping
from typing import Any

from litestar import Litestar, Request
from litestar.routes import HTTPRoute

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.strict_json import pointer

Parameters = Mapping[tuple[str, str], Mapping[str, bool]]
"""Path template and method to the parameters of the route, and whether each may come repeatedly."""

TEXTS = frozenset({"around", "branch", "cursor", "path", "principal", "q", "repo", "run_id", "tag"})
"""Parameters in which ``null`` is a word like any other."""

_STATE = "parameters"
_NULL = "null"


def learn_parameters(app: Litestar) -> None:
    """Keep with *app* which parameters each of its routes has."""
    app.state[_STATE] = {
        (route.path_format, str(method)): {
            parameter.field_alias: parameter.is_sequence
            for parameter in model.expected_query_params
        }
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for method, (_, model) in route.route_handler_map.items()
    }


def check_parameters(request: Request[Any, Any, Any]) -> None:
    """Refuse a request with a parameter that its route does not have, without a value, or twice.

    Raises:
        InvalidRequestError: Names the first of them.
    """
    known: Parameters = request.app.state[_STATE]
    names = known.get((request.scope["path_template"], request.method), {})
    seen = set[str]()
    for name, value in request.query_params.multi_items():
        if name not in names:
            raise InvalidRequestError.at(pointer("", name), "this route has no such parameter")
        if name not in TEXTS and value.casefold() == _NULL:
            raise InvalidRequestError.at(pointer("", name), "null is no value of it")
        if name in seen and not names[name]:
            raise InvalidRequestError.at(pointer("", name), "is given more than once")
        seen.add(name)
