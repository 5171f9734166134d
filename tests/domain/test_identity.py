"""What a repository is known by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeflow_memory.domain.identity import normalise_remote


@pytest.mark.parametrize(
    "address",
    [
        "",
        "   ",
        "/srv/git/app.git",
        "../app",
        "./app.git",
        "~/app",
        "app",
        "app.git",
        "file:///srv/git/app.git",
        "ext::sh -c touch% x",
        "ext::touch",
        "C:/work/app",
        "C:\\work\\app",
        "\\\\server\\share\\app",
        "https://",
        "https:///app",
        "https://example.org",
        "https://example.org/",
        "https://example.org/.git",
        "https://example.org/a/../b",
        "https://example.org/a b",
        "ssh://-oProxyCommand=x/app",
        "git@-oProxyCommand=x:app",
        "https://example.org/a\nb",
        "x" * 3000,
    ],
)
def test_what_names_no_place_on_the_network_is_no_identity(address):
    assert normalise_remote(address) is None


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/acme/app",
        "https://github.com/acme/app.git",
        "https://github.com/acme/app.git/",
        "https://GitHub.com:443/acme/app",
        "https://user:secret@github.com/acme/app.git",
        "http://github.com//acme//app/",
        "git://github.com/acme/app.git",
        "ssh://git@github.com/acme/app.git",
        "ssh://git@github.com:22/acme/app.git",
        "git+ssh://git@github.com/acme/app.git",
        "git@github.com:acme/app.git",
        "git@GITHUB.COM:/acme/app",
        "github.com:acme/app",
        "github.com/acme/app",
        "  https://github.com./acme/app.git?token=secret#readme ",
    ],
)
def test_all_ways_to_write_one_address_are_one_identity(address):
    assert normalise_remote(address) == "github.com/acme/app"


def test_the_case_of_the_path_and_the_host_are_told_apart():
    assert normalise_remote("https://Example.org/Acme/App") == "example.org/Acme/App"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("ssh://git@gitserver:2222/team/app.git", "gitserver:team/app"),
        ("git@gitserver:team/app.git", "gitserver:team/app"),
        ("ssh://git@[2001:DB8::1]:22/app.git", "[2001:db8::1]/app"),
        ("git@[2001:db8::1]:app.git", "[2001:db8::1]/app"),
        ("ssh://host.example/~user/app", "host.example/~user/app"),
        ("https://example.org/a.git/b.git.git", "example.org/a.git/b"),
    ],
)
def test_unusual_hosts(address, expected):
    assert normalise_remote(address) == expected


_PIECES = st.lists(
    st.sampled_from(
        ["https://", "ssh://", "ext::", "git@", "u:p@", "a.b", "A", "::1", "[", "]", ":", "/"]
    )
    | st.sampled_from(["..", ".git", ".", "?", "#", "~", "22", "é", "\\", " ", "//"]),
    max_size=12,
).map("".join)


@given(_PIECES | st.text(max_size=40))
def test_an_identity_is_its_own_identity(address):
    once = normalise_remote(address)

    assert once is None or normalise_remote(once) == once


@given(
    st.from_regex(r"[a-z][a-z0-9]{0,8}\.[a-z]{2,4}", fullmatch=True),
    st.from_regex(r"[A-Za-z0-9_-]{1,8}/[A-Za-z0-9_-]{1,8}", fullmatch=True),
)
def test_ssh_and_https_are_the_same(host, path):
    written = [f"https://{host}/{path}.git", f"git@{host}:{path}", f"ssh://x@{host}:22/{path}/"]

    assert {normalise_remote(address) for address in written} == {f"{host}/{path}"}
