"""The evaluators of stream-learn."""

from streamgauge.compat.strlearn.evaluators import labeling_delay
from streamgauge.compat.strlearn.evaluators.testing import Prequential, SparseTrainDenseTest, TestThenTrain

__all__ = ["Prequential", "SparseTrainDenseTest", "TestThenTrain", "labeling_delay"]
