"""Pictures of the evaluation: schemes, labellings, folds, forgettings and measures."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge import forgetting, labelling, schemes, streams
from streamgauge._format.palette import COLOURS
from streamgauge.plots import Figure
from streamgauge.plots.axis import Axis
from streamgauge.plots.figure import get_line_style, new_figure
from streamgauge.protocols import Labelling, Scheme
from streamgauge.records import Batch

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_folds", "draw_forgettings", "draw_labellings", "draw_measures", "draw_schemes_in_time"]

N_ROWS = 40
TESTED, LEARNT = COLOURS[1], COLOURS[0]


class LoggingLearner:
    """A learner that logs when it tests and learns each row."""

    tested: ClassVar[list[tuple[int, int]]] = []
    learnt: ClassVar[list[tuple[int, int]]] = []

    def predict(self, x: NDArray[np.float64]) -> list[int]:
        """Log the tested row; its number is the only attribute."""
        self.tested.append((len(self.tested) + len(self.learnt), int(x[0, 0])))
        return [0]

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32]) -> None:  # noqa: ARG002 - the signature of a learner
        """Log the learnt row."""
        self.learnt.append((len(self.tested) + len(self.learnt), int(x[0, 0])))


def _log_steps(scheme: Scheme, labels: Labelling) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return (step, row) of all tests, and of all learning."""
    LoggingLearner.tested, LoggingLearner.learnt = [], []
    rows = np.arange(N_ROWS, dtype=float)[:, None]
    stream = (rows, np.arange(N_ROWS) % 2)
    options = {"score_unlabelled_start": True, "backend": sg.Threads(1)}
    sg.evaluate(stream, LoggingLearner(), scheme=scheme, labelling=labels, seed=3, **options)  # type: ignore[arg-type]
    return LoggingLearner.tested, LoggingLearner.learnt


def _draw_timelines(settings: dict[str, tuple[Scheme, Labelling]], size: tuple[float, float]) -> Figure:
    with new_figure(size) as figure:
        grid = figure.subplots(2, 3, sharey=True)
        for axes, (title, (scheme, labels)) in zip(grid.flat, settings.items(), strict=True):
            tested, learnt = _log_steps(scheme, labels)
            axes.plot(*np.array(tested).T, "o", color=TESTED, ms=3.5, mfc="none", mew=1, label="tested")
            axes.plot(*np.array(learnt).T, "s", color=LEARNT, ms=3, label="learnt")
            axes.set_title(title, fontsize=9)
            axes.grid(visible=True)
        for axes in grid[1]:
            axes.set_xlabel("time, in steps of the loop")
        for axes in grid[:, 0]:
            axes.set_ylabel("row")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, markerscale=1.5)
    return Figure(figure)


def draw_schemes_in_time() -> Figure:
    """Draw when each row is tested and learnt under six schemes."""
    every = labelling.AllLabels()
    return _draw_timelines(
        {
            "Prequential()": (schemes.Prequential(), every),
            "Chunks(10)": (schemes.Chunks(10), every),
            "Holdout(every=12, size=8)": (schemes.Holdout(every=12, size=8), every),
            "TrainThenTest(15)": (schemes.TrainThenTest(15), every),
            "Pretrained(15)": (schemes.Pretrained(15), every),
            "WarmUp(10)": (schemes.WarmUp(10), every),
        },
        (7.5, 4.8),
    )


def draw_labellings() -> Figure:
    """Draw when the labels of rows arrive under six labellings."""
    scheme = schemes.Prequential()
    return _draw_timelines(
        {
            "AllLabels()": (scheme, labelling.AllLabels()),
            "Delayed(10)": (scheme, labelling.Delayed(10)),
            'DelayedAtRandom(8, "geometric")': (scheme, labelling.DelayedAtRandom(8, "geometric")),
            "Fraction(0.3)": (scheme, labelling.Fraction(0.3)),
            "First(15)": (scheme, labelling.First(15)),
            "Delayed(10, of=Fraction(0.3))": (scheme, labelling.Delayed(10, of=labelling.Fraction(0.3))),
        },
        (7.5, 4.8),
    )


def draw_folds() -> Figure:
    """Draw the weight with which each of five folds learns each row."""
    n, k = 24, 5
    batch = Batch(0, np.zeros((n, 1)), np.zeros(n, dtype=np.int32))
    kinds: dict[str, Scheme] = {
        f"CrossValidation({k})": sg.CrossValidation(k),
        f"Split({k})": sg.Split(k),
        f"Bootstrap({k})": sg.Bootstrap(k),
    }
    with new_figure((7.5, 4.4)) as figure:
        grid = figure.subplots(3, 1, sharex=True)
        for axes, (title, scheme) in zip(grid, kinds.items(), strict=True):
            weights = np.stack([_get_weights(scheme, batch, fold) for fold in range(k)])
            _draw_weights(axes, weights)
            axes.set_title(f"{title}: the weight with which a fold learns a row it has tested", fontsize=9)
            axes.set_ylabel("fold")
        axes.set_xlabel("row")
    return Figure(figure)


def _get_weights(scheme: Scheme, batch: Batch, fold: int) -> NDArray[np.float64]:
    weight = scheme.step(batch, fold, 3).weight
    return np.ones(len(batch)) if weight is None else weight


def _draw_weights(axes: "Axes", weights: NDArray[np.float64]) -> None:
    for (fold, row), weight in np.ndenumerate(weights):
        shade = min(weight, 3.0) / 3.0
        axes.add_artist(_build_tile(row, fold, 0.15 + 0.85 * shade if weight else 0.0))
        if weight:
            axes.text(
                row, fold, f"{weight:.0f}", ha="center", va="center", fontsize=7, color="w" if shade > 0.5 else "k"
            )
    axes.set_xlim(-0.6, weights.shape[1] - 0.4)
    axes.set_ylim(len(weights) - 0.4, -0.6)
    axes.set_yticks(range(len(weights)), [str(fold + 1) for fold in range(len(weights))])
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)


def _build_tile(row: int, fold: int, shade: float) -> Rectangle:
    colour = (*(int(LEARNT[start : start + 2], 16) / 255 for start in (1, 3, 5)), shade)
    return Rectangle((row - 0.45, fold - 0.42), 0.9, 0.84, facecolor=colour, edgecolor="#c9ced6", lw=0.6)


def draw_forgettings() -> Figure:
    """Draw the accuracy of one run under five forgettings."""
    kinds = {
        "Landmark()": sg.Landmark(),
        "Window(1000)": sg.Window(1000),
        "Tumbling(1000)": forgetting.Tumbling(1000),
        "Fading(0.999)": sg.Fading(0.999),
        "AdwinWindow()": sg.AdwinWindow(),
    }
    stream = streams.Sudden(sg.RandomRBF(seed=1), sg.RandomRBF(seed=2), position=10_000)
    results = sg.evaluate(stream, sg.NaiveBayes(), n_rows=20_000, forgetting=list(kinds.values()), every=50)
    with new_figure((7.5, 4.0)) as figure:
        axes = figure.add_subplot()
        axes.axvline(10_000, color="#5a6676", lw=0.9, ls="--")
        axes.annotate("sudden drift", (10_000, 0.97), (5, 0), xycoords=("data", "axes fraction"),
                      textcoords="offset points", color="#5a6676", va="top")  # fmt: skip
        for index, (title, name) in enumerate(zip(kinds, results.forgettings, strict=True)):
            axes.plot(
                results.rows,
                100 * results.curve("NaiveBayes", "accuracy", name)[:, 0],
                label=title,
                **get_line_style(index),
            )
        Axis(results.n_rows).style(axes)
        axes.set_ylabel("accuracy %")
        axes.set_title("One run of naive Bayes, five forgettings")
        figure.legend(loc="outside lower center", ncols=5, handlelength=2.5)
    return Figure(figure)


def draw_measures() -> Figure:
    """Draw five measures of one run while a class becomes rare."""
    parts = [
        streams.Imbalanced(sg.SEA(seed=seed), shares=(share, 1 - share))
        for seed, share in enumerate((0.5, 0.1, 0.03), 1)
    ]
    changing = streams.Sudden(parts[0], streams.Sudden(parts[1], parts[2], position=20_000), position=10_000)
    names = ["accuracy", "balanced_accuracy", "g_mean", "kappa", "kappa_m"]
    results = sg.evaluate(
        changing, sg.NaiveBayes(), n_rows=30_000, forgetting=sg.Window(2000), measures=names, every=100
    )
    with new_figure((7.5, 4.0)) as figure:
        axes = figure.add_subplot()
        for index, name in enumerate(names):
            axes.plot(results.rows, 100 * results.curve("NaiveBayes", name)[:, 0], label=name, **get_line_style(index))
        for row, share in ((0, "50%"), (10_000, "10%"), (20_000, "3%")):
            axes.axvline(row, color="#5a6676", lw=0.9, ls="--")
            axes.annotate(f"rarer class: {share}", (row, 0.02), (5, 0), xycoords=("data", "axes fraction"),
                          textcoords="offset points", color="#5a6676")  # fmt: skip
        Axis(results.n_rows).style(axes)
        axes.set_ylabel("%, last 2,000 rows")
        axes.set_title("One run of naive Bayes, five measures")
        figure.legend(loc="outside lower center", ncols=5, handlelength=2.5)
    return Figure(figure)
