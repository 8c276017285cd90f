"""Run many streams, learners and seeds as one experiment, and query its store. Finished runs are skipped."""

from tempfile import mkdtemp

import streamgauge as sg
from streamgauge.experiments import Experiment, Source

experiment = Experiment(
    "small",
    streams={
        "sea": Source("SEA(noise=0.1, seed={seed})", rows=2_000),
        "rbf": Source("RandomRBF(seed={seed})", rows=2_000),
    },
    learners={"tree": "HoeffdingTree", "bayes": "NaiveBayes"},
    schemes=("Bootstrap(3)",),
    seeds=(1, 2),
)
folder = mkdtemp()
print(f"first time: {sg.run(experiment, folder, n_jobs=1).n_finished} evaluations")
print(f"second time: {sg.run(experiment, folder, n_jobs=1).n_finished} evaluations")

# The store is a plain folder of SQLite, Parquet and JSON files, which pandas, polars and DuckDB also read.
store = sg.Store(folder)
print("accuracy, mean over folds and seeds:")
print(store.table().to_pandas().groupby(["stream", "learner"])["mean"].mean().round(3).to_string())
print(f"best first: {', '.join(sg.rank(store.results()).order)}")
