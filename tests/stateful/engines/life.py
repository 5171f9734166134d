"""A life: operations that chance chooses, done in both worlds of a pair, with many ties in time."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from codeflow_memory.domain.memory import Collection, Status
from codeflow_memory.domain.retention import Policy
from codeflow_memory.services import erasure, holds, retention
from codeflow_memory.services.holds import Target
from codeflow_memory.services.mutation import Operation

from ..worlds.building import Ask
from .pair import Pair
from .texts import BRANCHES, PATHS, SOURCES, TAGS, some, words

CALLERS = ("con", "con", "con", "red", "rev", "owner", "hal", "run", "rea")
NAMES = ("zoe", "Zoe", "zo\u00eb", "abe", "a_b", "a%b")
"""Of people that come and are erased."""

KINDS = ("guidance", "fact", "decision", "convention", "procedure", "preference")
COLLECTIONS = ("project", "project", "project", "project", "private", "team")
FITTING = {
    "proposed": ("approve", "approve", "approve", "approve", "approve", "reject"),
    "accepted": ("outdate", "archive", "return", "supersede"),
}
DECISIONS = ("approve", "reject", "outdate", "archive", "restore", "return", "supersede")
TIMES = ("2027-01-15T08:00:00Z", "2027-01-15T08:00:01Z", "2027-06-01T00:00:00.5+02:00", "never")
SECOND = 1_000_000
DAY = 86_400 * SECOND
STEPS = (*(0,) * 16, *(SECOND,) * 12, 1, 2 * DAY)
"""How far the clock goes before an operation: mostly not at all."""

NEW = Operation(None, ())


@dataclass
class Entry:
    """What is known of an entry: who may change it, and how it stands."""

    author: str
    revision: int = 1
    status: str = "proposed"
    collection: str = "project"


class Life:
    """What a pair has gone through, and what it can be asked about.

    Args:
        pair: The worlds, which hold something already.
        seed: Of the choices.
    """

    def __init__(self, pair: Pair, seed: int) -> None:
        self.pair = pair
        self.chance = Random(seed)  # noqa: S311 - repeatable on purpose
        self.entries: dict[str, Entry] = {}
        for name, revision in pair.worlds[0].revisions.items():
            if name[0] not in "vb":
                author = "hal" if name[0] == "h" else name.partition("-")[2]
                status = "proposed" if revision == 1 else "accepted"
                collection = "project" if name[0] == "m" else "private"
                known = author if author in CALLERS else "con"
                self.entries[pair.ids[name]] = Entry(known, revision, status, collection)
        self.selections = [i for name, i in pair.ids.items() if "sel" in name]
        self.people: list[str] = []
        self.answers: Counter[tuple[str, int]] = Counter()

    def live(self, operations: int) -> None:
        """Do so many operations."""
        for _ in range(operations):
            step = self.chance.choice(STEPS)
            for world in self.pair.worlds:
                world.streams.at += step
            self.chance.choices(list(WEIGHTS), WEIGHTS.values())[0](self)

    # What the operations need.

    @property
    def core(self) -> str:
        place = "core" if self.chance.random() < 0.8 else "side"
        return f"/api/projects/{self.pair.ids[place]}"

    def caller(self) -> str:
        return self.chance.choice((*CALLERS, *self.people))

    def rarely(self) -> bool:
        return self.chance.random() < 0.06

    def memory(self, *statuses: str) -> tuple[str, int]:
        """An entry and the revision to name: now and then not such a one, or an old revision."""
        every = list(self.entries)
        fitting = [i for i in every if self.entries[i].status in statuses]
        memory_id = self.chance.choice(every if self.rarely() or not fitting else fitting)
        return memory_id, max(1, self.entries[memory_id].revision - self.rarely())

    def may_change(self, memory_id: str) -> str:
        """Who wrote the entry, or now and then somebody else."""
        return self.caller() if self.rarely() else self.entries[memory_id].author

    def pairs(self) -> list[dict]:
        chosen = [self.memory("accepted") for _ in range(max(0, self.chance.randint(-3, 2)))]
        return [{"memory_id": memory_id, "revision": revision} for memory_id, revision in chosen]

    def content(self) -> dict:
        chance = self.chance
        fields: dict = {
            "kind": chance.choice(KINDS),
            "title": words(chance, 1, 3),
            "body": words(chance, 1, 9),
            "tags": some(chance, TAGS, 2),
            "paths": some(chance, PATHS, 2),
            "branches": some(chance, BRANCHES, 1),
            "sources": some(chance, SOURCES, 2),
            "derived_from": self.pairs(),
        }
        if chance.random() < 0.15:
            fields["sensitivity"] = chance.choice(("normal", "sensitive", "secret"))
        if chance.random() < 0.1:
            fields["key"] = words(chance, 1, 1)
        if chance.random() < 0.1:
            fields[chance.choice(("valid_from", "valid_to"))] = chance.choice(TIMES)
        return fields

    def send(self, caller: str, wanted: Ask) -> dict:
        """Ask both; remember the entries that the answer tells of."""
        reply = self.pair.ask(caller, wanted)
        self.answers[wanted.method, reply.status] += 1
        if reply.status >= 300:
            return {}
        for each in [reply.json, *reply.json.get("results", ())]:
            if str(each.get("id", "")).startswith("mem_") and each.get("revision"):
                known = self.entries.setdefault(each["id"], Entry(caller))
                known.revision, known.status = each["revision"], each["status"]
                known.collection = each.get("collection", known.collection)
        return reply.json

    # The operations.

    def propose(self) -> None:
        fields = self.content() | {"collection": self.chance.choice(COLLECTIONS)}
        caller = self.caller()
        if fields["collection"] == "team":
            fields["team_id"] = self.pair.ids["red-team"]
            caller = self.chance.choice(("red", "rev"))
        if self.rarely():
            memory_id, revision = self.memory("accepted")
            fields["supersedes"] = {"memory_id": memory_id, "revision": revision}
        key = self.chance.choice(("once", "Once", "a%_:x")) if self.rarely() else None
        self.send(caller, Ask("POST", f"{self.core}/memories", fields, key=key))

    def revise(self) -> None:
        memory_id, revision = self.memory("accepted", "proposed")
        content = self.content()
        named = self.chance.sample(list(content), k=self.chance.randint(1, 3))
        changes = {name: content[name] for name in named}
        wanted = Ask("PATCH", f"/api/memories/{memory_id}", changes, revision)
        self.send(self.may_change(memory_id), wanted)

    def decide(self) -> None:
        memory_id, revision = self.memory(self.chance.choice(("proposed", "proposed", "accepted")))
        fitting = FITTING.get(self.entries[memory_id].status, ("restore",))
        action = self.chance.choice(DECISIONS if self.rarely() else fitting)
        body: dict = {"reason": words(self.chance, 1, 2)} if self.chance.random() < 0.3 else {}
        if action == "supersede":
            body["superseded_by"] = self.memory("accepted")[0]
        own = self.entries[memory_id].collection != "project" or self.rarely()
        caller = self.may_change(memory_id) if own else self.chance.choice(("rev", "rev", "owner"))
        self.send(caller, Ask("POST", f"/api/memories/{memory_id}/{action}", body, revision))

    def delete(self) -> None:
        memory_id, revision = self.memory("accepted", "rejected", "outdated")
        wanted = Ask("DELETE", f"/api/memories/{memory_id}", {}, revision)
        self.send(self.may_change(memory_id), wanted)

    def publish(self) -> None:
        memory_id, revision = self.memory("accepted")
        note = {"note": words(self.chance, 1, 4)} if self.chance.random() < 0.5 else {}
        wanted = Ask("POST", f"/api/memories/{memory_id}/publish", note, revision)
        self.send(self.may_change(memory_id), wanted)

    def judge(self) -> None:
        memory_id, _ = self.memory("accepted")
        body = {"helpful": self.chance.random() < 0.6, "note": words(self.chance, 1, 3)}
        if self.rarely():
            body["selection_id"] = self.chance.choice(self.selections)
        self.send(self.caller(), Ask("POST", f"/api/memories/{memory_id}/feedback", body))

    def select(self) -> None:
        chance = self.chance
        body: dict = {"query": words(chance, 0, 3), "paths": some(chance, PATHS, 2)}
        body["budget"] = {"characters": chance.choice((300, 2_000, 12_000)), "entries": 9}
        body["match"] = chance.choice(("all", "literal"))
        body["explain"] = chance.random() < 0.5
        if chance.random() < 0.3:
            body["branch"] = chance.choice(BRANCHES)
        made = self.send(self.caller(), Ask("POST", f"{self.core}/memory/selections", body))
        if made:
            self.selections.append(made["id"])

    def batch(self) -> None:
        steps = []
        for _ in range(self.chance.randint(1, 6)):
            memory_id, revision = self.memory("proposed")
            action = self.chance.choice(("approve", "approve", "reject", "archive", "update"))
            step = {"action": action, "id": memory_id, "revision": revision}
            if action == "update":
                step["changes"] = {"title": words(self.chance, 1, 3)}
            steps.append(step)
        flags = {"dry_run": self.chance.random() < 0.3, "atomic": self.chance.random() < 0.3}
        body = {"operations": steps, **flags}
        self.send(self.chance.choice(("rev", "owner")), Ask("POST", "/api/memories/batch", body))

    def start_run(self) -> None:
        """Start a run, whose token writes from now on: the one before may have ended."""
        body = {"agent": self.chance.choice(("claude-code", "codex")), "project_id": "core"}
        made = self.send(self.chance.choice(("con", "rev", "bot")), Ask("POST", "/api/runs", body))
        for world in self.pair.worlds:
            world.tokens["run"] = made["token"]

    def administer(self) -> None:
        name = self.chance.choice(NAMES)
        role = self.chance.choice(("reader", "contributor", "reviewer"))
        asks = (
            Ask("POST", "/api/admin/principals", {"name": name, "kind": "user"}),
            Ask("POST", "/api/admin/grants", {"principal": name, "role": role}),
            Ask("POST", "/api/admin/teams", {"slug": f"team-{self.chance.randint(1, 4)}"}),
            Ask(
                "POST", f"/api/admin/teams/{self.pair.ids['red-team']}/members", {"principal": name}
            ),
            Ask("POST", "/api/repositories", {"key": words(self.chance, 1, 2)}),
            Ask(
                "POST", f"/api/repositories/{self.pair.ids['shop']}/projects", {"slug": f"p-{role}"}
            ),
        )
        self.pair.ask("owner", self.chance.choice(asks))

    def come(self) -> None:
        """Let somebody sign in, who then writes until it is erased."""
        name = self.chance.choice(NAMES)
        body = {"principal": name, "kind": "user", "role": "contributor"}
        made = self.send("owner", Ask("POST", "/api/admin/tokens", body))
        if made and name not in self.people:
            self.people.append(name)
        for world in self.pair.worlds if made else ():
            world.tokens[name] = made["token"]

    def hold(self) -> None:
        memory_id, _ = self.memory("accepted")
        service = self.chance.choice((holds.add, holds.add, holds.remove))
        more = (words(self.chance, 1, 2),) if service is holds.add else ()
        self.pair.call(("hold", memory_id), service, Target(memory_id), *more, NEW)

    def retain(self) -> None:
        """Preview a policy, and carry it out."""
        statuses = self.chance.sample([s for s in Status if s is not Status.DELETED], k=2)
        days = self.chance.choice((None, 1, 10))
        policy = Policy(
            frozenset(self.chance.sample(list(Collection), k=2)),
            frozenset(),
            frozenset(statuses),
            days or 1,
            self.chance.choice((None, 1)),
        )
        plan = self.pair.call(policy, retention.preview, (policy,))
        if isinstance(plan, dict) and self.chance.random() < 0.5:
            cascade = self.chance.random() < 0.5
            self.pair.call(policy, retention.apply, (policy,), plan["fingerprint"], cascade=cascade)

    def erase(self) -> None:
        """Erase somebody that came, if it stands."""
        name = self.chance.choice(self.people or NAMES)
        self.pair.call(("erase", name), erasure.preview, name)
        self.pair.call(("erase", name), erasure.run, name)


WEIGHTS: dict[Callable[[Life], None], int] = {
    Life.propose: 30,
    Life.revise: 10,
    Life.decide: 22,
    Life.delete: 3,
    Life.publish: 4,
    Life.judge: 8,
    Life.select: 8,
    Life.batch: 3,
    Life.start_run: 2,
    Life.administer: 6,
    Life.hold: 2,
    Life.come: 2,
    Life.retain: 1,
    Life.erase: 1,
}
