"""The registry of real data sets.

A data set is looked up in the folder STREAMGAUGE_DATA, then in the cache; otherwise it is downloaded from OpenML,
verified against the published checksum, and cached.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.records.checksums import seal_json, unseal_json
from streamgauge.streams.files import File
from streamgauge.streams.output_files import replace_atomically

__all__ = ["DATASETS", "Dataset", "load"]

_SUFFIXES = tuple(
    kind + packed for kind in (".arff", ".csv", ".parquet") for packed in ("", ".gz", ".zst", ".zip", ".bz2", ".xz")
)


@dataclass(frozen=True)
class Dataset:
    """A real data set used in papers.

    Parameters
    ----------
    name
        Name of the data set.
    n_rows, n_attributes, n_classes
        Its size.
    about
        A short description of its rows.
    citation
        The reference to cite.
    origin
        Address of its source.
    openml
        Identifier of the same data at OpenML; None if there is no verified copy.
    files
        Other names (without suffix) that its file may have.
    options
        Options of `File` that cannot be inferred from its file.

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
        about="The file of the SEA concepts: four concepts of 12,500 rows, 10% noise",
        citation="W. N. Street, Y. Kim, A streaming ensemble algorithm (SEA) for large-scale classification, KDD 2001",
        origin="http://www.liaad.up.pt/kdus/downloads/sea-concepts-dataset",
        files=("sea-concepts-50k",),
        options={"header": False},
    ),
)

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in _ALL}
"""The data sets by name."""


def load(name: str, *, offline: bool = False, progress: bool | None = None, **options: Any) -> File:  # noqa: ANN401
    """Return a real data set by its name.

    Parameters
    ----------
    name
        One of `DATASETS`.
    offline
        Whether to fail instead of downloading a data set that is in neither folder.
    progress
        Whether to show a progress bar of a download; None to show it if standard error is a terminal.
    options
        Options of `File`.

    Examples
    --------
    >>> load("elektricity")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no dataset 'elektricity'; did you mean electricity?
    """
    dataset = DATASETS.get(name)
    if dataset is None:
        error = unknown_name("dataset", name, DATASETS)
        raise error
    if folder := os.environ.get("STREAMGAUGE_DATA"):
        path = _find_file(dataset, Path(folder))
        if path is not None:
            return File(path, **{**dataset.options, **options})
    from streamgauge.streams.download import locate_cache  # noqa: PLC0415  (urllib is slow to import)

    cached = locate_cache() / f"{name}.arff"
    cached_options = cached.with_suffix(".json")
    if not (cached.is_file() and cached_options.is_file()):
        _fetch(dataset, cached, cached_options, offline=offline, progress=progress)
    return File(cached, **{**_read_options(cached_options), **options})


def _read_options(path: Path) -> dict[str, Any]:
    """Read the options with which a cached file is read."""
    try:
        return unseal_json(path.read_bytes(), by_hand=True)
    except (OSError, ValueError) as error:
        msg = f"{path} is damaged: {error}; remove it to download the data set again"
        raise StreamgaugeError(msg) from None


def _find_file(dataset: Dataset, folder: Path) -> Path | None:
    """Return the file of a data set in a folder, ignoring the case of file names."""
    if not folder.is_dir():
        msg = f"STREAMGAUGE_DATA is {folder}, which is not a folder"
        raise StreamgaugeError(msg)
    paths = {path.name.lower(): path for path in sorted(folder.iterdir())}
    names = ((stem + suffix).lower() for stem in (dataset.name, *dataset.files) for suffix in _SUFFIXES)
    return next((paths[name] for name in names if name in paths), None)


def _fetch(dataset: Dataset, cached: Path, cached_options: Path, *, offline: bool, progress: bool | None) -> None:
    """Download the file of a data set into the cache, with the options to read it."""
    from streamgauge.streams.download import download, query_openml  # noqa: PLC0415

    if dataset.openml is None or offline:
        reason = "it has no automatic download" if dataset.openml is None else "offline=True forbids a download"
        raise _build_missing_error(dataset, reason)
    try:
        remote = query_openml(dataset.openml)
        download(remote.url, cached, md5=remote.md5, progress=progress)
    except StreamgaugeError as error:
        raise _build_missing_error(dataset, str(error)) from None
    options: dict[str, Any] = {"target": remote.target} if remote.target else {}
    if remote.ignored:
        options["drop"] = remote.ignored
    with replace_atomically(cached_options) as temporary:
        temporary.write_text(seal_json(options))


def _build_missing_error(dataset: Dataset, reason: str) -> StreamgaugeError:
    from streamgauge.streams.download import locate_cache  # noqa: PLC0415

    folder = os.environ.get("STREAMGAUGE_DATA")
    target = folder or "a folder and set STREAMGAUGE_DATA to it"
    return StreamgaugeError(
        f"{dataset.name} is neither in STREAMGAUGE_DATA{'' if folder else ' (not set)'} nor in the cache "
        f"({locate_cache()}), and {reason}. Download it from {dataset.origin} and save it as {dataset.name}.arff "
        f"(or .csv, .parquet; also .gz, .zst, .zip) in {target}"
    )
