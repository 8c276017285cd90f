"""Training and test sets drawn from files too large for memory."""

from streamgauge.streams.sampling.counts import Balance, Distribution
from streamgauge.streams.sampling.draw import repeat, sample
from streamgauge.streams.sampling.index import read_index
from streamgauge.streams.sampling.request import Drawn
from streamgauge.streams.sampling.truth import HiddenLabels, open_test

__all__ = ["Balance", "Distribution", "Drawn", "HiddenLabels", "open_test", "read_index", "repeat", "sample"]
