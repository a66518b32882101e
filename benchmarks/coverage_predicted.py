"""The predicted MAUC of GreedyMAUC against the truth, on noise and on tables with a signal.

The truth is the MAUC, on fresh samples, of a linear discriminant of the features that
``n_features_to_select="predicted"`` chooses. Usage::

    python benchmarks/coverage_predicted.py [tables]
    MAUC_DATA=folder python benchmarks/coverage_predicted.py mixed

With "mixed", 30 tables with nominal columns, 10 of them planted: words of one class alone, rare
categories, values that are missing by class. The truth is then the cross-validated MAUC of the best
judge of `select_k`, at the predicted size; beside it is what ``select_k`` gains by its own size.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mauc import GreedyMAUC, mauc_score, select_k

# Classes, samples, features, those with an effect, and its size.
SETTINGS = (
    (2, 100, 10, 0, 0.0),
    (2, 100, 60, 0, 0.0),
    (2, 100, 500, 0, 0.0),
    (2, 200, 60, 0, 0.0),
    (2, 200, 500, 0, 0.0),
    (2, 600, 60, 0, 0.0),
    (3, 100, 60, 0, 0.0),
    (3, 200, 500, 0, 0.0),
    (6, 200, 500, 0, 0.0),
    (2, 200, 60, 3, 0.4),
    (2, 200, 60, 3, 0.8),
    (2, 200, 60, 20, 0.3),
    (2, 200, 500, 20, 0.4),
    (4, 200, 60, 5, 0.7),
    (4, 400, 60, 5, 0.4),
    (4, 400, 500, 50, 0.3),
    (3, 150, 10, 3, 0.6),
    (8, 400, 60, 5, 1.4),
    (2, 200, 5000, 10, 0.6),
    (4, 80, 2000, 10, 0.8),
)
N_FRESH = 4000
MIXED = [
    "ad_data",
    "anneal",
    "bridges",
    "car",
    "coffee_country",
    "credit_g",
    "cylinder_bands",
    "flags",
    "flareF",
    "help_substance",
    "hypothyroid",
    "kdd_satan",
    "kr_vs_kp",
    "lymph",
    "primary_tumor",
    "sick",
    "solar_flare",
    "soybean",
    "splice",
    "viruses",
]
NUMERIC = [
    "waveform",
    "zoo",
    "italypower",
    "page_blocks",
    "spectf",
    "mice",
    "hfi_region",
    "trace",
    "yeast12",
    "unbalanced",
]
SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50)


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


def load(name):
    """Return a table as a data frame with its nominal columns, and the classes."""
    with np.load(Path(os.environ["MAUC_DATA"]) / "tables" / f"{name}.npz") as parts:
        X, y, nominal = parts["X"], parts["y"], parts["nominal"]
    columns = {
        f"x{j}": pd.Categorical([f"w{value:g}" for value in X[:, j]]) if nominal[j] else X[:, j]
        for j in range(X.shape[1])
    }
    return pd.DataFrame(columns), y


def plant(y, kind, generator):
    """Return a column of words that tells of a class what words alone may tell."""
    n, counts = len(y), np.bincount(y)
    rare, large = counts.argmin(), counts.argmax()
    words = np.where(generator.random(n) < 0.5, "ringed", "released").astype(object)
    if kind == "rare categories":
        numbers = generator.integers(0, max(20, n // 8), n)
        numbers[(y == large) & (generator.random(n) < 0.15)] = 0
        words = np.array([f"c{number}" for number in numbers], object)
    elif kind == "of one class":
        words[y != rare] = None
    elif kind == "of one class, else a word":
        words[y != rare] = "blank"
    elif kind == "mostly missing":
        words[((y != large) & (generator.random(n) < 0.95)) | (generator.random(n) < 0.3)] = None
    else:  # "else a word"
        words[(y != large) & (generator.random(n) < 0.9)] = "none"
    return pd.Categorical(words)


def mixed_tables():
    """Yield a name, X and y of 30 tables."""
    for name in MIXED:
        yield name, *load(name)
    kinds = (
        "of one class",
        "of one class, else a word",
        "rare categories",
        "mostly missing",
        "else a word",
    )
    for at, name in enumerate(NUMERIC):
        X, y = load(name)
        kind = kinds[at % len(kinds)]
        yield f"{name}, words {kind}", X.assign(w=plant(y, kind, np.random.default_rng(at))), y


def measure_mixed():
    """Print the difference to cross-validation for every table, and the extremes."""
    print("table | features | predicted cross-validated difference | loss to select_k's size")
    rows = []
    for name, X, y in mixed_tables():
        selector = GreedyMAUC("predicted").fit(X, y)
        k, predicted = len(selector.ranking_), selector.predicted_mauc_[-1]
        sizes = sorted({k, X.shape[1], *(size for size in SIZES if size < X.shape[1])})
        curve = select_k(GreedyMAUC(), X, y, sizes=sizes)
        at_size = {}  # the trees judge a few sizes only
        for one in (curve, *curve.others):
            for size, mauc in zip(one.sizes.tolist(), one.mean.tolist(), strict=True):
                at_size[size] = max(mauc, at_size.get(size, 0.0))
        rows.append((predicted - at_size[k], at_size[curve.size] - at_size[k]))
        print(
            f"{name} | {k} | {predicted:.3f} {at_size[k]:.3f} {rows[-1][0]:+.3f} "
            f"| {rows[-1][1]:+.3f}",
            flush=True,
        )
    differences, losses = np.array(rows).T
    print(
        f"mean |difference| {np.abs(differences).mean():.3f}, largest "
        f"{np.abs(differences).max():.3f}; mean loss {losses.mean():.3f}"
    )


def main():
    """Print the means of all settings."""
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["mixed"]:
        measure_mixed()
        return
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    print("classes samples features useful effect | predicted truth difference | features")
    for setting in SETTINGS:
        rows = np.array([measure(setting, seed) for seed in range(n_tables)])
        predicted, truth, size = rows.mean(axis=0)
        print(
            *setting,
            f"| {predicted:.3f} {truth:.3f} {predicted - truth:+.3f} | {size:.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
