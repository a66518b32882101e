"""What a loaded data set is, whatever it came from."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Dataset:
    """Features, labels and names.

    Parameters
    ----------
    name : str
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels.
    feature_names : list of str
    """

    name: str
    X: np.ndarray[Any, Any]
    y: np.ndarray[Any, Any]
    feature_names: list[str]
