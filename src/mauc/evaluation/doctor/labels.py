"""Rows whose label looks wrong: deep in another class, and more of them than overlap explains."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import betabinom, binom
from threadpoolctl import threadpool_limits

from mauc.evaluation.doctor.case import Case, of_values
from mauc.evaluation.doctor.findings import Finding
from mauc.evaluation.fold import Judged
from mauc.evaluation.judges import N_TREES, score_fold, split_fold

Array = np.ndarray

_MIN_NOISE = np.array([0.005, 0.0025])  # shares of contrary labels that are to be expected
_MIN_LABELLED = 20  # rows of both classes
_MAX_OVERLAP = 0.05  # share of a class that may lie where the clearer rows of another are
_ALPHA = 0.05, 0.02  # of labels that look wrong: over all ordered pairs, and of the deeper ones
_MAX_SHOWN = 3  # findings
_N_MIXED = 600  # rows whose values are mixed, per class, about


class Suspects(NamedTuple):
    """Rows of class `other` that lie where the clearer three quarters of class `own` are."""

    p: float
    own: int
    other: int
    depths: Array  #: the first quartile and the median of the margins of `own`
    n_deep: int  #: rows of `other` beyond the first of them
    rows: Array  #: positions of these in the sample
    expected: float


class Margins:
    """How far rows lie from one class towards another, the mean over the judges.

    0 is the median of the class, 1 that of the other class.
    """

    def __init__(self, scores: dict[str, list[Array]], codes: Array) -> None:
        self.codes = codes
        self.tables = _tables(scores)

    def scale(self, i: int, j: int) -> list[tuple[str, float, float]]:
        """Return the judges that tell i from j, and their medians of j and of i."""
        found = []
        for name, table in self.tables.items():
            part = table[:, i] - table[:, j]
            start, end = np.median(part[self.codes == j]), np.median(part[self.codes == i])
            if end > start:
                found.append((name, start, end))
        return found

    def between(self, i: int, j: int, tables: dict[str, Array] | None = None) -> Array:
        """Return the margins from j to i, of the tested rows or of rows with other scores."""
        tables = tables or self.tables
        margin = np.zeros(len(tables["trees"]))
        for name, start, end in self.scale(i, j):
            part = tables[name][:, i] - tables[name][:, j]
            margin += np.clip((part - start) / (end - start), -0.5, 1.5)
        return margin


def find_wrong_labels(case: Case, judges: Judged) -> Iterator[Finding]:
    """Yield pairs with rows of one class that lie deep in the other, beyond its overlap."""
    tested = np.concatenate([fold.test for fold in judges.folds])
    margins = Margins(judges.scores, case.sample.codes[tested])
    n_ordered = len(case.sizes) * (len(case.sizes) - 1)
    found = list(_suspects(case, margins, tested, n_ordered))
    if found:
        found = _confirmed(case, judges, margins, found, n_ordered)
    found.sort(key=lambda one: (one.p, one.own, one.other))
    shown, others = found[:_MAX_SHOWN], found[_MAX_SHOWN:]
    for at, one in enumerate(shown):
        own, other = case.label(one.own), case.label(one.other)
        rows = case.rows[one.rows]
        more = ""
        if others and at == len(shown) - 1:
            pairs = [f"{case.label(two.other)} as {case.label(two.own)}" for two in others]
            more = f"; so do rows labelled {', '.join(pairs[:5])}{', ...' * (len(pairs) > 5)}"
        yield case.finding(
            "wrong labels",
            f"{len(rows)} rows labelled {other} look like {own}, as much as the clearer three "
            f"quarters of {own} do; {one.expected:.1f} are expected{more}",
            case.show(rows),
            codes=[one.other, one.own],
            rows=rows,
        )


def _suspects(case: Case, margins: Margins, tested: Array, n_ordered: int) -> Iterator[Suspects]:
    """Yield pairs with more deep rows than a normal tail through the quartiles predicts."""
    codes = margins.codes
    for i, j in np.argwhere(~np.eye(len(case.sizes), dtype=bool)).tolist():
        if min(case.sizes[i], case.sizes[j]) < _MIN_LABELLED:
            continue
        margin = margins.between(i, j)
        own, other = margin[codes == i], margin[codes == j]
        low, middle, high = np.quantile(other, [0.25, 0.5, 0.75])
        spread = max(high - low, 1e-9) / 1.349
        depths = np.quantile(own, [0.25, 0.5])
        chances = np.maximum(ndtr((middle - depths) / spread), _MIN_NOISE)
        n_deep = (other[:, None] >= depths).sum(axis=0)
        p = binom.sf(n_deep - 1, len(other), chances)
        is_deep = p[0] < _ALPHA[0] / n_ordered and p[1] < _ALPHA[1]
        if chances[0] <= _MAX_OVERLAP and is_deep:
            rows = np.sort(tested[codes == j][other >= depths[0]])
            yield Suspects(p[0], i, j, depths, int(n_deep[0]), rows, chances[0] * len(other))


def _confirmed(
    case: Case, judges: Judged, margins: Margins, found: list[Suspects], n_ordered: int
) -> list[Suspects]:
    """Return the suspects that exceed what tails and steps of the features make by themselves.

    A row whose values come from different rows of its class is as far out in each feature as the
    class is, but wrong labels, which are so in all features, are taken apart. Classes with heavy
    tails, or of few values, have as many deep rows when mixed.
    """
    kept = []
    mixed = _score_mixed(case, judges, sorted({one.other for one in found}))
    for one in found:
        margin = margins.between(one.own, one.other, mixed[one.other])
        n, n_all = int(case.sizes[one.other]), len(margin)
        n_mixed = int((margin >= one.depths[0]).sum())
        p = float(betabinom.sf(one.n_deep - 1, n, n_mixed + 0.5, n_all - n_mixed + 0.5))
        if p < _ALPHA[0] / n_ordered:
            expected = max(one.expected, n * n_mixed / n_all)
            kept.append(one._replace(p=max(one.p, p), expected=expected))
    return kept


def _score_mixed(case: Case, judges: Judged, classes: list[int]) -> dict[int, dict[str, Array]]:
    """Return the judges' scores of rows whose values are those of different rows of a class."""
    sample, chosen = case.sample, np.flatnonzero(case.used)
    X = np.array(sample.value_columns(chosen).T, dtype=np.float64)
    generator = np.random.default_rng(0)
    made, codes, folds, n_rows = [X], [sample.codes], [], len(X)
    is_trained = np.ones(len(X), bool)
    for fold in judges.folds:
        tests = []
        for code in classes:
            rows = fold.test[sample.codes[fold.test] == code]
            rows = rows[np.argsort(case.hashes[rows], kind="stable")]
            for _ in range(-(-_N_MIXED // int(case.sizes[code])) if len(rows) > 1 else 0):
                made.append(generator.permuted(X[rows], axis=0))
                codes.append(np.full(len(rows), code))
                tests.append(np.arange(n_rows, n_rows + len(rows)))
                n_rows += len(rows)
        is_trained[:] = True
        is_trained[fold.test] = False
        if tests:
            folds.append((np.flatnonzero(is_trained), np.concatenate(tests)))
    every, columns = np.concatenate(codes), np.arange(len(chosen))
    problem = of_values(sample, np.concatenate(made), every, chosen)
    scores: dict[str, list[Array]] = {name: [] for name in judges.scores}
    with threadpool_limits(1):
        for train, test in folds:
            split = split_fold(problem, columns, train, test, case.n_jobs)
            trained = np.unique(problem.codes[train])
            for name, parts in scores.items():
                (known,) = score_fold(name, split, [len(columns)])
                parts.append(np.zeros((len(test), problem.n_classes)))
                parts[-1][:, trained] = known
    of_rows = every[np.concatenate([test for _, test in folds])]
    return {
        code: {name: table[of_rows == code] for name, table in _tables(scores).items()}
        for code in classes
    }


def _tables(scores: dict[str, list[Array]]) -> dict[str, Array]:
    """Return the scores of the judges, all of them as logarithms."""
    tables = {name: np.concatenate(parts) for name, parts in scores.items()}
    tables["trees"] = np.log(tables["trees"].clip(0.5 / N_TREES))
    return tables
