"""Nominal columns: keep, encode or drop them."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.checks import check_choice, check_int
from mauc.datasets.dataset import Dataset
from mauc.datasets.notes import recoded_note
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import pandas as pd

NOMINAL = ("keep", "ordinal", "onehot", "drop")


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
          named ``column=value``; of two values only the second gets a column;
        - "drop": the columns are left out.

        A missing value stays missing, in all columns made of it.
    max_categories : int, optional
        With "onehot": columns of more values than this become codes, as with "ordinal".

    Returns
    -------
    dataset : Dataset
        With a numeric array as `X`, unless nominal columns are kept.

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
    check_choice("nominal", nominal, NOMINAL)
    check_int("max_categories", max_categories, 1, optional=True)
    is_nominal = set(dataset.nominal_features)
    if nominal == "keep" or not is_nominal:
        return dataset
    parts: list[np.ndarray[Any, Any]] = []
    made: list[Encoded] = []
    for place, name in enumerate(dataset.feature_names):
        column = dataset.X.iloc[:, place]
        if name not in is_nominal:
            parts.append(column.to_numpy())
            made.append(Encoded(name, place))
            continue
        pieces = encode_column(name, place, column, nominal, max_categories)
        if pieces:
            codes = pieces[0].codes(column)
            parts += [piece.values(codes) for piece in pieces]
            made += pieces
    check_encoded(dataset, made)
    return encoded_dataset(dataset, np.column_stack(parts), made, nominal, max_categories)


@dataclass(frozen=True)
class Encoded:
    """One column of numbers that is made of a column of a data set.

    Parameters
    ----------
    name : str
    place : int
        The column that it is made of.
    categories : Index, optional
        The values of a nominal column, in the order of their codes; None for one of numbers.
    code : int, optional
        The value that it indicates; None for a column of codes.
    """

    name: str
    place: int
    categories: Any = None
    code: int | None = None

    def codes(self, column: "pd.Series[Any]") -> np.ndarray[Any, Any]:
        """Return the codes of some rows of the nominal column, NaN where missing."""
        return _codes(column.cat.set_categories(self.categories))

    def values(self, codes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the numbers of the column by the codes of the nominal one."""
        return codes if self.code is None else np.where(np.isnan(codes), np.nan, codes == self.code)


def encode_column(
    name: str, place: int, column: "pd.Series[Any]", nominal: str, max_categories: int | None
) -> list[Encoded]:
    """Return the columns that `encode_dataset` makes of a nominal one."""
    if nominal == "drop":
        return []
    is_large = max_categories is not None and column.nunique() > max_categories
    if nominal == "ordinal" or is_large:
        return [Encoded(name, place, column.cat.categories)]
    values = column.cat.remove_unused_categories().cat.categories
    chosen = [1] if len(values) == 2 else range(len(values))
    return [Encoded(f"{name}={values[code]}", place, values, code) for code in chosen]


def check_encoded(dataset: Dataset, made: list[Encoded]) -> None:
    """Raise if no column is left, or two have the same name."""
    if not made:
        raise MaucError(
            f"{dataset.name}: all features are nominal, such as {dataset.feature_names[0]!r}, and "
            f"nominal='drop' leaves none; say nominal='ordinal' or 'onehot'."
        )
    counts = Counter(piece.name for piece in made)
    if len(counts) < len(made):
        repeated = min(name for name, count in counts.items() if count > 1)
        raise MaucError(
            f"{dataset.name}: nominal='onehot' makes a second column {repeated!r}; rename a column."
        )


def encoded_dataset(
    dataset: Dataset, X: Any, made: list[Encoded], nominal: str, max_categories: int | None
) -> Dataset:
    """Return a data set with the encoded columns, and notes that say so."""
    n_indicators = sum(piece.code is not None for piece in made)
    n_codes = sum(piece.categories is not None for piece in made) - n_indicators
    words = (f"{n_indicators} indicators (0 or 1)" * bool(n_indicators), "codes" * bool(n_codes))
    how = "as " + " and ".join(filter(None, words)) if any(words) else "left out"
    n_nominal = len(dataset.nominal_features)
    options = "" if max_categories is None else f", max_categories={max_categories}"
    return Dataset(
        dataset.name, X, dataset.y, [piece.name for piece in made],
        categories=dataset.categories if nominal == "ordinal" else {},
        target_name=dataset.target_name,
        notes=recoded_note(dataset.notes, dataset.n_features - n_nominal, n_nominal, how),
        source=dataset.source and f"encode_dataset({dataset.source}, {nominal!r}{options})",
    )  # fmt: skip


def coded_columns(dataset: Dataset) -> "tuple[Any, np.ndarray[Any, Any] | None]":
    """Return the features as numbers, with codes in the nominal columns, and which these are.

    It is what estimators take as ``X`` and ``categorical_features``.

    Parameters
    ----------
    dataset : Dataset

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
    """Raise if a data set has nominal columns, for a method that takes none.

    Parameters
    ----------
    dataset : Dataset
    method : str
        How the method is called in the error message.
    """
    names = dataset.nominal_features
    if names:
        values = ", ".join(str(value) for value in dataset.X[names[0]].cat.categories[:3])
        more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
        raise MaucError(
            f"{dataset.name}: column {names[0]!r}{more} is nominal (values such as {values}), and "
            f"{method} takes numbers only; say nominal='ordinal', 'onehot' or 'drop'."
        )


def _codes(column: "pd.Series[Any]") -> np.ndarray[Any, Any]:
    codes: np.ndarray[Any, Any] = column.cat.codes.to_numpy().astype(np.float64)
    codes[codes < 0] = np.nan
    return codes
