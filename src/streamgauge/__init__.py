"""streamgauge tells how good a data-stream classifier is, and whether one is really better than another."""

from streamgauge.backends import Threads
from streamgauge.errors import StreamgaugeError
from streamgauge.evaluate import Evaluation, evaluate
from streamgauge.experiments import run
from streamgauge.forgetting import Adwin, Fading, Landmark, Window
from streamgauge.learners import HoeffdingTree, MajorityClass, NaiveBayes, NoChange
from streamgauge.records import Results
from streamgauge.results import load, save
from streamgauge.schemes import Bootstrap, CrossValidation, Prequential, Split
from streamgauge.significance import compare, rank
from streamgauge.store import Store
from streamgauge.streams import SEA, ArrayStream, File, Hyperplane, RandomRBF

__all__ = [
    "SEA",
    "Adwin",
    "ArrayStream",
    "Bootstrap",
    "CrossValidation",
    "Evaluation",
    "Fading",
    "File",
    "HoeffdingTree",
    "Hyperplane",
    "Landmark",
    "MajorityClass",
    "NaiveBayes",
    "NoChange",
    "Prequential",
    "RandomRBF",
    "Results",
    "Split",
    "Store",
    "StreamgaugeError",
    "Threads",
    "Window",
    "compare",
    "evaluate",
    "load",
    "rank",
    "run",
    "save",
]
