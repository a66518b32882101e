"""What is wrong with a table, its labels or a model: one diagnosis per fault, the worst first."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import beta, binom
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from mauc.data.leaks import copied_share, find_group_column
from mauc.data.problem import Problem, make_problem
from mauc.data.source import ColumnSource
from mauc.evaluation.folds import make_folds
from mauc.evaluation.panel import N_TREES, Judged, ask_judges, judged_rows, split_fold
from mauc.exceptions import MaucError, MaucWarning, UndefinedMAUCError, format_labels
from mauc.layout import Layout, plain_layout
from mauc.metrics.interval import mauc_interval
from mauc.metrics.mauc import pair_auc_scores
from mauc.registry import Accepts
from mauc.results import Result, for_classes, rows_to_columns, short_name
from mauc.selectors.base import feature_names, open_input
from mauc.selectors.pair_auc import chosen_pair_auc
from mauc.texts import insert_texts

Array = np.ndarray[Any, Any]

#: kinds of faults, the most consequential first, with their severity
KINDS = {
    "leak": "high", "group column": "high", "copied rows": "high", "wrong labels": "high",
    "missed pair": "medium", "inseparable pair": "medium", "merged class": "medium",
    "few rows": "medium", "duplicated columns": "low", "constant columns": "low",
}  # fmt: skip
HALF_WIDTH = 0.05  # of the interval of an AUC that rows should suffice for
_LEVEL = 0.95
_PERFECT = 1.0 - 1e-9
_RIVAL = 0.99  # AUC of another feature that makes a perfect one of two classes credible
_MIN_COPIED = 0.02  # share of the tested rows
_MAX_UPPER = 0.75  # upper bound of the AUC of a pair that is said to be inseparable
_MIN_NOISE = 0.01  # share of contrary labels that is never worth a word
_MIN_LABELLED = 20  # rows of both classes
_MAX_OVERLAP = 0.05  # share of a class that may lie in the clearer half of another
_ALPHA = 0.001  # of labels that look wrong, over all ordered pairs
_MIN_CLUSTERED = 40  # rows of a class that are looked at for two clusters
_MAX_BETWEEN = 0.05  # share of the rows between two clusters; of one normal cluster 0.21
_MIN_SIDE = 0.15  # share of the rows in the smaller cluster
_MAX_LEVELS = 10  # of a column whose gaps are no sign of clusters
_MAX_SHARE = 0.99  # of the rows with the same value, in a column that is nearly constant


class Finding(NamedTuple):
    """One diagnosis."""

    kind: str  #: of `KINDS`
    severity: str
    classes: tuple[Any, ...]
    features: tuple[str, ...]
    rows: tuple[int, ...]  #: numbers of rows, from 0
    evidence: str
    next: str  #: what to do, in Python


@dataclass(frozen=True, repr=False)
class Diagnosis(Result):
    """What `diagnose` found; iterating gives a `Finding` each, the most consequential first.

    Parameters
    ----------
    findings : tuple of Finding
    checked : str
        What was looked at, in a sentence.
    n_classes : int
    """

    findings: tuple[Finding, ...]
    checked: str
    n_classes: int

    def frame_columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame`: one row per finding."""
        return rows_to_columns(self.findings, Finding._fields)

    def printed_parts(self) -> list[str | Layout]:
        """Return a table of the findings and what to do, or that nothing was found."""
        if not self.findings:
            return [f"Nothing was found. {self.checked}"]
        rows = [
            [str(at), one.kind, one.severity, for_classes(one.evidence, self.n_classes)]
            for at, one in enumerate(self.findings, 1)
        ]
        steps = [f"{at}. {short_name(one.next, 200)}" for at, one in enumerate(self.findings, 1)]
        heads = ["", "diagnosis", "severity", "evidence"]
        return [plain_layout(heads, rows), "Next:", *steps, self.checked]


@insert_texts
def diagnose(
    X: ArrayLike, y: ArrayLike, scores: ArrayLike | None = None, *,
    groups: ArrayLike | None = None, labels: ArrayLike | None = None,
    categorical_features: ArrayLike | None = None, random_state: Any = 0,
    n_jobs: int | None = None,
) -> Diagnosis:  # fmt: skip
    """Find what is wrong with a table, its labels or a model, the most consequential first.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        NaN is a missing value.
    y : array-like of shape (n_samples,)
        Class labels.
    scores : array-like of shape (n_samples, n_classes), optional
        Scores of a model on these rows, which it was not trained on: pairs are found that it
        misses though classifiers separate them.
    groups : array-like of shape (n_samples,), optional
        What rows belong to, such as a patient; folds keep them together.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of `scores`, sorted by default.
    {categorical_features}
    random_state : int, SeedSequence, Generator, RandomState or None, default=0
        Of the folds.
    {n_jobs}

    Returns
    -------
    diagnosis : Diagnosis

    Notes
    -----
    Four classifiers judge the pairs of classes in 5 folds, without columns that leak; a large table
    on part of its rows. Bounds are those of `mauc_interval`, at level 0.95 over all pairs
    (Bonferroni). docs/answers/doctor.md has the rule of every kind.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from mauc import diagnose
    >>> X, y = load_iris(return_X_y=True)
    >>> found = diagnose(np.column_stack([X, 2 - y]), y)
    >>> found[0].kind, found[0].features
    ('leak', ('x4',))
    """
    X, y, _, _ = open_input(X, y)
    if isinstance(X, ColumnSource):
        raise MaucError("diagnose takes a table in memory, got a source; pass some of its rows.")
    holder = BaseEstimator()
    holder.categorical_features = categorical_features
    accepts = Accepts(sparse=True, infinite=True, nominal=True)
    problem = make_problem(holder, X, y, None, groups, accepts=accepts)
    doctor = _Doctor(problem, random_state, n_jobs)
    found = [*doctor.columns(), *doctor.judged(scores, labels)]
    order = list(KINDS)
    found.sort(key=lambda one: order.index(one.kind))
    return Diagnosis(tuple(found), doctor.checked(scores is not None), problem.n_classes)


class _Doctor:
    """The checks, and what they share."""

    def __init__(self, problem: Problem, random_state: Any, n_jobs: int | None) -> None:
        self.problem, self.seed, self.n_jobs = problem, random_state, n_jobs
        self.names = feature_names(problem)
        self.pair_auc = chosen_pair_auc(problem, np.arange(problem.n_features), n_jobs)
        self.first, self.second = np.triu_indices(problem.n_classes, 1)
        self.used = np.ones(problem.n_features, bool)  # columns that are judged
        self.rows = judged_rows(problem)
        self.sample = problem.take_rows(self.rows)

    def finding(
        self, kind: str, evidence: str, next: str, codes: Sequence[int] = (),
        columns: Sequence[int] = (), rows: Sequence[int] = (),
    ) -> Finding:  # fmt: skip
        """Return a finding on classes, columns and rows."""
        classes = tuple(self.problem.classes[list(codes)].tolist()) if len(codes) else ()
        features = tuple(str(self.names[j]) for j in columns)
        return Finding(
            kind, KINDS[kind], classes, features, tuple(int(row) for row in rows), evidence, next
        )

    def pair(self, at: int) -> str:
        """Return the name of a pair."""
        one, other = self.problem.classes[[self.first[at], self.second[at]]]
        return f"{short_name(one)} vs {short_name(other)}"

    def drop(self, columns: Sequence[int]) -> str:
        """Return the code that leaves columns out."""
        if self.problem.feature_names is None:
            return f"diagnose(np.delete(X, {[int(j) for j in columns]}, axis=1), y)"
        return f"diagnose(X.drop(columns={[str(self.names[j]) for j in columns]}), y)"

    def checked(self, has_scores: bool) -> str:
        """Return what was looked at."""
        kinds = [kind for kind in KINDS if has_scores or kind != "missed pair"]
        part = "" if len(self.rows) == self.problem.n_samples else f" ({len(self.rows):,} judged)"
        return (
            f"Checked {self.problem.n_samples:,} rows{part} and {self.problem.n_features:,} "
            f"features for: {', '.join(kinds)}."
        )

    # ---- columns and rows as they are

    def columns(self) -> Iterator[Finding]:
        """Yield leaks, columns of groups, copied rows, repeated and constant columns."""
        twins, constant = self._compare_columns()
        if constant:
            shown = format_labels([self.names[j] for j in constant])
            yield self.finding(
                "constant columns",
                f"{len(constant)} columns have one value in {_MAX_SHARE:.0%} of the rows or more, "
                f"and tell no pair of classes apart: {shown}",
                self.drop(constant), columns=constant,
            )  # fmt: skip
        if twins:
            shown = "; ".join(
                f"{short_name(self.names[j])} {how} {short_name(self.names[i])}"
                for j, i, how in twins[:5]
            )
            columns = [j for j, _, _ in twins]
            yield self.finding(
                "duplicated columns",
                f"{len(twins)} columns repeat another: {shown}", self.drop(columns),
                columns=columns,
            )  # fmt: skip
        worst = self.pair_auc.min(axis=1)
        leaks = np.flatnonzero(worst >= _PERFECT).tolist()
        if self.problem.n_classes == 2:
            repeated = {j for j, _, _ in twins}
            rivals = [j for j in np.flatnonzero(worst >= _RIVAL) if j not in repeated]
            leaks = leaks[: 0 if len(rivals) > 1 else None]
        if len(leaks):
            self.used[leaks] = False
            shown = format_labels([self.names[j] for j in leaks])
            yield self.finding(
                "leak", f"{shown}: AUC 1 on every pair of classes, each on its own",
                self.drop(leaks), columns=leaks,
            )  # fmt: skip
        problem = self.problem
        if problem.groups is None:
            column = find_group_column(problem)
            if column is not None and self.used[column]:
                self.used[column] = False
                name = short_name(self.names[column])
                given = f"X[:, {column}]" if problem.feature_names is None else f"X[{name!r}]"
                yield self.finding(
                    "group column",
                    f"{name} has a few rows of each of many values, as a patient has: rows of a "
                    f"value must not be trained on and tested",
                    f"{self.drop([column])[:-1]}, groups={given})", columns=[column],
                )  # fmt: skip

    def _compare_columns(self) -> tuple[list[tuple[int, int, str]], list[int]]:
        """Return columns with the order of an earlier one, and those that are nearly constant."""
        seen: dict[bytes, int] = {}
        twins, constant = [], []
        for j in range(self.problem.n_features):
            values = self.problem.columns.ordered([j])[0]
            levels, ranks = np.unique(values, return_inverse=True)
            share = np.bincount(ranks).max() / len(values)
            if len(levels) < 2 or share >= _MAX_SHARE:
                least = 0.5 + 2.0 / np.sqrt(self.problem.class_counts.min())
                if len(levels) < 2 or self.pair_auc[j].max() < least:
                    constant.append(j)
                continue
            if ranks[ranks != ranks[0]][0] < ranks[0] and not np.isnan(values).any():
                ranks = len(levels) - 1 - ranks  # a falling map keeps what a column tells
            i = seen.setdefault(ranks.astype(np.int32).tobytes(), j)
            if i != j:
                other = self.problem.columns.ordered([i])[0]
                same = np.array_equal(values, other, equal_nan=True)
                twins.append((j, i, "equals" if same else "has the order of"))
        return twins, constant

    # ---- what judges see

    def judged(self, scores: Any, labels: Any) -> Iterator[Finding]:
        """Yield what cross-validated classifiers find."""
        sample, chosen = self.sample, np.flatnonzero(self.used)
        if not len(chosen):
            return
        try:
            folds = make_folds(sample, 5, self.seed)
        except UndefinedMAUCError:
            return
        if sample.groups is None:
            share = copied_share(sample, folds)
            if share >= _MIN_COPIED:
                yield self.finding(
                    "copied rows",
                    f"{share:.0%} of the tested rows are in the training part as well, with the "
                    f"same values in all features",
                    "diagnose(X, y, groups=what_copies_have_in_common)",
                )  # fmt: skip
        judges = ask_judges(sample, folds, [chosen] * len(folds), n_jobs=self.n_jobs)
        tested = np.concatenate([fold.test for fold in judges.folds])
        numbers = np.repeat(np.arange(len(folds)), [len(fold.test) for fold in judges.folds])
        codes = sample.codes[tested]
        level = 1.0 - (1.0 - _LEVEL) / len(self.first)
        names, pairs = list(judges.auc), np.arange(len(self.first))
        by_judge = np.nan_to_num([judges.auc[name] for name in names], nan=-1.0)
        winner = by_judge.argmax(axis=0)
        best, auc = [names[at] for at in winner], by_judge[winner, pairs]
        groups = None if sample.groups is None else sample.groups[tested]

        def bounds_at(level: float) -> Array:
            """Return the bounds of the best judge of every pair, (2, n_pairs)."""
            found = [
                mauc_interval(
                    codes, np.concatenate(judges.scores[name]), folds=numbers, groups=groups,
                    labels=np.arange(sample.n_classes), level=level,
                )
                for name in names
            ]  # fmt: skip
            bounds = np.array([[one.pair_lower, one.pair_upper] for one in found])
            return bounds[winner, :, pairs].T

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MaucWarning)  # of classes that no fold tests
            (lower, upper), single = bounds_at(level), bounds_at(_LEVEL)
        yield from self._labels(judges, best, codes, tested)
        if scores is not None:
            yield from self._missed(scores, labels, auc, lower, level)
        yield from self._inseparable(auc, lower, upper)
        yield from self._few(single[0], single[1], len(folds))
        yield from self._merged(chosen)

    def _missed(
        self, scores: Any, labels: Any, auc: Array, lower: Array, level: float
    ) -> Iterator[Finding]:
        """Yield the pairs on which the judges are better than the model."""
        y = self.problem.classes[self.problem.codes]
        model = mauc_interval(y, scores, labels=labels, level=level, groups=self.problem.groups)
        model_auc = pair_auc_scores(y, scores, labels=labels).to_frame()["auc"].to_numpy()
        if not np.array_equal(np.sort(model.classes), self.problem.classes):
            raise MaucError("labels must be the classes of y, one per column of scores.")
        slots = np.searchsorted(self.problem.classes, model.classes)
        place = {
            frozenset((slots[a], slots[b])): at
            for at, (a, b) in enumerate(zip(self.first, self.second, strict=True))
        }
        found = []
        for at, (a, b) in enumerate(zip(self.first, self.second, strict=True)):
            own = place[frozenset((a, b))]
            if lower[at] > model.pair_upper[own]:
                found.append((model_auc[own] - auc[at], at, own))
        for _, at, own in sorted(found):
            yield self.finding(
                "missed pair",
                f"{self.pair(at)}: the model has AUC {model_auc[own]:.3f} (at most "
                f"{model.pair_upper[own]:.3f}), a classifier on these features {auc[at]:.3f} (at "
                f"least {lower[at]:.3f})",
                "siren_study(X, y)", codes=[self.first[at], self.second[at]],
            )  # fmt: skip

    def _inseparable(self, auc: Array, lower: Array, upper: Array) -> Iterator[Finding]:
        """Yield the pairs of which nobody is better than chance, though there are rows enough."""
        for at in np.flatnonzero((lower <= 0.5) & (upper <= _MAX_UPPER)).tolist():
            yield self.finding(
                "inseparable pair",
                f"{self.pair(at)}: no classifier is better than chance, the best has AUC "
                f"{auc[at]:.3f} (interval {lower[at]:.3f} to {upper[at]:.3f}); the best feature "
                f"{self.pair_auc[:, at].max():.3f}",
                "merge the two classes, or measure other features",
                codes=[self.first[at], self.second[at]],
            )  # fmt: skip

    def _few(self, lower: Array, upper: Array, n_folds: int) -> Iterator[Finding]:
        """Yield the classes that are too small for an interval of +-`HALF_WIDTH` of a test set."""
        counts = self.problem.class_counts
        # Folds widen the interval, as `mauc_interval` says; rows of a test set do not.
        half = (upper - lower) / 2 / np.sqrt(1.0 + n_folds / (n_folds - 1.0))
        sizes = np.bincount(self.sample.codes, minlength=len(counts))  # what bounds are made of
        n_i, n_j = sizes[self.first], sizes[self.second]
        needed = np.ceil(2 * n_i * n_j / (n_i + n_j) * (half / HALF_WIDTH) ** 2)
        smaller = np.where(counts[self.first] <= counts[self.second], self.first, self.second)
        found = {}
        for code in np.argsort(counts, kind="stable"):
            pairs = np.flatnonzero((smaller == code) & (needed > counts[code]))
            if len(pairs):
                found[int(code)] = int(pairs[np.argmax(needed[pairs])])
        if found:
            code, at = next(iter(found.items()))
            others = "" if len(found) == 1 else f"; {len(found) - 1} more classes are too small"
            yield self.finding(
                "few rows",
                f"{short_name(self.problem.classes[code])} has {counts[code]} rows: the AUC of "
                f"{self.pair(at)} is known to +-{half[at]:.2f}, and +-{HALF_WIDTH} needs about "
                f"{needed[at]:.0f} rows of each{others}",
                "collect more rows, or leave the class out", codes=list(found),
            )  # fmt: skip

    def _labels(
        self, judges: Judged, best: list[str], codes: Array, tested: Array
    ) -> Iterator[Finding]:
        """Yield pairs with rows of one class that lie deep in the other, beyond its overlap.

        Medians and quartiles of a normal overlap predict how many rows of j are as deep in i as
        its clearer half, and as its clearest quarter. More at both, by binomial tests, look wrong:
        overlap decays with depth, wrong labels do not.
        """
        found = []
        for at, name in enumerate(best):
            table = np.concatenate(judges.scores[name])
            if name == "trees":
                table = np.log(np.maximum(table, 0.5 / N_TREES))
            for i, j in ((self.first[at], self.second[at]), (self.second[at], self.first[at])):
                margin = table[:, i] - table[:, j]
                own, other = margin[codes == i], margin[codes == j]
                if min(len(own), len(other)) < _MIN_LABELLED:
                    continue
                low, middle, high = np.quantile(other, [0.25, 0.5, 0.75])
                spread = max((high - low) / 1.349, 1e-9)
                depths = np.quantile(own, [0.5, 0.75])
                chances = np.maximum(ndtr((middle - depths) / spread), [_MIN_NOISE, _MIN_NOISE / 2])
                p = binom.sf((other[:, None] >= depths).sum(axis=0) - 1, len(other), chances)
                if chances[0] <= _MAX_OVERLAP and p[0] < _ALPHA / (2 * len(best)) and p[1] < 0.01:
                    rows = tested[(codes == j) & (margin >= depths[0])]
                    found.append((p[0], i, j, rows, chances[0] * len(other)))
        for _, i, j, rows, expected in sorted(found, key=lambda one: one[0]):
            one, other = (short_name(self.problem.classes[code]) for code in (j, i))
            rows = np.sort(self.rows[rows])
            yield self.finding(
                "wrong labels",
                f"{len(rows)} rows labelled {one} look like {other}, as much as the clearer half "
                f"of {other} does; {expected:.1f} are expected",
                f"X[{rows[:20].tolist()}]" + " ..." * (len(rows) > 20), codes=[j, i],
                rows=rows.tolist(),
            )  # fmt: skip

    def _merged(self, chosen: Array) -> Iterator[Finding]:
        """Yield the classes that fall into two clusters with next to no row between them."""
        sample = self.sample
        everything = np.arange(sample.n_samples)
        kept = [
            j for j in chosen
            if not sample.is_nominal[j]
            and len(np.unique(sample.columns.ordered([j])[0])) > _MAX_LEVELS
        ]  # fmt: skip
        if not kept:
            return
        Z = np.nan_to_num(split_fold(sample, np.array(kept), everything, everything).train)
        for code in np.flatnonzero(sample.class_counts >= _MIN_CLUSTERED).tolist():
            between, side = _clusters(Z[sample.codes == code])
            if between <= _MAX_BETWEEN and side >= _MIN_SIDE:
                yield self.finding(
                    "merged class",
                    f"{short_name(self.problem.classes[code])} falls into two clusters, the "
                    f"smaller with {side:.0%} of its rows, and at most {between:.1%} between them",
                    "label the two clusters apart", codes=[code],
                )  # fmt: skip


def _clusters(Z: Array) -> tuple[float, float]:
    """Return the upper bound of the share of rows between two clusters, and the smaller's share.

    Each half of the rows is projected on the line between the two means of the other half.
    """
    order = np.random.default_rng(0).permutation(len(Z))
    between, sides = 0, []
    for own, other in ((order[::2], order[1::2]), (order[1::2], order[::2])):
        centers = KMeans(2, n_init=4, random_state=0).fit(Z[other]).cluster_centers_
        line = centers[1] - centers[0]
        t = (Z[own] - centers[0]) @ line / max(float(line @ line), 1e-12)
        between += int(((t > 1 / 3) & (t < 2 / 3)).sum())
        sides.append(min((t < 0.5).mean(), (t >= 0.5).mean()))
    return float(beta.ppf(0.95, between + 1, len(Z) - between)), float(min(sides))
