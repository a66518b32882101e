"""FSDD: one list, by the distance discriminant."""

import numpy as np

from mauc.checks import check_choice, check_real
from mauc.exceptions import ConstantInputWarning, warn_user
from mauc.selectors.base import SampleWeightMixin
from mauc.selectors.lists import ListSelector, Recipe


class FSDD(SampleWeightMixin, ListSelector):
    r"""Rank features by the distance discriminant: spread between classes less that within.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    beta : float, default=2.0
        Weight of the spread within classes.
    constants : {"last", "first"}, default="last"
        Where constant features rank: they tell nothing, so last. The published values on MNIST
        are those of a sort that their 0/0 misled, see docs/reproduction/fsdd_mnist.md.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns, best first; equal scores go by column.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Distance discriminant of every feature; -inf (inf with ``constants="first"``) for a
        constant one.
    trace_ : SelectionTrace
        For each step the feature, its rank and its score.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair.
    decomposition_ : Decomposition
        The sub-problems.
    subproblem_names_ : list of str
        Their names.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    Notes
    -----
    :math:`[\sigma''^2 - \beta \sum_k (n_k / n) \sigma_k'^2] / \sigma^2` (Eq. 8-11 of [1]_) with
    the variance of the class means, of class k and of all, the latter two over n - 1. Missing
    values are left out of their feature; weights are frequencies.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import FSDD
    >>> X, y = load_iris(return_X_y=True)
    >>> FSDD(2).fit(X, y).ranking_
    array([2, 3])
    """

    preset = Recipe("whole", "fsdd", "round_robin")
    relevance_options = ("beta", "constants")

    def __init__(
        self, n_features_to_select=0.5, *, beta=2.0, constants="last", n_jobs=None, verbose=False
    ):
        self.n_features_to_select = n_features_to_select
        self.beta = beta
        self.constants = constants
        self.n_jobs = n_jobs
        self.verbose = verbose

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        check_real("beta", self.beta)
        check_choice("constants", self.constants, ("last", "first"))
        return super().check_options()

    def _rank(self, problem, n_wanted, recipe):
        ranked = super()._rank(problem, n_wanted, recipe)
        n_constant = int(np.isinf(ranked.walk.scores).sum())
        if n_constant:
            why = "there are no others left" if self.constants == "last" else "they rank first"
            warn_user(
                f"{n_constant} of the {n_wanted} selected features are constant: {why}.",
                ConstantInputWarning,
            )
        return ranked
