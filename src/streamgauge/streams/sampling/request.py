"""The request for a sample, and the sample that results from it."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge import _native
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Key
from streamgauge.streams.files.used_files import refuse_replacing
from streamgauge.streams.output_files import detect_format, open_output
from streamgauge.streams.sampling.index_files import ClassCounts
from streamgauge.streams.sampling.recipes import Recipe, write_recipe
from streamgauge.streams.sampling.sample_plan import Balance, Distribution, SamplePlan

__all__ = ["SampleFiles", "SampleRequest", "assign_groups", "build_selection"]


@dataclass(frozen=True)
class SampleFiles:
    """The files of a sample.

    Parameters
    ----------
    plan
        Row counts of the sample.
    training
        File of the training set; None if there is none.
    test
        File of the test set.
    truth
        File of the classes of the test rows with hidden labels: row in the test file (from 0) and class; None if no
        label is hidden.
    recipe
        File with everything that is needed to draw the sample again.
    """

    plan: SamplePlan
    training: Path | None
    test: Path
    truth: Path | None
    recipe: Path


@dataclass(frozen=True)
class SampleRequest:
    """A request for a sample; see `sample`."""

    file: File
    folder: Path
    wanted: Balance | Distribution
    labelled: float
    features: tuple[Key, ...] | None
    seed: int
    suffix: str

    def __post_init__(self) -> None:
        for path in (self.training, self.test, self.truth):
            refuse_replacing(self.file, path)

    @property
    def kind(self) -> str:
        """Format of the files of the sample: arff, csv, tsv, parquet or arrow."""
        return detect_format(self.test)[0]

    @property
    def training(self) -> Path:
        """File of the training set."""
        return self.folder / f"training.{self.suffix}"

    @property
    def test(self) -> Path:
        """File of the test set."""
        return self.folder / f"test.{self.suffix}"

    @property
    def truth(self) -> Path:
        """File of the hidden classes."""
        return self.folder / "test.truth.csv"

    def open_truth(self, plan: SamplePlan, files: ExitStack) -> Callable[[bytes], object]:
        """Open the file of the hidden classes, if any label is hidden, and return a function that writes to it."""
        if plan.labelled == plan.n_test:
            return len
        out = files.enter_context(open_output(self.truth))
        out.write(b"row,class\n")
        return out.write

    def finish(self, plan: SamplePlan, counts: ClassCounts, file_options: dict[str, Any]) -> SampleFiles:
        """Write the recipe, remove leftovers of an earlier sample from the folder, and return the sample.

        `file_options` are the options of `File` to read the files of the sample.
        """
        recipe = Recipe(
            file=self.file,
            fingerprint=counts.fingerprint or "",
            classes=counts.classes,
            wanted=self.wanted,
            labelled=self.labelled,
            features=self.features,
            seed=self.seed,
            suffix=self.suffix,
            file_options=file_options,
        )
        recipe_path = self.folder / "recipe.json"
        write_recipe(recipe_path, recipe, plan)
        training = self.training if plan.n_training else None
        truth = self.truth if plan.labelled < plan.n_test else None
        for path, written in ((self.training, training), (self.truth, truth)):
            if written is None:
                path.unlink(missing_ok=True)
        return SampleFiles(plan=plan, training=training, test=self.test, truth=truth, recipe=recipe_path)


def build_selection(plan: SamplePlan, seed: int) -> _native.Selection:
    """Return the native selection that draws a plan."""
    return _native.Selection([(group.rows, group.training, group.test) for group in plan.groups], plan.labelled, seed)


def assign_groups(plan: SamplePlan, classes: dict[str, int]) -> list[int]:
    """Return for each class the index of its group in a plan."""
    index = {name: i for i, group in enumerate(plan.groups) for name in group.classes}
    return [index[name] for name in classes]
