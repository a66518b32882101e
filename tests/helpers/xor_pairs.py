"""Data whose classes are told by pairs of features that tell nothing alone."""

import numpy as np

KINDS = ("xor", "binary", "noisy", "three classes", "four classes", "main effects")


def make_pairs(kind, seed, n_samples=600, n_features=60):
    """Return X, y and the features of the pairs that make the class.

    The class is whether the signs of two features agree ("xor"), the same of features 0 and 1
    ("binary"), with one label in ten wrong ("noisy"), the product of two features in three
    parts, two such signs, or one sign beside two features shifted by 1.5 and 1.2 deviations.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    a, b, c, d = rng.permutation(n_features)[:4].tolist()
    if kind == "binary":
        X[:, [a, b]] = rng.integers(0, 2, (n_samples, 2))
        return X, (X[:, a] != X[:, b]).astype(int), [a, b]
    agrees = (X[:, a] * X[:, b] > 0).astype(int)
    if kind == "noisy":
        return X, agrees ^ (rng.random(n_samples) < 0.1), [a, b]
    if kind == "three classes":
        return X, np.digitize(X[:, a] * X[:, b], [-0.3, 0.3]), [a, b]
    if kind == "four classes":
        return X, 2 * agrees + (X[:, c] * X[:, d] > 0), [a, b, c, d]
    if kind == "main effects":
        X[:, c] += 1.5 * agrees
        X[:, d] += 1.2 * agrees
    return X, agrees, [a, b]
