"""The outputs of WEKA in golden/weka, and the data they belong to."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets

GOLDEN = Path(__file__).parents[1] / "golden" / "weka"
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
OWN_ARRAYS = ("digits_noise", "edge", "edge_missing")
OF_THE_PAPER = ("indiana", "mnist", "phoneme", "synthetic", "thyroid_sub_srbct", "usps")

#: names for pytest.mark.parametrize; those that need MAUC_DATA carry the mark ``data``
EVERYWHERE = [*BUNDLED, *OWN_ARRAYS]
REFERENCES = [
    *EVERYWHERE,
    *(pytest.param(name, marks=pytest.mark.data) for name in OF_THE_PAPER),
]


def load(name):
    """Return X, y (codes), the number of classes, and WEKA's outputs, on the training part."""
    with np.load(GOLDEN / f"{name}.npz") as parts:
        reference = {key: parts[key] for key in parts.files}
    if name in OWN_ARRAYS:
        X, y = reference["X_train"], reference["y_train"]
    else:
        X, y = _whole_set(name)
        X, y = X[reference["idx_train"]], y[reference["idx_train"]]
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


def _whole_set(name):
    if name in BUNDLED:
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    folder = os.environ.get("MAUC_DATA")
    if not folder:
        pytest.skip("MAUC_DATA is not set to the folder with the data sets of the paper")
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"MAUC_DATA has no {path.name}")
    with np.load(path, allow_pickle=False) as parts:
        return parts["X"], parts["y"]
