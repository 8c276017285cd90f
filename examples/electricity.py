"""Figures 2 and 3 of Bifet et al. (2015): what kappa hides, and how far to look back, on the electricity market.

Run with ``python examples/electricity.py [PICTURE]``; it draws into ``electricity.png`` unless told otherwise, and
finds the stream as ``streams.load("electricity")`` does. It needs matplotlib.
"""

import sys

import numpy as np

from streamgauge import Adwin, HoeffdingTree, MajorityClass, Results, Window, evaluate, streams

MEASURES = ("accuracy", "harmonic_mean", "kappa", "kappa_m")
FORGETTINGS = (Window(100), Window(1000), Window(10_000), Adwin())
WINDOW = "Window(width=1000)"


def run() -> Results:
    """Evaluate a Hoeffding tree and the majority class, prequentially."""
    learners = {"Hoeffding tree": HoeffdingTree(), "majority class": MajorityClass()}
    return evaluate(streams.load("electricity"), learners, measures=list(MEASURES), forgetting=FORGETTINGS, every=100)


def distances_to_adwin(results: Results) -> dict[str, float]:
    """Tell how far, in the mean, the accuracy of the tree over each window lies from that over ADWIN's."""
    curves = {name: results.curve("Hoeffding tree", "accuracy", name)[:, 0] for name in results.forgettings}
    adwin = next(curve for name, curve in curves.items() if name.startswith("Adwin"))
    return {name: float(np.abs(curve - adwin).mean()) for name, curve in curves.items() if not name.startswith("Adwin")}


def draw(results: Results, path: str) -> None:
    """Draw both figures into one picture."""
    import matplotlib as mpl  # noqa: PLC0415  (the rest works without it)

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(1, 3, figsize=(15, 4), constrained_layout=True)
    for axis, learner in zip(axes, results.learners, strict=False):
        for measure in MEASURES:
            axis.plot(results.rows, 100 * results.curve(learner, measure, WINDOW)[:, 0], label=measure, linewidth=1)
        axis.set(title=f"{learner}, window of 1,000", xlabel="rows", ylabel="%")
        axis.axhline(0.0, color="grey", linewidth=0.5)
    for name in results.forgettings:
        curve = results.curve("Hoeffding tree", "accuracy", name)[:, 0]
        axes[2].plot(results.rows, 100 * curve, label=name, linewidth=1)
    axes[2].set(title="accuracy of the Hoeffding tree", xlabel="rows")
    for axis in axes:
        axis.legend(fontsize=7)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Draw the figures and print what they show."""
    results = run()
    kappa, kappa_m = (results.curve("Hoeffding tree", name, WINDOW)[:, 0] for name in ("kappa", "kappa_m"))
    worse = (kappa_m < 0) & (kappa > 0)
    print(
        f"The tree is worse than the majority class while kappa is above 0 at {worse.sum()} of {len(worse)} readings."
    )
    for name, distance in distances_to_adwin(results).items():
        print(f"Mean distance of the accuracy over {name} from that over ADWIN's window: {distance:.4f}")
    path = sys.argv[1] if len(sys.argv) > 1 else "electricity.png"
    draw(results, path)
    print(f"Drawn into {path}.")


if __name__ == "__main__":
    main()
