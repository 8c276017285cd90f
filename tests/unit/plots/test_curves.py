"""Curves of several measures, forgettings, seeds and streams: lines are what was read, titles say what panels show."""

from itertools import combinations

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.labelling import Delayed, First
from streamgauge.results import Results
from streamgauge.streams import LED, Gradual, RandomRBF

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'streamgauge[plots]'")

from matplotlib.axes import Axes

from streamgauge import plots

LEARNERS = {"tree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
MEASURES = ["accuracy", "kappa", "kappa_m", "log_loss"]
FORGETTINGS = ["Landmark()", "Window(width=100)", "Fading(factor=0.99)"]


@pytest.fixture(scope="module")
def results() -> Results:
    return sg.evaluate(
        sg.SEA(n_rows=1000),
        LEARNERS,
        forgetting=[sg.Landmark(), sg.Window(100), sg.Fading(0.99)],
        measures=MEASURES,
        every=50,
    )


def evaluate_seed(seed: int, **options: object) -> Results:
    stream = sg.SEA(n_rows=600, seed=seed)
    return sg.evaluate(stream, {"bayes": sg.NaiveBayes()}, seed=seed, every=100, **options)  # type: ignore[arg-type]


def get_lines(axes: Axes) -> dict[str, np.ndarray]:
    """Return the values of the curves of a panel by their labels."""
    return {
        str(line.get_label()): np.asarray(line.get_ydata())
        for line in axes.lines
        if not str(line.get_label()).startswith("_")
    }


def get_panels(figure: plots.Figure) -> dict[str, Axes]:
    return {axes.get_title("left"): axes for axes in figure.drawn.axes if axes.axison}


def get_legend(figure: plots.Figure) -> list[str]:
    return [text.get_text() for text in figure.drawn.legends[0].get_texts()]


def test_all_measures_of_a_learner_are_lines_of_its_panel(results: Results) -> None:
    figure = plots.curves(results, MEASURES[:3], learners=["tree", "majority"], lines="measures")
    panels = get_panels(figure)
    assert list(panels) == ["tree", "majority"]
    for learner, axes in panels.items():
        lines = get_lines(axes)
        assert list(lines) == MEASURES[:3]
        for measure, values in lines.items():
            np.testing.assert_allclose(values, 100 * results.curve(learner, measure)[:, 0])
    assert get_legend(figure) == MEASURES[:3]
    assert figure.drawn.get_suptitle() == "over all rows"
    assert panels["tree"].get_ylabel() == "%"
    assert panels["majority"].get_ylabel() == ""  # the panel to the left has it


def test_all_forgettings_of_one_learner_share_a_panel(results: Results) -> None:
    figure = plots.curves(results, "accuracy", FORGETTINGS, learners=["bayes"])
    (axes,) = figure.drawn.axes
    lines = get_lines(axes)
    assert list(lines) == ["over all rows", "over the last 100 rows", "with fading factor 0.99"]
    for values, forgetting in zip(lines.values(), FORGETTINGS, strict=True):
        np.testing.assert_allclose(values, 100 * results.curve("bayes", "accuracy", forgetting)[:, 0])
    assert axes.get_title("left") == "bayes: accuracy"


def test_learners_are_compared_in_a_panel_for_each_measure_and_forgetting(results: Results) -> None:
    figure = plots.curves(results, ["accuracy", "log_loss"], FORGETTINGS[:2])
    axes = figure.drawn.axes
    assert len(axes) == 4
    assert [a.get_ylabel() for a in axes] == ["accuracy %", "", "log_loss (nats)", ""]
    assert [a.get_title("left") for a in axes] == ["over all rows", "over the last 100 rows"] * 2
    for a, (measure, forgetting) in zip(
        axes, [(m, f) for m in ("accuracy", "log_loss") for f in FORGETTINGS[:2]], strict=True
    ):
        scale = 100 if measure == "accuracy" else 1
        for learner, values in get_lines(a).items():
            np.testing.assert_allclose(values, scale * results.curve(learner, measure, forgetting)[:, 0])
    assert get_legend(figure) == list(LEARNERS)


def test_panels_of_one_measure_have_one_axis_that_hides_nothing(results: Results) -> None:
    axes = plots.curves(results, "accuracy", FORGETTINGS).drawn.axes
    assert len({a.get_ylim() for a in axes}) == 1
    low, high = axes[0].get_ylim()
    every = np.concatenate([values for a in axes for values in get_lines(a).values()])
    assert low <= np.nanmin(every)
    assert np.nanmax(every) <= high


def test_measures_of_different_units_do_not_share_a_panel(results: Results) -> None:
    with pytest.raises(StreamgaugeError, match=r"different units cannot share a panel: accuracy .*log_loss \(nats\)"):
        plots.curves(results, ["accuracy", "log_loss"], lines="measures")
    assert len(plots.curves(results, ["accuracy", "log_loss"], learners=["bayes"]).drawn.axes) == 2


def test_a_learner_has_its_colour_in_every_panel(results: Results) -> None:
    figure = plots.curves(results, ["accuracy", "kappa"])
    styles = [{str(line.get_label()): (line.get_color(), line.get_linestyle()) for line in axes.lines}
              for axes in figure.drawn.axes]  # fmt: skip
    assert styles[0] == styles[1]
    assert len(set(styles[0].values())) == len(LEARNERS)


def test_seeds_are_averaged_with_a_band_over_them() -> None:
    runs = [evaluate_seed(seed) for seed in (1, 2, 3)]
    values = np.stack([100 * run.curve("bayes", "accuracy")[:, 0] for run in runs])
    (axes,) = (figure := plots.curves(runs)).drawn.axes
    np.testing.assert_allclose(get_lines(axes)["bayes"], values.mean(axis=0))
    (band,) = axes.collections
    corners = np.asarray(band.get_paths()[0].vertices)
    for row, column in zip(runs[0].rows, values.T, strict=True):
        heights = corners[corners[:, 0] == row, 1]
        np.testing.assert_allclose([heights.min(), heights.max()], [column.min(), column.max()])
    assert axes.get_title("left") == "accuracy over all rows, mean over 3 seeds"
    assert get_legend(figure) == ["bayes"]
    (band,) = plots.curves(runs, band="deviation").drawn.axes[0].collections
    top = np.asarray(band.get_paths()[0].vertices)[:, 1].max()
    np.testing.assert_allclose(top, (values.mean(axis=0) + values.std(axis=0, ddof=1)).max())


def test_seeds_and_folds_are_averaged_together() -> None:
    runs = [evaluate_seed(seed, scheme=sg.Bootstrap(4)) for seed in (1, 2)]
    (axes,) = plots.curves(runs).drawn.axes
    folds = np.concatenate([run.curve("bayes", "accuracy") for run in runs], axis=1)
    np.testing.assert_allclose(get_lines(axes)["bayes"], 100 * folds.mean(axis=1))
    assert axes.get_title("left").endswith("mean over 2 seeds of 4 folds")


def test_runs_of_other_learners_on_one_stream_share_a_panel() -> None:
    stream = sg.SEA(n_rows=300)
    runs = [sg.evaluate(stream, {name: spec}) for name, spec in LEARNERS.items()]
    (axes,) = plots.curves(runs).drawn.axes
    assert list(get_lines(axes)) == list(LEARNERS)
    assert axes.get_title("left") == "accuracy over all rows"


def test_streams_schemes_and_labellings_have_panels_of_their_own() -> None:
    streams = [sg.SEA(n_rows=300), RandomRBF(n_rows=500), LED(n_rows=200)]
    runs = [sg.evaluate(stream, LEARNERS) for stream in streams]
    panels = get_panels(plots.curves(runs))
    assert list(panels) == ["SEA(n_rows=300)", "RandomRBF(n_rows=500)", "LED(n_rows=200)"]
    for run, axes in zip(runs, panels.values(), strict=True):
        np.testing.assert_allclose(get_lines(axes)["bayes"], 100 * run.curve("bayes", "accuracy")[:, 0])
        assert axes.get_xlim()[1] == run.n_rows
    late = sg.evaluate(streams[0], LEARNERS, labelling=Delayed(50))
    assert [title.split(", ")[-1] for title in get_panels(plots.curves([runs[0], late]))] == [
        "AllLabels()",
        "Delayed(rows=50)",
    ]


def test_seeds_read_at_different_rows_are_averaged_where_both_were_read() -> None:
    runs = [
        sg.evaluate(sg.SEA(n_rows=600, seed=seed), sg.NoChange(), every=every) for seed, every in ((1, 100), (2, 150))
    ]
    (line,) = plots.curves(runs).drawn.axes[0].lines
    assert np.asarray(line.get_xdata()).tolist() == [300, 600]


def test_runs_that_have_no_mean_are_refused() -> None:
    run = evaluate_seed(1)
    with pytest.raises(StreamgaugeError, match=r"bayes occurs twice on .* with seed 1: name each run once"):
        plots.curves([run, run])
    with pytest.raises(StreamgaugeError, match="no measure in common"):
        plots.curves([run, evaluate_seed(2, measures="kappa")])
    with pytest.raises(StreamgaugeError, match="no results to draw"):
        plots.curves([])


def test_the_legend_explains_the_marks_that_are_drawn() -> None:
    options = {"labelling": First(1500), "detectors": ["DDM"], "n_rows": 2000}
    stream = Gradual(sg.SEA(1), sg.SEA(3), position=1000, width=200)
    results = sg.evaluate(stream, {"change": sg.NoChange()}, **options)  # type: ignore[arg-type]
    kinds = {alarm.kind for alarm in results.alarms}
    legend = get_legend(plots.curves(results))
    assert legend[:4] == ["change", "labels hidden", "true drift", "gradual drift"]
    assert ("alarm" in legend, "warning" in legend) == ("drift" in kinds, "warning" in kinds)
    assert "alarm" in legend or "warning" in legend
    for figure in (plots.labels(results), plots.balance(results)):
        assert "true drift" in get_legend(figure)
    assert get_legend(plots.curves(evaluate_seed(1))) == ["bayes"]


def test_alarms_of_a_panel_are_those_of_its_learner() -> None:
    learners = {"tree": sg.HoeffdingTree(), "change": sg.NoChange()}
    results = sg.evaluate(sg.SEA(n_rows=3000), learners, detectors=["DDM"], measures=["accuracy", "error"])
    panels = get_panels(plots.curves(results, ["accuracy", "error"], lines="measures"))
    for learner, axes in panels.items():
        drawn = {int(row) for line in axes.lines if line.get_marker() == "^" for row in np.asarray(line.get_xdata())}
        assert drawn <= {alarm.row for alarm in results.alarms if alarm.learner == learner}
        assert bool(drawn) == any(alarm.learner == learner for alarm in results.alarms)


def test_titles_and_legends_do_not_overlap() -> None:
    long = "HoeffdingTree(grace_period=100, split_confidence=1e-07)"
    learners = {long: sg.HoeffdingTree(), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    streams = [sg.SEA(n_rows=300), Gradual(sg.SEA(1), sg.SEA(3, seed=5), position=100, width=50), LED(n_rows=200)]
    runs = [sg.evaluate(stream, learners, n_rows=200, measures=["accuracy", "kappa"]) for stream in streams]
    for figure in (plots.curves(runs), plots.curves(runs, ["accuracy", "kappa"], lines="measures")):
        drawn = figure.drawn
        drawn.draw_without_rendering()
        texts = [axes._left_title for axes in drawn.axes if axes.axison]  # type: ignore[attr-defined]
        texts += drawn.legends[0].get_texts()
        boxes = [text.get_window_extent() for text in texts]
        assert not any(first.overlaps(second) for first, second in combinations(boxes, 2))
        assert max(box.x1 for box in boxes) <= drawn.bbox.x1 + 1
