"""Whether the rows of two gauges can be counted as those of one."""

from collections.abc import Iterator
from itertools import chain

from streamgauge._engine.batch_plan import RunSpec
from streamgauge._format.text import to_text
from streamgauge.evaluation import Evaluation
from streamgauge.forgetting import Landmark
from streamgauge.measures import list_statistics, reads_baselines
from streamgauge.significance.single_model import find_form

__all__ = ["find_obstacle"]


def find_obstacle(evaluation: Evaluation) -> str:
    """Return why the order of the rows matters, which is unknown for those of two gauges; empty if it does not.

    Examples
    --------
    >>> from streamgauge import SEA, NoChange
    >>> find_obstacle(Evaluation(SEA(), NoChange(), measures="kappa_m"))
    'kappa_m compares with a baseline that learns one row after the other'
    >>> find_obstacle(Evaluation(SEA(), NoChange(), forgetting="Window(10)"))
    'Window(width=10) depends on the order of the rows; only Landmark() does not'
    """
    return next(chain(_list_orders(evaluation.run_spec), _list_verdicts(evaluation)), "")


def _list_orders(spec: RunSpec) -> Iterator[str]:
    """Yield what in a tally, or beside it, depends on the order of the rows."""
    if spec.schema.target is not None:
        yield "of numbers the first row is not scored, and no prediction counts as the mean of the targets before it"
    for forgetting in spec.forgettings:
        if forgetting != Landmark():
            yield f"{to_text(forgetting)} depends on the order of the rows; only Landmark() does not"
    for measure in (*spec.measures, *spec.live_measures):
        if reads_baselines([measure]):
            yield f"{measure.name} compares with a baseline that learns one row after the other"
        if "rows" in list_statistics([measure]):
            yield f"{measure.name} is computed from the rows in their order"
    yield from (f"the detector {name} depends on the order of the rows" for name in spec.detectors)


def _list_verdicts(evaluation: Evaluation) -> Iterator[str]:
    """Yield what verdicts need that two gauges do not have together."""
    spec, live_test = evaluation.run_spec, evaluation.live_test
    for requirement in evaluation.requirements:
        if requirement.reference is not None:
            yield f"the budget {requirement} has a reference period, the first rows of the stream"
    for measure in evaluation.required_measures:
        if find_form(measure, spec.block_layout) is None:
            yield f"a budget for {measure.name} is judged by blocks of consecutive rows"
    for measure in spec.compared if live_test is not None and len(spec.learners) > 1 else ():
        if live_test is not None and not live_test.uses_counts(measure, 1, labels_wait=False):
            yield (
                f"models are compared in {measure.name} by blocks of consecutive rows: use live_test=None, or"
                " LiveTest(measure='accuracy', exact=True)"
            )
