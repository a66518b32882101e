"""Write ARFF files, dense or sparse, the labels as the last attribute."""

import io
import re
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from scipy import sparse

from mauc.datasets.dataset import Dataset, column_of
from mauc.exceptions import MaucError

_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def write_arff(dataset: Dataset, file: IO[bytes]) -> None:
    """Write an ARFF file.

    Parameters
    ----------
    dataset : Dataset
    file : binary file
    """
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n", write_through=True)
    try:
        labels = [str(label) for label in dataset.y.tolist()]
        classes = sorted(set(labels))
        _write_header(dataset, classes, text)
        if sparse.issparse(dataset.X):
            _write_sparse(dataset, classes, labels, text)
        else:
            _write_dense(dataset, labels, text)
    finally:
        text.detach()


def quote(text: str) -> str:
    """Quote a name or value if it needs it."""
    if _PLAIN.fullmatch(text):
        return text
    return "'" + "".join(_ESCAPES.get(letter, letter) for letter in text) + "'"


def _write_header(dataset: Dataset, classes: Sequence[str], text: io.TextIOWrapper) -> None:
    text.write(f"@relation {quote(dataset.name)}\n\n")
    nominal = set(dataset.nominal_features)
    for name in dataset.feature_names:
        kind = "numeric"
        if name in nominal:
            values = dataset.X[name].cat.categories
            kind = "{" + ",".join(quote(str(value)) for value in values) + "}"
        text.write(f"@attribute {quote(name)} {kind}\n")
    values = "{" + ",".join(quote(label) for label in classes) + "}"
    text.write(f"@attribute {quote(dataset.target_name)} {values}\n\n@data\n")


def _write_dense(dataset: Dataset, labels: list[str], text: io.TextIOWrapper) -> None:
    columns = []
    nominal = set(dataset.nominal_features)
    for place, name in enumerate(dataset.feature_names):
        column = column_of(dataset.X, place)
        if name in nominal:
            quoted = [quote(str(value)) for value in column.cat.categories] + ["?"]
            columns.append([quoted[code] for code in column.cat.codes])
        else:
            columns.append(_numbers(dataset, name, np.asarray(column)))
    columns.append([quote(label) for label in labels])
    for row in zip(*columns, strict=True):
        text.write(",".join(row) + "\n")


def _write_sparse(
    dataset: Dataset, classes: list[str], labels: list[str], text: io.TextIOWrapper
) -> None:
    X = sparse.csr_array(dataset.X, copy=True)
    X.sum_duplicates()
    values = _numbers(dataset, "X", X.data)
    for row, label in enumerate(labels):
        stored = range(X.indptr[row], X.indptr[row + 1])
        items = [f"{X.indices[at]} {values[at]}" for at in stored]
        if label != classes[0]:  # the first value is what a sparse row leaves out
            items.append(f"{dataset.n_features} {quote(label)}")
        text.write("{" + ", ".join(items) + "}\n")


def _numbers(dataset: Dataset, name: str, values: np.ndarray[Any, Any]) -> list[str]:
    if values.dtype.kind == "f":
        if np.isinf(values).any():
            raise MaucError(
                f"{dataset.name}: column {name!r} holds infinite values, which an arff file "
                f"cannot hold; write csv, parquet or npz."
            )
        values = values.astype(np.float64)
    elif values.dtype.kind == "b":
        values = values.astype(np.uint8)
    return ["?" if value != value else repr(value) for value in values.tolist()]
