"""Pictures of costs: the size of learners, a killed run, the utilisation of a cluster."""

import multiprocessing
import os
import signal
import tempfile
from typing import Any

import numpy as np

import streamgauge as sg
from benchmarks.cluster import LEARNERS, VARIED, measure_driver, measure_learner, simulate
from streamgauge import plots
from streamgauge._format.palette import COLOURS
from streamgauge.learners import OzaBag
from streamgauge.plots import Figure
from streamgauge.plots.axis import Axis
from streamgauge.plots.figure import get_line_style, new_figure
from streamgauge.records import Reading

__all__ = ["draw_checkpoints", "draw_cluster", "draw_resources"]

KILLS = (7_000, 13_000)


def draw_resources() -> Figure:
    """Draw the size of three learners along a stream."""
    learners = {"bag of 5 trees": OzaBag(n_members=5), "tree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes()}
    results = sg.evaluate(sg.RandomRBF(), learners, n_rows=40_000, resources=True, backend=sg.Threads(1))
    return plots.resources(results, "n_bytes", size=(7.5, 3.6))


def _run(folder: str | None, kill_row: int | None) -> sg.Results:
    """Run with checkpoints in a folder, or without; kill this process at a row."""

    def kill(reading: Reading) -> None:
        if kill_row is not None and reading.row >= kill_row:
            os.kill(os.getpid(), signal.SIGKILL)

    options: Any = {} if folder is None else {"checkpoint": folder, "checkpoint_every": 3000, "resume": True}
    return sg.evaluate(
        sg.SEA(noise=0.1, drift_every=5000), sg.HoeffdingTree(), n_rows=20_000, every=100, batch_size=100,
        forgetting=sg.Window(1000), on_reading=kill, **options,
    )  # fmt: skip


def draw_checkpoints() -> Figure:
    """Draw the readings of a run that was killed and resumed twice over those of an uninterrupted run."""
    whole, processes = _run(None, None), multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        for row in KILLS:
            process = processes.Process(target=_run, args=(folder, row))
            process.start()
            process.join()
            if process.exitcode != -signal.SIGKILL:
                msg = f"the run should be killed at row {row}, but it ended with status {process.exitcode}"
                raise RuntimeError(msg)
        resumed = _run(folder, None)
    same = resumed.values.tobytes() == whole.values.tobytes()
    with new_figure((7.5, 3.8)) as figure:
        axes = figure.add_subplot()
        axes.plot(whole.rows, 100 * whole.values[:, 0, 0, 0, 0], color="#c9ced6", lw=6, label="uninterrupted")
        title = "killed and resumed twice: the same to the last bit" if same else "killed and resumed twice: DIFFERENT"
        axes.plot(resumed.rows, 100 * resumed.values[:, 0, 0, 0, 0], color=COLOURS[0], lw=1.3, label=title)
        for row in range(3000, whole.n_rows + 1, 3000):
            axes.plot(row, 0.02, "s", color=COLOURS[2], ms=5, transform=axes.get_xaxis_transform())
        axes.plot([], [], "s", color=COLOURS[2], label="checkpoint")
        for row in KILLS:
            axes.axvline(row, color=COLOURS[1], lw=1)
            axes.axvspan(row // 3000 * 3000, row, color=COLOURS[1], alpha=0.12, lw=0)
        axes.plot([], [], color=COLOURS[1], label="kill; the shaded rows are repeated")
        Axis(whole.n_rows).style(axes)
        axes.set_ylabel("accuracy %, last 1,000 rows")
        figure.legend(loc="outside lower center", ncols=2)
    return Figure(figure)


def draw_cluster() -> Figure:
    """Draw the share of the time at work of the cores of a cluster, by the simulation of ``benchmarks cluster``."""
    driver, costs = measure_driver(), measure_learner(LEARNERS["forest of 100 trees"])
    kinds: dict[str, dict[str, Any]] = {
        "rows made by the actors": {},
        "rows made, at most three plans ahead": {"window": 0.0},
        "rows sent by the driver": {"sent": True},
    }
    nodes = np.unique(np.geomspace(1, 300, 9).astype(int))
    with new_figure((7.0, 3.6)) as figure:
        axes = figure.add_subplot()
        for index, (title, options) in enumerate(kinds.items()):
            shares = [100 * simulate(driver, costs, int(n), VARIED, **options) for n in nodes]
            axes.plot(nodes, shares, marker=".", label=title, **get_line_style(index))
        axes.set_xscale("log")
        axes.set_xticks([1, 10, 100, 300], ["1", "10", "100", "300"])
        axes.set_ylim(0, 100)
        axes.grid(visible=True)
        axes.set_xlabel("nodes of 16 cores")
        axes.set_ylabel("time at work %")
        axes.set_title("Simulated from measured costs: a forest of 100 trees, actors of varied speed")
        figure.legend(loc="outside lower center", ncols=3, handlelength=3)
    return Figure(figure)
