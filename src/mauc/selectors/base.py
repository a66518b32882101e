"""What all selectors share: X, y -> Problem -> ranking of K features -> support."""

from abc import abstractmethod
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from mauc.evaluation.select_k import select_k
from mauc.exceptions import MaucError
from mauc.parallel import run_blocks
from mauc.problem.decomposition import Decomposition
from mauc.problem.problem import make_problem
from mauc.selectors.relevance import auc_relevance
from mauc.selectors.trace import SelectionTrace


class RankingSelector(SelectorMixin, BaseEstimator):
    """Base of the selectors: ranks features by `_rank` and keeps the first K.

    A subclass stores its parameters, ``n_features_to_select`` and ``n_jobs`` among them, says
    by `_accepts` what input it takes, and implements ``_rank(problem, n_wanted)``, which
    returns a `Decomposition` and a `Walk` and may set further learned attributes.
    """

    _words = '"all" or "auto"'  # that n_features_to_select may be

    def fit(self, X, y):
        """Rank the features and select the first of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
        """
        return self._fit(X, y)

    def _fit(self, X, y, sample_weight=None):
        problem = make_problem(self, X, y, sample_weight, **self._accepts())
        n_wanted = self._n_wanted(problem, X, y, sample_weight)
        decomposition, walk = self._rank(problem, n_wanted)
        names = decomposition.names(problem.classes)
        self.classes_ = problem.classes
        self.decomposition_ = decomposition
        self.subproblem_names_ = names
        self.ranking_ = walk.features
        self.support_ = np.zeros(problem.n_features, bool)
        self.support_[self.ranking_] = True
        self.pair_auc_ = _pair_auc(problem, self.ranking_, self.n_jobs)
        self.trace_ = SelectionTrace(
            *walk,
            feature_names=_feature_names(problem)[walk.features],
            subproblem_names=np.array(names)[walk.subproblems],
            details=self._trace_details(),
        )
        return self

    def _n_wanted(self, problem, X, y, sample_weight):
        """Return how many features to rank."""
        if isinstance(self.n_features_to_select, str) and self.n_features_to_select == "auto":
            self.size_curve_ = select_k(self, X, y, sample_weight=sample_weight, n_jobs=self.n_jobs)
            return self.size_curve_.size
        return check_n_features(self.n_features_to_select, problem.n_features, self._words)

    @abstractmethod
    def _rank(self, problem, n_wanted):
        """Return the Decomposition and the Walk, and set further learned attributes."""

    def _trace_details(self):
        """Return further columns of the trace, after `_rank`."""
        return {}

    def _accepts(self):
        """Return what `make_problem` lets through."""
        return {"accept_sparse": True, "accept_infinite": False, "accept_nominal": False}

    def transform(self, X):
        """Reduce X to the selected features, in the order of the columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        X_selected : array-like of shape (n_samples, n_selected)
            A data frame if ``set_output`` asks for one; its columns keep their types.
        """
        # scikit-learn passes pandas frames through as they are; polars frames it would convert.
        wants_polars = _get_output_config("transform", estimator=self)["dense"] == "polars"
        if wants_polars and hasattr(X, "with_columns"):
            chosen = self.get_support(indices=True)
            validate_data(self, X, reset=False, skip_check_array=True)
            return X[:, chosen.tolist()]
        return super().transform(X)

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self._accepts()["accept_sparse"]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = self._accepts()["accept_nominal"]
        return tags


class SampleWeightMixin:
    """Gives a selector a ``fit`` with sample weights."""

    def fit(self, X, y, sample_weight=None):
        """Rank the features and select the first of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; every class needs a positive total.

        Returns
        -------
        self : object
        """
        return self._fit(X, y, sample_weight)


def _pair_auc(problem, ranking, n_jobs):
    pairs = Decomposition("one-vs-one", problem.n_classes)
    blocks = [ranking[start : start + 16] for start in range(0, len(ranking), 16)]
    parts = run_blocks(lambda chosen: auc_relevance(problem, pairs, chosen), blocks, n_jobs)
    pair_auc = np.concatenate([part for _, part in parts])
    if problem.is_nominal is not None:
        pair_auc[problem.is_nominal[ranking]] = np.nan  # categories have no order
    return pair_auc


def _feature_names(problem):
    if problem.feature_names is not None:
        return problem.feature_names
    return np.array([f"x{column}" for column in range(problem.n_features)])


def check_n_features(n_features_to_select, n_features, words='"all" or "auto"'):
    """Return how many features to select, as a number in [1, n_features].

    `words` are the words that the error names.
    """
    wanted = n_features_to_select
    if isinstance(wanted, str) and wanted == "all":
        return n_features
    if isinstance(wanted, Integral) and not isinstance(wanted, bool | np.bool_):
        if not 1 <= wanted <= n_features:
            raise MaucError(
                f"n_features_to_select must be in [1, {n_features}] (the number of features), "
                f"got {wanted}."
            )
        return int(wanted)
    if isinstance(wanted, Real) and not isinstance(wanted, bool | np.bool_):
        if not 0.0 < wanted <= 1.0:
            raise MaucError(
                f"n_features_to_select as a fraction of the features must be in (0, 1], "
                f"got {wanted}."
            )
        return max(1, round(wanted * n_features))
    raise MaucError(f"n_features_to_select must be an int, a fraction, {words}, got {wanted!r}.")


def check_choice(name, value, choices):
    """Return `value` if it is one of the choices, or raise with all of them."""
    if not isinstance(value, str) or value not in choices:
        raise MaucError(
            f"{name} must be one of {', '.join(repr(choice) for choice in choices)}, got {value!r}."
        )
    return value
