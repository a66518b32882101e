"""What cross-validated classifiers make of the table: pairs a model misses, classes of few rows."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from mauc.evaluation.doctor.case import Case
from mauc.evaluation.doctor.findings import Finding
from mauc.evaluation.fold import Judged, ask_judges
from mauc.evaluation.folds import Folds
from mauc.exceptions import MaucWarning
from mauc.metrics.interval import mauc_interval
from mauc.metrics.mauc import pair_auc_scores
from mauc.results import measure_name, plural

Array = np.ndarray

HALF_WIDTH = 0.05  # of the interval of an AUC that rows should suffice for
_MIN_HALF_WIDTH = 0.055  # that is said to be too wide: with two digits it is not 0.05
_LEVEL = 0.95
_MIN_GAIN = 0.01  # MAUC of a model, above what is possible without rows of the tested groups
TINY = 12  # rows; a class of fewer is a fault of high severity


@dataclass(frozen=True)
class Verdict:
    """The best judge of every pair."""

    judges: Judged
    auc: Array  #: (n_pairs,)
    low: Array  #: bounds of each pair alone
    high: Array
    lower: Array  #: lower bounds of all pairs together
    level: float  #: of these


def judge(case: Case, folds: Folds) -> Verdict:
    """Return what the judges make of the columns that are used."""
    chosen = np.flatnonzero(case.used)
    judges = ask_judges(case.sample, folds, [chosen] * len(folds), n_jobs=case.n_jobs)
    names, pairs = list(judges.auc), np.arange(len(case.first))
    by_judge = np.nan_to_num([judges.auc[name] for name in names], nan=-1.0)
    winner = by_judge.argmax(axis=0)
    pooled = judges.pooled(case.sample)

    def bounds_at(level: float) -> Array:
        """Return the bounds of the best judge of every pair, (2, n_pairs)."""
        tables = [np.concatenate(judges.scores[name]) for name in names]
        found = [mauc_interval(y_score=table, level=level, **pooled) for table in tables]
        bounds = np.array([[one.pair_lower, one.pair_upper] for one in found])
        return bounds[winner, :, pairs].T

    level = 1.0 - (1.0 - _LEVEL) / len(case.first)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MaucWarning)  # of classes that no fold tests
        lower, (low, high) = bounds_at(level)[0], bounds_at(_LEVEL)
    return Verdict(judges, by_judge[winner, pairs], low, high, lower, level)


def find_missed_pairs(case: Case, verdict: Verdict, scores: Array) -> Iterator[Finding]:
    """Yield pairs on which the judges are better than the model that gave the scores."""
    case.looks_for("missed pair")
    problem, y, auc = case.problem, case.problem.classes[case.problem.codes], verdict.auc
    model = mauc_interval(y, scores, level=verdict.level, groups=problem.groups)
    model_auc = pair_auc_scores(y, scores).to_frame()["auc"].to_numpy()
    found = np.flatnonzero(verdict.lower > model.pair_upper)
    for at in found[np.argsort((model_auc - auc)[found], kind="stable")].tolist():
        yield case.finding(
            "missed pair",
            f"{case.pair(at)}: the model has AUC {model_auc[at]:.3f} (at most "
            f"{model.pair_upper[at]:.3f}), a classifier on these features {auc[at]:.3f} (at "
            f"least {verdict.lower[at]:.3f})",
            "pair_tests(X, y)",
            codes=[case.first[at], case.second[at]],
        )


def find_groups_across_folds(case: Case, verdict: Verdict, scores: Array) -> Iterator[Finding]:
    """Yield that the model is better than is possible without rows of the tested groups."""
    problem, y = case.problem, case.problem.classes[case.problem.codes]
    if problem.groups is None or not case.looks_for("groups across folds"):
        return
    kept = max(verdict.judges.mauc.values())
    model = mauc_interval(y, scores, groups=problem.groups)
    if model.lower <= kept + _MIN_GAIN:
        return
    sample, chosen = replace(case.sample, groups=None), np.flatnonzero(case.used)
    folds = case.folds(sample)
    split = max(ask_judges(sample, folds, [chosen] * len(folds)).mauc.values())
    if split > kept + _MIN_GAIN:
        yield case.finding(
            "groups across folds",
            f"the model has {measure_name(case.problem.n_classes)} {model.mauc:.3f} (at least "
            f"{model.lower:.3f}); classifiers have "
            f"{kept:.3f} if no group is trained on and tested, {split:.3f} if groups are split",
            "cross_val_predict(model, X, y, groups=groups, cv=StratifiedGroupKFold(5), "
            "method='predict_proba')",
        )


def find_few_rows(case: Case, verdict: Verdict) -> Iterator[Finding]:
    """Yield the classes that are too small for an interval of +-`HALF_WIDTH` of a test set."""
    case.looks_for("few rows")
    counts, n_folds = case.problem.class_counts, len(verdict.judges.folds)
    # Folds widen the interval, as `mauc_interval` says; rows of a test set do not.
    half = (verdict.high - verdict.low) / 2 / np.sqrt(1.0 + n_folds / (n_folds - 1.0))
    half[np.isnan(half)] = 0.5  # a class that no fold tests
    n_i, n_j = case.sizes[case.first], case.sizes[case.second]  # what bounds are made of
    needed = np.ceil(2 * n_i * n_j / (n_i + n_j) * (half / HALF_WIDTH) ** 2)
    smaller = np.where(counts[case.first] <= counts[case.second], case.first, case.second)
    is_small = (needed > counts[smaller]) & (half >= _MIN_HALF_WIDTH)
    codes = np.unique(smaller[is_small])
    if not len(codes):
        return
    codes = codes[np.argsort(counts[codes], kind="stable")]
    at = int(np.argmax(np.where(is_small & (smaller == codes[0]), needed, 0.0)))
    n_others = len(codes) - 1
    others = f"; {plural(n_others, 'more class')} {'is' if n_others == 1 else 'are'} too small"
    n_rows = int(counts[codes[0]])
    found = case.finding(
        "few rows",
        f"{case.label(codes[0])} has {plural(n_rows, 'row')}: the AUC of "
        f"{case.pair(at)} is known to +-{half[at]:.2f}, and +-{HALF_WIDTH} needs about "
        f"{needed[at]:.0f} rows of each{others * (n_others > 0)}",
        case.again(case.code[4] + ", y[y != {0}]", codes[0]),
        codes=codes.tolist(),
    )
    yield found._replace(severity="high" if n_rows < TINY else "low")
