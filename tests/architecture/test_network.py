"""Tests stay on this machine."""

import socket

import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org", "2001:db8::1"])
def test_a_connection_that_leaves_the_machine_is_refused(host):
    with (
        socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as connection,
        pytest.raises(AssertionError, match="must not connect"),
    ):
        connection.connect((host, 443))


def test_a_connection_to_loopback_is_made():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), 5) as connection,
    ):
        assert connection.getpeername() == server.getsockname()
