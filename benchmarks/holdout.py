"""Prequential errors of a Hoeffding tree on Waveform next to its error on a holdout set, as means over ten seeds.

Run with ``python -m benchmarks holdout``: over a window, with fading and over an ADWIN window the prequential error
must be within 0.005 of the holdout error after 100,000 rows (Gama, Sebastião and Rodrigues 2009, figures 2 and 3).
Writes its table and picture into ``benchmarks/results``.
"""

from pathlib import Path

from matplotlib.figure import Figure

from papers.curves import HOLDOUT, average_curves, draw_curves, run_estimates
from streamgauge.backends import Threads
from streamgauge.forgetting import AdwinWindow, Fading, Landmark, Window
from streamgauge.learners import HoeffdingTree
from streamgauge.protocols import Forgetting
from streamgauge.schemes import Holdout
from streamgauge.streams import Waveform

N_ROWS = 100_000
EVERY = 2_500
N_HOLDOUT = 20_000
N_SEEDS = 10
GOAL = 0.005
ALL_ROWS = "all rows"
FORGETTINGS: dict[str, Forgetting] = {
    ALL_ROWS: Landmark(),
    "window of 1,000": Window(1_000),
    "window of 10,000": Window(10_000),
    "fading 0.9995": Fading(0.9995),
    "ADWIN": AdwinWindow(),
}
STORED = Path(__file__).parent / "results"


def run(seed: int) -> dict[str, list[float]]:
    """Return the curves of one tree."""
    holdout = Holdout(every=EVERY, size=N_HOLDOUT, source=Waveform(seed=seed, sample=2))
    return run_estimates(Waveform(n_rows=N_ROWS, seed=seed), HoeffdingTree(), FORGETTINGS, holdout, "error", Threads())


def main() -> None:
    """Print, draw and store the errors after the last row."""
    curves = average_curves([run(seed) for seed in range(1, N_SEEDS + 1)])
    target = float(curves[HOLDOUT][-1])
    lines = [
        f"# Prequential errors and the error on a holdout set, after {N_ROWS:,} rows of Waveform",
        "",
        f"`python -m benchmarks holdout`: Hoeffding tree, means over {N_SEEDS} seeds; the holdout set has",
        f"{N_HOLDOUT:,} rows and an error of {target:.4f}. Over all rows, the first errors still count.",
        "",
        "![errors along the stream](holdout.png)",
        "",
        f"| prequential error over | error | minus the holdout error | goal: within {GOAL} |",
        "|---|---:|---:|---|",
    ]
    for name in FORGETTINGS:
        error = float(curves[name][-1])
        verdict = "-" if name == ALL_ROWS else "met" if abs(error - target) <= GOAL else "MISSED"
        lines.append(f"| {name} | {error:.4f} | {error - target:+.4f} | {verdict} |")
    print("\n".join(lines))
    STORED.mkdir(exist_ok=True)
    (STORED / "holdout.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    figure = Figure(figsize=(8, 4), layout="constrained")
    draw_curves(figure.subplots(), curves, (HOLDOUT, *FORGETTINGS), ylabel="error", title="Hoeffding tree on Waveform")
    figure.savefig(STORED / "holdout.png", dpi=80)


if __name__ == "__main__":
    main()
