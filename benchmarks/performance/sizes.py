"""Sizes of the measurements: full, short and quick."""

from dataclasses import dataclass, replace

__all__ = ["SIZES", "Sizes"]


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measurements.

    A section takes about three minutes of CPU (full) or twenty seconds (quick), one of the matrix several times that.
    """

    turns: int
    """Turns of each race on RBF, which has the goals; one less on other streams."""
    streams: tuple[str, ...]
    fold_streams: tuple[str, ...]
    n_rows: dict[str, int]
    """Rows for each learner; the folds use those of the tree."""
    n_capymoa_rows: dict[str, int]
    exponents: tuple[int, ...]
    attributes: tuple[int, ...]
    classes: tuple[int, ...]
    folds: tuple[int, ...]
    learners: tuple[int, ...]
    n_growth_rows: int
    n_values: int
    n_file_rows: int
    n_matrix_rows: int
    matrix_seconds: float
    """Seconds of CPU that MOA's slow learners are given for a cell of the matrix, which sets their number of rows."""
    warms: bool
    """Whether the matrix also measures warm virtual machines."""
    limit: int
    """Seconds of wall time after which a section is killed; a busy machine may take many times its CPU time."""


SIZES = {
    "full": Sizes(
        turns=3,
        streams=("RBF", "hyperplane", "SEA"),
        fold_streams=("RBF", "moving RBF"),
        n_rows={
            "NaiveBayes": 1_000_000,
            "HoeffdingTree": 1_000_000,
            "LeveragingBagging": 100_000,
            "AdaptiveRandomForest": 50_000,
        },
        n_capymoa_rows={
            "NaiveBayes": 100_000,
            "HoeffdingTree": 100_000,
            "LeveragingBagging": 20_000,
            "AdaptiveRandomForest": 20_000,
        },
        exponents=(4, 5, 6, 7),
        attributes=(10, 30, 100, 300, 1_000),
        classes=(2, 5, 10, 30, 100),
        folds=(1, 3, 10, 30, 100),
        learners=(1, 2, 5, 10, 20),
        n_growth_rows=200_000,
        n_values=1_000_000,
        n_file_rows=200_000,
        n_matrix_rows=1_000_000,
        matrix_seconds=6.0,
        warms=True,
        limit=3_600,
    ),
    "quick": Sizes(
        turns=1,
        streams=("RBF",),
        fold_streams=("RBF",),
        n_rows={
            "NaiveBayes": 100_000,
            "HoeffdingTree": 100_000,
            "LeveragingBagging": 10_000,
            "AdaptiveRandomForest": 5_000,
        },
        n_capymoa_rows={
            "NaiveBayes": 20_000,
            "HoeffdingTree": 20_000,
            "LeveragingBagging": 5_000,
            "AdaptiveRandomForest": 5_000,
        },
        exponents=(4, 5),
        attributes=(10, 100),
        classes=(2, 20),
        folds=(1, 10),
        learners=(1, 10),
        n_growth_rows=20_000,
        n_values=200_000,
        n_file_rows=50_000,
        n_matrix_rows=20_000,
        matrix_seconds=1.0,
        warms=True,
        limit=900,
    ),
}
SIZES["short"] = replace(SIZES["full"], turns=1, matrix_seconds=4.0, warms=False)
"""One turn of about as many rows, for busy machines."""
