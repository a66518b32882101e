"""Every selector with its variants, for laws that hold for all of them."""

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.base import clone

from mauc import FCBF, JMI, MDFS, MRMR, ReliefF, SubproblemSelector
from mauc.registry import SELECTORS as METHODS


def with_seed(estimator):
    """Return an estimator whose draws, if there are any, are alike in every fit."""
    has_seed = "random_state" in estimator.get_params()
    if "n_resamples" in estimator.get_params():
        estimator.set_params(n_resamples=4)
    return estimator.set_params(random_state=0) if has_seed else estimator


SELECTORS = {name: with_seed(entry()) for name, entry in METHODS.items()} | {
    "mdfs hardest": MDFS(schedule="hardest", ties="mauc"),
    "mrmr mdl": MRMR(binning="mdl"),
    "mrmr width": MRMR(binning="equal_width"),
    "mrmr frequency": MRMR(binning="equal_frequency", n_bins=4),
    "mrmr quotient": MRMR(criterion="quotient", binning="equal_frequency"),
    "relieff log": ReliefF(n_iterations="log", random_state=0),
    "jmi mdl": JMI(binning="mdl"),
    "fcbf frequency": FCBF(binning="equal_frequency", threshold=0.01),
    "pairs by share": SubproblemSelector(schedule="rand_robin", random_state=0),
    "pairs su": SubproblemSelector(relevance="su", schedule="round_robin"),
    "pairs ig": SubproblemSelector(relevance="ig", schedule="round_robin"),
    "pairs fsdd": SubproblemSelector(relevance="fsdd", schedule="round_robin"),
    "rest in turn": SubproblemSelector(decomposition="one-vs-rest", schedule="round_robin"),
    "rest anova": SubproblemSelector(
        relevance="anova", decomposition="one-vs-rest", schedule="round_robin"
    ),
    "whole": SubproblemSelector(decomposition="whole", random_state=0),
}
#: those that rank by AUC: it is counted, so a weight of 3 and three rows agree to the bit
COUNTED = [
    name
    for name in SELECTORS
    if SELECTORS[name].accepts.infinite and hasattr(SELECTORS[name], "recipe")
]
#: what only some selectors learn
LEARNED = ("predicted_mauc_", "separations_", "shrinkage_", "prior_", "rounds_", "frequencies_")
SPARSE = [name for name, selector in SELECTORS.items() if selector.accepts.sparse]


def integer_table(seed, n_samples=60, n_features=10):
    """Return small whole numbers of four classes, which every type holds, with ties and a copy."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_samples) % 4)
    X = rng.integers(0, 20, (n_samples, n_features)) + rng.integers(0, 12, (4, n_features))[y]
    X[:, n_features // 2] = X[:, 1]
    return X, y


def fit_all(selector, X, y, sample_weight=None, **options):
    """Fit a copy that ranks all features."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return clone(selector).set_params(n_features_to_select="all", **options).fit(X, y, **weights)


def assert_same_fit(one, other, *, same_names=False):
    """Check that two fits agree to the bit."""
    assert_array_equal(one.ranking_, other.ranking_)
    assert_array_equal(one.support_, other.support_)
    assert_array_equal(one.scores_, other.scores_)
    assert_array_equal(one.pair_auc_, other.pair_auc_)
    assert_array_equal(one.trace_.subproblems, other.trace_.subproblems)
    assert_array_equal(one.trace_.ranks, other.trace_.ranks)
    assert_array_equal(one.trace_.scores, other.trace_.scores)
    for name in LEARNED:
        if hasattr(one, name):
            assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    if same_names:
        assert list(one.trace_.feature_names) == list(other.trace_.feature_names)
