"""What learners cost, what a kill costs, and what limits a cluster."""

import multiprocessing
import os
import signal
import tempfile
from dataclasses import replace
from typing import Any

import numpy as np

import streamgauge as sg
from benchmarks.cluster import measured, simulated
from streamgauge import plots
from streamgauge._format.palette import COLOURS
from streamgauge.learners import OzaBag
from streamgauge.plots import Figure
from streamgauge.plots.figure import get_line_style, new_figure, style_axes
from streamgauge.records import Reading

__all__ = ["checkpoints", "cluster", "resources"]

KILLS = (7_000, 13_000)


def resources() -> Figure:
    """Show the size of three learners along a stream."""
    learners = {"bag of 5 trees": OzaBag(n_members=5), "tree": sg.HoeffdingTree(), "bayes": sg.NaiveBayes()}
    results = sg.evaluate(sg.RandomRBF(), learners, n_rows=40_000, resources=True, backend=sg.Threads(1))
    return plots.resources(results, "n_bytes", size=(7.5, 3.6))


def _run(folder: str | None, killed_at: int | None) -> sg.Results:
    def die(reading: Reading) -> None:
        if killed_at is not None and reading.row >= killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    kept: Any = {} if folder is None else {"checkpoint": folder, "checkpoint_every": 3000, "resume": True}
    return sg.evaluate(
        sg.SEA(noise=0.1, drift_every=5000), sg.HoeffdingTree(), n_rows=20_000, every=100, batch_size=100,
        forgetting=sg.Window(1000), on_reading=die, **kept,
    )  # fmt: skip


def checkpoints() -> Figure:
    """Kill a run twice, let it go on each time, and lay its readings over those of a run that was never stopped."""
    whole, processes = _run(None, None), multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        for row in KILLS:
            process = processes.Process(target=_run, args=(folder, row))
            process.start()
            process.join()
            if process.exitcode != -signal.SIGKILL:
                msg = f"the run was to be killed at row {row}, and ended with {process.exitcode}"
                raise RuntimeError(msg)
        resumed = _run(folder, None)
    same = resumed.values.tobytes() == whole.values.tobytes()
    with new_figure((7.5, 3.8)) as figure:
        axes = figure.add_subplot()
        axes.plot(whole.rows, 100 * whole.values[:, 0, 0, 0, 0], color="#c9ced6", lw=6, label="never stopped")
        title = "killed twice: the same to the last bit" if same else "killed twice: DIFFERENT"
        axes.plot(resumed.rows, 100 * resumed.values[:, 0, 0, 0, 0], color=COLOURS[0], lw=1.3, label=title)
        for row in range(3000, whole.n_rows + 1, 3000):
            axes.plot(row, 0.02, "s", color=COLOURS[2], ms=5, transform=axes.get_xaxis_transform())
        axes.plot([], [], "s", color=COLOURS[2], label="checkpoint")
        for row in KILLS:
            axes.axvline(row, color=COLOURS[1], lw=1)
            axes.axvspan(row // 3000 * 3000, row, color=COLOURS[1], alpha=0.12, lw=0)
        axes.plot([], [], color=COLOURS[1], label="kill; the shaded rows are done again")
        style_axes(axes, whole.n_rows)
        axes.set_ylabel("accuracy %, last 1,000 rows")
        figure.legend(loc="outside lower center", ncols=2)
    return Figure(figure)


def cluster() -> Figure:
    """Show how much of the time the cores of a cluster are at work, by the simulation of ``benchmarks cluster``."""
    sent = measured(65_536)
    kinds = {
        "rows sent by the driver": sent,
        "rows made where they are used": replace(sent, row_bytes=0.01),
        "the same, batches of 1,000,000 rows": replace(sent, row_bytes=0.01, rows=1_000_000),
    }
    nodes = np.unique(np.geomspace(1, 1000, 13).astype(int))
    with new_figure((7.0, 3.6)) as figure:
        axes = figure.add_subplot()
        for place, (title, costs) in enumerate(kinds.items()):
            shares = [100 * simulated(costs, int(n)) for n in nodes]
            axes.plot(nodes, shares, marker=".", label=title, **get_line_style(place))
        axes.set_xscale("log")
        axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
        axes.set_ylim(0, 100)
        axes.grid(visible=True)
        axes.set_xlabel("nodes of 16 cores")
        axes.set_ylabel("% of the time at work")
        axes.set_title("Simulated, not measured on a cluster")
        figure.legend(loc="outside lower center", ncols=2, handlelength=3)
    return Figure(figure)
