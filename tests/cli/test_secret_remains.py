"""Secrets that were written: no eight characters of one are in a file, a row, a log or an answer.

A server of its own and the commands beside it, on both engines; the home is read when all of them
are done, and of PostgreSQL every row of every table as text.
"""

import http.client
import json
import signal
import subprocess
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from psycopg import sql

from benchmarks.credentials.disguises import DISGUISES
from benchmarks.credentials.kinds import Draw
from benchmarks.credentials.measure import RUN
from benchmarks.credentials.surroundings import samples

from .conftest import COMMAND, environment

pytestmark = pytest.mark.slow

KEPT = "threnodyquay"
"""A word of every text that is kept: that it is found shows that the search finds what is there."""

ALL = '[logging]\nlevel = "debug"\nrequests = true\n'
EVERY = 25
"""Of the samples one of so many is written."""


class Home:
    """A served home, those secrets that were sent to it, and what it answered."""

    def __init__(self, cli, process, first, engine):
        self.cli, self._process, self._engine = cli, process, engine
        self._host = urlsplit(first["url"]).netloc
        self._token = first["token"]
        self.sent: list[str] = []
        self.answers: list[str] = []

    def ask(self, method, path, body=None, *, secret="", form="", **headers):
        """Send a request; what *form* has without the secret may come back."""
        self.remember(secret, form)
        raw = body if isinstance(body, str) or body is None else json.dumps(body)
        connection = http.client.HTTPConnection(self._host, timeout=60)
        connection.request(
            method,
            path,
            None if raw is None else raw.encode(),
            {
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                **{name.replace("_", "-"): value for name, value in headers.items()},
            },
        )
        answer = connection.getresponse()
        self.answers.append(answer.read().decode())
        connection.close()
        return answer.status, json.loads(self.answers[-1])

    def run(self, *argv):
        done = self.cli(*argv)
        self.answers += [done.out, done.err]
        return done

    def remember(self, secret, form=""):
        self.sent += sorted(
            {
                secret[at : at + RUN].lower()
                for at in range(len(secret) - RUN + 1)
                if secret[at : at + RUN].lower() not in form.lower()
            }
        )

    def places(self):
        """Stop the server; yield the name and the text, in small letters, of all it left."""
        self._process.send_signal(signal.SIGTERM)
        out, _ = self._process.communicate(timeout=60)
        assert self._process.returncode == 0
        yield "output", out.lower()
        yield "answers", "\n".join(self.answers).lower()
        for path in sorted(self.cli.home.parent.rglob("*")):
            if path.is_file():
                yield path.name, path.read_bytes().decode("latin-1").lower()
        if self._engine is not None:
            yield from (("row", row.lower()) for row in _rows(self._engine))


def _rows(url):
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname LIKE 'cfm%'"
        ).fetchall()
        for schema, table in tables:
            # Each tenant's role alone may read its schema, which has the same name.
            connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(schema)))
            every = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(schema, table))
            for (row,) in connection.execute(every):
                yield row
                # Bytes are written in hex digits.
                digits = (part for part in row.replace("\\x", " ").split() if _is_hex(part))
                yield bytes.fromhex("".join(digits)).decode("latin-1")


def _is_hex(text):
    return len(text) % 2 == 0 and all(c in "0123456789abcdef" for c in text)


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request):
    """The URL of a database; ``None`` where files are meant."""
    if request.param == "sqlite":
        yield None
        return
    cluster = request.getfixturevalue("cluster")
    name = cluster.make()
    yield cluster.url(name)
    cluster.drop(name)


@pytest.fixture
def served(engine, cli, home, tmp_path):
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(ALL + (f'[database]\nurl = "{engine}"\n' if engine else ""))
    # The log goes to a file: a pipe that nobody reads would stop the server when it is full.
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(  # noqa: S603 - this program, no shell
            [*COMMAND, "up", "--port", "0", "--no-browser", "--json"],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    yield Home(cli, process, json.loads(process.stdout.readline()), engine)
    process.kill()
    process.communicate()


@pytest.fixture
def memories(served):
    made = {"key": "shop", "remote": "https://git.example/shop"}
    status, repository = served.ask("POST", "/api/repositories", made)
    assert status == 201
    path = f"/api/repositories/{repository['id']}/projects"
    status, project = served.ask("POST", path, {"slug": "shop"})
    assert status == 201
    return f"/api/projects/{project['id']}/memories"


def draft(**fields):
    return {
        "collection": "private",
        "kind": "fact",
        "title": f"About {KEPT}",
        "body": f"The body of {KEPT}.",
        **fields,
    }


def written():
    """Samples of every kind, as they are and in the disguises that most often succeed."""
    draw = Draw(31)
    made = samples(20_261_205)[::EVERY]
    for at, sample in enumerate(made):
        yield sample.text, sample.secret, sample.form
        name = ("percent", "entities", "escapes")[at % 3]
        if "\n" not in sample.secret:
            note, hidden = DISGUISES[name](sample, draw)
            yield note, hidden, sample.form


def search(served):
    """Return where a run of a secret stands, and where the word of what is kept does."""
    wanted = set(served.sent)
    assert len(wanted) > 30
    found, kept = [], set()
    for name, text in served.places():
        found += [(name, run) for run in sorted(runs(text, wanted))]
        kept |= {name} if KEPT in text else set()
    return found, kept


def runs(text, wanted):
    """Return those of *wanted* that *text* has: all its runs are looked up, as it is the longer."""
    return {run for at in range(len(text)) if (run := text[at : at + RUN]) in wanted}


def test_nothing_of_a_secret_that_was_refused_or_replaced_is_left(served, memories, tmp_path):
    draw = Draw(30)
    token = "gl" + "pat-" + draw(20)
    password = draw.password() + draw(4)

    for fields in ({"title": token}, {"body": token}, {"body": f"`{token}`\n{token}"}):
        assert served.ask("POST", memories, draft(**fields), secret=token)[0] == 422
    assert served.ask("POST", memories, f'{{"{token}": ', secret=token)[0] == 422
    assert served.ask("POST", memories, draft(**{token: 1}))[0] == 422
    # It names the field that nobody knows, to the one who sent it.
    assert token in served.answers.pop()
    for text, secret, form in written():
        status, _ = served.ask(
            "POST", memories, draft(body=f"{KEPT}\n{text}"), secret=secret, form=form
        )
        assert status in {200, 201}, text
    status, memory = served.ask(
        "POST",
        memories,
        draft(
            collection="project",
            title=f"{KEPT} {token}",
            tags=["ops", token],
            paths=[f"src/{token}.py"],
            branches=[token],
            sources=[f"session:{token}"],
            key=token,
        ),
        secret=token,
    )
    assert status == 201
    one = f"/api/memories/{memory['id']}"
    change = {"body": f"{KEPT}: the admin password is {password}"}
    status, memory = served.ask("PATCH", one, change, secret=password, If_Match='"1"')
    assert status == 200
    served.ask("GET", f"{memories.removesuffix('/memories')}/search?q={quote(token)}")
    served.ask("POST", f"{memories.removesuffix('memories')}memory/selections", {"query": token})
    rejected = served.run(
        *("review", "reject", memory["id"], "--reason", "wrong", "--yes"),
        *("--comment", f"{KEPT} with password={password}"),
    )
    assert rejected.code == 0, rejected.err
    key = tmp_path / "backup.key"
    key.write_bytes(bytes(range(32)))
    served.run("backup", "create", "--to", tmp_path / "b.cfmb", "--keyfile", key).ok()
    served.run("audit", "--json").ok()
    served.run("export").ok()

    found, kept = search(served)

    assert found == []
    assert {"answers", "memory.sqlite" if served._engine is None else "row"} <= kept


@pytest.mark.usefixtures("memories")
def test_nothing_of_a_secret_in_guidance_is_left(served, repository):
    draw = Draw(32)
    secrets = [draw.password(), "np" + "m_" + draw(36), draw.password()]
    rules = (
        f"# Rules\n\n## {KEPT}\n\nThe {KEPT} server: `mysql -h db --password={secrets[0]}`.\n\n"
        f"## Publishing\n\nUse {secrets[1]} for releases.\n\n"
        f"## \u767b\u5f55\n\n{KEPT} \u7684\u5bc6\u7801\u662f {secrets[2]}\n"
    )
    repository.commit({"AGENTS.md": rules})
    for secret in secrets:
        served.remember(secret)

    served.run("learn", repository.path).ok()
    served.run("review", "--json").ok()
    # The repository has the text, as it must; what the product keeps of it is looked at.
    for path in sorted(repository.path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()

    found, kept = search(served)

    assert found == []
    assert ("memory.sqlite" if served._engine is None else "row") in kept
