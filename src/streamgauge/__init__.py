"""streamgauge tells how good a data-stream classifier is, and whether one is really better than another."""

from streamgauge.backends import Processes, Threads
from streamgauge.errors import StreamgaugeError
from streamgauge.evaluate import Evaluation, evaluate
from streamgauge.forgetting import EWMA, Adwin, Fading, Landmark, TimeWindow, Tumbling, Window
from streamgauge.learners import HoeffdingTree, MajorityClass, NaiveBayes, NoChange
from streamgauge.records import Results
from streamgauge.results import load, save
from streamgauge.schemes import Bootstrap, CrossValidation, Prequential, Split
from streamgauge.significance import compare
from streamgauge.streams import SEA, ArrayStream, Hyperplane, RandomRBF

__all__ = [
    "EWMA",
    "SEA",
    "Adwin",
    "ArrayStream",
    "Bootstrap",
    "CrossValidation",
    "Evaluation",
    "Fading",
    "HoeffdingTree",
    "Hyperplane",
    "Landmark",
    "MajorityClass",
    "NaiveBayes",
    "NoChange",
    "Prequential",
    "Processes",
    "RandomRBF",
    "Results",
    "Split",
    "StreamgaugeError",
    "Threads",
    "TimeWindow",
    "Tumbling",
    "Window",
    "compare",
    "evaluate",
    "load",
    "save",
]
