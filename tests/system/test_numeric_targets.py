"""Numeric targets in processes and on the command line."""

from typing import Any

import numpy as np
import pytest

import streamgauge as sg
from streamgauge.backends import Processes
from streamgauge.forgetting import Fading, Landmark, Window
from streamgauge.labelling import Delayed
from streamgauge.learners import LinearRegression, MeanTarget, Memoriser
from streamgauge.schemes import Bootstrap
from streamgauge.streams import ArrayStream, FriedmanFunction, take


@pytest.mark.parametrize("in_memory", [False, True])
def test_processes_give_the_same_bits(in_memory: bool) -> None:
    rows = take(FriedmanFunction(), 1_500)
    stream: Any = ArrayStream(rows.x, rows.y, numeric="y") if in_memory else FriedmanFunction(n_rows=1_500)

    def evaluate(**options: Any) -> sg.Results:
        return sg.evaluate(
            stream,
            [LinearRegression(), Memoriser(), MeanTarget()],
            scheme=Bootstrap(3),
            labelling=Delayed(20),
            measures="all",
            forgetting=[Landmark(), Window(100), Fading(0.99)],
            every=250,
            **options,
        )

    plain, other = evaluate(), evaluate(backend=Processes(2))
    np.testing.assert_array_equal(plain.values, other.values)
    assert plain.blocks is not None
    assert other.blocks is not None
    np.testing.assert_array_equal(plain.blocks.numbers, other.blocks.numbers)
