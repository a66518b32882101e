"""Columns that give the classes away, say which rows belong together, or tell nothing."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr
from scipy.stats import chi2_contingency, hypergeom, rankdata

from mauc.data.rows import find_group_column, is_identifier, looks_like_group
from mauc.evaluation.doctor.case import Case
from mauc.evaluation.doctor.findings import Finding
from mauc.exceptions import format_labels
from mauc.results import short_name

Array = np.ndarray

_PERFECT = 1.0 - 1e-9
_MIN_LEAK = 0.98  # least AUC over the pairs of a column that leaks, if it is far ahead:
_AHEAD = 10.0  # times what others lack to 1
_MAX_SHARE = 0.98  # of the rows with the same value, in a column that is nearly constant
_MAX_RANGE = 1e-7  # of the values of such a column, over the largest
_MIN_TOLD = 0.01  # p, over all classes, of a column that hardly varies and tells nothing
_MIN_MARKED = 0.95  # share of a class with a value, and of the rows with the value in the class
_MIN_ROWS = 5  # of a class or category that is looked at
_RARE = 1e-4  # probability, over all columns, of what is no chance
_MIN_GAP = 0.3  # between shares of missing values that are worth a word
_MIN_DISTANT = 2.0  # times the range of the others that a number such as -999 is away from them
_MIN_SHARES = 3  # different values of a column that holds shares or means of the labels
_EXACT = 1e-6  # difference of such a value and the share
_MIN_CORRELATION = 0.8  # of the values of such a column and the shares, if they are smoothed
_MOST = 0.75  # of such values follow from two of them
_N_TRIED = 50  # pairs of values
_MIN_AGREEMENT = 0.8  # of rows next to each other in time, beyond chance
_MAX_BATCH = 20  # rows; of fewer, dates tell nothing


class Compared(NamedTuple):
    """What columns are to the classes and to each other."""

    codes: list[int]  #: that have one value in all rows of a class
    twins: list[tuple[int, int, str]]  #: a column, the earlier one that it repeats, and how
    constant: list[int]


def find_column_faults(
    case: Case, missing: Array | None, dates: Mapping[str, Array]
) -> Iterator[Finding]:
    """Yield what is wrong with columns as they are; those that leak are not judged further."""
    compared = _compare_columns(case)
    leaks = list(_find_leaks(case, compared))
    yield from leaks
    yield from _several(case, list(_find_markers(case, compared, missing)))
    yield from _find_target_means(case)
    told = {name for one in leaks if "leak" not in case.ignored for name in one.features}
    yield from _find_dates(case, {name: one for name, one in dates.items() if name not in told})
    if not leaks:
        yield from _find_groups(case)
    yield from _find_sentinels(case)
    yield from _find_duplicates(case, compared)
    yield from _find_constants(case, compared)


def _compare_columns(case: Case) -> Compared:
    """Return columns with one value per class, that repeat another, and nearly constant ones."""
    problem, seen = case.problem, dict[bytes, int]()
    codes, twins, constant = [], [], []
    n_classes, labels = problem.n_classes, problem.codes.astype(np.int64)
    least = 0.5 + 2.0 / np.sqrt(problem.class_counts.min())
    for j in range(problem.n_features):
        values = problem.columns.ordered([j])[0]
        levels, ranks = np.unique(values, return_inverse=True)
        if 1 < len(levels) <= n_classes == len(np.unique(labels * len(levels) + ranks)):
            codes.append(j)
            continue
        is_flat = len(levels) < 2 or np.bincount(ranks).max() >= _MAX_SHARE * len(values)
        if is_flat or levels[-1] - levels[0] < _MAX_RANGE * np.abs(levels).max():
            if len(levels) < 2 or (
                case.pair_auc[j].max() < least and not _tells(case, ranks, is_flat=is_flat)
            ):
                constant.append(j)
            continue
        if ranks[ranks != ranks[0]][0] < ranks[0] and not np.isnan(values).any():
            ranks = len(levels) - 1 - ranks  # a falling map keeps what a column tells
        digest = hashlib.blake2b(ranks.astype(np.int32).tobytes(), digest_size=16).digest()
        i = seen.setdefault(digest, j)
        if i != j:
            other = problem.columns.ordered([i])[0]
            same = np.array_equal(values, other, equal_nan=True)
            twins.append((j, i, "equals" if same else "has the order of"))
    return Compared(codes, twins, constant)


def _tells(case: Case, ranks: Array, *, is_flat: bool) -> bool:
    """Whether a column that hardly varies tells a class from the others all the same."""
    counts = case.problem.class_counts
    if not is_flat:
        z = (rankdata(ranks) - (len(ranks) + 1) / 2) / max(float(ranks.std()), 1e-300)
        sums = np.bincount(case.problem.codes, z, len(counts)) / np.sqrt(counts)
        return bool(2 * ndtr(-np.abs(sums).max()) * len(counts) < _MIN_TOLD)
    is_rare = ranks != np.bincount(ranks).argmax()
    of_class = np.bincount(case.problem.codes[is_rare], minlength=len(counts))
    p = hypergeom.sf(of_class - 1, len(ranks), counts, is_rare.sum())
    return bool(p.min() * len(counts) < _MIN_TOLD)


# ---- what gives the classes away


def _find_leaks(case: Case, compared: Compared) -> Iterator[Finding]:
    """Yield the columns that tell all classes apart: each by itself, and codes together."""
    case.looks_for("leak")
    n_classes = case.problem.n_classes
    worst = case.pair_auc.min(axis=1)
    worst[[j for j, _, _ in compared.twins]] = 0.0
    best = int(worst.argmax())
    others = np.delete(worst, best).max(initial=0.0)
    alone = {j for j in compared.codes if len(_levels(case, j)) == n_classes}
    if worst[best] >= _MIN_LEAK and (1.0 - worst[best]) * _AHEAD <= 1.0 - others:
        alone.add(best)
    if n_classes > 2:
        alone.update(np.flatnonzero(worst >= _PERFECT).tolist())
    alone.update([j for j, i, _ in compared.twins if i in alone])
    together = [j for j in compared.codes if j not in alone]
    firsts = np.unique(case.problem.codes, return_index=True)[1]
    codes = np.array([case.problem.columns.ordered([j])[0][firsts] for j in together])
    if not together or len(np.unique(codes, axis=1).T) < n_classes:
        together = []
    next = case.drop(sorted([*alone, *together]))
    case.used[[*alone, *together]] = False
    if alone:
        columns = sorted(alone)
        lowest = float(case.pair_auc[columns].min())
        evidence = f"AUC {lowest:.4g}{' or more' * (lowest < 1.0)} on every pair of classes"
        yield case.finding("leak", f"{_shown(case, columns)}: {evidence}", next, columns=columns)
    if together:
        evidence = "together codes of the classes, each with one value for all rows of a class"
        yield case.finding("leak", f"{_shown(case, together)}: {evidence}", next, columns=together)


def _find_markers(case: Case, compared: Compared, missing: Array | None) -> Iterator[Finding]:
    """Yield columns with a value that marks a class, and missing values that hint at one."""
    looks, looks_missing = case.looks_for("class marker"), case.looks_for("missing by class")
    problem = case.problem
    for j in np.flatnonzero(case.used).tolist():
        values = problem.columns.floats([j])[0]
        if j in compared.codes:
            case.used[j] = False
            if looks:
                yield from _code_marker(case, j, values)
            continue
        gone = values != values
        if missing is not None:
            gone = gone | missing[:, j]
        is_marked = False
        for what, has_value in _values_to_try(values, gone, is_nominal=problem.is_nominal[j]):
            code = _marked_class(case, j, has_value)
            if code is None:
                continue
            is_marked = True
            case.used[j] = False
            if looks:
                n_own = int(has_value[problem.codes == code].sum())
                yield case.finding(
                    "class marker",
                    f"{_name(case, j)} is {what} in {n_own:,} of {problem.class_counts[code]:,} "
                    f"rows of {case.label(code)} and in {int(has_value.sum()) - n_own:,} others: "
                    f"is it known before the class?",
                    case.drop([j]),
                    codes=[code],
                    columns=[j],
                )
            break
        if looks_missing and not is_marked and gone.any() and not gone.all():
            yield from _missing_by_class(case, j, gone)


def _several(case: Case, found: list[Finding]) -> list[Finding]:
    """Return findings, where several columns mark classes as what features may well do."""
    markers = [one for one in found if one.kind == "class marker"]
    if len(markers) < 2:
        return found
    names = [str(name) for name in case.names]
    case.used[[names.index(one.features[0]) for one in markers]] = True
    return [one._replace(severity="medium") if one.kind == "class marker" else one for one in found]


def _code_marker(case: Case, j: int, values: Array) -> Iterator[Finding]:
    """Yield that a column, which is no code of all classes, has one value per class."""
    problem = case.problem
    firsts = np.unique(problem.codes, return_index=True)[1]
    levels, of_class = np.unique(values[firsts], return_inverse=True)
    alone = [code for code in range(problem.n_classes) if (of_class == of_class[code]).sum() == 1]
    n, n_own = problem.n_samples, problem.class_counts[alone].max(initial=0)
    chance = gammaln(n_own + 1) + gammaln(n - n_own + 1) - gammaln(n + 1)  # that rows are those
    if alone and chance + np.log(problem.n_features) > np.log(_RARE):
        case.used[j] = True
        return
    found = case.finding(
        "class marker",
        f"{_name(case, j)} has one value in all rows of a class, {len(levels)} for "
        f"{problem.n_classes} classes: is it known before the class?",
        case.drop([j]),
        codes=alone,
        columns=[j],
    )
    yield found if alone else found._replace(severity="medium")


def _values_to_try(values: Array, gone: Array, *, is_nominal: bool) -> Iterator[tuple[str, Array]]:
    """Yield what might mark a class: no value, a category, or a number that others are not near."""
    if gone.any() and not gone.all():
        yield "missing", gone
    levels, ranks, counts = np.unique(
        np.where(gone, np.inf, values), return_inverse=True, return_counts=True
    )
    if is_nominal:
        for at in np.flatnonzero(counts >= _MIN_ROWS):
            if np.isfinite(levels[at]):
                yield "of one category", ranks == at
        return
    at = np.intp(counts.argmax())  # a number that is repeated where others are not
    are_distinct = len(levels) > 2 and 2 * (len(levels) - 1) >= len(values) - counts[at]
    if are_distinct and counts[at] >= _MIN_ROWS and np.isfinite(levels[at]):
        yield f"{levels[at]:g}", ranks == at


def _marked_class(case: Case, j: int, has_value: Array) -> int | None:
    """Return the class whose rows nearly all have a value that others do not, far ahead of others.

    Far ahead: of all other columns none tells the class from the others nearly as well.
    """
    counts = case.problem.class_counts
    own = np.bincount(case.problem.codes, has_value, len(counts))
    code = int(np.argmax(own))
    share, in_class = own[code] / counts[code], own[code] / max(has_value.sum(), 1)
    if own[code] < _MIN_ROWS or min(share, in_class) < _MIN_MARKED:
        return None
    n, n_own = len(has_value), counts[code]
    chance = gammaln(n_own + 1) + gammaln(n - n_own + 1) - gammaln(n + 1)
    if chance + np.log(case.problem.n_features) > np.log(_RARE):
        return None
    pairs = (case.first == code) | (case.second == code)
    rates = own / counts
    mine = 0.5 + (share - np.delete(rates, code).max()) / 2
    others = np.delete(case.pair_auc[:, pairs].min(axis=1), j)[np.delete(case.used, j)]
    return code if (1.0 - mine) * _AHEAD / 2 <= 1.0 - others.max(initial=0.0) else None


def _missing_by_class(case: Case, j: int, gone: Array) -> Iterator[Finding]:
    """Yield that values of a column are missing much more often in one class than in others."""
    problem = case.problem
    counts = problem.class_counts
    own = np.bincount(problem.codes, gone, len(counts))
    rest = (own.sum() - own) / (counts.sum() - counts)
    gaps = np.abs(own / counts - rest) * (counts >= _MIN_ROWS)
    code = int(np.argmax(gaps))
    if gaps[code] < _MIN_GAP:
        return
    n_gone = np.array([own[code], own.sum() - own[code]])
    table = np.array([n_gone, [counts[code], counts.sum() - counts[code]] - n_gone])
    if chi2_contingency(table)[1] * problem.n_features * len(counts) > _RARE:
        return
    yield case.finding(
        "missing by class",
        f"{_name(case, j)} is missing in {own[code] / counts[code]:.0%} of the rows of "
        f"{case.label(code)} and in {rest[code]:.0%} of others: does the class decide whether it "
        f"is measured?",
        case.drop([j]),
        codes=[code],
        columns=[j],
    )


def _find_target_means(case: Case) -> Iterator[Finding]:
    """Yield columns whose values are shares of a class, or means of the labels, of their rows.

    Smoothed ones, (n s + a p) / (n + a) with the share s of n rows, are found as well.
    """
    if not case.looks_for("target means"):
        return
    problem, found = case.problem, []
    targets = [(case.label(code), problem.codes == code) for code in range(problem.n_classes)]
    if problem.classes.dtype.kind in "iuf" and problem.n_classes > 2:
        targets.append(("the labels", problem.classes[problem.codes].astype(float)))
    for j in np.flatnonzero(case.used & ~problem.is_nominal).tolist():
        values = problem.columns.floats([j])[0]
        levels, ranks, counts = np.unique(values, return_inverse=True, return_counts=True)
        if not _MIN_SHARES <= len(levels) <= len(values) // 2 or not np.isfinite(levels).all():
            continue
        for what, target in targets:
            means = np.bincount(ranks, target) / counts
            if np.ptp(means) > 0.0 and _are_means(levels, means, counts):
                found.append((j, what))
                break
    for j, what in found:
        case.used[j] = False
        of = what if what == "the labels" else f"class {what}"
        yield case.finding(
            "target means",
            f"{_name(case, j)}: every value is the {'mean' if what == 'the labels' else 'share'} "
            f"of {of} among the rows that have it, so each row has a part of its own label",
            case.drop([j]),
            columns=[j],
        )


def _are_means(levels: Array, means: Array, counts: Array) -> bool:
    """Whether levels are means, as they are or drawn towards a prior by the same weight."""
    exact = max(_EXACT, 0.5 * _last_digit(levels)) * 1.001
    if np.abs(levels - means).max() <= exact:
        return bool(len(np.unique(means)) >= _MIN_SHARES)
    if len(levels) < _MIN_SHARES + 2 or np.corrcoef(levels, means)[0, 1] < _MIN_CORRELATION:
        return False
    # levels (n + a) = n means + a prior: two levels give a and the prior, others follow. Levels of
    # which two are equal by accident do not.
    pairs = np.random.default_rng(0).integers(len(levels), size=(_N_TRIED, 2))
    (x, z), (rest, other) = levels[pairs].T, (counts * (means - levels))[pairs].T
    with np.errstate(all="ignore"):
        weight = (rest - other) / (x - z)
        drawn = weight * x - rest
        fitted = (counts * means + drawn[:, None]) / (counts + weight[:, None])
    is_right = np.abs(fitted - levels) <= exact
    return bool((is_right.mean(axis=1) >= _MOST)[weight > 0.0].any())


def _last_digit(levels: Array) -> float:
    """Return the unit of the last decimal that numbers are rounded to, of at least two."""
    for digits in (2, 3, 4, 5):
        if np.abs(levels - np.round(levels, digits)).max() < 1e-9:
            return float(10.0**-digits)
    return 0.0


def _find_dates(case: Case, dates: Mapping[str, Array]) -> Iterator[Finding]:
    """Yield dates that tell the class: earlier or later than others, or the same within days."""
    if not dates or not case.looks_for("dates by class"):
        return
    problem = case.problem
    hashes = case.all_hashes
    for name, seconds in dates.items():
        rows = np.flatnonzero(seconds == seconds)
        rows = rows[np.lexsort((problem.codes[rows], hashes[rows], seconds[rows]))]
        codes, when = problem.codes[rows], seconds[rows]
        if len(rows) < _MAX_BATCH or len(np.unique(codes)) < 2:
            continue
        counts = np.bincount(codes, minlength=problem.n_classes)
        shares = counts / counts.sum()
        different = 1.0 - float((shares**2).sum())
        # Rows of equal dates are in the order of their classes: the mean over all orders.
        apart = _disagreement(when, codes, problem.n_classes)
        agreement = 1.0 - apart / different
        ranks = rankdata(when)
        n_own, n_rest = counts, len(codes) - counts
        with np.errstate(invalid="ignore", divide="ignore"):
            wins = np.bincount(codes, ranks, problem.n_classes) - n_own * (n_own + 1) / 2
            auc = wins / (n_own * n_rest)
        sides = np.where(n_own >= _MIN_ROWS, np.maximum(auc, 1.0 - auc), 0.0)
        best = int(np.nanargmax(sides))
        if sides[best] >= _MIN_MARKED:
            side = "later" if auc[best] > 0.5 else "earlier"
            what = f"rows of {case.label(best)} are {side} than others (AUC {sides[best]:.3f})"
            codes_found = [best]
        elif looks_like_group(when, codes):
            what, codes_found = "rows of a date have the same class far more often than chance", []
        elif agreement >= _MIN_AGREEMENT:
            what = (
                f"rows next to each other in time have the same class in {1.0 - apart:.0%} of the "
                f"cases, {1.0 - different:.0%} by chance"
            )
            codes_found = []
        else:
            continue
        column = [at for at, one in enumerate(case.names) if str(one) == name]
        next = "pd.crosstab(dates, y)" if not column else case.drop(column)
        found = case.finding(
            "dates by class",
            f"{short_name(name)}: {what}; whatever else changed with time tells the classes apart",
            next,
            codes=codes_found,
            columns=column,
        )
        yield found if column else found._replace(features=(name,))


def _disagreement(when: Array, codes: Array, n_classes: int) -> float:
    """Return how often rows next to each other in time differ in class, in any order of equals."""
    starts = np.flatnonzero(np.append(True, when[1:] != when[:-1]))
    sizes = np.diff(np.append(starts, len(when)))
    members = np.zeros((len(starts), n_classes))
    np.add.at(members, (np.repeat(np.arange(len(starts)), sizes), codes), 1.0)
    shares = members / sizes[:, None]
    between = 1.0 - (shares[1:] * shares[:-1]).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        equal = (members * (members - 1)).sum(axis=1) / (sizes * (sizes - 1.0))
    within = np.where(sizes > 1, 1.0 - equal, 0.0) * (sizes - 1)
    return float((between.sum() + within.sum()) / max(len(when) - 1, 1))


# ---- what belongs together, repeats or does not vary


def _find_groups(case: Case) -> Iterator[Finding]:
    """Yield the column that looks like a group, and those that are called identifiers."""
    problem = case.problem
    looks = case.looks_for("group column") if problem.groups is None else False
    column = find_group_column(problem, if_even=True) if looks else None
    if column is not None and case.used[column]:
        case.used[column] = False
        yield case.finding(
            "group column",
            f"{_name(case, column)} has a few rows of each of many values, as a patient has: "
            f"rows of a value must not be trained on and tested",
            f"{case.drop([column])[:-1]}, groups={case.column(column)})",
            columns=[column],
        )
    if problem.feature_names is None or not case.looks_for("identifier"):
        return
    for j in np.flatnonzero(case.used).tolist():
        values = problem.columns.ordered([j])[0]
        if is_identifier(values, str(case.names[j]), is_nominal=bool(problem.is_nominal[j])):
            case.used[j] = False
            yield case.finding(
                "identifier",
                f"{_name(case, j)} is called an identifier: its values tell nothing of new rows",
                case.drop([j]),
                columns=[j],
            )


def _find_sentinels(case: Case) -> Iterator[Finding]:
    """Yield columns with a number of nines, such as -999, far from all other values."""
    if not case.looks_for("sentinel"):
        return
    problem = case.problem
    for j in np.flatnonzero(case.used & ~problem.is_nominal).tolist():
        values = problem.columns.floats([j])[0]
        known = values[np.isfinite(values)]
        if len(known) < 2:
            continue
        for value in (known.min(), known.max()):
            others = known[known != value]
            if len(others) and _is_nines(value):
                gap = np.abs(others - value).min()
                n_rows = len(known) - len(others)
                if n_rows >= 2 and gap >= _MIN_DISTANT * max(np.ptp(others), 1e-12):
                    key = case.key(j)
                    yield case.finding(
                        "sentinel",
                        f"{_name(case, j)} is {value:g} in {n_rows:,} rows, its other values are "
                        f"in [{others.min():.4g}, {others.max():.4g}]: a missing value?",
                        f"diagnose({case.code[5].format(key, float(value))}, y)",
                        columns=[j],
                    )
                    break


def _is_nines(value: float) -> bool:
    """Whether a number is written in nines, two or more: 99, -999, 9999.0, -99.9."""
    digits = f"{abs(value):.10g}".replace(".", "")
    return len(digits) >= 2 and set(digits) == {"9"}


def _find_duplicates(case: Case, compared: Compared) -> Iterator[Finding]:
    """Yield the columns that repeat another."""
    if not case.looks_for("duplicated columns") or not compared.twins:
        return
    columns, named = [j for j, _, _ in compared.twins], [short_name(name) for name in case.names]
    shown = "; ".join(f"{named[j]} {how} {named[i]}" for j, i, how in compared.twins[:5])
    n_more = len(compared.twins) - 5
    more = f"; {n_more} more" * (n_more > 0)
    yield case.finding("duplicated columns", shown + more, case.drop(columns), columns=columns)


def _find_constants(case: Case, compared: Compared) -> Iterator[Finding]:
    """Yield the columns that hardly vary."""
    columns = compared.constant
    if not case.looks_for("constant columns") or not columns:
        return
    highest = float(case.pair_auc[columns].max())
    yield case.finding(
        "constant columns",
        f"{_shown(case, columns)}: one value in {_MAX_SHARE:.0%} of the rows, AUC of at most "
        f"{highest:.2f} on any pair",
        case.drop(columns),
        columns=columns,
    )


def _levels(case: Case, j: int) -> Array:
    """Return the distinct values of a column."""
    return np.unique(case.problem.columns.ordered([j])[0])


def _name(case: Case, j: int) -> str:
    """Return the name of a column as texts show it."""
    return short_name(case.names[j])


def _shown(case: Case, columns: list[int]) -> str:
    """Return the names of columns."""
    return format_labels([case.names[j] for j in columns])
