"""Adapters: learners of other libraries, recognised by their class and methods.

There is one module per library; the library itself is imported when one of its learners is built.
"""

from collections.abc import Callable
from typing import Any

from streamgauge.errors import StreamgaugeError, nearest
from streamgauge.learners.adapters.moa import Moa, get_moa_command
from streamgauge.learners.adapters.python import PythonLearner
from streamgauge.learners.adapters.river import River
from streamgauge.learners.adapters.scikit_learn import ScikitLearn, has_partial_fit
from streamgauge.learners.adapters.stream_learn import StreamLearn
from streamgauge.learners.adapters.torch import Torch
from streamgauge.learners.adapters.vowpal_wabbit import VowpalWabbit
from streamgauge.protocols import LearnerSpec

__all__ = ["Moa", "PythonLearner", "River", "ScikitLearn", "StreamLearn", "Torch", "VowpalWabbit", "as_spec"]


def as_spec(learner: object) -> LearnerSpec:
    """Return a specification that builds untrained copies of a learner of any supported library.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> as_spec(SGDClassifier())
    ScikitLearn(estimator=SGDClassifier(), chunk_size=1, seed=1)
    """
    if isinstance(learner, LearnerSpec) and not isinstance(learner, type):
        return learner
    command = get_moa_command(learner)
    if command is not None:
        return Moa(command)
    spec = None if isinstance(learner, type) else _adapt(learner)
    if spec is not None:
        return spec
    name = f"the class {learner.__name__} (pass an instance)" if isinstance(learner, type) else repr(learner)
    msg = f"this is not a learner: {name}; {_suggest(learner)}"
    raise StreamgaugeError(msg)


def _suggest(learner: object) -> str:
    """Return how to write the learner that a text names, or what a learner is."""
    from streamgauge import learners  # noqa: PLC0415  (circular: it imports this module)

    near = nearest(learner.partition("(")[0], learners.__all__) if isinstance(learner, str) else None
    if near is not None:
        return f"write streamgauge.learners.{near}(...)"
    return (
        "a learner is one of streamgauge.learners, one of scikit-learn with partial_fit, of River, MOA, Vowpal Wabbit, "
        "stream-learn or PyTorch, or any object with predict and learn"
    )


def _adapt(learner: object) -> LearnerSpec | None:
    """Return the adapter of a learner, chosen by the package of its class or by its methods."""
    adapters: tuple[tuple[bool, Callable[[Any], LearnerSpec]], ...] = (
        (hasattr(learner, "learn_one") and hasattr(learner, "predict_one"), River),
        (_comes_from(learner, "torch") and hasattr(learner, "parameters"), Torch),
        (_comes_from(learner, "vowpalwabbit") and hasattr(learner, "get_arguments"), VowpalWabbit.from_workspace),
        (_comes_from(learner, "strlearn") and has_partial_fit(learner), StreamLearn),
        (has_partial_fit(learner), ScikitLearn),
        (hasattr(learner, "predict") and hasattr(learner, "learn"), PythonLearner),
    )
    return next((adapter(learner) for matches, adapter in adapters if matches), None)


def _comes_from(learner: object, package: str) -> bool:
    """Return whether the class of an object, or one of its base classes, belongs to a package; imports nothing."""
    return any(kind.__module__.partition(".")[0] == package for kind in type(learner).__mro__)
