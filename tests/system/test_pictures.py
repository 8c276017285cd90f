"""The drawn pictures of the documentation show what the code draws today; those of pages are in browser/."""

import warnings

import pytest

pytest.importorskip("PIL", reason="Pillow is not installed")
pytest.importorskip("river", reason="River is not installed")

from docs.drawing.__main__ import DRAWERS, SHOOTERS, describe_drawn
from docs.drawing.record import PICTURES, read_record

MEASURED_ON_A_CLUSTER = "cluster"
"""A picture that starts Ray: it is not drawn here."""


def test_every_picture_has_one_function_that_makes_it_and_a_record_of_what_it_shows():
    made = {*DRAWERS, *SHOOTERS}
    assert {path.stem for path in PICTURES.glob("*.png")} == made
    assert read_record().keys() | {MEASURED_ON_A_CLUSTER} == made


@pytest.mark.parametrize("name", [name for name in DRAWERS if name != MEASURED_ON_A_CLUSTER])
def test_a_drawn_picture_is_not_stale(name):
    recorded = read_record()[name]
    with warnings.catch_warnings(action="ignore"):
        today = describe_drawn(name, DRAWERS[name]())
    stale = f"docs/pictures/{name}.png is stale: run `python -m docs.drawing {name}` and look at it"
    assert today["words"] == recorded["words"], stale
    assert len(today["numbers"]) == len(recorded["numbers"]), stale
    for new, old in zip(today["numbers"], recorded["numbers"], strict=True):
        assert new == pytest.approx(old, rel=0.01, abs=1e-6), stale
