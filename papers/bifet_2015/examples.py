"""Tables 1 and 5: worked examples."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from papers.findings import Claim, Done, Experiment, Finding, Piece, Table, get_only
from papers.published import read_published
from papers.worked_examples import build_finding, check_matrix
from streamgauge.backends import Backend
from streamgauge.significance import sign_test, wilcoxon
from streamgauge.significance.fold_tests import double_ranks

__all__ = ["FOLDS", "MATRIX", "find_folds", "find_matrix"]


def _test_folds(_: Backend) -> dict[str, Any]:
    published = read_published("bifet-2015-table-1")
    differences = np.round(np.array(published["a"]) - np.array(published["b"]), 2)
    ranks = double_ranks(np.abs(differences)) / 2
    sign, signed_rank = sign_test(differences), wilcoxon(differences)
    return {
        "differences": differences.tolist(),
        "ranks": ranks.tolist(),
        "wins": int(sign.statistic),
        "rank_sums": [float(ranks[differences > 0].sum()), float(ranks[differences < 0].sum())],
        "p": {"sign": sign.p_value, "wilcoxon": signed_rank.p_value},
        "rejected": {"sign": sign.significant, "wilcoxon": signed_rank.significant},
    }


FOLDS = Experiment("bifet-2015-table-1", lambda _: [Piece("folds", _test_folds)])


def find_folds(done: Done) -> Finding:
    """Compare the example of the sign test and of Wilcoxon's test."""
    ours, theirs = get_only(done), read_published("bifet-2015-table-1")
    rows = zip(theirs["a"], theirs["b"], ours["differences"], theirs["differences"], ours["ranks"], theirs["ranks"])  # noqa: B905
    folds = Table(
        "Ten folds, accuracies in percent",
        ("fold", "A", "B", "A - B", "published", "rank", "published rank"),
        tuple((fold, *row) for fold, row in enumerate(rows, start=1)),
    )
    tests = Table(
        "The two tests at 0.05",
        ("figure", "ours", "published"),
        (
            ("folds that A wins", ours["wins"], theirs["wins"]),
            ("sum of positive ranks", ours["rank_sums"][0], theirs["rank_sums"][0]),
            ("sum of negative ranks", ours["rank_sums"][1], theirs["rank_sums"][1]),
            ("sign test: p", ours["p"]["sign"], None),
            ("sign test rejects", str(ours["rejected"]["sign"]), "True"),
            ("Wilcoxon: p", ours["p"]["wilcoxon"], None),
            ("Wilcoxon rejects", str(ours["rejected"]["wilcoxon"]), "True"),
        ),
    )
    claims = (
        Claim("A is better in eight of ten folds", ours["wins"] == 8),
        Claim("Wilcoxon's test rejects at 0.05", ours["rejected"]["wilcoxon"]),
        Claim("rank sums are 52 and 3, which add up to 55", ours["rank_sums"] == [52.0, 3.0]),
        Claim("eight wins of ten are not significant at 0.05, two-sided", not ours["rejected"]["sign"]),
    )
    notes = (
        "The paper prints 53 for the sum of positive ranks; ten ranks add up to 55, so it is 52.",
        "The paper prints the differences of folds 2 and 3 without the minus sign.",
        "The paper's sign test rejects at eight wins. Eight or more wins on either side have a probability of 0.109 by"
        " chance; 0.05 needs nine. This is also why its sign test rejects 0.09 to 0.12 of true hypotheses.",
    )
    return Finding(
        basis="computed exactly, without randomness",
        tables=(folds, tests),
        draw=partial(_draw_ranks, ours),
        claims=claims,
        notes=notes,
        size=(7, 3),
    )


def _draw_ranks(ours: Mapping[str, Any], figure: Any) -> None:  # noqa: ANN401
    axis = figure.subplots()
    signed = np.sign(ours["differences"]) * np.array(ours["ranks"])
    for part, label in ((np.maximum(signed, 0), "A is better"), (np.minimum(signed, 0), "B is better")):
        axis.bar(range(1, 11), part, label=label)
    axis.legend()
    axis.axhline(0.0, c="grey", linewidth=0.5)
    axis.set(title="signed ranks of A - B", xlabel="fold", ylabel="rank", xticks=range(1, 11))


def _copy_matrix(_: Backend) -> dict[str, Any]:
    return {"confusion": read_published("bifet-2015-table-5")["confusion"]}


MATRIX = Experiment("bifet-2015-table-5", lambda _: [Piece("matrix", _copy_matrix)])


def find_matrix(_: Done) -> Finding:
    """Compare the measures of the confusion matrix."""
    table, agreement = check_matrix(
        read_published("bifet-2015-table-5"), "Measures of the confusion matrix 40, 30 / 5, 25"
    )
    by_name = {str(row[0]): row[1] for row in table.rows}
    worse = Claim(
        "kappa is above 0 although the majority class does better, and kappa_m is below 0",
        float(by_name["kappa"] or 0) > 0.0 > float(by_name["kappa_m"] or 0),
    )
    return build_finding(table, (agreement, worse), ("No value differs.",))
