"""Write a file of payments as a bank has it, and compare four models on it.

The file has a time, an amount, a merchant, a country, an identifier, empty cells and 2% frauds; in the middle of the
year the fraudsters change their ways. Whether a payment was a fraud is known 30 days later.

    python examples/payments.py                 # 100,000 payments
    python examples/payments.py payments.csv 20000
"""

import csv
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from lightgbm import LGBMClassifier
from river import compose, linear_model, optim
from river import preprocessing as river_preprocessing
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import streamgauge as sg
from streamgauge.labelling import DelayedByTime
from streamgauge.learners import Refitted
from streamgauge.significance import compare_all

COUNTRIES = ("AT", "BR", "DE", "FR", "GB", "IN", "JP", "NG", "PL", "US")
MERCHANTS = (
    "airline",
    "books",
    "casino",
    "electronics",
    "fuel",
    "games",
    "groceries",
    "hotel",
    "jewellery",
    "pharmacy",
)


def write_payments(path: str | Path, n_rows: int = 100_000, seed: int = 1) -> None:
    """Write a year of payments, of which about 2% are frauds."""
    draw = np.random.default_rng(seed)
    first, seconds = datetime(2025, 1, 1, tzinfo=UTC), np.sort(draw.integers(0, 365 * 86_400, n_rows))
    country, merchant = draw.integers(0, 10, n_rows), draw.integers(0, 10, n_rows)
    amount = np.exp(draw.normal(3.5, 1.0, n_rows))
    late = np.arange(n_rows) >= n_rows // 2  # the frauds move to other shops and countries, and to small amounts
    risky = np.where(late, np.isin(merchant, (1, 5, 9)), np.isin(merchant, (2, 3, 8))).astype(float)
    risky += np.where(late, np.isin(country, (1, 5)), np.isin(country, (7, 8)))
    score = 3.2 * risky + np.where(late, -1.5, 1.5) * (np.log(amount) - 3.5) - 8.2
    fraud = draw.random(n_rows) < 1 / (1 + np.exp(-score))
    empty = draw.random((n_rows, 3)) < (0.05, 0.02, 0.02)
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["timestamp", "payment_id", "amount", "merchant", "country", "fraud"])
        for i in range(n_rows):
            rows.writerow(
                [
                    f"{first + timedelta(seconds=int(seconds[i])):%Y-%m-%d %H:%M:%S}",
                    f"p-{draw.integers(1 << 40):010x}",
                    "" if empty[i, 0] else f"{amount[i]:.2f}",
                    "" if empty[i, 1] else MERCHANTS[merchant[i]],
                    "" if empty[i, 2] else COUNTRIES[country[i]],
                    "yes" if fraud[i] else "no",
                ]
            )


def scikit_learn() -> Pipeline:
    """Build a scikit-learn pipeline: numbers are imputed and scaled, names one-hot encoded."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    names = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")), (names, make_column_selector(dtype_exclude="number"))
    )
    return make_pipeline(columns, SGDClassifier(loss="log_loss", alpha=1e-4, class_weight={0: 1, 1: 10}))


def river() -> compose.Pipeline:
    """Build a River pipeline that does the same row by row."""
    numbers = compose.SelectType(float, int) | river_preprocessing.StandardScaler()
    names = compose.SelectType(str) | river_preprocessing.OneHotEncoder()
    pipeline: compose.Pipeline = (numbers + names) | linear_model.LogisticRegression(optim.SGD(0.1))
    return pipeline


def lightgbm() -> Refitted:
    """Build LightGBM, which learns a table of rows at once, here the last 30,000 after every 10,000."""
    return Refitted(LGBMClassifier(n_estimators=50, verbose=-1), every=10_000, window=30_000)


def compare_models(payments: object) -> sg.Results:
    """Compare the models on a stream of payments whose labels arrive 30 days late."""
    learners = {"tree": sg.HoeffdingTree(), "scikit-learn": scikit_learn(), "River": river(), "LightGBM": lightgbm()}
    measures = ["pr_auc[yes]", "recall[yes]"]
    return sg.evaluate(payments, learners, labelling=DelayedByTime("30 days"), measures=measures)


def main(path: str | Path | None = None, n_rows: int | str = 100_000) -> None:
    """Write the file, describe it and compare the models on it."""
    path = Path(path or Path(mkdtemp()) / "payments.csv")
    write_payments(path, int(n_rows))
    stream = sg.File(path, target="fraud", time="timestamp")
    print(sg.streams.describe(stream), end="\n\n")
    results = compare_models(stream)
    print(results, end="\n\n")
    for comparison in compare_all(results, measure="pr_auc[yes]"):
        print(comparison.sentence)


if __name__ == "__main__":
    main(*sys.argv[1:])
