"""Nominal columns of tables: which they are, their category codes, categories of training data."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from mauc.data.arguments import CategoricalFeatures
from mauc.data.columns import is_frame, is_polars
from mauc.data.labels import factorize, holds_strings, missing_mask
from mauc.exceptions import MaucError


def encode_nominal(
    X: Any, categorical_features: CategoricalFeatures = None
) -> tuple[Any, np.ndarray, dict[int, np.ndarray]]:
    """Replace nominal columns by codes, a missing value last; return their mask and categories."""
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    is_nominal = find_nominal(X, categorical_features)
    columns = np.flatnonzero(is_nominal).tolist()
    if len(columns) == 0:
        return X, is_nominal, {}
    if sparse.issparse(X):
        X, categories = _with_sparse_codes(X, columns)
        return X, is_nominal, categories
    categories, codes = {}, {}
    for j in columns:
        categories[j], codes[j] = category_codes(get_column(X, j))
    return replace_columns(X, codes), is_nominal, categories


def find_nominal(X: Any, categorical_features: CategoricalFeatures = None) -> np.ndarray:
    """Return the mask of the columns of a categorical dtype, of strings, and of those named."""
    if len(X.shape) != 2:
        return np.zeros(0, bool)  # validation refuses it later
    names = [str(name) for name in X.columns] if is_frame(X) else None
    is_nominal = column_mask(categorical_features, X.shape[1], names)
    if is_frame(X):
        is_nominal |= [_is_text_column(X, j, dtype) for j, dtype in enumerate(X.dtypes)]
    return is_nominal


def get_column(X: Any, j: int) -> Any:
    """Return a column of an array or data frame."""
    if not is_frame(X):
        return X[:, j]
    if is_polars(X):
        return X.to_series(j)
    return X[X.columns[j]] if X.columns.is_unique else X.iloc[:, j]  # which takes longer


def replace_columns(X: Any, columns: dict[int, np.ndarray]) -> Any:
    """Return a copy of an array or data frame with the category codes of some columns."""
    if not is_frame(X):
        X = np.array(X, dtype=_type_with_codes(X))
        for j, values in columns.items():
            X[:, j] = values
        return X
    if is_polars(X):  # polars
        import polars as pl

        return X.with_columns([pl.Series(X.columns[j], v) for j, v in columns.items()])
    X = X.copy(deep=False)
    for j, values in columns.items():
        X.isetitem(j, values)
    return X


def _type_with_codes(X: np.ndarray) -> np.dtype:
    """Return a type that holds the values of an array and category codes."""
    if X.dtype.kind not in "fiub":
        return np.dtype(object)
    return X.dtype if X.dtype.itemsize >= 8 else np.dtype(np.float64)


def category_codes(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct values of a column and codes, that of a missing value the last."""
    distinct, codes = distinct_categories(column)
    return distinct, np.where(np.isnan(codes), float(len(distinct)), codes)


def distinct_categories(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted distinct values that occur in a column, and their codes, NaN if missing."""
    if hasattr(column, "cat") and is_categorical(column.dtype):
        return _recode(column)
    values = np.asarray(column)
    if values.dtype.kind not in "fiub":
        values = values.astype(object)
    is_missing = missing_mask(values)
    known = values[~is_missing]
    codes = np.full(len(values), np.nan)
    try:
        distinct, codes[~is_missing], _ = factorize(known)
    except TypeError:  # values of different types cannot be compared
        in_order = sorted(dict.fromkeys(known), key=lambda v: (type(v).__name__, str(v)))
        code_of = {value: code for code, value in enumerate(in_order)}
        codes[~is_missing] = [code_of[value] for value in known]
        distinct = np.array([*in_order, None], dtype=object)[:-1]  # never an array of arrays
    return distinct, codes


def _recode(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what `distinct_categories` does from the codes that the column holds already."""
    if hasattr(column.cat, "codes"):  # pandas
        held = column.cat.codes.to_numpy()
        present = np.flatnonzero(np.bincount(held[held >= 0]))
        slots, values = present, column.cat.categories[present]
    else:  # polars
        held = column.to_physical().cast(int).fill_null(-1).to_numpy()
        values = column.drop_nulls().unique()
        slots = values.to_physical().to_numpy()
        values = values.cast(str)
    table = np.full(max(slots, default=-1) + 2, np.nan)  # its last entry is for missing values
    distinct, table[slots] = distinct_categories(values)
    return distinct, table[held]


def _is_text_column(frame: Any, j: int, dtype: object) -> bool:
    """Whether a column of a data frame has a categorical dtype or holds strings alone."""
    kind = str(dtype).lower()
    if kind != "object":
        # pandas' "str" and "string", polars' "String", once "Utf8"; Arrow's "large_string"
        return is_categorical(dtype) or kind.startswith(("str", "utf8", "large_string"))
    values = np.asarray(get_column(frame, j), dtype=object)
    if holds_strings(values):
        return True
    known = values[~missing_mask(values)]
    return len(known) > 0 and all(isinstance(value, str) for value in known)


def is_categorical(dtype: object) -> bool:
    """Whether the type of a column of a data frame is one of categories."""
    # pandas' "category"; polars' "Categorical" and "Enum"; Arrow's "dictionary<...>"
    return str(dtype).lower().startswith(("category", "categorical", "enum", "dictionary<"))


def column_mask(
    categorical_features: CategoricalFeatures, n_features: int, names: list[str] | None
) -> np.ndarray:
    """Return the mask of the columns given by a mask, numbers or names; all False for None."""
    mask = np.zeros(n_features, bool)
    wanted = np.atleast_1d(np.asarray([] if categorical_features is None else categorical_features))
    if wanted.size == 0:
        return mask
    if wanted.dtype.kind == "b":
        if wanted.shape != (n_features,):
            raise MaucError(
                f"categorical_features as a mask must have {n_features} entries "
                f"(the number of features), got {wanted.size}."
            )
        return wanted.copy()
    if wanted.dtype.kind in "iu":
        outside = wanted[(wanted < -n_features) | (wanted >= n_features)]
        if len(outside):
            raise MaucError(
                f"categorical_features must be column numbers below {n_features}, got {outside[0]}."
            )
        mask[wanted] = True
        return mask
    if wanted.dtype.kind not in "OUT":
        raise MaucError(
            f"categorical_features must be a mask, column numbers or names, got {wanted.dtype}."
        )
    for name in wanted:
        if names is None or str(name) not in names:
            raise MaucError(
                f"categorical_features names {str(name)!r}, but X "
                + ("has no column names." if names is None else "has no such column.")
            )
        mask[names.index(str(name))] = True
    return mask


def _with_sparse_codes(
    X: Any, columns: list[int]
) -> tuple[sparse.csc_array, dict[int, np.ndarray]]:
    """Return a sparse matrix whose nominal columns hold codes, and the values of these."""
    categories = {}
    X = sparse.csc_array(X, copy=True)
    X.sum_duplicates()
    for j in columns:
        stored = X.data[X.indptr[j] : X.indptr[j + 1]]
        is_known = stored == stored
        known = stored[is_known]
        if (known < 0).any() or (known != np.floor(known)).any():
            raise MaucError(
                f"nominal column {j} of a sparse X must hold category codes 0, 1, ..., "
                f"got {known[(known < 0) | (known != np.floor(known))][0]}."
            )
        if len(stored) < X.shape[0]:
            known = np.append(known, 0)  # values that are not stored
        known = np.unique(known)
        stored[:] = np.where(is_known, np.searchsorted(known, stored), len(known))
        categories[j] = known
    return X, categories


@dataclass(frozen=True)
class CategoryCoder:
    """Codes of the categories, by column, of the nominal columns that do not hold numbers."""

    categories: dict[int, np.ndarray] = field(default_factory=dict)

    @classmethod
    def learn(cls, X: Any, is_nominal: np.ndarray) -> "tuple[CategoryCoder, Any]":
        """Return the coder of the nominal columns of a table, and the table with their codes."""
        categories, codes = {}, {}
        for j in np.flatnonzero(is_nominal).tolist():
            column = get_column(X, j)
            if not _holds_numbers(column):
                categories[j], codes[j] = distinct_categories(column)
        return cls(categories), replace_columns(X, codes) if codes else X

    def check_table(self, X: Any) -> Any:
        """Return X, a list as an array; raise if it cannot hold the categories that were learnt."""
        if not self.categories:
            return X
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
        if not is_table(X):
            raise MaucError(
                f"X must be a data frame or an array of two dimensions, with the categories of "
                f"column {min(self.categories)} as in the training data, got a "
                f"{type(X).__name__} of {len(X.shape)} dimensions."
            )
        return X

    def encode(self, X: Any) -> Any:
        """Return a table with the codes of its categories; those not learnt are missing, NaN."""
        codes = {}
        for j, known in self.categories.items():
            code_of = {category: code for code, category in enumerate(known.tolist())}
            found, at = distinct_categories(get_column(X, j))
            table = np.array(
                [*(code_of.get(category, np.nan) for category in found.tolist()), np.nan]
            )
            codes[j] = table[np.where(np.isnan(at), -1, at).astype(np.int64)]
        return replace_columns(X, codes) if codes else X

    def keep(self, X: Any) -> "CategoryCoder":
        """Return a coder of the categories that occur in an array, which gets its codes."""
        categories = {}
        for j, known in self.categories.items():
            is_known = ~np.isnan(X[:, j])
            present, codes = np.unique(X[is_known, j].astype(np.int64), return_inverse=True)
            X[is_known, j] = codes
            categories[j] = known[present]
        return CategoryCoder(categories)

    def name_values(self, values: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
        """Return the values of nominal columns, the categories of those that have codes."""
        return {
            j: self.categories[j][codes.astype(np.int64)] if j in self.categories else codes
            for j, codes in values.items()
        }


def learn_categories(
    X: Any, categorical_features: CategoricalFeatures = None
) -> tuple[CategoryCoder, Any, np.ndarray]:
    """Return the coder of nominal columns of training data, the table with codes, and the mask."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    if not is_table(X):
        return CategoryCoder(), X, np.zeros(X.shape[1] if len(X.shape) == 2 else 0, bool)
    is_nominal = find_nominal(X, categorical_features)
    return *CategoryCoder.learn(X, is_nominal), is_nominal


def _holds_numbers(column: Any) -> bool:
    """Whether a column of an array or data frame is one of numbers."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return dtype.kind in "fiub"
    is_number = getattr(dtype, "is_numeric", None)  # of polars
    return bool(is_number()) if callable(is_number) else str(dtype)[0] in "IUFb"  # Int64, boolean


def is_table(X: object) -> bool:
    """Whether X has rows and columns whose values can be looked at."""
    return is_frame(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
