"""Checkpoints in a process whose files may not grow."""

import multiprocessing
import os
import signal
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.evaluation import evaluate
from streamgauge.learners import NaiveBayes
from streamgauge.results import Results
from streamgauge.streams import SEA

N = 1200


def facts(results: Results) -> list[Any]:
    pairs = [[np.asarray(value).tolist() for value in vars(pair).values()] for pair in results.pairs]
    fed = (
        None if results.feedback is None else [np.asarray(value).tolist() for value in vars(results.feedback).values()]
    )
    description = {name: fact for name, fact in results.description.items() if name not in ("seconds", "call")}
    values = results.values.tobytes()
    return [results.rows.tolist(), values, pairs, fed, results.alarms, results.failures, results.complete, description]


def resumed(folder: Path, **options: Any) -> Results:
    asked: dict[str, Any] = {"every": 100, "checkpoint": folder, "resume": True, **options}
    return evaluate(asked.pop("stream", SEA(n_rows=N)), NaiveBayes(), **asked)


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.checkpoint"), reverse=True)


def _in_small_files(folder: Path, messages: Any) -> None:
    import resource  # noqa: PLC0415

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))
    try:
        resumed(folder, checkpoint_every=100, every=1)
    except StreamgaugeError as error:
        messages.put(str(error))
    else:
        messages.put("nothing")


@pytest.mark.skipif(os.name != "posix", reason="limits of files are POSIX")
def test_a_file_that_may_not_grow_is_reported_by_the_system_itself(tmp_path: Path) -> None:
    messages: Any = multiprocessing.get_context("fork").Queue()
    process = multiprocessing.get_context("fork").Process(target=_in_small_files, args=(tmp_path, messages))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
        process.start()
    message = messages.get(timeout=60)
    process.join()
    assert "cannot write a checkpoint into" in message
    assert "File too large" in message
    assert files_of(tmp_path)
    assert facts(resumed(tmp_path, every=1)) == facts(evaluate(SEA(n_rows=N), NaiveBayes(), every=1))
