"""Tables and figures of papers are reproduced: every name runs, and the claims are seen."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from papers import REPRODUCTIONS, reproduce
from streamgauge.backends import Threads
from streamgauge.streams import File
from tests.support.stand_ins import write_stand_ins


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stand_ins(tmp_path_factory.mktemp("streams"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduction")


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_every_name_runs_and_writes_its_page_picture_data_and_manifest(
    name: str, folder: Path, stand_ins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMGAUGE_DATA", str(stand_ins))
    done = reproduce(name, folder, scale="tiny", backend=Threads(1))
    assert done.complete
    assert done.finding.claims
    suffixes = {path.suffix for path in done.files}
    assert suffixes == {".md", ".csv", ".json", ".png"}
    page = (folder / f"{name}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {done.reproduction.title}\n")
    assert all(claim.text in page for claim in done.finding.claims)
    manifest = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    assert (manifest["scale"], manifest["pieces_done"], manifest["picture"]) == (
        "tiny",
        manifest["pieces"],
        f"{name}.png",
    )
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(rows[0])}


WORKED = ("bifet-2015-table-1", "bifet-2015-table-5", "bifet-2016-numbers", "bifet-2016-ram-hours", "stuffed-sampling")


@pytest.mark.parametrize("name", WORKED)
def test_what_is_worked_out_agrees_with_the_papers_or_says_why_not(name: str, tmp_path: Path) -> None:
    done = reproduce(name, tmp_path, scale="tiny")
    assert [claim.text for claim in done.finding.claims if not claim.holds] == []
    assert done.finding.notes


OF_ELECTRICITY = {"bifet-2015-figure-2", "bifet-2015-figure-3", "gama-2009-figure-4", "gama-2009-figure-5"}
RUN = (
    *(f"bifet-2015-figure-{k}" for k in (2, 3, 4)),
    *(f"gama-2009-figure-{k}" for k in range(2, 10)),
)


@pytest.mark.parametrize("name", RUN)
def test_the_claims_of_the_figures_are_seen_at_quick_scale(
    name: str, folder: Path, real_stream: Callable[[str], File]
) -> None:
    if name in OF_ELECTRICITY:
        real_stream("electricity")
    done = reproduce(name, folder / "quick", scale="quick")
    assert [claim.text for claim in done.finding.claims if not claim.holds] == []
