"""What all selectors share: X, y -> Problem -> ranking of K features -> support."""

from abc import abstractmethod
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from mauc.exceptions import MaucError
from mauc.problem import make_problem


class RankingSelector(SelectorMixin, BaseEstimator):
    """Base of the selectors: ranks features by `_rank` and keeps the first K.

    A subclass stores its parameters, ``n_features_to_select`` among them, and implements
    ``_rank(problem, n_wanted)``, which returns the selected columns in the order of
    selection and sets further learned attributes.
    """

    def fit(self, X, y, sample_weight=None):
        """Rank the features and select the first of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; a pair of samples counts with their product.

        Returns
        -------
        self : object
        """
        problem = make_problem(self, X, y, sample_weight)
        n_wanted = check_n_features(self.n_features_to_select, problem.n_features)
        self.classes_ = problem.classes
        self.ranking_ = self._rank(problem, n_wanted)
        self.support_ = np.zeros(problem.n_features, bool)
        self.support_[self.ranking_] = True
        return self

    @abstractmethod
    def _rank(self, problem, n_wanted):
        """Return the columns selected, in order, and set further learned attributes."""

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def check_n_features(n_features_to_select, n_features):
    """Return how many features to select, as a number in [1, n_features]."""
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
    raise MaucError(
        f'n_features_to_select must be an int, a fraction or "all", got {wanted!r}.'
    )


def check_choice(name, value, choices):
    """Return `value` if it is one of the choices, or raise with all of them."""
    if value not in choices:
        raise MaucError(
            f"{name} must be one of {', '.join(repr(choice) for choice in choices)}, got {value!r}."
        )
    return value
