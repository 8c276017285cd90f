"""Moving generators against River, and Street and Kim's file."""

from itertools import islice

import numpy as np
from river.datasets import synth
from scipy import stats

from streamgauge.streams import SEA, Hyperplane, RandomRBF, take

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
