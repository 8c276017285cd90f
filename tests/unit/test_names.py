"""Objects by name: options are literals, and nothing is executed."""

import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.names import FAMILIES, make


def test_options_are_literals_and_nothing_is_executed():
    with pytest.raises(StreamgaugeError, match="cannot read the option"):
        make("learner", "HoeffdingTree(grace_period=1 + x)", FAMILIES["learners"]())
