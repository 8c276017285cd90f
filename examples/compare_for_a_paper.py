"""Compare three learners on six streams: a test on each stream, then ranks over all streams."""

import streamgauge as sg
from streamgauge import streams

learners = {"tree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
generators = [sg.SEA, sg.RandomRBF, sg.Hyperplane, streams.LED, streams.Waveform, streams.Agrawal]

# Ten folds per stream separate skill from the luck of seeds and rows.
runs = [sg.evaluate(make(n_rows=20_000), learners, scheme=sg.Bootstrap(10)) for make in generators]
for make, run in zip(generators, runs, strict=True):
    print(f"{make.__name__}: {sg.compare(run, 'tree', 'bayes').sentence}")

# For a claim beyond one stream, every stream counts once.
ranking = sg.rank(runs)
for position, name in enumerate(ranking.order, 1):
    print(f"{position}. {name}, mean rank {ranking.mean_ranks[ranking.learners.index(name)]:.2f}")
