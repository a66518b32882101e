"""What was tried for GreedyMAUC where samples are few: ties, small classes, priors.

Run as ``python -m reproduction.research.few_samples few|tiny|all [--seed 0]``. Tables are Markdown,
as in reproduction/beyond/few_samples.md: MAUC of six classifiers and 5, 10, 20 and 50 features, in
thousandths.
The library has the default alone; all else is written here, plainly, in NumPy.
"""

import argparse
import os
import warnings
from itertools import pairwise

os.environ.setdefault("OMP_NUM_THREADS", "1")  # processes share the cores

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mauc import MRMR, GreedyMAUC, mauc_score
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.data.door import make_problem
from mauc.evaluation import FoldEvaluator
from mauc.lab import C45
from mauc.measure.effects import auc_effects, measure
from mauc.measure.normal_scores import estimate_shrinkage
from mauc.measure.pair_auc import pair_wins
from mauc.search.prior import value_scores
from reproduction.common import load_npz

ALL = (
    "isolet",
    "mnist",
    "usps",
    "phoneme",
    "indiana",
    "synthetic",
    "thyroid_sub_tox171",
    "thyroid_sub_srbct",
    "washington_sub_forest",
    "texture",
    "segment",
    "satimage",
    "vehicle",
    "penbased",
    "libras",
    "cnae9",
    "semeion",
    "urban",
    "arrhythmia",
    "dermatology",
    "su",
    "sorlie",
)
#: rows that are drawn from large sets, so that there are few and the test part is large
FEW = {
    "usps": 60,
    "mnist": 80,
    "phoneme": 50,
    "texture": 66,
    "semeion": 100,
    "urban": 81,
    "isolet": 130,
    "indiana": 72,
    "synthetic": 48,
    "satimage": 60,
    "cnae9": 90,
    "washington_sub_forest": 64,
    "segment": 56,
    "dermatology": 60,
}
TINY = {"su": 50, "thyroid_sub_srbct": 40, "sorlie": 45}
N_DRAWS = {"few": 4, "tiny": 10}
MAX_ROWS, MAX_TEST, SMALL_SET = 2000, 1000, 450
SIZES = (5, 10, 20, 50)
NESTED = (NormalNaiveBayes(), C45(), NearestNeighbor())
OTHERS = (
    make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    make_pipeline(StandardScaler(), SVC(C=8.0)),
    RandomForestClassifier(100, random_state=0),
)


class Fold:
    """One split, with what is measured on its training part; rows of `values` sorted by class."""

    def __init__(self, X, y, train, test):
        self.X, self.y = np.asfortranarray(X[train]), y[train]
        self.X_test, self.y_test = X[test], y[test]
        self.sizes = [size for size in SIZES if size <= X.shape[1]]
        self.problem = make_problem(self.X, self.y)
        self.counts = self.problem.class_counts
        self.pairs = np.triu_indices(len(self.counts), 1)
        _, self.scores = measure(self.problem)
        self.auc_effects = auc_effects(*pair_wins(self.problem, np.arange(X.shape[1])))
        self.normal = self.scores.scores / 32.0
        self.robust = value_scores(self.problem, self.scores) / 32.0
        self.codes = np.repeat(np.arange(len(self.counts)), self.counts)
        z = self.normal.copy()
        for rows in self.classes():
            z[:, rows] -= z[:, rows].mean(axis=1, keepdims=True)
        lengths = np.sqrt((z * z).sum(axis=1, keepdims=True))
        self.within = z / np.where(lengths > 1e-6, lengths, np.inf)
        self.shrinkage = estimate_shrinkage(self.scores)

    def classes(self):
        stops = np.concatenate([[0], np.cumsum(self.counts)])
        return [slice(start, stop) for start, stop in pairwise(stops)]

    def pair_sizes(self):
        i, j = self.pairs
        return 2 / (1 / self.counts[i] + 1 / self.counts[j])

    def evaluate(self, ranking):
        """Return the mean MAUC over classifiers and sizes."""
        fold = FoldEvaluator(self.X, self.y, self.X_test, self.y_test)
        found = [fold.evaluate(ranking, self.sizes, one) for one in NESTED]
        for size in self.sizes:
            columns = np.sort(ranking[:size])
            for model in OTHERS:
                model.fit(self.X[:, columns], self.y)
                method = getattr(model, "predict_proba", None) or model.decision_function
                scores = method(self.X_test[:, columns])
                if scores.ndim == 1:
                    scores = np.column_stack([-scores, scores])
                found.append([mauc_score(self.y_test, scores, labels=model.classes_)])
        return float(np.mean(np.concatenate(found)))


def differences(fold, values):
    """Return standardised differences of the classes, with a moderated deviation."""
    i, j = fold.pairs
    means = np.column_stack([values[:, rows].mean(axis=1) for rows in fold.classes()])
    squares = np.column_stack(
        [values[:, rows].var(axis=1) * len(values[0, rows]) for rows in fold.classes()]
    )
    pooled = squares.sum(axis=1, keepdims=True) / max(len(fold.y) - len(fold.counts), 1)
    variances = (squares[:, i] + squares[:, j] + 40 * pooled) / (
        fold.counts[i] + fold.counts[j] - 2 + 40
    )
    g = (means[:, i] - means[:, j]) / np.sqrt(np.maximum(variances, 1e-12))
    return np.clip(g, -5.26, 5.26)


def tied(fold):
    """Return effects of the AUCs, of tied features nearer to their standardised differences."""
    n = len(fold.y)
    counts = [np.unique(column, return_counts=True)[1] for column in fold.X.T]
    shares = np.array([(c.astype(float) ** 2).sum() / n**2 if len(c) < n else 0 for c in counts])
    h = fold.pair_sizes()
    weights = np.clip((shares - 0.1) / 0.4, 0, 1)[:, None] * h / (h + 30)
    return weights * differences(fold, fold.normal) + (1 - weights) * fold.auc_effects


def small(fold, values, enough=100.0):
    """Return tied effects, those of small classes nearer to their standardised differences."""
    shares = 0.5 * np.maximum(0, 1 - fold.pair_sizes() / enough)
    return shares * differences(fold, values) + (1 - shares) * tied(fold)


def trees(fold, values):
    """Return the weights that importances of extra trees make."""
    model = ExtraTreesClassifier(200, random_state=0).fit(values.T, fold.codes)
    found = model.feature_importances_
    return np.maximum(found / found.max(), 1e-4) ** 0.2


def is_few(X):
    """Return whether the samples are so few that a prior of trees was tried."""
    n_samples, n_features = X.shape
    return n_samples <= 500 and n_samples < 2 * n_features


def few_trees(fold):
    """Return the weights of trees of values where samples are few, and 1 elsewhere."""
    return trees(fold, fold.robust) if is_few(fold.X) else 1.0


def greedy_with_trees(fold):
    """Return the ranking of GreedyMAUC with a prior of trees where samples are few."""
    prior = ExtraTreesClassifier(200, random_state=0) if is_few(fold.X) else None
    return GreedyMAUC(max(fold.sizes), prior=prior).fit(fold.X, fold.y).ranking_


def choose(fold, d, prior=1.0, suppression=0.0):
    """Choose greedily; `suppression` shrinks gains by company for the noise of correlations."""
    i, j = fold.pairs
    noise = (1 / fold.counts[i] + 1 / fold.counts[j]) * (1 + np.minimum(d * d, 11) / 8) + 0.05
    alone = d * np.clip(1 - noise / np.maximum(d * d, 1e-12), 0, 1)
    d, k = alone.copy(), max(fold.sizes)
    v, L, D = np.ones(len(d)), np.zeros((k, len(d))), np.zeros(d.shape[1])
    is_left, ranking = fold.scores.varies.copy(), []
    for step in range(min(k, int(is_left.sum()))):
        weights = np.exp(-(D - D.min()) / 8)
        e = d
        if suppression > 0:
            change = d - alone
            chance = suppression * (1 - fold.shrinkage) ** 2 * D / len(fold.y)
            less = alone + change * np.clip(1 - chance / np.maximum(change**2, 1e-12), 0, 1)
            e = np.where(np.abs(d) > np.abs(alone), less, d)
        gains = prior * ((1 - np.exp(-e * e / v[:, None] / 8)) @ (weights / weights.sum()))
        s = int(np.where(is_left, gains, -1).argmax())
        ranking.append(s)
        is_left[s] = False
        D = D + d[s] ** 2 / v[s]
        r = (1 - fold.shrinkage) * (fold.within @ fold.within[s])
        L[step] = (r - L[:step, s] @ L[:step]) / np.sqrt(v[s])
        d = d - L[step][:, None] * (d[s] / np.sqrt(v[s]))
        v = np.maximum(v - L[step] ** 2, 1e-3)
    rest = np.setdiff1d(np.arange(len(d)), ranking)[: k - len(ranking)]
    return np.concatenate([ranking, rest]).astype(np.int64)


VARIANTS = {
    "before": lambda fold: choose(fold, fold.auc_effects),
    "ties": lambda fold: choose(fold, tied(fold)),
    "small classes": lambda fold: choose(fold, small(fold, fold.normal)),
    "the same, of values": lambda fold: choose(fold, small(fold, fold.robust)),
    "the same, up to 1,000": lambda fold: choose(fold, small(fold, fold.normal, 1000.0)),
    "trees of normal scores": lambda fold: choose(fold, tied(fold), trees(fold, fold.normal)),
    "trees of values": lambda fold: choose(fold, tied(fold), trees(fold, fold.robust)),
    "suppression": lambda fold: choose(fold, tied(fold), suppression=4.0),
    "small + trees of values": lambda fold: choose(
        fold, small(fold, fold.normal), trees(fold, fold.robust)
    ),
    "small of values + prior": lambda fold: choose(fold, small(fold, fold.robust), few_trees(fold)),
    "GreedyMAUC with trees": greedy_with_trees,
    "GreedyMAUC()": lambda fold: GreedyMAUC(max(fold.sizes)).fit(fold.X, fold.y).ranking_,
    "MRMR": lambda fold: MRMR(max(fold.sizes)).fit(fold.X, fold.y).ranking_,
}


def load(name):
    X, y = load_npz(name, np.float32)
    return X, y.astype(int)


def splits(group, seed):
    """Yield the name of a data set and the rows of a split."""
    if group != "all":
        for name, n in (FEW if group == "few" else TINY).items():
            X, y = load(name)
            for draw in range(N_DRAWS[group]):
                parts = train_test_split(
                    np.arange(len(y)),
                    train_size=n,
                    test_size=min(MAX_TEST, len(y) - n),
                    stratify=y,
                    random_state=100 + seed + draw,
                )
                yield f"{name} {n}", X, y, *parts
        return
    for name in ALL:
        X, y = load(name)
        if len(y) > MAX_ROWS:
            rows, _ = train_test_split(
                np.arange(len(y)), train_size=MAX_ROWS, stratify=y, random_state=7
            )
            X, y = X[np.sort(rows)], y[np.sort(rows)]
        is_small = len(y) < SMALL_SET
        for repeat in range(2 if is_small else 1):
            folds = StratifiedKFold(5 if is_small else 3, shuffle=True, random_state=seed + repeat)
            for train, test in folds.split(X, y):
                yield name, X, y, train, test


def study(name, X, y, train, test):
    warnings.simplefilter("ignore")
    fold = Fold(X, y, train, test)
    return name, {variant: fold.evaluate(rank(fold)) for variant, rank in VARIANTS.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("group", choices=("few", "tiny", "all"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    options = parser.parse_args()
    done = Parallel(options.jobs)(
        delayed(study)(*split) for split in splits(options.group, options.seed)
    )
    names = list(dict.fromkeys(name for name, _ in done))
    means = {
        variant: np.array([np.mean([r[variant] for n, r in done if n == name]) for name in names])
        for variant in VARIANTS
    }
    short = [name.replace("thyroid_sub_", "").replace("washington_sub_", "") for name in names]
    print("| variant | " + " | ".join(short) + " | mean | up : down |")
    print("|---|" + "---|" * (len(names) + 2))
    for variant, found in means.items():
        shown = found if variant == "before" else found - means["before"]
        cells = " | ".join(f"{1000 * value:.1f}" for value in [*shown, shown.mean()])
        counts = f"{(shown > 0.0003).sum()} : {(shown < -0.0003).sum()}"
        print(f"| {variant} | {cells} | {'' if variant == 'before' else counts} |")


if __name__ == "__main__":
    main()
