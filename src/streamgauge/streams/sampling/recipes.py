"""Recipes: everything that is needed to draw a sample again."""

from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError
from streamgauge.records.checksums import seal_json, unseal_json
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Key
from streamgauge.streams.output_files import replace_atomically
from streamgauge.streams.sampling.sample_plan import Balance, Distribution, SamplePlan

__all__ = ["Recipe", "read_recipe", "write_recipe"]

_KINDS: dict[str, type[Balance] | type[Distribution]] = {"balance": Balance, "distribution": Distribution}


@dataclass(frozen=True)
class Recipe:
    """Input and options of a sample.

    Parameters
    ----------
    file
        The input.
    fingerprint
        Fingerprint of the input.
    classes
        Number of rows of each class in the input.
    wanted, labelled, features, seed, suffix
        Options of the sample; see `sample`.
    file_options
        Options of `File` to read the files of the sample.
    """

    file: File
    fingerprint: str
    classes: dict[str, int]
    wanted: Balance | Distribution
    labelled: float
    features: tuple[Key, ...] | None
    seed: int
    suffix: str
    file_options: dict[str, Any]


def write_recipe(path: Path, recipe: Recipe, plan: SamplePlan) -> None:
    """Write a recipe, with the row counts of the sample."""
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
        "reading": recipe.file_options,
        "drawn": {
            "training": {group.name: group.training for group in plan.groups},
            "test": {group.name: group.test for group in plan.groups},
            "labelled": plan.labelled,
        },
    }
    with replace_atomically(path) as temporary:
        temporary.write_text(seal_json(content, indent=2) + "\n", encoding="utf-8")


def read_recipe(path: Path) -> Recipe:
    """Read a recipe."""
    try:
        content = unseal_json(path.read_bytes(), by_hand=True)
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
            file_options=content["reading"],
        )
    except OSError as error:
        msg = f"cannot read the recipe {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None
    except (KeyError, TypeError, ValueError) as error:
        msg = f"{path} is not a recipe of a sample ({error}): use a recipe.json written by 'streamgauge sample'"
        raise StreamgaugeError(msg) from None
