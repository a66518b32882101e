"""Write files of numbers: npz and svmlight, with names where the format has a place for them."""

import json
from typing import IO, Any

import numpy as np
from scipy import sparse

from mauc.datasets.dataset import Dataset
from mauc.datasets.nominal import check_numeric
from mauc.datasets.readers.svmlight import NOTE
from mauc.datasets.writers.frames import as_frame


def write_npz(dataset: Dataset, file: IO[bytes]) -> None:
    """Write arrays ``X``, ``y``, ``feature_names`` and, for labels of text, ``classes``."""
    check_numeric(dataset, "an npz file")
    X = dataset.X
    if sparse.issparse(X):
        X = as_frame(dataset).iloc[:, :-1].to_numpy()
    arrays: dict[str, Any] = {"X": X, "feature_names": np.array(dataset.feature_names, dtype=str)}
    codes, classes = _codes(dataset)
    arrays["y"] = codes
    if classes is not None:
        arrays["classes"] = np.array(classes, dtype=str)
    np.savez_compressed(file, **arrays)


def write_svmlight(dataset: Dataset, file: IO[bytes]) -> None:
    """Write rows ``label place:value ...`` with places from 1, below a note of the names."""
    check_numeric(dataset, "an svmlight file")
    X = sparse.csr_array(dataset.X)
    X.sum_duplicates()
    X.sort_indices()
    codes, classes = _codes(dataset)
    note = json.dumps({"features": dataset.feature_names, "classes": classes})
    file.write(f"# {NOTE}{note}\n".encode())
    numbers = X.data.astype(np.uint8) if X.dtype.kind == "b" else X.data
    values = [repr(value) for value in numbers.tolist()]
    for row, code in enumerate(codes.tolist()):
        stored = range(X.indptr[row], X.indptr[row + 1])
        items = [f"{X.indices[at] + 1}:{values[at]}" for at in stored]
        file.write((" ".join([str(code), *items]) + "\n").encode())


def _codes(dataset: Dataset) -> tuple[np.ndarray[Any, Any], list[str] | None]:
    """Return labels that are integers as they are, others as codes of their classes."""
    if dataset.y.dtype.kind in "iu":
        return dataset.y, None
    classes, codes = np.unique(dataset.y.astype(str), return_inverse=True)
    return codes, classes.tolist()
