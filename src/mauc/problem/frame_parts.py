"""Columns of a data frame with their types: a frame and column numbers in, a frame out."""

import numpy as np

from mauc.problem.frame_columns import has_dates
from mauc.problem.nominal import find_nominal, is_categorical


def needs_types(frame):
    """Whether an array would lose what columns of a data frame are: categories, words or dates."""
    return has_dates(frame) or find_nominal(frame) is not None


def take_columns(frame, chosen, kind="default"):
    """Return columns of a data frame as one of the same kind, or of the kind that is asked for.

    Parameters
    ----------
    frame : DataFrame of pandas or polars
    chosen : ndarray of int
    kind : {"default", "pandas", "polars"}, default="default"
        The words of ``set_output``.

    Returns
    -------
    part : DataFrame
        Categories stay categories. Those of polars are strings, so categories of other types
        become strings there.
    """
    if hasattr(frame, "with_columns"):
        part = frame[:, chosen.tolist()]
        return _to_pandas(part) if kind == "pandas" else part
    part = frame.iloc[:, chosen]
    return _with_word_categories(part) if kind == "polars" else part


def _to_pandas(frame):
    import pandas as pd

    # DataFrame.to_pandas would need pyarrow.
    return pd.DataFrame({series.name: _pandas_column(series) for series in frame})


def _pandas_column(series):
    import pandas as pd

    name = str(series.dtype)
    if is_categorical(series.dtype):
        # Categories of polars may be shared by frames; only an Enum declares its own.
        declared = series.dtype.categories.to_list() if name.startswith("Enum") else None
        return pd.Categorical(series.cast(str).to_list(), categories=declared)
    if series.null_count() and (name == "Boolean" or name.startswith(("Int", "UInt"))):
        return pd.array(series.to_list(), dtype=name.replace("Boolean", "boolean"))
    if name.startswith(("String", "Utf8")):
        return series.to_list()
    if name == "Time":
        import polars as pl

        series = series.cast(pl.Duration("ns"))
    return series.to_numpy()


def _with_word_categories(frame):
    """Return a pandas frame whose categories are strings; scikit-learn makes it one of polars."""
    frame = frame.copy(deep=False)
    for j, kind in enumerate(frame.dtypes):
        if is_categorical(kind) and not all(isinstance(v, str) for v in kind.categories):
            column = frame.iloc[:, j]
            words = np.array([str(value) for value in kind.categories], dtype=object)
            frame.isetitem(j, column.cat.rename_categories(words))
    return frame
