"""Tune the RBF SVM of a data set once, or on the features of one ranking."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from mauc.classifiers.svm_tuning import tune_on_features
from mauc.datasets import Dataset
from mauc.experiments.fold import seed_of, select_features, sizes_of, split_cell
from mauc.experiments.plan import Cell, Plan, TuningSpec


@dataclass(frozen=True)
class Tuned:
    """The parameters that a search found.

    Parameters
    ----------
    C, gamma : float
    mauc : float
        Their cross-validated MAUC.
    n_evaluated : int
        Points of the grid that were evaluated.
    n_samples, n_features : int
        Of the data they were tuned on.
    """

    C: float
    gamma: float
    mauc: float
    n_evaluated: int
    n_samples: int
    n_features: int


def tune_dataset(plan: Plan, name: str, dataset: Dataset, n_jobs: int = 1) -> dict[int, Tuned]:
    """Tune on the training part of the first fold of the first repeat.

    A pure function of the plan and the data, so a cell can be run again alone.

    Returns
    -------
    tuned : dict of int to Tuned
        By subset size: all sizes for scope "dataset_size", one for scope "dataset".
    """
    split = split_cell(plan, Cell(name, 0, 0), dataset)
    sizes = sizes_of(plan, dataset.X.shape[1])
    seed = seed_of(plan.seed, name, "tuning")
    ranking, _ = select_features(plan.selectors[0], split, max(sizes), seed, n_jobs)
    if plan.tuning.scope == "dataset":
        middle = sizes[len(sizes) // 2]
        sizes = [min(plan.tuning.size or middle, len(ranking))]
    return {
        size: tune_on(
            plan.tuning, split.X_train, split.y_train, ranking[:size], seed, n_jobs,
            split.is_nominal,
        )
        for size in sizes
    }  # fmt: skip


def tune_on(
    tuning: TuningSpec, X: Any, y: np.ndarray, features: np.ndarray, seed: int, n_jobs: int = 1,
    is_nominal: np.ndarray | None = None,
) -> Tuned:  # fmt: skip
    """Tune on the columns `features` of training data, on a stratified sample of many rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the run reports classes below n_folds
        found, n_samples = tune_on_features(
            X, y, features, is_nominal, max_samples=tuning.max_samples, random_state=seed,
            search=tuning.search, n_folds=tuning.n_folds, n_jobs=n_jobs,
        )  # fmt: skip
    return Tuned(
        C=float(found.C), gamma=float(found.gamma), mauc=float(found.mauc),
        n_evaluated=found.n_evaluated, n_samples=n_samples, n_features=len(features),
    )  # fmt: skip
