"""The documents are true: what they name exists, what they show runs, and nothing is left out."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import tomllib

import click
import pytest

from codeflow_memory.cli.commands import root
from codeflow_memory.settings import Settings, parse

from .tree import ROOT, modules

DOCUMENTS = (
    "README.md",
    "AGENTS.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "backup/FORMAT.md",
    "backup/README.md",
    "backup/vectors/README.md",
    "benchmarks/README.md",
    "docs/client.md",
    "migrations/README.md",
    "ops/README.md",
)
MAX_AGENTS_LINES = 110
SECONDS = 60

_MEMORY_ID = re.compile(r"mem_…\w*")
_TEST = re.compile(r"`(tests/\S+\.py)::(\w+)`")
_REGISTRIES = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com")
_MACHINE = re.compile(r"(?<![\w.:])/(?:work|root|tmp)/\w")
_NOT_OURS = {"requirements.lock"}
_ELSEWHERE = {"config.toml", "CLAUDE.md", "codeflow_memory/_migrations"}
"""In a home, in a repository that is learned from, in the wheel."""

_PREFIXES = ("", "codeflow_memory", "ops", "tests", "migrations", "benchmarks", "backup")


def text(name):
    return (ROOT / name).read_text("utf-8")


def blocks(document, *languages):
    """Return the lines of fenced blocks in one of *languages*."""
    found = re.findall(r"^```(\w+)\n(.*?)^```", document, re.MULTILINE | re.DOTALL)
    return [body for language, body in found if language in languages]


def shown(document):
    """Return the commands of the product that *document* shows at a prompt or in a line of text."""
    at_prompts = [
        line.removeprefix("$ ")
        for block in blocks(document, "console")
        for line in block.splitlines()
    ]
    indented = [line.strip() for line in document.splitlines() if line.startswith("    ")]
    inline = [" ".join(span.split()) for span in re.findall(r"`(codeflow-memory [^`]+)`", document)]
    lines = at_prompts + indented + inline
    return [line for line in lines if line.startswith("codeflow-memory ")]


def unparsable(line):
    """Return why *line* is no command of the product, or ``None``."""
    words = shlex.split(line)[1:]
    context = click.Context(root, info_name="codeflow-memory")
    command = root
    while isinstance(command, click.Group) and words:
        below = command.get_command(context, words[0])
        if below is None:
            break
        command, words = below, words[1:]
    if isinstance(command, click.Group) and words:
        return f"{line}: no command {words[0]}"
    known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)}
    known |= {option for param in root.params for option in param.opts}
    unknown = [w for w in words if w.startswith("--") and w.split("=")[0] not in known]
    return f"{line}: no option {unknown[0]}" if unknown else None


def missing_places(document):
    """List the paths in backticks that are nowhere."""
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", document)
    return [
        name
        for name in named
        if ("/" in name or name.endswith((".md", ".toml", ".lock")))
        and not name.startswith(("application/", "tenants/"))
        and name not in _ELSEWHERE
        and not any((ROOT / prefix / name).exists() for prefix in _PREFIXES)
    ]


def missing_tests(document):
    return [
        f"{path}::{name}"
        for path, name in _TEST.findall(document)
        if not (ROOT / path).is_file() or not re.search(rf"^def {name}\(", text(path), re.MULTILINE)
    ]


def foreign(name, content):
    """List the lines that name a package registry's host or a path of one machine."""
    return [
        f"{name}:{number}"
        for number, line in enumerate(content.splitlines(), start=1)
        if any(host in line for host in _REGISTRIES) or _MACHINE.search(line)
    ]


def committed():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - whichever git the machine has
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    for name in listed.decode("utf-8").split("\0"):
        path = ROOT / name
        if name and path.is_file() and name not in _NOT_OURS:
            yield name, path.read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_that_is_shown_is_one(name):
    assert [fault for line in shown(text(name)) if (fault := unparsable(line))] == []


def test_the_check_sees_a_command_that_is_none():
    document = (
        "```console\n$ codeflow-memory fly\n$ codeflow-memory up --fast\n$ codeflow-memory up\n```"
    )

    assert [unparsable(line) for line in shown(document)] == [
        "codeflow-memory fly: no command fly",
        "codeflow-memory up --fast: no option --fast",
        None,
    ]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_place_that_is_named_is_there(name):
    assert missing_places(text(name)) == []


def test_the_map_of_agents_is_true_and_whole():
    agents = text("AGENTS.md")
    mapped = set(re.findall(r"^\| `([^`]+)` \|", agents, re.MULTILINE))
    layers = {f"{m.place.rsplit('/', 1)[0]}/" for m in modules("codeflow_memory")}
    layers = {layer for layer in layers if layer.count("/") == 2}

    assert [place for place in mapped if not (ROOT / place).exists()] == []
    assert layers <= mapped
    assert agents.count("\n") <= MAX_AGENTS_LINES


def test_each_attack_of_the_threat_model_has_its_test():
    rows = re.findall(r"^\| [^|]+ \| `tests/", text("SECURITY.md"), re.MULTILINE)

    assert len(rows) >= 30
    assert missing_tests(text("SECURITY.md")) == []


def test_the_checks_see_what_is_not_there():
    document = "`gone/away.py` and `tests/http/test_edge.py::test_nothing`"

    assert missing_places(document) == ["gone/away.py"]
    assert missing_tests(document) == ["tests/http/test_edge.py::test_nothing"]


def test_every_dependency_has_its_purpose_and_licence():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    rows = re.findall(r"^\| ([\w-]+) \| [^|]+ \| [^|]+ \|$", text("ARCHITECTURE.md"), re.MULTILINE)
    needed = [re.split(r"[^\w-]", line)[0] for line in project["dependencies"]]
    tools = [re.split(r"[^\w-]", line)[0] for line in project["optional-dependencies"]["dev"]]

    assert needed == [name for name in rows if name in needed]
    assert [name for name in tools if name not in text("ARCHITECTURE.md")] == []


def test_the_lock_has_a_version_and_hashes_of_every_dependency():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    pinned = re.findall(
        r"^([\w-]+)==\S+.* \\\n    --hash=sha256:", text("requirements.lock"), re.MULTILINE
    )

    assert [line for line in wanted if re.split(r"[^\w-]", line)[0] not in pinned] == []
    assert len(pinned) == len(re.findall(r"^[\w-]+==", text("requirements.lock"), re.MULTILINE))


def test_the_shown_configuration_is_accepted():
    shown_settings = blocks(text("README.md"), "toml")

    assert len(shown_settings) == 1
    assert isinstance(parse(shown_settings[0], "README.md"), Settings)


def test_the_reference_is_what_the_code_says():
    """Run ``.venv/bin/python ops/reference.py`` when this fails."""
    spec = importlib.util.spec_from_file_location("reference", ROOT / "ops" / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)

    assert reference.PLACE.read_text("utf-8") == reference.text()


def test_every_variable_that_is_read_is_in_the_reference():
    read = {
        name
        for module in modules("codeflow_memory")
        for name in re.findall(r"\"(CODEFLOW_[A-Z_]+|CREDENTIALS_DIRECTORY)\"", module.text)
    }

    assert len(read) >= 5
    assert [name for name in read if f"`{name}`" not in text("docs/reference.md")] == []


def test_nothing_names_a_registry_or_a_place_of_one_machine():
    assert [place for name, content in committed() for place in foreign(name, content)] == []


def test_the_check_sees_a_registry_and_a_place():
    host = _REGISTRIES[0]

    assert foreign("a", f"see {host}\nfine\nin /{'work'}/shared") == ["a:1", "a:3"]


@pytest.mark.parametrize("folder", ["ops", "benchmarks"])
def test_every_program_of_a_folder_is_in_its_readme(folder):
    programs = {path.name for path in (ROOT / folder).iterdir() if path.is_file()}

    assert {name for name in programs if f"`{name}`" not in text(f"{folder}/README.md")} == {
        "README.md"
    }


@pytest.mark.parametrize("name", ["check", "clients/setup", "lock", "setup", "try"])
def test_each_script_is_executable_and_of_sound_syntax(name):
    path = ROOT / "ops" / name
    done = subprocess.run(  # noqa: S603 - bash reads one script of ours
        ["bash", "-n", path],  # noqa: S607 - whichever bash the machine has
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    assert os.access(path, os.X_OK)


def test_ci_runs_the_gate_and_the_gate_runs_every_check():
    gate = text("ops/check")

    assert "ops/check" in text(".ci/run")
    for step in ("ruff format --check .", "ruff check .", "mypy", "lint-imports", "pytest"):
        assert step in gate
    # Without it nothing is skipped: the tests of that engine fail.
    assert re.search(r"^bash ops/setup .*\bpostgresql$", gate, re.MULTILINE)


@pytest.mark.slow
def test_the_tour_of_the_readme_runs(tmp_path):
    """Its commands in their order, but the server, on a repository with these rules for agents."""
    repository = tmp_path / "shop"
    repository.mkdir()
    (repository / "AGENTS.md").write_text(text("AGENTS.md"), "utf-8")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Rules")):
        subprocess.run([*git, *arguments], cwd=repository, check=True)  # noqa: S603 - fixed words
    kept = {k: v for k, v in os.environ.items() if not k.startswith("CODEFLOW_")}
    environment = kept | {"CODEFLOW_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}
    lines = [
        line.removeprefix("$ ").replace("-", "_", 1)
        for block in blocks(text("README.md"), "console")
        for line in block.splitlines()
        if line.startswith(("$ codeflow-memory ", "$ codeflow-backup ")) and line[-3:] != " up"
    ]
    ids: list[str] = []
    exported = ""
    for line in lines:
        places = iter(ids)
        words = shlex.split(_MEMORY_ID.sub(lambda _, places=places: next(places), line))
        done = subprocess.run(  # noqa: S603 - this program, no shell
            [sys.executable, "-m", *words],
            cwd=repository,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"
        ids = ids or re.findall(r"mem_\w{26}", done.stdout)
        exported += done.stdout if " export " in line else ""

    assert len(lines) >= 12
    assert "SQL" in exported
