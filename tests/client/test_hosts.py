"""The token goes to the server that was named, and nowhere else."""

import pytest

from codeflow_memory_client import Client, ConnectionLostError, Retry, UnexpectedAnswerError

from .breaking import Breaking, answer, field

ONCE = Retry(tries=1)


@pytest.fixture
def other(served):
    made = Breaking(served.port)
    yield made
    made.close()


@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P", "300 C"])
def test_a_redirection_is_not_followed(connect, proxy, other, status):
    proxy.arm(answer(status, f"Location: {other.url}/api/status"))

    with pytest.raises(UnexpectedAnswerError) as refused:
        connect(proxy.url).get_status()

    assert str(refused.value.status) == status[:3]
    assert (len(proxy.heads), other.heads) == (1, [])


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_proxy_of_the_environment_gets_nothing(connect, proxy, other, monkeypatch, name):
    monkeypatch.setenv(name, other.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    assert "version" in connect(proxy.url).get_status()
    assert (len(proxy.heads), other.heads) == (1, [])


def test_credentials_of_the_environment_do_not_take_the_tokens_place(
    connect, proxy, token, tmp_path, monkeypatch
):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login ann password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))

    connect(proxy.url).get_status()

    assert field(proxy.heads[0], b"authorization") == f"Bearer {token}".encode()


def test_a_path_that_looks_like_another_host_stays_on_this_one(connect, proxy, other):
    client = connect(f"{proxy.url}//{other.url.removeprefix('http://')}")
    proxy.arm(answer("200 OK", body="[]"))

    with pytest.raises(UnexpectedAnswerError):
        client.get_status()

    assert (len(proxy.heads), other.heads) == (1, [])


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8787",
        "ftp://127.0.0.1",
        "http://",
        "http://127.0.0.1:0",
        "http://127.0.0.1:99999",
        "http://ann:secret@127.0.0.1",
        "http://127.0.0.1/?token=x",
        "http://127.0.0.1/#x",
    ],
)
def test_what_names_no_server_is_refused(connect, url):
    with pytest.raises(ValueError, match="a server is given as"):
        connect(url)


@pytest.mark.parametrize("bad", ["", "a b", "a\r\nX: y", "a\n", "ä", "\x00"])
def test_a_token_that_would_break_its_header_is_refused_and_not_quoted(connect, served, bad):
    with pytest.raises(ValueError, match="a token is visible ASCII characters"):
        connect(served.url, bad)


@pytest.mark.parametrize("body", ["<html>", "[]", '"text"', "{"])
def test_what_is_no_answer_of_the_api_is_said_to_be_none(connect, proxy, body):
    proxy.arm(answer("200 OK", body=body))

    with pytest.raises(UnexpectedAnswerError, match="none of Code Flow Memory's"):
        connect(proxy.url).get_status()


def test_nothing_that_is_said_or_shown_has_the_token(proxy, token):
    client = Client(proxy.url, token, retry=ONCE)
    proxy.arm(answer("401 Unauthorized", body="{}"))
    with pytest.raises(UnexpectedAnswerError) as refused:
        client.get_status()
    proxy.close()
    with pytest.raises(ConnectionLostError) as lost:
        Client(proxy.url, token, retry=ONCE).get_status()

    assert token not in f"{client!r} {refused.value!r} {lost.value!r} {vars(lost.value)}"
    client.close()
