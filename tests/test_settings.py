"""Which file configures a home, and what it may say."""

import pytest

from codeflow_memory.domain.errors import InvalidRequestError
from codeflow_memory.settings import Settings, load

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
