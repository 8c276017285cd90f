"""Verdicts and estimates of selected learners, and of merged runs."""

from dataclasses import replace

import numpy as np

from streamgauge.records import Differences
from streamgauge.results import Results
from streamgauge.store.merging import merge_runs, select_learners
from tests.support.report_examples import example_results
from tests.support.verdict_examples import BETTER, BROKEN, ESTIMATE, KEPT, MODELS, PAIRS, SURE_LOSS


def make_run() -> Results:
    plain = example_results(("tree", "bayes", "majority"), n_folds=1, n_points=3, measures=("accuracy",))
    pairs, measures = tuple((v.first, v.second) for v in PAIRS), tuple(v.measure for v in PAIRS)
    values = np.arange(12.0).reshape(1, 4, 3)
    differences = Differences(np.array([1000]), pairs, values, 0.05, "block_sequence", measures)
    facts = {"model_verdicts": MODELS, "label_estimates": (ESTIMATE,)}
    return replace(plain, verdicts=PAIRS, differences=differences, **facts)  # type: ignore[arg-type]


def test_selected_learners_keep_their_verdicts_in_every_measure() -> None:
    part = select_learners(make_run(), ["tree", "bayes"])
    assert part.verdicts == (BETTER, SURE_LOSS)
    assert part.model_verdicts == (BROKEN, KEPT)
    assert part.label_estimates == (ESTIMATE,)
    assert part.differences is not None
    assert part.differences.columns == (("tree", "bayes", "accuracy"), ("tree", "bayes", "log_loss"))
    assert part.differences.between("tree", "bayes", "log_loss").tolist() == [[3.0, 4.0, 5.0]]
    assert select_learners(make_run(), ["majority"]).label_estimates == ()


def test_merged_runs_keep_the_verdicts_on_one_model() -> None:
    run = make_run()
    parts = [select_learners(run, ["tree"]), select_learners(run, ["bayes", "majority"])]
    assert merge_runs(parts).model_verdicts == MODELS
    assert merge_runs(parts).label_estimates == (ESTIMATE,)
