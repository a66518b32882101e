"""Nominal columns: keep, encode or drop them."""

from collections import Counter
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
    names: list[str] = []
    n_codes = n_indicators = 0
    for place, name in enumerate(dataset.feature_names):
        column = dataset.X.iloc[:, place]
        if name not in is_nominal:
            parts.append(column.to_numpy())
            names.append(name)
        elif nominal == "ordinal" or (nominal == "onehot" and _is_large(column, max_categories)):
            parts.append(_codes(column))
            names.append(name)
            n_codes += 1
        elif nominal == "onehot":
            for value, indicator in _indicators(column):
                parts.append(indicator)
                names.append(f"{name}={value}")
                n_indicators += 1
    if not names:
        raise MaucError(
            f"{dataset.name}: all features are nominal, such as {dataset.feature_names[0]!r}, and "
            f"nominal='drop' leaves none; say nominal='ordinal' or 'onehot'."
        )
    if len(set(names)) < len(names):
        repeated = min(name for name, count in Counter(names).items() if count > 1)
        raise MaucError(
            f"{dataset.name}: nominal='onehot' makes a second column {repeated!r}; rename a column."
        )
    made = (f"{n_indicators} indicators (0 or 1)" * bool(n_indicators), "codes" * bool(n_codes))
    how = "as " + " and ".join(filter(None, made)) if any(made) else "left out"
    n_nominal = len(is_nominal)
    options = "" if max_categories is None else f", max_categories={max_categories}"
    return Dataset(
        dataset.name, np.column_stack(parts), dataset.y, names,
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


def _is_large(column: "pd.Series[Any]", max_categories: int | None) -> bool:
    return max_categories is not None and column.nunique() > max_categories


def _indicators(column: "pd.Series[Any]") -> list[tuple[str, np.ndarray[Any, Any]]]:
    column = column.cat.remove_unused_categories()
    codes, values = _codes(column), list(column.cat.categories)
    chosen = [1] if len(values) == 2 else range(len(values))
    return [
        (str(values[code]), np.where(np.isnan(codes), np.nan, codes == code)) for code in chosen
    ]
