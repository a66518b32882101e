"""Pairs of classes that nothing tells apart, by permuted labels; columns that interact."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from mauc.evaluation.doctor.case import Case, of_values
from mauc.evaluation.doctor.findings import Finding
from mauc.evaluation.doctor.judged import TINY, Verdict
from mauc.evaluation.judges import Split, score_fold, split_fold
from mauc.results import short_name

Array = np.ndarray

_MAX_CHANCE = 0.65  # AUC of a pair that is said to be inseparable
_MIN_P = 1e-3  # of its best feature on all rows, times the number of features
_LINEAR = "lda", "logistic"
_TESTS = _LINEAR, ("nb", "nn"), ("trees",)  # each by itself, three tests in all
_N_PERMUTATIONS = 59  # of which one as good as the table shows three times p above 0.05
_N_FOLDS = 5
_MAX_TESTED = 5  # pairs
_MAX_ROWS = 1_000  # of a pair that judges other than the linear ones see
_MAX_SINGLE = 0.75  # AUC of the best feature on a pair that interactions are sought for
_MAX_ALONE, _MIN_TOGETHER = 0.6, 0.7  # AUC of each of two interacting columns, and of both
_MAX_CROSSED = 300  # columns whose pairs are looked at
_MAX_CROSSED_P = 1e-4  # over all pairs of columns, of a product that is no chance
_N_SHUFFLES = 99


def find_inseparable(case: Case, verdict: Verdict, interacting: set[int]) -> Iterator[Finding]:
    """Yield the pairs that neither judges nor features tell apart, the surest first.

    What is said of a pair is tested on it alone, by judges that learn permuted labels.
    `interacting` pairs are told apart.
    """
    if not case.looks_for("inseparable pair"):
        return
    auc, lower, upper = verdict.auc, verdict.low, verdict.high
    is_found = (auc <= _MAX_CHANCE) & (lower <= 0.5)
    is_found[list(interacting)] = False
    if case.problem.groups is None:  # whose rows the test of Mann and Whitney is not for
        tested = case.pair_auc[case.used & ~case.problem.is_nominal]
        n_i, n_j = case.problem.class_counts[[case.first, case.second]].astype(float)
        z = (tested.max(axis=0, initial=0.5) - 0.5) * np.sqrt(12 * n_i * n_j / (n_i + n_j + 1))
        is_found &= 2 * ndtr(-z) * max(len(tested), 1) >= _MIN_P
    is_found &= np.minimum(case.sizes[case.first], case.sizes[case.second]) >= TINY
    order = sorted(np.flatnonzero(is_found).tolist(), key=lambda at: upper[at])
    found = []
    for at in order[:_MAX_TESTED]:
        a, b = int(case.first[at]), int(case.second[at])
        p = _permutation_p(case, a, b)
        if p is None:
            continue
        shown = f"= {p:.2f}" if p >= 0.1 else "above 0.05"
        found.append(
            case.finding(
                "inseparable pair",
                f"{case.pair(at)}: no classifier is shown to be better than chance (permuted "
                f"labels, p {shown}), the best has AUC {auc[at]:.3f} (interval {lower[at]:.3f} to "
                f"{upper[at]:.3f}); the best feature {case.pair_auc[case.used, at].max():.3f}",
                case.again("X, np.where(y == {1}, {0}, y)", a, b),
                codes=[a, b],
            )
        )
    n_more = len(order) - _MAX_TESTED
    if found and n_more > 0:
        more = f"{found[-1].evidence}; {n_more} more pairs look like this, but were not tested"
        found[-1] = found[-1]._replace(evidence=more)
    yield from found


def _permutation_p(case: Case, a: int, b: int) -> float | None:
    """Return the p of what the judges see of a pair, None if it is 0.05 or less for any of them.

    There are three tests, so p is three times the least (Bonferroni). Permutations end with the
    first that is as good as the labels of the table.
    """
    pair = _PairOfClasses(case, a, b)
    found = []
    with threadpool_limits(1):
        for judges in _TESTS:
            generator = np.random.default_rng(0)
            observed = pair.auc(pair.codes, judges)
            for n_done in range(1, _N_PERMUTATIONS + 1):
                if pair.auc(pair.permuted(generator), judges) >= observed - 1e-12:
                    found.append(len(_TESTS) / n_done)
                    break
            else:
                return None
    return min(1.0, *found)


class _PairOfClasses:
    """The rows of two classes in an order, and in folds, that do not depend on their labels."""

    def __init__(self, case: Case, a: int, b: int) -> None:
        sample = case.sample
        rows = np.flatnonzero(np.isin(sample.codes, (a, b)))
        rows = rows[np.lexsort((sample.codes[rows], case.hashes[rows]))]
        chosen = np.flatnonzero(case.used)
        X = np.array(sample.value_columns(chosen).T, dtype=np.float64)[rows]
        self.codes = (sample.codes[rows] == b).astype(np.int32)
        self.groups = None
        units = np.arange(len(rows))
        if sample.groups is not None:
            units = self.groups = np.unique(sample.groups[rows], return_inverse=True)[1]
        two = replace(sample, classes=sample.classes[[a, b]])
        problem, columns = of_values(two, X, self.codes, chosen), np.arange(len(chosen))
        self.all_rows, self.some_rows = [], []
        for fold in range(_N_FOLDS):
            train, test = np.flatnonzero(units % _N_FOLDS != fold), units % _N_FOLDS == fold
            test = np.flatnonzero(test)
            if not len(test) or not len(train):
                continue
            self.all_rows.append((train, test, split_fold(problem, columns, train, test)))
            # In the order of hashes the first rows are as good as random ones.
            train, test = train[: _MAX_ROWS // 5 * 4], test[: _MAX_ROWS // 5]
            self.some_rows.append((train, test, split_fold(problem, columns, train, test)))

    def permuted(self, generator: np.random.Generator) -> Array:
        """Return labels in another order, within groups that have both; others keep together."""
        if self.groups is None:
            return generator.permutation(self.codes)
        codes = self.codes.copy()
        sums, sizes = np.bincount(self.groups, codes), np.bincount(self.groups)
        is_mixed = (sums > 0) & (sums < sizes)
        for group in np.flatnonzero(is_mixed):
            rows = np.flatnonzero(self.groups == group)
            codes[rows] = generator.permutation(codes[rows])
        of_group = np.zeros(len(sums), codes.dtype)
        of_group[~is_mixed] = generator.permutation((sums > 0)[~is_mixed])
        return np.where(is_mixed[self.groups], codes, of_group[self.groups]).astype(codes.dtype)

    def auc(self, codes: Array, judges: tuple[str, ...]) -> float:
        """Return the largest cross-validated AUC of some judges, the mean over the folds."""
        found = []
        for every, some in zip(self.all_rows, self.some_rows, strict=True):
            row = []
            for judge in judges:
                train, test, split = every if judge in _LINEAR else some
                y = codes[test]
                if np.ptp(codes[train]) and np.ptp(y):
                    row.append(_auc(_scores(judge, split._replace(codes=codes[train])), y))
                else:
                    row.append(np.nan)
            found.append(row)
        table = np.array(found)
        known = table[~np.isnan(table).any(axis=1)]
        return float(known.mean(axis=0).max()) if len(known) else 0.5


def _scores(judge: str, split: Split) -> Array:
    """Return the scores of the second of two classes."""
    split = split._replace(n_classes=2)
    if judge == "logistic":
        model = LogisticRegression(max_iter=50, tol=1e-3)
        model.fit(np.nan_to_num(split.train), split.codes)
        return np.asarray(model.decision_function(np.nan_to_num(split.test)))
    (scores,) = score_fold(judge, split, [len(split.ends) - 1])
    return np.asarray(scores[:, 1] - scores[:, 0])


def _auc(scores: Array, is_second: Array) -> float:
    """Return the AUC of scores."""
    n_second = int(is_second.sum())
    above = rankdata(scores)[is_second == 1].sum() - n_second * (n_second + 1) / 2
    return float(above / (n_second * (len(scores) - n_second)))


# ---- columns that interact


def find_interactions(case: Case) -> tuple[list[Finding], set[int]]:
    """Return two columns that together tell classes that no column tells alone, and the pairs.

    Columns are cut at their medians. The product of two of them that agrees the most with the
    classes is looked at, and must be beyond that of 99 permutations of the labels.
    """
    chosen = np.flatnonzero(case.used)
    if not 2 <= len(chosen) <= _MAX_CROSSED or not case.looks_for("interaction"):
        return [], set()
    sample, best = case.sample, case.pair_auc[chosen].max(axis=0)
    is_large = np.minimum(case.sizes[case.first], case.sizes[case.second]) >= TINY
    hard = np.flatnonzero((best <= _MAX_SINGLE) & is_large)
    hard = hard[np.argsort(best[hard], kind="stable")][:_MAX_TESTED]
    found, pairs = [], set()
    if not len(hard):
        return [], set()
    X = np.array(sample.value_columns(chosen), dtype=np.float64)
    for at in hard.tolist():
        a, b = int(case.first[at]), int(case.second[at])
        rows = np.flatnonzero(np.isin(sample.codes, (a, b)))
        rows = rows[np.lexsort((sample.codes[rows], case.hashes[rows]))]
        signs = _signs(X[:, rows])
        is_second = sample.codes[rows] == b
        groups = None if sample.groups is None else sample.groups[rows]
        crossed = _best_crossed(signs, is_second, groups, len(hard))
        if crossed is None:
            continue
        i, j = crossed
        alone = case.pair_auc[chosen[[i, j]], at]
        cells = (signs[i] > 0) * 2 + (signs[j] > 0)
        rates = np.bincount(cells, is_second, 4) / np.maximum(np.bincount(cells, minlength=4), 1)
        together = _auc(rates[cells], is_second)
        if alone.max() > _MAX_ALONE or together < _MIN_TOGETHER:
            continue
        pairs.add(at)
        columns = [int(chosen[i]), int(chosen[j])]
        names = [short_name(case.names[column]) for column in columns]
        keys = [case.key(column) for column in columns]
        found.append(
            case.finding(
                "interaction",
                f"{names[0]} and {names[1]} tell {case.pair(at)} only together: AUC {together:.3f} "
                f"of both, cut at their medians, {alone[0]:.3f} and {alone[1]:.3f} alone; a "
                f"selector that looks at one column at a time misses them",
                f"GreedyMAUC(keep={keys}).fit(X, y)",
                codes=[a, b],
                columns=columns,
            )
        )
    return found, pairs


def _signs(XT: Array) -> Array:
    """Return the values of columns as 1 above the median, else -1, or above the least value."""
    known = np.where(np.isnan(XT), np.nanmin(XT, axis=1, initial=np.inf)[:, None], XT)
    middle = np.median(known, axis=1)[:, None]
    low = known.min(axis=1)[:, None]
    high = known.max(axis=1)[:, None]
    middle = np.where(middle == high, (low + high) / 2, middle)
    return np.where(known > middle, 1.0, -1.0)


def _best_crossed(
    signs: Array, is_second: Array, groups: Array | None, n_tests: int
) -> tuple[int, int] | None:
    """Return the two columns whose product agrees most with the classes, if not by chance."""
    n = len(is_second)
    signs = signs - signs.mean(axis=1)[:, None]
    generator = np.random.default_rng(0)

    def strengths(labels: Array) -> Array:
        weights = labels - labels.mean()
        found = np.abs(np.triu((signs * weights) @ signs.T, 1))
        return np.asarray(found)

    labels = is_second.astype(float)
    observed = strengths(labels)
    best = int(observed.argmax())
    i, j = divmod(best, len(signs))
    product = signs[i] * signs[j]
    spread = product.std() * labels.std() * np.sqrt(n)
    n_pairs = len(signs) * (len(signs) - 1) / 2
    if (
        spread <= 0.0
        or 2 * ndtr(-observed.flat[best] / spread) * n_pairs * n_tests > _MAX_CROSSED_P
    ):
        return None
    for _ in range(_N_SHUFFLES):
        if groups is None:
            other = generator.permutation(labels)
        else:
            numbers = generator.permutation(np.unique(groups, return_inverse=True)[1].max() + 1)
            order = np.argsort(numbers[np.unique(groups, return_inverse=True)[1]], kind="stable")
            other = labels[order]
        if strengths(other).max() >= observed.flat[best]:
            return None
    return i, j
