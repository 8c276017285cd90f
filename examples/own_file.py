"""Describe your own CSV file, evaluate learners on it, and write the report."""

from pathlib import Path
from tempfile import mkdtemp

import streamgauge as sg
from streamgauge import streams
from streamgauge.reports import write_report

folder = Path(mkdtemp())
path = folder / "payments.csv"
lines = [f"{i * 37 % 500},{i % 24},{'yes' if i * 37 % 500 > 450 else 'no'}" for i in range(5_000)]
path.write_text("amount,hour,fraud\n" + "\n".join(lines))

stream = sg.File(path, target="fraud")
counts = streams.describe(stream).span_counts.sum(axis=0)
for name, count in zip(stream.schema.classes, counts, strict=True):
    print(f"fraud={name}: {count:,} rows")

# Frauds are rare, so accuracy alone says little.
results = sg.evaluate(stream, [sg.HoeffdingTree(), sg.MajorityClass()], measures=["accuracy", "g_mean", "recall[yes]"])
for name in results.learners:
    print(f"{name}: recall of frauds {results.curve(name, 'recall[yes]')[-1, 0]:.2f}")
print(f"report: {write_report(results, folder / 'report.html')}")
