"""Adapters: learners of other libraries, recognised by their class and methods.

There is one module per library; the library itself is imported when one of its learners is built.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from streamgauge._foreign import find_short_name, find_tasks
from streamgauge._format.text import to_text
from streamgauge.errors import StreamgaugeError, nearest, require_whole
from streamgauge.learners.adapters.fit_only import is_fit_only
from streamgauge.learners.adapters.moa import Moa, get_moa_command
from streamgauge.learners.adapters.python import PythonLearner
from streamgauge.learners.adapters.river import River
from streamgauge.learners.adapters.scikit_learn import ScikitLearn, has_partial_fit
from streamgauge.learners.adapters.stream_learn import StreamLearn
from streamgauge.learners.adapters.torch import Torch
from streamgauge.learners.adapters.vowpal_wabbit import VowpalWabbit
from streamgauge.learners.refitted import Refitted
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema
from streamgauge.tasks import Task

__all__ = [
    "Moa",
    "PythonLearner",
    "River",
    "ScikitLearn",
    "StreamLearn",
    "Torch",
    "VowpalWabbit",
    "as_spec",
    "check_nested",
    "check_schema",
    "check_tasks",
    "name_learners",
]


def as_spec(learner: object) -> LearnerSpec:
    """Return a specification that builds untrained copies of a learner of any supported library.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> as_spec(SGDClassifier())
    ScikitLearn(estimator=SGDClassifier(), chunk_size=1, rows=None, seed=1)
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
        "a learner is one of streamgauge.learners, a classifier of scikit-learn, River, MOA, WEKA, Vowpal Wabbit, "
        "stream-learn or PyTorch, or any object with predict and learn"
    )


def _adapt(learner: object) -> LearnerSpec | None:
    """Return the adapter of a learner, chosen by the package of its class or by its methods."""
    adapters: tuple[tuple[bool, Callable[[Any], LearnerSpec]], ...] = (
        (hasattr(learner, "learn_one") and hasattr(learner, "predict_one"), River),
        (_comes_from(learner, "torch") and hasattr(learner, "parameters"), Torch),
        (_comes_from(learner, "vowpalwabbit") and hasattr(learner, "get_arguments"), VowpalWabbit.from_workspace),
        (_comes_from(learner, "strlearn", "streamgauge.compat.strlearn") and has_partial_fit(learner), StreamLearn),
        (has_partial_fit(learner), ScikitLearn),
        (is_fit_only(learner) and not hasattr(learner, "learn"), Refitted),
        (hasattr(learner, "predict") and hasattr(learner, "learn"), PythonLearner),
    )
    return next((adapter(learner) for matches, adapter in adapters if matches), None)


def _comes_from(learner: object, *packages: str) -> bool:
    """Return whether the class of an object, or one of its base classes, belongs to a package; imports nothing."""
    modules = [f"{kind.__module__}." for kind in type(learner).__mro__]
    return any(module.startswith(f"{package}.") for module in modules for package in packages)


def check_schema(specs: Mapping[str, LearnerSpec], schema: Schema) -> None:
    """Raise if a learner is known not to take rows of a schema, such as missing values.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from streamgauge.records import Attribute
    >>> gaps = Schema((Attribute("amount", missing=True),), classes=("no", "yes"))
    >>> check_schema({"mine": as_spec(SGDClassifier())}, gaps)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: learner 'mine': SGDClassifier takes no missing values, and the column ...
    """
    for name, spec in specs.items():
        try:
            check_nested(spec, schema)
        except StreamgaugeError as error:
            msg = f"learner {name!r}: {error}"
            raise StreamgaugeError(msg) from None


def check_tasks(specs: Mapping[str, LearnerSpec], task: Task) -> None:
    """Raise if a learner is known not to do a task.

    Examples
    --------
    >>> from streamgauge.learners import LinearRegression
    >>> from streamgauge.tasks import Classification
    >>> check_tasks({"mine": LinearRegression()}, Classification(("no", "yes")))
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: learner 'mine' is for regression, and the task of this stream is classification
    """
    for name, spec in specs.items():
        for part in _list_nested(spec):
            known = find_tasks(part)
            if known and task.name not in known:
                whose = "" if part is spec else f" with {find_short_name(part)} inside"
                msg = (
                    f"learner {name!r}{whose} is for {' and '.join(known)}, and the task of this stream is {task.name}"
                )
                raise StreamgaugeError(msg)


def _list_nested(spec: LearnerSpec) -> Iterator[LearnerSpec]:
    """Yield a learner and those inside it."""
    yield spec
    for nested in (getattr(spec, option, None) for option in ("learner", "base", "estimator")):
        if isinstance(nested, LearnerSpec) and not isinstance(nested, type):
            yield from _list_nested(nested)


def check_nested(spec: LearnerSpec, schema: Schema) -> None:
    """Raise if a learner, or one inside it, is known not to take rows of a schema.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from streamgauge.learners import OzaBag
    >>> from streamgauge.records import Attribute
    >>> gaps = Schema((Attribute("amount", missing=True),), classes=("no", "yes"))
    >>> check_nested(OzaBag(SGDClassifier()), gaps)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: SGDClassifier takes no missing values, and the column 'amount' has some: ...
    """
    check = getattr(spec, "check_schema", None)
    if check is not None:
        check(schema)
        return
    for nested in (getattr(spec, option, None) for option in ("learner", "base")):
        if isinstance(nested, LearnerSpec):
            check_nested(nested, schema)


def name_learners(learners: object) -> dict[str, LearnerSpec]:
    """Return learners by name: the given name, or that of the class, with options if two would have the same name.

    Examples
    --------
    >>> from streamgauge import MajorityClass, NoChange
    >>> list(name_learners([MajorityClass(), NoChange()]))
    ['MajorityClass', 'NoChange']
    """
    if isinstance(learners, Mapping):
        named = {str(name): as_spec(learner) for name, learner in learners.items()}
    else:
        specs = [as_spec(learner) for learner in (learners if isinstance(learners, list | tuple) else (learners,))]
        short = [find_short_name(spec) for spec in specs]
        names = [name if short.count(name) == 1 else to_text(spec) for name, spec in zip(short, specs, strict=True)]
        named = dict(zip(names, specs, strict=True))
        if len(named) < len(specs):
            repeated = next(name for name in names if names.count(name) > 1)
            msg = f"two learners are the same: {repeated}; name them, as in {{'a': ..., 'b': ...}}, or change a seed"
            raise StreamgaugeError(msg)
    for name in named:
        require_whole("learner", name)
    if not named:
        msg = "no learner to evaluate: give at least one"
        raise StreamgaugeError(msg)
    return named
