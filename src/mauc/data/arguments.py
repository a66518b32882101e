"""Types of what users pass to functions and estimators, as editors show them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from distributed import Client as DaskClient

    from mauc.data.source import ColumnSource


class Frame(Protocol):
    """A data frame, of pandas or polars."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    @property
    def dtypes(self) -> Any:
        """The types of the columns."""


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    @property
    def shape(self) -> Any:
        """Numbers of rows and columns."""

    def tocsc(self, copy: bool = False) -> Any:
        """Return it in columns."""


class Classifier(Protocol):
    """A classifier as scikit-learn has them."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from rows and their labels."""

    def predict(self, X: Any) -> Any:
        """Return the label of every row."""


class Splitter(Protocol):
    """What cuts rows into folds, as scikit-learn's splitters do."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        """Yield the rows to train on and to test on."""


#: rows of numbers: an array, nested lists or a data frame
TableLike: TypeAlias = ArrayLike | Frame
#: what selectors take as X
MatrixLike: TypeAlias = Union[ArrayLike, Frame, SparseMatrix, "ColumnSource"]
#: which columns are nominal: a mask, their numbers or their names
CategoricalFeatures: TypeAlias = ArrayLike | None
#: what a pair of classes counts
PairWeight: TypeAlias = (
    Literal["prior", "prevalence"] | Mapping[Any, Any] | ArrayLike | Frame | None
)
#: where random numbers come from
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | np.random.SeedSequence | None
#: folds: their number, what makes them, or the rows of each
Splits: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]]
#: workers of Dask, or the address of their scheduler
Client: TypeAlias = Union["DaskClient", str, None]
