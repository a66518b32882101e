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

    Work that sizes and selectors share is counted in the seconds of the row that first needed it.
    """

    dataset: str
    repeat: int  #: from 0, as the folds
    fold: int
    selector: str  #: its name in the plan
    classifier: str  #: likewise
    size: int  #: number of features
    mauc: float  #: of the test part; NaN if it failed
    select_seconds: float  #: ranking the features; the same on all rows of a selector in a cell
    fit_seconds: float  #: fitting the classifier and scoring the test samples
    score_seconds: float  #: computing MAUC of those scores
    features: np.ndarray  #: the columns used, best first
    status: str  #: "ok" or "failed"
    error: str | None  #: type and message of what went wrong
    n_train: int  #: samples
    n_test: int
    n_features: int  #: columns of the data set
    seed: int  #: of the selector
    versions: str  #: of the packages that compute


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
