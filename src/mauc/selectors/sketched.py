"""Selectors that rank by a sketch of rows: ``partial_fit`` and ``fit_sketch``."""

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mauc.data.arguments import CategoricalFeatures, MatrixLike, PairWeight
from mauc.data.columns import Columns, default_names
from mauc.data.door import check_columns
from mauc.data.frames import leave_out_dates
from mauc.data.problem import MissingRule, Problem
from mauc.data.source import ColumnSource
from mauc.data.weights import PairWeights
from mauc.data.wishes import Wishes
from mauc.exceptions import MaucError
from mauc.progress import progress
from mauc.selectors.base import OF_ROWS

if TYPE_CHECKING:
    from mauc.selectors.base import RankingSelector as _Selector
    from mauc.sketch import PairAUCSketch
else:
    _Selector = object  # it is mixed into selectors

# mauc.sketch is imported in the functions that use it.
_NONE = np.empty(0, np.int64)
_RANKED = ("ranking_", "support_", "scores_", "pair_auc_", "trace_")


class SketchMixin(_Selector):
    """Gives a `ListSelector` that ranks by AUCs ``partial_fit`` and ``fit_sketch``."""

    categorical_features: CategoricalFeatures
    missing: MissingRule
    pair_weight: PairWeight
    _rarely_learned: ClassVar[tuple[str, ...]] = ("size_curve_", "sketch_", "error_bound_")

    def partial_fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Add rows to those of earlier calls, and rank the features by all of them.

        The AUCs are those of a `mauc.PairAUCSketch`, `sketch_`, of fixed size: exact for features
        with at most 1,024 distinct values, otherwise off by no more than `error_bound_`. As long as
        rows of one class alone have come there is nothing to rank. For other numbers of bins update
        a sketch and pass it to `fit_sketch`. Wishes, such as ``keep`` and ``budget``, hold as in
        ``fit``.

        Parameters
        ----------
        X : array-like, sparse matrix or source of shape (n_samples, n_features)
            Numeric columns; a source, or a Dask collection, is read by parts of its rows.
        y : array-like of shape (n_samples,)
            Class labels; new ones may come at any time.

        Returns
        -------
        self : object
        """
        from mauc.sketch import PairAUCSketch
        from mauc.sketch.rows import as_rows

        with progress(type(self).__name__, verbose=bool(self.verbose)):
            options = self._check_sketched()
            if y is None:
                raise MaucError("this estimator requires y to be passed, but the target y is None.")
            (X, y), sketch = as_rows(X, y), getattr(self, "sketch_", None)
            X, dated = leave_out_dates(X)
            if sketch is None:
                sketch = PairAUCSketch(n_jobs=self.n_jobs)
            else:
                # Before the rows are added: a call that failed can be repeated.
                self._sketched_wishes(sketch, dated)
                if not isinstance(X, ColumnSource):
                    check_columns(X, self)
            return self._rank_sketch(sketch.update(X, y), options, dated)

    def fit_sketch(self, sketch: "PairAUCSketch") -> Self:
        """Rank the features by a `PairAUCSketch`, such as that of `mauc.sketch_rows`.

        It is kept as `sketch_`, which `partial_fit` continues, and self is returned.
        """
        from mauc.sketch import PairAUCSketch

        if not isinstance(sketch, PairAUCSketch):
            raise MaucError(f"sketch must be a PairAUCSketch, got {type(sketch).__name__}.")
        options = self._check_sketched()
        if (sketch.class_counts > 0).sum() < 2:
            raise MaucError(f"sketch must have rows of at least 2 classes, got {sketch!r}.")
        return self._rank_sketch(sketch, options)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether features are ranked; rows of one class alone rank none."""
        return hasattr(self, "ranking_")

    def _check_sketched(self) -> Any:
        """Return the options, checked as in `fit`; those that need rows are refused."""
        if isinstance(self.n_features_to_select, str) and self.n_features_to_select == "auto":
            raise MaucError(
                'n_features_to_select="auto" cross-validates on rows in memory; a sketch has none: '
                'pass a number, a fraction or "all".'
            )
        if self.categorical_features is not None:
            raise MaucError(
                "categorical_features must be None for a sketch, which needs ordered values; "
                "encode those columns first, or fit on columns (mauc.open_columns)."
            )
        if self.missing != "tie":
            raise MaucError('missing must be "tie" for a sketch; fit on columns (open_columns).')
        return self._check_fit(None)

    def _sketched_wishes(
        self, sketch: "PairAUCSketch", dated: np.ndarray
    ) -> tuple[int, Wishes | None]:
        """Return how many features to rank, and the wishes about them, checked as in `fit`."""
        given, n_features = sketch.feature_names, sketch.n_features
        assert n_features is not None
        names = default_names(range(n_features)) if given is None else given.tolist()
        wishes = self.fit_options.wishes
        constraints = None if wishes is None else Wishes.of(wishes, names, dated)
        return self._check_size(n_features, constraints, '"all"'), constraints

    def _rank_sketch(
        self, sketch: "PairAUCSketch", options: Any, dated: np.ndarray = _NONE
    ) -> Self:
        """Learn from a sketch; rows of one class alone rank nothing."""
        n_wanted, wishes = self._sketched_wishes(sketch, dated)
        names, is_seen, n_features = (
            sketch.feature_names,
            sketch.class_counts > 0,
            sketch.n_features,
        )
        assert n_features is not None
        for name in (*self._rarely_learned, *_RANKED, *OF_ROWS):
            self.__dict__.pop(name, None)  # of an earlier fit
        if is_seen.sum() > 1:
            first, second = np.triu_indices(len(is_seen), 1)
            pairs = np.flatnonzero(is_seen[first] & is_seen[second])
            classes, counts = sketch.classes_[is_seen], sketch.class_counts[is_seen]
            problem = Problem(
                SketchColumns(sketch, pairs),
                np.empty(0, np.int32),
                classes,
                counts,
                np.zeros(n_features, bool),
                None,
                names,
                pair_shares=PairWeights(self.pair_weight).shares(classes, counts),
                wishes=wishes,
                dated=dated,
            )
            ranked = self._rank_open(problem, n_wanted, options)
            chosen = np.ix_(ranked.selection.features, pairs)
            self._learn(problem, ranked._replace(pair_auc=sketch.pair_auc()[chosen]))
            self.error_bound_: np.ndarray = sketch.error_bound()[chosen]
        self.sketch_: PairAUCSketch = sketch
        self._left_out = dated
        self.n_features_in_: int = n_features
        self.__dict__.pop("feature_names_in_", None)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_: np.ndarray = names
        return self


class SketchColumns(Columns):
    """The columns of a sketch: their wins on class pairs are known, their values are not."""

    def __init__(self, sketch: "PairAUCSketch", pairs: np.ndarray):
        wins = sketch.pair_wins()[:, pairs]
        self.shape: tuple[int, int] = (sketch.n_rows, len(wins))
        self.dtype: np.dtype = np.dtype(np.float64)
        self.known_wins: np.ndarray | None = wins

    def block_width(self, n_columns: int, n_scores: int = 1, *, is_dense: bool = False) -> int:
        """Return the number of columns: nothing is measured again."""
        return n_columns

    def _no_values(self, *_: object) -> Any:
        raise TypeError("a sketch holds counts, no values.")

    block: Any = _no_values
    column: Any = _no_values
    take_rows: Any = _no_values
