"""What was tried for GreedyMAUC: variants of the choice, judged by classifiers on held-out folds.

Run as ``python -m reproduction.research.greedy [data sets]``. The tables are Markdown, as in
reproduction/beyond/greedy_research.md.
The library has the default alone; everything else is written here, plainly, in NumPy.
"""

import sys
import warnings
from itertools import pairwise

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.model_selection import StratifiedKFold, train_test_split

from mauc import MDFS, MRMR
from mauc.classifiers import RBFSVM, NearestNeighbor, NormalNaiveBayes
from mauc.data.door import make_problem
from mauc.evaluation import FoldEvaluator
from mauc.lab import C45
from mauc.measure.effects import MAX_AUC, MODEL_NOISE, auc_effects, measure
from mauc.measure.normal_scores import estimate_shrinkage
from mauc.measure.pair_auc import dense_wins, pair_wins
from mauc.selectors.greedy_mauc import GreedyMAUC
from reproduction.common import load_npz

TUNE = ("usps", "synthetic", "thyroid_sub_srbct", "washington_sub_forest")
JUDGE = ("isolet", "mnist", "phoneme", "indiana", "thyroid_sub_tox171")
SIZES = (10, 20, 50, 100)
MAX_ROWS = 3000  # larger sets are thinned, by class
MAX_SVM_ROWS = 1000
N_FOLDS = 3
N_REPEATS = {"synthetic": 3, "thyroid_sub_srbct": 3}
CLASSIFIERS = {
    "NB": NormalNaiveBayes(),
    "C4.5": C45(),
    "1NN": NearestNeighbor(),
    "SVM": RBFSVM(C=100.0),
}
WITH_SVM = ("MDFS", "MRMR", "plain", "final")


class Fold:
    """One split, with effects and correlations of its training part."""

    def __init__(self, X, y, train, test):
        self.X, self.y = X[train], y[train]
        self.problem = make_problem(np.asfortranarray(self.X), self.y)
        self.counts = self.problem.class_counts
        _, self.scores = measure(self.problem)
        self.effects = auc_effects(*pair_wins(self.problem, np.arange(X.shape[1])))
        self.values = self.scores.scores / 32.0
        self.R = self.correlations(np.arange(len(train)))
        self.sizes = [size for size in SIZES if size <= X.shape[1]]
        self._whole = FoldEvaluator(self.X, self.y, X[test], y[test])
        self._part = self._whole
        if len(train) > MAX_SVM_ROWS:
            rows, _ = train_test_split(
                np.arange(len(train)), train_size=MAX_SVM_ROWS, stratify=self.y, random_state=0
            )
            self._part = FoldEvaluator(self.X[rows], self.y[rows], X[test], y[test])

    def correlations(self, rows):
        """Return within-class correlations on some of the rows, which are sorted by class."""
        codes = np.repeat(np.arange(len(self.counts)), self.counts)[rows]
        z = self.values[:, rows]
        for k in np.unique(codes):
            z[:, codes == k] -= z[:, codes == k].mean(axis=1, keepdims=True)
        lengths = np.sqrt((z * z).sum(axis=1, keepdims=True))
        z = (z / np.where(lengths > 1e-6, lengths, np.inf)).astype(np.float32)
        return (z @ z.T).astype(np.float64)

    def thinned(self, n_rows):
        n = self.values.shape[1]
        return self.correlations(np.arange(min(n_rows, n)) * n // min(n_rows, n))

    def scale_effects(self):
        """Return effects of the distance from the class median: differences of scale."""
        starts = np.concatenate([[0], np.cumsum(self.counts)])
        far = self.values.astype(np.float32)
        for start, stop in pairwise(starts):
            far[:, start:stop] -= np.median(far[:, start:stop], axis=1, keepdims=True)
        far = np.abs(far)
        far.flags.writeable = False
        codes = np.repeat(np.arange(len(self.counts)), self.counts).astype(np.int32)
        area = dense_wins(far, codes, self.counts) / self.problem.max_wins
        return np.sqrt(2) * ndtri(np.clip(area, 1 - MAX_AUC, MAX_AUC))

    def evaluate(self, ranking, names):
        """Return ``{(classifier, size): MAUC}`` on the test part."""
        found = {}
        for name in names:
            fold = self._part if name == "SVM" else self._whole
            values = fold.evaluate(ranking, self.sizes, CLASSIFIERS[name])
            found.update({(name, size): v for size, v in zip(self.sizes, values, strict=True)})
        return found


def corrected(fold, factor=1.0, floor=MODEL_NOISE):
    """Return effects with the noise taken off."""
    d, n = fold.effects, fold.counts
    i, j = np.triu_indices(len(n), 1)
    noise = factor * (1 / n[i] + 1 / n[j]) * (1 + np.minimum(d * d, 11) / 8) + floor
    return d * np.clip(1 - noise / np.maximum(d * d, 1e-12), 0, 1)


def chernoff(alpha):
    return lambda D: np.exp(-alpha / 8 * (D - D.min())).mean(axis=1)


def mean_error(alpha):
    return lambda D: ndtr(-np.sqrt(alpha * D / 2)).mean(axis=1)


def choose(
    fold,
    *,
    d=None,
    R=None,
    shrinkage=None,
    cube=0.0,
    error=None,
    second=None,
    kappa=0.0,
    is_capped=False,
    is_naive=False,
):
    """Choose greedily; every option is one idea that was tried."""
    start = corrected(fold) if d is None else d
    d = start.copy()
    R = fold.R if R is None else R
    shrinkage = estimate_shrinkage(fold.scores) if shrinkage is None else shrinkage
    error = chernoff(1.0) if error is None else error
    k, m = max(fold.sizes), len(d)
    v, L, D = np.ones(m), np.zeros((k, m)), np.zeros(d.shape[1])
    if second is not None:
        second, v2, L2 = second.copy(), np.ones(m), np.zeros((k, m))
    total, variance, shared = 0.0, 0.0, np.zeros_like(d)  # of the naive sum of features
    is_left, ranking = fold.scores.varies.copy(), []
    for step in range(k):
        gains = d * d / v[:, None]
        if is_capped:  # no feature gains more by company than alone
            gains = np.minimum(gains, start * start)
        if second is not None:
            gains = gains + kappa * second * second / v2[:, None]
        after = D + gains
        if is_naive:  # separation by the sum of the features, weighted by their effects
            squares = start * start
            after = (total + squares) ** 2 / np.maximum(
                variance + squares + 2 * start * shared, 1e-9
            )
        losses = error(after)
        losses[~is_left] = np.inf
        s = int(losses.argmin())
        ranking.append(s)
        is_left[s] = False
        D = D + gains[s]
        variance = variance + start[s] ** 2 + 2 * start[s] * shared[s]
        total = total + start[s] ** 2
        r = (1 - shrinkage) * ((1 - cube) * R[s] + cube * R[s] ** 3)
        shared += r[:, None] * start[s]
        d, v = condition(d, v, L, r, s, step)
        if second is not None:
            second, v2 = condition(second, v2, L2, r * r, s, step)
    return np.array(ranking)


def condition(d, v, L, r, s, step):
    L[step] = (r - L[:step, s] @ L[:step]) / np.sqrt(v[s])
    d = d - L[step][:, None] * (d[s] / np.sqrt(v[s]))
    return d, np.maximum(v - L[step] ** 2, 1e-3)


def chance_only(fold):
    """Shrinkage by the number of samples alone (Ledoit-Wolf)."""
    varying = np.flatnonzero(fold.scores.varies)
    chosen = varying[:: max(1, len(varying) // 64)]
    r = fold.R[np.ix_(chosen, chosen)][np.triu_indices(len(chosen), 1)]
    chance = np.mean((1 - r * r) ** 2) / (len(fold.y) - len(fold.counts))
    return chance / (chance + np.mean(r * r))


def fitted(selector):
    def rank(fold):
        selector.set_params(n_features_to_select=max(fold.sizes))
        return selector.fit(fold.X, fold.y).ranking_

    return rank


VARIANTS = {
    "MDFS": fitted(MDFS(random_state=0)),
    "MRMR": fitted(MRMR()),
    "plain": lambda fold: choose(fold, d=fold.effects, shrinkage=0.2, error=chernoff(0.5)),
    "final": fitted(GreedyMAUC()),
    "all samples": lambda fold: choose(fold),
    "500 samples": lambda fold: choose(fold, R=fold.thinned(500)),
    "alpha 0.5": lambda fold: choose(fold, error=chernoff(0.5)),
    "alpha 0.75": lambda fold: choose(fold, error=chernoff(0.75)),
    "mean error": lambda fold: choose(fold, error=mean_error(0.5)),
    "shrinkage 0": lambda fold: choose(fold, shrinkage=0.0),
    "shrinkage 0.2": lambda fold: choose(fold, shrinkage=0.2),
    "shrinkage by n": lambda fold: choose(fold, shrinkage=chance_only(fold)),
    "cubed correlations": lambda fold: choose(fold, shrinkage=0.0, cube=0.4),
    "raw effects": lambda fold: choose(fold, d=fold.effects),
    "no model noise": lambda fold: choose(fold, d=corrected(fold, floor=0.0)),
    "scale effects": lambda fold: choose(fold, second=fold.scale_effects(), kappa=0.25),
    "no suppression": lambda fold: choose(fold, is_capped=True),
    "naive separation": lambda fold: choose(fold, is_naive=True),
}


def folds_of(name):
    X, y = load_npz(name, np.float32, MAX_ROWS)
    for repeat in range(N_REPEATS.get(name, 1)):
        split = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
        for train, test in split.split(X, y):
            yield Fold(X, y, train, test)


def study(name):
    """Return ``{variant: {(classifier, size): mean MAUC}}``."""
    rows = {}
    for fold in folds_of(name):
        for variant, rank in VARIANTS.items():
            names = CLASSIFIERS if variant in WITH_SVM else list(CLASSIFIERS)[:3]
            rows.setdefault(variant, []).append(fold.evaluate(rank(fold), names))
    return {
        variant: {cell: np.mean([row[cell] for row in found]) for cell in found[0]}
        for variant, found in rows.items()
    }


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def mean(cells, with_svm=False):
    return np.mean([v for (name, _), v in cells.items() if with_svm or name != "SVM"])


def main(names):
    warnings.simplefilter("ignore")
    results = {}
    for name in names:
        results[name] = study(name)
        print(f"<!-- {name} done -->", file=sys.stderr, flush=True)
    print("Mean MAUC over NB, C4.5, 1NN and the sizes\n")
    rows = []
    for variant in VARIANTS:
        means = [mean(results[name][variant]) for name in names]
        groups = [
            [m for m, name in zip(means, names, strict=True) if name in group]
            for group in (TUNE, JUDGE)
        ]
        shown = [f"{m:.4f}" for m in means] + [f"{np.mean(g):.4f}" if g else "" for g in groups]
        rows.append([variant, *shown])
    print_table(["variant", *names, "tune", "judge"], rows)
    print("Mean MAUC over NB, C4.5, 1NN, SVM and the sizes\n")
    rows = [[v, *(f"{mean(results[name][v], True):.4f}" for name in names)] for v in WITH_SVM]
    print_table(["method", *names], rows)
    for rival in ("MDFS", "MRMR"):
        print(f"final less {rival}, by classifier and size\n")
        rows = []
        for name in names:
            for classifier in CLASSIFIERS:
                cells = [
                    f"{results[name]['final'][key] - results[name][rival][key]:+.3f}"
                    if (key := (classifier, size)) in results[name]["final"]
                    else ""
                    for size in SIZES
                ]
                rows.append([name, classifier, *cells])
        print_table(["data set", "classifier", *map(str, SIZES)], rows)


if __name__ == "__main__":
    main(sys.argv[1:] or [*TUNE, *JUDGE])
