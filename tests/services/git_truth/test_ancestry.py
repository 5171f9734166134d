"""Ancestry: entries for a commit and what follows it, in a selection for a head."""

import pytest

from codeflow_memory.domain.selection import Request
from codeflow_memory.services import selections


@pytest.fixture
def history(site):
    """Return commits by name: ``old`` is in both lines, ``main`` and ``topic`` in one each."""
    old = site.git.save({"a": "1"})
    site.git("checkout", "-q", "-b", "topic")
    topic = site.git.save({"b": "1"})
    site.git("checkout", "-q", "main")
    main = site.git.save({"c": "1"})
    return {"old": old, "topic": topic, "main": main}


def chosen(site, **more):
    request = Request(**more)
    made = selections.create(site.store, site.ann, site.project.project_id, None, request)
    found = {entry["memory_id"] for entry in made.record["entries"]}
    return found, made.record["filters"]["ancestry"], made.record["filters"]["removed"]["branch"]


def entry(site, *branches):
    return site.accepted(branches=list(branches)).memory_id


def test_an_entry_applies_where_its_commit_is_the_head_or_an_ancestor(site, history):
    by_name = {name: entry(site, f"commit:{commit}") for name, commit in history.items()}
    always = entry(site)

    on_main = chosen(site, branch="main", head=history["main"])
    on_topic = chosen(site, branch="topic", head=history["topic"])
    before = chosen(site, branch="main", head=history["old"])

    assert on_main == ({always, by_name["old"], by_name["main"]}, "known", 1)
    assert on_topic == ({always, by_name["old"], by_name["topic"]}, "known", 1)
    assert before == ({always, by_name["old"]}, "known", 2)


def test_a_commit_that_the_repository_does_not_have_is_no_ancestor(site, history):
    absent = entry(site, "commit:" + "f" * 40)

    found, ancestry, removed = chosen(site, branch="main", head=history["main"])

    assert (absent in found, ancestry, removed) == (False, "known", 1)


def test_one_of_several_items_is_enough(site, history):
    either = entry(site, f"commit:{history['topic']}", "main")

    assert either in chosen(site, branch="main", head=history["main"])[0]
    assert either in chosen(site, branch="other", head=history["topic"])[0]
    assert either not in chosen(site, branch="other", head=history["main"])[0]


def test_without_a_head_nothing_can_be_told_and_everything_stays(site, history):
    there = entry(site, f"commit:{history['topic']}")

    assert chosen(site, branch="main") == ({there}, "unknown", 0)


@pytest.mark.parametrize("head", ["f" * 40, "unreadable"])
def test_what_git_cannot_tell_stays_and_the_manifest_says_so(site, history, head):
    there = entry(site, f"commit:{history['topic']}")
    if head == "unreadable":
        head = history["main"]
        site.unreadable()

    assert chosen(site, branch="main", head=head) == ({there}, "unknown", 0)


def test_no_question_is_asked_when_no_entry_names_a_commit(site, history):
    there = entry(site, "main")
    site.unreadable()

    assert chosen(site, branch="main", head=history["main"]) == ({there}, "not-needed", 0)


def test_the_cut_history_of_a_shallow_clone_tells_nothing(site, history, roots):
    there = entry(site, f"commit:{history['old']}")
    site.git.path.rename(roots / "whole")
    site.git.path = roots / "whole"
    site.git("clone", "-q", "--depth=1", f"file://{roots}/whole", roots / "repo")

    assert chosen(site, branch="main", head=history["main"]) == ({there}, "unknown", 0)


def test_a_worktree_is_asked_where_it_is_the_only_checkout(site, history, roots):
    there = entry(site, f"commit:{history['topic']}")
    worktree = roots / "tree"
    site.git("worktree", "add", "-q", worktree, "topic")
    site.world.repository(key="app", paths=(str(worktree),))

    assert chosen(site, branch="topic", head=history["topic"])[0] == {there}
    assert chosen(site, branch="main", head=history["main"])[0] == set()


def test_what_another_may_see_is_never_asked_for_the_caller(site, history):
    """An entry of somebody else that names a commit does not show in the manifest."""
    site.write(site.bob, branches=[f"commit:{history['topic']}"])

    found, ancestry, removed = chosen(site, branch="main", head=history["main"])

    assert (found, ancestry, removed) == (set(), "not-needed", 0)
