"""Categories that are learnt once and found again: a table in, codes in place of words out."""

from dataclasses import dataclass, field

import numpy as np

from mauc.exceptions import MaucError
from mauc.problem.columns import is_frame
from mauc.problem.nominal import distinct_categories, find_nominal, get_column, replace_columns


@dataclass(frozen=True)
class CategoryCoder:
    """Codes of the categories of the columns that do not hold numbers.

    Nominal columns of numbers are their own codes and stay as they are.

    Parameters
    ----------
    categories : dict of int to ndarray
        By column, its categories; the code of a category is its place.
    """

    categories: dict[int, np.ndarray] = field(default_factory=dict)

    @classmethod
    def learn(cls, X, is_nominal):
        """Return the coder of the nominal columns of a table, and the table with their codes.

        Parameters
        ----------
        X : ndarray or data frame of shape (n_samples, n_features)
        is_nominal : ndarray of shape (n_features,), bool
        """
        categories, codes = {}, {}
        for j in np.flatnonzero(is_nominal).tolist():
            column = get_column(X, j)
            if not _holds_numbers(column):
                categories[j], codes[j] = distinct_categories(column)
        return cls(categories), replace_columns(X, codes) if codes else X

    def check_table(self, X):
        """Return X, a list as an array; raise if it cannot hold the categories that were learnt."""
        if not self.categories:
            return X
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
        if not is_table(X):
            raise MaucError(
                f"X must be a data frame or an array of two dimensions, with the categories of "
                f"column {min(self.categories)} as in the training data, got {_described(X)}."
            )
        return X

    def encode(self, X):
        """Return a table with the codes of its categories; those not learnt are missing, NaN."""
        codes = {}
        for j, known in self.categories.items():
            place = {category: code for code, category in enumerate(known.tolist())}
            found, at = distinct_categories(get_column(X, j))
            table = np.array(
                [*(place.get(category, np.nan) for category in found.tolist()), np.nan]
            )
            codes[j] = table[np.where(np.isnan(at), -1, at).astype(np.int64)]
        return replace_columns(X, codes) if codes else X

    def keep(self, X):
        """Return a coder of the categories that occur in a table of codes; X gets its codes.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Changed in place.
        """
        categories = {}
        for j, known in self.categories.items():
            is_known = ~np.isnan(X[:, j])
            present, codes = np.unique(X[is_known, j].astype(np.int64), return_inverse=True)
            X[is_known, j] = codes
            categories[j] = known[present]
        return CategoryCoder(categories)

    def name_values(self, values):
        """Return the values of nominal columns, the categories of those that have codes.

        Parameters
        ----------
        values : dict of int to ndarray
            By column; codes where the column has any.
        """
        return {
            j: self.categories[j][codes.astype(np.int64)] if j in self.categories else codes
            for j, codes in values.items()
        }


def learn_categories(X, categorical_features=None):
    """Find the nominal columns of training data and learn the categories that are no numbers.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
    categorical_features : array-like of bool, int or str, optional
        Nominal columns besides those of a categorical dtype or of strings in a data frame.

    Returns
    -------
    coder : CategoryCoder
    X : array or data frame
        With the codes of the categories.
    is_nominal : ndarray of shape (n_features,), bool, or None
        None if there is no nominal column.
    """
    X = X if hasattr(X, "shape") else np.asarray(X)
    is_nominal = find_nominal(X, categorical_features) if is_table(X) else None
    if is_nominal is None:
        return CategoryCoder(), X, None
    return *CategoryCoder.learn(X, is_nominal), is_nominal


def _described(X):
    kind = type(X).__name__
    return f"a {kind} of {len(X.shape)} dimensions" if isinstance(X, np.ndarray) else f"a {kind}"


def _holds_numbers(column):
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return dtype.kind in "fiub"
    is_number = getattr(dtype, "is_numeric", None)  # of polars
    return bool(is_number()) if callable(is_number) else str(dtype)[0] in "IUFb"  # Int64, boolean


def is_table(X):
    """Whether X has rows and columns whose values can be looked at."""
    return is_frame(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
