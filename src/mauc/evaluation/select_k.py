"""How many features of a ranking to keep, by cross-validated MAUC of all sizes at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from mauc.checks import check_choice, check_real
from mauc.classifiers import NormalNaiveBayes
from mauc.data.arguments import Classifier, MatrixLike, PairWeight, Seed, Splits
from mauc.data.door import make_problem, warn_of_degenerate
from mauc.data.problem import Problem
from mauc.estimator import Ranker
from mauc.evaluation.fold import RESPONSES, Fold, check_sizes
from mauc.evaluation.folds import check_cv, make_folds, take_splits, warn_of_leaks
from mauc.evaluation.judges import JUDGES, MAX_ROWS, judges_of, stratified_rows
from mauc.layout import plain_layout
from mauc.parallel import with_progress
from mauc.results import Result, first_rows, plural

Array = np.ndarray

MAX_AUTO = 100  # features that "auto" considers
_N_TREE_SIZES = 4  # at which a forest is grown first
Rule = Literal["one_standard_error", "best"]
RULES: tuple[Rule, ...] = get_args(Rule)


def select_k(
    selector: Ranker,
    X: MatrixLike,
    y: ArrayLike,
    *,
    sizes: ArrayLike | None = None,
    classifier: Classifier | None = None,
    rule: Rule = "one_standard_error",
    tolerance: float = 0.001,
    cv: Splits = 5,
    groups: ArrayLike | None = None,
    response_method: str = "auto",
    sample_weight: ArrayLike | None = None,
    pair_weight: PairWeight = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> "SizeCurve":
    """Choose how many features of a selector's ranking to keep.

    The selector is fitted once in every fold, on the training part alone, and a classifier is
    evaluated on all sizes at once, so the cost is that of as many fits as folds and little more.

    Parameters
    ----------
    selector : selector of this library
        Not changed.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sizes : array-like of int, optional
        Sizes to evaluate; by default about 18 from 1 to 100, closer for small sizes.
    classifier : classifier, optional
        What the features are for. By default four are asked: Naive Bayes, a linear discriminant and
        a nearest-neighbour rule for all sizes at once, and a forest of extra trees at a few sizes,
        on 10,000 rows at most; the curve is that of the best. A classifier with a parameter
        ``categorical_features`` gets the nominal columns in addition to those that it names itself,
        any other indicators of their categories, of the training part (see `FoldEvaluator`).
    rule : {"one_standard_error", "best"}, default="one_standard_error"
        The smallest size whose mean MAUC is within one standard error of the best, or the best.
    tolerance : float, default=0.001
        Loss of MAUC that the first rule always accepts: near MAUC 1 standard errors vanish.
    cv : int, splitter or iterable of splits, default=5
        Folds: their number, stratified by class, and by group where there are groups; a splitter of
        scikit-learn, which gets the labels and groups, such as GroupKFold, LeaveOneGroupOut or
        TimeSeriesSplit; or pairs of training and test rows.
    groups : array-like of shape (n_samples,), optional
        What rows belong to, such as a patient: those of a group are on one side of every split.
        Rows of a class that a training part lacks are not tested there, and a fold whose test part
        has fewer than two classes is left out.
    response_method : str, default="auto"
        What MAUC is computed from; "auto" is log-probabilities for Naive Bayes, whose
        probabilities saturate, and otherwise the first of "predict_proba", "predict_log_proba" and
        "decision_function" that the classifier has.
    sample_weight : array-like of shape (n_samples,), optional
        For the selector, the classifier and MAUC; rows of weight 0 count as absent, also for the
        folds. Where the classifier takes no weights, those that are not 0 must be equal.
    pair_weight : dict, array-like of shape (n_classes, n_classes), data frame or str, optional
        What each pair of classes counts, such as the cost of confusing the two: ``{("a", "b"): 5}``
        (others count 1), a symmetric table, or "prior", the product of the class frequencies. A
        pair of weight 0 does not count. MAUC is weighted by it; the selector searches with its own
        weights, which are those of MAUC by default.
    random_state : int, SeedSequence, Generator, RandomState or None, default=0
        Of the folds, if `cv` is a number.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Returns
    -------
    curve : SizeCurve
        ``curve.size`` is the choice, ``curve.plot()`` draws it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MDFS, select_k
    >>> X, y = load_wine(return_X_y=True)
    >>> curve = select_k(MDFS(random_state=0), X, y)
    >>> print(curve.judge, curve.size, round(curve.honest_mauc, 3))
    a nearest-neighbour rule 6 0.996
    """
    check_choice("rule", rule, RULES)
    check_real("tolerance", tolerance, 0)
    if isinstance(cv, Integral):
        check_cv(cv, 0)
    check_choice("response_method", response_method, ("auto", *RESPONSES))
    options = replace(selector.fit_options, dates="leave_out")  # without a warning
    if pair_weight is not None:
        options = replace(options, pair_weight=pair_weight)
    problem = make_problem(X, y, options, sample_weight, groups, warns=sample_weight is None)
    if sample_weight is not None:
        problem, cv = _drop_zero_weight(problem, cv)
        warn_of_degenerate(problem)  # of the rows that are left
    if classifier is None and response_method != "auto":
        classifier = NormalNaiveBayes()
    return cross_validate_sizes(
        selector,
        problem,
        sizes=sizes,
        classifier=classifier,
        rule=rule,
        tolerance=float(tolerance),
        cv=cv,
        response_method=response_method,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def cross_validate_sizes(
    selector: Ranker,
    problem: Problem,
    *,
    sizes: ArrayLike | None = None,
    classifier: Classifier | None = None,
    rule: Rule = "one_standard_error",
    tolerance: float = 0.001,
    cv: Splits = 5,
    response_method: str = "auto",
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> "SizeCurve":
    """Return what `select_k` does of a problem; rows of weight 0 count as absent."""
    problem, cv = _drop_zero_weight(problem, cv)
    wishes, n_most = problem.wishes, problem.n_features
    if wishes is not None:
        n_most = wishes.n_available
    if sizes is None:
        sizes = auto_sizes(n_most)
        if wishes is not None:
            sizes = np.union1d(sizes[sizes > wishes.n_kept], max(wishes.n_kept, 1))
    tried: Array = np.unique(check_sizes(sizes, n_most, "the number of features"))
    splits, folds = make_folds(problem, cv, random_state), []
    warn_of_leaks(problem, splits)
    with threadpool_limits(1):  # the same bits on any number of cores
        for train, test in with_progress(splits, "folds", len(splits)):
            fold = Fold(problem, train, test, n_jobs=n_jobs)
            ranking = fold.rank(selector, int(tried[-1]))
            # A selector may rank fewer features than it is asked for.
            tried = tried[tried <= max(len(ranking), tried[0])]
            if classifier is None and problem.n_samples > MAX_ROWS:
                # Distances take the square of the rows.
                train, test = (
                    rows[
                        stratified_rows(
                            problem.codes[rows], MAX_ROWS * len(rows) // problem.n_samples
                        )
                    ]
                    for rows in (train, test)
                )
            folds.append(Fold(problem, train, test, ranking, n_jobs=n_jobs))

        judges, measure = judges_of(classifier), problem.measure

        def curve(judge: str, sizes: Sequence[int] | Array) -> SizeCurve:
            """Return the curve of a judge at some sizes."""
            asked = judge if classifier is None else classifier
            return SizeCurve(
                np.asarray(sizes),
                np.array([fold.mauc(asked, sizes, response_method) for fold in folds]),
                rule,
                tolerance,
                problem.n_features,
                measure,
                judge=judges[judge],
            )

        if classifier is not None:
            return curve("classifier", tried)
        return _best_curve(curve, tried)


def _best_curve(
    curve: Callable[[str, Sequence[int] | Array], "SizeCurve"], sizes: Array
) -> "SizeCurve":
    """Return the curve of the judge that names the size, and with it those of the others.

    ``curve(judge, sizes)`` asks a judge.
    """
    curves = [curve(judge, sizes) for judge in JUDGES if judge != "trees"]
    few = sizes[np.unique(np.linspace(0, len(sizes) - 1, _N_TREE_SIZES).round().astype(int))]
    trees = curve("trees", few)
    if trees.mean.max() > max(one.mean.max() for one in curves):
        # Between the largest size that is not enough and the smallest that is, by halves.
        while True:
            at = int(np.flatnonzero(trees.sizes == trees.size)[0])
            between = sizes[(sizes > trees.sizes[at - 1]) & (sizes < trees.size)] if at else []
            if len(between) == 0:
                break
            trees = _joined(trees, curve("trees", between[len(between) // 2 :][:1]))
    chosen = _first_enough([*curves, trees])
    if chosen.size not in trees.sizes:  # all judges are asked about the size that is chosen
        trees = _joined(trees, curve("trees", [chosen.size]))
        chosen = _first_enough([*curves, trees])
    return chosen


def _first_enough(curves: "Sequence[SizeCurve]") -> "SizeCurve":
    """Return the curve that is good enough with the fewest features, the rest as its `others`."""
    made = [replace(one, others=tuple(o for o in curves if o is not one)) for one in curves]
    enough = [one for one in made if one.mean.max() >= one.threshold]
    return min(enough, key=lambda one: (one.size, -one.mean[one.sizes == one.size][0]))


def _joined(curve: "SizeCurve", more: "SizeCurve") -> "SizeCurve":
    """Return a curve with the sizes of another."""
    sizes = np.append(curve.sizes, more.sizes)
    order = np.argsort(sizes)
    fold_mauc = np.concatenate([curve.fold_mauc, more.fold_mauc], axis=1)[:, order]
    return replace(curve, sizes=sizes[order], fold_mauc=fold_mauc)


@dataclass(frozen=True, repr=False)
class SizeCurve(Result):
    """Cross-validated MAUC of the first k features, for many k.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
    fold_mauc : ndarray of shape (n_folds, n_sizes)
        MAUC of every fold.
    rule : {"one_standard_error", "best"}
        How `size` is chosen.
    tolerance : float
        A difference of MAUC that is negligible.
    n_features : int, optional
        How many features there are.
    measure : str, default="MAUC"
        What it is called; "AUC" for two classes.
    judge : str
        Whose MAUC it is.
    others : tuple of SizeCurve
        Those of the other classifiers that were asked.
    """

    sizes: np.ndarray
    fold_mauc: np.ndarray
    rule: Rule = "one_standard_error"
    tolerance: float = 0.001
    n_features: int | None = None
    measure: str = "MAUC"
    judge: str = "the classifier"
    others: tuple["SizeCurve", ...] = ()

    @property
    def mean(self) -> Array:
        """Mean MAUC of every size."""
        return self.fold_mauc.mean(axis=0)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean of every size."""
        n_folds = len(self.fold_mauc)
        if n_folds < 2:
            return np.zeros(len(self.sizes))
        return self.fold_mauc.std(axis=0, ddof=1) / np.sqrt(n_folds)

    @property
    def leader(self) -> "SizeCurve":
        """The curve with the largest mean: this one, or that of another classifier."""
        return max((self, *self.others), key=lambda one: one.mean.max())

    @property
    def best_size(self) -> int:
        """The size of the largest mean; of equal ones the smallest."""
        leader = self.leader
        return int(leader.sizes[leader.mean.argmax()])

    @property
    def best_error(self) -> float:
        """Standard error of the largest mean."""
        return float(self.leader.standard_error[self.leader.mean.argmax()])

    @property
    def threshold(self) -> float:
        """The smallest mean that is accepted."""
        slack = 0.0 if self.rule == "best" else max(self.best_error, self.tolerance)
        return float(self.leader.mean.max() - slack)

    @property
    def size(self) -> int:
        """The smallest size whose mean is accepted."""
        return int(self.sizes[np.flatnonzero(self.mean >= self.threshold)[0]])

    @property
    def honest_mauc(self) -> float:
        """MAUC of the chosen size without the favour of choosing; NaN with fewer than three folds.

        The largest of several means is too large. Here size and classifier are chosen without a
        fold, and MAUC is that of this fold; the mean over the folds. As each of k folds is
        1 / (k - 1) of the training samples of the others, that part of the favour is left in it,
        and taken off: on noise the mean is 0.50 (benchmarks/coverage_page.py).
        """
        n_folds = len(self.fold_mauc)
        if n_folds < 3:
            return np.nan
        found, seen, curves = [], [], (self, *self.others)
        for fold in range(n_folds):
            kept = np.arange(n_folds) != fold
            parts = [replace(one, fold_mauc=one.fold_mauc[kept], others=()) for one in curves]
            chosen = _first_enough(parts)
            curve = next(one for one in curves if one.judge == chosen.judge)
            at = np.flatnonzero(curve.sizes == chosen.size)[0]
            found.append(curve.fold_mauc[fold, at])
            seen.append(chosen.mean[at])
        favour = np.mean(seen) - np.mean(found)
        return float(np.mean(found) - favour / (n_folds - 1))

    @property
    def edge_note(self) -> str:
        """What to do if the best size is at the edge of the sizes tried, else empty."""
        first, last, best = int(self.sizes[0]), int(self.sizes[-1]), self.best_size
        if first == last:  # a point, no curve
            return ""
        if best == last == self.n_features:
            return f"The best is at the edge: all {last} features."
        if best == last:
            total = "" if self.n_features is None else f" of {plural(self.n_features, 'feature')}"
            return f"The best is at the edge, the largest size tried ({last}{total}): try larger."
        if best == first > 1:
            return f"The best is at the edge, the smallest size tried ({first}): try smaller."
        return ""

    def frame_columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row per size."""
        return {"size": self.sizes, "mauc": self.mean, "standard_error": self.standard_error}

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve; return its `mauc.plotting.SizeCurveDisplay`."""
        from importlib import import_module

        # By name: plots build on evaluations, not the other way round.
        return import_module("mauc.plotting").SizeCurveDisplay(self).plot(ax)

    @property
    def summary(self) -> str:
        """The choice in one line."""
        leader, honest = self.leader, self.honest_mauc
        chosen = self.mean[self.sizes == self.size][0]
        by = "" if leader is self else f" by {leader.judge}"
        unchosen = "" if np.isnan(honest) else f", {honest:.4f} on folds that did not choose"
        return (
            f"{plural(self.size, 'feature')}: {self.measure} {chosen:.4f} by "
            f"{self.judge}{unchosen}; best {leader.mean.max():.4f}{by} (standard error "
            f"{self.best_error:.4f}) with {self.best_size}"
            + (f"\n{self.edge_note}" if self.edge_note else "")
        )

    def printed_parts(self) -> list[Any]:
        """Return the choice, and the curve as a table."""
        mean, error = self.mean, self.standard_error
        marks = {self.best_size: "best"} if self.leader is self else {}
        marks[self.size] = "chosen, best" if self.size in marks else "chosen"
        shown = first_rows(
            len(self.sizes), np.flatnonzero(np.isin(self.sizes, list(marks))).tolist()
        )
        rows = [
            [str(size), f"{mean[at]:.4f}", f"{error[at]:.4f}", marks.get(size, "")]
            for at, size in ((at, int(self.sizes[at])) for at in shown)
        ]
        heads = ["features", self.measure, "standard error", ""]
        table = plain_layout(heads, rows, len(self.sizes), right=("features",))
        return [self.summary, table]


def _drop_zero_weight(problem: Problem, cv: Splits) -> tuple[Problem, Splits]:
    """Return the problem of the rows of positive weight, and the splits of these."""
    weight = problem.sample_weight
    if weight is None or weight.all():
        return problem, cv
    return problem.drop_zero_weight(), take_splits(cv, np.flatnonzero(weight), len(weight))


def auto_sizes(n_features: int) -> np.ndarray:
    """Return about 18 sizes up to 100 or all features, closer for small sizes."""
    most = min(n_features, MAX_AUTO)
    steps = np.unique(np.round(np.geomspace(1, most, 17)).astype(np.int64))
    return np.union1d(steps, np.arange(1, min(most, 5) + 1))
