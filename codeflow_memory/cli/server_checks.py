"""The checks of ``doctor`` on a server: what can be seen of it from outside."""

import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from codeflow_memory import __version__
from codeflow_memory.cli.client import Answer, RemoteClient, Request, path, read_answer
from codeflow_memory.cli.exits import Refusal, UnreachableError
from codeflow_memory.cli.findings import Check, State

SECONDS = 10.0
"""That a server may take to answer."""

APART_SECONDS = 30.0
"""So far apart two clocks may be: an answer takes a while, and its date is whole seconds."""

_ALIVE = Request("GET", "/healthz")
_READY = Request("GET", "/readyz")
_STATUS = Request("GET", path("status"))


def answers(url: str) -> Iterator[Check]:
    """Check that a server answers under *url*; where it does not, there is no more to see."""
    try:
        answer = RemoteClient(url, None, SECONDS).exchange(_ALIVE)
        read_answer(answer.status, answer.body)
    except UnreachableError as error:
        yield Check(
            "server",
            State.FAULT,
            str(error),
            "start it with `codeflow-memory up` on its home; or correct --url or CODEFLOW_URL",
        )
    except Refusal as refused:
        yield _unlike(url, refused)
    else:
        yield Check("server", State.OK, f"answers at {url}")
        yield from _clock(answer)


def ready(url: str) -> Iterator[Check]:
    """Check that it can work."""
    try:
        RemoteClient(url, None, SECONDS).send(_READY)
    except (Refusal, UnreachableError) as error:
        yield Check(
            "store",
            State.FAULT,
            f"it cannot work now: {error}",
            "`codeflow-memory doctor` beside the server says why",
        )
    else:
        yield Check("store", State.OK, "what it stores can be used")


def credential(url: str, token: str | None) -> Iterator[Check]:
    """Check the token, and what a server tells who has one."""
    if token is None:
        yield Check(
            "token",
            State.FAULT,
            "none is given: no route but those of health answers",
            "give one by --token-file, CODEFLOW_TOKEN or the keyring; `codeflow-memory token"
            " create` beside the server makes it",
        )
        return
    try:
        told = RemoteClient(url, token, SECONDS).send(_STATUS)
    except Refusal as refused:
        yield _of_token(refused)
        return
    except UnreachableError as error:
        yield Check("token", State.FAULT, str(error), "look again: the server just answered")
        return
    yield Check("token", State.OK, "it works")
    if told["version"] == __version__:
        yield Check("version", State.OK, __version__)
    else:
        detail = f"the server is {told['version']}, this program {__version__}"
        yield Check("version", State.WARNING, detail, "bring the older of both up to date")


def _of_token(refused: Refusal) -> Check:
    if refused.code == "unauthenticated":
        detail = "the server knows it not: it is wrong, has expired or was revoked"
        fix = "`codeflow-memory token create` beside the server makes another"
        return Check("token", State.FAULT, detail, fix)
    fix = "`codeflow-memory doctor` beside the server says why"
    return Check("token", State.WARNING, f"{refused} [{refused.code}]", fix)


def _unlike(url: str, refused: Refusal) -> Check:
    host = urlsplit(url).netloc
    if refused.code == "misdirected-request":
        return Check(
            "host",
            State.FAULT,
            f"a server answers, and not for the host {host}",
            f'put "{host}" into hosts under [server] of its config.toml and start it anew; or ask'
            " it under the address that it printed",
        )
    detail = f"it refuses to say that it lives: {refused} [{refused.code}]"
    return Check("server", State.FAULT, detail, "look into its log")


def _clock(answer: Answer) -> Iterator[Check]:
    try:
        theirs = parsedate_to_datetime(answer.date or "").timestamp()
    except ValueError:
        # A proxy may leave it out.
        return
    apart = theirs - time.time()
    if abs(apart) <= APART_SECONDS:
        yield Check("clock", State.OK, "agrees with the server's")
        return
    side = "ahead of" if apart > 0 else "behind"
    yield Check(
        "clock",
        State.WARNING,
        f"the server's is {round(abs(apart))} s {side} this machine's",
        "set both by the network: tokens and runs end by the server's",
    )
