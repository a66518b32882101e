"""What is wrong with a table, its labels or a model: one diagnosis per fault, the worst first."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import ndtr
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from mauc.data.columns import is_frame, is_polars
from mauc.data.leaks import copied_share, find_group_column
from mauc.data.problem import Problem, make_problem
from mauc.data.row_hash import hash_all_rows
from mauc.data.source import ColumnSource
from mauc.evaluation.folds import Folds, make_folds
from mauc.evaluation.panel import N_TREES, Judged, ask_judges, judged_rows, split_fold
from mauc.exceptions import MaucError, MaucWarning, UndefinedMAUCError, format_labels
from mauc.layout import Layout, plain_layout
from mauc.metrics.interval import mauc_interval
from mauc.metrics.mauc import check_scored, pair_auc_scores
from mauc.registry import Accepts
from mauc.results import Result, measure_name, plural, rows_to_columns, short_name
from mauc.selectors.base import feature_names, open_input
from mauc.selectors.pair_auc import chosen_pair_auc
from mauc.texts import insert_texts

Array = np.ndarray[Any, Any]

#: kinds of faults, sorted by severity and in this order; a class of few rows may be of high one
KINDS = {
    "leak": "high", "group column": "high", "copied rows": "high", "groups across folds": "high",
    "missed pair": "high", "few rows": "low", "inseparable pair": "high", "wrong labels": "high",
    "duplicated columns": "medium", "constant columns": "medium", "merged class": "medium",
}  # fmt: skip
HALF_WIDTH = 0.05  # of the interval of an AUC that rows should suffice for
_LEVEL = 0.95
_PERFECT = 1.0 - 1e-9
_MIN_LEAK = 0.98  # least AUC over the pairs of a column that leaks, if it is far ahead:
_AHEAD = 10.0  # times what others lack to 1
_MIN_COPIED = 0.02  # share of the tested rows
_MIN_GAIN = 0.01  # MAUC of a model, above what is possible without rows of the tested groups
_MAX_CHANCE = 0.65  # AUC of a pair that is said to be inseparable
_MIN_P = 1e-3  # of its best feature on all rows, times the number of features
_MIN_NOISE = np.array([0.005, 0.0025])  # shares of contrary labels that are to be expected
_MIN_LABELLED = 20  # rows of both classes
_MAX_OVERLAP = 0.05  # share of a class that may lie where the clearer rows of another are
_ALPHA = 0.05, 0.02  # of labels that look wrong: over all ordered pairs, and of the deeper ones
_MIN_CLUSTERED = 40  # rows of a class that are looked at for two clusters
_MIN_DISTANCE = 7.0  # of clusters, in standard deviations; of a normal one cut in two 2.6
_MIN_DISTANCE_LARGE = 3.2  # in a class that is larger than others
_LARGE = 1.4  # times the median size of the other classes
_MIN_SIDE = 0.15  # share of the rows in the smaller cluster
_MAX_LEVELS = 10  # of a column whose gaps are no sign of clusters
_MAX_SHARE = 0.98  # of the rows with the same value, in a column that is nearly constant
_MAX_RANGE = 1e-7  # of the values of such a column, over the largest
_TINY = 12  # rows; a class of fewer is a fault of high severity


_UNIQUE = "np.unique({}, axis=0, return_inverse=True)[1].ravel()"
_CODES = {  # of a table without columns, one column, some rows, equal rows, rows of other classes
    "array": ("np.delete(X, {}, axis=1)", "X[:, {}]", "X[{}]", _UNIQUE.format("X"), "X[y != {0}]"),
    "pandas": ("X.drop(columns={})", "X[{}]", "X.iloc[{}]",
               "X.groupby(list(X), dropna=False).ngroup()", "X[y != {0}]"),
    "polars": ("X.drop({})", "X[{}]", "X[{}]", "X.hash_rows()", "X.filter(y != {0})"),
    "sparse": ("X[:, np.delete(np.arange(X.shape[1]), {})]", "X[:, [{}]].toarray().ravel()",
               "X[{}]", _UNIQUE.format("X.toarray()"), "X[y != {0}]"),
}  # fmt: skip


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
            [str(at), one.kind, one.severity, one.evidence]
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
    on part of its rows. Bounds are those of `mauc_interval`, of missed pairs at level 0.95 over all
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
    if scores is not None:
        shape = problem.n_samples, problem.n_classes
        if np.shape(scores) != shape:
            raise MaucError(f"scores must be of shape {shape}, as X and y, got {np.shape(scores)}.")
        table, names, _ = check_scored(problem.classes[problem.codes], scores, labels)
        scores = table[np.argsort(names)].T
    kind = "pandas" if is_frame(X) else "sparse" if sparse.issparse(X) else "array"
    doctor = _Doctor(problem, "polars" if is_polars(X) else kind, random_state, n_jobs)
    found = [*doctor.columns(), *doctor.judged(scores)]
    order, severities = list(KINDS), ("high", "medium", "low")
    found.sort(key=lambda one: (severities.index(one.severity), order.index(one.kind)))
    return Diagnosis(tuple(found), doctor.checked(), problem.n_classes)


class _Doctor:
    """The checks, and what they share."""

    def __init__(self, problem: Problem, kind: str, seed: Any, n_jobs: int | None) -> None:
        self.problem, self.seed, self.n_jobs, self.code = problem, seed, n_jobs, _CODES[kind]
        self.names = feature_names(problem)
        self.pair_auc = chosen_pair_auc(problem, np.arange(problem.n_features), n_jobs)
        self.first, self.second = np.triu_indices(problem.n_classes, 1)
        self.used = np.ones(problem.n_features, bool)  # columns that are judged
        self.ran = {"leak", "duplicated columns", "constant columns"}  # kinds that were looked for
        hashes = hash_all_rows(problem)
        order = np.lexsort((hashes, problem.codes))  # rows are drawn by what they hold
        self.rows = np.sort(order[judged_rows(replace(problem, codes=problem.codes[order]))])
        self.sample, self.hashes = problem.take_rows(self.rows), hashes[self.rows]
        self.sizes = self.sample.class_counts

    def finding(
        self, kind: str, evidence: str, next: str, codes: Sequence[int] = (),
        columns: Sequence[int] = (), rows: Any = (),
    ) -> Finding:  # fmt: skip
        """Return a finding on classes, columns and rows."""
        classes = tuple(self.problem.classes[np.array(codes, int)].tolist())
        features = tuple(str(self.names[j]) for j in columns)
        rows = tuple(int(row) for row in rows)
        return Finding(kind, KINDS[kind], classes, features, rows, evidence, next)

    def pair(self, at: int) -> str:
        """Return the name of a pair."""
        one, other = self.problem.classes[[self.first[at], self.second[at]]]
        return f"{short_name(one)} vs {short_name(other)}"

    def drop(self, columns: Sequence[int]) -> str:
        """Return the code that leaves columns out."""
        has_names = self.problem.feature_names is not None
        names = [str(self.names[j]) if has_names else int(j) for j in columns]
        return f"diagnose({self.code[0].format(names)}, y)"

    def show(self, rows: Array) -> str:
        """Return the code that shows some rows."""
        return self.code[2].format(rows[:20].tolist())

    def again(self, arguments: str, *codes: int) -> str:
        """Return the code that merges classes or leaves one out; two classes are needed."""
        if self.problem.n_classes == 2:
            return "feature_pair_auc(X, y)"
        labels = [repr(label) for label in self.problem.classes[list(codes)].tolist()]
        return f"diagnose({arguments.format(*labels)})"

    def checked(self) -> str:
        """Return what was looked at."""
        kinds = [kind for kind in KINDS if kind in self.ran]
        is_part = "few rows" in self.ran and len(self.rows) < self.problem.n_samples
        part = f" ({len(self.rows):,} judged)" * is_part
        return (
            f"Checked {plural(self.problem.n_samples, 'row')}{part} and "
            f"{plural(self.problem.n_features, 'feature')} for: {', '.join(kinds)}."
        )

    # ---- columns and rows as they are

    def columns(self) -> Iterator[Finding]:
        """Yield leaks, columns of groups, copied rows, repeated and constant columns."""
        leaks, twins, constant = self._compare_columns()
        problem = self.problem
        if problem.groups is None and not leaks:
            self.ran.add("group column")
            column = find_group_column(problem, if_even=True)
            if column is not None:
                self.used[column] = False
                name = str(self.names[column])
                given = self.code[1].format(column if problem.feature_names is None else repr(name))
                yield self.finding(
                    "group column",
                    f"{short_name(name)} has a few rows of each of many values, as a patient has: "
                    f"rows of a value must not be trained on and tested",
                    f"{self.drop([column])[:-1]}, groups={given})", columns=[column],
                )  # fmt: skip
        worst = np.where(self.used, self.pair_auc.min(axis=1), 0.0)
        worst[[j for j, _, _ in twins]] = 0.0
        best = int(worst.argmax())
        others = np.delete(worst, best).max(initial=0.0)
        if worst[best] >= _MIN_LEAK and (1.0 - worst[best]) * _AHEAD <= 1.0 - others:
            leaks.append(best)
        if problem.n_classes > 2:
            leaks += np.flatnonzero(worst >= _PERFECT).tolist()
        leaks = sorted({*leaks, *(j for j, i, _ in twins if i in leaks)})
        if leaks:
            self.used[leaks] = False
            shown = format_labels([self.names[j] for j in leaks])
            lowest = float(self.pair_auc[leaks].min())
            what = f"AUC {lowest:.4g}{' or more' * (lowest < 1.0)} on every pair of classes"
            if lowest < _MIN_LEAK:
                what = "codes of the classes, one value for all rows of a class"
            yield self.finding("leak", f"{shown}: {what}", self.drop(leaks), columns=leaks)
        if constant:
            shown = format_labels([self.names[j] for j in constant])
            evidence = f"{shown}: one value in {_MAX_SHARE:.0%} of the rows, no pair told apart"
            yield self.finding("constant columns", evidence, self.drop(constant), columns=constant)
        if twins:
            columns, named = [j for j, _, _ in twins], [short_name(name) for name in self.names]
            shown = "; ".join(f"{named[j]} {how} {named[i]}" for j, i, how in twins[:5])
            more = f"; {len(twins) - 5} more" * (len(twins) > 5)
            yield self.finding(
                "duplicated columns", shown + more, self.drop(columns), columns=columns
            )

    def _compare_columns(self) -> tuple[list[int], list[tuple[int, int, str]], list[int]]:
        """Return codes of the classes, columns that repeat another, and nearly constant ones."""
        seen: dict[bytes, int] = {}
        codes, twins, constant = [], [], []
        n_classes, labels = self.problem.n_classes, self.problem.codes.astype(np.int64)
        least = 0.5 + 2.0 / np.sqrt(self.problem.class_counts.min())
        for j in range(self.problem.n_features):
            values = self.problem.columns.ordered([j])[0]
            levels, ranks = np.unique(values, return_inverse=True)
            if 1 < len(levels) <= n_classes == len(np.unique(labels * len(levels) + ranks)):
                codes.append(j)
                continue
            is_flat = len(levels) < 2 or np.bincount(ranks).max() >= _MAX_SHARE * len(values)
            if is_flat or levels[-1] - levels[0] < _MAX_RANGE * np.abs(levels).max():
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
        return codes, twins, constant

    # ---- what judges see

    def judged(self, scores: Array | None) -> Iterator[Finding]:
        """Yield what cross-validated classifiers find."""
        sample, chosen = self.sample, np.flatnonzero(self.used)
        if not len(chosen):
            return
        try:
            folds = self.folds(sample)
        except UndefinedMAUCError:
            return
        self.ran |= {"few rows", "inseparable pair", "wrong labels"}
        if sample.groups is None:
            self.ran.add("copied rows")
            share = copied_share(sample, folds)
            if share >= _MIN_COPIED:
                firsts = np.unique(self.hashes, return_index=True)[1]
                yield self.finding(
                    "copied rows",
                    f"{share:.0%} of the tested rows are in the training part as well, with the "
                    f"same values in all features",
                    f"diagnose(X, y, groups={self.code[3]})", rows=np.delete(self.rows, firsts),
                )  # fmt: skip
        judges = ask_judges(sample, folds, [chosen] * len(folds), n_jobs=self.n_jobs)
        tested = np.concatenate([fold.test for fold in judges.folds])
        names, pairs = list(judges.auc), np.arange(len(self.first))
        by_judge = np.nan_to_num([judges.auc[name] for name in names], nan=-1.0)
        winner = by_judge.argmax(axis=0)
        auc, pooled = by_judge[winner, pairs], judges.pooled(sample)

        def bounds_at(level: float) -> Array:
            """Return the bounds of the best judge of every pair, (2, n_pairs)."""
            tables = [np.concatenate(judges.scores[name]) for name in names]
            found = [mauc_interval(y_score=table, level=level, **pooled) for table in tables]
            bounds = np.array([[one.pair_lower, one.pair_upper] for one in found])
            return bounds[winner, :, pairs].T

        level = 1.0 - (1.0 - _LEVEL) / len(self.first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MaucWarning)  # of classes that no fold tests
            lower, (low, high) = bounds_at(level)[0], bounds_at(_LEVEL)
        if scores is not None:
            yield from self._model(scores, judges, auc, lower, level)
        yield from self._inseparable(auc, low, high)
        yield from self._labels(judges, sample.codes[tested], tested)
        yield from self._few(low, high, len(folds))
        yield from self._merged(chosen)

    def folds(self, sample: Problem) -> Folds:
        """Return folds that do not depend on the order of the rows, unless by groups."""
        if sample.groups is not None:
            return make_folds(sample, 5, self.seed)
        order = np.lexsort((self.hashes, sample.codes))
        found = make_folds(replace(sample, codes=sample.codes[order]), 5, self.seed)
        return [(np.sort(order[train]), np.sort(order[test])) for train, test in found]

    def _model(
        self, scores: Array, judges: Judged, auc: Array, lower: Array, level: float
    ) -> Iterator[Finding]:
        """Yield pairs on which the judges are better, and whether it saw groups it is tested on."""
        problem, y = self.problem, self.problem.classes[self.problem.codes]
        self.ran |= {"missed pair", *["groups across folds"] * (problem.groups is not None)}
        model = mauc_interval(y, scores, level=level, groups=problem.groups)
        model_auc = pair_auc_scores(y, scores).to_frame()["auc"].to_numpy()
        found = np.flatnonzero(lower > model.pair_upper)
        for at in found[np.argsort((model_auc - auc)[found], kind="stable")].tolist():
            yield self.finding(
                "missed pair",
                f"{self.pair(at)}: the model has AUC {model_auc[at]:.3f} (at most "
                f"{model.pair_upper[at]:.3f}), a classifier on these features {auc[at]:.3f} (at "
                f"least {lower[at]:.3f})",
                "siren_study(X, y)", codes=[self.first[at], self.second[at]],
            )  # fmt: skip
        kept = max(judges.mauc.values())
        lowest = mauc_interval(y, scores, groups=problem.groups).lower
        if problem.groups is None or lowest <= kept + _MIN_GAIN:
            return
        sample, chosen = replace(self.sample, groups=None), np.flatnonzero(self.used)
        folds = self.folds(sample)
        split = max(ask_judges(sample, folds, [chosen] * len(folds)).mauc.values())
        if split > kept + _MIN_GAIN:
            yield self.finding(
                "groups across folds",
                f"the model has {measure_name(self.problem.n_classes)} {model.mauc:.3f} (at least "
                f"{lowest:.3f}); classifiers have {kept:.3f} if no group is trained on and tested, "
                f"{split:.3f} if groups are split",
                "cross_val_predict(model, X, y, groups=groups, cv=StratifiedGroupKFold(5), "
                "method='predict_proba')",
            )  # fmt: skip

    def _inseparable(self, auc: Array, lower: Array, upper: Array) -> Iterator[Finding]:
        """Yield the pairs that neither judges nor features tell apart, the surest first."""
        is_found = (auc <= _MAX_CHANCE) & (lower <= 0.5)
        if self.problem.groups is None:  # whose rows the test of Mann and Whitney is not for
            tested = self.pair_auc[self.used & ~self.problem.is_nominal]
            n_i, n_j = self.problem.class_counts[[self.first, self.second]].astype(float)
            z = (tested.max(axis=0, initial=0.5) - 0.5) * np.sqrt(12 * n_i * n_j / (n_i + n_j + 1))
            is_found &= 2 * ndtr(-z) * max(len(tested), 1) >= _MIN_P
        is_found &= np.minimum(self.sizes[self.first], self.sizes[self.second]) >= _TINY
        for at in sorted(np.flatnonzero(is_found).tolist(), key=lambda at: upper[at]):
            a, b = self.first[at], self.second[at]
            yield self.finding(
                "inseparable pair",
                f"{self.pair(at)}: no classifier is shown to be better than chance, the best has "
                f"AUC {auc[at]:.3f} (interval {lower[at]:.3f} to {upper[at]:.3f}); the best "
                f"feature {self.pair_auc[self.used, at].max():.3f}",
                self.again("X, np.where(y == {1}, {0}, y)", a, b), codes=[a, b],
            )  # fmt: skip

    def _few(self, lower: Array, upper: Array, n_folds: int) -> Iterator[Finding]:
        """Yield the classes that are too small for an interval of +-`HALF_WIDTH` of a test set."""
        counts = self.problem.class_counts
        # Folds widen the interval, as `mauc_interval` says; rows of a test set do not.
        half = (upper - lower) / 2 / np.sqrt(1.0 + n_folds / (n_folds - 1.0))
        half[np.isnan(half)] = 0.5  # a class that no fold tests
        n_i, n_j = self.sizes[self.first], self.sizes[self.second]  # what bounds are made of
        needed = np.ceil(2 * n_i * n_j / (n_i + n_j) * (half / HALF_WIDTH) ** 2)
        smaller = np.where(counts[self.first] <= counts[self.second], self.first, self.second)
        is_small = needed > counts[smaller]
        codes = np.unique(smaller[is_small])
        if len(codes):
            codes = codes[np.argsort(counts[codes], kind="stable")]
            at = int(np.argmax(np.where(is_small & (smaller == codes[0]), needed, 0.0)))
            n_more = len(codes) - 1
            are = "is" if n_more == 1 else "are"
            others = f"; {plural(n_more, 'more class')} {are} too small" if n_more else ""
            found = self.finding(
                "few rows",
                f"{short_name(self.problem.classes[codes[0]])} has "
                f"{plural(counts[codes[0]], 'row')}: the AUC of {self.pair(at)} is known to "
                f"+-{half[at]:.2f}, and +-{HALF_WIDTH} needs "
                f"about {needed[at]:.0f} rows of each{others}",
                self.again(self.code[4] + ", y[y != {0}]", codes[0]), codes=codes.tolist(),
            )  # fmt: skip
            yield found._replace(severity="high" if counts[codes[0]] < _TINY else "low")

    def _labels(self, judges: Judged, codes: Array, tested: Array) -> Iterator[Finding]:
        """Yield pairs with rows of one class that lie deep in the other, beyond its overlap.

        Margins are the mean over the judges, 0 at the median of j and 1 at that of i. Quartiles of
        a normal overlap predict how many rows of j are as deep in i as its clearer three quarters,
        and as its clearer half. More at both, by binomial tests, look wrong: overlap decays.
        """
        tables, found = {name: np.concatenate(part) for name, part in judges.scores.items()}, []
        tables["trees"] = np.log(tables["trees"].clip(0.5 / N_TREES))  # as those of the others
        ordered = np.argwhere(~np.eye(len(self.sizes), dtype=bool)).tolist()
        for i, j in ordered:
            if min(self.sizes[i], self.sizes[j]) < _MIN_LABELLED:
                continue
            is_own, is_other = codes == i, codes == j
            margin = np.zeros(len(codes))
            for table in tables.values():
                part = table[:, i] - table[:, j]
                start, end = np.median(part[is_other]), np.median(part[is_own])
                if end > start:
                    margin += np.clip((part - start) / (end - start), -0.5, 1.5)
            own, other = margin[is_own], margin[is_other]
            low, middle, high = np.quantile(other, [0.25, 0.5, 0.75])
            spread = max(high - low, 1e-9) / 1.349
            depths = np.quantile(own, [0.25, 0.5])
            chances = np.maximum(ndtr((middle - depths) / spread), _MIN_NOISE)
            p = binom.sf((other[:, None] >= depths).sum(axis=0) - 1, len(other), chances)
            is_deep = p[0] < _ALPHA[0] / len(ordered) and p[1] < _ALPHA[1]
            if chances[0] <= _MAX_OVERLAP and is_deep:
                rows = self.rows[np.sort(tested[is_other & (margin >= depths[0])])]
                found.append((p[0], i, j, rows, chances[0] * len(other)))
        for _, i, j, rows, expected in sorted(found, key=lambda one: one[0]):
            one, other = (short_name(self.problem.classes[code]) for code in (j, i))
            yield self.finding(
                "wrong labels",
                f"{len(rows)} rows labelled {one} look like {other}, as much as the clearer three "
                f"quarters of {other} do; {expected:.1f} are expected",
                self.show(rows), codes=[j, i], rows=rows,
            )  # fmt: skip

    def _merged(self, chosen: Array) -> Iterator[Finding]:
        """Yield the class that falls into two clusters the most clearly, if one does."""
        sample = self.sample
        everything = np.arange(sample.n_samples)
        kept = [
            j for j in chosen
            if not sample.is_nominal[j]
            and len(np.unique(sample.columns.ordered([j])[0])) > _MAX_LEVELS
        ]  # fmt: skip
        if not kept:
            return
        self.ran.add("merged class")
        Z = np.nan_to_num(split_fold(sample, np.array(kept), everything, everything).train)
        found = []
        with threadpool_limits(1):
            for code in np.flatnonzero(self.sizes >= _MIN_CLUSTERED).tolist():
                rows = np.flatnonzero(sample.codes == code)
                rows = rows[np.argsort(self.hashes[rows], kind="stable")]
                distance, is_second = _clusters(Z[rows])
                smaller = rows[is_second == (is_second.mean() <= 0.5)]
                usual = np.median(np.delete(self.sizes, code))
                is_large = len(rows) >= _LARGE * usual
                excess = distance / (_MIN_DISTANCE_LARGE if is_large else _MIN_DISTANCE)
                if excess >= 1.0 and len(smaller) >= _MIN_SIDE * len(rows):
                    found.append((excess, distance, usual, code, self.rows[np.sort(smaller)]))
        if found:
            _, distance, usual, code, rows = max(found, key=lambda one: one[0])
            yield self.finding(
                "merged class",
                f"{short_name(self.problem.classes[code])} falls into two clusters, {distance:.1f} "
                f"of their standard deviations apart, the smaller with {len(rows)} of its "
                f"{self.sizes[code]} rows; other classes have {usual:.0f}",
                self.show(rows), codes=[code], rows=rows,
            )  # fmt: skip


def _clusters(Z: Array) -> tuple[float, Array]:
    """Return the distance of two clusters over their standard deviation, and which rows are where.

    Each half of the rows is projected on the line between the two means of the other half, in the
    plane of its two principal components.
    """
    distances, is_second = [], np.zeros(len(Z), bool)
    for start in (0, 1):
        other, is_own = Z[start::2], np.arange(len(Z)) % 2 != start
        center = other.mean(axis=0)
        axes = np.linalg.svd(other - center, full_matrices=False)[2][:2].T
        model = KMeans(2, n_init=4, random_state=0).fit((other - center) @ axes)
        first, second = model.cluster_centers_
        t = ((Z - center) @ axes - (first + second) / 2) @ (second - first)
        is_second = t > 0.0
        parts = t[is_own & is_second], t[is_own & ~is_second]
        if min(map(len, parts)) < 3:
            return 0.0, is_second
        spread = np.sqrt((parts[0].var() + parts[1].var()) / 2)
        distances.append((parts[0].mean() - parts[1].mean()) / max(spread, 1e-12))
    return float(np.mean(distances)), is_second
