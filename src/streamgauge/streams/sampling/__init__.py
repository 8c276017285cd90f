"""Sampling of training and test sets from files that do not fit into memory."""

from streamgauge.streams.sampling.draw import repeat, sample
from streamgauge.streams.sampling.hidden_labels import HiddenLabels, open_test
from streamgauge.streams.sampling.index_files import read_index
from streamgauge.streams.sampling.request import SampleFiles
from streamgauge.streams.sampling.sample_plan import Balance, Distribution

__all__ = ["Balance", "Distribution", "HiddenLabels", "SampleFiles", "open_test", "read_index", "repeat", "sample"]
