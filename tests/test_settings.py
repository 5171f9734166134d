"""Which file configures a home, and what it may say."""

import pytest

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.domain.memory import Collection, Kind, Status
from codeflow_memory.domain.retention import OUT_OF_SERVICE, Policy
from codeflow_memory.settings import Settings, load, load_policies

FEW = "[limits]\nfailed_sign_ins = 3\n"


@pytest.fixture
def named(tmp_path):
    """A file elsewhere, beside the one of the home, and the environment that names it."""
    (tmp_path / "config.toml").write_text("[limits]\nfailed_sign_ins = 7\n")
    file = tmp_path / "elsewhere" / "other.toml"
    file.parent.mkdir()
    file.write_text(FEW)
    return file, {"CODEFLOW_CONFIG": str(file)}


def test_the_file_that_the_variable_names_is_read_and_that_of_the_home_is_not(named, tmp_path):
    _, environment = named

    assert load(tmp_path, environment).limits.failed_sign_ins == 3
    assert load(tmp_path, {}).limits.failed_sign_ins == 7
    assert load(tmp_path, {"CODEFLOW_CONFIG": ""}).limits.failed_sign_ins == 7


def test_the_environment_of_the_process_is_the_one_that_names_it(named, tmp_path, monkeypatch):
    monkeypatch.setenv("CODEFLOW_CONFIG", str(named[0]))

    assert load(tmp_path).limits.failed_sign_ins == 3


def test_a_file_that_is_named_must_be_there_and_that_of_the_home_need_not(named, tmp_path):
    file, environment = named
    file.unlink()
    (tmp_path / "config.toml").unlink()

    with pytest.raises(InvalidRequestError, match="CODEFLOW_CONFIG: no such file"):
        load(tmp_path, environment)

    assert load(tmp_path, {}) == Settings()


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("nonsense", "other.toml"),
        ("[limits]\nfailed_sign_ins = 0\n", "other.toml/limits/failed_sign_ins"),
        ("[odd]\n", "other.toml/odd"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(named, tmp_path, text, pointer):
    file, environment = named
    file.write_text(text)

    with pytest.raises(InvalidRequestError) as refused:
        load(tmp_path, environment)

    assert [fault.pointer for fault in refused.value.faults] == [pointer]


AGE = "older_than_days = 30"


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("[retention]\nolder_than_days = 30\n", "retention"),
        ("[[retention]]\nstatus = 'rejected'\n", "retention/0"),
        (f"[[retention]]\n{AGE}\n[[retention]]\nkind = 'fact'\n", "retention/1"),
        (f"[[retention]]\n{AGE}\nyounger = 1\n", "retention/0/younger"),
        (f"[[retention]]\n{AGE}\napply = true\n", "retention/0/apply"),
        ("[[retention]]\nolder_than_days = 0\n", "retention/0/older_than_days"),
        ("[[retention]]\nolder_than_days = -1\n", "retention/0/older_than_days"),
        ("[[retention]]\nolder_than_days = 36501\n", "retention/0/older_than_days"),
        ("[[retention]]\nolder_than_days = 1.5\n", "retention/0/older_than_days"),
        ("[[retention]]\nolder_than_days = '30'\n", "retention/0/older_than_days"),
        ("[[retention]]\nunused_days = true\n", "retention/0/unused_days"),
        (f"[[retention]]\n{AGE}\nkind = 'facts'\n", "retention/0/kind/0"),
        (f"[[retention]]\n{AGE}\nkind = ['fact', 3]\n", "retention/0/kind/1"),
        (f"[[retention]]\n{AGE}\nstatus = []\n", "retention/0"),
        (f"[[retention]]\n{AGE}\nstatus = 'deleted'\n", "retention/0"),
        (f"[[retention]]\n{AGE}\ncollection = 'public'\n", "retention/0/collection/0"),
    ],
)
def test_a_wrong_policy_is_refused_where_it_is_wrong(tmp_path, text, pointer):
    for name, read in (("config.toml", load), ("some.toml", None)):
        (tmp_path / name).write_text(text)
        with pytest.raises(InvalidRequestError) as refused:
            read(tmp_path, {}) if read else load_policies(tmp_path / name)
        pointers = {fault.pointer for fault in refused.value.faults}
        assert pointers == {f"{name}/{pointer}"}


def test_a_file_of_policies_has_policies_and_nothing_else(tmp_path):
    file = tmp_path / "some.toml"

    for text, pointer in (("", "/retention"), ("retention = []", ""), ("a = 1", "/a")):
        file.write_text(text)
        with pytest.raises(InvalidRequestError) as refused:
            load_policies(file)
        assert f"some.toml{pointer}" in {fault.pointer for fault in refused.value.faults}
    file.write_bytes(b"\xff")
    with pytest.raises(InvalidRequestError, match="cannot be read as a file of UTF-8 text"):
        load_policies(file)
    with pytest.raises(InvalidRequestError, match=r"some\.toml: cannot be read"):
        load_policies(tmp_path / "nowhere" / "some.toml")


def test_a_policy_is_read_with_a_word_or_a_list(tmp_path):
    (tmp_path / "config.toml").write_text(
        f"[[retention]]\n{AGE}\n[[retention]]\nunused_days = 7\ncollection = 'private'\n"
        "kind = ['fact', 'trace']\nstatus = 'accepted'\n"
    )

    assert load(tmp_path, {}).policies() == (
        Policy(frozenset(), frozenset(), OUT_OF_SERVICE, 30, None),
        Policy(
            frozenset({Collection.PRIVATE}),
            frozenset({Kind.FACT, Kind.TRACE}),
            frozenset({Status.ACCEPTED}),
            None,
            7,
        ),
    )
    assert load_policies(tmp_path / "config.toml") == load(tmp_path, {}).policies()


def test_a_file_that_nests_too_deep_is_refused(tmp_path):
    (tmp_path / "config.toml").write_text("a=" + "[" * 20_000)

    with pytest.raises(InvalidRequestError, match="nested too deep"):
        load(tmp_path, {})
