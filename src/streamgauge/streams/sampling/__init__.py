"""Training and test sets drawn from files too large for memory."""

from streamgauge.streams.sampling.class_counts import Balance, Distribution
from streamgauge.streams.sampling.draw import repeat, sample
from streamgauge.streams.sampling.hidden_labels import HiddenLabels, open_test
from streamgauge.streams.sampling.index import read_index
from streamgauge.streams.sampling.request import Drawn

__all__ = ["Balance", "Distribution", "Drawn", "HiddenLabels", "open_test", "read_index", "repeat", "sample"]
