"""Pictures of Tables 2, 3 and 4: how often tests reject, ours as dots, published figures as strokes."""

from typing import Any

import numpy as np

from papers.bifet_2015.rates import PUBLISHED_AS, TESTS, WORDS, Rates, tested_in
from papers.bifet_2015.rejections import MODES, NOISES, SCHEMES, STREAMS
from papers.published import published

__all__ = ["draw_overall", "draw_streams"]


def draw_overall(rates: Rates, shared: Rates, figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
    """Draw the rates of all tests over all streams, a panel a noise."""
    known = published("bifet-2015-table-2")["rates"]
    axes = figure.subplots(1, 3, sharey=True)
    bars = [(test, mode) for test in TESTS for mode in MODES if tested_in(test, mode)]
    bars = [(test, mode) for test, mode in bars if mode != "all" or test == "two_way_t"]
    places = np.arange(len(bars))
    for axis, noise in zip(axes, NOISES, strict=True):
        for column, scheme in enumerate(SCHEMES):
            shift = 0.22 * (column - 1)
            ours = [rates.mean_rate(test, mode, noise)[column] for test, mode in bars]
            axis.plot(ours, places + shift, "o", c=f"C{column}", markersize=5, label=scheme.replace("_", "-"))
            if shared.n_decisions:
                one_seed = [shared.mean_rate(test, mode, noise)[column] for test, mode in bars]
                label = "one seed for all folds" if column == 0 else None
                axis.plot(one_seed, places + shift, "x", c=f"C{column}", markersize=4, alpha=0.6, label=label)
            told = [known.get(PUBLISHED_AS.get(test), {}).get(WORDS[mode]) for test, mode in bars]
            printed = [np.nan if one is None else one[noise][column] for one in told]
            label = "published" if column == 0 else None
            axis.plot(printed, places + shift, "|", c="black", markersize=7, label=label)
        axis.axvline(0.05, c="grey", linewidth=0.7, linestyle=":")
        axis.set(title="no change" if noise == "0" else f"noise {noise}", xlabel="rejected", xlim=(-0.03, 1.03))
    axes[0].set_yticks(places, [f"{test}, {WORDS[mode]}" for test, mode in bars])
    axes[0].invert_yaxis()
    axes[0].legend(fontsize=7)


def draw_streams(rates: Rates, name: str, test: str, mode: str, figure: Any) -> None:  # noqa: ANN401
    """Draw the rates of one test on each stream, a panel a noise."""
    known, axes = published(name), figure.subplots(1, 3, sharey=True)
    places = np.arange(len(STREAMS))
    for axis, noise in zip(axes, NOISES, strict=True):
        ours = rates.rate(test, mode, noise)
        for column, scheme in enumerate(SCHEMES):
            height = places + 0.22 * (column - 1)
            axis.plot(ours[:, column], height, "o", c=f"C{column}", markersize=5, label=scheme.replace("_", "-"))
            printed = [known[stream][noise][column] for stream in STREAMS]
            axis.plot(printed, height, "|", c="black", markersize=7, label="published" if column == 0 else None)
        axis.axvline(0.05, c="grey", linewidth=0.7, linestyle=":")
        axis.set(title="no change" if noise == "0" else f"noise {noise}", xlabel="rejected", xlim=(-0.03, 1.03))
    axes[0].set_yticks(places, STREAMS)
    axes[0].invert_yaxis()
    axes[2].legend(fontsize=7)
