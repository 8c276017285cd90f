"""Moving generators against River, and Street and Kim's file."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from river.datasets import synth
from scipy import stats

from streamgauge.streams import SEA, Hyperplane, RandomRBF, take

SEA_FILE = Path(__file__).parents[4] / "shared" / "data" / "sea-concepts-50k.csv"

UNLIKELY = 1e-4


def rows_of(stream, n, start=0):
    taken = take(stream, n, start)
    return taken.x, taken.y


def river_rows(stream, n):
    rows = list(islice(stream, n))
    return np.array([list(x.values()) for x, _ in rows]), np.array([int(y) for _, y in rows])


def test_sea_is_distributed_as_rivers_sea():
    n = 20_000
    x, y = rows_of(SEA(concept=2, noise=0.1), n)
    river_x, river_y = river_rows(synth.SEA(variant=1, noise=0.1, seed=1), n)
    for j in range(3):
        assert stats.ks_2samp(x[:, j], river_x[:, j]).pvalue > UNLIKELY
    table = [np.bincount(y), np.bincount(river_y)]
    assert stats.chi2_contingency(table).pvalue > UNLIKELY


@pytest.mark.skipif(not SEA_FILE.exists(), reason="Street and Kim's file is not beside the project")
def test_street_and_kims_file_is_distributed_as_sea_with_its_classes_swapped():
    data = np.loadtxt(SEA_FILE, delimiter=",")
    file_x, file_y = data[:, :3], 1 - data[:, 3].astype(int)
    thresholds = np.repeat([8.0, 9.0, 7.0, 9.5], 12_500)
    noise = float((file_y != (file_x[:, 0] + file_x[:, 1] > thresholds)).mean())
    assert 0.09 < noise < 0.10  # its authors say 0.1
    x, y = rows_of(SEA(drift_every=12_500, noise=noise), 50_000)
    for part in np.split(np.arange(50_000), 4):
        assert stats.chi2_contingency([np.bincount(y[part]), np.bincount(file_y[part])]).pvalue > UNLIKELY
        for j in range(3):
            assert stats.ks_2samp(x[part, j], file_x[part, j]).pvalue > UNLIKELY


def test_a_hyperplane_is_distributed_as_rivers_hyperplane():
    n = 20_000
    x, y = rows_of(Hyperplane(n_drifting=5, magnitude=0.01), n)
    rivers = synth.Hyperplane(1, n_features=10, n_drift_features=5, mag_change=0.01, noise_percentage=0.05, sigma=0.1)
    river_x, river_y = river_rows(rivers, n)
    for j in range(10):
        assert stats.ks_2samp(x[:, j], river_x[:, j]).pvalue > UNLIKELY
    # By symmetry both classes are equally likely, wherever the plane stands.
    for labels in (y, river_y):
        assert stats.binomtest(int(labels.sum()), n).pvalue > UNLIKELY


def test_rbf_is_distributed_as_rivers_rbf():
    n, seeds = 1_000, range(8)
    options = {"n_features": 10, "n_classes": 2, "n_centroids": 50, "n_drift_centroids": 50}

    def moments(x, y):
        return [x.mean(), x.var(), stats.kurtosis(x, axis=None), np.cov(x.T)[np.triu_indices(10, 1)].mean(), y.mean()]

    ours = [moments(*rows_of(RandomRBF(speed=0.001, seed=seed), n)) for seed in seeds]
    rivers = [
        moments(*river_rows(synth.RandomRBFDrift(seed_model=s, seed_sample=s, change_speed=0.001, **options), n))
        for s in seeds
    ]
    names = ("mean", "variance", "kurtosis", "covariance", "prior")
    for name, differences in zip(names, np.transpose(np.subtract(ours, rivers)), strict=True):
        assert stats.ttest_1samp(differences, 0.0).pvalue > 0.001, name
