"""Known answers: two decoders that share nothing give each vector the answer that it must have."""

import ast
import json
import subprocess
import sys
from collections import Counter
from io import BytesIO

import argon2.low_level
import pytest
from codeflow_backup import keys

from .containers import BACKUP, VECTORS, answer, decoder

INDEX = json.loads((VECTORS / "index.json").read_text("ascii"))
EXIT_CODES = {"ok": 0, "wrong-key": 3, "damaged": 4, "unknown-version": 5}
SECONDS = 120


def given(vector):
    """What a vector is opened with: its kind, and what the file of the secret holds."""
    key = INDEX["keys"][vector["key"]]
    return key["kind"], bytes.fromhex(key["file_hex"])


def by_package(vector, data):
    kind, held = given(vector)
    return answer(data, (keys.passphrase if kind == "passphrase" else keys.key_file)(held))


def by_decoder(decode, vector, data):
    kind, held = given(vector)
    secret = (decode.read_passphrase if kind == "passphrase" else decode.read_key)(held)
    try:
        return "ok", decode.decode(BytesIO(data), kind, secret)[1]
    except decode.RefusedError as refused:
        return refused.answer, None


def expected(vector):
    return vector["result"], vector.get("plaintext_sha256")


def wrong(vectors, ask):
    """List the vectors that get another answer than they must have."""
    return [
        (vector["file"], vector["result"], got)
        for vector in vectors
        if (got := ask(vector, (VECTORS / vector["file"]).read_bytes())) != expected(vector)
    ]


def test_the_package_gives_each_vector_its_answer():
    assert wrong(INDEX["vectors"], by_package) == []


def test_the_decoder_that_stands_alone_gives_each_vector_the_same_answer():
    decode = decoder()

    assert wrong(INDEX["vectors"], lambda *of: by_decoder(decode, *of)) == []


def test_the_runner_sees_a_wrong_answer():
    sound = next(vector for vector in INDEX["vectors"] if vector["result"] == "ok")

    assert wrong([{**sound, "result": "damaged"}], by_package) != []
    assert wrong([{**sound, "plaintext_sha256": "00" * 32}], by_package) != []


def test_there_are_enough_vectors_of_every_answer():
    answers = Counter(vector["result"] for vector in INDEX["vectors"])

    assert sum(answers.values()) >= 350
    assert answers.keys() == EXIT_CODES.keys()
    assert min(answers.values()) >= 15


def test_the_index_lists_the_files_of_the_folder_and_no_other():
    files = [path.name for path in VECTORS.glob("*.cfmb")]

    assert sorted(vector["file"] for vector in INDEX["vectors"]) == sorted(files)
    assert sum(path.stat().st_size for path in VECTORS.iterdir() if path.is_file()) < 3 * 2**20


def test_generating_the_vectors_again_gives_the_same_bytes(tmp_path):
    subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, VECTORS / "generate.py", tmp_path], check=True, timeout=SECONDS
    )

    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = (p for p in VECTORS.iterdir() if p.suffix in {".cfmb", ".json"})
    assert made == {path.name: path.read_bytes() for path in kept}


def test_a_hostile_cost_is_refused_before_any_memory_is_spent(monkeypatch):
    def spend(*_, **__):
        raise AssertionError("memory was spent")

    monkeypatch.setattr(argon2.low_level, "hash_secret_raw", spend)
    hostile = [
        vector
        for vector in INDEX["vectors"]
        if vector["file"].startswith("cost-") and vector["result"] == "damaged"
    ]

    assert len(hostile) >= 19
    assert wrong(hostile, by_package) == []
    assert wrong(hostile, lambda *of: by_decoder(decoder(), *of)) == []
    paid = next(v for v in INDEX["vectors"] if v["file"] == "cost-passes-2.cfmb")
    with pytest.raises(AssertionError, match="memory was spent"):
        wrong([paid], by_package)


def test_the_decoder_imports_nothing_of_ours():
    syntax = ast.parse((BACKUP / "decode.py").read_text("utf-8"))
    imported = set()
    for node in ast.walk(syntax):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).split(".")[0])

    assert imported - sys.stdlib_module_names == {"argon2", "cryptography"}


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("key-file", "--keyfile"),
        ("passphrase", "--passphrase-file"),
        ("wrong-key-file", "--keyfile"),
        ("chunks-swapped", "--keyfile"),
        ("format-9", "--keyfile"),
    ],
)
def test_the_command_of_the_decoder_prints_the_manifest_or_why_not(tmp_path, name, option):
    (vector,) = (v for v in INDEX["vectors"] if v["file"] == f"{name}.cfmb")
    secret = tmp_path / "secret"
    secret.write_bytes(given(vector)[1])

    done = subprocess.run(  # noqa: S603 - this interpreter, no shell
        [sys.executable, "-I", BACKUP / "decode.py", VECTORS / vector["file"], option, secret],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )

    assert done.returncode == EXIT_CODES[vector["result"]]
    if vector["result"] == "ok":
        names = [file["name"] for file in json.loads(done.stdout)["files"]]
        assert (names, done.stderr) == (["memory.sqlite", "key"], "")
    else:
        assert (done.stdout, done.stderr.split(":")[0]) == ("", vector["result"])
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
