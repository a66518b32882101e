"""A loaded data set: features, labels and names, wherever they came from."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.columns import is_frame, is_wide
from mauc.exceptions import MaucError

# A sparse table with more cells is not made dense.
MAX_DENSE_CELLS = 2 * 10**8


def is_source(X: Any) -> bool:
    """Whether a table is a source of columns, which are read when they are needed."""
    return hasattr(X, "read_rows")


def column_of(X: Any, j: int) -> Any:
    """Return a column of an array or a DataFrame by its number."""
    return X.iloc[:, j] if is_frame(X) else X[:, j]


@dataclass(frozen=True)
class Dataset:
    """Features, labels and names.

    Parameters
    ----------
    name : str
    X : ndarray, scipy sparse array, DataFrame or ColumnSource of shape (n_samples, n_features)
        A frame of pandas only where there are nominal columns, which have its categorical dtype; a
        source where the data are not in memory.
    y : ndarray of shape (n_samples,)
        Labels.
    feature_names : list of str
    categories : mapping of str to tuple, default={}
        The values of each feature that is nominal or was before it was encoded: where a column
        holds codes 0, 1, ..., code i stands for value i.
    target_name : str, default="class"
        The column of a file that the labels are written to.
    notes : tuple of str, default=()
        How the columns of a file were taken, in plain lines: how many of each kind and which were
        left out, then what else a user should know.
    source : str, default=""
        A Python expression, with names of `mauc.datasets`, that makes the data set again.

    Examples
    --------
    >>> import numpy as np
    >>> from mauc.datasets import Dataset
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Dataset("small", X, np.array(["u", "v"]), ["a", "b"]).fingerprint()[:16]
    '106117d618ddf121'
    """

    name: str
    X: Any
    y: np.ndarray[Any, Any]
    feature_names: list[str]
    categories: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    target_name: str = "class"
    notes: tuple[str, ...] = ()
    source: str = ""

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def nominal_features(self) -> list[str]:
        """Names of the columns of `X` that are nominal, not numbers."""
        if is_source(self.X):
            pairs = zip(self.feature_names, self.X.is_text, strict=True)
            return [name for name, is_word in pairs if is_word]
        if not is_frame(self.X):
            return []
        kinds = zip(self.feature_names, self.X.dtypes, strict=True)
        return [name for name, dtype in kinds if str(dtype) == "category"]

    def take(self, columns: Sequence[int] | np.ndarray[Any, Any]) -> "Dataset":
        """Return the data set with some features only.

        Parameters
        ----------
        columns : sequence of int
            Their numbers, such as the ``ranking_`` of a selector, in the order wanted.

        Returns
        -------
        dataset : Dataset
        """
        chosen = [int(j) for j in columns]
        if any(not 0 <= j < self.n_features for j in chosen) or len(set(chosen)) < len(chosen):
            raise MaucError(
                f"columns must be different numbers in [0, {self.n_features - 1}], got {chosen}."
            )
        names = [self.feature_names[j] for j in chosen]
        X = self.X.tocsc() if sparse.issparse(self.X) else self.X
        if is_source(X):
            X = X.take(np.array(chosen))
        else:
            X = X.iloc[:, chosen] if is_frame(X) else X[:, chosen]
        categories = {name: self.categories[name] for name in names if name in self.categories}
        source = self.source and f"{self.source}.take({chosen})"
        taken = replace(self, X=X, feature_names=names, categories=categories, source=source)
        if is_frame(X) and not taken.nominal_features:
            return replace(taken, X=X.to_numpy())
        return taken

    def fingerprint(self) -> str:
        """Return a digest of values, labels and feature names.

        It is the same on every machine and for every number type, memory order and storage
        (dense or sparse) that hold the same values; the name of the data set is not part of it.

        Returns
        -------
        digest : str
            32 hexadecimal digits (BLAKE2b).

        Notes
        -----
        A column of numbers enters as its shape, the rows of its non-zero values and these values
        as little-endian float64, so that dense and sparse columns agree. Columns of categories
        and the labels enter as their sorted distinct texts and the index of each row in them.
        """
        digest = hashlib.blake2b(digest_size=16)
        _add(digest, "shape", json.dumps([self.n_samples, self.n_features]).encode())
        _add(digest, "names", json.dumps(list(self.feature_names)).encode())
        _add_texts(digest, np.asarray(self.y))
        X = sparse.csc_array(self.X) if sparse.issparse(self.X) else self.X
        for j in range(self.n_features):
            if is_source(X):
                _add_values(digest, X.read(np.array([j]))[0])
            else:
                _add_column(digest, X, j)
        return digest.hexdigest()


def _add(digest: Any, kind: str, content: bytes) -> None:
    # With its length in front, no two parts read like two others.
    digest.update(f"{kind}:{len(content)}:".encode())
    digest.update(content)


def _add_column(digest: Any, X: Any, j: int) -> None:
    if sparse.issparse(X):
        part = X[:, [j]].tocoo()
        part.sum_duplicates()
        values, rows = part.data, part.row
    else:
        _add_values(digest, column_of(X, j))
        return
    _add_stored(digest, values, rows)


def _add_values(digest: Any, column: Any) -> None:
    values = np.asarray(column)
    if str(column.dtype) == "category" or values.dtype.kind not in "fiub":
        _add_texts(digest, values)
    else:
        _add_stored(digest, values, np.arange(len(values)))


def _add_stored(digest: Any, values: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> None:
    is_stored = values != 0
    values, rows = values[is_stored], rows[is_stored]
    order = np.argsort(rows, kind="stable")
    values, rows = values[order], rows[order]
    if values.dtype.kind in "iu" and is_wide(values):
        _add(digest, "integers", json.dumps([int(value) for value in values]).encode())
    else:
        values = values.astype("<f8")
        values[np.isnan(values)] = np.nan  # one of the many bit patterns of NaN
        _add(digest, "values", values.tobytes())
    _add(digest, "rows", rows.astype("<i8").tobytes())


def _add_texts(digest: Any, values: np.ndarray[Any, Any]) -> None:
    """Add labels or categories; a missing one (NaN, None) is a text of its own kind."""
    texts = [None if _is_missing(value) else str(value) for value in values.tolist()]
    known = sorted({text for text in texts if text is not None})
    place: dict[str | None, int] = {text: code for code, text in enumerate(known)}
    codes = np.array([place.get(text, -1) for text in texts], dtype="<i8")
    _add(digest, "texts", json.dumps(known).encode())
    _add(digest, "codes", codes.tobytes())


def _is_missing(value: object) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA has no answer
        return True
