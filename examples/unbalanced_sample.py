"""Draw a sample with rare positives and few labels, and evaluate learners on it. Every row is scored."""

from pathlib import Path
from tempfile import mkdtemp

import streamgauge as sg
from streamgauge import streams
from streamgauge.schemes import Pretrained

folder = Path(mkdtemp())
streams.write(streams.Imbalanced(sg.SEA(noise=0.05), shares=(0.8, 0.2)), folder / "all.arff", n_rows=10_000)

# The training set has 100 positives and 100 negatives. The test set has one positive per 20 negatives, 10% labelled.
balance = streams.Balance(100, training=1.0, test=0.05)
streams.sample(folder / "all.arff", folder / "sample", balance, labelled=0.1, seed=3)

stream, labelling = streams.open_test(folder / "sample")
results = sg.evaluate(
    stream,
    [sg.HoeffdingTree(), sg.NaiveBayes(), sg.MajorityClass()],
    scheme=Pretrained(sg.File(folder / "sample" / "training.arff")),
    labelling=labelling,
    measures=["accuracy", "g_mean"],
)
for name in results.learners:
    accuracy, g_mean = (results.curve(name, measure)[-1, 0] for measure in results.measures)
    print(f"{name}: accuracy {accuracy:.3f}, G-mean {g_mean:.3f}")
