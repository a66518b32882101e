"""Every selector of the comparison as a function: X, y, nominal columns, k -> ranking."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import mauc
from mauc.exceptions import MaucError
from reproduction.beyond import rivals

TIME_LIMIT = 10.0  # processor seconds of a fit of another package
Ranker = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Any]


def frame(X: np.ndarray, nominal: np.ndarray) -> Any:
    """Return the columns as a user has them: a data frame where some are words."""
    if not nominal.any():
        return X
    return pd.DataFrame(
        {
            f"x{j}": pd.Categorical([f"w{int(v):03d}" for v in X[:, j]]) if nominal[j] else X[:, j]
            for j in range(X.shape[1])
        }
    )


def ours(name: str) -> Ranker:
    """Return a selector of this library, which takes words as they are where it can."""

    def rank(X: np.ndarray, y: np.ndarray, nominal: np.ndarray, k: int) -> Any:
        try:
            return getattr(mauc, name)(k).fit(frame(X, nominal), y).ranking_
        except MaucError:
            return getattr(mauc, name)(k).fit(X, y).ranking_

    return rank


def theirs(name: str) -> Ranker:
    """Return an adapter of `rivals`; boosting takes words as they are, others their codes."""

    def rank(X: np.ndarray, y: np.ndarray, nominal: np.ndarray, k: int) -> Any:
        return getattr(rivals, name)(k, time_limit=TIME_LIMIT).fit(X, y, nominal).ranking_

    return rank


SELECTORS: dict[str, Ranker] = {
    "greedy": ours("GreedyMAUC"),
    "fcbf": ours("FCBF"),
    "mrmr": ours("MRMR"),
    "jmi": ours("JMI"),
    "mdfs": ours("MDFS"),
    "arco": ours("ARCO"),
    "relieff": ours("ReliefF"),
    "su": ours("SymmetricalUncertainty"),
    "lightgbm_gain": theirs("LightGBMGain"),
    "xgboost_gain": theirs("XGBoostGain"),
    "catboost_gain": theirs("CatBoostGain"),
    "extra_trees": theirs("ExtraTreesImportance"),
    "forest": theirs("RandomForestImportance"),
    "svm_rfe": theirs("SVMRFE"),
    "l1_path": theirs("L1Path"),
    "abess": theirs("Abess"),
    "cmim": theirs("CMIM"),
    "disr": theirs("DISR"),
    "feature_engine_mrmr": theirs("FeatureEngineMRMR"),
    "mrmr_selection": theirs("MrmrSelection"),
    "boruta": theirs("Boruta"),
    "f_classif": theirs("AnovaF"),
    "mutual_info": theirs("MutualInformation"),
    "forest_permutation": theirs("PermutationImportance"),
}
