"""Discretise columns for the filters on states: codes (n_features, n_samples), uint8.

Missing values (NaN) are one more state, the last, of features that have some.
"""

import numpy as np

from mauc.binning.discretizer import bins_of, cut_columns
from mauc.checks import check_int
from mauc.compile import njit
from mauc.data.nominal import distinct_categories
from mauc.data.problem import Problem
from mauc.engine.moments import plain_sums, shift_of
from mauc.exceptions import MaucError

BINNINGS = ("three_states", "mdl", "equal_width", "equal_frequency", "none")
MAX_BINS = 255  # missing values take one more code
_MAX_EXPONENT = 300  # of two, in columns whose squares are ordinary numbers


def bin_columns(
    problem: Problem, binning: str, n_bins: int, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the state of every value, of `BINNINGS`, and the number of states of every column."""
    if binning in ("equal_width", "equal_frequency"):
        check_int("n_bins", n_bins, 2, MAX_BINS)
    shape = problem.columns.shape[::-1]
    # Bits of the planes that a search makes of a state: all states but the last, 7 at most.
    n_bits = {"three_states": 3}.get(binning, min(n_bins, 7) if binning.startswith("equal") else 7)
    workspace = problem.columns.workspace
    states = workspace.array(shape, np.uint8, later=n_bits * shape[0] * (shape[1] // 8 + 8))
    n_states = np.empty(shape[0], np.int64)
    for _ in problem.map(
        _bin_block, binning, n_bins, out=(states, n_states), n_jobs=n_jobs, is_dense=True
    ):
        pass
    return states, n_states


def _bin_block(
    problem: Problem, block: slice, binning: str, n_bins: int, out: np.ndarray, n_out: np.ndarray
) -> None:
    """Write the states of some columns, and their numbers of states."""
    XT = problem.columns.floats(block)
    keeps_values = problem.is_nominal[block] | (binning == "none")
    if binning == "three_states":
        three_states(XT, out, n_out, problem.sample_weight)
    elif binning == "equal_width":
        equal_width(XT, n_bins, out, n_out)
    elif binning == "equal_frequency":
        equal_frequency(XT, n_bins, out, n_out, problem.row_counts.weights)
    elif binning == "mdl":
        points, offsets = cut_columns(problem, XT)
        out[:], n_out[:] = 0, 1
        # most columns of wide data have one state
        has_more = (np.diff(offsets) > 0) | np.isnan(XT).any(axis=1)
        for j in np.flatnonzero(has_more & ~keeps_values):
            bins = bins_of(XT[j], points[offsets[j] : offsets[j + 1]])
            out[j], n_out[j] = _states(bins, block.start + int(j))
    for j in _whole_states(XT, np.flatnonzero(keeps_values), out, n_out):
        out[j], n_out[j] = _states(distinct_categories(XT[j])[1], block.start + int(j))


def _whole_states(
    XT: np.ndarray, columns: np.ndarray, out: np.ndarray, n_out: np.ndarray
) -> np.ndarray:
    """Give values a state each in columns of low, ..., low + 255; return the other columns."""
    if len(columns) == 0:
        return columns
    values = XT[columns]  # a loop over columns would take four times as long
    low = values.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", over="ignore"):  # such values differ from low + code
        codes = (values - low).astype(np.uint8)
    is_whole = np.isfinite(low[:, 0]) & (low + codes == values).all(axis=1)
    width = int(codes.max()) + 1
    cells = codes + np.arange(0, codes.shape[0] * width, width)[:, np.newaxis]
    is_used = np.bincount(cells.ravel(), minlength=codes.shape[0] * width).reshape(-1, width) > 0
    states = np.cumsum(is_used, axis=1, dtype=np.uint8) - np.uint8(1)
    out[columns], n_out[columns] = states.ravel()[cells], is_used.sum(axis=1)
    return columns[~is_whole | (n_out[columns] > MAX_BINS)]


def _states(codes: np.ndarray, column: int) -> tuple[np.ndarray, int]:
    """Return codes with missing values as one more state, and the number of states."""
    is_missing = np.isnan(codes)
    n_known = 0 if is_missing.all() else int(codes[~is_missing].max()) + 1
    if n_known > MAX_BINS:
        raise MaucError(
            f"column {column} must have at most {MAX_BINS} distinct values to be taken as "
            f"discrete, got {n_known}; choose another binning."
        )
    return np.where(is_missing, n_known, codes), max(1, n_known + int(is_missing.any()))


def three_states(
    XT: np.ndarray, codes: np.ndarray, n_states: np.ndarray, weights: np.ndarray | None = None
) -> None:
    """Cut every feature at mean - sd and mean + sd, as in Peng's program; missing is 3.

    A feature that varies without a value outside, such as one of two equally frequent values, would
    come out constant and is cut at its mean instead: x > mean is state 2.
    """
    XT = _ordinary_units(XT)
    shifts, sums = np.empty(len(XT)), np.empty((2, len(XT)))
    n_known = np.full(len(XT), XT.shape[1])
    _plain_sums(XT, shifts, sums)
    has_missing = np.isnan(sums[0])
    if weights is not None:
        sizes = np.where(np.isnan(XT), 0.0, weights)
        differences = np.where(np.isnan(XT), 0.0, XT - shifts[:, np.newaxis])
        n_known, sums[0] = sizes.sum(axis=1), (sizes * differences).sum(axis=1)
        sums[1] = (sizes * differences**2).sum(axis=1)
    for j in np.flatnonzero(has_missing & (weights is None)):
        differences = XT[j, ~np.isnan(XT[j])] - shifts[j]
        n_known[j] = len(differences)
        # Running sums add one value after the other.
        for s, values in enumerate((differences, differences * differences)):
            sums[s, j] = np.cumsum(values)[-1] if len(values) > 0 else 0.0
    means = sums[0] / np.maximum(n_known, 1)
    scatters = np.maximum(sums[1] - sums[0] * means, 0.0)
    deviations = np.sqrt(scatters / np.where(n_known > 2, n_known - 1, 1))
    centres, reach = (shifts + means)[:, np.newaxis], deviations[:, np.newaxis]
    codes[:] = 1
    codes += centres + reach < XT
    codes -= centres - reach > XT
    is_inside = (codes == 1).all(axis=1) & (deviations > 0)
    codes[is_inside] += XT[is_inside] > centres[is_inside]
    n_states[:] = 3
    for j in np.flatnonzero(has_missing):
        is_missing = np.isnan(XT[j])
        codes[j, is_missing] = 3
        n_states[j] += is_missing.any()  # a sum of infinities is not a number either


def _ordinary_units(XT: np.ndarray) -> np.ndarray:
    """Return columns, those whose squares would leave the doubles scaled by a power of two."""
    largest = np.fmax(np.fmax.reduce(XT, axis=1), -np.fmin.reduce(XT, axis=1))
    exponents = np.frexp(largest.astype(np.float64))[1]
    is_extreme = np.abs(exponents) > _MAX_EXPONENT
    if is_extreme.any():
        XT = XT.copy()
        XT[is_extreme] = np.ldexp(XT[is_extreme], -exponents[is_extreme, np.newaxis])
    return XT


def equal_width(XT: np.ndarray, n_bins: int, codes: np.ndarray, n_states: np.ndarray) -> None:
    """Cut the range of every feature into `n_bins` parts of equal width; missing is `n_bins`."""
    XT, is_missing = _ordinary_units(XT.astype(np.float64)), np.isnan(XT)
    low, high = (end.reduce(XT, axis=1, keepdims=True) for end in (np.fmin, np.fmax))
    widths = np.where(high > low, high - low, 1.0)
    parts = np.minimum(n_bins * ((XT - low) / widths), n_bins - 1)
    codes[:] = np.where(is_missing, n_bins, parts)
    n_states[:] = n_bins + is_missing.any(axis=1)


def equal_frequency(
    XT: np.ndarray,
    n_bins: int,
    codes: np.ndarray,
    n_states: np.ndarray,
    weights: np.ndarray | None = None,
) -> None:
    """Cut every feature into `n_bins` parts with equal numbers of samples; missing is `n_bins`.

    The code is floor(n_bins r / n), with r of the n known values below x: the number of lower
    quantiles below x.
    """
    is_missing = np.isnan(XT)
    if weights is None:
        ordered, rows = np.sort(XT, axis=1), np.arange(len(XT))  # missing values come last
        n_known = XT.shape[1] - is_missing.sum(axis=1)
        codes[:] = 0
        for step in range(1, n_bins):
            # codes are the numbers of the lower quantiles so far that are below the values
            ranks = -(-step * n_known // n_bins)
            codes += ordered[rows, ranks - 1][:, np.newaxis] < XT
    else:
        orders = np.argsort(XT, axis=1, kind="stable")
        ordered = np.take_along_axis(XT, orders, axis=1)
        sizes = np.take_along_axis(np.where(is_missing, 0, weights), orders, axis=1)
        below = np.cumsum(sizes, axis=1) - sizes
        below[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = 0  # equal values: as the first of them
        below = np.maximum.accumulate(below, axis=1)
        n_known = np.maximum(sizes.sum(axis=1, keepdims=True), 1)
        np.put_along_axis(codes, orders, (n_bins * below // n_known).astype(np.uint8), axis=1)
    codes[is_missing] = n_bins
    n_states[:] = n_bins + is_missing.any(axis=1)


@njit
def _plain_sums(XT, shifts, sums):
    """Fill in a shift and the sums of d = x - shift and d^2; NaN if a value is missing."""
    for j in range(XT.shape[0]):
        shifts[j] = shift_of(XT[j], None)
        sums[0, j], sums[1, j] = plain_sums(XT[j], None, shifts[j])
