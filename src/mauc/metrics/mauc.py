"""MAUC of classifier scores, the AUCs of the class pairs behind it, AUC mu, and a scorer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest

from mauc.checks import check_choice
from mauc.data.arguments import MatrixLike, PairWeight, TableLike
from mauc.data.columns import is_frame
from mauc.data.door import check_same_length, check_table
from mauc.data.doubles import warn_of_merged_values
from mauc.data.labels import check_categories, check_no_missing_label
from mauc.data.problem import Decomposition
from mauc.data.weights import (
    PairWeights,
    check_weights,
    class_table,
    pair_mean,
    scale_by_class,
)
from mauc.engine.ordered import class_wins
from mauc.exceptions import (
    AbsentClassWarning,
    MaucError,
    UndefinedMAUCError,
    format_labels,
    warn_user,
)
from mauc.layout import Layout, plain_layout
from mauc.metrics.score_names import match_names, sum_to_one
from mauc.results import MAX_ROWS, Result, number, plural, short_name

_RESPONSES = ("predict_proba", "decision_function")


def mauc_score(
    y_true: ArrayLike,
    y_score: TableLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "weighted"] = "macro",
    pair_weight: PairWeight = None,
) -> float:
    r"""Compute MAUC, the multi-class AUC of Hand and Till.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_score : array-like of shape (n_samples, n_classes) or (n_samples,)
        Scores, one column per class; larger means more likely. They need not be probabilities:
        decision values do. One-dimensional scores are those of the second of two classes.
    labels : array-like of shape (n_classes,), optional
        The label of each score column; by default those of `y_true` in sorted order. A data
        frame whose columns are named as the classes, or score_<class> or proba_<class>, is taken
        by name in any order and needs none; names of only some of the classes are an error, and
        names of none leave the sorted order.
    sample_weight : array-like of shape (n_samples,), optional
        A pair of samples counts with the product of their weights.
    average : {"macro", "weighted"}, default="macro"
        As in scikit-learn: the plain mean of the pairs, or ``pair_weight="prevalence"``.
    pair_weight : dict, array-like of shape (n_classes, n_classes), data frame or str, optional
        What each class pair counts, such as the cost of confusing the two; 0 leaves it out. A dict
        ``{("a", "b"): 5}`` leaves others at 1; an array is symmetric, in the order of the score
        columns; a data frame has the labels as columns and index. With n_i the samples of class i,
        or their weight, "prior" is n_i n_j (of every two samples alike), "prevalence" n_i + n_j.

    Returns
    -------
    mauc : float
        In [0, 1]; 1/2 for scores without information. Pairs with a class that has no sample are
        left out, with an `AbsentClassWarning` unless their weight is 0.

    See Also
    --------
    pair_auc_scores : The values of the single pairs.

    Notes
    -----
    With :math:`A_{ij}` the AUC of column i on the samples of classes i and j (Eq. 15 of [1]_),

    .. math:: M = \frac{2}{c (c - 1)} \sum_{i < j} \frac{A_{ij} + A_{ji}}{2}

    which is ``roc_auc_score(multi_class="ovo", average="macro")`` where scikit-learn accepts
    the input; with `pair_weight` it is the weighted mean of :math:`(A_{ij} + A_{ji}) / 2`.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    .. [2] D. J. Hand, R. J. Till, "A Simple Generalisation of the Area Under the ROC Curve for
       Multiple Class Classification Problems", Machine Learning 45, 2001.

    Examples
    --------
    >>> from mauc import mauc_score
    >>> y, scores = ["a", "a", "b", "c"], [[9, 1, 0], [4, 5, 1], [2, 6, 9], [0, 1, 8]]
    >>> mauc_score(y, scores), mauc_score(y, scores, pair_weight={("c", "b"): 2})
    (0.8333333333333334, 0.75)
    """
    if check_choice("average", average, ("macro", "weighted")) == "weighted":
        if pair_weight is not None:
            raise MaucError('average must be "macro" with pair_weight=, got "weighted".')
        pair_weight = "prevalence"
    ST, _, pairs = check_scored(y_true, y_score, labels, sample_weight, pair_weight)
    pairs.warn_of_absent()
    return pairs.mean(np.mean(pairs.auc(ST), axis=0))


def auc_mu_score(
    y_true: ArrayLike,
    y_score: Any,
    weights: Any = None,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Compute AUC mu, the multi-class AUC of Kleiman and Page.

    Samples of two classes are ranked by the difference of their scores, where `mauc_score` ranks
    by one column at a time: columns must have the same scale.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight
        As in `mauc_score`; scores are finite.
    weights : array-like of shape (n_classes, n_classes) or data frame, optional
        Costs of errors, as LightGBM's ``auc_mu_weights``: ``weights[i, j]`` is that of predicting
        class i where j is true; 0 on the diagonal, positive elsewhere. By default all are equal.

    Returns
    -------
    auc_mu : float
        In [0, 1]; pairs with a class that has no sample are left out, with an `AbsentClassWarning`.

    Notes
    -----
    With W the weights and p the scores of a sample, let :math:`d_{ij}(p) = (W_j - W_i) \cdot p`,
    which is :math:`p_i - p_j` by default. The AUC of a pair is [1]_

    .. math:: S(i, j) = \frac{1}{n_i n_j} \sum_{a \in i, b \in j} [d_{ij}(p_a) > d_{ij}(p_b)]

    where a tie counts 1/2, and AUC mu its mean over the pairs. LightGBM takes raw scores.

    References
    ----------
    .. [1] R. Kleiman, D. Page, "AUC mu: A Performance Metric for Multi-Class Machine Learning
       Models", ICML 2019.

    Examples
    --------
    >>> from mauc import auc_mu_score
    >>> auc_mu_score(["a", "a", "b", "c"], [[8, 1, 1], [3, 4, 3], [4, 5, 1], [1, 2, 7]])
    0.9166666666666666
    """
    ST, classes, pairs = check_scored(y_true, y_score, labels, sample_weight, is_ordinal=False)
    is_error = ~np.eye(len(ST), dtype=bool)
    costs = class_table(is_error if weights is None else weights, classes, "weights")
    if not (np.isfinite(costs) & np.where(is_error, costs > 0, costs == 0)).all():
        raise MaucError("weights must be finite, 0 on the diagonal and positive elsewhere.")
    pairs.warn_of_absent()
    auc = np.full(len(pairs.first), np.nan)
    for pair in np.flatnonzero(pairs.is_present):
        first, second = pairs.first[pair], pairs.second[pair]
        rows = np.flatnonzero((pairs.codes == first) | (pairs.codes == second))
        codes = (pairs.codes[rows] == second).astype(np.int32)
        two = ClassPairs(codes, np.arange(2), pairs.weights[rows])
        auc[pair] = two.mauc((costs[first] - costs[second]) @ ST[:, rows])
    return pairs.mean(auc)


def pair_auc_scores(
    y_true: ArrayLike,
    y_score: Any,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pair_weight: PairWeight = None,
) -> "PairAUCReport":
    """Compute the AUC of a score matrix on every pair of classes.

    Parameters
    ----------
    y_true, y_score, labels, sample_weight, pair_weight
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
    MAUC 0.8125 over 1 pair (2 pairs absent: no sample of 'c')
    """
    ST, classes, pairs = check_scored(y_true, y_score, labels, sample_weight, pair_weight)
    weights = pairs.pair_weights, pair_weight is not None
    return PairAUCReport(classes, pairs.totals, pairs.first, pairs.second, *pairs.auc(ST), *weights)


@dataclass(frozen=True, repr=False)
class PairAUCReport(Result):
    """AUC of a score matrix on every pair of classes.

    Parameters
    ----------
    classes, class_weights : ndarray of shape (n_classes,)
        Labels in the order of the score columns, and samples of each, or their weight.
    first, second : ndarray of shape (n_pairs,)
        Indices in `classes` of the two classes of a pair.
    auc_first, auc_second : ndarray of shape (n_pairs,)
        A_ij and A_ji: how well column i ranks class i above class j, and column j class j above
        class i; NaN for pairs with a class that has no sample.
    pair_weights : ndarray of shape (n_pairs,)
        Shares of the pairs in MAUC, 0 for absent ones; shown if `is_weighted`.
    is_weighted : bool
    """

    classes: np.ndarray
    class_weights: np.ndarray
    first: np.ndarray
    second: np.ndarray
    auc_first: np.ndarray
    auc_second: np.ndarray
    pair_weights: np.ndarray
    is_weighted: bool

    @property
    def auc(self) -> np.ndarray:
        """(A_ij + A_ji) / 2 of every pair."""
        return (self.auc_first + self.auc_second) / 2

    @property
    def mauc(self) -> float:
        """Mean over the pairs that are present (Eq. 15), by their weights."""
        return float(pair_mean(self.auc, self.pair_weights))

    @property
    def absent(self) -> np.ndarray:
        """Labels of the classes without a sample."""
        return self.classes[self.class_weights == 0]

    @property
    def n_pairs_absent(self) -> int:
        """Number of pairs that could not be scored."""
        return int(np.isnan(self.auc).sum())

    @property
    def names(self) -> list[str]:
        """Names of the pairs, such as "a vs b"."""
        return Decomposition("one-vs-one", len(self.classes)).names(self.classes)

    def __len__(self) -> int:
        return len(self.first)

    def frame_columns(self) -> dict[str, np.ndarray]:
        """Return the columns of `to_frame`: classes, their weights and AUCs, one row per pair."""
        columns = {
            "class_i": self.classes[self.first],
            "class_j": self.classes[self.second],
            "n_i": self.class_weights[self.first],
            "n_j": self.class_weights[self.second],
            "auc_i": self.auc_first,
            "auc_j": self.auc_second,
            "auc": self.auc,
        }
        return columns | ({"weight": self.pair_weights} if self.is_weighted else {})

    def printed_parts(self) -> Sequence[str | Layout]:
        """Return the hardest pairs as a table, and MAUC."""
        order, names = np.argsort(self.auc, kind="stable"), self.names  # NaN last
        header, values = ["A_ij", "A_ji", "mean"], [self.auc_first, self.auc_second, self.auc]
        if self.is_weighted:
            header, values = [*header, "weight"], [*values, self.pair_weights]
        rows = [
            [short_name(names[pair]), *(number(one[pair], missing="absent") for one in values)]
            for pair in order[:MAX_ROWS]
        ]
        table = plain_layout(["pair", *header], rows, len(self))
        return [self.summary] if len(self) == 1 else [table, self.summary]

    @property
    def summary(self) -> str:
        """MAUC in one line; of two classes the AUC, and those by the scores of each that it has."""
        if len(self) == 1:
            both = [f"{one[0]:.4f}" for one in (self.auc_first, self.auc_second)]
            parts = "" if len(set(both)) == 1 else f"; mean of A_ij {both[0]} and A_ji {both[1]}"
            return f"AUC {self.mauc:.4f} ({short_name(self.names[0])}{parts})"
        n_absent, n_counted = self.n_pairs_absent, int(np.count_nonzero(self.pair_weights))
        line = (
            f"{'weighted ' * self.is_weighted}MAUC {self.mauc:.4f} over {plural(n_counted, 'pair')}"
        )
        if n_absent:
            line += (
                f" ({plural(n_absent, 'pair')} absent: no sample of {format_labels(self.absent)})"
            )
        return line


class _Scorer:
    """A scorer, as `make_mauc_scorer` describes it."""

    def __init__(self, response_method: tuple[str, ...], pair_weight: PairWeight) -> None:
        self._response_method, self._pair_weight = response_method, pair_weight
        self._request = MetadataRequest(owner=type(self).__name__)
        self._request.score.add_request(param="sample_weight", alias=None)

    def __repr__(self) -> str:
        weights = "" if self._pair_weight is None else f", pair_weight={self._pair_weight!r}"
        return f"make_mauc_scorer({self._response_method!r}{weights})"

    def __call__(
        self,
        estimator: Any,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the MAUC of the estimator's scores of X."""
        check_no_missing_label(y)
        name = type(estimator).__name__
        method = next((m for m in self._response_method if hasattr(estimator, m)), None)
        if method is None:
            wanted = " or ".join(self._response_method)
            raise MaucError(f"{name} must have {wanted} to be scored by MAUC.")
        scores = getattr(estimator, method)(X)
        unseen = np.setdiff1d(y, estimator.classes_)
        if len(unseen):
            raise MaucError(
                f"y must hold only classes that {name} has seen in fit, "
                f"got also {format_labels(unseen)}."
            )
        return mauc_score(
            y,
            scores,
            labels=estimator.classes_,
            sample_weight=sample_weight,
            pair_weight=self._pair_weight,
        )

    def set_score_request(self, *, sample_weight: bool | str | None) -> "_Scorer":
        """Request, or refuse, sample weights from scikit-learn's metadata routing."""
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError("sklearn.set_config(enable_metadata_routing=True) is needed.")
        self._request.score.add_request(param="sample_weight", alias=sample_weight)
        return self

    def get_metadata_routing(self) -> Any:
        """Return the requested metadata."""
        return self._request


def make_mauc_scorer(
    response_method: str | Sequence[str] = _RESPONSES, *, pair_weight: PairWeight = None
) -> _Scorer:
    """Make a scorer: a callable of a fitted classifier, X and y that returns MAUC.

    Unlike a scorer of scikit-learn's ``make_scorer``, it knows the classes of the classifier, so
    that a fold that lacks a class is scored on the pairs that are present. `mauc_scorer` is the
    one with default parameters. scikit-learn has no way to add names of scorers, so ``scoring=``
    takes the scorer itself.

    Parameters
    ----------
    response_method : {"predict_proba", "decision_function"} or tuple, \
            default=("predict_proba", "decision_function")
        Where the scores come from: the first of these that the classifier has.
    pair_weight : dict, array-like, data frame or str, optional
        How much a class pair counts, as in `mauc_score`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, sample_weight=None)``; with scikit-learn's metadata routing,
        ``scorer.set_score_request(sample_weight=True)`` makes it a weighted one.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> from mauc import MDFS, make_mauc_scorer, mauc_scorer
    >>> X, y = load_wine(return_X_y=True)
    >>> pipeline = make_pipeline(MDFS(4, random_state=0), GaussianNB())
    >>> cross_val_score(pipeline, X, y, scoring=mauc_scorer).mean().round(3)
    np.float64(0.994)
    >>> make_mauc_scorer("predict_proba")(pipeline.fit(X, y), X, y) > 0.99
    True
    """
    methods = (response_method,) if isinstance(response_method, str) else tuple(response_method)
    for method in methods:
        check_choice("response_method", method, _RESPONSES)
    return _Scorer(methods, pair_weight)


mauc_scorer: _Scorer = make_mauc_scorer()


class ClassPairs:
    """The class pairs of labelled samples: what the AUCs of many score matrices share.

    `codes` (int32) are indices of `classes`, the labels of the score columns; a sample of weight 0
    counts as absent. `pair_weight` is what a user gave, and `name` that of the labels in messages.
    """

    def __init__(
        self,
        codes: np.ndarray,
        classes: np.ndarray,
        weights: np.ndarray | None = None,
        *,
        pair_weight: PairWeight = None,
        name: str = "y_true",
    ) -> None:
        self.codes: np.ndarray = codes
        self._classes = classes
        #: samples of each class, or their weight
        self.totals: np.ndarray
        self.totals = np.bincount(codes, weights, minlength=len(classes)).astype(np.float64)
        if weights is None:
            self.weights: np.ndarray = np.ones(len(codes))
            self.scaled_totals: np.ndarray = self.totals
        else:
            # AUCs do not depend on the scale within a class, and no product of weights overflows.
            self.weights, _ = scale_by_class(weights, codes, len(classes))
            self.scaled_totals = np.bincount(codes, self.weights, len(classes)).astype(np.float64)
        self.first: np.ndarray
        self.second: np.ndarray
        self.first, self.second = np.triu_indices(len(classes), 1)
        scale = 2 * self.scaled_totals[self.first] * self.scaled_totals[self.second]
        self.is_present: np.ndarray = scale > 0
        self._scale = np.where(self.is_present, scale, np.nan)
        self._are_equal = pair_weight is None
        given = PairWeights(pair_weight if self.is_present.any() else None)
        wanted = given.resolve(classes, self.totals)
        self._is_wanted, counted = wanted > 0, wanted * self.is_present
        if not counted.any():
            which = "" if pair_weight is None else " that form a pair of positive pair_weight"
            raise UndefinedMAUCError(
                f"MAUC compares classes: {name} must hold samples of at least 2 classes{which}, "
                f"got only {format_labels(classes[self.totals > 0]) or 'none'}."
            )
        #: share of each pair in the mean; 0 where a class is absent
        self.pair_weights: np.ndarray = counted / counted.sum()

    @classmethod
    def of_test(
        cls,
        y_test: np.ndarray,
        classes: np.ndarray,
        weights: np.ndarray | None = None,
        pair_weight: PairWeight = None,
    ) -> "ClassPairs":
        """Return the pairs of a test part, given the sorted classes of the training part."""
        unknown = np.setdiff1d(y_test, classes)
        if len(unknown):
            raise MaucError(
                f"y_test must hold only classes of y_train, got also {format_labels(unknown)}."
            )
        codes = np.searchsorted(classes, y_test).astype(np.int32)
        return cls(codes, classes, weights, pair_weight=pair_weight, name="y_test")

    def auc(self, ST: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A_ij and A_ji of every pair, NaN where a class is absent; ST is (n_classes, n)."""
        wins = np.empty((len(ST), len(ST)))
        class_wins(ST, np.argsort(ST, axis=1), self.codes, self.weights, wins)
        both = wins[self.first, self.second], wins[self.second, self.first]
        # Sums of weights are rounded: a perfect class might win more than everything.
        return np.minimum(both[0] / self._scale, 1.0), np.minimum(both[1] / self._scale, 1.0)

    def mauc(self, scores: np.ndarray) -> float:
        """Return the result of `mauc_score`, to the bit."""
        ST = score_columns(scores, "the scores of the classifier")
        return self.mean(np.mean(self.auc(ST), axis=0))

    def mauc_of_each(self, scores: Iterable[np.ndarray]) -> np.ndarray:
        """Return `mauc` of each of some score matrices."""
        tables = (score_columns(table, "the scores of the classifier") for table in scores)
        return np.array([self.mean(np.mean(self.auc(ST), axis=0)) for ST in tables])

    def mean(self, pair_auc: np.ndarray) -> float:
        """Return MAUC, the weighted mean over the pairs that are present."""
        if self._are_equal:
            return float(np.mean(pair_auc[self.is_present]))
        return float(pair_mean(pair_auc, self.pair_weights))

    def warn_of_absent(self) -> None:
        """Warn if classes have no sample: pairs with them are left out of the mean."""
        lost = np.flatnonzero(self._is_wanted & ~self.is_present)
        if len(lost):
            members = np.unique((self.first[lost], self.second[lost]))
            absent, n_wanted = members[self.totals[members] == 0], self._is_wanted.sum()
            warn_user(
                f"{len(absent)} of {len(self._classes)} classes have no sample "
                f"({format_labels(self._classes[absent])}): MAUC is the mean over "
                f"{n_wanted - len(lost)} of {n_wanted} pairs.",
                AbsentClassWarning,
            )


def score_columns(scores: np.ndarray, name: str) -> np.ndarray:
    """Return scores, or those of the second of two classes, as float64 rows, one per class."""
    ST = np.stack((-scores, scores)) if scores.ndim == 1 else scores.T
    ST = np.ascontiguousarray(ST, dtype=np.float64)
    if np.isnan(ST).any():
        raise MaucError(f"{name} must not contain NaN: a sample without a score has no rank.")
    return ST


def check_scored(
    y_true: ArrayLike,
    y_score: Any,
    labels: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
    pair_weight: PairWeight = None,
    *,
    is_ordinal: bool = True,
) -> tuple[np.ndarray, np.ndarray, ClassPairs]:
    """Validate; return contiguous score columns as rows, the label of each, and the class pairs."""
    check_no_missing_label(y_true, "y_true")
    y_true = check_categories(y_true, "y_true")
    table = _score_table(y_score)
    is_vector = not is_frame(y_score) and np.ndim(y_score) == 1
    if is_vector and _are_labels(np.asarray(y_score), y_true):
        raise MaucError(
            "y_score holds labels, and MAUC needs scores: a column of probabilities or decision "
            "values for each class, as of predict_proba(X) or decision_function(X)."
        )
    scores = check_table(table, name="y_score", dtype=np.float64, accept_infinite=is_ordinal)
    if not is_vector and scores.shape[1] == 1:
        raise MaucError("y_score must have a column for each class, got 1 column.")
    if is_frame(y_score):
        labels = _named_labels(y_true, list(y_score.columns), scores, labels)
    ST = score_columns(scores[:, 0] if is_vector else scores, "y_score")
    check_same_length(y_true, ST.T, sample_weight)
    classes, codes = _encode(y_true, labels, len(ST))
    weights = None if sample_weight is None else check_weights(sample_weight, codes)
    return ST, classes, ClassPairs(codes, classes, weights, pair_weight=pair_weight)


def _are_labels(values: np.ndarray, y_true: np.ndarray) -> bool:
    """Whether a vector has predicted labels in place of scores: words, or three labels or more."""
    if values.dtype.kind in "OUS":
        return any(isinstance(value, str) for value in values.tolist())
    known = np.unique(y_true)
    return len(known) > 2 and known.dtype.kind in "biuf" and bool(np.isin(values, known).all())


def _named_labels(
    y_true: np.ndarray, names: list[Any], scores: np.ndarray, labels: ArrayLike | None
) -> ArrayLike | None:
    """Return the label of every column of a frame by its name; `labels` if the names say none."""
    known = np.unique(y_true) if labels is None else check_categories(labels, "labels")
    found = match_names(names, known)
    is_numbered = list(map(str, names)) == list(map(str, range(len(names))))
    if not found.named or (is_numbered and None in found.classes):
        return labels  # names of another kind, or the numbers that a frame has without names
    if labels is not None:
        if len(known) == len(names) and any(found.classes[j] != known[j] for j in found.named):
            raise MaucError(
                f"labels must name the columns of y_score in their order, got "
                f"{format_labels(known)} for columns {format_labels(names)}; leave labels out, "
                f"or sort the columns."
            )
        return labels
    if found.repeated:
        label = found.repeated[0]
        both = [name for name, one in zip(names, found.classes, strict=True) if one == label]
        raise MaucError(
            f"y_score has several columns for class {format_labels([label])}: "
            f"{format_labels(both)}; leave all but one out."
        )
    is_missing = ~np.isin(known, [found.classes[j] for j in found.named])
    rest = [names[j] for j in range(len(names)) if found.classes[j] is None]
    if is_missing.any():
        raise MaucError(
            f"y_score must be named after all classes or none, got columns "
            f"{format_labels([names[j] for j in found.named])} of classes, but none of class "
            f"{format_labels(known[is_missing])}"
            + f" (others are {format_labels(rest)})"
            * bool(rest)
            + "; name columns CLASS, score_CLASS or proba_CLASS, or pass an array, whose columns "
            "are in sorted order of the classes."
        )
    are_scores = len(found.others) == len(rest)
    if are_scores and rest and found.prefix == "":
        are_scores = sum_to_one(scores) or not sum_to_one(scores[:, found.named])
    if not are_scores:
        raise MaucError(
            f"y_score has a column for each class in y_true, and {format_labels(rest)}: leave out "
            f"what is not a score, and name classes without samples by labels=."
        )
    return np.array([found.others.get(j, label) for j, label in enumerate(found.classes)])


def _encode(
    y_true: np.ndarray, labels: ArrayLike | None, n_columns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the label of each column and the column of each sample."""
    present, codes = np.unique(y_true, return_inverse=True)
    if labels is None:
        if len(present) != n_columns:
            raise MaucError(
                f"y_score must have a column for each class in y_true ({len(present)}), "
                f"got {n_columns}; if classes are absent from y_true, pass labels=."
            )
        return present, codes.astype(np.int32)
    labels = check_categories(labels, "labels")
    if len(labels) != n_columns:
        raise MaucError(
            f"labels must name the {n_columns} columns of y_score, got {len(labels)} labels."
        )
    sorted_labels, first_at = np.unique(labels, return_index=True)
    if len(sorted_labels) != len(labels):
        raise MaucError("labels must be distinct.")
    unknown = np.setdiff1d(present, sorted_labels)
    if len(unknown):
        raise MaucError(f"y_true must hold only labels= labels, got also {format_labels(unknown)}.")
    columns = first_at[np.searchsorted(sorted_labels, present)]
    return labels, columns[codes].astype(np.int32)


def _score_table(scores: Any) -> Any:
    """Return scores as a table, one as a column; warn where float64 makes some of them equal."""
    if not sparse.issparse(scores) and not is_frame(scores):
        try:
            scores = scores.to_numpy() if hasattr(scores, "to_numpy") else np.asarray(scores)
        except ValueError as error:
            raise MaucError("y_score must have rows of the same length.") from error
    warn_of_merged_values(scores, "y_score")
    if sparse.issparse(scores) or is_frame(scores):
        return scores
    return scores[:, np.newaxis] if scores.ndim == 1 else scores
