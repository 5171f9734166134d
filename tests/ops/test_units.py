"""The systemd units: sound, closed in, and of commands that exist."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNITS = ROOT / "ops" / "systemd"
SERVICES = sorted(UNITS.glob("*.service"))
TIMERS = sorted(UNITS.glob("*.timer"))
PREFIX = "/opt/codeflow-memory/bin"

EXPOSURE = 15
"""Tenths, of systemd's own scale from 0 to 10: below it systemd says OK or SAFE."""

CLOSED_IN = {
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "PrivateUsers": "yes",
    "ProtectProc": "invisible",
    "ProtectKernelTunables": "yes",
    "RestrictNamespaces": "yes",
    "RestrictSUIDSGID": "yes",
    "MemoryDenyWriteExecute": "yes",
    "SystemCallArchitectures": "native",
    "IPAddressDeny": "any",
    "UMask": "0077",
    "User": "codeflow-memory",
}


def settings(unit: Path) -> dict[str, str]:
    lines = (line.split("=", 1) for line in unit.read_text("utf-8").splitlines() if "=" in line)
    return {key: value for key, value in lines if not key.startswith("#")}


@pytest.fixture
def installed(tmp_path):
    """The units as they would be installed, with the commands of this environment."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("codeflow-memory", "codeflow-backup"):
        (commands / name).symlink_to(Path(sys.executable).parent / name)
    (commands / "restore-drill").symlink_to(ROOT / "ops" / "restore-drill")
    for unit in (*SERVICES, *TIMERS):
        text = unit.read_text("utf-8").replace(PREFIX, str(commands))
        (tmp_path / unit.name).write_text(text, "utf-8")
    return tmp_path


@pytest.fixture
def analyze():
    found = shutil.which("systemd-analyze")
    if found is None:
        pytest.skip("systemd-analyze is not installed: only what the units say was checked")

    def run(*arguments):
        return subprocess.run(  # noqa: S603 - the tool, no shell
            [found, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
        )

    return run


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_a_service_is_closed_in(unit):
    found = settings(unit)

    assert {name: found.get(name) for name in CLOSED_IN} == CLOSED_IN


def test_every_timer_has_its_service_and_makes_up_for_a_missed_run():
    assert len(TIMERS) == 2
    for timer in TIMERS:
        assert timer.with_suffix(".service") in SERVICES
        assert settings(timer)["Persistent"] == "yes"


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_no_secret_is_in_a_unit_or_on_a_command_line(unit):
    found = settings(unit)

    assert all(place.startswith("/etc/codeflow-memory/") for place in credentials(unit))
    assert "passphrase" not in found.get("ExecStart", "").lower()


def credentials(unit):
    return re.findall(r"^LoadCredential=[a-z-]+:(\S+)$", unit.read_text("utf-8"), re.MULTILINE)


def test_what_the_server_says_first_may_hold_a_token_and_goes_nowhere():
    assert settings(UNITS / "codeflow-memory.service")["StandardOutput"] == "null"


def test_systemd_finds_nothing_wrong(installed, analyze):
    done = analyze("verify", *sorted(installed.glob("codeflow-memory*")))

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", SERVICES, ids=lambda unit: unit.name)
def test_systemd_calls_its_exposure_low(installed, analyze, unit):
    threshold = f"--threshold={EXPOSURE}"

    done = analyze("security", "--offline=true", threshold, installed / unit.name)

    assert done.returncode == 0, done.stdout[-400:]


def test_an_open_unit_would_be_found(tmp_path, analyze):
    """Control: both checks must be able to fail."""
    unit = tmp_path / "open.service"
    unit.write_text("[Service]\nExecStart=/absent\nNoSuchSetting=1\n")

    assert analyze("verify", unit).returncode != 0
    assert analyze("security", "--offline=true", f"--threshold={EXPOSURE}", unit).returncode != 0
