"""Draws training and test sets from a file, in two passes and bounded memory."""

from dataclasses import replace
from pathlib import Path

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Key
from streamgauge.streams.sampling.class_counts import Balance, Distribution
from streamgauge.streams.sampling.index import Counts
from streamgauge.streams.sampling.recipes import read_recipe
from streamgauge.streams.sampling.request import Drawn, Request
from streamgauge.streams.sampling.sample_lines import draw_lines, sample_lines
from streamgauge.streams.sampling.sample_rows import sample_rows
from streamgauge.streams.text_lines import RawText, open_raw

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
) -> Drawn:
    r"""Draw a training and a test set from a file, after the manual of STUFFED (section 6.5).

    The counts are exact, rows stay in their order, no row is in both sets, and every selection with these counts is
    equally likely. The file is read twice, from start to end; memory does not grow with it. The same seed draws the
    same rows, so a sample need not be kept: its recipe is enough. Rows without a label are left out.

    Parameters
    ----------
    source
        The file, or its path.
    folder
        Where the sample goes: ``training`` and ``test`` files, ``test.truth.csv`` and ``recipe.json``.
    wanted
        How many training rows, and the classes' balance or distribution.
    labelled
        The fraction of the test rows that keep their label; the others carry ``?``, and their classes go into
        ``test.truth.csv``.
    features
        The attributes to keep, by name or position; None for all.
    seed
        Decides which rows are drawn.
    suffix
        What is written: ``arff``, ``csv``, ``tsv`` (also with ``.gz`` or ``.zst``) or ``parquet``; None for what the
        input is, as far as it can be written.
    index
        A folder of index files, one per class: read where they are there, which saves the first pass, else written.

    Examples
    --------
    >>> import tempfile
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "all.csv").write_text("a,class\n" + "".join(f"{i},{i % 3 // 2}\n" for i in range(1500)))
    >>> drawn = sample(here / "all.csv", here / "drawn", Balance(50, training=0.5, test=0.4), labelled=0.1)
    >>> [(group.training, group.test) for group in drawn.plan.groups]
    [(50, 360), (100, 900)]
    """
    require_at_least("seed", seed, 0)
    file = source if isinstance(source, File) else File(source)
    if file.declared is not None:
        msg = "a sample is drawn by the classes of the file itself; leave out the declared schema"
        raise StreamgaugeError(msg)
    raw = open_raw(file, features)
    request = Request(file, Path(folder), wanted, labelled, features, seed, suffix or _suffix(file, raw))
    if raw is not None and raw.kind == request.kind:
        return sample_lines(request, raw, None if index is None else Path(index))
    if index is not None:
        msg = f"index files are made where ARFF or CSV is sampled to the same; this is {file.kind} to {request.suffix}"
        raise StreamgaugeError(msg)
    return sample_rows(request)


def _suffix(file: File, raw: RawText | None) -> str:
    if raw is not None:
        return raw.kind
    return "arff" if file.kind == "arff" else "parquet"


def repeat(recipe: str | Path, folder: str | Path, *, source: str | Path | None = None) -> Drawn:
    r"""Draw a sample again, to the last byte; raises where the input is not the same any more.

    Parameters
    ----------
    recipe
        The ``recipe.json`` of a sample.
    folder
        Where the sample goes.
    source
        Where the input is now; None for where it was.

    Examples
    --------
    >>> import tempfile
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "all.csv").write_text("a,class\n" + "".join(f"{i},{i % 2}\n" for i in range(100)))
    >>> first = sample(here / "all.csv", here / "first", Balance(10), seed=7)
    >>> repeat(first.recipe, here / "second").test.read_bytes() == first.test.read_bytes()
    True
    """
    known = read_recipe(Path(recipe))
    file = known.file if source is None else replace(known.file, path=source)
    request = Request(file, Path(folder), known.wanted, known.labelled, known.features, known.seed, known.suffix)
    raw = open_raw(file, known.features)
    if raw is not None and raw.kind == request.kind:
        return draw_lines(request, raw, Counts(known.classes, fingerprint=known.fingerprint))[0]
    return sample_rows(request, known.fingerprint)
