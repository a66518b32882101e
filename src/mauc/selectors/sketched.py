"""Selectors that rank by a sketch of rows: a PairAUCSketch in, ranking lists and a walk out."""

import sys
from functools import cached_property

import numpy as np

from mauc.data.decomposition import Decomposition
from mauc.data.source import ColumnSource, default_memory
from mauc.data.validate import check_columns, check_generator
from mauc.engine.exact_mean import mean_of_quotients
from mauc.exceptions import MaucError, listed
from mauc.parallel import count_threads
from mauc.progress import shown
from mauc.selectors.base import Ranked, check_n_features
from mauc.selectors.lists import SCHEDULES, draw_features, rank_features


class SketchMixin:
    """Gives a selector that ranks by AUCs ``partial_fit`` and ``fit_sketch``."""

    _rarely_learned = ("size_curve_", "sketch_", "error_bound_")

    def partial_fit(self, X, y, classes=None):
        """Add rows to those of earlier calls, and rank the features by all of them.

        The AUCs are those of a `mauc.PairAUCSketch`, `sketch_`, of fixed size: exact for features
        with at most 1,024 distinct values, otherwise off by no more than `error_bound_`. As long as
        rows of one class alone have come there is nothing to rank. For other numbers of bins update
        a sketch and give it to `fit_sketch`.

        Parameters
        ----------
        X : array-like, sparse matrix or source of shape (n_samples, n_features)
            Numeric columns; a source, or a Dask collection, is read by parts of its rows.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), optional
            All labels that may come, in the first call; others are refused then. By default labels
            may come at any time.

        Returns
        -------
        self : object
        """
        from mauc.sketch import PairAUCSketch
        from mauc.sketch.dask_rows import by_rows

        with shown(type(self).__name__, verbose=bool(self.verbose)):
            self._check_sketched()
            if y is None:
                raise MaucError("this estimator requires y to be passed, but the target y is None.")
            X, sketch = by_rows(X), getattr(self, "sketch_", None)
            if sketch is None:
                sketch = PairAUCSketch(classes=classes, n_jobs=self.n_jobs)
            else:
                _check_classes(sketch, classes)
                # Before the rows are added: a call that failed can be repeated.
                check_n_features(self.n_features_to_select, sketch.n_features, '"all"')
                if not isinstance(X, ColumnSource):
                    check_columns(X, self)
            sketch.update(X, y)
            return self._fit_sketch(sketch)

    def fit_sketch(self, sketch):
        """Rank the features by a sketch of rows.

        Parameters
        ----------
        sketch : PairAUCSketch
            Such as that of `mauc.sketch_rows`; kept as `sketch_`, which `partial_fit` goes on with.

        Returns
        -------
        self : object
        """
        from mauc.sketch import PairAUCSketch

        if not isinstance(sketch, PairAUCSketch):
            raise MaucError(f"sketch must be a PairAUCSketch, got {type(sketch).__name__}.")
        self._check_sketched()
        if (sketch.class_counts > 0).sum() < 2:
            raise MaucError(f"sketch must have rows of at least 2 classes, got {sketch!r}.")
        return self._fit_sketch(sketch)

    def _fit_rows(self, X, y, sample_weight, client):
        from mauc.sketch import choose_way, sketch_rows
        from mauc.sketch.dask_rows import dask_shape, is_dask_frame

        if not is_dask_frame(X) or sample_weight is not None or client is not None:
            return False
        if isinstance(y, str):
            raise MaucError(
                f"y must hold the labels, got {y!r}; mauc.open_columns(X, target={y!r}) takes them "
                f"from a column, and so does mauc.sketch_rows(X, {y!r})."
            )
        way = choose_way(**dask_shape(X), memory=default_memory())
        if self.verbose:
            print(way.sentence, file=sys.stderr)
        if way.name == "columns":
            return False
        self._check_sketched()
        self._fit_sketch(sketch_rows(X, y, n_jobs=self.n_jobs))
        return True

    def __sklearn_is_fitted__(self):
        """Whether features are ranked; rows of one class alone rank none."""
        return hasattr(self, "ranking_")

    def _check_sketched(self):
        """Check the options as `fit` does; those that need the rows themselves are refused."""
        count_threads(self.n_jobs)
        wanted = self.n_features_to_select
        if isinstance(wanted, str) and wanted == "auto":
            raise MaucError(
                'n_features_to_select="auto" cross-validates on rows in memory; a sketch has none: '
                'give a number, a fraction or "all".'
            )
        check_n_features(1 if isinstance(wanted, int) else wanted, 1, '"all"')
        if self.categorical_features is not None:
            raise MaucError(
                "categorical_features must be None for a sketch, which needs ordered values; "
                "encode those columns first, or fit on columns (mauc.open_columns)."
            )
        self.check_options()

    def _fit_sketch(self, sketch):
        """Learn from a sketch; it may lack what is needed to rank."""
        n_wanted = check_n_features(self.n_features_to_select, sketch.n_features, '"all"')
        self.sketch_ = sketch
        self.n_features_in_ = sketch.n_features
        names = sketch.feature_names
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        problem = SketchedProblem(sketch)
        if problem.n_classes < 2:
            for name in ("ranking_", "support_", "scores_", "pair_auc_", "trace_"):
                vars(self).pop(name, None)  # of an earlier fit
            return self
        self._learn(problem, rank_sketch(self, problem, n_wanted))
        self.error_bound_ = problem.error_bound[self.ranking_]
        return self


def _check_classes(sketch, classes):
    """Raise if a later call names other classes than those that the sketch was made with."""
    if classes is None:
        return
    if sketch.classes is None:
        raise MaucError("classes must be given in the first call of partial_fit, which had none.")
    if not np.array_equal(np.unique(np.asarray(classes)), sketch.classes_):
        raise MaucError(
            f"classes must be those of the first call of partial_fit, {listed(sketch.classes_)}, "
            f"got {listed(np.unique(np.asarray(classes)))}."
        )


class SketchedProblem:
    """What ranking needs to know of a problem, from a sketch; classes without rows are left out.

    Parameters
    ----------
    sketch : PairAUCSketch

    Attributes
    ----------
    n_features, n_classes : int
    classes : ndarray of shape (n_classes,)
    class_weights : ndarray of shape (n_classes,), float64
        Numbers of rows.
    feature_names : ndarray of str, or None
    """

    cluster = None  # a sketch is here

    def __init__(self, sketch):
        self._sketch = sketch
        counts = sketch.class_counts
        self._is_seen = counts > 0
        self.n_features, self.feature_names = sketch.n_features, sketch.feature_names
        self.classes = sketch.classes_[self._is_seen]
        self.n_classes = len(self.classes)
        self.class_weights = counts[self._is_seen].astype(np.float64)

    @property
    def _is_pair(self):
        first, second = np.triu_indices(len(self._is_seen), 1)
        return self._is_seen[first] & self._is_seen[second]

    @cached_property
    def pair_auc(self):
        """Folded AUCs of all features, shape (n_features, n_pairs)."""
        return np.ascontiguousarray(self._sketch.pair_auc()[:, self._is_pair])

    @cached_property
    def error_bound(self):
        """Their largest errors."""
        return np.ascontiguousarray(self._sketch.error_bound()[:, self._is_pair])

    @property
    def max_wins(self):
        """The wins 2 n_i n_j of a perfect feature on every class pair."""
        return self._sketch.max_wins[self._is_pair]

    def run_blocks(self, function, *args, **layout):
        """Yield all features as one block, as `Problem.run_blocks` yields its blocks."""
        block = slice(0, self.n_features)
        yield block, function(block)


def rank_sketch(selector, problem, n_wanted):
    """Rank the features of a sketched problem as the selector would those of a table.

    Parameters
    ----------
    selector : ListSelector
        Whose relevance is the AUC, on class pairs or on average over them.
    problem : SketchedProblem
    n_wanted : int

    Returns
    -------
    ranked : Ranked
    """
    recipe = selector.check_options()
    decomposition = Decomposition(recipe.decomposition, problem.n_classes)
    is_whole = decomposition.name == "whole"

    def relevance(problem, decomposition, chosen):
        pair_auc = problem.pair_auc[chosen]
        if is_whole:
            return mean_of_quotients(pair_auc, problem.max_wins)[:, np.newaxis]
        return pair_auc

    denominators = None if is_whole else problem.max_wins
    lists, scores = rank_features(
        problem, decomposition, relevance, n_wanted, recipe.ties, denominators=denominators
    )
    rng = check_generator(getattr(selector, "random_state", None))
    schedule = SCHEDULES[recipe.schedule](decomposition, problem.class_weights, rng)

    def separation(feature):
        return relevance(problem, decomposition, [feature])[0]

    selection = draw_features(lists, schedule, n_wanted, separation)
    return Ranked(decomposition, selection, scores, problem.pair_auc[selection.features])
