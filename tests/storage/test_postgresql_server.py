"""A server of its own, by the network: passwords, certificates, and one that only reads."""

import ipaddress
import os
import shutil
import traceback
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from codeflow_memory.domain.errors import StoreUnusableError, UnreachableError
from codeflow_memory.storage.schemas import Schemas

from ..postgresql import USER, Cluster
from .conftest import fill

PASSWORD = "p%40ss%3Aw%2Frd"  # noqa: S105 - of a scratch server
"""As it stands in an address."""

WRONG = "wrong-w0rd"

HBA = """
local   all all           trust
hostssl all all 127.0.0.1/8 scram-sha-256
"""


def certify(folder, address) -> None:
    """Write a key and a certificate for *address* that nobody else signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, address)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "server.crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = folder / "server.key"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    private.chmod(0o600)
    if os.getuid() == 0:
        shutil.chown(private, folder.owner())


@pytest.fixture(scope="module")
def address():
    """One of this machine's own addresses that no other process of the tests takes."""
    return f"127.{77 + (os.getpid() >> 16) % 100}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"


@pytest.fixture(scope="module")
def settings(address):
    return f"listen_addresses={address}", "ssl=on"


@pytest.fixture(scope="module")
def own(address, settings):
    """A server that wants passwords and TLS of whom it does not know."""
    made = Cluster()
    made.start()
    made.stop("fast")
    certify(made.data, address)
    (made.data / "pg_hba.conf").write_text(HBA)
    made.start(*settings)
    made.sql(f"ALTER ROLE {USER} PASSWORD 'p@ss:w/rd'")
    yield made
    made.remove()


@pytest.fixture(scope="module")
def database(own):
    name = own.make()
    made = Schemas(own.url(name))
    made.create("ash", fill)
    made.close()
    return name


@pytest.fixture
def by_network(database, address):
    made = []

    def make(password: str = PASSWORD, options: str = "", server: str | None = None) -> Schemas:
        secret = f":{password}" if password else ""
        place = server or address
        made.append(Schemas(f"postgresql://{USER}{secret}@{place}/{database}?{options}"))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize("password", ["", WRONG])
def test_a_wrong_password_or_none_is_refused_and_not_repeated(by_network, address, password):
    with pytest.raises(StoreUnusableError, match="the login is refused") as refused:
        by_network(password).slugs()

    assert address not in str(refused.value)
    assert not password or password not in str(refused.value)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    "options", ["sslmode=disable", "sslmode=verify-full&sslrootcert=/nowhere/root.crt"]
)
def test_a_connection_that_is_not_as_one_side_wants_it_is_refused(by_network, options):
    with pytest.raises(StoreUnusableError, match="the login is refused"):
        by_network(options=options).slugs()


def test_a_certificate_of_somebody_else_is_refused(by_network, tmp_path, address):
    certify(tmp_path, address)

    with pytest.raises(StoreUnusableError, match="the login is refused"):
        by_network(options=f"sslmode=verify-full&sslrootcert={tmp_path}/server.crt").slugs()


def test_password_and_certificate_of_the_address_are_used(by_network, own, tmp_path):
    root = shutil.copy(own.data / "server.crt", tmp_path)
    made = by_network(options=f"sslmode=verify-full&sslrootcert={root}")

    assert made.slugs() == ["ash"]
    with made.engine("ash").read() as tx:
        assert tx._connection.pgconn.ssl_in_use
        assert "p@ss" not in repr(tx._connection)
    assert PASSWORD not in f"{made!r} {made.engine('ash')!r} {made.address!r}"


def test_of_several_servers_the_one_that_answers_is_used(by_network, address):
    assert by_network(server=f"127.0.0.1:1,{address}:5432").slugs() == ["ash"]


@pytest.fixture
def standby(own, settings):
    """The server as a standby, which answers and writes nothing."""
    own.stop("fast")
    marker = own.data / "standby.signal"
    marker.touch()
    own.start(*settings)
    yield own
    own.stop("fast")
    marker.unlink()
    own.start(*settings)


def test_a_server_that_only_reads_is_said_to_and_still_reads(standby, database):
    made = Schemas(standby.url(database))
    try:
        with made.engine("ash").read() as tx:
            assert tx.value("SELECT COUNT(*) FROM repositories") == 3
        for write in (made.engine("ash").write().__enter__, lambda: made.create("oak", fill)):
            with pytest.raises(StoreUnusableError, match="the server is read only"):
                write()
        assert made.slugs() == ["ash"]
    finally:
        made.close()


def test_a_server_that_reads_only_is_passed_over_for_its_primary(standby, database):
    made = Schemas(f"{standby.url(database)}&target_session_attrs=read-write")

    with pytest.raises(UnreachableError):
        made.slugs()


def test_a_server_that_goes_and_comes_back_is_used_without_more_ado(own, database, settings):
    made = Schemas(own.url(database))
    engine = made.engine("ash")
    with engine.read() as tx:
        assert tx.value("SELECT 1") == 1

    own.stop("immediate")
    for opening in (engine.read, engine.write):
        with pytest.raises(UnreachableError), opening():
            pass
    own.start(*settings)

    with engine.write() as tx:
        assert tx.value("SELECT COUNT(*) FROM repositories") == 3
    made.close()


def test_neither_a_log_nor_a_traceback_has_the_password(by_network, caplog):
    caplog.set_level("DEBUG")
    with pytest.raises(StoreUnusableError) as refused:
        by_network(WRONG).slugs()

    shown = "".join(traceback.format_exception(refused.value)) + caplog.text
    assert WRONG not in shown
    by_network().slugs()
    assert "p@ss" not in caplog.text
