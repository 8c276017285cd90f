"""The workflows parse, and the release builds and tests a wheel for every system that it names."""

from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")

FOLDER = Path(__file__).parents[2] / ".github" / "workflows"
WHEELS = {
    "linux-x86_64": "manylinux_2_28",
    "linux-aarch64": "manylinux_2_28",
    "musl-x86_64": "musllinux_1_2",
    "musl-aarch64": "musllinux_1_2",
    "macos-x86_64": None,
    "macos-aarch64": None,
    "windows-x86_64": None,
}


def read_workflow(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yml")), ids=lambda path: path.stem)
def test_a_workflow_parses_and_every_step_does_something(path: Path) -> None:
    jobs = read_workflow(path.name)["jobs"]
    assert jobs
    for job in jobs.values():
        assert job["runs-on"]
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
        assert set(job.get("needs", [])) <= set(jobs)


def test_wheels_are_built_and_tested_on_every_system() -> None:
    job = read_workflow("release.yml")["jobs"]["wheels"]
    assert {entry["name"]: entry.get("libc") for entry in job["strategy"]["matrix"]["include"]} == WHEELS
    tests = [step for step in job["steps"] if step.get("name", "").startswith("Test the wheel")]
    assert [("musl" in step["if"], "!" in step["if"]) for step in tests] == [(True, True), (True, False)]
