"""What was run, with which versions and where: one record for results, checkpoints, journals and stores."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib.metadata import version
from typing import Any, Self, cast

from streamgauge import _native
from streamgauge._format.text import describe_platform
from streamgauge.errors import StreamgaugeError, make_printable, shorten
from streamgauge.records.description import RunDescription

__all__ = ["FORMAT", "RunManifest", "check_format"]

FORMAT = 2
PACKAGES = ("streamgauge", "numpy", "scipy", "pyarrow")
AXES = ("learners", "forgettings", "measures")

_MAY_DIFFER = frozenset({"drifts", "live", "time_limit", "seconds", "ended_by", "call"})


@dataclass(frozen=True)
class RunManifest:
    """What was run, with which versions and where.

    The manifest of results holds it, and so do checkpoints, the journal, and the catalogue of a store.

    Parameters
    ----------
    format
        The version of the record.
    learners, forgettings, measures
        The names along the axes of the readings.
    description
        The rows, the scheme and the options.
    versions, machine
        Where it ran.

    Examples
    --------
    >>> manifest = RunManifest.here(("tree",), ("Landmark()",), ("accuracy",), {"seed": 1})
    >>> RunManifest.from_json(manifest.to_json()) == manifest
    True
    """

    format: int
    learners: tuple[str, ...]
    forgettings: tuple[str, ...]
    measures: tuple[str, ...]
    description: RunDescription
    versions: Mapping[str, str]
    machine: Mapping[str, str]

    @classmethod
    def here(
        cls,
        learners: Sequence[str],
        forgettings: Sequence[str],
        measures: Sequence[str],
        description: Mapping[str, object],
        **further: object,
    ) -> Self:
        """Return the manifest of a run of this version on this machine; a subclass may have further facts."""
        return cls(
            format=FORMAT,
            learners=tuple(learners),
            forgettings=tuple(forgettings),
            measures=tuple(measures),
            description=cast("RunDescription", description),
            versions={"python": platform.python_version(), **{package: version(package) for package in PACKAGES}},
            machine={"platform": describe_platform(), "instruction_set": _native.instruction_set()},
            **further,
        )

    @property
    def identity(self) -> dict[str, Any]:
        """What must be the same for the run to resume from a checkpoint.

        The number of rows may differ, so that a run can be prolonged, and so may all that cannot change a reading.

        Examples
        --------
        >>> facts = {"stream": {"name": "SEA()", "n_rows": 100}, "seed": 1, "seconds": 2.5}
        >>> RunManifest.here(("tree",), (), (), facts).identity
        {'stream': {'name': 'SEA()'}, 'seed': 1, 'order of learners': ['tree']}
        """
        facts: dict[str, Any] = {name: fact for name, fact in self.description.items() if name not in _MAY_DIFFER}
        facts["stream"] = {name: fact for name, fact in self.description["stream"].items() if name != "n_rows"}
        facts |= {f"order of {axis}": names for axis in AXES if (names := getattr(self, axis))}
        as_json: dict[str, Any] = json.loads(json.dumps(facts))
        return as_json

    def to_json(self) -> dict[str, Any]:
        """Return the manifest as JSON values."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(fact) if isinstance(fact, tuple) else fact for name, fact in facts.items()}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """Return the manifest with the facts of `to_json`; raise `LookupError` or `TypeError` if they are malformed."""
        return cls(**cls._parse(facts))

    @classmethod
    def _parse(cls, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields by name."""
        parsed: dict[str, Any] = {field.name: facts[field.name] for field in fields(RunManifest)}
        for name in ("description", "versions", "machine"):
            if not isinstance(parsed[name], dict):
                msg = f"{name} is none"
                raise TypeError(msg)
        return parsed | {name: tuple(map(str, facts[name])) for name in AXES}


def check_format(place: object, facts: object) -> None:
    """Raise if the facts of a manifest, which `place` names, were written by another version.

    Examples
    --------
    >>> check_format("manifest.json", {"format": 1, "versions": {"streamgauge": "1.0"}})
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: manifest.json has format 1, written by streamgauge 1.0, ...
    """
    if not isinstance(facts, dict) or facts.get("format", FORMAT) == FORMAT:
        return
    versions = facts.get("versions")
    by = f", written by streamgauge {versions.get('streamgauge')}," if isinstance(versions, dict) else ""
    shown = make_printable(shorten(f"{facts['format']}{by}"))
    msg = f"{place} has format {shown} but this version of streamgauge reads format {FORMAT}"
    raise StreamgaugeError(msg)
