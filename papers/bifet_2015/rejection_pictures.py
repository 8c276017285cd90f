"""Pictures of Tables 2, 3 and 4: rejection rates, ours as dots, published ones as strokes."""

from typing import Any

import numpy as np

from papers.bifet_2015.rates import PUBLISHED_AS, TESTS, WORDS, Rates, is_tested
from papers.bifet_2015.rejections import MODES, NOISES, SCHEMES, STREAMS
from papers.published import read_published

__all__ = ["draw_overall", "draw_streams"]


def draw_overall(rates: Rates, shared: Rates, figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
    """Draw the rates of all tests over all streams, one panel per noise."""
    published = read_published("bifet-2015-table-2")["rates"]
    axes = figure.subplots(1, 3, sharey=True)
    bars = [(test, mode) for test in TESTS for mode in MODES if is_tested(test, mode)]
    bars = [(test, mode) for test, mode in bars if mode != "all" or test == "two_way_t"]
    positions = np.arange(len(bars))
    for axis, noise in zip(axes, NOISES, strict=True):
        for column, scheme in enumerate(SCHEMES):
            shift = 0.22 * (column - 1)
            ours = [rates.average_streams(test, mode, noise)[column] for test, mode in bars]
            axis.plot(ours, positions + shift, "o", c=f"C{column}", markersize=5, label=scheme.replace("_", "-"))
            if shared.n_decisions:
                one_seed = [shared.average_streams(test, mode, noise)[column] for test, mode in bars]
                label = "one seed for all folds" if column == 0 else None
                axis.plot(one_seed, positions + shift, "x", c=f"C{column}", markersize=4, alpha=0.6, label=label)
            theirs = [published.get(PUBLISHED_AS.get(test), {}).get(WORDS[mode]) for test, mode in bars]
            printed = [np.nan if by_noise is None else by_noise[noise][column] for by_noise in theirs]
            label = "published" if column == 0 else None
            axis.plot(printed, positions + shift, "|", c="black", markersize=7, label=label)
        _finish_panel(axis, noise)
    axes[0].set_yticks(positions, [f"{test}, {WORDS[mode]}" for test, mode in bars])
    axes[0].invert_yaxis()
    axes[0].legend(fontsize=7)


def draw_streams(rates: Rates, name: str, test: str, mode: str, figure: Any) -> None:  # noqa: ANN401
    """Draw the rates of one test on each stream, one panel per noise."""
    published, axes = read_published(name), figure.subplots(1, 3, sharey=True)
    positions = np.arange(len(STREAMS))
    for axis, noise in zip(axes, NOISES, strict=True):
        ours = rates.average_runs(test, mode, noise)
        for column, scheme in enumerate(SCHEMES):
            height = positions + 0.22 * (column - 1)
            axis.plot(ours[:, column], height, "o", c=f"C{column}", markersize=5, label=scheme.replace("_", "-"))
            printed = [published[stream][noise][column] for stream in STREAMS]
            axis.plot(printed, height, "|", c="black", markersize=7, label="published" if column == 0 else None)
        _finish_panel(axis, noise)
    axes[0].set_yticks(positions, STREAMS)
    axes[0].invert_yaxis()
    axes[2].legend(fontsize=7)


def _finish_panel(axis: Any, noise: str) -> None:  # noqa: ANN401
    axis.axvline(0.05, c="grey", linewidth=0.7, linestyle=":")
    axis.set(title="no change" if noise == "0" else f"noise {noise}", xlabel="rejected", xlim=(-0.03, 1.03))
