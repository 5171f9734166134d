"""The tables, written from the specification: one row a rule, the section that says it behind.

A caller asks for an operation on an entry. Four questions are asked in the order of 01 §5; the
first that refuses decides. Of the rows that fit a cell the most specific one decides: the one whose
cells all other fitting rows have too. `*` is everything, a name of `GROUPS` what it stands for.

=========  ====================================================================================
`SPACE`    may the caller ask anything of the project? only for what names one: lists, searches
`SIGHT`    is the entry there for the caller?
`RIGHTS`   may the caller do this to it?
`MOVES`    what does it do in that state? (`APPEARS` for lookups: is an entry in that state shown?)
`ENTRANCE` may the caller write a new entry there, and what does it become?
`BOUND`    may the caller say that the entry is of a certain run?
`REPLAY`   what does the replay of a manifest answer which gave the entry to its author?
=========  ====================================================================================

Callers: a person's token with a role; `run`, that of a contributor's run, `run-of-owner`, of an
owner's, `run-astray`, of one in another project; `agent` and `owner-agent`, tokens of agent
principals, `agent-run` a run of one; then who is nobody here: without a token, with one that was
revoked, is past its time or of a run that has ended, with an id or a secret that was never given,
and with another tenant's.

Relations: the entry's author, who owns it; `teammate`, in the team that a team entry is of;
`colleague`, with a role in the repository; `sponsor`, who made the agent that wrote the entry;
`elsewhere`, with a role in another repository alone; `outside`, with none in this tenant.

`first` reads the first revision, which was proposed; `revision` the one that stands.

States: those of 01 §4; `returned` is proposed again after it was accepted, `withdrawn` was deleted
while it was proposed, `lapsed` outdated while it was proposed; `secret` is proposed with that mark.
"""

CALLERS = [
    "reader",
    "contributor",
    "reviewer",
    "maintainer",
    "owner",
    "operator",
    "run",
    "run-of-owner",
    "run-astray",
    "agent",
    "owner-agent",
    "agent-run",
    "nobody",
    "revoked",
    "expired",
    "ended",
    "unknown",
    "forged",
    "foreign",
]
RELATIONS = ["author", "teammate", "colleague", "sponsor", "elsewhere", "outside"]
COLLECTIONS = ["private", "team", "project"]
STATES = [
    "proposed",
    "accepted",
    "rejected",
    "outdated",
    "superseded",
    "archived",
    "deleted",
    "returned",
    "withdrawn",
    "lapsed",
    "secret",
]

READS = ["get", "revisions", "revision", "first", "diff"]
LOOKUPS = ["list", "search", "select", "graph", "export", "export-md", "verify"]
DECISIONS = ["approve", "reject", "supersede", "outdate", "archive", "restore", "return"]
BOUND_TO = ["create-in-run", "create-in-docs", "create-in-ended"]
CREATIONS = ["create", *BOUND_TO]
CHANGES = [*DECISIONS, "update", "delete", "publish", "feedback"]
OPERATIONS = [*READS, *LOOKUPS, "replay", "stale", *CHANGES, *CREATIONS]

GROUPS = {
    "strangers": "nobody revoked expired ended unknown forged",
    "seers": "reader contributor reviewer maintainer owner run run-of-owner agent owner-agent "
    "agent-run",
    "writers": "contributor reviewer maintainer owner run run-of-owner agent owner-agent agent-run",
    "bound": "run run-of-owner agent-run",
    "people": "contributor reviewer maintainer owner",
    "persons": "contributor reviewer maintainer owner run run-of-owner",
    "judges": "reviewer maintainer owner",
    "reviewing": "reviewer maintainer owner run-of-owner owner-agent",
    "deleters": "maintainer owner owner-agent",
    "machines": "run run-of-owner agent owner-agent agent-run",
    "within": "author teammate colleague sponsor",
    "others": "teammate colleague sponsor",
    "members": "author teammate",
    "held": "proposed rejected returned withdrawn secret",
    "open": "proposed returned",
    "pending": "proposed returned secret",
    "reads": " ".join(READS),
    "lookups": " ".join(LOOKUPS),
    "decisions": " ".join(DECISIONS),
}

SPACE = """
caller     | relation | answer          | source
*          | *        | missing         | 01 §3: out of reach is like absent
seers      | within   | open            | 01 §3, row 1: reader
strangers  | *        | unauthenticated | 01 §1: only through a token of that tenant
run-astray | *        | forbidden       | 01 §3: a body that contradicts the run token
"""

SIGHT = """
caller    | relation | collection | state  | answer          | source
*         | *        | *          | *      | missing         | 01 §3: out of reach is like absent
strangers | *        | *          | *      | unauthenticated | 01 §1: only through a token
seers     | within   | project    | *      | there           | 01 §3, row 1
reader    | within   | project    | held   | missing         | 01 §3: a reader sees no proposed
seers     | members  | team       | *      | there           | 01 §2: scope team:<id>
seers     | author   | private    | *      | there           | 01 §2: owner, the only reader
seers     | sponsor  | private    | open   | there           | 01 §3: decided by its sponsor
writers   | others   | project    | secret | missing         | 08 §5: its owner alone
seers     | teammate | team       | secret | missing         | 08 §5: its owner alone
"""

RIGHTS = """
operation       | caller   | relation | collection   | state   | answer    | source
*               | *        | *        | *            | *       | forbidden | 01 §3: least roles
reads stale     | *        | *        | *            | *       | may       | 01 §3, row 1; 01 §5.3
first           | reader   | within   | project      | lapsed  | missing   | 01 §3: no proposed text
feedback        | *        | *        | *            | *       | may       | 01 §3, row 1
lookups         | *        | *        | *            | *       | may       | 01 §3, row 1
verify          | *        | *        | *            | *       | forbidden | 01 §10; it writes
verify          | writers  | *        | *            | *       | may       | 01 §10; it writes
update          | writers  | author   | *            | *       | may       | 01 §3, rows 2, 3
update          | writers  | teammate | team         | *       | may       | 01 §3, row 2
update          | judges   | others   | project      | *       | may       | 01 §3: review (silent)
delete          | writers  | author   | *            | *       | may       | 01 §3, rows 2, 3
delete          | deleters | others   | project      | *       | may       | 01 §3, row 5
delete          | deleters | teammate | team         | *       | may       | 01 §3, row 5
decisions       | judges   | within   | project      | *       | may       | 01 §3, row 4
decisions       | judges   | author   | project      | pending | forbidden | 01 §3: not one's own
decisions       | people   | members  | team         | *       | may       | 01 §3: of that team
decisions       | people   | author   | team         | pending | forbidden | 01 §3: not its author
restore         | judges   | author   | project      | lapsed  | forbidden | 01 §3: never decided
restore         | people   | author   | team         | lapsed  | forbidden | 01 §3: never decided
decisions       | people   | author   | private      | *       | may       | 01 §3: its owner alone
approve         | people   | author   | private      | secret  | forbidden | 08 §5: never accepted
outdate archive | machines | author   | private      | *       | may       | 01 §3: owners may
decisions       | people   | sponsor  | private      | *       | may       | 01 §3: by its sponsor
supersede       | people   | sponsor  | private      | *       | invalid   | 01 §3: sees no heir
publish         | writers  | author   | private team | *       | may       | 01 §6; 01 §3, row 3
publish         | writers  | teammate | team         | *       | may       | 01 §6; 01 §3, row 3
publish         | writers  | within   | project      | *       | may       | 01 §6
"""

MOVES = """
operation  proposed accepted rejected outdated superseded archived deleted  source
approve    done     same     illegal  illegal  illegal    illegal  illegal  01 §4, 01 §13
reject     done     done     same     done     illegal    illegal  illegal  01 §4
supersede  done     done     illegal  done     same       illegal  illegal  01 §4
outdate    done     done     illegal  same     illegal    illegal  illegal  01 §4
archive    illegal  done     illegal  illegal  illegal    same     illegal  01 §4
restore    illegal  same     illegal  done     done       done     illegal  01 §4, 01 §13
return     same     done     illegal  illegal  illegal    illegal  illegal  01 §4
update     done     done     illegal  done     illegal    illegal  illegal  01 §3, 01 §4
delete     done     done     done     done     done       done     same     01 §4
publish    refused  done     refused  refused  refused    refused  refused  01 §6
feedback   done     done     done     done     done       done     missing  03 §2, 01 §2
stale      conflict conflict conflict conflict conflict   conflict conflict 01 §5.3
get        done     done     done     done     done       done     done     01 §2, 01 §3
revisions  done     done     done     done     done       done     done     01 §2
revision   done     done     done     done     done       done     done     01 §2
first      done     done     done     done     done       done     done     01 §2
diff       done     done     done     done     done       done     done     01 §13
"""
"""`same`: there already, nothing changes. `publish` refuses a project entry in every state."""

APPEARS = """
operation  proposed accepted rejected outdated superseded archived deleted  source
list       yes      yes      yes      yes      yes        yes      yes      01 §13, 01 §2
search     no       yes      no       no       no         no       no       01 §7
select     no       yes      no       no       no         no       no       01 §9.1
graph      yes      yes      yes      yes      yes        yes      no       01 §8, 01 §5
export     yes      yes      yes      yes      yes        yes      yes      06 §1
export-md  no       yes      no       no       no         no       no       06 §1
verify     yes      yes      no       no       no         no       no       01 §10
"""
"""What is shown in a project at all; `export-md` has the project collection only."""

REPLAY = """
caller    | relation | collection | state   | answer   | source
*         | *        | *          | *       | missing  | 01 §9.5
seers     | author   | *          | *       | shown    | 01 §9.5
seers     | author   | *          | deleted | redacted | 01 §9
reviewing | others   | project    | *       | shown    | 01 §9.5
reviewing | others   | project    | deleted | redacted | 01 §9
reviewing | teammate | team       | *       | shown    | 01 §9.5
reviewing | teammate | team       | deleted | redacted | 01 §9
"""

ENTRANCE = """
caller            | relation          | collection   | answer          | source
*                 | *                 | *            | missing         | 01 §3: out of reach
strangers         | *                 | *            | unauthenticated | 01 §1: only through a token
run-astray        | *                 | *            | forbidden       | 01 §3: the run token
reader            | within            | *            | forbidden       | 01 §3, rows 2, 3
writers           | within            | project      | proposed        | 01 §3, row 3
persons           | within            | private      | accepted        | 01 §3, row 2; 03 §1.7
persons           | members           | team         | accepted        | 01 §3, row 2; 03 §1.7
persons           | colleague sponsor | team         | invalid         | 01 §3, row 2: of a team
agent owner-agent | within            | private team | invalid         | 01 §2: run_id is required
agent-run         | author            | private team | accepted        | 01 §3, row 2; 03 §1.4
"""
"""The team is that of the stage; a run is not told apart from the person that it acts for."""

BOUND = """
operation     | caller     | relation  | answer          | source
*             | *          | *         | missing         | 01 §3: out of reach is like absent
*             | strangers  | *         | unauthenticated | 01 §1: only through a token
*             | run-astray | *         | forbidden       | 01 §3: contradicts the run token
*             | reader     | within    | forbidden       | 01 §3, row 2
*             | writers    | within    | invalid         | 01 §2: the run that wrote it
*             | bound      | within    | forbidden       | 01 §3: contradicts the run token
create-in-run | people     | colleague | accepted        | 01 §2: a run of its own
create-in-run | run        | colleague | accepted        | 01 §2: the run itself
"""
"""`create-in-run` names the colleague's run, `-docs` one of the author's in another project, and
`-ended` one of the author's that has ended; each in a private entry."""
