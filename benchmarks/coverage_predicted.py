"""The predicted MAUC of GreedyMAUC against the truth, on noise and on tables with a signal.

The truth is the MAUC, on fresh samples, of a linear discriminant of the features that
``n_features_to_select="predicted"`` chooses. Usage::

    python benchmarks/coverage_predicted.py [tables]
"""

import sys
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mauc import GreedyMAUC, mauc_score

# Classes, samples, features, those with an effect, and its size.
SETTINGS = (
    (2, 100, 10, 0, 0.0), (2, 100, 60, 0, 0.0), (2, 100, 500, 0, 0.0), (2, 200, 60, 0, 0.0),
    (2, 200, 500, 0, 0.0), (2, 600, 60, 0, 0.0), (3, 100, 60, 0, 0.0), (3, 200, 500, 0, 0.0),
    (6, 200, 500, 0, 0.0), (2, 200, 60, 3, 0.4), (2, 200, 60, 3, 0.8), (2, 200, 60, 20, 0.3),
    (2, 200, 500, 20, 0.4), (4, 200, 60, 5, 0.7), (4, 400, 60, 5, 0.4), (4, 400, 500, 50, 0.3),
    (3, 150, 10, 3, 0.6), (8, 400, 60, 5, 1.4),
)  # fmt: skip
N_FRESH = 4000


def measure(setting, seed):
    """Return the predicted and the true MAUC of one table, and the number of features."""
    n_classes, n_samples, n_features, n_useful, effect = setting
    generator = np.random.default_rng(seed)
    means = np.zeros((n_classes, n_features))
    means[:, :n_useful] = effect * generator.normal(size=(n_classes, n_useful))

    def draw(n):
        y = np.arange(n) % n_classes
        return generator.normal(size=(n, n_features)) + means[y], y

    (X, y), (X_fresh, y_fresh) = draw(n_samples), draw(N_FRESH)
    selector = GreedyMAUC("predicted").fit(X, y)
    chosen = selector.ranking_
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=selector.shrinkage_)
    scores = model.fit(X[:, chosen], y).predict_proba(X_fresh[:, chosen])
    truth = mauc_score(y_fresh, scores) if n_useful else 0.5
    return selector.predicted_mauc_[-1], truth, len(chosen)


def main():
    """Print the means of all settings."""
    warnings.simplefilter("ignore")
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    print("classes samples features useful effect | predicted truth difference | features")
    for setting in SETTINGS:
        rows = np.array([measure(setting, seed) for seed in range(n_tables)])
        predicted, truth, size = rows.mean(axis=0)
        print(
            *setting, f"| {predicted:.3f} {truth:.3f} {predicted - truth:+.3f} | {size:.1f}",
            flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
