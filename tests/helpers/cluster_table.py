"""A table for tests of clusters, and how two fits are compared."""

import numpy as np


def make_table(n_samples=600, n_features=70, n_classes=4):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_samples)
    X = rng.normal(size=(n_samples, n_features)) + y[:, None] * rng.uniform(0, 0.5, n_features)
    X[::7, 3] = np.nan
    X[:, 5] = 1.0
    X[:, 10:14] = X[:, 10:14].round()  # few values, many ties
    X[::9, 13:14] = np.nan
    X[:, 14:15] = X[:, 14:15] > 1.5
    return X.astype(np.float32), y


def assert_same_fit(found, expected):
    for name in ("ranking_", "scores_", "pair_auc_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.trace_.to_frame().equals(expected.trace_.to_frame())
