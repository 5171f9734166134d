"""Schemas: how tenants are called in PostgreSQL, whose they are, and which roles are taken."""

import hashlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.domain.tenant import is_slug
from codeflow_memory.storage.schemas import Schemas, schema_of

from ..postgresql import USER
from .conftest import fill

SLUGS = st.from_regex(r"[a-z0-9][a-z0-9-]{0,62}", fullmatch=True)
LONG = st.from_regex(r"[a-z0-9][a-z0-9-]{58,62}", fullmatch=True)


@pytest.fixture
def database(cluster):
    name = cluster.make()
    yield name
    cluster.drop(name)


@pytest.fixture
def schemas(cluster, database):
    made = Schemas(cluster.url(database))
    yield made
    made.close()


@pytest.fixture
def role(cluster):
    """Run statements on a role as the superuser; it is gone after the test."""
    made = []

    def make(name, *statements):
        made.append(name)
        for statement in statements:
            cluster.sql(statement)

    yield make
    for name in reversed(made):
        cluster.sql(f'DROP ROLE IF EXISTS "{name}"')


@given(st.one_of(SLUGS, LONG))
@example("a" * 59)
@example("a" * 60)
@example("a" * 63)
def test_a_name_is_never_cut_and_says_what_it_is_of(slug):
    name = schema_of(slug)

    assert is_slug(slug)
    assert len(name.encode()) <= 63
    if len(slug) <= 59:
        assert name == f"cfm_{slug}"
    else:
        assert name == f"cfm_{slug[:42]}_{hashlib.sha256(slug.encode()).hexdigest()[:16]}"


@given(st.lists(LONG | SLUGS, unique=True, max_size=8), st.text("abc-", min_size=18, max_size=21))
def test_two_tenants_never_share_a_name(slugs, tail):
    """A shortened name has an underscore, as no slug has, and the digest of all of it."""
    slugs = {*slugs, *(f"{slug[:42]:x<42}{tail}" for slug in slugs)}

    assert len({schema_of(slug) for slug in slugs}) == len(slugs)


def test_a_tenant_whose_name_is_shortened_is_like_any_other(schemas):
    first, second = "a" * 62 + "b", "a" * 62 + "c"
    for slug in (first, second):
        schemas.create(slug, fill)

    assert schemas.slugs() == [first, second]
    with schemas.engine(first).write() as tx:
        tx.execute("DELETE FROM repositories")
        assert tx.value("SELECT current_schema()") == schema_of(first)
    with schemas.engine(second).read() as tx:
        assert tx.value("SELECT COUNT(*) FROM repositories") == 3
        assert {table.name for table in tx.tables()} >= {"store", "memories"}


@pytest.mark.parametrize(
    "comment", [None, "", "birch", "Ash", "ash; DROP", "cfm_ash", "local", "a" * 60]
)
def test_a_schema_that_says_it_is_another_tenants_is_not_listed(
    cluster, schemas, database, comment
):
    schemas.create("oak", fill)
    cluster.sql(f"CREATE SCHEMA cfm_ash AUTHORIZATION {USER}", database)
    if comment is not None:
        cluster.sql(f"COMMENT ON SCHEMA cfm_ash IS '{comment}'", database)

    assert schemas.slugs() == ["oak"]
    with pytest.raises(FileExistsError):
        schemas.create("ash", fill)


def test_a_schema_of_a_role_that_is_not_ours_is_not_listed_and_not_opened(
    cluster, schemas, database, role
):
    role("cfm_elm", "CREATE ROLE cfm_elm")
    cluster.sql("CREATE SCHEMA cfm_elm AUTHORIZATION cfm_elm", database)
    cluster.sql("COMMENT ON SCHEMA cfm_elm IS 'elm'", database)
    try:
        assert schemas.slugs() == []
        assert schemas.exists("elm")
        with pytest.raises(StoreUnusableError, match="tenant elm: its schema or role"):
            schemas.engine("elm").versions()
        with pytest.raises(FileExistsError):
            schemas.create("elm", fill)
    finally:
        cluster.sql("DROP SCHEMA cfm_elm", database)


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE ROLE cfm_yew LOGIN",),
        ("CREATE ROLE cfm_yew SUPERUSER",),
        ("CREATE ROLE cfm_yew BYPASSRLS",),
        ("CREATE ROLE cfm_yew CREATEROLE",),
        ("CREATE ROLE cfm_yew CREATEDB",),
        ("CREATE ROLE cfm_yew REPLICATION",),
        ("CREATE ROLE cfm_yew", "GRANT pg_read_all_data TO cfm_yew"),
        ("CREATE ROLE cfm_yew", "CREATE ROLE stranger LOGIN", "GRANT cfm_yew TO stranger"),
        ("CREATE ROLE cfm_yew", "GRANT cfm_yew TO postgres"),
    ],
)
def test_a_role_that_others_act_as_or_that_can_more_is_not_taken(schemas, role, statements):
    role("stranger")
    role("cfm_yew", *statements)

    with pytest.raises(StoreUnusableError, match=r"tenant yew: its schema or role .* not ours"):
        schemas.create("yew", fill)

    assert not schemas.exists("yew")


@pytest.mark.parametrize(
    "statements",
    [("CREATE ROLE cfm_fir",), ("CREATE ROLE cfm_fir", f"GRANT cfm_fir TO {USER}")],
)
def test_a_role_that_is_left_of_a_tenant_that_went_is_taken(schemas, role, statements):
    role("cfm_fir", *statements)

    schemas.create("fir", fill)

    assert schemas.slugs() == ["fir"]
    with schemas.engine("fir").write() as tx:
        tx.execute("DROP SCHEMA cfm_fir CASCADE")


def test_a_login_that_is_a_superuser_makes_tenants_that_can_no_more(cluster, database, role):
    role("cfm_ivy")
    made = Schemas(cluster.url(database, "postgres"))
    try:
        made.create("ivy", fill)

        assert made.slugs() == ["ivy"]
        with made.engine("ivy").read() as tx:
            assert tx.value("SELECT current_user = 'cfm_ivy'") == 1
            assert tx.value("SELECT current_setting('is_superuser')") == "off"
        with made.engine("ivy").write() as tx:
            tx.execute("DROP SCHEMA cfm_ivy CASCADE")
    finally:
        made.close()


def test_a_role_that_was_made_can_do_nothing_beyond_its_schema(schemas, cluster):
    schemas.create("oak", fill)

    (row,) = cluster.sql(
        """
        SELECT rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication,
               (SELECT COUNT(*) FROM pg_auth_members WHERE member = r.oid),
               (SELECT string_agg(m.member::regrole::text, ',') FROM pg_auth_members AS m
                 WHERE m.roleid = r.oid)
          FROM pg_roles AS r
         WHERE rolname = 'cfm_oak'
        """
    )

    assert row == (False,) * 6 + (0, USER)
