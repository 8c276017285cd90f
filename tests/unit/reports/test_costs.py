"""The costs of a learner as text."""

from dataclasses import replace

import numpy as np
import pytest

import streamgauge as sg
from streamgauge._format.numbers import MISSING
from streamgauge.reports.costs import format_costs


@pytest.mark.parametrize(("seconds", "shown"), [(1.234e-6, "1.23"), (0.0213456, "21,346"), (np.nan, MISSING)])
def test_a_latency_has_neither_an_exponent_nor_nan(seconds, shown):
    cost = sg.evaluate(sg.SEA(n_rows=100), sg.NoChange(), resources=True).resources
    assert cost is not None
    assert format_costs(replace(cost, latency=np.full_like(cost.latency, seconds)), 0)[5] == shown
