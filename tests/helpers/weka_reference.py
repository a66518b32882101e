"""Outputs of WEKA 3.6.14 on real data: name in, reference and split out."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

GOLDEN = Path(__file__).parents[1] / "golden"
BUNDLED = ["iris", "wine", "breast_cancer", "digits"]
WITH_DATA = ["digits_noise", "edge", "edge_missing"]
FROM_FILES = ["synthetic", "thyroid_sub_srbct", "phoneme", "indiana", "usps", "mnist"]


def reference_names(*, without=(), slow=()):
    """Return the references as parameters; those on the paper's data are marked `data`."""
    parameters = []
    for name in (*BUNDLED, *WITH_DATA, *FROM_FILES):
        marks = [pytest.mark.data] * (name in FROM_FILES) + [pytest.mark.slow] * (name in slow)
        if name not in without:
            parameters.append(pytest.param(name, marks=marks))
    return parameters


def load_reference(name):
    """Return (reference, X_train, y_train, X_test, y_test), rows in WEKA's order.

    Data sets that do not ship with scikit-learn are read from the folder that MAUC_DATA names.
    """
    reference = _load(GOLDEN / "weka" / f"{name}.npz")
    if name in WITH_DATA:
        parts = [reference[key] for key in ("X_train", "y_train", "X_test", "y_test")]
        return reference, *parts
    if name in BUNDLED:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    else:
        data = _load(Path(os.environ.get("MAUC_DATA", "")) / f"{name}.npz")
        X, y = data["X"], data["y"]
    train, test = reference["idx_train"], reference["idx_test"]
    return reference, X[train], y[train], X[test], y[test]


def _load(path):
    if not path.is_file():
        pytest.skip(f"{path.name} is not here")
    with np.load(path) as parts:
        return dict(parts)
