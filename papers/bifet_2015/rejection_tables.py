"""Tables 2, 3 and 4: how often tests reject, over all streams and for each."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from papers.bifet_2015.rates import PUBLISHED_AS, TESTS, WORDS, Rates, tested_in
from papers.bifet_2015.rejection_pictures import draw_overall, draw_streams
from papers.bifet_2015.rejections import MODES, NOISES, SCHEMES, SEEDS, STREAMS
from papers.findings import Claim, Done, Entry, Finding, Table
from papers.published import published

__all__ = ["find_mcnemar", "find_overall", "find_wilcoxon"]

HEADS = tuple(f"{'cv' if scheme == 'cross_validation' else scheme} {noise}" for noise in NOISES for scheme in SCHEMES)

COMMON_NOTES = (
    "Poker stands for the generator of poker hands, since the 829,201 rows of the file are not redistributed: it deals"
    " hands at random, as they come at a table.",
    "The paper's random forests are those of leveraging bagging; ours are ten trees that look at random attributes,"
    " with Poisson(6) weights, and a tree that gets worse gives way to a new one.",
    "The paper does not say how long its streams were. Ours have as many rows as stated, drifts at a quarter, a half"
    " and three quarters of them. McNemar rejects the more, the more rows there are.",
    "McNemar is done in every fold, and the share of folds that reject is counted.",
    "Noise switches a prediction to a class drawn from all classes, as NoiseFilter does; the forests have different"
    " seeds also where one of them is noisy.",
)
CRITICAL_VALUES = (
    "The paper's sign test rejects at eight wins of ten, which chance exceeds in 0.109 of cases, and its Wilcoxon rates"
    " are those of a rank sum of at most 11 (0.1055), not of 8 as its text has it (0.049). 'sign' and 'wilcoxon' are"
    " exact at 0.05; 'sign, 8 wins' and 'wilcoxon, W <= 11' are the rules that the published rates point to."
)
ONE_SEED = (
    "One seed for all folds makes each fold's pair of forests the same draw: folds repeat one another, and tests over"
    " folds take one lucky seed for a rule. How far that goes depends on how much of a forest its seed decides. Trees"
    " of fixed random attributes keep them in all folds; ours draw attributes anew at every leaf, so that forests of"
    " one seed part as soon as their folds' rows do."
)
MCNEMAR = (
    "McNemar speaks of two trained forests, which do differ; it says so the more often, the more rows a fold scores and"
    " the more two seeds differ. Ours scores fewer rows than the paper's, of cross-validation's held-out rows a tenth,"
    " and forests of ten trees that all draw attributes at their leaves are more alike than the paper's seem to be:"
    " most likely that is why our rates without noise are lower, and our power with noise is higher."
)


def _basis(rates: Rates, shared: Rates) -> str:
    n, m = (one.n_runs[one.n_runs > 0] for one in (rates, shared))
    of_shared = f", {_span(m)} with one seed for all folds" if len(m) else ""
    return (
        f"{_span(n)} runs of up to {rates.n_rows:,} rows on each of {len(n)} streams with seeds per fold{of_shared};"
        f" {rates.n_decisions:,} pairs of forests behind a mean rate"
    )


def _span(counts: NDArray[np.int64]) -> str:
    if not len(counts):
        return "0"
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def _cell(ours: float, theirs: float | None) -> str:
    if np.isnan(ours):
        return "" if theirs is None else f"- ({theirs:.2f})"
    return f"{ours:.2f}" if theirs is None else f"{ours:.2f} ({theirs:.2f})"


def _in_order(by_noise: dict[str, list[float]] | None) -> list[float | None]:
    return [None] * len(HEADS) if by_noise is None else [rate for noise in NOISES for rate in by_noise[noise]]


# Table 2


def _overall_table(rates: Rates, title: str, *, beside: bool) -> Table:
    known = published("bifet-2015-table-2")["rates"]
    rows: list[tuple[Entry, ...]] = []
    for test in TESTS:
        for mode in MODES:
            if not tested_in(test, mode) or (mode == "all" and test != "two_way_t"):
                continue
            ours = np.concatenate([rates.mean_rate(test, mode, noise) for noise in NOISES])
            printed = known.get(PUBLISHED_AS.get(test), {}).get(WORDS[mode]) if beside else None
            cells = [_cell(*pair) for pair in zip(ours.tolist(), _in_order(printed), strict=True)]
            rows.append((test, WORDS[mode], *cells))
    return Table(title, ("test", "rows scored", *HEADS), tuple(rows))


def _time_table(done: Done) -> Table | None:
    timed = [holds for holds in done.values() if "seeds" not in holds]
    if not timed:
        return None
    known = published("bifet-2015-table-2")["seconds"]
    rows = []
    for mode in MODES[:2]:
        ours = [float(np.mean([holds[mode][scheme] for holds in timed])) for scheme in SCHEMES]
        theirs = known[WORDS[mode]]["0"]
        shares = [f"{a / ours[0]:.2f} ({b / theirs[0]:.2f})" for a, b in zip(ours, theirs, strict=True)]
        seconds = [f"{a:.2f} s ({b:,} s)" for a, b in zip(ours, theirs, strict=True)]
        rows += [(WORDS[mode], "mean time", *seconds), (WORDS[mode], "by that of bootstrap", *shares)]
    title = f"Mean CPU time of an evaluation over {len(timed)} streams, ours (published)"
    return Table(title, ("rows scored", "figure", *SCHEMES), tuple(rows))


def _over(rates: Rates, test: str, noise: str) -> NDArray[np.float64]:
    """Give the mean rates of a test by rows scored and kind of folds."""
    modes = ("all",) if test == "two_way_t" else MODES[:2]
    return np.array([rates.mean_rate(test, mode, noise) for mode in modes])


def _level_claims(rates: Rates, shared: Rates) -> Iterator[Claim]:
    """Tell of hypotheses that are true."""
    found = {test: _over(rates, test, "0") for test in TESTS}
    limits = [level + rates.slack(level) for level in (0.05, 0.109, 0.1055)]
    yield Claim(
        f"McNemar rejects at least 0.42 of true hypotheses, with every kind of folds; here {_range(found['mcnemar'])}",
        bool(found["mcnemar"].min() >= 0.42),
    )
    yield Claim(
        "McNemar rejects true hypotheses more often than 0.05, in the mean over kinds of folds; here"
        f" {found['mcnemar'].mean():.2f}",
        bool(found["mcnemar"].mean() > limits[0]),
    )
    yield Claim(
        f"the exact Wilcoxon and sign tests keep to 0.05 where each fold has its own seed (up to {limits[0]:.3f},"
        f" three standard errors); here {_range(found['wilcoxon'])} and {_range(found['sign'])}",
        bool(max(found["wilcoxon"].max(), found["sign"].max()) <= limits[0]),
    )
    yield Claim(
        f"so does our default, the two-way t over all rows; here {_range(found['two_way_t'])}",
        bool(found["two_way_t"].max() <= limits[0]),
    )
    wins, ranks = found["sign, 8 wins"], found["wilcoxon, W <= 11"]
    yield Claim(
        "the rules of eight wins and of W <= 11 reject about 0.11 (published: 0.09 to 0.12, 0.10 to 0.19); here"
        f" {_range(wins)} and {_range(ranks)}",
        bool(wins.max() <= limits[1] and ranks.max() <= limits[2]),
    )
    if shared.n_decisions:
        one_seed = _over(shared, "wilcoxon", "0")
        yield Claim(
            "with one seed for all folds the exact Wilcoxon test rejects true hypotheses more often than 0.05, in the"
            f" mean over kinds of folds; here {one_seed.mean():.2f}",
            bool(one_seed.mean() > 0.05 + shared.slack(0.05)),
        )


def _power_claims(rates: Rates) -> Iterator[Claim]:
    """Tell of hypotheses that are false."""
    some, more = (_over(rates, "wilcoxon", noise) for noise in ("0.05", "0.1"))
    yield Claim(
        "split finds noise of 0.05 less often than bootstrap and cross-validation do (Wilcoxon)",
        bool((some[:, 2] < some[:, :2].min(axis=1)).all()),
    )
    yield Claim("more noise is found more often", bool((more >= some).all()))


def _range(rates: NDArray[np.float64]) -> str:
    low, high = f"{rates.min():.2f}", f"{rates.max():.2f}"
    return low if low == high else f"{low} to {high}"


def find_overall(done: Done) -> Finding:
    """Tell the rates over all streams."""
    rates, shared = (Rates.of(done, seeds) for seeds in SEEDS)
    tables = [_overall_table(rates, "Mean rejections, a seed for each fold: ours (published)", beside=True)]
    if shared.n_decisions:
        tables.append(_overall_table(shared, "Mean rejections, one seed for all folds: ours", beside=False))
    times = _time_table(done)
    tables += [times] if times else []
    timed = "The published times are wall times of a cluster; of ours only the ratios mean anything beside them."
    notes = (CRITICAL_VALUES, MCNEMAR, ONE_SEED, *COMMON_NOTES, timed)
    draw = partial(draw_overall, rates, shared)
    claims = (*_level_claims(rates, shared), *_power_claims(rates))
    return Finding(_basis(rates, shared), tuple(tables), draw, claims, notes, _data(rates, shared), size=(11, 5))


# Tables 3 and 4


def _stream_table(rates: Rates, test: str, mode: str, title: str, name: str | None) -> Table:
    known = published(name) if name else {}
    rates_of = [rates.rate(test, mode, noise) for noise in NOISES]
    rows: list[tuple[Entry, ...]] = []
    for place, stream in enumerate(STREAMS):
        ours = np.concatenate([one[place] for one in rates_of]).tolist()
        rows.append((stream, *(_cell(*pair) for pair in zip(ours, _in_order(known.get(stream)), strict=True))))
    means = np.concatenate([rates.mean_rate(test, mode, noise) for noise in NOISES]).tolist()
    printed: list[float | None] = [None] * len(means)
    if known:
        printed = [float(np.mean([known[one][noise][k] for one in STREAMS])) for noise in NOISES for k in range(3)]
    rows.append(("mean", *(_cell(*pair) for pair in zip(means, printed, strict=True))))
    return Table(title, ("stream", *HEADS), tuple(rows))


def find_mcnemar(done: Done) -> Finding:
    """Tell the rates of McNemar for each stream; its means are those of the non-prequential row of Table 2."""
    rates, shared = (Rates.of(done, seeds) for seeds in SEEDS)
    name, test, mode = "bifet-2015-table-3", "mcnemar", "held_out"
    tables = [
        _stream_table(rates, test, mode, "McNemar, non-prequential, a seed for each fold: ours (published)", name)
    ]
    if shared.n_decisions:
        tables.append(_stream_table(shared, test, mode, "McNemar, one seed for all folds: ours", None))
    streams = rates.rate(test, mode, "0")[rates.n_runs > 0]
    high = int((streams.max(axis=1) > 0.10).sum())
    claims = (
        Claim(
            f"McNemar rejects more than 0.10 of true hypotheses with some kind of folds on most streams; here on {high}"
            f" of {len(streams)}",
            2 * high > len(streams),
        ),
    )
    return _of_streams(rates, shared, tables, claims, (name, test, mode))


def find_wilcoxon(done: Done) -> Finding:
    """Tell the rates of Wilcoxon's test for each stream; its means are those of the prequential row of Table 2."""
    rates, shared = (Rates.of(done, seeds) for seeds in SEEDS)
    name, test, mode = "bifet-2015-table-4", "wilcoxon", "training"
    tables = [
        _stream_table(rates, test, mode, "Wilcoxon, exact, prequential, a seed for each fold: ours (published)", name),
        _stream_table(rates, "wilcoxon, W <= 11", mode, "The same with the limit W <= 11: ours (published)", name),
        _stream_table(rates, "two_way_t", "all", "Our default, the two-way t over all rows: ours", None),
    ]
    if shared.n_decisions:
        tables.append(_stream_table(shared, test, mode, "Wilcoxon, exact, one seed for all folds: ours", None))
    level = rates.mean_rate(test, mode, "0")
    power = rates.mean_rate(test, mode, "0.1")
    easy = [STREAMS.index(one) for one in ("HYP(10,0.001)", "HYP(10,0.0001)") if rates.n_runs[STREAMS.index(one)]]
    claims = (
        Claim(
            f"at no noise it rejects about 0.05 with every kind of folds; here {_range(level)}",
            bool(level.max() <= 0.05 + rates.slack(0.05)),
        ),
        Claim(
            "noise of 0.1 is found most often by cross-validation or bootstrap, least by split; here"
            f" {power[0]:.2f}, {power[1]:.2f}, {power[2]:.2f}",
            bool(power[2] < power[:2].min()),
        ),
        Claim(
            "on hyperplanes it always finds noise of 0.1 with bootstrap and cross-validation",
            bool((rates.rate(test, mode, "0.1")[easy][:, :2] == 1.0).all()),
        ),
    )
    return _of_streams(rates, shared, tables, claims, (name, test, mode))


def _of_streams(
    rates: Rates, shared: Rates, tables: list[Table], claims: tuple[Claim, ...], shown: tuple[str, str, str]
) -> Finding:
    told = ", ".join(f"{name} {value:.3f}" for name, value in rates.accuracies.items())
    notes = (
        CRITICAL_VALUES,
        MCNEMAR,
        ONE_SEED,
        *COMMON_NOTES,
        f"Accuracies of our forests, over all rows and kinds of folds: {told}.",
    )
    draw = partial(draw_streams, rates, *shown)
    return Finding(_basis(rates, shared), tuple(tables), draw, claims, notes, _data(rates, shared), size=(11, 5))


def _data(rates: Rates, shared: Rates) -> Table:
    """Give every rate of every stream, with the published one where there is one."""
    by_stream = {("mcnemar", "held_out"): "bifet-2015-table-3", ("wilcoxon", "training"): "bifet-2015-table-4"}
    rows: list[tuple[Entry, ...]] = []
    for seeds, of_seeds in zip(SEEDS, (rates, shared), strict=True):
        for test, mode, noise in ((t, m, n) for t in TESTS for m in MODES for n in NOISES if tested_in(t, m)):
            known = published(by_stream[test, mode]) if seeds == "per_fold" and (test, mode) in by_stream else {}
            ours = of_seeds.rate(test, mode, noise)
            for place, stream in enumerate(STREAMS):
                for column, scheme in enumerate(SCHEMES):
                    rate = float(ours[place, column])
                    if not np.isnan(rate):
                        printed = known[stream][noise][column] if known else None
                        less = None if printed is None else rate - printed
                        n_runs = int(of_seeds.n_runs[place])
                        rows.append(
                            (seeds, test, WORDS[mode], float(noise), scheme, stream, n_runs, rate, printed, less)
                        )
    columns = ("seeds", "test", "rows scored", "noise", "folds", "stream", "runs", "ours", "published", "difference")
    return Table("rates", columns, tuple(rows))
