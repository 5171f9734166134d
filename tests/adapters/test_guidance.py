"""What a repository's guidance becomes."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.adapters.git import open_repository
from codeflow_memory.adapters.guidance import MAX_BODY, Skipped, read_guidance
from codeflow_memory.adapters.guidance_files import Family, family_of
from codeflow_memory.adapters.markdown import parse_document, text_of
from codeflow_memory.adapters.passages import Passage, passages
from codeflow_memory.domain.memory import Kind

RECORD = """\
# Use plain files

* Status: accepted

## Context

We need to store things.

## Decision

Plain files.
"""


def read(g, files):
    commit = g.save(files)
    return read_guidance(open_repository(g.path), commit)


def pieces(g, files):
    return read(g, files).pieces


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "src/app.py",
        "agents.md",
        "a/b/c/AGENTS.md",
        "node_modules/x/AGENTS.md",
        "vendor/x/CONTRIBUTING.md",
        "docs/adr/README.md",
        "docs/adr/0000-template.md",
        "docs/adr/adr-template.md",
        "docs/adr/diagram.png",
        "templates/0001-x.md",
        "examples/docs/adr/0001-x.md",
        "contributing.png",
        ".cursor/rules/a.json",
        ".cursor/other/a.mdc",
        "a/b/c/docs/adr/0001-x.md",
    ],
)
def test_what_is_no_guidance(path):
    assert family_of(path) is None


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("AGENTS.md", Family.AGENTS),
        ("packages/api/AGENTS.md", Family.AGENTS),
        ("CLAUDE.md", Family.CLAUDE),
        (".claude/CLAUDE.md", Family.CLAUDE),
        (".cursorrules", Family.CURSOR),
        (".cursor/rules/a/b.mdc", Family.CURSOR),
        ("web/.cursor/rules/b.md", Family.CURSOR),
        ("CONTRIBUTING", Family.CONTRIBUTING),
        ("CONTRIBUTING.rst", Family.CONTRIBUTING),
        (".github/CONTRIBUTING.md", Family.CONTRIBUTING),
        ("docs/contributing.md", Family.CONTRIBUTING),
        ("docs/adr/0001-x.md", Family.RECORD),
        ("docs/decisions/deep/x.md", Family.RECORD),
        ("adr/x.md", Family.RECORD),
        ("doc/architecture/decisions/0001-x.md", Family.RECORD),
        ("packages/api/docs/adr/x.md", Family.RECORD),
        ("rfcs/0001-x.md", Family.NUMBERED),
    ],
)
def test_what_is_guidance(path, family):
    assert family_of(path) is family


def test_each_heading_is_a_piece_with_its_exact_lines(git):
    g = git()
    text = (
        "# Rules\n\nFirst of all.\n\n## Tests\n\nRun them.\n\n- all\n- always\n\n"
        "## Empty\n\n## Style\nShort.\n"
    )

    found = pieces(g, {"AGENTS.md": text})
    commit = g("rev-parse", "HEAD")

    assert [(p.title, p.body) for p in found] == [
        ("Rules", "First of all."),
        ("Tests", "Run them.\n\n- all\n- always"),
        ("Style", "Short."),
    ]
    assert [p.sources for p in found] == [
        (f"file:AGENTS.md@{commit}#L3-L3", f"commit:{commit}"),
        (f"file:AGENTS.md@{commit}#L7-L10", f"commit:{commit}"),
        (f"file:AGENTS.md@{commit}#L15-L15", f"commit:{commit}"),
    ]
    assert {(p.kind, p.tags, p.paths) for p in found} == {(Kind.GUIDANCE, ("agents",), ())}


def test_deep_headings_stay_in_the_body_and_names_tell_where_they_are(git):
    text = (
        "# T\n\n## Build\n\n### Linux\n\nmake\n\n#### Old\n\nautoconf\n\n"
        "## Test\n\n### Linux\n\nctest\n"
    )

    found = pieces(git(), {"AGENTS.md": text})

    assert [(p.title, p.body) for p in found] == [
        ("Build: Linux", "make\n\n#### Old\n\nautoconf"),
        ("Test: Linux", "ctest"),
    ]
    assert len({p.place for p in found}) == 2


def test_headings_in_code_comments_and_front_matter_are_none(git):
    text = (
        "---\ntitle: x\n# no heading\n---\n# Real\n\n```sh\n# a comment\n<!-- kept -->\n```\n\n"
        "<!--\n# hidden\n-->\nSeen <!-- not this --> and `<!-- this -->`.\n\n> # quoted\n"
    )

    (piece,) = pieces(git(), {"CLAUDE.md": text})

    assert piece.title == "Real"
    assert piece.body == (
        "```sh\n# a comment\n<!-- kept -->\n```\n\nSeen  and `<!-- this -->`.\n\n> # quoted"
    )
    assert "#L7-L17" in piece.sources[0]


def test_titles_are_plain_single_lines(git):
    text = "# The `make` *target* [here](https://x.org) ##\n\na\n\nTwo\nlines\n-----\n\nb\n\n" + (
        "## " + "word " * 100 + "\n\nc\n"
    )

    found = pieces(git(), {"AGENTS.md": text})

    assert [p.title for p in found][:2] == ["The make target here", "Two lines"]
    assert len(found[2].title) <= 200
    assert found[2].title.endswith("word…")


def test_a_file_without_headings_is_named_by_its_first_clause(git):
    (piece,) = pieces(git(), {".cursorrules": "- **Always** use tabs. Never spaces.\n"})

    assert piece.title == "Always use tabs"


def test_words_that_only_introduce_the_file_are_no_piece(git):
    intro = "# CLAUDE.md\n\nThis file provides guidance to agents.\n\n## Rule\n\nDo it.\n"

    found = read(git(), {"CLAUDE.md": intro, "web/CLAUDE.md": "@../AGENTS.md\n"})

    assert [p.title for p in found.pieces] == ["Rule"]
    assert found.skipped == (Skipped("web/CLAUDE.md", "no text"),)


def test_nested_guidance_is_for_its_folder_and_a_copy_counts_once(git):
    found = pieces(
        git(),
        {"AGENTS.md": "# A\n\na\n", "CLAUDE.md": "# A\n\na\n", "pkg/api/AGENTS.md": "# A\n\na\n"},
    )

    assert [(p.place, p.paths) for p in found] == [
        ("AGENTS.md#A#1", ()),
        ("pkg/api/AGENTS.md#A#1", ("pkg/api",)),
    ]


def test_cursor_rules_say_which_paths_they_are_for(git):
    files = {
        ".cursor/rules/a.mdc": (
            "---\ndescription: Style of views\nglobs: *.tsx, src/**/*.{ts,js}\n---\nx\n"
        ),
        ".cursor/rules/b.mdc": (
            '---\nglobs:\n  - "web/**"\n  - ../out\nalwaysApply: true\n---\n# B\n\ny\n'
        ),
        "web/.cursor/rules/c.mdc": '---\nglobs: ["*.css"]\n---\nz\n',
        "web/.cursor/rules/d.mdc": "all\n",
    }

    found = {p.place.partition("#")[0]: (p.title, p.paths) for p in pieces(git(), files)}

    assert found == {
        ".cursor/rules/a.mdc": ("Style of views", ("**/*.tsx", "src/**/*.ts", "src/**/*.js")),
        ".cursor/rules/b.mdc": ("B", ("web/**",)),
        "web/.cursor/rules/c.mdc": ("z", ("web/**/*.css",)),
        "web/.cursor/rules/d.mdc": ("all", ("web",)),
    }


def test_a_decision_record_stays_whole(git):
    (piece,) = pieces(git(), {"docs/adr/0001-plain-files.md": RECORD})

    assert piece.kind is Kind.DECISION
    assert piece.title == "Use plain files"
    assert piece.body == RECORD.partition("\n\n")[2].rstrip("\n")
    assert piece.tags == ("decision-record",)


def test_a_long_record_goes_on_at_its_next_heading(git):
    long = RECORD + "\n## Pros and Cons\n\n" + "".join(f"* Good, because {n}\n" for n in range(400))

    first, second = pieces(git(), {"docs/adr/0001-plain-files.md": long})

    assert (first.title, second.title) == ("Use plain files", "Use plain files: Pros and Cons")
    assert "Decision" in first.body
    assert second.body.startswith("* Good, because 0\n")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("---\nstatus: superseded by ADR-0005\n---\n# T\n\nx\n", "superseded"),
        ('---\nstatus: "rejected"\n---\n# T\n\nx\n', "rejected"),
        ("# T\n\n* Status: [superseded by 5](5.md)\n\nx\n", "superseded"),
        ("# T\n\n**Status:** Rejected\n\nx\n", "rejected"),
        ("# 1. T\n\n## Status\n\nAccepted\n\nSuperceded by [2. U](0002-u.md)\n\nx\n", "superseded"),
        ("# T\n\n## Status\n\nRejected\n", "rejected"),
        ("# {short title}\n\nx\n", "a template"),
        ("# [short title of the problem]\n\nx\n", "a template"),
        ("# T\n", "no text"),
    ],
)
def test_records_that_are_not_in_force_are_reported(git, text, status):
    found = read(git(), {"docs/adr/0001-t.md": text})

    assert found.pieces == ()
    assert found.skipped == (Skipped("docs/adr/0001-t.md", status),)


@pytest.mark.parametrize(
    ("status", "tags"),
    [
        ("accepted", ()),
        ("deprecated", ("deprecated",)),
        ("Proposed", ("proposed",)),
        ("on hold", ("on hold",)),
    ],
)
def test_other_states_are_tags(git, status, tags):
    (piece,) = pieces(git(), {"docs/adr/1.md": f"---\nstatus: {status}\n---\n# T\n\nx\n"})

    assert piece.tags == ("decision-record", *tags)


def test_an_example_of_a_status_is_not_the_status(git):
    text = "# T\n\nx\n\n## Options\n\n* Status: rejected\n\n```\nstatus: superseded\n```\n"

    (piece,) = pieces(git(), {"docs/adr/1.md": text})

    assert piece.tags == ("decision-record",)


def test_a_numbered_file_elsewhere_must_read_like_a_record(git):
    found = pieces(git(), {"rfcs/0001-a.md": RECORD, "chapters/0002-b.md": "# B\n\nOnce.\n"})

    assert [p.title for p in found] == ["Use plain files"]


def test_what_cannot_be_read_is_reported(git):
    g = git()
    g.write({"AGENTS.md": b"# \xff\n", "CLAUDE.md": "x\n" * 200_000, "web/AGENTS.md": "\n\n"})
    (g.path / ".cursorrules").symlink_to("/etc/hostname")

    found = read(g, {})

    assert found.pieces == ()
    assert found.skipped == (
        Skipped("AGENTS.md", "not UTF-8"),
        Skipped("web/AGENTS.md", "no text"),
        Skipped("CLAUDE.md", "too long"),
    )


def test_line_ends_and_a_byte_order_mark_do_not_show(git):
    (piece,) = pieces(git(), {"AGENTS.md": "\ufeff# T\r\n\r\na\r\nb\r\n"})

    assert (piece.title, piece.body) == ("T", "a\nb")
    assert "#L3-L4" in piece.sources[0]


def test_an_unchanged_file_gives_the_same_pieces_at_every_later_commit(git):
    g = git()
    before = pieces(g, {"AGENTS.md": "# A\n\na\n", "docs/adr/1.md": RECORD})
    after = pieces(g, {"src/app.py": "1\n"})
    changed = pieces(g, {"AGENTS.md": "# A\n\na\n\n## B\n\nb\n"})

    assert before == after
    assert [(p.place, p.body) for p in changed if p.place == "AGENTS.md#A#1"] == [
        ("AGENTS.md#A#1", "a")
    ]
    assert len(changed) == len(before) + 1


def test_only_committed_guidance_is_read(git):
    g = git()
    commit = g.save({"AGENTS.md": "# A\n\na\n"})
    g.write({"AGENTS.md": "# A\n\nchanged\n", "CLAUDE.md": "# B\n\nb\n"})

    assert [p.body for p in read_guidance(open_repository(g.path), commit).pieces] == ["a"]


def test_cited_lines_hold_the_text(git):
    g = git()
    files = {"AGENTS.md": "intro\n\n# A\n\na one\n\n<!-- x\n-->\n\na two\n\n## B\n\n1. b\n\n   c\n"}
    for piece in pieces(g, files):
        first, last = piece.sources[0].rpartition("#L")[2].split("-L")
        cited = files["AGENTS.md"].split("\n")[int(first) - 1 : int(last)]
        assert cited[0] == piece.body.split("\n")[0]
        assert cited[-1] == piece.body.split("\n")[-1]


_BLOCKS = st.lists(
    st.sampled_from(
        ["para " * 8, "- item\n- item two", "```\n" + "code\n" * 6 + "```", "x" * 90, "> q"]
    ),
    min_size=1,
    max_size=8,
)


@given(_BLOCKS, st.integers(20, 80))
def test_parts_are_short_and_no_word_is_cut(blocks, longest):
    section = parse_document("\n\n".join(blocks)).sections[0]
    words = set(text_of(section.lines).split())

    parts = passages(Passage((), "t", section.lines), longest)

    assert all(0 < len(part.body) <= longest for part in parts)
    assert all(set(part.body.split()) <= words for part in parts)
    kept = [w for part in parts for w in part.body.split()]
    assert kept == [w for w in text_of(section.lines).split() if len(w) < longest]


@given(st.text(alphabet="#->`<!*_ \n\tab1.:[](){}|=~\"'", max_size=120))
def test_no_text_breaks_the_reader(text):
    document = parse_document(text)
    numbers = [line.number for section in document.sections for line in section.lines]

    assert numbers == sorted(set(numbers))
    assert set(numbers) <= set(range(1, text.count("\n") + 2))


def test_a_long_section_goes_on_in_parts(git):
    text = "# A\n\n" + "".join(f"Paragraph {n} " + "word " * 100 + "\n\n" for n in range(60))

    found = pieces(git(), {"AGENTS.md": text})

    assert [p.title for p in found] == ["A", "A (part 2)"]
    assert all(len(p.body) <= MAX_BODY and p.body.startswith("Paragraph") for p in found)
    assert [p.place for p in found] == ["AGENTS.md#A#1", "AGENTS.md#A#2"]


def test_text_made_to_be_slow_is_read_in_time():
    script = """
from codeflow_memory.adapters.markdown import parse_document
for unit in ("<!--", "`", "` ", ">", "[", "*", "# " + "[" * 300, "a\\n"):
    parse_document(unit * (100_000 // len(unit)))
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=20)  # noqa: S603 - ours
