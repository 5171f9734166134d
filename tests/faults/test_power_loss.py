"""A power loss at any point of any workload loses nothing acknowledged and leaves nothing half."""

import os
import shutil
from pathlib import Path

import pytest

from codeflow_memory.storage.sqlite import SQLiteEngine

from .power.drill import DATABASE, Workload, laid_out, recorded, state_of
from .power.recording import Recording
from .power.survey import Commits, Image, Survey, images_of, lay_out, survey
from .power.workloads import BY_NAME, WORKLOADS

LONG = os.environ.get("CODEFLOW_LONG") == "1"
SEED = 20

DRAWS = 12 if LONG else 2
"""Images with drawn parts that every operation point adds, beside four without."""

FACTOR = 3 if LONG else 1
"""How many times the images that a workload promises."""

RETRIES_PER_WORKLOAD = 300 if LONG else 40
"""How many images of a workload the product goes on with."""

RECOVERIES_PER_WORKLOAD = 200 if LONG else 20
"""How many recoveries of a workload are interrupted by a second power loss."""


def surveyed(workload: Workload, folder: Path, **flags: bool) -> Survey:
    """Record a workload and open its images; *flags* make the disk worse, for a control."""
    recording = recorded(workload, folder)
    images = images_of(recording, seed=SEED, draws=DRAWS, flags=flags)
    commits = Commits(recording, folder, DATABASE)
    return survey(images, folder / "images", commits.check, keep=not flags)


def test_the_workloads_promise_enough_images():
    promised = sum(workload.images for workload in WORKLOADS) * FACTOR

    assert promised >= (10_000 if LONG else 2_000)


@pytest.mark.parametrize("workload", WORKLOADS, ids=str)
def test_a_power_loss_loses_nothing_and_leaves_nothing_half(workload, place):
    result = surveyed(workload, place)

    print(f"power loss, {workload}: {result}")  # noqa: T201 - every harness says what it reached
    assert result.failures == [], result
    assert result.images >= workload.images * FACTOR, result


@pytest.mark.parametrize("workload", WORKLOADS, ids=str)
def test_what_a_power_loss_interrupted_is_completed_by_a_retry(workload, place):
    """Lay an image out, run the step that was under way, and compare with the undisturbed run."""
    recording = recorded(workload, place)
    commits = Commits(recording, place, DATABASE)
    images = [
        image
        for image in images_of(recording, seed=SEED + 1, draws=1)
        if image.acknowledged < len(workload.steps)
    ]
    stride = max(1, len(images) // RETRIES_PER_WORKLOAD)

    wrong = []
    for number, image in enumerate(images[SEED % stride :: stride]):
        home = place / f"image-{number}"
        with laid_out(image.files, home):
            workload.standing(home)
            step = workload.steps[image.acknowledged]
            step.run(home, None)
            last = commits.at_acknowledgement[image.acknowledged + 1]
            if state_of(home) not in commits.states[last + 1 - step.rests : last + 1]:
                wrong.append(f"{image}: {step.name} did not converge")
            workload.standing(home)

    assert wrong == [], "\n".join(wrong[:20])


@pytest.mark.parametrize("workload", WORKLOADS, ids=str)
def test_a_second_power_loss_during_the_recovery_loses_nothing(workload, place):
    recording = recorded(workload, place)
    commits = Commits(recording, place, DATABASE)
    hot = [
        image
        for image in images_of(recording, seed=SEED, draws=1)
        if f"{DATABASE}-journal" in image.files
    ]
    stride = max(1, len(hot) // RECOVERIES_PER_WORKLOAD)

    total = Survey()
    for number, image in enumerate(hot[SEED % stride :: stride]):
        folder = place / f"recovery-{number}"
        recovery = recovered(image, folder / "home")
        images = images_of(recovery, seed=SEED, draws=2, acknowledged=image.acknowledged)
        total += survey(images, folder / "images", commits.check)
        shutil.rmtree(folder / "home")

    print(f"recovery, {workload}: {total}")  # noqa: T201 - every harness says what it reached
    assert total.failures == [], total
    assert total.images >= 2 * min(len(hot), RECOVERIES_PER_WORKLOAD), total


def recovered(image: Image, home: Path) -> Recording:
    """Let the product's engine open *image*, under record."""
    lay_out(image.files, home)
    recording = Recording(home)
    with recording.running() as vfs:
        engine = SQLiteEngine(home / DATABASE, vfs=vfs)
        engine.versions()
        engine.close()
    return recording


def test_without_the_sync_of_the_directory_acknowledged_operations_are_lost(place):
    """Control: what synchronous=FULL leaves out."""
    workload = BY_NAME["the engine"]

    result = surveyed(workload, place, syncs_removals=False)

    assert sum("is lost" in failure for failure in result.failures) >= len(workload.steps), result


def test_without_syncs_the_harness_reports_failures(place):
    """Control: what synchronous=OFF leaves out."""
    result = surveyed(BY_NAME["the engine"], place, honest=False)

    assert len(result.failures) >= 100, result
