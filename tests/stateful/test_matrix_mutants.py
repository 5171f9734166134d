"""The matrix notices when a rule of the product is changed: nearly every such change."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from .matrix import mutants

ROOT = Path(__file__).parents[2]
LEAST_SHARE = 0.95
LEAST_MUTANTS = 300


def test_every_rule_that_the_list_names_stands_there_and_has_mutants():
    found = {(mutant.module, mutant.rule) for mutant in mutants.mutants()}

    assert found == {(module, name) for module, names in mutants.RULES.items() for name in names}


@pytest.mark.long
def test_of_the_mutants_of_the_rules_the_matrix_notices_nearly_all(
    script, engine_cluster, tmp_path
):
    file = tmp_path / "script"
    file.write_bytes(pickle.dumps((script, engine_cluster)))

    done = subprocess.run(  # noqa: S603 - this repository's own module
        [sys.executable, "-m", "tests.stateful.matrix.mutants", str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    told = [json.loads(line) for line in done.stdout.splitlines()]
    reports = [report for report in told if report["mutant"] is not None]
    assert [r for r in told if r["mutant"] is None and r["noticed"] is not None] == []
    missed = [report["mutant"] for report in reports if report["noticed"] is None]
    assert len(reports) >= LEAST_MUTANTS
    assert len(missed) <= (1 - LEAST_SHARE) * len(reports), missed
