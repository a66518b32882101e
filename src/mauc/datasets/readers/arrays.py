"""Check what files of named arrays hold: X, y and their names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.columns import default_names
from mauc.datasets.readers.table import Table, check_names, first_few
from mauc.exceptions import MaucError


def table_of_arrays(path: Path, arrays: Mapping[str, Any]) -> Table:
    """Make a table of the arrays ``X``, ``y``, ``classes`` and ``feature_names``.

    Parameters
    ----------
    path : Path
        For error messages.
    arrays : mapping of str to array
        ``X`` of shape (n_samples, n_features) is needed. Without ``y`` a column of ``X`` is
        the target. With ``classes``, ``y`` holds codes 0, 1, ... of these names.
    """
    if "X" not in arrays:
        raise MaucError(
            f"{path} must hold an array 'X' (and 'y' with the labels), "
            f"it holds {first_few(sorted(arrays)) or 'none'}."
        )
    X = arrays["X"]  # the sparse matrices of some versions of SciPy cannot be indexed
    X = sparse.csc_array(X) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise MaucError(
            f"{path}: X must be a numeric array of two dimensions (samples, features), "
            f"got {X.dtype} of shape {X.shape}."
        )
    has_names = "feature_names" in arrays
    names = (
        check_names(path, arrays["feature_names"], X.shape[1])
        if has_names
        else default_names(range(X.shape[1]))
    )
    labels = _labels(path, arrays, X.shape[0]) if "y" in arrays else None
    last = X.shape[1] - 1 if labels is None and not has_names else None
    return Table(path, X, names, labels=labels, target=last)


def _labels(path: Path, arrays: Mapping[str, Any], n_samples: int) -> np.ndarray[Any, Any]:
    y = np.asarray(arrays["y"])
    if y.ndim == 2 and 1 in y.shape:  # a column or a row, as MATLAB keeps vectors
        y = y.ravel()
    if y.shape != (n_samples,):
        raise MaucError(
            f"{path}: y must hold {n_samples} labels (the rows of X), got shape {y.shape}."
        )
    if "classes" not in arrays:
        return y
    classes = np.ravel(np.asarray(arrays["classes"]))
    codes = y.astype(np.int64) if y.dtype.kind in "fiub" and np.isfinite(y).all() else None
    if codes is None or (codes != y).any() or ((codes < 0) | (codes >= len(classes))).any():
        raise MaucError(
            f"{path}: with classes, y must hold codes in [0, {len(classes) - 1}] "
            f"(places in classes), got {first_few([str(label) for label in np.unique(y)])}."
        )
    return classes.astype(str)[codes] if classes.dtype.kind not in "fiub" else classes[codes]
