"""``memory trust report``: what became of what was accepted with each trust."""

import pytest

pytestmark = pytest.mark.usefixtures("decided")


@pytest.fixture
def decided(cli, repository):
    """Guidance of which one piece was accepted and sent back."""
    cli("learn", repository.path).ok()
    (first, second) = cli("review", "--json").json["items"]
    cli("review", "accept", first["id"], second["id"]).ok()
    cli("review", "reject", second["id"], "--reason", "wrong").ok()


def test_what_is_not_there_has_no_report(cli):
    done = cli("memory", "trust", "report", "--repo", "absent")

    assert (done.code, done.out) == (4, "")


def test_the_bands_are_told_with_what_became_of_them(cli):
    bands = cli("memory", "trust", "report", "--json").ok().json["bands"]

    (band,) = [b for b in bands if b["accepted"]]
    assert band == {
        "least": 6_000,
        "most": 6_999,
        "accepted": 2,
        "rejected": 1,
        "corrected": 0,
        "confirmed": 0,
        "unresolved": 1,
    }
    table = cli("memory", "trust", "report").ok().out.splitlines()
    assert table[0].split() == [
        "TRUST", "ACCEPTED", "REJECTED", "CORRECTED", "CONFIRMED", "UNRESOLVED",
    ]  # fmt: skip
    assert "6000-6999" in table[7]
