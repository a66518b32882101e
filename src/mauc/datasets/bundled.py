"""Data sets that need no network: those that ship with scikit-learn."""

import numpy as np
from sklearn import datasets as sklearn_datasets

from mauc.datasets.dataset import Dataset
from mauc.exceptions import MaucError

_LOADERS = {
    "breast_cancer": sklearn_datasets.load_breast_cancer,
    "digits": sklearn_datasets.load_digits,
    "iris": sklearn_datasets.load_iris,
    "wine": sklearn_datasets.load_wine,
}
BUNDLED = tuple(_LOADERS)


def load_bundled(name: str) -> Dataset:
    """Load a bundled data set, its labels as their names."""
    if name not in _LOADERS:
        raise MaucError(f"data set must be one of {', '.join(BUNDLED)}, got {name!r}.")
    bunch = _LOADERS[name]()
    return Dataset(
        name=name,
        X=bunch.data,
        y=np.asarray(bunch.target_names).astype(str)[bunch.target],
        feature_names=[str(feature) for feature in bunch.feature_names],
    )
