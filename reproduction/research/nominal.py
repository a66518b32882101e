"""How GreedyMAUC and others do on mixed data: MAUC of classifiers on held-out folds.

Run as ``python -m reproduction.research.nominal SHARE [data sets]``; the tables are those of
reproduction/beyond/nominal_research.md. A share of the columns of a set, such as 0.5, is cut into
bins whose names are shuffled, so that their order is lost, and columns of noise with many
categories are added. Classifiers see nominal columns as such, whatever a selector saw:

- native: nominal columns as they are;
- codes: the codes of the categories as numbers;
- one-hot: an indicator per category, features in the order of their first indicator;
- the variants of the score by which GreedyMAUC correlates nominal features.
"""

import sys
import warnings
from unittest import mock

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mauc import MDFS, GreedyMAUC, SymmetricalUncertainty
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.evaluation import FoldEvaluator
from mauc.lab import C45
from mauc.measure import effects as measure
from reproduction.common import load_npz

SETS = (
    "dermatology",
    "segment",
    "vehicle",
    "satimage",
    "libras",
    "texture",
    "urban",
    "penbased",
    "arrhythmia",
)
SIZES = (2, 3, 5, 10, 20)
CLASSIFIERS = {"NB": NormalNaiveBayes(), "C4.5": C45(), "1NN": NearestNeighbor()}
MAX_ROWS, N_FOLDS, N_NOISE = 2000, 3, 5
BINS = (4, 8, 16, 40)  # of the columns that become nominal, in turn
MAX_INDICATORS = 20_000


def mixed_set(name, share, seed=0):
    """Return X with a share of its columns nominal and noise added, the mask, and y."""
    X, y = load_npz(name, np.float64, MAX_ROWS)
    rng = np.random.default_rng(seed)
    is_nominal = np.zeros(X.shape[1], bool)
    is_nominal[rng.permutation(X.shape[1])[: round(share * X.shape[1])]] = True
    for place, j in enumerate(np.flatnonzero(is_nominal)):
        edges = np.unique(np.nanquantile(X[:, j], np.linspace(0, 1, BINS[place % 4] + 1)[1:-1]))
        bins = np.searchsorted(edges, X[:, j])
        X[:, j] = np.where(np.isnan(X[:, j]), np.nan, rng.permutation(len(edges) + 1)[bins])
    sizes = np.geomspace(3, len(y) / 2, N_NOISE).astype(int)
    noise = np.column_stack([rng.integers(0, size, len(y)) for size in sizes])
    return np.hstack([X, noise]), np.append(is_nominal, np.ones(N_NOISE, bool)), y


def native(selector):
    def rank(X, y, is_nominal, k):
        selector.set_params(n_features_to_select=k, categorical_features=is_nominal)
        return selector.fit(X, y).ranking_

    return rank


def by_codes(X, y, is_nominal, k):
    return GreedyMAUC(k).fit(X, y).ranking_


def one_hot(X, y, is_nominal, k):
    parts, owners = [], []
    for j in range(X.shape[1]):
        values = np.unique(X[~np.isnan(X[:, j]), j]) if is_nominal[j] else None
        part = X[:, [j]] if values is None else (X[:, [j]] == values).astype(np.float64)
        parts.append(part)
        owners += [j] * part.shape[1]
    if len(owners) > MAX_INDICATORS:
        return None
    found = np.array(owners)[GreedyMAUC("all").fit(np.hstack(parts), y).ranking_]
    return np.array(list(dict.fromkeys(found.tolist())))[:k]


def with_scores(make_scores):
    """Return GreedyMAUC with another score of the categories."""

    def rank(X, y, is_nominal, k):
        with mock.patch.object(measure, "category_scores", make_scores):
            return native(GreedyMAUC())(X, y, is_nominal, k)

    return rank


def plain_axis(counts):
    """Return the leading axis of the correspondence analysis, rare categories not shrunk."""
    sizes = np.bincount(counts.categories, counts.counts, minlength=counts.n_categories)
    table = np.zeros((counts.n_categories, len(counts.totals)))
    for k in range(len(counts.totals)):
        categories, in_class = counts.of_class(k)
        table[categories, k] = in_class
    shares = table.sum(axis=0) / table.sum()
    profiles = table / np.maximum(sizes, 1)[:, np.newaxis] - shares
    S = profiles * np.sqrt(sizes / sizes.sum())[:, np.newaxis] / np.sqrt(shares)
    axis = np.linalg.svd(S, full_matrices=False)[2][0]
    return profiles @ (axis / np.sqrt(shares))


def no_correlation(counts):
    """Return random scores: nominal features correlate with nothing."""
    return np.random.default_rng(counts.n_categories).normal(size=counts.n_categories)


VARIANTS = {
    "GreedyMAUC native": native(GreedyMAUC()),
    "GreedyMAUC one-hot": one_hot,
    "GreedyMAUC codes": by_codes,
    "MDFS native": native(MDFS(random_state=0)),
    "SU": native(SymmetricalUncertainty()),
    "scores not shrunk": with_scores(plain_axis),
    "scores at random": with_scores(no_correlation),
}


def study(name, share):
    """Return MAUC by variant and classifier, and by variant how many of the first ten are noise."""
    X, is_nominal, y = mixed_set(name, share)
    first_noise = X.shape[1] - N_NOISE
    sizes = [k for k in SIZES if k <= X.shape[1]]
    found = {(variant, label): [] for variant in VARIANTS for label in CLASSIFIERS}
    noise = {variant: [] for variant in VARIANTS}
    for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y):
        fold = FoldEvaluator(X[train], y[train], X[test], y[test])
        for variant, rank in VARIANTS.items():
            ranking = rank(X[train], y[train], is_nominal, max(sizes))
            if ranking is None:
                continue
            noise[variant].append(np.sum(ranking[:10] >= first_noise))
            for label, model in CLASSIFIERS.items():
                model.set_params(categorical_features=is_nominal)
                found[variant, label].append(fold.evaluate(ranking, sizes, model).mean())
    means = {cell: np.mean(values) if values else np.nan for cell, values in found.items()}
    return means, {variant: np.mean(values or [np.nan]) for variant, values in noise.items()}


def main(share, names):
    warnings.simplefilter("ignore")
    studies = []
    for name in names:
        studies.append(study(name, share))
        print(f"<!-- {name} done -->", file=sys.stderr, flush=True)
    print("| variant | " + " | ".join([*names, "mean", *CLASSIFIERS, "noise in 10"]) + " |")
    print("|" + "---|" * (len(names) + 6))
    for variant in VARIANTS:
        by_model = [[found[variant, label] for label in CLASSIFIERS] for found, _ in studies]
        cells = [*np.mean(by_model, axis=1), np.nanmean(by_model), *np.nanmean(by_model, axis=0)]
        cells = [f"{value:.4f}" for value in cells]
        cells.append(f"{np.nanmean([in_ten[variant] for _, in_ten in studies]):.2f}")
        print(f"| {variant} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:] or SETS)
