"""What is asked for, and what comes of it."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge import _native
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Key
from streamgauge.streams.output_files import file_kind, writing_bytes
from streamgauge.streams.sampling.class_counts import Balance, Distribution, Plan
from streamgauge.streams.sampling.index import Counts
from streamgauge.streams.sampling.recipes import Recipe, write_recipe

__all__ = ["Drawn", "Request", "groups_of", "selection_of"]


@dataclass(frozen=True)
class Drawn:
    """A sample that lies in a folder.

    Parameters
    ----------
    plan
        How many rows were drawn of what.
    training
        The file of the training set; None where there is none.
    test
        The file of the test set.
    truth
        The classes of the test rows whose label is hidden: position in the test file (from 0) and class; None where
        no label is hidden.
    recipe
        What is needed to draw it again.
    """

    plan: Plan
    training: Path | None
    test: Path
    truth: Path | None
    recipe: Path


@dataclass(frozen=True)
class Request:
    """What was asked for; see `sample`."""

    file: File
    folder: Path
    wanted: Balance | Distribution
    labelled: float
    features: tuple[Key, ...] | None
    seed: int
    suffix: str

    @property
    def kind(self) -> str:
        """What the files of the sample are: arff, csv, tsv or parquet."""
        return file_kind(self.test)[0]

    @property
    def training(self) -> Path:
        """The file of the training set."""
        return self.folder / f"training.{self.suffix}"

    @property
    def test(self) -> Path:
        """The file of the test set."""
        return self.folder / f"test.{self.suffix}"

    @property
    def truth(self) -> Path:
        """The file of the hidden classes."""
        return self.folder / "test.truth.csv"

    def open_truth(self, plan: Plan, files: ExitStack) -> Callable[[bytes], object]:
        """Open the file of the hidden classes, where any is hidden."""
        if plan.labelled == plan.n_test:
            return len
        out = files.enter_context(writing_bytes(self.truth))
        out.write(b"row,class\n")
        return out.write

    def drawn(self, plan: Plan, counts: Counts, reading: dict[str, Any]) -> Drawn:
        """Write the recipe, remove what an earlier sample left in the folder, and say where everything is.

        `reading` are the options of `File` with which the files of the sample are read.
        """
        recipe = self.folder / "recipe.json"
        known = (self.file, counts.fingerprint or "", counts.classes, self.wanted, self.labelled, self.features)
        write_recipe(recipe, Recipe(*known, self.seed, self.suffix, reading), plan)
        training = self.training if plan.n_training else None
        truth = self.truth if plan.labelled < plan.n_test else None
        for path, kept in ((self.training, training), (self.truth, truth)):
            if kept is None:
                path.unlink(missing_ok=True)
        return Drawn(plan, training, self.test, truth, recipe)


def selection_of(plan: Plan, seed: int) -> _native.Selection:
    """Give the selection that draws a plan."""
    return _native.Selection([(group.rows, group.training, group.test) for group in plan.groups], plan.labelled, seed)


def groups_of(plan: Plan, classes: dict[str, int]) -> list[int]:
    """Say of each class to which group of a plan it belongs."""
    group_of = {name: i for i, group in enumerate(plan.groups) for name in group.classes}
    return [group_of[name] for name in classes]
