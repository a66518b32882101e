"""Categories that are learnt once and found again: a table in, codes in place of words out."""

from dataclasses import dataclass, field

import numpy as np

from mauc.problem.columns import is_frame
from mauc.problem.nominal import distinct_categories, get_column, replace_columns


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


def _holds_numbers(column):
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return dtype.kind in "fiub"
    is_number = getattr(dtype, "is_numeric", None)  # of polars
    return bool(is_number()) if callable(is_number) else str(dtype)[0] in "IUFb"  # Int64, boolean


def is_table(X):
    """Whether X has rows and columns whose values can be looked at."""
    return is_frame(X) or (isinstance(X, np.ndarray) and X.ndim == 2)
