"""Parameters and attributes that estimators share, described once for all their docstrings.

A docstring has a line with their names in braces, each of them expanded in place. Lines below it
that are indented further continue the description of the last one:

    {n_features_to_select}
    {categorical_features}
        Each category is a state.
    {n_jobs, verbose}
"""

import re
from typing import TypeVar

_Documented = TypeVar("_Documented")

_LINE = re.compile(r"^( *)\{(\w+(?:, \w+)*)\}$", re.MULTILINE)

_TEXTS = """\
n_features_to_select : int, float, "all", "auto", "fdr" or None, default=None
    How many features to select: a number, a fraction of all, all of them (a full ranking),
    as many as `mauc.select_k` finds enough, whose curve is then `size_curve_`, those that separate
    some pair of classes significantly ("fdr"), or half of them (None).

fdr_alpha : float, default=0.05
    Of "fdr": the share of the selected features that may be expected to separate no classes, by
    the tests of `mauc.pair_tests`, which are of location: features that differ between classes in
    spread alone are left out. Where no feature is significant, one is selected, with a warning.

categorical_features : array-like of bool, int or str, optional
    Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
    in a data frame are nominal anyway.

missing : {"tie", "side"}, default="tie"
    What a missing number is to the AUC: tied with every value, or below or above all of them,
    whichever separates the two classes better, as trees do; see docs/methods/selectors.md.

pair_weight : dict, array-like of shape (n_classes, n_classes), data frame or str, optional
    What each pair of classes counts, such as the cost of confusing the two: ``{("a", "b"): 5}``
    (others count 1), a symmetric table, or "prior", the product of the class frequencies. A pair
    of weight 0 does not count, and its features are not sought.

keep : list of str or int, or mask, optional
    Features that are always selected, first and in this order.

exclude : list of str or int, or mask, optional
    Features that are never selected.

feature_groups : dict of lists, or list of lists, optional
    Features that are selected together or not at all, such as the columns of one assay: a group
    counts by what its features gain together, per feature or per cost. A number of features that
    a group exceeds is reached without it. With groups, the first k of a ranking are a choice only
    where they end with a group.

feature_costs : dict, Series or array-like of shape (n_features,), optional
    What each feature costs: gains count per cost. The name of a group has a cost that is paid
    once, in addition to those of its features, which may then be left out.

budget : float, optional
    What the selected features may cost in all. They are sought by gain per cost and by gain alone,
    and the better choice is taken. With None for their number, the budget alone limits it.

cv : int, splitter or iterable of splits, default=5
    Folds: their number, stratified by class, and by group where there are groups; a splitter of
    scikit-learn, which gets the labels and groups, such as GroupKFold, LeaveOneGroupOut or
    TimeSeriesSplit; or pairs of training and test rows.

groups : array-like of shape (n_samples,), optional
    What rows belong to, such as a patient: those of a group are on one side of every split.

n_bins : int, default=10
    Bins of "equal_width" and "equal_frequency".

random_state : int, SeedSequence, Generator, RandomState or None, default=None
    Pass an int or a SeedSequence for reproducible results; the others are advanced.

n_jobs : int, optional
    Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
    does not depend on it.

verbose : bool, default=False
    Whether to show on standard error how far a fit is that takes longer than two seconds.

ranking_ : ndarray of shape (n_selected,)
    Selected columns in the order of selection. Rankings are nested: the first 10 are the
    choice for 10.

support_ : ndarray of shape (n_features,), bool
    Mask of the selected columns.

scores_ : ndarray of shape (n_features,)

trace_ : SelectionTrace
    For each step the feature, the list that it was drawn from, and its rank and score there.

pair_auc_ : ndarray of shape (n_selected, n_pairs)
    Folded AUC of the selected features, in the order of `ranking_`, on every class pair; of
    nominal ones as in `MDFS`.

error_bound_ : ndarray of shape (n_selected, n_pairs)
    Largest possible error of `pair_auc_`; only after `partial_fit` or `fit_sketch`.

sketch_ : PairAUCSketch
    The sketch, of all features; only then.

decomposition_ : Decomposition
    The sub-problems.

subproblem_names_ : list of str
    Their names, such as "setosa vs virginica".

classes_ : ndarray of shape (n_classes,)
    The labels, sorted.

n_features_in_ : int
    Number of features seen in fit.

feature_names_in_ : ndarray of shape (n_features,)
    Their names; only for data frames with string column names.
"""

#: descriptions by name
TEXTS = {text.split(" : ")[0]: text.strip() for text in _TEXTS.split("\n\n")}


def insert_texts(documented: _Documented) -> _Documented:
    """Expand the names in braces in the docstring of a class or function, and return it."""

    def expand(line):
        indent, names = line.groups()
        text = "\n".join(TEXTS[name] for name in names.split(", "))
        return indent + text.replace("\n", "\n" + indent)

    if documented.__doc__:  # python -OO removes docstrings
        documented.__doc__ = _LINE.sub(expand, documented.__doc__)
    return documented
