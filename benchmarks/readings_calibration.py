"""Calibration of the two-way t of the mean of windowed and faded readings: how often it claims what does not exist.

The nulls, learners and streams are those of `benchmarks.calibration`: seeds (two baggings, alike but for their seeds)
and mirrored (a coin decides for each row which of two learners predicts for the first), on three streams of 5,000 rows
with ten folds of three schemes. The readings are under a sliding window, tumbling windows and fading, read so often
that windows overlap, and of accuracy, kappa and F1.

The rule, written down before the repetitions were run: level 0.05, and pooled over the streams and schemes at most
0.060 may be rejected for each forgetting, measure and null, for either question.

``python -m benchmarks readings_calibration`` runs repetitions 1 to 400, or ``READINGS_REPETITIONS``, and writes
results/readings_calibration.csv.
"""

import csv
import os
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

import streamgauge as sg
from benchmarks.calibration import ALPHA, PLAIN, SCHEMES, K, Predictions, Run, evaluate, open_stream
from streamgauge import randomness
from streamgauge.learners import OzaBag
from streamgauge.protocols import LearnerSpec
from streamgauge.significance import two_way_t
from streamgauge.significance.mean_readings import find_width, leave_readings_out

REPETITIONS = 400
POOLED_LIMIT = 0.060
FORGETTINGS = {"Window(width=50)": 10, "Window(width=25)": 25, "Tumbling(width=50)": 50, "Fading(factor=0.98)": 10}
"""The forgettings, and the number of rows between readings."""

MEASURES = ("accuracy", "kappa", "f1[1]")
RATES_FILE = Path(__file__).parent / "results" / "readings_calibration.csv"


def count_confusions(run: Run, predictions: Predictions) -> NDArray[np.float64]:
    """Return for each row and fold whether it is a true positive, false positive, false negative or true negative."""
    truth, said = run.y[None] == 1, predictions.classes == 1
    return np.stack([truth & said, ~truth & said, truth & ~said, ~truth & ~said]).astype(np.float64)  # [4, folds, n]


def read(confusions: NDArray[np.float64], forgetting: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the counts that a forgetting remembers at some rows, float64 [4, readings, folds]."""
    width = find_width(forgetting)
    if forgetting.startswith("Fading"):
        remembered = lfilter([1.0], [1.0, 1.0 / width - 1.0], confusions, axis=2)[:, :, rows - 1]
    else:
        total = np.concatenate([np.zeros((4, K, 1)), np.cumsum(confusions, axis=2)], axis=2)
        remembered = total[:, :, rows] - total[:, :, np.maximum(rows - int(width), 0)]
    return np.moveaxis(remembered, 2, 1)


def measure(counts: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the measures of counts, float64 [readings, folds] each."""
    both, only_said, only_true, neither = counts
    n = counts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        accuracy = (both + neither) / n
        said, true = (both + only_said) / n, (both + only_true) / n
        chance = said * true + (1 - said) * (1 - true)
        f1 = 2 * both / (2 * both + only_said + only_true)
        return {"accuracy": accuracy, "kappa": (accuracy - chance) / (1 - chance), "f1[1]": f1}


def run_tests(
    run: Run, pair: tuple[Predictions, Predictions], scheme: str
) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the p-values of both questions by forgetting and measure."""
    confusions = [count_confusions(run, predictions) for predictions in pair]
    p_values = {}
    for forgetting, every in FORGETTINGS.items():
        rows = np.arange(every, len(run.y) + 1, every)
        values = [measure(read(counts, forgetting, rows)) for counts in confusions]
        for name in MEASURES:
            readings = np.stack([of_learner[name] for of_learner in values])
            left_out, _, _ = leave_readings_out(readings, rows, find_width(forgetting))
            outcome = two_way_t(left_out, scheme=SCHEMES[scheme].__name__)
            assert outcome.such_streams is not None
            p_values[forgetting, name] = (outcome.p_value, outcome.such_streams.p_value)
    return p_values


def run_once(stream: str, scheme: str, repetition: int) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return the p-values of one repetition by null, forgetting and measure."""
    bag = OzaBag(sg.HoeffdingTree(grace_period=50), 3)
    learners: dict[str, LearnerSpec] = {
        "a": sg.learners.NoiseFilter(bag, 0.0, seed=1),
        "b": sg.learners.NoiseFilter(bag, 0.0, seed=2),
        "bayes": sg.NaiveBayes(),
        "tree": sg.HoeffdingTree(grace_period=50),
    }
    run = evaluate(open_stream(stream, repetition), learners, scheme, repetition)
    heads = randomness.uniform(repetition, "coin", 0, 0, len(run.y)) < 0.5
    bayes, tree = run.learners["bayes"], run.learners["tree"]
    pairs = {
        "seeds": (run.learners["a"], run.learners["b"]),
        "mirrored": (bayes.mix(tree, heads), bayes.mix(tree, ~heads)),
    }
    return {
        (null, *key): p_values for null, pair in pairs.items() for key, p_values in run_tests(run, pair, scheme).items()
    }


def main() -> None:
    """Run the repetitions and write the share of rejections."""
    repetitions = int(os.environ.get("READINGS_REPETITIONS", REPETITIONS))
    rejected: dict[tuple[str, str, str], NDArray[np.int64]] = defaultdict(lambda: np.zeros(2, dtype=np.int64))
    n_runs = 0
    for repetition in range(1, repetitions + 1):
        for stream, scheme in product(PLAIN, SCHEMES):
            n_runs += 1
            for key, p_values in run_once(stream, scheme, repetition).items():
                rejected[key] += np.array(p_values) <= ALPHA
        write(rejected, n_runs)


def write(rejected: dict[tuple[str, str, str], NDArray[np.int64]], n_runs: int) -> None:
    """Write the share of rejections so far."""
    with RATES_FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("null", "forgetting", "measure", "runs", "on this stream", "for such streams", "holds"))
        for key, counts in rejected.items():
            shares = counts / n_runs
            writer.writerow((*key, n_runs, *(f"{share:.4f}" for share in shares), bool(max(shares) <= POOLED_LIMIT)))


if __name__ == "__main__":
    main()
