"""``erase`` as a process: its exit codes and its receipt."""


def test_a_principal_is_erased_once_and_the_receipt_has_no_name(cli):
    assert cli("erase", "--principal", "quintilla").code == 4
    cli("tenant", "create", "birch").ok()
    make = ("token", "create", "--kind", "user", "--principal")
    cli(*make, "owner 2", "--role", "owner").ok()
    text = cli(*make, "quintilla", "--role", "reader").ok().out.strip()

    assert cli("erase", "--principal", "owner", "--yes").code == 3
    assert cli("erase", "--principal", "quintilla", "--yes", CODEFLOW_TOKEN=text).code == 3
    assert cli("erase", "--principal", "nobody", "--yes").code == 4
    assert cli("erase", "--principal", "quintilla").code == 2
    tried = cli("erase", "--principal", "quintilla", "--dry-run", "--json").ok().json
    assert tried == {
        "counts": {"memories": 0, "selections": 0, "tokens": 1, "attributed": 0},
        "dry_run": True,
    }
    done = cli("erase", "--principal", "quintilla", "--yes", "--json").ok()
    assert "quintilla" not in done.out + done.err
    assert (done.json["counts"], done.json["erased_at"] is None) == (tried["counts"], False)
    assert done.json["pseudonym"].startswith("prn_")
    assert cli("erase", "--principal", "quintilla", "--yes").code == 4
    assert cli("audit", "verify").ok()
    files = [p.read_bytes() for p in cli.home.rglob("*") if p.is_file()]
    assert not any(b"quintilla" in data for data in files)
