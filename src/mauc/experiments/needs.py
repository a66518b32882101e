"""How much memory a cell takes, estimated before it is run: a plan and a data set in, bytes out."""

import numpy as np

from mauc.datasets import Dataset
from mauc.experiments.plan import MethodSpec, Plan

_PROCESS = 300 * 10**6  # a worker with its packages and compiled loops
_PAIR_NAME = 110  # bytes of the name of a class pair
# Methods that hold an effect, an AUC or a score of every feature on every class pair.
_ALL_PAIRS = ("greedy",)


def cell_memory(plan: Plan, dataset: Dataset) -> int:
    """Return about how many bytes a worker takes at most for a cell of a data set.

    Parameters
    ----------
    plan : Plan
    dataset : Dataset

    Notes
    -----
    The parts of the fold in the types of selectors and classifiers (three times the cells of the
    table), the lists and AUCs of all class pairs, and what the classifiers share between sizes:
    likelihoods of Naive Bayes, distances of 1NN and of the SVM.
    """
    n_samples, n_features = dataset.n_samples, dataset.n_features
    n_classes = len(np.unique(dataset.y))
    n_pairs = n_classes * (n_classes - 1) // 2
    n_test = -(-n_samples // plan.folds)
    n_ranked = min(max(plan.sizes), n_features)
    n_held = sum(2 * n_features for spec in plan.selectors if spec.method in _ALL_PAIRS)
    pairs = n_pairs * (_PAIR_NAME + 8 * (3 * n_ranked + n_held))
    n_used = min(n_features, n_ranked * len(plan.selectors))
    shared = sum(
        _shared_cells(spec, n_samples, n_test, n_classes, n_used) for spec in plan.classifiers
    )
    return int(_PROCESS + 8 * 3 * n_samples * n_features + pairs + 8 * shared)


def _shared_cells(
    spec: MethodSpec, n_samples: int, n_test: int, n_classes: int, n_used: int
) -> int:
    """Return how many numbers a classifier holds for all sizes of a fold."""
    n_train = n_samples - n_test
    if spec.method == "nb":
        return n_test * n_classes * n_used
    if spec.method == "1nn":
        return 2 * n_test * n_train
    if spec.method == "svm":
        return 3 * n_train * (n_train + n_test)
    return n_samples * n_used
