"""The file-style tool: names that are compared and never opened, texts with revisions."""

import threading
from itertools import count

import pytest

from .tooling import Tools, called

_NAMES = count()

TRAVERSALS = [
    "",
    "/",
    "/memories/..",
    "/memories/../etc/passwd",
    "/memories/./a",
    "/memories//a",
    "/memories/a/../../b",
    "/memories/a/..",
    "/memories\\..\\a",
    "/memories/..\\a",
    "/memories/%2e%2e/a",
    "/memories/%2E%2E%2Fetc",
    "/memories/..%2fetc",
    "/memories/%252e%252e/a",
    "/memories/..%c0%af",
    "/memories/\uff0e\uff0e/a",
    "/memories/\u2025/a",
    "/memories/..\uff0fetc",
    "/memories/..\u2215etc",
    "/memories/..\u2044etc",
    "/memories/\uff05\uff12e",
    "/memories/a\x00b",
    "/memories/a\nb",
    "/memories/a\u202eb",
    "/memories/ ../a",
    "/memories/.. /a",
    "/memories/...",
    "/memories/C:/a",
    "/memories/~root",
    "/memories/$HOME",
    "/memories/a/b/c/d/e/f/g/h/i",
    "/memories/" + "a" * 101,
    "/memories/" + "abcde/" * 31 + "a",
    "/memoriesx/a",
    "/etc/passwd",
    "etc/passwd",
    "memories/a",
    "file:///etc/passwd",
    "../memories/a",
    "/MEMORIES/a",
    "/memories/../memories/a",
]


@pytest.fixture
def tools(api):
    """Return the tools of a caller in the module's project."""

    def of(who="ann"):
        return Tools(api, who, {"project_id": api.project.project_id})

    return of


def fresh(suffix="md"):
    return f"/memories/note-{next(_NAMES)}.{suffix}"


def text(word=None):
    number = next(_NAMES)
    return f"Text {word or number} of a note, number {number * 7919}.\nIts second line.\n"


def created(tools, who="ann", path=None, file_text=None):
    path = path or fresh()
    tools(who).file("create", path=path, file_text=file_text or text()).ok()
    return path


@pytest.mark.parametrize("path", TRAVERSALS)
@pytest.mark.parametrize("command", ["view", "str_replace", "insert", "delete"])
def test_a_path_that_means_another_place_names_no_file(tools, command, path):
    more = {
        "str_replace": {"old_str": "a", "new_str": "b"},
        "insert": {"insert_line": 0, "insert_text": "a"},
    }.get(command, {})

    tools().file(command, path=path, **more).refused(404, "not-found")


@pytest.mark.parametrize(
    "path", [*TRAVERSALS, "/memories", "/memories/", "/memories/mem_" + "0" * 26]
)
def test_no_file_is_written_where_none_can_be(tools, path):
    old = created(tools)

    for refused, pointer in (
        (tools().file("create", path=path, file_text="text"), "/path"),
        (tools().file("rename", old_path=old, new_path=path), "/new_path"),
    ):
        told = refused.refused(422, "invalid-request")
        assert [fault["pointer"] for fault in told["errors"]] == [pointer]
    assert not [
        row["path"]
        for row in tools().file("view", path="/memories").ok()["files"]
        if not row["path"].startswith("/memories/note-")
    ]


def test_the_file_of_another_is_like_one_that_is_absent(tools):
    path = created(tools)
    absent = fresh()

    for who in ("abe", "bob", "max", "olga"):
        for command, more in (
            ("view", {}),
            ("str_replace", {"old_str": "Text", "new_str": "b"}),
            ("insert", {"insert_line": 0, "insert_text": "a"}),
            ("delete", {}),
        ):
            one, other = (tools(who).file(command, path=p, **more) for p in (path, absent))
            one.refused(404, "not-found")
            assert one.shape(path) == other.shape(absent)
        assert path not in tools(who).file("view", path="/memories").ok()["text"]


def test_two_people_can_have_a_file_of_one_name(tools):
    path = fresh()
    for who in ("ann", "abe"):
        created(tools, who, path, f"The words of {who} alone are in here.")
    for who in ("ann", "abe"):
        assert f"words of {who}" in tools(who).file("view", path=path).ok()["text"]


def test_what_others_read_is_viewed_by_its_id_and_not_edited(api, tools):
    memory = api.accept(body="The project says so.")
    path = f"/memories/{memory['id']}"

    assert "The project says so." in tools().file("view", path=path).ok()["text"]
    for command, more in (
        ("str_replace", {"old_str": "so", "new_str": "no"}),
        ("insert", {"insert_line": 0, "insert_text": "no"}),
        ("delete", {}),
    ):
        tools("max").file(command, path=path, **more).refused(403, "forbidden")
    assert api("ann", "GET", f"/api/memories/{memory['id']}").ok() == memory


def test_an_entry_of_ones_own_is_edited_by_its_id(api, tools):
    kept = tools()("memory_append", content="The wombat build is slow on Mondays.").ok()
    path = f"/memories/{kept['memory_id']}"

    made = tools().file("str_replace", path=path, old_str="Mondays", new_str="Sundays").ok()

    assert (made["memory_id"], made["revision"]) == (kept["memory_id"], 2)
    body = api("ann", "GET", f"/api/memories/{kept['memory_id']}").ok()["body"]
    assert body == "The wombat build is slow on Sundays."


def test_a_file_is_a_private_memory_with_revisions(api, tools):
    path = f"/memories/topic-{next(_NAMES)}/notes.md"
    made = tools().file("create", path=path, file_text="First line.\nSecond line.\n").ok()

    kept = api("ann", "GET", f"/api/memories/{made['memory_id']}").ok()
    assert (kept["collection"], kept["body"]) == ("private", "First line.\nSecond line.\n")
    assert kept["title"] == path.removeprefix("/memories/")
    edited = tools().file("str_replace", path=path, old_str="Second", new_str="Last").ok()
    assert edited["revision"] == 2
    inserted = tools().file("insert", path=path, insert_line=1, insert_text="Between.\n").ok()
    assert inserted["revision"] == 3
    viewed = tools().file("view", path=path).ok()
    assert viewed["text"] == "     1\tFirst line.\n     2\tBetween.\n     3\tLast line.\n     4\t"
    ranged = tools().file("view", path=path, view_range=[2, 3]).ok()
    assert ranged["text"] == "     2\tBetween.\n     3\tLast line."
    history = api("ann", "GET", f"/api/memories/{made['memory_id']}/revisions").ok()["items"]
    assert [row["action"] for row in history] == ["create", "revise", "revise"]


def test_a_folder_lists_what_lies_below_it(tools):
    top = f"/memories/folder-{next(_NAMES)}"
    paths = [created(tools, path=f"{top}/{name}") for name in ("b.md", "a.md", "deep/c.md")]

    viewed = tools().file("view", path=f"{top}/").ok()

    assert [row["path"] for row in viewed["files"]] == sorted(paths)
    tools().file("view", path=top, view_range=[1, 2]).refused(422, "invalid-request")
    tools().file("view", path=f"{top}/deeper").refused(404, "not-found")
    for path in (top, f"{paths[0]}/below"):
        tools().file("create", path=path, file_text=text()).refused(422, "invalid-request")


def test_a_file_that_stands_is_replaced_at_its_revision_alone(tools):
    path = created(tools)
    told = tools().file("create", path=path, file_text=text()).refused(412, "revision-conflict")
    assert (told["expected_revision"], told["current_revision"]) == (0, 1)
    tools().file("create", path=path, file_text=text(), revision=7).refused(
        412, "revision-conflict"
    )

    made = tools().file("create", path=path, file_text=text("replaced"), revision=1).ok()

    assert made["revision"] == 2
    assert "Text replaced" in tools().file("view", path=path).ok()["text"]
    tools().file("create", path=fresh(), file_text=text(), revision=1).refused(404, "not-found")


@pytest.mark.parametrize("command", ["str_replace", "insert", "delete", "rename"])
def test_an_edit_of_what_was_viewed_before_another_edit_is_refused(tools, command):
    path = created(tools)
    seen = tools().file("view", path=path).ok()["revision"]
    tools().file("insert", path=path, insert_line=0, insert_text="In between.").ok()
    more = {
        "str_replace": {"path": path, "old_str": "Text", "new_str": "b"},
        "insert": {"path": path, "insert_line": 0, "insert_text": "a"},
        "delete": {"path": path},
        "rename": {"old_path": path, "new_path": fresh()},
    }[command]

    told = tools().file(command, revision=seen, **more).refused(412, "revision-conflict")

    assert told["current_revision"] == 2


def test_of_two_writers_of_one_new_path_one_lands(tools):
    path = fresh()
    barrier = threading.Barrier(4)
    replies = []

    def write(number):
        barrier.wait()
        replies.append(tools().file("create", path=path, file_text=text(f"by-{number}")))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(reply.status for reply in replies) == [200, 412, 412, 412]
    assert tools().file("view", path=path).ok()["revision"] == 1


def test_of_two_editors_of_one_revision_one_lands(tools):
    path = created(tools)
    barrier = threading.Barrier(4)
    replies = []

    def edit(number):
        barrier.wait()
        replies.append(
            tools().file(
                "insert", path=path, insert_line=0, insert_text=f"By {number}.", revision=1
            )
        )

    threads = [threading.Thread(target=edit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(reply.status for reply in replies) == [200, 412, 412, 412]
    assert tools().file("view", path=path).ok()["revision"] == 2


def test_edits_of_different_places_both_land(tools):
    path = created(tools, file_text="One here.\nTwo there.\n")

    for old, new in (("One", "First"), ("Two", "Second")):
        tools().file("str_replace", path=path, old_str=old, new_str=new).ok()

    assert (
        tools().file("view", path=path).ok()["text"].startswith("     1\tFirst here.\n     2\tSec")
    )


@pytest.mark.parametrize("old", ["", "absent", "e"])
def test_a_place_must_be_named_once(tools, old):
    path = created(tools, file_text="One here.\nTwo there.\n")

    told = (
        tools()
        .file("str_replace", path=path, old_str=old, new_str="x")
        .refused(422, "invalid-request")
    )

    assert [fault["pointer"] for fault in told["errors"]] == ["/old_str"]


@pytest.mark.parametrize(
    ("command", "more", "pointer"),
    [
        ("insert", {"insert_line": 9, "insert_text": "x"}, "/insert_line"),
        ("view", {"view_range": [0, 1]}, "/view_range"),
        ("view", {"view_range": [2, 1]}, "/view_range"),
        ("view", {"view_range": [1, 99]}, "/view_range"),
        ("view", {"file_text": "x"}, "/file_text"),
        ("create", {}, "/file_text"),
        ("insert", {"insert_line": 1}, "/insert_text"),
        ("rename", {"new_path": "/memories/x"}, "/old_path"),
        ("delete", {"path": "/memories"}, "/path"),
    ],
)
def test_a_wrong_field_is_pointed_at(tools, command, more, pointer):
    asked = {"path": created(tools, file_text="One here.\nTwo there.\n")} | more

    told = tools().file(command, **asked).refused(422, "invalid-request")

    assert pointer in [fault["pointer"] for fault in told["errors"]]


@pytest.mark.parametrize("file_text", ["", " \n", "a" * 16_385, "a\u202eb", "a\x00b"])
def test_a_text_that_no_entry_can_have_is_refused(tools, file_text):
    told = tools().file("create", path=fresh(), file_text=file_text).refused(422, "invalid-request")

    assert {fault["pointer"] for fault in told["errors"]} == {"/file_text"}


def test_an_edit_may_not_grow_a_file_over_its_limit(tools):
    path = created(tools, file_text="a" * 16_000)

    tools().file("insert", path=path, insert_line=0, insert_text="b" * 400).refused(
        422, "invalid-request"
    )
    assert tools().file("view", path=path).ok()["revision"] == 1


def test_a_deleted_file_leaves_no_word(api, tools):
    path = created(tools, file_text="The thylacine is gone.")
    memory_id = tools().file("view", path=path).ok()["memory_id"]

    gone = tools().file("delete", path=path).ok()

    assert (gone["status"], gone["changed"]) == ("deleted", 1)
    tools().file("view", path=path).refused(404, "not-found")
    assert "thylacine" not in api("ann", "GET", f"/api/memories/{memory_id}").text


def test_a_folder_is_moved_and_deleted_with_its_files(tools):
    old, new = (f"/memories/moving-{next(_NAMES)}" for _ in range(2))
    created(tools, path=f"{old}/a.md", file_text="Kept words about yaks.")
    created(tools, path=f"{old}/deep/b.md")

    moved = tools().file("rename", old_path=old, new_path=new).ok()

    assert (moved["changed"], moved["path"]) == (2, new)
    assert "yaks" in tools().file("view", path=f"{new}/a.md").ok()["text"]
    tools().file("view", path=old).refused(404, "not-found")
    tools().file("rename", old_path=new, new_path=f"{new}/inside").refused(422, "invalid-request")
    taken = created(tools, path=f"/memories/taken-{next(_NAMES)}")
    tools().file("rename", old_path=f"{new}/a.md", new_path=taken).refused(412, "revision-conflict")
    assert tools().file("delete", path=new).ok()["changed"] == 2
    tools().file("view", path=new).refused(404, "not-found")


def test_a_repeated_command_is_done_once(tools):
    path = created(tools)

    def once():
        asked = {"path": path, "insert_line": 0, "insert_text": "Once."}
        return tools().file("insert", key=f"insert-{path}", **asked).ok()

    assert once() == once()
    assert tools().file("view", path=path).ok()["revision"] == 2


def test_a_secret_is_no_part_of_a_path_and_is_replaced_in_a_text(tools):
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    tools().file("create", path=f"/memories/{token}", file_text=text()).refused(
        422, "invalid-request"
    )

    path = created(tools, file_text=f"The token of the yak is {token} today.")

    assert token not in tools().file("view", path=path).ok()["text"]


def test_a_path_in_other_scripts_is_a_path(tools):
    path = f"/memories/笔记-{next(_NAMES)}/Überblick (neu).md"

    assert created(tools, path=path) == path
    assert path in tools().file("view", path="/memories").ok()["text"]


def test_the_protocol_tells_the_words_of_a_file(api, tools):
    path = created(tools, file_text="Only words.")

    result = called(
        api, "ann", "memory", command="view", path=path, project_id=api.project.project_id
    )

    assert result["content"] == [{"type": "text", "text": "     1\tOnly words."}]
    assert result["structuredContent"]["revision"] == 1
