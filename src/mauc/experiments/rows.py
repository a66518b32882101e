"""One row per measurement: what a cell yields, as an Arrow table."""

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from mauc.experiments.plan import Combination

_PACKAGES = ("mauc", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class Row:
    """One measurement.

    Parameters
    ----------
    dataset : str
    repeat, fold : int
        From 0.
    selector, classifier : str
        Their names in the plan.
    size : int
        Number of features.
    mauc : float
        Of the test part; NaN if it failed.
    select_seconds : float
        Ranking the features; the same on all rows of a selector in a cell.
    fit_seconds : float
        Fitting the classifier and scoring the test samples; work that sizes and selectors share
        is counted where it was first needed.
    score_seconds : float
        Computing MAUC of those scores.
    features : ndarray of int
        The columns used, best first.
    status : {"ok", "failed"}
    error : str or None
        Type and message of what went wrong.
    n_train, n_test, n_features : int
        Samples of the two parts, columns of the data set.
    seed : int
        Of the selector.
    versions : str
        Of the packages that compute.
    """

    dataset: str
    repeat: int
    fold: int
    selector: str
    classifier: str
    size: int
    mauc: float
    select_seconds: float
    fit_seconds: float
    score_seconds: float
    features: np.ndarray
    status: str
    error: str | None
    n_train: int
    n_test: int
    n_features: int
    seed: int
    versions: str


def error_text(error: BaseException) -> str:
    """Return type and message of an error as a row keeps them."""
    # A message that is not valid Unicode, such as one with a file name, must not spoil the table.
    return f"{type(error).__name__}: {error}".encode(errors="replace").decode()


def schema() -> "pa.Schema":
    """Return the Arrow schema of the rows."""
    import pyarrow as pa

    types = {
        str: pa.string(),
        int: pa.int32(),
        float: pa.float64(),
        np.ndarray: pa.list_(pa.int32()),
        str | None: pa.string(),
    }
    known = {item.name: types[item.type] for item in fields(Row)}  # type: ignore[index]
    return pa.schema({**known, "seed": pa.uint32()})


def rows_to_table(rows: Iterable[Row]) -> "pa.Table":
    """Return rows as an Arrow table."""
    import pyarrow as pa

    return pa.Table.from_pylist([vars(row) for row in rows], schema=schema())


def in_plan_order(
    table: "pa.Table", selectors: Sequence[str], classifiers: Sequence[str]
) -> "pa.Table":
    """Return the rows of a cell by selector, classifier (each in the plan's order) and size."""
    sizes = table["size"].to_pylist()
    ranks = [
        (selectors.index(selector), classifiers.index(classifier), size)
        for (selector, classifier), size in zip(combinations_of(table), sizes, strict=True)
    ]
    return table.take(sorted(range(len(ranks)), key=ranks.__getitem__))


def combinations_of(table: "pa.Table") -> "list[Combination]":
    """Return the selector and the classifier of every row."""
    names = (table[key].to_pylist() for key in ("selector", "classifier"))
    return list(zip(*names, strict=True))


@cache
def versions() -> str:
    """Return the versions of Python and of the packages that compute."""
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    return ", ".join([packages[0], f"python {platform.python_version()}", *packages[1:]])
