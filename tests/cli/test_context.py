"""Which home, server and credential a command line means (08 §1)."""

import click
import pytest

from codeflow_memory.cli.context import Context


def context(tmp_path, environment=None, **options):
    made = Context({"HOME": str(tmp_path), **(environment or {})})
    for name, value in options.items():
        made.choose(name, value)
    return made


URL = {"CODEFLOW_URL": "http://127.0.0.1:1"}


def test_an_option_wins_over_a_variable_and_the_server_over_the_home(tmp_path):
    home = {"CODEFLOW_HOME": str(tmp_path / "of variable")}

    assert context(tmp_path, {**URL, **home}).url == "http://127.0.0.1:1"
    assert context(tmp_path, {**URL, **home}).home is None
    assert context(tmp_path, home).home.path == tmp_path / "of variable"
    assert context(tmp_path, URL, home=str(tmp_path / "a")).url is None
    assert context(tmp_path, URL, home=str(tmp_path / "a")).home.path == tmp_path / "a"
    assert context(tmp_path, {**URL, **home}, url="http://[::1]:2/").url == "http://[::1]:2"


@pytest.mark.parametrize("name", ["memory.json", "memory.sqlite"])
@pytest.mark.parametrize("option", ["home", "database"])
def test_the_path_of_a_database_or_document_means_its_folder(tmp_path, option, name):
    assert context(tmp_path, **{option: str(tmp_path / "h" / name)}).home.path == tmp_path / "h"


@pytest.mark.parametrize("option", ["home", "database"])
def test_an_empty_path_is_not_the_current_folder(tmp_path, option):
    with pytest.raises(click.UsageError):
        context(tmp_path, **{option: ""})


def test_url_and_home_together_are_wrong_usage_in_any_order(tmp_path):
    for first, second in (("url", "home"), ("home", "url"), ("url", "database")):
        values = {"url": "http://127.0.0.1:1", "home": str(tmp_path), "database": str(tmp_path)}
        made = context(tmp_path, **{first: values[first]})
        with pytest.raises(click.UsageError):
            made.choose(second, values[second])


@pytest.mark.parametrize("url", ["", "127.0.0.1:1", "http://", "file:///x", "http://a:99999"])
def test_what_is_no_server_is_refused(tmp_path, url):
    with pytest.raises(click.UsageError):
        context(tmp_path, url=url)


def test_the_token_file_wins_over_the_variable(tmp_path):
    file = tmp_path / "token file"
    file.write_text("cfm_local_a_b\n")
    given = {"CODEFLOW_TOKEN": " cfm_local_c_d "}

    assert context(tmp_path, {**URL, **given}).token == "cfm_local_c_d"  # noqa: S105 - of the test
    assert context(tmp_path, {**URL, **given}, token_file=str(file)).token == "cfm_local_a_b"  # noqa: S105 - of the test
    assert context(tmp_path, given).token == "cfm_local_c_d"  # noqa: S105 - of the test
    assert context(tmp_path).token is None


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe"])
def test_a_token_file_without_a_token_is_wrong_usage(tmp_path, content):
    file = tmp_path / "token"
    file.write_bytes(content)

    with pytest.raises(click.UsageError):
        _ = context(tmp_path, token_file=str(file)).token


def test_a_homes_own_token_goes_to_no_server_that_does_not_hold_the_home(tmp_path):
    """A file left by a server that is gone names a port that anybody may listen on now."""
    (tmp_path / "token").write_text("cfm_local_a_b")
    (tmp_path / "server").write_text("http://127.0.0.1:1")

    assert context(tmp_path, {**URL, "CODEFLOW_HOME": str(tmp_path)}).token is None


@pytest.mark.parametrize("option", ["home", "database"])
def test_the_folder_of_a_user_whom_nobody_knows_is_wrong_usage(option):
    with pytest.raises(click.UsageError, match=r"~no-such-user/x: no user has that folder"):
        Context({}).choose(option, "~no-such-user/x")
    with pytest.raises(click.UsageError, match="no user"):
        _ = Context({"CODEFLOW_HOME": "~no-such-user/x"}).home
