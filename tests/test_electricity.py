"""What Bifet et al. (2015) show on the electricity market, section 5.4 and figures 2 and 3."""

from pathlib import Path

import numpy as np
import pytest

from examples import electricity
from streamgauge import Results

DATA = Path(__file__).parents[2] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not (DATA / "electricity.arff").exists(), reason="the electricity stream (shared/data) is not here"
)


@pytest.fixture(scope="module")
def results() -> Results:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMGAUGE_DATA", str(DATA))
        return electricity.run()


def test_kappa_m_goes_below_0_where_kappa_stays_above(results: Results) -> None:
    kappa, kappa_m = (results.curve("Hoeffding tree", name, electricity.WINDOW)[:, 0] for name in ("kappa", "kappa_m"))
    assert ((kappa_m < 0) & (kappa > 0)).any()
    assert (kappa_m <= kappa + 0.05).mean() > 0.9


def test_the_majority_class_gains_nothing_over_itself_though_its_kappa_is_above_0_at_times(results: Results) -> None:
    assert set(results.curve("majority class", "kappa_m", electricity.WINDOW)[:, 0]) == {0.0}
    assert np.nanmax(results.curve("majority class", "kappa", electricity.WINDOW)) > 0.0


def test_the_window_of_adwin_sees_most_nearly_what_one_of_1000_rows_sees(results: Results) -> None:
    distances = electricity.distances_to_adwin(results)
    assert min(distances, key=distances.__getitem__) == electricity.WINDOW


def test_both_figures_are_drawn(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    path = tmp_path / "figures.png"
    electricity.draw(results, str(path))
    assert path.stat().st_size > 10_000
