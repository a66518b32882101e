"""Outputs of WEKA 3.6.14 in golden/weka, and the data they belong to."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

GOLDEN = Path(__file__).parents[1] / "golden"
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
OWN_ARRAYS = ("digits_noise", "edge", "edge_missing")
OF_THE_PAPER = ("synthetic", "thyroid_sub_srbct", "phoneme", "indiana", "usps", "mnist")
EVERYWHERE = [*BUNDLED, *OWN_ARRAYS]


def reference_names(*, without=(), slow=()):
    """Return the references as parameters; those on the paper's data are marked `data`."""
    parameters = []
    for name in (*EVERYWHERE, *OF_THE_PAPER):
        marks = [pytest.mark.data] * (name in OF_THE_PAPER) + [pytest.mark.slow] * (name in slow)
        if name not in without:
            parameters.append(pytest.param(name, marks=marks))
    return parameters


REFERENCES = reference_names()


def load_reference(name):
    """Return (reference, X_train, y_train, X_test, y_test), rows in WEKA's order.

    Data sets that do not ship with scikit-learn are read from the folder that MAUC_DATA names.
    """
    reference = _load(GOLDEN / "weka" / f"{name}.npz")
    if name in OWN_ARRAYS:
        parts = [reference[key] for key in ("X_train", "y_train", "X_test", "y_test")]
        return reference, *parts
    if name in BUNDLED:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    else:
        data = _load(Path(os.environ.get("MAUC_DATA", "")) / f"{name}.npz")
        X, y = data["X"], data["y"]
    train, test = reference["idx_train"], reference["idx_test"]
    return reference, X[train], y[train], X[test], y[test]


def load(name):
    """Return X, y (codes), the number of classes, and WEKA's outputs, on the training part."""
    reference, X, y, _, _ = load_reference(name)
    classes, codes = np.unique(y, return_inverse=True)
    return X, codes.astype(np.int32), len(classes), reference


def columns(X):
    """Return X as kernels take it: read-only columns, float32 where that holds every value."""
    dtype = np.float32 if X.dtype in (np.float32, np.uint8, np.uint16) else np.float64
    XT = np.ascontiguousarray(X.T, dtype=dtype)
    XT.flags.writeable = False
    return XT


def cut_points(reference):
    """Return WEKA's cut points, a list of arrays."""
    return np.split(reference["cuts"], reference["cuts_offset"][1:-1])


def relieff_runs(reference):
    """Yield the sampled rows (None for all of them) and the weights of WEKA's ReliefF runs."""
    for key, weights in reference.items():
        run = re.fullmatch(r"score_relieff_M(-?\d+)_D(\d+)_K10", key)
        if run:
            size, seed = run.groups()
            yield None if size == "-1" else reference[f"relieff_rows_M{size}_D{seed}"], weights


def _load(path):
    if not path.is_file():
        pytest.skip(f"{path.name} is not here")
    with np.load(path) as parts:
        return dict(parts)
