"""Every selector of the comparison as a function: X, y, nominal columns, k -> ranking."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import mauc
from mauc.exceptions import MaucError
from reproduction.beyond import rivals

FIT_SECONDS = 10.0  # processor time that a fit of another package may take


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


@dataclass(frozen=True)
class Ours:
    """A selector of this library, which takes words as they are where it can."""

    adapter: str

    def __call__(self, X: np.ndarray, y: np.ndarray, nominal: np.ndarray, k: int) -> Any:
        selector = getattr(mauc, self.adapter)(k)
        try:
            return selector.fit(frame(X, nominal), y).ranking_
        except MaucError:
            return selector.fit(X, y).ranking_


@dataclass(frozen=True)
class Theirs:
    """An adapter of `rivals`; boosted trees take words as they are, others their codes."""

    adapter: str

    def __call__(self, X: np.ndarray, y: np.ndarray, nominal: np.ndarray, k: int) -> Any:
        rival = getattr(rivals, self.adapter)(k, time_limit=FIT_SECONDS)
        return rival.fit(X, y, nominal).ranking_


SELECTORS: dict[str, Ours | Theirs] = {
    "greedy": Ours("GreedyMAUC"),
    "fcbf": Ours("FCBF"),
    "mrmr": Ours("MRMR"),
    "jmi": Ours("JMI"),
    "mdfs": Ours("MDFS"),
    "arco": Ours("ARCO"),
    "relieff": Ours("ReliefF"),
    "su": Ours("SymmetricalUncertainty"),
    "lightgbm_gain": Theirs("LightGBMGain"),
    "xgboost_gain": Theirs("XGBoostGain"),
    "catboost_gain": Theirs("CatBoostGain"),
    "extra_trees": Theirs("ExtraTreesImportance"),
    "forest": Theirs("RandomForestImportance"),
    "svm_rfe": Theirs("SVMRFE"),
    "l1_path": Theirs("L1Path"),
    "abess": Theirs("Abess"),
    "cmim": Theirs("CMIM"),
    "disr": Theirs("DISR"),
    "feature_engine_mrmr": Theirs("FeatureEngineMRMR"),
    "mrmr_selection": Theirs("MrmrSelection"),
    "boruta": Theirs("Boruta"),
    "f_classif": Theirs("AnovaF"),
    "mutual_info": Theirs("MutualInformation"),
    "forest_permutation": Theirs("PermutationImportance"),
}
