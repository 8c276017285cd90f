"""Adapters: everyone else's learners on the same terms, recognised on sight.

One file a library; the library itself is imported when one of its learners is built.
"""

from collections.abc import Callable
from typing import Any

from streamgauge.errors import StreamgaugeError, nearest
from streamgauge.learners.adapters.libraries import comes_from
from streamgauge.learners.adapters.moa import Moa, moa_text
from streamgauge.learners.adapters.python import PythonLearner
from streamgauge.learners.adapters.river import River
from streamgauge.learners.adapters.scikit_learn import ScikitLearn, learns_by_parts
from streamgauge.learners.adapters.stream_learn import StreamLearn
from streamgauge.learners.adapters.torch import Torch
from streamgauge.learners.adapters.vowpal_wabbit import VowpalWabbit
from streamgauge.protocols import LearnerSpec

__all__ = ["Moa", "PythonLearner", "River", "ScikitLearn", "StreamLearn", "Torch", "VowpalWabbit", "as_spec"]


def as_spec(learner: object) -> LearnerSpec:
    """Turn a learner of any known library into a specification that builds fresh copies of it.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> as_spec(SGDClassifier())
    ScikitLearn(estimator=SGDClassifier(), chunk_size=1, seed=1)
    """
    if isinstance(learner, LearnerSpec) and not isinstance(learner, type):
        return learner
    text = moa_text(learner)
    if text is not None:
        return Moa(text)
    spec = None if isinstance(learner, type) else _recognised(learner)
    if spec is not None:
        return spec
    kind = f"the class {learner.__name__}: give an instance of it" if isinstance(learner, type) else repr(learner)
    msg = f"this is not a learner: {kind}; {_hint(learner)}"
    raise StreamgaugeError(msg)


def _hint(learner: object) -> str:
    """Say what a learner is, or how the one is written that a text names."""
    from streamgauge import learners  # noqa: PLC0415  (which holds this module)

    near = nearest(learner.partition("(")[0], learners.__all__) if isinstance(learner, str) else None
    if near is not None:
        return f"write streamgauge.learners.{near}(...)"
    return (
        "a learner is one of streamgauge.learners, one of scikit-learn with partial_fit, of River, MOA, Vowpal Wabbit, "
        "stream-learn or PyTorch, or any object with predict and learn"
    )


def _recognised(learner: object) -> LearnerSpec | None:
    """Find the adapter of a learner, by the package that its class comes from or by what it can do."""
    adapters: tuple[tuple[bool, Callable[[Any], LearnerSpec]], ...] = (
        (hasattr(learner, "learn_one") and hasattr(learner, "predict_one"), River),
        (comes_from(learner, "torch") and hasattr(learner, "parameters"), Torch),
        (comes_from(learner, "vowpalwabbit") and hasattr(learner, "get_arguments"), VowpalWabbit.of),
        (comes_from(learner, "strlearn") and learns_by_parts(learner), StreamLearn),
        (learns_by_parts(learner), ScikitLearn),
        (hasattr(learner, "predict") and hasattr(learner, "learn"), PythonLearner),
    )
    return next((adapter(learner) for fits, adapter in adapters if fits), None)
