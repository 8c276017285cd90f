"""Many streams, learners and seeds in one experiment: only what is missing runs, and tables come out of the store."""

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

# A plain folder: SQLite, Parquet and JSON, which pandas, polars and DuckDB read as well.
store = sg.Store(folder)
print(store.table().to_pandas().groupby(["stream", "learner"])["mean"].mean().round(3))
print(f"best first: {', '.join(sg.rank(store.results()).order)}")
