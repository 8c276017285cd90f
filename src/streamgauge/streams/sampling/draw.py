"""Drawing of training and test sets from a file, in two passes and bounded memory."""

from dataclasses import replace
from pathlib import Path

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Key
from streamgauge.streams.sampling.index_files import ClassCounts
from streamgauge.streams.sampling.recipes import read_recipe
from streamgauge.streams.sampling.request import SampleFiles, SampleRequest
from streamgauge.streams.sampling.sample_lines import draw_lines, sample_lines
from streamgauge.streams.sampling.sample_plan import Balance, Distribution
from streamgauge.streams.sampling.sample_rows import sample_rows
from streamgauge.streams.text_lines import open_raw

__all__ = ["repeat", "sample"]


def sample(
    source: File | str | Path,
    folder: str | Path,
    wanted: Balance | Distribution,
    *,
    labelled: float = 1.0,
    features: tuple[Key, ...] | None = None,
    seed: int = 1,
    suffix: str | None = None,
    index: str | Path | None = None,
) -> SampleFiles:
    r"""Draw a training and a test set from a file, following the manual of STUFFED (section 6.5).

    The counts are exact, rows keep their order, no row is in both sets, and every selection with these counts is
    equally likely. The file is read twice, from start to end; memory does not grow with it. The same seed draws the
    same rows, so a sample need not be stored: its recipe is enough. Rows without a label are skipped.

    Parameters
    ----------
    source
        The file, or its path.
    folder
        Folder of the sample: ``training`` and ``test`` files, ``test.truth.csv`` and ``recipe.json``.
    wanted
        Size of the training set, and the balance or distribution of the classes.
    labelled
        Fraction of the test rows that keep their label; the others have ``?``, and their classes are written to
        ``test.truth.csv``.
    features
        Attributes to keep, by name or index; None for all.
    seed
        Random seed of the selection.
    suffix
        Format of the files: ``arff``, ``csv``, ``tsv`` (also with ``.gz`` or ``.zst``), ``parquet`` or ``arrow``; None
        for the format of the input, or Parquet if that format cannot be written.
    index
        Folder of index files, one per class. Existing ones are read, which saves the first pass; otherwise they are
        written.

    Examples
    --------
    >>> import tempfile
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "all.csv").write_text("a,class\n" + "".join(f"{i},{i % 3 // 2}\n" for i in range(1500)))
    >>> result = sample(here / "all.csv", here / "sample", Balance(50, training=0.5, test=0.4), labelled=0.1)
    >>> [(group.training, group.test) for group in result.plan.groups]
    [(50, 360), (100, 900)]
    """
    require_at_least("seed", seed, 0)
    file = source if isinstance(source, File) else File(source)
    if file.declared is not None:
        msg = "a sample is drawn by the classes in the file itself: remove the declared schema"
        raise StreamgaugeError(msg)
    raw = open_raw(file, features)
    default_suffix = raw.kind if raw is not None else "arff" if file.kind == "arff" else "parquet"
    request = SampleRequest(
        file=file,
        folder=Path(folder),
        wanted=wanted,
        labelled=labelled,
        features=features,
        seed=seed,
        suffix=suffix or default_suffix,
    )
    if raw is not None and raw.kind == request.kind:
        return sample_lines(request, raw, None if index is None else Path(index))
    if index is not None:
        msg = f"index files need ARFF to ARFF or CSV to CSV, not {file.kind} to {request.suffix}: remove index"
        raise StreamgaugeError(msg)
    return sample_rows(request)


def repeat(recipe: str | Path, folder: str | Path, *, source: str | Path | None = None) -> SampleFiles:
    r"""Draw a sample again, byte for byte; raise if the input has changed.

    Parameters
    ----------
    recipe
        The ``recipe.json`` of a sample.
    folder
        Folder of the new sample.
    source
        Current path of the input; None for the path in the recipe.

    Examples
    --------
    >>> import tempfile
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "all.csv").write_text("a,class\n" + "".join(f"{i},{i % 2}\n" for i in range(100)))
    >>> first = sample(here / "all.csv", here / "first", Balance(10), seed=7)
    >>> repeat(first.recipe, here / "second").test.read_bytes() == first.test.read_bytes()
    True
    """
    original = read_recipe(Path(recipe))
    file = original.file if source is None else replace(original.file, path=source)
    request = SampleRequest(
        file=file,
        folder=Path(folder),
        wanted=original.wanted,
        labelled=original.labelled,
        features=original.features,
        seed=original.seed,
        suffix=original.suffix,
    )
    raw = open_raw(file, original.features)
    if raw is not None and raw.kind == request.kind:
        return draw_lines(request, raw, ClassCounts(original.classes, fingerprint=original.fingerprint))[0]
    return sample_rows(request, original.fingerprint)
