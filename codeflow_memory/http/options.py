"""OPTIONS: which methods a path has.

Litestar answers by itself, but with the methods of the handler that was registered first; where a
path has several handlers, the others are missing.
"""

from http import HTTPStatus
from typing import Any

from litestar import Request, Response
from litestar.enums import HttpMethod


async def answer_options(request: Request[Any, Any, Any]) -> Response[None] | None:
    """Answer OPTIONS with every method of the path; leave other requests to their handlers."""
    if request.method != HttpMethod.OPTIONS:
        return None
    template = request.scope["path_template"]
    methods = {
        str(method)
        for route in request.app.routes
        if route.path_format == template
        for handler in getattr(route, "route_handlers", ())
        for method in handler.http_methods
    }
    allowed = {"Allow": ", ".join(sorted(methods))}
    return Response(None, status_code=HTTPStatus.NO_CONTENT, headers=allowed)
