"""Real streams by name: where they come from, and where they are found.

A stream is looked for in the folder STREAMGAUGE_DATA, then in the cache; else it is downloaded from OpenML, checked
against the checksum that OpenML publishes, and kept in the cache.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.streams.files import File
from streamgauge.streams.output_files import replacing

__all__ = ["DATASETS", "Dataset", "load"]

_SUFFIXES = tuple(
    kind + packed for kind in (".arff", ".csv", ".parquet") for packed in ("", ".gz", ".zst", ".zip", ".bz2", ".xz")
)


@dataclass(frozen=True)
class Dataset:
    """A real stream that papers use.

    Parameters
    ----------
    name
        What it is called.
    n_rows, n_attributes, n_classes
        Its size.
    about
        What its rows are.
    citation
        Whom to cite.
    origin
        Where it comes from.
    openml
        The number of the same data at OpenML; None where we know of none that is surely the same.
    files
        Other names (without suffix) under which its file is found in a folder.
    options
        How its file is read, where that cannot be seen from the file.

    Examples
    --------
    >>> DATASETS["electricity"].n_rows
    45312
    """

    name: str
    n_rows: int
    n_attributes: int
    n_classes: int
    about: str
    citation: str
    origin: str
    openml: int | None = None
    files: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


_ALL = (
    Dataset(
        name="electricity",
        n_rows=45_312,
        n_attributes=8,
        n_classes=2,
        about="Electricity market of New South Wales, every half hour: does the price go up?",
        citation="M. Harries, SPLICE-2 comparative evaluation: electricity pricing, Univ. of New South Wales, 1999",
        origin="https://www.openml.org/d/151",
        openml=151,
        files=("elec", "elecNormNew"),
    ),
    Dataset(
        name="covertype",
        n_rows=581_012,
        n_attributes=54,
        n_classes=7,
        about="Forest cover of 30 by 30 metre cells from maps",
        citation="J. A. Blackard and D. J. Dean, Computers and Electronics in Agriculture 24(3), 1999",
        origin="https://archive.ics.uci.edu/dataset/31/covertype",
        openml=1596,
        files=("covtype",),
    ),
    Dataset(
        name="poker-hand",
        n_rows=829_201,
        n_attributes=10,
        n_classes=10,
        about="Poker hands of five cards, without duplicates, normalised",
        citation="R. Cattral and F. Oppacher, Poker Hand, UCI Machine Learning Repository, 2007",
        origin="https://www.openml.org/d/155",
        openml=155,
        files=("poker", "poker-lsn"),
    ),
    Dataset(
        name="poker-hand-25k",
        n_rows=25_010,
        n_attributes=10,
        n_classes=10,
        about="Poker hands of five cards, the training part of UCI: suit and rank of each",
        citation="R. Cattral and F. Oppacher, Poker Hand, UCI Machine Learning Repository, 2007",
        origin="https://archive.ics.uci.edu/dataset/158/poker+hand",
        files=("poker-hand-training-true",),
        options={"header": False},
    ),
    Dataset(
        name="airlines",
        n_rows=539_383,
        n_attributes=7,
        n_classes=2,
        about="Flights in the United States: will it be delayed?",
        citation="E. Ikonomovska, Airline data for evaluation of algorithms on streams, 2009 (Data Expo 2009)",
        origin="https://www.openml.org/d/1169",
        openml=1169,
    ),
    Dataset(
        name="skin",
        n_rows=245_057,
        n_attributes=3,
        n_classes=2,
        about="Colours of pixels: skin or not",
        citation="R. Bhatt and A. Dhall, Skin segmentation, UCI Machine Learning Repository, 2012",
        origin="https://archive.ics.uci.edu/dataset/229/skin+segmentation",
        openml=1502,
        files=("skin-segmentation",),
    ),
    Dataset(
        name="miniboone",
        n_rows=130_064,
        n_attributes=50,
        n_classes=2,
        about="Particles of the MiniBooNE experiment: electron neutrino or background",
        citation="B. Roe, MiniBooNE particle identification, UCI Machine Learning Repository, 2005",
        origin="https://archive.ics.uci.edu/dataset/199/miniboone+particle+identification",
        openml=41150,
        files=("MiniBooNE", "MiniBoone"),
    ),
    Dataset(
        name="magic",
        n_rows=19_020,
        n_attributes=10,
        n_classes=2,
        about="Images of the MAGIC gamma telescope: gamma ray or hadron",
        citation="R. K. Bock et al., Nuclear Instruments and Methods in Physics Research A 516, 2004",
        origin="https://archive.ics.uci.edu/dataset/159/magic+gamma+telescope",
        openml=1120,
        files=("MagicTelescope",),
    ),
    Dataset(
        name="gmsc",
        n_rows=150_000,
        n_attributes=10,
        n_classes=2,
        about="Borrowers: serious trouble with payments within two years?",
        citation="Give Me Some Credit, Kaggle, 2011",
        origin="https://www.kaggle.com/c/GiveMeSomeCredit",
        files=("GMSC", "GiveMeSomeCredit"),
    ),
    Dataset(
        name="weather",
        n_rows=18_159,
        n_attributes=8,
        n_classes=2,
        about="Daily weather at Offutt Air Force Base, Nebraska, over fifty years: does it rain?",
        citation="R. Elwell and R. Polikar, IEEE Transactions on Neural Networks 22(10), 2011",
        origin="https://users.rowan.edu/~polikar/nse.html",
        files=("NOAA", "nweather"),
    ),
    Dataset(
        name="kddcup99",
        n_rows=494_021,
        n_attributes=41,
        n_classes=23,
        about="Network connections, normal or one of 22 attacks: the tenth of KDD Cup 1999",
        citation="S. Hettich and S. D. Bay, The UCI KDD Archive, University of California, Irvine, 1999",
        origin="https://kdd.ics.uci.edu/databases/kddcup99/kddcup99.html",
        files=("kddcup.data_10_percent", "KDDCup99"),
    ),
    Dataset(
        name="spam",
        n_rows=9_324,
        n_attributes=500,
        n_classes=2,
        about="E-mails of the SpamAssassin collection, in order of arrival, as words present or absent",
        citation="I. Katakis, G. Tsoumakas and I. Vlahavas, Knowledge and Information Systems 22, 2010",
        origin="http://mlkd.csd.auth.gr/concept_drift.html",
        files=("spam_corpus", "spam_data"),
    ),
    Dataset(
        name="sea-concepts",
        n_rows=50_000,
        n_attributes=3,
        n_classes=2,
        about="The file of the SEA concepts: four concepts of 12,500 rows, 10 % noise",
        citation="W. N. Street, Y. Kim, A streaming ensemble algorithm (SEA) for large-scale classification, KDD 2001",
        origin="http://www.liaad.up.pt/kdus/downloads/sea-concepts-dataset",
        files=("sea-concepts-50k",),
        options={"header": False},
    ),
)

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}
"""The real streams by name."""


def load(name: str, *, offline: bool = False, progress: bool | None = None, **options: Any) -> File:  # noqa: ANN401
    """Give a real stream by its name.

    Parameters
    ----------
    name
        One of `DATASETS`.
    offline
        Whether not to download what is in neither folder.
    progress
        Whether to show a progress bar of a download; None for only where standard error is a terminal.
    options
        How to read its file, as `File` takes them.

    Examples
    --------
    >>> load("elektricity")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no dataset 'elektricity'; did you mean electricity?
    """
    dataset = DATASETS.get(name)
    if dataset is None:
        kind = "dataset"
        raise unknown_name(kind, name, DATASETS)
    if given := os.environ.get("STREAMGAUGE_DATA"):
        found = next(_present(dataset, Path(given)), None)
        if found is not None:
            return File(found, **{**dataset.options, **options})
    from streamgauge.streams.download import cache_folder  # noqa: PLC0415  (the web is slow to import)

    cached = cache_folder() / f"{name}.arff"
    known = cached.with_suffix(".json")
    if not (cached.is_file() and known.is_file()):
        _fetch(dataset, cached, known, offline=offline, progress=progress)
    return File(cached, **{**json.loads(known.read_text()), **options})


def _present(dataset: Dataset, folder: Path) -> Iterator[Path]:
    """Find the files of a stream in a folder, whatever the case of their names."""
    if not folder.is_dir():
        msg = f"STREAMGAUGE_DATA is {folder}, which is not a folder"
        raise StreamgaugeError(msg)
    there = {path.name.lower(): path for path in sorted(folder.iterdir())}
    for stem in (dataset.name, *dataset.files):
        for suffix in _SUFFIXES:
            if (path := there.get((stem + suffix).lower())) is not None:
                yield path


def _fetch(dataset: Dataset, cached: Path, known: Path, *, offline: bool, progress: bool | None) -> None:
    """Download the file of a stream into the cache, with a note of how it is read."""
    from streamgauge.streams.download import download, openml_file  # noqa: PLC0415

    if dataset.openml is None or offline:
        raise _absent(dataset, "it is not downloaded by itself" if dataset.openml is None else "offline was asked for")
    try:
        remote = openml_file(dataset.openml)
        download(remote.url, cached, md5=remote.md5, progress=progress)
    except StreamgaugeError as error:
        raise _absent(dataset, str(error)) from None
    options: dict[str, Any] = {"target": remote.target} if remote.target else {}
    if remote.ignored:
        options["drop"] = remote.ignored
    with replacing(known) as temporary:
        temporary.write_text(json.dumps(options))


def _absent(dataset: Dataset, reason: str) -> StreamgaugeError:
    from streamgauge.streams.download import cache_folder  # noqa: PLC0415

    given = os.environ.get("STREAMGAUGE_DATA")
    folder = given or "a folder"
    hint = "" if given else " and set STREAMGAUGE_DATA to that folder"
    return StreamgaugeError(
        f"{dataset.name} is neither in STREAMGAUGE_DATA{'' if given else ' (not set)'} nor in the cache "
        f"({cache_folder()}), and cannot be had: {reason}. Get it from {dataset.origin}, put it as {dataset.name}.arff "
        f"(or .csv, .parquet; also .gz, .zst, .zip) into {folder}{hint}"
    )
