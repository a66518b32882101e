"""Classes that fall into two clusters, and the column that parts them."""

from collections.abc import Iterator

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from mauc.evaluation.doctor.case import Case
from mauc.evaluation.doctor.findings import Finding
from mauc.evaluation.judges import split_fold
from mauc.results import short_name

Array = np.ndarray

_MIN_CLUSTERED = 40  # rows of a class that are looked at for two clusters
_MIN_DISTANCE = 7.0  # of clusters, in standard deviations; of a normal one cut in two 2.6
_MIN_DISTANCE_LARGE = 3.2  # in a class that is larger than others
_LARGE = 1.4  # times the median size of the other classes
_MIN_SIDE = 0.15  # share of the rows in the smaller cluster
_MAX_LEVELS = 10  # of a column whose gaps are no sign of clusters
_MAX_OTHERS = 1.0  # distance of two clusters in other columns than the one that parts them
# of inches, pounds, miles, feet, ounces; of minutes, hours, dozens, kilometres per hour
_UNITS = 2.54, 2.205, 1.609, 3.281, 28.35, 60.0, 24.0, 12.0, 3.6
_MAX_OFF = 0.05  # of the decimal logarithm of a factor


def find_merged_class(case: Case) -> Iterator[Finding]:
    """Yield the class that falls into two clusters the most clearly, if one does."""
    sample = case.sample
    kept = np.array(
        [
            j
            for j in np.flatnonzero(case.used).tolist()
            if not sample.is_nominal[j]
            and len(np.unique(sample.columns.ordered([j])[0])) > _MAX_LEVELS
        ],
        dtype=np.int64,
    )
    if not len(kept) or not case.looks_for("merged class"):
        return
    everything = np.arange(sample.n_samples)
    Z = np.nan_to_num(split_fold(sample, kept, everything, everything).train)
    found = []
    with threadpool_limits(1):
        for code in np.flatnonzero(case.sizes >= _MIN_CLUSTERED).tolist():
            rows = np.flatnonzero(sample.codes == code)
            rows = rows[np.argsort(case.hashes[rows], kind="stable")]
            distance, is_second = _clusters(Z[rows])
            is_smaller = is_second == (is_second.mean() <= 0.5)
            usual = np.median(np.delete(case.sizes, code))
            is_large = len(rows) >= _LARGE * usual
            excess = distance / (_MIN_DISTANCE_LARGE if is_large else _MIN_DISTANCE)
            if distance < _MIN_DISTANCE_LARGE or is_smaller.sum() < _MIN_SIDE * len(rows):
                continue
            parting, apart = _parting_column(Z[rows], is_smaller)
            medians = (0.0, 0.0)
            if parting is not None:
                values = np.asarray(sample.columns.floats([kept[parting]])[0], np.float64)[rows]
                medians = np.nanmedian(values[is_smaller]), np.nanmedian(values[~is_smaller])
                if _is_other_unit(*medians):
                    excess = max(excess, apart / _MIN_DISTANCE)
            if excess >= 1.0:
                found.append((excess, distance, usual, code, rows, is_smaller, parting, medians))
    if not found:
        return
    _, distance, usual, code, rows, is_smaller, parting, medians = max(
        found, key=lambda one: one[0]
    )
    columns, cause = [], ""
    if parting is not None:
        columns = [int(kept[parting])]
        cause = (
            f"; {short_name(case.names[columns[0]])} alone parts them, with median "
            f"{medians[0]:.4g} against {medians[1]:.4g}"
            + ": unit or decimal point?"
            * _is_other_unit(*medians)
        )
    smaller = case.rows[np.sort(rows[is_smaller])]
    yield case.finding(
        "merged class",
        f"{case.label(code)} falls into two clusters, {distance:.1f} of their standard deviations "
        f"apart, the smaller with {len(smaller)} of its {case.sizes[code]} rows; other classes "
        f"have {usual:.0f}{cause}",
        case.show(smaller),
        codes=[code],
        columns=columns,
        rows=smaller,
    )


def _parting_column(Z: Array, is_smaller: Array) -> tuple[int | None, float]:
    """Return the column by which two clusters differ, if others hardly do, and by how much."""
    first, second = Z[is_smaller], Z[~is_smaller]
    spread = np.sqrt((first.var(axis=0) + second.var(axis=0)) / 2)
    apart = np.abs(first.mean(axis=0) - second.mean(axis=0)) / np.maximum(spread, 1e-12)
    column = int(np.argmax(apart))
    is_alone = np.delete(apart, column).max(initial=0.0) <= _MAX_OTHERS
    return (column if is_alone else None), float(apart[column])


def _is_other_unit(first: float, second: float) -> bool:
    """Whether two numbers differ by a power of ten, or by the factor of two units, about."""
    if first * second <= 0.0:
        return False
    power = abs(np.log10(first / second))
    factors = [*range(1, 10), *np.log10(_UNITS)]
    return bool(np.abs(power - np.array(factors)).min() <= _MAX_OFF)


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
