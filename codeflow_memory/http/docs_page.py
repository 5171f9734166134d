"""The API's description as one HTML page without scripts, images or anything from elsewhere."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from codeflow_memory.http.security_headers import content_policy

_METHODS = ("get", "post", "put", "patch", "delete")

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code{font-family:ui-monospace,monospace}section{border-top:1px solid #8888;padding:.5rem 0}"
    "table{border-collapse:collapse}td,th{text-align:left;padding:.1rem 1rem .1rem 0;"
    "vertical-align:top}:root{color-scheme:light dark}"
)


def docs_policy() -> str:
    """Return the ``Content-Security-Policy`` of the page: its own style sheet and nothing else."""
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode("ascii")).digest()).decode("ascii")
    return content_policy(f"style-src 'sha256-{digest}'")


def to_html(schema: Mapping[str, Any], *, source: str) -> str:
    """Write the page; every text of *schema*, an OpenAPI document, is escaped.

    Args:
        schema: The document.
        source: Where it is as JSON.
    """
    return "\n".join(_page(schema, source))


def _page(schema: Mapping[str, Any], source: str) -> Iterator[str]:
    title = escape(f"{schema['info']['title']} {schema['info']['version']}")
    yield f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    yield f"<style>{_STYLE}</style></head><body><h1>{title}</h1>"
    yield f'<p>The same as data: <a href="{escape(source)}">openapi.json</a>.</p>'
    for path, item in sorted(schema.get("paths", {}).items()):
        for method in _METHODS:
            if method in item:
                yield from _operation(method, path, item[method])
    yield "</body></html>"


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<section><h2><code>{method.upper()} {escape(path)}</code></h2>"
    told = operation.get("description") or operation.get("summary") or ""
    yield f"<p>{escape(told)}</p><table>"
    for parameter in operation.get("parameters", ()):
        note = f"{parameter['in']}{', required' if parameter.get('required') else ''}"
        about = parameter.get("description") or ""
        yield _row(parameter["name"], f"{note}. {about}" if about else note)
    for status, answer in sorted(operation.get("responses", {}).items()):
        yield _row(status, answer.get("description", ""))
    yield "</table></section>"


def _row(name: str, text: str) -> str:
    return f"<tr><td><code>{escape(name)}</code></td><td>{escape(text)}</td></tr>"
