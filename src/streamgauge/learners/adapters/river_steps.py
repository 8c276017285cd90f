"""Steps of River that look up features by name, for rows in which a missing value is an absent key.

All classifiers of River take rows in which keys are absent, and none takes None. These steps alone expect a key for
every feature, with the value None if it is missing; with the classes here they take absent keys, too, and do what they
do for None.
"""

from collections.abc import Mapping
from typing import Any

from river import compose, feature_extraction, preprocessing

__all__ = ["accept_absent_keys", "fix_order"]

Row = dict[Any, Any]


class StatImputer(preprocessing.StatImputer):
    """StatImputer that fills absent keys."""

    def learn_one(self, x: Row) -> None:
        """Update the statistic of every feature that the row has."""
        for name, stat in self.stats.items():
            value = x.get(name)
            if value is not None:
                stat.update(value)

    def transform_one(self, x: Row) -> Row:
        """Return the row with the statistics of the features that it lacks."""
        filled = {name: stat.get() for name, stat in self.stats.items() if x.get(name) is None}
        return {**x, **_drop_missing(filled)}


class PreviousImputer(preprocessing.PreviousImputer):
    """PreviousImputer that fills absent keys."""

    def transform_one(self, x: Row) -> Row:
        """Return the row with the latest values of the features that it lacks."""
        return {**self._latest, **_drop_missing(x)}


class Select(compose.Select):
    """Select that leaves out absent keys, and keeps the order of the row: that of a set differs between processes."""

    def transform_one(self, x: Row) -> Row:
        """Return the selected features that the row has."""
        return {name: value for name, value in x.items() if name in self.keys}


class Grouper(compose.Grouper):
    """Grouper with a group for rows that lack the key."""

    def _get_key(self, x: Row) -> str:
        return "_".join(str(x.get(name)) for name in self.by)


class Agg(feature_extraction.Agg):
    """Agg with a group for rows that lack the key; rows that lack the value do not count."""

    def _make_key(self, x: Row) -> Any:  # noqa: ANN401
        return tuple(x.get(name) for name in self.by) if self.by else None

    def learn_one(self, x: Row, t: Any = None) -> None:  # noqa: ANN401
        """Update the statistic of the group."""
        if x.get(self.on) is not None:
            super().learn_one(x, t=t)  # type: ignore[no-untyped-call]


class TargetAgg(feature_extraction.TargetAgg):
    """TargetAgg with a group for rows that lack the key."""

    def _make_key(self, x: Row) -> Any:  # noqa: ANN401
        return tuple(x.get(name) for name in self.by) if self.by else None


class FuncTransformer(compose.FuncTransformer):
    """FuncTransformer whose function gets None for an absent key, and may return None for a missing value."""

    def transform_one(self, x: Row) -> Row:
        """Return what the function returns, without missing values."""
        return _drop_missing(self.func(_ForgivingRow(x)))


class _ForgivingRow(dict[Any, Any]):
    """A row whose absent keys are None when they are looked up."""

    def __missing__(self, key: Any) -> None:  # noqa: ANN401
        return None

    def copy(self) -> "_ForgivingRow":
        return _ForgivingRow(self)


def _drop_missing(row: Mapping[Any, Any]) -> Row:
    return {name: value for name, value in row.items() if value is not None}


_FORGIVING = {
    kind.__base__: kind for kind in (StatImputer, PreviousImputer, Select, Grouper, Agg, TargetAgg, FuncTransformer)
}


def fix_order(step: Any) -> None:  # noqa: ANN401
    """Make a Select of River keep the order of the row.

    Examples
    --------
    >>> step = compose.Select("b", "a")
    >>> fix_order(step)
    >>> step.transform_one({"a": 1, "b": 2, "c": 3})
    {'a': 1, 'b': 2}
    """
    if type(step) is compose.Select:
        step.__class__ = Select


def accept_absent_keys(step: Any) -> None:  # noqa: ANN401
    """Make a step of River that looks up features by name accept rows in which they are absent.

    Examples
    --------
    >>> from river import stats
    >>> step = preprocessing.StatImputer(("a", stats.Mean()))
    >>> accept_absent_keys(step)
    >>> step.learn_one({"a": 4.0})
    >>> step.transform_one({"b": 1.0})
    {'b': 1.0, 'a': 4.0}
    """
    forgiving = _FORGIVING.get(type(step))
    if forgiving is not None:
        step.__class__ = forgiving
