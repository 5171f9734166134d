"""What the edge of the whole product admits: a table written by hand, each row sent on a socket.

Nothing here is computed from the rules of the edge. A row says what a client sends beside its
valid token, and the status of the answer.
"""

import pytest

from codeflow_memory.http import admission

HOSTS = {
    "own": ["{address}:{port}"],
    "name": ["localhost:{port}"],
    "absent": [],
    "twice": ["{address}:{port}", "{address}:{port}"],
    "second": ["evil.example", "{address}:{port}"],
    "evil": ["evil.example:{port}"],
    "rebound": ["{address}.nip.example:{port}"],
    "portless": ["{address}"],
    "other-port": ["{address}:1"],
    "zero-port": ["{address}:0{port}"],
    "dotted": ["localhost.:{port}"],
    "upper": ["LOCALHOST:{port}"],
    "any": ["0.0.0.0:{port}"],
    "short": ["127.1:{port}"],
    "decimal": ["2130706433:{port}"],
    "hex": ["0x7f000001:{port}"],
    "six": ["[::1]:{port}"],
    "mapped": ["[::ffff:{address}]:{port}"],
    "user": ["user@{address}:{port}"],
    "list": ["{address}:{port},evil.example"],
    "empty": [""],
}

ORIGINS = {
    "-": [],
    "own": ["http://{address}:{port}"],
    "name": ["http://localhost:{port}"],
    "tls": ["https://{address}:{port}"],
    "null": ["null"],
    "evil": ["http://evil.example"],
    "evil-port": ["http://evil.example:{port}"],
    "other-port": ["http://{address}:1"],
    "portless": ["http://localhost"],
    "slash": ["http://{address}:{port}/"],
    "upper": ["HTTP://{address}:{port}"],
    "suffix": ["http://{address}:{port}.evil.example"],
    "prefix": ["http://evil.example#http://{address}:{port}"],
    "file": ["file://"],
    "extension": ["chrome-extension://abcdefghijklmnop"],
    "empty": [""],
    "twice": ["http://{address}:{port}", "http://{address}:{port}"],
    "second": ["http://{address}:{port}", "http://evil.example"],
}

SITES = {
    "-": [],
    "same-origin": ["same-origin"],
    "none": ["none"],
    "same-site": ["same-site"],
    "cross-site": ["cross-site"],
    "upper": ["Same-Origin"],
    "empty": [""],
    "invented": ["trusted"],
    "twice": ["same-origin", "same-origin"],
    "second": ["same-origin", "cross-site"],
}

TYPES = {
    "-": [],
    "json": ["Content-Type: application/json"],
    "charset": ["Content-Type: application/json; charset=utf-8"],
    "quoted": ['Content-Type: Application/JSON;charset="UTF-8"'],
    "text": ["Content-Type: text/plain"],
    "text-json": ["Content-Type: text/plain; application/json"],
    "form": ["Content-Type: application/x-www-form-urlencoded"],
    "parts": ["Content-Type: multipart/form-data; boundary=x"],
    "xml": ["Content-Type: application/xml"],
    "patch": ["Content-Type: application/merge-patch+json"],
    "vendor": ["Content-Type: application/vnd.api+json"],
    "longer": ["Content-Type: application/json5"],
    "list": ["Content-Type: application/json, text/plain"],
    "latin": ["Content-Type: application/json; charset=iso-8859-1"],
    "utf-16": ["Content-Type: application/json; charset=utf-16"],
    "extra": ["Content-Type: application/json; charset=utf-8; x=y"],
    "any": ["Content-Type: */*"],
    "empty": ["Content-Type: "],
    "twice": ["Content-Type: application/json", "Content-Type: application/json"],
    "second": ["Content-Type: text/plain", "Content-Type: application/json"],
    "gzip": ["Content-Type: application/json", "Content-Encoding: gzip"],
    "identity": ["Content-Type: application/json", "Content-Encoding: identity"],
}

REQUESTS = {
    "GET": ("GET", "/api/projects", b""),
    "GET+body": ("GET", "/api/projects", b"{}"),
    "PAGE": ("GET", "/schema", b""),
    "HEALTH": ("GET", "/healthz", b""),
    "OPTIONS": ("OPTIONS", "/api/projects", b""),
    "POST": ("POST", "{base}/memory/selections", b"{}"),
    "POST-body": ("POST", "{base}/memory/selections", b""),
    "PUT": ("PUT", "{base}/memory/selections", b"{}"),
    "PATCH": ("PATCH", "{base}/memory/selections", b"{}"),
    "DELETE": ("DELETE", "{base}/memory/selections", b""),
}
"""``POST`` makes a selection (201); its path takes no other writing method (405)."""

TABLE = """
request    host        origin      site         type       status
GET        own         -           -            -          200
GET        name        -           -            -          200
GET        own         own         same-origin  -          200
GET        own         name        same-origin  -          200
GET        own         tls         same-origin  -          200
GET        own         -           none         -          200
GET        own         -           same-origin  -          200
GET        name        name        same-origin  -          200
GET        own         -           -            text       200
GET        own         -           -            json       200
GET+body   own         -           -            json       200
GET+body   own         -           -            text       415
GET+body   own         -           -            -          415
PAGE       own         -           -            -          200
PAGE       own         -           none         -          200
PAGE       own         -           cross-site   -          200
PAGE       own         -           same-site    -          200
PAGE       own         evil        cross-site   -          403
PAGE       own         null        -            -          403
PAGE       evil        -           -            -          421
PAGE       rebound     -           none         -          421
HEALTH     own         -           -            -          200
HEALTH     own         evil        -            -          403
HEALTH     evil        -           -            -          421
HEALTH     absent      -           -            -          421
OPTIONS    own         -           -            -          204
OPTIONS    own         own         same-origin  -          204
OPTIONS    own         evil        cross-site   -          403
OPTIONS    own         null        -            -          403
OPTIONS    evil        -           -            -          421
GET        absent      -           -            -          421
GET        twice       -           -            -          421
GET        second      -           -            -          421
GET        evil        -           -            -          421
GET        rebound     -           -            -          421
GET        portless    -           -            -          421
GET        other-port  -           -            -          421
GET        zero-port   -           -            -          421
GET        dotted      -           -            -          421
GET        upper       -           -            -          421
GET        any         -           -            -          421
GET        short       -           -            -          421
GET        decimal     -           -            -          421
GET        hex         -           -            -          421
GET        six         -           -            -          421
GET        mapped      -           -            -          421
GET        user        -           -            -          421
GET        list        -           -            -          421
GET        empty       -           -            -          421
GET        evil        own         same-origin  -          421
GET        evil        evil-port   same-origin  -          421
GET        rebound     own         same-origin  -          421
POST       evil        evil-port   same-origin  json       421
POST       evil        -           -            text       421
POST       absent      own         same-origin  json       421
POST       any         own         same-origin  json       421
POST       twice       own         same-origin  json       421
GET        own         null        -            -          403
GET        own         evil        -            -          403
GET        own         evil        cross-site   -          403
GET        own         evil        same-origin  -          403
GET        own         evil        none         -          403
GET        own         evil-port   -            -          403
GET        own         other-port  same-site    -          403
GET        own         other-port  -            -          403
GET        own         portless    -            -          403
GET        own         slash       same-origin  -          403
GET        own         upper       same-origin  -          403
GET        own         suffix      -            -          403
GET        own         prefix      -            -          403
GET        own         file        -            -          403
GET        own         extension   none         -          403
GET        own         empty       -            -          403
GET        own         twice       same-origin  -          422
GET        own         second      same-origin  -          403
GET        own         own         cross-site   -          403
GET        own         own         same-site    -          403
GET        own         -           cross-site   -          403
GET        own         -           same-site    -          403
GET        own         -           upper        -          403
GET        own         -           empty        -          403
GET        own         -           invented     -          403
GET        own         -           twice        -          422
GET        own         -           second       -          403
GET        name        portless    same-origin  -          403
GET        name        evil        cross-site   -          403
POST       own         -           -            json       201
POST       name        -           -            json       201
POST       own         own         same-origin  json       201
POST       own         name        same-origin  json       201
POST       own         tls         same-origin  json       201
POST       own         -           none         json       201
POST       own         -           -            charset    201
POST       own         own         same-origin  quoted     201
POST-body  own         -           -            -          201
POST-body  own         -           -            json       201
POST-body  own         -           -            text       415
POST-body  own         -           -            form       415
POST-body  own         -           cross-site   -          403
POST-body  own         null        -            -          403
POST       own         null        -            json       403
POST       own         evil        cross-site   json       403
POST       own         evil        cross-site   text       403
POST       own         evil        cross-site   form       403
POST       own         evil        -            json       403
POST       own         other-port  same-site    json       403
POST       own         own         cross-site   json       403
POST       own         own         same-site    json       403
POST       own         -           cross-site   text       403
POST       own         -           same-site    json       403
POST       own         twice       same-origin  json       422
POST       own         -           -            -          415
POST       own         own         same-origin  -          415
POST       own         -           -            text       415
POST       own         own         same-origin  text       415
POST       own         -           none         text       415
POST       own         -           -            text-json  415
POST       own         -           -            form       415
POST       own         own         same-origin  form       415
POST       own         -           -            parts      415
POST       own         own         same-origin  parts      415
POST       own         -           -            xml        415
POST       own         -           -            patch      415
POST       own         -           -            vendor     415
POST       own         -           -            longer     415
POST       own         -           -            list       415
POST       own         -           -            latin      415
POST       own         -           -            utf-16     415
POST       own         -           -            extra      415
POST       own         -           -            any        415
POST       own         -           -            empty      415
POST       own         -           -            twice      422
POST       own         -           -            second     422
POST       own         -           -            gzip       415
POST       own         own         same-origin  gzip       415
POST       own         -           -            identity   415
PUT        own         -           -            json       405
PUT        own         -           -            text       415
PUT        own         evil        cross-site   json       403
PUT        evil        own         same-origin  json       421
PATCH      own         -           -            json       405
PATCH      own         -           -            patch      415
PATCH      own         -           cross-site   json       403
DELETE     own         -           -            -          405
DELETE     own         -           -            text       415
DELETE     own         null        -            -          403
DELETE     rebound     -           -            -          421
"""

ROWS = [tuple(line.split()) for line in TABLE.strip().splitlines()[1:]]

CODES = {
    "403": "forbidden",
    "405": "method-not-allowed",
    "415": "unsupported-media-type",
    "421": "misdirected-request",
    "422": "invalid-request",
}


def test_the_table_is_long_has_no_row_twice_and_uses_every_value():
    columns = list(zip(*ROWS, strict=True))

    assert len(ROWS) >= 140
    assert len({row[:-1] for row in ROWS}) == len(ROWS)
    for known, used in zip((REQUESTS, HOSTS, ORIGINS, SITES, TYPES), columns, strict=False):
        assert set(used) == known.keys()


def sent(api, row):
    """Send what a row says on a socket, with a valid token; return the answer."""
    request, host, origin, site, kind, _ = row
    method, path, body = REQUESTS[request]
    facts = {"address": api.served.listener.address, "port": api.served.listener.port}
    length = [f"Content-Length: {len(body)}"] if body or request == "POST-body" else []
    lines = [
        f"{method} {path.format(base=api.base)} HTTP/1.1",
        *(f"Host: {value.format(**facts)}" for value in HOSTS[host]),
        f"Authorization: Bearer {api.tokens['ann']}",
        *(f"Origin: {value.format(**facts)}" for value in ORIGINS[origin]),
        *(f"Sec-Fetch-Site: {value}" for value in SITES[site]),
        *TYPES[kind],
        *length,
    ]

    return api.served.raw("\r\n".join([*lines, "", ""]).encode() + body)


@pytest.mark.parametrize("row", ROWS, ids=["-".join(row) for row in ROWS])
def test_each_combination_has_the_status_of_its_row(api, row):
    status = row[-1]

    answer = sent(api, row)

    assert str(answer.status) == status
    if status in CODES:
        assert f'"code":"{CODES[status]}"'.encode() in answer.body


@pytest.mark.parametrize(
    ("check", "status"),
    [("_check_host", "421"), ("_check_origin", "403"), ("_check_repeated", "422")],
)
def test_an_edge_with_one_check_less_is_found(api, monkeypatch, check, status):
    """Control: every row that the check alone refuses is answered otherwise without it."""
    monkeypatch.setattr(admission, check, lambda *_: None)

    answers = [str(sent(api, row).status) for row in ROWS if row[-1] == status]

    assert len(answers) - answers.count(status) >= 3
