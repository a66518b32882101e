"""AUC on every pair of classes: labels once, then score columns in, AUCs of the pairs out."""

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real

import numpy as np
from scipy import sparse

from mauc.data.columns import is_frame, is_wide
from mauc.data.decomposition import Decomposition
from mauc.data.validate import (
    check_no_missing_label,
    check_same_length,
    check_table,
    check_vector,
    check_weights,
    scale_by_class,
)
from mauc.engine.ordered import class_wins
from mauc.exceptions import AbsentClassWarning, MaucError, UndefinedMAUCError, listed, warn_user
from mauc.extras import optional_import
from mauc.results import MAX_ROWS, Printed, SmallTable, number, short_name


class ClassPairs:
    """The class pairs of labelled samples: what the AUCs of many score matrices share.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,), int32
        Class of each sample, as a place in `classes`.
    classes : ndarray of shape (n_classes,)
        Labels of the score columns.
    weights : ndarray of shape (n_samples,), float64, optional
        All 1 by default; a sample of weight 0 counts as absent.
    name : str, default="y_true"
        Name of the labels, for error messages.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,), int32
    weights : ndarray of shape (n_samples,), float64
        Scaled within each class: AUCs do not depend on it, and no product of weights overflows.
    scaled_totals : ndarray of shape (n_classes,)
        Their sums.
    totals : ndarray of shape (n_classes,)
        Samples of each class, or their weight.
    first, second : ndarray of shape (n_pairs,)
        Places in `classes` of the two classes of each pair.
    is_present : ndarray of shape (n_pairs,), bool
        Whether both classes have samples.
    """

    def __init__(self, codes, classes, weights=None, *, name="y_true"):
        self.codes = codes
        self.totals = np.bincount(codes, weights, minlength=len(classes)).astype(np.float64)
        if weights is None:
            self.weights, self.scaled_totals = np.ones(len(codes)), self.totals
        else:
            self.weights, _ = scale_by_class(weights, codes, len(classes))
            self.scaled_totals = np.bincount(codes, self.weights, minlength=len(classes))
        if (self.totals > 0).sum() < 2:
            raise UndefinedMAUCError(
                f"MAUC compares classes: {name} must hold samples of at least 2 classes, "
                f"got only {listed(classes[self.totals > 0]) or 'none'}."
            )
        self.first, self.second = np.triu_indices(len(classes), 1)
        scale = 2 * self.scaled_totals[self.first] * self.scaled_totals[self.second]
        self.is_present = scale > 0
        self._scale = np.where(self.is_present, scale, np.nan)

    @classmethod
    def of_test(cls, y_test, classes, weights=None):
        """Return the pairs of a test part.

        Parameters
        ----------
        y_test : ndarray of shape (n_samples,)
            Labels.
        classes : ndarray of shape (n_classes,)
            Labels of the training part, sorted: those of the score columns.
        weights : ndarray of shape (n_samples,), float64, optional
        """
        unknown = np.setdiff1d(y_test, classes)
        if len(unknown):
            raise MaucError(
                f"y_test must hold only classes of y_train, got also {listed(unknown)}."
            )
        codes = np.searchsorted(classes, y_test).astype(np.int32)
        return cls(codes, classes, weights, name="y_test")

    def auc(self, ST):
        """Return A_ij and A_ji of every pair, NaN where a class is absent.

        Parameters
        ----------
        ST : ndarray of shape (n_classes, n_samples), float64
            Score columns, contiguous.
        """
        wins = np.empty((len(ST), len(ST)))
        class_wins(ST, np.argsort(ST, axis=1), self.codes, self.weights, wins)
        return (
            wins[self.first, self.second] / self._scale,
            wins[self.second, self.first] / self._scale,
        )

    def mauc(self, scores):
        """Return what `mauc.mauc_score` returns, to the bit.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) of the second of two
            classes
        """
        auc_first, auc_second = self.auc(score_columns(scores, "the scores of the classifier"))
        return float(np.mean(((auc_first + auc_second) / 2)[self.is_present]))


def score_columns(scores, name):
    """Return score columns as contiguous rows, shape (n_classes, n_samples), float64.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes), or (n_samples,) of the second of two classes
    name : str
        For the error message.
    """
    ST = np.stack((-scores, scores)) if scores.ndim == 1 else scores.T
    ST = np.ascontiguousarray(ST, dtype=np.float64)
    if np.isnan(ST).any():
        raise MaucError(f"{name} must not contain NaN: a sample without a score has no rank.")
    return ST


def ordered_scores(scores):
    """Return a table of scores; columns whose order float64 would not keep become their ranks.

    AUCs depend on the order alone. Such columns are those of whole numbers above 2**53, of
    extended precision, and of Python's long integers, fractions and decimals.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_samples, n_classes), or (n_samples,)

    Returns
    -------
    table : array-like or data frame of shape (n_samples, n_columns)
        The input itself if nothing would be lost. It is not validated.
    """
    if sparse.issparse(scores):
        return scores
    if is_frame(scores):
        columns = [_values(_column(scores, j)) for j in range(scores.shape[1])]
        if not any(map(_loses_order, columns)) or not all(map(_is_numeric, columns)):
            return scores
        return np.column_stack([_in_order(column) for column in columns])
    try:
        values = _values(scores)
    except ValueError as error:
        raise MaucError("y_score must have rows of the same length.") from error
    if values.ndim == 1:
        values = values[:, np.newaxis]
    if values.ndim != 2 or not _loses_order(values):
        return values
    return np.column_stack([_in_order(column) for column in values.T])


def _column(frame, j):
    return frame.iloc[:, j] if hasattr(frame, "iloc") else frame.to_series(j)


def _values(column):
    """Return an array; nullable numbers of pandas keep their type if none is missing."""
    kind = getattr(getattr(column, "dtype", None), "numpy_dtype", None)
    if kind is None or kind.kind not in "biuf":
        return np.asarray(column)
    if column.isna().any():
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.to_numpy(dtype=kind)


def _is_numeric(values):
    return values.dtype.kind in "biuf" or _holds_numbers(values)


def _holds_numbers(values):
    return values.dtype.kind == "O" and all(isinstance(v, Real | Decimal) for v in values.ravel())


def _loses_order(values):
    """Whether float64 does not hold the values."""
    if values.size == 0:
        return False
    if values.dtype.kind in "iu":
        return is_wide(values)
    if values.dtype.kind == "f":
        return values.dtype.itemsize > 8
    return _holds_numbers(values)


def _in_order(column):
    """Return a column as float64, by ranks if some of its values would be rounded."""
    if not _loses_order(column):
        return column.astype(np.float64)
    is_missing = np.array(column != column, bool)
    ranks = np.full(len(column), np.nan)
    ranks[~is_missing] = np.unique(column[~is_missing], return_inverse=True)[1]
    return ranks


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
