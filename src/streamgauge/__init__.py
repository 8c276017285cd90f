"""streamgauge tells how good a data-stream classifier is, and whether one is really better than another."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for editors and type checkers: a name is imported when it is first asked for, see `__getattr__`
    from streamgauge import (  # noqa: F401
        backends,
        checks,
        drift,
        errors,
        experiments,
        forgetting,
        gauge,
        labelling,
        learners,
        measures,
        plots,
        protocols,
        records,
        reports,
        results,
        schemes,
        significance,
        sinks,
        store,
        streams,
    )
    from streamgauge.backends import Threads
    from streamgauge.errors import StreamgaugeError
    from streamgauge.evaluation import Evaluation, evaluate
    from streamgauge.experiments import rerun
    from streamgauge.experiments.run import run
    from streamgauge.forgetting import AdwinWindow, Fading, Landmark, Window
    from streamgauge.gauge import Gauge
    from streamgauge.learners import HoeffdingTree, MajorityClass, NaiveBayes, NoChange
    from streamgauge.results import Results, load, save
    from streamgauge.schemes import Bootstrap, CrossValidation, Prequential, Split
    from streamgauge.significance.compare import compare
    from streamgauge.significance.ranking import rank
    from streamgauge.store import Store
    from streamgauge.streams import SEA, ArrayStream, File, Hyperplane, RandomRBF

    __version__: str

__all__ = [
    "SEA",
    "AdwinWindow",
    "ArrayStream",
    "Bootstrap",
    "CrossValidation",
    "Evaluation",
    "Fading",
    "File",
    "Gauge",
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
    "rerun",
    "run",
    "save",
]

_FAMILIES = {
    "backends": ["Threads"],
    "checks": [],
    "drift": [],
    "errors": ["StreamgaugeError"],
    "experiments": ["rerun", "run"],
    "forgetting": ["AdwinWindow", "Fading", "Landmark", "Window"],
    "gauge": ["Gauge"],
    "labelling": [],
    "learners": ["HoeffdingTree", "MajorityClass", "NaiveBayes", "NoChange"],
    "measures": [],
    "plots": [],
    "protocols": [],
    "records": [],
    "reports": [],
    "results": ["Results", "load", "save"],
    "schemes": ["Bootstrap", "CrossValidation", "Prequential", "Split"],
    "significance": ["compare", "rank"],
    "sinks": [],
    "store": ["Store"],
    "streams": ["SEA", "ArrayStream", "File", "Hyperplane", "RandomRBF"],
}
"""The modules that people use, and the public names that are taken from each."""

_HOMES = {name: family for family, names in _FAMILIES.items() for name in names}
_HOMES |= {"evaluate": "evaluation", "Evaluation": "evaluation"}


def _no_such_name(name: str) -> AttributeError:
    msg = f"module 'streamgauge' has no attribute {name!r}"
    is_module = import_module("importlib.util").find_spec(f"{__name__}.{name}") is not None  # imported after this error
    if not (name.startswith("_") or is_module):
        homes = [family for family in _FAMILIES if name in import_module(f"streamgauge.{family}").__all__]
        near = import_module("streamgauge.errors").nearest(name, [*__all__, *_FAMILIES])
        if homes:
            msg += f"; it is streamgauge.{homes[0]}.{name}"
        elif near is not None:
            msg += f"; did you mean {near}?"
    return AttributeError(msg, name=name, obj=None)  # with the module as `obj`, Python's tracebacks would tell it again


if not TYPE_CHECKING:  # with it every name would seem to exist

    def __getattr__(name: str) -> object:
        if name in _HOMES:
            found = getattr(import_module(f"streamgauge.{_HOMES[name]}"), name)
        elif name in _FAMILIES:
            found = import_module(f"streamgauge.{name}")
        elif name == "__version__":
            found = import_module("importlib.metadata").version("streamgauge")
        else:
            raise _no_such_name(name)
        globals()[name] = found  # asked for once only
        return found


def __dir__() -> list[str]:
    return sorted([*__all__, *_FAMILIES, "__version__", *(name for name in globals() if name.startswith("__"))])
