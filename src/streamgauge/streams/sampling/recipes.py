"""Recipes: all that is needed to draw a sample again."""

import json
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Key
from streamgauge.streams.output_files import replacing
from streamgauge.streams.sampling.class_counts import Balance, Distribution, Plan

__all__ = ["Recipe", "read_recipe", "write_recipe"]

_KINDS: dict[str, type[Balance] | type[Distribution]] = {"balance": Balance, "distribution": Distribution}


@dataclass(frozen=True)
class Recipe:
    """A sample that was drawn.

    Parameters
    ----------
    file
        The input.
    fingerprint
        That of the input.
    classes
        Rows of each class of the input.
    wanted, labelled, features, seed, suffix
        What was asked for; see `sample`.
    reading
        The options of `File` with which the files of the sample are read.
    """

    file: File
    fingerprint: str
    classes: dict[str, int]
    wanted: Balance | Distribution
    labelled: float
    features: tuple[Key, ...] | None
    seed: int
    suffix: str
    reading: dict[str, Any]


def write_recipe(path: Path, recipe: Recipe, plan: Plan) -> None:
    """Write a recipe, with the counts it gave."""
    options = {
        field.name: getattr(recipe.file, field.name)
        for field in fields(File)
        if field.name != "path" and getattr(recipe.file, field.name) != field.default
    }
    content = {
        "streamgauge": version("streamgauge"),
        "input": {
            "path": str(Path(recipe.file.path).absolute()),
            "options": options,
            "fingerprint": recipe.fingerprint,
            "classes": recipe.classes,
        },
        "wanted": {"kind": type(recipe.wanted).__name__.lower(), **asdict(recipe.wanted)},
        "labelled": recipe.labelled,
        "features": recipe.features,
        "seed": recipe.seed,
        "format": recipe.suffix,
        "reading": recipe.reading,
        "drawn": {
            "training": {group.name: group.training for group in plan.groups},
            "test": {group.name: group.test for group in plan.groups},
            "labelled": plan.labelled,
        },
    }
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n")


def read_recipe(path: Path) -> Recipe:
    """Read a recipe."""
    try:
        content = json.loads(path.read_text())
        wanted: dict[str, Any] = dict(content["wanted"])
        kind = _KINDS[wanted.pop("kind")]
        features = content["features"]
        return Recipe(
            file=File(content["input"]["path"], **content["input"]["options"]),
            fingerprint=content["input"]["fingerprint"],
            classes=content["input"]["classes"],
            wanted=kind(**wanted),
            labelled=content["labelled"],
            features=None if features is None else tuple(features),
            seed=content["seed"],
            suffix=content["format"],
            reading=content["reading"],
        )
    except OSError as error:
        msg = f"cannot read the recipe {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{path} is not a recipe of a sample ({error}); 'streamgauge sample' writes one as recipe.json"
        raise StreamgaugeError(msg) from None
