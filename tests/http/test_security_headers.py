"""What a browser is told by every answer of the product, whoever wrote the answer."""

import pytest

from codeflow_memory.http.openapi import PATH as DOCS

FIXED = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

POLICY = {
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
}

JSON = "Content-Type: application/json"

ANSWERS = [
    ("GET {api} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n", 200),
    ("OPTIONS {api} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n", 204),
    ("GET {api} HTTP/1.1\r\nHost: {host}\r\n\r\n", 401),
    ("GET {api} HTTP/1.1\r\nHost: {host}\r\nOrigin: null\r\n\r\n", 403),
    ("GET /nothing HTTP/1.1\r\nHost: {host}\r\n\r\n", 404),
    ("TRACE {api} HTTP/1.1\r\nHost: {host}\r\n\r\n", 405),
    (f"POST {{api}} HTTP/1.1\r\nHost: {{host}}\r\n{JSON}\r\nContent-Length: 9999999\r\n\r\n", 413),
    ("POST {api} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 2\r\n\r\n{{}}", 415),
    ("GET {api} HTTP/1.1\r\nHost: elsewhere\r\n\r\n", 421),
    ("GET {api} HTTP/9.9\r\nHost: {host}\r\n\r\n", 422),
    ("GET {api} HTTP/1.1\r\nHost: {host}\r\nA: " + "b" * 40_000 + "\r\n\r\n", 413),
    ("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n", 200),
    ("GET /schema/openapi.json HTTP/1.1\r\nHost: {host}\r\n\r\n", 200),
]
"""Of the handlers, the guard, the framework, the edge and the protocol: each writes its own."""


def directives(answer) -> set[str]:
    return set(answer.headers["content-security-policy"].split("; "))


@pytest.mark.parametrize(("request_text", "status"), ANSWERS)
def test_every_answer_lets_a_browser_render_run_share_and_keep_nothing(api, request_text, status):
    parts = {"api": "/api/projects", "host": api.served.host, "token": api.tokens["ann"]}

    answer = api.served.raw(request_text.format(**parts).encode())

    assert answer.status == status
    assert {name: answer.headers[name] for name in FIXED} == FIXED
    assert directives(answer) == POLICY
    features = answer.headers["permissions-policy"].split(", ")
    assert {"camera=()", "geolocation=()", "microphone=()", "usb=()"} < set(features)
    assert all(feature.endswith("=()") for feature in features)


def test_no_answer_shares_anything_with_another_origin(api):
    origin = f"Origin: http://{api.served.host}"
    asked = ("Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: Authorization")

    for answer in (
        api.served.get("/healthz", origin),
        api.served.get("/api/projects", origin, *asked, method="OPTIONS"),
    ):
        assert [name for name in answer.headers if name.startswith("access-control")] == []


def test_the_page_of_the_api_may_have_its_style_and_nothing_more(api):
    answer = api.served.get(DOCS)

    assert answer.status == 200
    (more,) = directives(answer) - POLICY
    assert more.startswith("style-src 'sha256-")
    assert {name: answer.headers[name] for name in FIXED} == FIXED
