"""MAUC of a score matrix (Hand & Till): labels and scores in, the mean over class pairs out."""

from dataclasses import dataclass

import numpy as np

from mauc.exceptions import AbsentClassWarning, MaucError, listed, warn_user
from mauc.extras import optional_import
from mauc.metrics.class_pairs import ClassPairs, score_columns
from mauc.metrics.score_order import ordered_scores
from mauc.printing import MAX_ROWS, Printed, SmallTable, number, short_name
from mauc.problem.columns import is_frame
from mauc.problem.decomposition import Decomposition
from mauc.problem.validate import (
    check_no_missing_label,
    check_same_length,
    check_table,
    check_vector,
    check_weights,
)


@dataclass(frozen=True, repr=False)
class PairAUCReport(Printed):
    """AUC of a score matrix on every pair of classes.

    Arrays have shape (n_pairs,); pairs with a class that has no sample are NaN.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Labels in the order of the score columns.
    class_weights : ndarray of shape (n_classes,)
        Samples of each class, or their weight.
    first, second : ndarray
        Places in `classes` of the two classes of a pair.
    auc_first : ndarray
        A_ij: how well column i ranks class i above class j.
    auc_second : ndarray
        A_ji: how well column j ranks class j above class i.
    """

    classes: np.ndarray
    class_weights: np.ndarray
    first: np.ndarray
    second: np.ndarray
    auc_first: np.ndarray
    auc_second: np.ndarray

    @property
    def auc(self):
        """(A_ij + A_ji) / 2 of every pair."""
        return (self.auc_first + self.auc_second) / 2

    @property
    def mauc(self):
        """Mean over the pairs that are present (Eq. 15)."""
        return float(np.mean(self.auc[~np.isnan(self.auc)]))

    @property
    def absent(self):
        """Labels of the classes without a sample."""
        return self.classes[self.class_weights == 0]

    @property
    def n_pairs_absent(self):
        """Number of pairs that could not be scored."""
        return int(np.isnan(self.auc).sum())

    @property
    def names(self):
        """Names of the pairs, such as "a vs b"."""
        return Decomposition("one-vs-one", len(self.classes)).names(self.classes)

    def __len__(self):
        return len(self.first)

    def to_frame(self):
        """Return the report as a pandas DataFrame, one row per pair."""
        pd = optional_import("pandas", "data frames")
        return pd.DataFrame(
            {
                "class_i": self.classes[self.first],
                "class_j": self.classes[self.second],
                "n_i": self.class_weights[self.first],
                "n_j": self.class_weights[self.second],
                "auc_i": self.auc_first,
                "auc_j": self.auc_second,
                "auc": self.auc,
            }
        )

    def printed_parts(self):
        """Return the hardest pairs as a table, and MAUC."""
        order, names = np.argsort(self.auc, kind="stable"), self.names  # NaN last
        rows = [
            [
                short_name(names[pair]),
                *(number(values[pair], gap="absent")
                  for values in (self.auc_first, self.auc_second, self.auc)),
            ]
            for pair in order[:MAX_ROWS]
        ]  # fmt: skip
        line = f"MAUC {self.mauc:.4f} over {len(self) - self.n_pairs_absent} pairs"
        if len(self.absent):
            line += f" ({self.n_pairs_absent} pairs absent: no sample of {listed(self.absent)})"
        return [SmallTable(["pair", "A_ij", "A_ji", "mean"], rows, len(self)), line]


def pair_auc_scores(y_true, y_score, *, labels=None, sample_weight=None):
    """Compute the AUC of a score matrix on every pair of classes.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As in `mauc_score`.

    Returns
    -------
    report : PairAUCReport

    Examples
    --------
    >>> from mauc import pair_auc_scores
    >>> scores = [[3, 0, 0], [1, 2, 0], [2, 2, 0], [0, 3, 0]]
    >>> print(pair_auc_scores(["a", "a", "b", "b"], scores, labels=["a", "b", "c"]))
    pair    A_ij    A_ji    mean
    a vs b  0.7500  0.8750  0.8125
    a vs c  absent  absent  absent
    b vs c  absent  absent  absent
    MAUC 0.8125 over 1 pairs (2 pairs absent: no sample of 'c')
    """
    ST, codes, classes = check_scored(y_true, y_score, labels, sample_weight)
    weights = None if sample_weight is None else check_weights(sample_weight, codes)
    pairs = ClassPairs(codes, classes, weights)
    auc = pairs.auc(ST)
    return PairAUCReport(classes, pairs.totals, pairs.first, pairs.second, *auc)


def mauc_score(y_true, y_score, *, labels=None, sample_weight=None):
    r"""Compute MAUC, the multi-class AUC of Hand and Till.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_score : array-like of shape (n_samples, n_classes) or (n_samples,)
        Scores, one column per class; larger means more likely. They need not be probabilities:
        decision values do. One-dimensional scores are those of the second of two classes.
    labels : array-like of shape (n_classes,), optional
        The label of each score column. Needed if a class has no sample in `y_true` or if the
        columns are not in sorted order of the labels; a data frame whose columns have the names
        of the classes needs none.
    sample_weight : array-like of shape (n_samples,), optional
        A pair of samples counts with the product of their weights.

    Returns
    -------
    mauc : float
        In [0, 1]; 1/2 for scores without information. Pairs with a class that has no sample are
        left out, with an `AbsentClassWarning`.

    See Also
    --------
    pair_auc_scores : The values of the single pairs.

    Notes
    -----
    With :math:`A_{ij}` the AUC of column i on the samples of classes i and j (Eq. 15 of [1]_),

    .. math:: M = \frac{2}{c (c - 1)} \sum_{i < j} \frac{A_{ij} + A_{ji}}{2}

    which is ``roc_auc_score(multi_class="ovo", average="macro")`` where scikit-learn accepts
    the input.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    .. [2] D. J. Hand, R. J. Till, "A Simple Generalisation of the Area Under the ROC Curve for
       Multiple Class Classification Problems", Machine Learning 45, 2001.

    Examples
    --------
    >>> from mauc import mauc_score
    >>> mauc_score([0, 0, 1, 2], [[9, 1, 0], [4, 5, 1], [2, 6, 2], [0, 1, 8]])
    1.0
    """
    report = pair_auc_scores(y_true, y_score, labels=labels, sample_weight=sample_weight)
    warn_of_absent(report.classes, report.class_weights)
    return report.mauc


def warn_of_absent(classes, totals):
    """Warn if classes have no sample: pairs with them are left out of the mean."""
    absent, n_present = classes[totals == 0], int((totals > 0).sum())
    if len(absent):
        warn_user(
            f"{len(absent)} of {len(classes)} classes have no sample ({listed(absent)}): MAUC is "
            f"the mean over {n_present * (n_present - 1) // 2} of "
            f"{len(classes) * (len(classes) - 1) // 2} pairs.",
            AbsentClassWarning,
        )


def check_scored(y_true, y_score, labels, sample_weight=None):
    """Validate labels and scores.

    Returns
    -------
    ST : ndarray of shape (n_classes, n_samples), float64
        Score columns, contiguous.
    codes : ndarray of shape (n_samples,), int32
        Column of each sample's class.
    classes : ndarray of shape (n_classes,)
        Label of each column.
    """
    check_no_missing_label(y_true, "y_true")
    y_true = check_vector(y_true, "y_true")
    labels = _named_labels(y_true, y_score, labels)
    table = ordered_scores(y_score)
    is_vector = np.ndim(y_score) == 1
    scores = check_table(table, name="y_score", dtype=np.float64, accept_infinite=True)
    if not is_vector and scores.shape[1] == 1:
        raise MaucError("y_score must have a column for each class, got 1 column.")
    ST = score_columns(scores[:, 0] if is_vector else scores, "y_score")
    check_same_length(y_true, ST.T, sample_weight)
    classes, codes = _encode(y_true, labels, len(ST))
    return ST, codes, classes


def _named_labels(y_true, y_score, labels):
    """Return the labels that the column names of a frame of scores say, or those given.

    Names count where they are those of all classes, in any order, as text; other names, such as
    "p0", say nothing.
    """
    if not is_frame(y_score):
        return labels
    names = [str(name) for name in y_score.columns]
    present = np.unique(y_true) if labels is None else check_vector(labels, "labels")
    by_name = {str(label): label for label in present}
    if len(set(names)) < len(names) or not set(by_name) <= set(names):
        return labels
    if labels is not None:
        if names != [str(label) for label in present]:
            raise MaucError(
                f"labels must name the columns of y_score in their order, got {listed(present)} "
                f"for columns {listed(names)}; leave labels out, or sort the columns."
            )
        return labels
    if set(names) == set(by_name):
        return np.array([by_name[name] for name in names])
    if all(isinstance(label, str) for label in present.tolist()):
        return np.array(names)  # a class of the columns may have no sample
    return labels


def _encode(y_true, labels, n_columns):
    """Return the label of each column and the column of each sample."""
    present, codes = np.unique(y_true, return_inverse=True)
    if labels is None:
        if len(present) != n_columns:
            raise MaucError(
                f"y_score must have a column for each class in y_true ({len(present)}), "
                f"got {n_columns}; if classes are absent from y_true, give labels=."
            )
        return present, codes.astype(np.int32)
    labels = check_vector(labels, "labels")
    if len(labels) != n_columns:
        raise MaucError(
            f"labels must name the {n_columns} columns of y_score, got {len(labels)} labels."
        )
    sorted_labels, places = np.unique(labels, return_index=True)
    if len(sorted_labels) != len(labels):
        raise MaucError("labels must be distinct.")
    unknown = np.setdiff1d(present, sorted_labels)
    if len(unknown):
        raise MaucError(f"y_true must hold only labels= labels, got also {listed(unknown)}.")
    columns = places[np.searchsorted(sorted_labels, present)]
    return labels, columns[codes].astype(np.int32)
