"""Which round-robin the paper's SCHI and SSU are: published values beside those of two rules.

The classes take turns. Each adds its best feature that is not selected yet, or takes its next
feature and drops it if it is selected already, as `SpreadFx` does. Prints the mean absolute
difference to the published MAUC over the sizes, with Naive Bayes and 1NN, once tenfold
(``--repeats``) and with the training rows in the order of the file (``--shuffle``).

Run as ``python -m reproduction.research.spreadfx [data sets]``.
"""

import argparse
import itertools

import numpy as np
from sklearn.model_selection import StratifiedKFold

from mauc import SpreadFx
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.data.door import make_problem
from mauc.data.problem import Decomposition
from mauc.datasets import load_dataset
from mauc.evaluation import FoldEvaluator
from mauc.registry import RELEVANCES
from mauc.report import markdown_table
from mauc.search.lists import rank_features
from mauc.stats import shown_name
from reproduction.published import load_published

DATASETS = ("synthetic", "phoneme", "usps", "indiana", "mnist", "isolet")
RULES = ("adds a new one", "drops")
METHODS = {"schi": "chi2", "ssu": "su"}
CLASSIFIERS = {"nb": NormalNaiveBayes(), "1nn": NearestNeighbor()}


def rank(X, y, k, relevance, rule):
    """Return the first k features of SpreadFx by a rule."""
    if rule == "drops":
        return SpreadFx(k, relevance=relevance).fit(X, y).ranking_
    problem = make_problem(X, y)
    decomposition = Decomposition("one-vs-rest", problem.n_classes)
    lists, _ = rank_features(problem, decomposition, RELEVANCES[relevance].score, k)
    chosen = []
    for features in itertools.islice(itertools.cycle(lists.features), k):
        chosen.append(next(feature for feature in features if feature not in chosen))
    return np.array(chosen)


def measure(name, n_repeats, is_shuffled):
    """Return the mean MAUC by method, rule and classifier, and the sizes."""
    data = load_dataset(name)
    sizes = [size for size in range(10, 101, 10) if size <= data.X.shape[1]]
    curves = {}
    for seed in range(n_repeats):
        folds = StratifiedKFold(10, shuffle=True, random_state=seed)
        for train, test in folds.split(data.X, data.y):
            if is_shuffled:
                train = np.random.default_rng(seed).permutation(train)
            X, y = data.X[train], data.y[train]
            evaluator = FoldEvaluator(X, y, data.X[test], data.y[test])
            for method, relevance in METHODS.items():
                for rule in RULES:
                    ranking = rank(X, y, sizes[-1], relevance, rule)
                    for key, classifier in CLASSIFIERS.items():
                        curve = evaluator.evaluate(ranking, sizes, classifier)
                        curves.setdefault((method, rule, key), []).append(curve)
    return {key: np.mean(found, axis=0) for key, found in curves.items()}, sizes


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--repeats", type=int, default=1, help="times tenfold")
    parser.add_argument(
        "--shuffle",
        action="store_true",
        help="shuffle the training rows (1NN takes the first of equals)",
    )
    options = parser.parse_args()
    published = load_published().set_index(["dataset", "classifier", "selector"])
    rows = []
    for name in options.datasets:
        curves, sizes = measure(name, options.repeats, options.shuffle)
        for method in METHODS:
            shown = []
            for key in CLASSIFIERS:
                paper = published.loc[(name, key, method)].set_index("size")["mauc"][sizes]
                for rule in RULES:
                    off = np.abs(curves[method, rule, key] - paper.to_numpy()).mean()
                    shown.append(f"{off:.4f}")
            rows.append([shown_name("dataset", name), method.upper(), *shown])
    heads = [f"{shown_name('classifier', key)}, {rule}" for key in CLASSIFIERS for rule in RULES]
    print(markdown_table(["data set", "selector", *heads], rows, 2))


if __name__ == "__main__":
    main()
