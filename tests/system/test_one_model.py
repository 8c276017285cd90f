"""Verdicts on one model alone in other processes and from the command line."""

from pathlib import Path

import streamgauge as sg
from streamgauge._engine.batch_plan import Backend
from streamgauge.backends import Processes, Threads
from streamgauge.labelling import Delayed
from tests.support.commands import streamgauge

BUDGETS = ["error<0.3", "kappa>0.2", "beats majority", "error<reference(500)+0.02", "roc_auc[1]>0.6"]


def test_processes_do_not_matter() -> None:
    learners = [sg.NaiveBayes(), sg.HoeffdingTree(grace_period=50)]
    backends: tuple[Backend, ...] = (Threads(1), Processes(2))
    alone, many = (
        sg.evaluate(
            sg.SEA(n_rows=3000),
            learners,
            budgets=BUDGETS,
            every=300,
            labelling=Delayed(10),
            batch_size=700,
            backend=backend,
        )
        for backend in backends
    )
    assert len(alone.model_verdicts) == 2 * len(BUDGETS)
    assert repr(alone.model_verdicts) == repr(many.model_verdicts)


def test_a_budget_on_the_command_line(tmp_path: Path) -> None:
    arguments = ["--stream", "SEA", "--rows", "3000", "--learner", "NaiveBayes", "--every", "300"]
    done = streamgauge("evaluate", *arguments, "--budget", "error<0.05", "--out", str(tmp_path / "out"))
    assert done.returncode == 0  # a broken budget is a result, not a failure
    assert "NaiveBayes breaks error<0.05: its error is" in done.stdout
    again = streamgauge("rerun", str(tmp_path / "out"))
    assert (again.returncode, again.stdout[:13]) == (0, "The same bits")
    refused = streamgauge("evaluate", *arguments, "--budget", "recall[fraud]>0.5")
    assert refused.returncode == 2
    assert "there is no class 'fraud'" in refused.stderr
    assert "Traceback" not in refused.stderr
