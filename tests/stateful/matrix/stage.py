"""The stage: one home in which an entry stands in every state, and everybody has a token.

Every state is brought about by the operations that bring it about, each by somebody who may.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from random import Random

from codeflow_memory.adapters.secrets import format_token, parse_token
from codeflow_memory.domain.access import Access, Role
from codeflow_memory.domain.memory import Memory
from codeflow_memory.domain.times import SECOND
from codeflow_memory.services import grants, principals, runs, tokens
from codeflow_memory.services.tenants import Tenants
from codeflow_memory.storage.home import Home

from ...conftest import NEW, Clock, World
from . import table
from .rules import Cell

PEOPLE = ["reader", "contributor", "reviewer", "maintainer", "owner", "operator"]
RUNS = {"run": "contributor", "run-of-owner": "owner"}
AGENTS = {"agent": Role.CONTRIBUTOR, "owner-agent": Role.OWNER}
WHO = {"author": "ann", "teammate": "tom", "colleague": "cal", "sponsor": "sam", "elsewhere": "eve"}
AGENT_WHO = {"author": "bot", "teammate": "aid", "colleague": "ale", "elsewhere": "ela"}
REACHED = frozenset({"accepted", "outdated", "superseded", "archived", "deleted", "returned"})
"""The states of what was accepted once, so that a manifest gave it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry on the stage; ``manifest`` gave it to its author while it was accepted."""

    memory_id: str
    revision: int
    word: str
    status: str
    heir: str
    manifest: str | None


@dataclass(frozen=True, slots=True)
class Script:
    """What a play needs to know of the stage: plain values, so that another process can have it.

    Args:
        home: The home as it was left, to be copied.
        at: The time on its clock.
        project: The id of the project that the entries are in.
        tokens: Bearer tokens by caller, relation and kind of writer; none for nobody.
        entries: By collection, state and kind of writer.
        places: Ids of what administration is asked about.
    """

    home: Home
    at: int
    project: str
    tokens: dict[tuple[str, str, str], str | None] = field(default_factory=dict)
    entries: dict[tuple[str, str, str], Entry] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    def cells(self) -> Iterator[Cell]:
        """Give every cell that can be brought about, those of one operation after another."""
        for operation in table.OPERATIONS:
            for (caller, relation, writer), place in product(self.tokens, self.entries):
                collection, state, of = place
                apart = operation == "replay" and state not in REACHED
                # A new entry comes into no state that it chooses: one cell for each collection.
                apart |= operation.startswith("create") and state != "accepted"
                apart |= operation in table.BOUND_TO and collection != "private"
                if of == writer and not apart:
                    yield Cell(operation, caller, relation, collection, state, writer)

    @property
    def thin(self) -> int:
        """How many times fewer cells are played where each statement is a message to a server."""
        return 1 if self.home.server is None else 2

    def entry(self, cell: Cell) -> Entry:
        return self.entries[cell.collection, cell.state, cell.writer]

    def token(self, cell: Cell) -> str | None:
        return self.tokens[cell.caller, cell.relation, cell.writer]


class Building:
    """Fills an empty home."""

    def __init__(self, home: Home) -> None:
        clock = Clock()
        self.tenants = Tenants(home, now=clock, random_bytes=Random(5).randbytes)  # noqa: S311 - repeatable on purpose
        for slug in ("local", "birch"):
            self.tenants.create(slug)
        self.world = World(self.tenants, clock)
        self.project = self.world.project("shop")
        self.docs = self.world.project("docs", self.project.repository_id)
        self.other = self.world.project("other")
        self.script = Script(home, 0, self.project.project_id)
        self._signed: dict[tuple[str, str], Access] = {}

    def fill(self) -> Script:
        """Fill the home; what is returned is complete once it is closed."""
        self._make_people()
        self._make_tokens()
        self._make_strangers()
        self._make_entries()
        self._name_places()
        self.world.clock.at += 10 * SECOND
        self.tenants.close()
        return replace(self.script, at=self.world.clock.at)

    def _make_people(self) -> None:
        world, where = self.world, self.project.repository_id
        sam = world.person("sam", Role.OWNER)
        principals.create(world.store, sam, NEW, name="bot", kind="agent")
        for name in ("ann", "tom", "cal", "max"):
            self._signed[name, "contributor"] = world.person(name, Role.CONTRIBUTOR, repo=where)
        for name in ("bot", "aid", "ale"):
            self._signed[name, "agent"] = world.person(name, kind="agent", repo=where)
        self._signed["sam", "owner"] = sam
        self._signed["max", "maintainer"] = world.person("max", Role.MAINTAINER, repo=where)
        members = [self._signed[n, "contributor"] for n in ("ann", "tom", "max")]
        members += [self._signed[n, "agent"] for n in ("bot", "aid")]
        self.team = world.team("red", *members)
        self._signed = {who: world.again(access) for who, access in self._signed.items()}

    def _make_tokens(self) -> None:
        for relation, name in WHO.items():
            # A team mate's roles are for the tenant, so that both kinds of grant are asked.
            where = {"teammate": None, "elsewhere": self.other.repository_id}
            repo = where.get(relation, self.project.repository_id)
            writers = ["agent"] if relation == "sponsor" else ["person", "agent"]
            writers = ["person"] if relation == "author" else writers
            given = self._of_person(name, repo, relation)
            if relation == "author":
                run = self.world.run(self.world.sign_in(given["contributor"]), self.docs)
                given["run-astray"] = run.text
                self.script.places["create-in-docs"] = run.run.run_id
            if relation in AGENT_WHO and relation != "author":
                given |= self._of_agent(AGENT_WHO[relation], repo)
            self._keep(relation, writers, given)
        bot = self._of_agent("bot", self.project.repository_id)
        bot["agent-run"] = self.world.run(self.world.sign_in(bot["agent"]), self.project).text
        self._keep("author", ["agent"], bot)

    def _keep(self, relation: str, writers: list[str], given: dict[str, str | None]) -> None:
        for writer, (caller, token) in product(writers, given.items()):
            self.script.tokens[caller, relation, writer] = token

    def _of_person(self, name: str, repo: str | None, relation: str) -> dict[str, str | None]:
        given = {r: self.world.token(name, Role(r), repo=repo).text for r in PEOPLE}
        project = self.other if relation == "elsewhere" else self.project
        for caller, role in RUNS.items():
            started = self.world.run(self.world.sign_in(given[role]), project)
            given[caller] = started.text
            self.script.places[f"{caller} of {name}"] = started.run.run_id
        return given

    def _of_agent(self, name: str, repo: str | None) -> dict[str, str | None]:
        return {
            caller: self.world.token(name, role, "agent", repo=repo).text
            for caller, role in AGENTS.items()
        }

    def _make_strangers(self) -> None:
        world = self.world
        revoked = world.token("ann", Role.OWNER)
        tokens.revoke(world.store, world.owner, revoked.token.token_id, NEW)
        ended = world.run(self._signed["ann", "contributor"], self.project)
        runs.end(world.store, self._signed["ann", "contributor"], ended.run.run_id, NEW)
        self.script.places["create-in-ended"] = ended.run.run_id
        known = parse_token(self.script.tokens["owner", "author", "person"])
        birch = World(self.tenants, world.clock, tenant="birch")
        given = {
            "nobody": None,
            "revoked": revoked.text,
            "expired": world.token("ann", Role.OWNER, ttl_seconds=1).text,
            "ended": ended.text,
            "unknown": format_token(replace(known, token_id="x" * len(known.token_id))),
            "forged": format_token(replace(known, secret="x" * len(known.secret))),
            "foreign": birch.token("ann", Role.OWNER).text,
        }
        self._keep("outside", ["person"], given)

    def _name_places(self) -> None:
        world, script = self.world, self.script
        colleague = self._signed["cal", "contributor"].principal_id
        held = grants.page(world.store, world.owner, principal="cal", after=None, limit=1)
        token = parse_token(script.tokens["reviewer", "colleague", "person"])
        script.places.update(
            shop=self.project.repository_id,
            other=self.other.repository_id,
            project=self.project.project_id,
            docs=self.docs.project_id,
            team=self.team,
            empty_team=world.team("blue"),
            colleague=colleague,
            member=self._signed["ann", "contributor"].principal_id,
            grant=held.items[0].grant_id,
            token=token.token_id,
            run=script.places["run of cal"],
        )
        script.places["create-in-run"] = script.places["run of cal"]

    # The entries.

    def _make_entries(self) -> None:
        for collection, writer in product(table.COLLECTIONS, ("person", "agent")):
            heir = self._accepted(collection, writer, "heir")
            for state in table.STATES:
                if (collection, state, writer) == ("private", "returned", "agent"):
                    continue  # Its owner decides nothing, and its sponsor does not see it accepted.
                word = f"{collection}{state}{writer}"
                made, manifest = self._in_state(collection, state, writer, word)
                self.script.entries[collection, state, writer] = Entry(
                    made.memory_id, made.revision, word, str(made.status), heir.memory_id, manifest
                )

    def _in_state(
        self, collection: str, state: str, writer: str, word: str
    ) -> tuple[Memory, str | None]:
        if state not in REACHED:
            if state == "secret":
                return self._write(collection, writer, word, sensitivity="secret"), None
            memory = self._write(collection, writer, word, background=True)
            return self._moved(collection, state, writer, memory), None
        memory = self._accepted(collection, writer, word)
        author = self._author(writer)
        chosen = self.world.select(author, self.project, query=word)
        [given] = [entry.memory_id for entry in chosen.places]
        assert given == memory.memory_id, word
        if state == "superseded":
            return self._superseded(collection, writer, memory), chosen.manifest.manifest_id
        return self._moved(collection, state, writer, memory), chosen.manifest.manifest_id

    def _moved(self, collection: str, state: str, writer: str, memory: Memory) -> Memory:
        actions = {
            "rejected": "reject", "outdated": "outdate", "archived": "archive",
            "returned": "return", "lapsed": "outdate",
        }  # fmt: skip
        author = self._author(writer)
        if state in {"deleted", "withdrawn"}:
            return self.world.delete(author, memory)
        if state not in actions:
            return memory
        judge = self._signed["max", "maintainer"]
        if collection == "private":
            judge = author
            if state == "rejected" and writer == "agent":
                judge = self._signed["sam", "owner"]
        return self.world.decide(judge, memory, actions[state])

    def _superseded(self, collection: str, writer: str, memory: Memory) -> Memory:
        old = {"memory_id": memory.memory_id, "revision": memory.revision}
        made = self._write(collection, writer, memory.content.title + "heir", supersedes=old)
        if collection == "project":
            self.world.decide(self._signed["max", "maintainer"], made, "approve")
        return self.world.get(self._author(writer), memory).memory

    def _author(self, writer: str) -> Access:
        if writer == "agent":
            return self._signed["bot", "agent"]
        return self._signed["ann", "contributor"]

    def _accepted(self, collection: str, writer: str, word: str) -> Memory:
        memory = self._write(collection, writer, word)
        if collection == "project":
            return self.world.decide(self._signed["max", "maintainer"], memory, "approve")
        return memory

    def _write(
        self, collection: str, writer: str, word: str, *, background: bool = False, **more
    ) -> Memory:
        """Write an entry that shares neither a word, a file nor a run with any other."""
        name, kind = ("ann", "user") if writer == "person" else ("bot", "agent")
        where = self.project.repository_id
        access = self.world.person(name, kind=kind, repo=where, background=background)
        if writer == "agent":
            access = self.world.sign_in(self.world.run(access, self.project).text)
        fields = {
            "collection": collection,
            "title": word,
            "paths": [f"src/{word}.py"],
            "sources": [f"file:src/{word}.py"],
        }
        if collection == "team":
            fields["team_id"] = self.team
        return self.world.propose(access, self.project, **fields, **more)


def build(home: Home) -> Script:
    """Fill the empty *home* with everything that cells need."""
    return Building(home).fill()
