"""What ships: the wheel and the sdist hold what they should, and the wheel works by itself."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from .tree import BACKUP, CLIENT, PACKAGE, ROOT

pytestmark = pytest.mark.slow

SECONDS = 60


def run(*argv, **options):
    done = subprocess.run(  # noqa: S603 - this interpreter and what it installed, no shell
        [str(part) for part in argv],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def build(folder, *kinds):
    run(sys.executable, "-m", "build", "--no-isolation", *kinds, "--outdir", folder, ROOT)
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel that is built from it."""
    wheel, sdist = sorted(
        build(tmp_path_factory.mktemp("dist")), key=lambda path: path.suffix != ".whl"
    )
    return wheel, sdist


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The commands of an environment that has the wheel, and the packages it depends on."""
    environment = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install"),
        *("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", built[0]),
    )
    (packages,) = environment.glob("lib/python*/site-packages")
    # A folder that a .pth file names has no .pth files of its own: no checkout comes with it.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    return environment / "bin"


def expected_package():
    return {
        path.relative_to(ROOT).as_posix()
        for folder in (PACKAGE, BACKUP, CLIENT)
        for pattern in ("*.py", "py.typed")
        for path in (ROOT / folder).rglob(pattern)
    }


def in_wheel(names):
    return {name.removeprefix("backup/") for name in names}


def expected_migrations(prefix):
    return {f"{prefix}/{path.name}" for path in (ROOT / "migrations").iterdir()}


def test_the_wheel_holds_the_package_and_its_migrations_and_nothing_else(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = set(wheel.namelist())
    described = {name for name in names if ".dist-info/" in name}

    code = in_wheel(expected_package())
    assert names - described == code | expected_migrations(f"{PACKAGE}/_migrations")
    assert {name.split("/", 1)[1] for name in described} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
    } - (set() if (ROOT / "LICENSE").exists() else {"licenses/LICENSE"})


def test_the_sdist_holds_what_the_wheel_is_built_from_and_the_documents(built):
    with tarfile.open(built[1]) as sdist:
        names = {member.name.split("/", 1)[1] for member in sdist.getmembers()}
    documents = {"README.md", "SECURITY.md", "CHANGELOG.md", "ARCHITECTURE.md"}
    documents |= {"backup/FORMAT.md", "backup/decode.py"}
    own = {"pyproject.toml", "PKG-INFO", ".gitignore"}
    own |= {"LICENSE"} if (ROOT / "LICENSE").exists() else set()

    assert names == documents | own | expected_package() | expected_migrations("migrations")


def test_a_wheel_built_from_the_checkout_has_the_same_bytes(built, tmp_path):
    (direct,) = build(tmp_path, "--wheel")

    assert direct.name == built[0].name
    assert direct.read_bytes() == built[0].read_bytes()


def test_the_same_commit_gives_the_same_bytes_whenever_and_wherever_it_is_built(tmp_path):
    """What `ops/dist` releases: its clock is the commit's, and no folder or umask gets in."""
    epoch = {"SOURCE_DATE_EPOCH": "1790000000"}
    digests = []
    for name, umask in (("one", 0o022), ("two", 0o077)):
        checkout = tmp_path / name / "checkout"
        kept = (PACKAGE, CLIENT, "backup", "migrations")
        ignore = shutil.ignore_patterns("__pycache__")
        for part in kept:
            shutil.copytree(ROOT / part, checkout / part, ignore=ignore)
        for part in (
            "pyproject.toml",
            "README.md",
            "SECURITY.md",
            "CHANGELOG.md",
            "ARCHITECTURE.md",
        ):
            shutil.copy(ROOT / part, checkout / part)
        command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path / name)
        run(*command, checkout, env=os.environ | epoch, umask=umask)
        files = sorted(path for path in (tmp_path / name).iterdir() if path.is_file())
        digests.append([(path.name, path.read_bytes()) for path in files])

    assert len(digests[0]) == 2
    assert digests[0] == digests[1]


def test_the_wheel_declares_the_dependencies_of_the_project(built):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    with zipfile.ZipFile(built[0]) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith("/METADATA")]
        lines = wheel.read(name).decode("utf-8").splitlines()
    needed = [line for line in lines if line.startswith("Requires-Dist: ") and "extra" not in line]

    assert len(needed) == len(project["dependencies"])
    assert f"Version: {project['version']}" in lines


def test_the_installed_command_runs_outside_the_checkout(installed, tmp_path):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    where = "import codeflow_memory; print(codeflow_memory.__file__)"

    place = run(installed / "python", "-I", "-c", where, cwd=tmp_path).strip()
    said = run(installed / "codeflow-memory", "--version", cwd=tmp_path)

    assert Path(place).is_relative_to(installed.parent)
    assert said.strip().endswith(version)


def test_the_installed_server_serves_outside_the_checkout(installed, tmp_path):
    home = tmp_path / "home"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CODEFLOW_")}
    server = subprocess.Popen(  # noqa: S603 - the installed command, no shell
        [installed / "codeflow-memory", "up", "--home", home, "--port", "0", "--json"],
        cwd=tmp_path,
        env=kept,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        first = json.loads(server.stdout.readline())
        asked = HTTPConnection(urlsplit(first["url"]).netloc, timeout=SECONDS)
        asked.request("GET", "/api/projects", headers={"Authorization": f"Bearer {first['token']}"})
        assert json.loads(asked.getresponse().read())["items"] == []
        asked.close()
        assert (home / "memory.sqlite").is_file()
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(SECONDS)
        server.stdout.close()
    assert code == 0
