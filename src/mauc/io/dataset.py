"""A data set: features, labels and names, in memory or not; its nominal columns as numbers."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mauc.checks import check_choice, check_int
from mauc.data.columns import is_frame
from mauc.data.doubles import is_beyond_doubles
from mauc.data.nominal import get_column
from mauc.data.source import ChosenColumns, ColumnSource
from mauc.exceptions import MaucError, option
from mauc.io.options import NOMINAL
from mauc.io.rules import list_excluded
from mauc.progress import track
from mauc.results import plural

# A sparse table with more cells is not made dense.
MAX_DENSE_CELLS = 2 * 10**8


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
    groups : ndarray of shape (n_samples,), optional
        What rows belong to, such as a patient.

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
    groups: np.ndarray[Any, Any] | None = None

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
        if isinstance(self.X, ColumnSource):
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
        """
        chosen = [int(j) for j in columns]
        if any(not 0 <= j < self.n_features for j in chosen) or len(set(chosen)) < len(chosen):
            raise MaucError(
                f"columns must be different numbers in [0, {self.n_features - 1}], got {chosen}."
            )
        names = [self.feature_names[j] for j in chosen]
        X = self.X.tocsc() if sparse.issparse(self.X) else self.X
        if isinstance(X, ColumnSource):
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
        It has 32 hexadecimal digits (BLAKE2b).
        """
        digest = hashlib.blake2b(digest_size=16)
        _add(digest, "shape", json.dumps([self.n_samples, self.n_features]).encode())
        _add(digest, "names", json.dumps(list(self.feature_names)).encode())
        _add_texts(digest, np.asarray(self.y))
        if self.groups is not None:
            _add_texts(digest, self.groups)
        X = sparse.csc_array(self.X) if sparse.issparse(self.X) else self.X
        for j in range(self.n_features):
            if isinstance(X, ColumnSource):
                column = X.read(np.array([j]))[0]
            elif sparse.issparse(X):
                column = X[:, [j]].toarray().ravel()
            else:
                column = get_column(X, j)
            values = np.asarray(column)
            if str(column.dtype) == "category" or values.dtype.kind not in "fiub":
                _add_texts(digest, values)
            else:
                _add_numbers(digest, values)
        return digest.hexdigest()


def _add(digest: Any, kind: str, content: bytes) -> None:
    # With its length in front, no two parts read like two others.
    digest.update(f"{kind}:{len(content)}:".encode())
    digest.update(content)


def _add_numbers(digest: Any, values: np.ndarray[Any, Any]) -> None:
    rows = np.flatnonzero(values)
    values = values[rows]
    if values.dtype.kind in "iu" and is_beyond_doubles(values):
        _add(digest, "integers", json.dumps([int(value) for value in values]).encode())
    else:
        values = values.astype("<f8")
        values[np.isnan(values)] = np.nan  # one of the many bit patterns of NaN
        _add(digest, "values", values.tobytes())
    _add(digest, "rows", rows.astype("<i8").tobytes())


def _add_texts(digest: Any, values: np.ndarray[Any, Any]) -> None:
    """Add labels or categories; a missing one (NaN, None) is a text of its own kind."""
    import pandas

    pairs = zip(values.tolist(), pandas.isna(values), strict=True)
    texts = [None if is_missing else str(value) for value, is_missing in pairs]
    known = sorted({text for text in texts if text is not None})
    place: dict[str | None, int] = {text: code for code, text in enumerate(known)}
    codes = np.array([place.get(text, -1) for text in texts], dtype="<i8")
    _add(digest, "texts", json.dumps(known).encode())
    _add(digest, "codes", codes.tobytes())


def columns_note(
    n_numbers: int, n_nominal: int, how: str = "", excluded: Mapping[str, str] | None = None
) -> str:
    """Return the line that begins the notes of a data set; `how` nominal columns became numbers."""
    parts = [plural(n_numbers, "number")] if n_numbers or not n_nominal else []
    if n_nominal:
        parts.append(f"{n_nominal} nominal{' ' * bool(how)}{how}")
    line = ", ".join(parts)
    return f"{line}; left out: {list_excluded(excluded)}" if excluded else line


class Encoded(NamedTuple):
    """One column of numbers that is made of a column of a data set."""

    name: str
    column: int  #: that it is made of
    categories: Any = None  #: of a nominal column, in the order of their codes
    code: int | None = None  #: of the value that it indicates, -1 if missing; None: of all codes

    def encode(self, column: Any) -> Any:
        """Return the numbers made of some rows of the column, NaN for the code of a missing one."""
        if self.categories is None:
            return column
        codes = column.cat.set_categories(self.categories).cat.codes.to_numpy()
        if self.code is not None:
            return (codes == self.code).astype(np.float64)
        return np.where(codes < 0, np.nan, codes)


class ConvertedColumns(ChosenColumns):
    """Columns of a source that are converted as they are read; `origins` are those they are of."""

    def __init__(
        self,
        source: ColumnSource,
        origins: Sequence[int],
        types: Sequence[Any],
        names: Sequence[str],
    ) -> None:
        super().__init__(source, np.asarray(origins, np.int64))
        self.types: list[np.dtype] = [np.dtype(kind) for kind in types]
        self.feature_names: np.ndarray = np.array(names, dtype=object)
        self.widths: np.ndarray = np.maximum(self.widths, [kind.itemsize for kind in self.types])

    def _convert(self, j: int, values: Any) -> Any:
        """Return some rows of column `j`, given the values of the one that it is made of."""
        raise NotImplementedError

    read = ColumnSource.read  # by way of `read_rows`

    def read_rows(self, start: int, stop: int, columns: np.ndarray[Any, Any]) -> list[Any]:
        """Read some rows of columns; one that several are made of is read once."""
        origins = np.array(list(dict.fromkeys(self._columns[columns].tolist())), np.int64)
        is_whole = (start, stop) == (0, self.shape[0])
        read = self._source.read if is_whole else partial(self._source.read_rows, start, stop)
        found = dict(zip(origins.tolist(), read(origins), strict=True))
        return [self._convert(int(j), found[int(self._columns[j])]) for j in columns]


class EncodedColumns(ConvertedColumns):
    """A source whose nominal columns are codes or indicators."""

    def __init__(self, source: ColumnSource, made: list[Encoded]) -> None:
        self._made = made
        types = [source.types[p.column] if p.categories is None else np.float64 for p in made]
        super().__init__(source, [p.column for p in made], types, [p.name for p in made])

    def _convert(self, j: int, values: Any) -> Any:
        return self._made[j].encode(values)


def encode_dataset(
    dataset: Dataset, nominal: str = "ordinal", *, max_categories: int | None = None
) -> Dataset:
    """Turn the nominal columns of a data set into numbers.

    Parameters
    ----------
    dataset : Dataset
    nominal : {"keep", "ordinal", "onehot", "drop"}, default="ordinal"
        - "keep": leave them as they are;
        - "ordinal": a column becomes the place of each value in ``categories``: 0, 1, ...;
        - "onehot": a column becomes one column of 0 and 1 for each of its values that occurs,
          named ``column=value``, and one named ``column missing`` if some are; of two values only
          the second gets a column;
        - "drop": the columns are left out.

        With "ordinal", a missing value stays missing.
    max_categories : int, optional
        With "onehot": columns of more values than this become codes, as with "ordinal".

    Returns
    -------
    dataset : Dataset
        With a numeric array or a source of numbers as `X`, unless nominal columns are kept.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from mauc.datasets import Dataset, encode_dataset
    >>> frame = pd.DataFrame({"size": [1.0, 2.0], "color": pd.Categorical(["red", "blue"])})
    >>> dataset = Dataset("small", frame, np.array([0, 1]), ["size", "color"])
    >>> encode_dataset(dataset, "ordinal").X
    array([[1., 1.],
           [2., 0.]])
    >>> encode_dataset(dataset, "onehot").feature_names
    ['size', 'color=red']
    """
    check_choice(option("nominal"), nominal, NOMINAL)
    check_int("max_categories", max_categories, 1, optional=True)
    is_nominal = set(dataset.nominal_features)
    if nominal == "keep" or not is_nominal:
        return dataset
    X, made = dataset.X, list[Encoded]()
    is_source = isinstance(X, ColumnSource)
    for j in track(range(dataset.n_features), "columns"):
        name = dataset.feature_names[j]
        if name not in is_nominal:
            made.append(Encoded(name, j))
        elif nominal != "drop":  # a nominal column of a source is read to learn its values
            column = X.read(np.array([j]))[0] if is_source else X.iloc[:, j]
            made += _plan_column(name, j, column, nominal, max_categories)
    _check_encoded(dataset, made)
    if is_source:
        encoded: Any = EncodedColumns(X, made)
    else:
        encoded = np.column_stack([piece.encode(X.iloc[:, piece.column]) for piece in made])
    n_indicators = sum(piece.code is not None for piece in made)
    n_codes = sum(piece.categories is not None for piece in made) - n_indicators
    words = (f"{n_indicators} indicators (0 or 1)" * bool(n_indicators), "codes" * bool(n_codes))
    how = "as " + " and ".join(filter(None, words)) if any(words) else "left out"
    n_numbers = dataset.n_features - len(is_nominal)
    _, semicolon, rest = (dataset.notes[0] if dataset.notes else "").partition("; left out: ")
    options = "" if max_categories is None else f", max_categories={max_categories}"
    return replace(
        dataset,
        X=encoded,
        feature_names=[piece.name for piece in made],
        categories=dataset.categories if nominal == "ordinal" else {},
        notes=(
            columns_note(n_numbers, len(is_nominal), how) + semicolon + rest,
            *dataset.notes[1:],
        ),
        source=dataset.source and f"encode_dataset({dataset.source}, {nominal!r}{options})",
    )


def _plan_column(
    name: str, j: int, column: Any, nominal: str, max_categories: int | None
) -> list[Encoded]:
    """Return the columns that `encode_dataset` makes of a nominal one."""
    is_large = max_categories is not None and column.nunique() > max_categories
    if nominal == "ordinal" or is_large:
        return [Encoded(name, j, column.cat.categories)]
    values = column.cat.remove_unused_categories().cat.categories
    codes = [*range(len(values)), *[-1] * bool(column.isna().any())]
    return [
        Encoded(f"{name} missing" if code < 0 else f"{name}={values[code]}", j, values, code)
        for code in ([max(codes)] if len(codes) == 2 else codes)
    ]


def _check_encoded(dataset: Dataset, made: list[Encoded]) -> None:
    """Raise if no column is left, or two have the same name."""
    if not made:
        raise MaucError(
            f"{dataset.name}: all features are nominal, such as {dataset.feature_names[0]!r}, and "
            f"{option('nominal', 'drop')} leaves none; choose ordinal or onehot."
        )
    counts = Counter(piece.name for piece in made)
    if len(counts) < len(made):
        repeated = min(name for name, count in counts.items() if count > 1)
        raise MaucError(
            f"{dataset.name}: {option('nominal', 'onehot')} makes a second column {repeated!r}; "
            f"rename a column."
        )


def coded_columns(dataset: Dataset) -> "tuple[Any, np.ndarray[Any, Any] | None]":
    """Return the features as numbers, with codes in the nominal columns, and which these are.

    It is what estimators take as ``X`` and ``categorical_features``.

    Returns
    -------
    X : ndarray or sparse array of shape (n_samples, n_features)
        The table itself if it has no nominal column.
    is_nominal : ndarray of shape (n_features,), bool, or None
        None if no column is nominal.
    """
    nominal = set(dataset.nominal_features)
    if not nominal:
        return dataset.X, None
    mask = np.array([name in nominal for name in dataset.feature_names])
    return encode_dataset(dataset, "ordinal").X, mask


def check_numeric(dataset: Dataset, method: str) -> None:
    """Raise if a data set has nominal columns, for a method, by its name, that takes none."""
    names = dataset.nominal_features
    if names:
        values = ", ".join(str(value) for value in dataset.X[names[0]].cat.categories[:3])
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise MaucError(
            f"{dataset.name}: column {names[0]!r}{more} is nominal (values such as {values}), and "
            f"{method} takes numbers only; pass {option('nominal', 'ordinal')}, or onehot or drop."
        )
