"""CODEOWNERS read from the default branch."""

import pytest

from codeflow_memory.adapters.codeowners import read_codeowners
from codeflow_memory.adapters.git import open_repository
from codeflow_memory.domain.codeowners import owners_of
from codeflow_memory.domain.errors import InvalidRequestError


def owners(g):
    return owners_of(read_codeowners(open_repository(g.path)), "src/a.py")


def test_before_the_first_commit_nothing_can_be_told(git):
    with pytest.raises(InvalidRequestError):
        owners(git())


@pytest.mark.parametrize("content", [b"* @\xff\n", b"# long\n" * 500_000])
def test_a_file_that_cannot_be_read_is_not_an_empty_one(git, content):
    g = git()
    g.save({"CODEOWNERS": content})

    with pytest.raises(InvalidRequestError):
        owners(g)


def test_a_link_in_the_place_of_the_file_is_not_an_absent_file(git):
    g = git()
    g.save({"owners.txt": "* @a\n", "docs/CODEOWNERS": "* @docs\n"})
    (g.path / "CODEOWNERS").symlink_to("owners.txt")
    g.save({})

    with pytest.raises(InvalidRequestError):
        owners(g)


def test_without_a_file_nothing_is_owned(git):
    g = git()
    g.save({"src/a.py": "x\n"})

    assert owners(g) == ()


def test_the_first_location_counts(git):
    g = git()
    g.save({"docs/CODEOWNERS": "* @docs\n"})
    assert owners(g) == ("@docs",)

    g.save({"CODEOWNERS": "* @root\n"})
    assert owners(g) == ("@root",)

    g.save({".github/CODEOWNERS": "\ufeff* @github\n"})
    assert owners(g) == ("@github",)


def test_another_branch_and_the_working_tree_do_not_count(git):
    g = git()
    g.save({"CODEOWNERS": "* @main\n"})
    g("checkout", "-q", "-b", "topic")
    g.save({"CODEOWNERS": "* @topic\n"})
    g.write({"CODEOWNERS": "* @tree\n"})

    assert owners(g) == ("@main",)
