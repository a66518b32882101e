"""Data sets that need no network: those that ship with scikit-learn, and generated ones."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets

from mauc.checks import unknown_choice
from mauc.datasets.dataset import Dataset
from mauc.datasets.generated import make_control_charts, make_siren

_SHIPPED: dict[str, Callable[[], Any]] = {
    "breast_cancer": sklearn_datasets.load_breast_cancer,
    "digits": sklearn_datasets.load_digits,
    "iris": sklearn_datasets.load_iris,
    "wine": sklearn_datasets.load_wine,
}
_GENERATED: dict[str, Callable[[], Dataset]] = {
    "control_charts": make_control_charts,
    "siren": make_siren,
}
BUNDLED = tuple(sorted([*_SHIPPED, *_GENERATED]))


def load_bundled(name: str) -> Dataset:
    """Load a bundled data set, its labels as their names.

    Parameters
    ----------
    name : str
        One of `BUNDLED`.

    Returns
    -------
    dataset : Dataset

    Examples
    --------
    >>> from mauc.datasets import BUNDLED, load_bundled
    >>> BUNDLED
    ('breast_cancer', 'control_charts', 'digits', 'iris', 'siren', 'wine')
    >>> load_bundled("digits").X.shape
    (1797, 64)
    """
    if name in _GENERATED:
        return _GENERATED[name]()
    if name not in _SHIPPED:
        raise unknown_choice("data set", name, BUNDLED)
    bunch = _SHIPPED[name]()
    return Dataset(
        name=name,
        X=bunch.data,
        y=np.asarray(bunch.target_names).astype(str)[bunch.target],
        feature_names=[str(feature) for feature in bunch.feature_names],
    )
