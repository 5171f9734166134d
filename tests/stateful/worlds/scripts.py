"""What the worlds hold: a visible part that all have, and three hidden parts.

``others``   private and team entries, runs, selections, tokens, people, repositories, a tenant
``held``     proposals, rejections and deletions of the project: a reader sees none of them
``secrets``  project proposals that are marked secret: their owner alone sees them
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .building import Ask, World

CALLERS = ("rea", "con", "red", "rev", "bot", "run")
WORDS = ("retry idempotent requests", "cache invalidation order", "migration lock holder")


def draft(title: str, body: str = "", **more) -> dict:
    """A project proposal's body; the text is unique by its title."""
    fields = {"kind": "guidance", "collection": "project", "title": title}
    return fields | {"body": body or f"{title}: keep to it."} | more


@dataclass(frozen=True, slots=True)
class Setting:
    """A hidden part, who must not notice it, and what one more hidden change is."""

    name: str
    callers: tuple[str, ...]
    hide: Callable[[World], Iterator[None]]
    stir: Callable[[World, int], None]


def fill(world: World, hide: Iterator[None]) -> None:
    """Build a world; after each visible step comes a hidden one, as long as there are any."""
    for _ in visible(world):
        with world.hidden():
            next(hide, None)
        world.streams.advance()
    with world.hidden():
        for _ in hide:
            world.streams.advance()
    world.streams.at = 1_800_001_000_000_000


def visible(world: World) -> Iterator[None]:
    """The part that every world has."""
    world.tenant("local")
    world.first_token("local", "owner")
    yield
    shop = world.post("owner", "/api/repositories", {"key": "shop", "remote": "https://g/shop"})
    world.ids["shop"] = shop["id"]
    base = f"/api/repositories/{shop['id']}/projects"
    world.ids["core"] = world.post("owner", base, {"slug": "core"})["id"]
    world.ids["side"] = world.post("owner", base, {"slug": "side"})["id"]
    yield
    world.ids["red-team"] = world.post("owner", "/api/admin/teams", {"slug": "red"})["id"]
    for name, role, kind in (
        ("rea", "reader", "user"),
        ("con", "contributor", "user"),
        ("red", "contributor", "user"),
        ("rev", "reviewer", "user"),
        ("bot", "contributor", "agent"),
    ):
        sign_in(world, name, role, kind)
        yield
    for member in ("red", "rev"):
        path = f"/api/admin/teams/{world.ids['red-team']}/members"
        world.post("owner", path, {"principal": member})
    yield
    started = world.post("con", "/api/runs", {"agent": "claude-code", "project_id": "core"})
    world.ids["run"], world.tokens["run"] = started["run_id"], started["token"]
    yield
    yield from memories(world)
    for caller in CALLERS:
        asked = {"query": WORDS[0], "paths": ["src/http/client.py"]}
        path = f"/api/projects/{world.ids['core']}/memory/selections"
        world.ids[f"sel-{caller}"] = world.post(caller, path, asked)["id"]
        yield


def memories(world: World) -> Iterator[None]:
    """Accepted guidance, one entry of every other status, and everybody's own."""
    path = f"/api/projects/{world.ids['core']}/memories"
    for number, words in enumerate(WORDS * 4):
        paths = ["src/http/**"] if number % 2 else []
        more = {"tags": ["seen", f"tag-{number % 3}"], "paths": paths}
        if number == 5:
            more["derived_from"] = [
                {"memory_id": world.ids["m0"], "revision": world.revisions["m0"]}
            ]
        if number == 7:
            more["sources"] = ["file:src/http/client.py#L1-L3", "commit:" + "a" * 40]
        name = f"m{number}"
        world.keep(name, world.post("con", path, draft(f"{words} {number}", **more)))
        world.act("rev", name, "approve")
        yield
    for name, action in (("m9", "outdate"), ("m10", "archive"), ("m11", "reject")):
        world.act("rev", name, action)
        yield
    for caller in ("con", "red", "rev"):
        own = draft(f"own {WORDS[0]} of {caller}", collection="private", paths=["src/http/**"])
        world.keep(f"own-{caller}", world.post(caller, path, own))
        yield
    team = draft(f"team {WORDS[1]}", collection="team", team_id=world.ids["red-team"])
    world.keep("of-red", world.post("red", path, team))
    yield
    world.keep("of-run", world.post("run", path, draft("run notes", collection="private")))
    yield


def sign_in(world: World, name: str, role: str, kind: str = "user") -> None:
    """Make a person or agent of the repository, with a token."""
    asked = {"principal": name, "kind": kind, "role": role, "repository": "shop"}
    made = world.post("owner", "/api/admin/tokens", asked)
    world.tokens[name] = made["token"]
    world.ids[f"p-{name}"], world.ids[f"t-{name}"] = made["principal"], made["id"]


def others(world: World) -> Iterator[None]:
    """What belongs to people, teams, repositories and a tenant that no caller reaches."""
    yield
    yield
    sign_in(world, "hal", "contributor")
    grant = {"principal": "hal", "role": "reader", "repository": "shop"}
    world.ids["g-hal"] = world.post("owner", "/api/admin/grants", grant)["id"]
    world.ids["blue-team"] = world.post("owner", "/api/admin/teams", {"slug": "blue"})["id"]
    path = f"/api/admin/teams/{world.ids['blue-team']}/members"
    world.post("owner", path, {"principal": "hal"})
    yield
    vault = {"key": "vault", "remote": "https://g/vault", "paths": ["/srv/vault"]}
    world.ids["vault"] = world.post("owner", "/api/repositories", vault)["id"]
    base = f"/api/repositories/{world.ids['vault']}/projects"
    world.ids["vault-core"] = world.post("owner", base, {"slug": "core"})["id"]
    world.ids["vault-deep"] = world.post("owner", base, {"slug": "deep"})["id"]
    yield
    path = f"/api/projects/{world.ids['vault-core']}/memories"
    world.keep("v0", world.post("owner", path, draft(f"{WORDS[0]} of the vault", tags=["seen"])))
    yield
    started = world.post("hal", "/api/runs", {"agent": "claude-code", "project_id": "core"})
    world.ids["h-run"], world.tokens["h-run"] = started["run_id"], started["token"]
    world.keep("h-own", hidden_entry(world, "hal", 0))
    yield
    for number in range(1, 5):
        world.keep(f"h{number}", hidden_entry(world, "hal", number))
        yield
    world.keep("h-team", hidden_entry(world, "hal", 5, "team"))
    world.keep("h-of-run", hidden_entry(world, "h-run", 6))
    yield
    world.act("hal", "h1", "archive")
    world.act("hal", "h2", "outdate")
    gone = Ask("DELETE", f"/api/memories/{world.ids['h3']}", {}, world.revisions["h3"])
    world.ask("hal", gone).made()
    yield
    path = f"/api/projects/{world.ids['core']}/memory/selections"
    asked = {"query": WORDS[0], "paths": ["src/http/client.py"]}
    world.ids["h-sel"] = world.post("hal", path, asked)["id"]
    world.ids["h-run-sel"] = world.post("h-run", path, asked)["id"]
    yield
    world.tenant("birch")
    world.first_token("birch", "birch")
    made = world.post("birch", "/api/repositories", {"key": "shop"})
    world.ids["b-shop"] = made["id"]
    base = f"/api/repositories/{made['id']}/projects"
    world.ids["b-core"] = world.post("birch", base, {"slug": "core"})["id"]
    path = f"/api/projects/{world.ids['b-core']}/memories"
    world.keep("b0", world.post("birch", path, draft(f"{WORDS[0]} of birch")))
    yield


KEY = "zanzibar | version"
"""Of the first hidden entry: functional, so a caller's value could meet it."""


def hidden_entry(world: World, caller: str, number: int, collection: str = "private") -> dict:
    """An entry that shares words, paths, tags and provenance with what is visible."""
    team = {"team_id": world.ids["blue-team"]} if collection == "team" else {}
    more = {
        "collection": collection,
        "tags": ["seen", "hidden"],
        "paths": ["src/http/**", "src/hidden.py"],
        "sources": ["file:src/http/client.py#L1-L3", "commit:" + "a" * 40],
        "derived_from": [],
        "key": KEY if number == 0 else None,
    }
    if "m0" in world.ids:
        more["derived_from"] = [{"memory_id": world.ids["m0"], "revision": world.revisions["m0"]}]
    text = f"hidden zanzibar {WORDS[number % 3]} {number}"
    path = f"/api/projects/{world.ids['core']}/memories"
    return world.post(caller, path, draft(text, **more, **team))


def held(world: World) -> Iterator[None]:
    """Proposals that are open, rejected or deleted."""
    for _ in range(9):
        yield
    sign_in(world, "hal", "contributor")
    sign_in(world, "ivy", "reviewer")
    yield
    for number in range(6):
        world.keep(f"h{number}", hidden_entry(world, "hal", number, "project"))
        yield
    world.act("ivy", "h1", "reject")
    yield
    for name in ("h1", "h2"):
        gone = Ask("DELETE", f"/api/memories/{world.ids[name]}", {}, world.revisions[name])
        world.ask("hal", gone).made()
    yield
    path = f"/api/memories/{world.ids['h3']}"
    change = Ask("PATCH", path, {"body": "hidden zanzibar changed"}, world.revisions["h3"])
    world.keep("h3", world.ask("hal", change).made())
    yield
    path = f"/api/projects/{world.ids['core']}/memory/selections"
    world.ids["h-sel"] = world.post("ivy", path, {"query": WORDS[0]})["id"]
    yield


def secrets(world: World) -> Iterator[None]:
    """Proposals that are marked secret, one of them deleted."""
    for _ in range(9):
        yield
    sign_in(world, "hal", "contributor")
    yield
    for number in range(4):
        world.keep(f"h{number}", secret_entry(world, number))
        yield
    gone = Ask("DELETE", f"/api/memories/{world.ids['h1']}", {}, world.revisions["h1"])
    world.ask("hal", gone).made()
    yield


def secret_entry(world: World, number: int) -> dict:
    """A secret proposal with the text of one that a caller will propose."""
    path = f"/api/projects/{world.ids['core']}/memories"
    text = f"hidden zanzibar {WORDS[number % 3]} {number}"
    more = {"tags": ["seen", "hidden"], "paths": ["src/http/**"], "sensitivity": "secret"}
    more["key"] = KEY if number == 0 else None
    return world.post("hal", path, draft(text, **more))


def another_private(world: World, number: int) -> None:
    hidden_entry(world, "hal", 100 + number)


def another_proposal(world: World, number: int) -> None:
    hidden_entry(world, "hal", 100 + number, "project")


def another_secret(world: World, number: int) -> None:
    secret_entry(world, 100 + number)


SETTINGS = (
    Setting("others", CALLERS, others, another_private),
    Setting("held", ("rea",), held, another_proposal),
    Setting("secrets", ("rea", "con", "red", "rev", "run"), secrets, another_secret),
)
