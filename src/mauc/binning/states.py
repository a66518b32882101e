"""Discretise columns for the filters on states.

Codes have shape (n_features, n_samples), ``uint8``. Missing values (NaN) form a state of their own,
the last one; a feature without missing values does not have it.
"""

import numpy as np

from mauc.binning.discretizer import bins_of, cut_columns
from mauc.checks import check_int
from mauc.compile import njit
from mauc.data.categories import category_codes
from mauc.data.problem import Problem
from mauc.engine.moments import plain_sums, shift_of
from mauc.exceptions import MaucError

BINNINGS = ("three_states", "mdl", "equal_width", "equal_frequency", "none")
MAX_BINS = 255  # missing values take one more code


def bin_columns(
    problem: Problem, binning: str, n_bins: int, n_jobs: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the state of every value, of `BINNINGS`, and the number of states of every column.

    Nominal columns keep their categories as states. The states are in a temporary file where the
    memory of a source does not hold them.
    """
    if binning in ("equal_width", "equal_frequency"):
        check_int("n_bins", n_bins, 2, MAX_BINS)
    shape = problem.n_features, problem.n_samples
    # Bits of the planes that a search makes of a state: all states but the last, 7 at most.
    n_bits = {"three_states": 3}.get(binning, min(n_bins, 7) if binning.startswith("equal") else 7)
    workspace = problem.workspace
    states = workspace.array(shape, np.uint8, later=n_bits * shape[0] * (shape[1] // 8 + 8))
    n_states = np.empty(problem.n_features, np.int64)
    is_nominal = problem.is_nominal

    def fill(block):
        XT, out, n_out = problem.float_columns(block), states[block], n_states[block]
        keeps_values = is_nominal[block] | (binning == "none")
        if binning == "three_states":
            three_states(XT, out, n_out)
        elif binning == "equal_width":
            equal_width(XT, n_bins, out, n_out)
        elif binning == "equal_frequency":
            equal_frequency(XT, n_bins, out, n_out)
        elif binning == "mdl":
            points, offsets = cut_columns(problem, XT)
            out[:], n_out[:] = 0, 1
            # most columns of wide data have one state
            has_more = (np.diff(offsets) > 0) | np.isnan(XT).any(axis=1)
            for j in np.flatnonzero(has_more & ~keeps_values):
                bins = bins_of(XT[j], points[offsets[j] : offsets[j + 1]])
                out[j], n_out[j] = _states(bins, block.start + int(j))
        for j in _whole_states(XT, np.flatnonzero(keeps_values), out, n_out):
            out[j], n_out[j] = _states(category_codes(XT[j]), block.start + int(j))
        workspace.release()

    for _ in problem.run_blocks(fill, n_jobs=n_jobs, is_dense=True):
        pass
    return states, n_states


def _whole_states(
    XT: np.ndarray, columns: np.ndarray, out: np.ndarray, n_out: np.ndarray
) -> np.ndarray:
    """Give values a state each in the columns where all are of low, low + 1, ..., low + 255.

    Returns the other columns. The states of a block are found together: a loop over columns, of
    short calls for which threads wait in turn, takes four times as long.
    """
    if len(columns) == 0:
        return columns
    values = XT[columns]
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


def three_states(XT: np.ndarray, codes: np.ndarray, n_states: np.ndarray) -> None:
    """Cut every feature at mean - sd and mean + sd.

    x < mean - sd is state 0, x > mean + sd is state 2, in between is state 1, missing is 3.

    sd is taken over n - 1, as in Peng's program. A feature that varies without a value outside,
    such as one of two values that are equally frequent, would come out constant and is cut at
    its mean instead: x > mean is state 2.
    """
    shifts, sums = np.empty(len(XT)), np.empty((2, len(XT)))
    n_known = np.full(len(XT), XT.shape[1])
    _plain_sums(XT, shifts, sums)
    has_missing = np.isnan(sums[0])
    for j in np.flatnonzero(has_missing):
        differences = XT[j, ~np.isnan(XT[j])] - shifts[j]
        n_known[j] = len(differences)
        # Running sums add one value after the other.
        for s, values in enumerate((differences, differences * differences)):
            sums[s, j] = np.cumsum(values)[-1] if len(values) > 0 else 0.0
    means = sums[0] / np.maximum(n_known, 1)
    scatters = np.maximum(sums[1] - sums[0] * means, 0.0)
    deviations = np.sqrt(scatters / np.where(n_known > 2, n_known - 1, 1))
    _cut_at_deviation(XT, shifts + means, deviations, codes)
    n_states[:] = 3
    for j in np.flatnonzero(has_missing):
        is_missing = np.isnan(XT[j])
        codes[j, is_missing] = 3
        n_states[j] += is_missing.any()  # a sum of infinities is not a number either


def equal_frequency(XT: np.ndarray, n_bins: int, codes: np.ndarray, n_states: np.ndarray) -> None:
    """Cut every feature into ``n_bins`` parts with equal numbers of samples.

    With r the number of known values below x and n that of known values, the code is
    floor(n_bins r / n): equal values stay together, at the price of unequal (or empty) bins.
    Missing values are in bin ``n_bins``; ``n_bins <= MAX_BINS``. The code is the number of q_k < x
    among the lower quantiles q_k, the ceil(k n / n_bins)-th smallest values, k = 1 .. n_bins - 1.
    """
    steps = np.arange(1, n_bins)
    for j in range(XT.shape[0]):
        # Missing values are sorted to the end.
        ordered = np.sort(XT[j])
        n_known = len(ordered)
        if ordered.dtype.kind == "f":
            n_known -= int(np.isnan(ordered).sum())
        ranks = -(-steps * n_known // n_bins)
        # With fewer values than bins, a quantile may lie below the smallest value.
        cuts = ordered[ranks[ranks > 0] - 1] if n_known else ordered[:0]
        has_missing = _codes_above(XT[j], cuts, n_bins, codes[j])
        n_states[j] = n_bins + has_missing


@njit(cache=True, nogil=True)
def _plain_sums(XT, shifts, sums):
    """Fill in a shift and the sums of d = x - shift and d^2; NaN if a value is missing."""
    for j in range(XT.shape[0]):
        shifts[j] = shift_of(XT[j], None)
        sums[0, j], sums[1, j] = plain_sums(XT[j], None, shifts[j])


@njit(cache=True, nogil=True)
def _cut_at_deviation(XT, means, deviations, codes):
    """Write the states 0, 1 and 2 of `three_states`; those of missing values are any."""
    n = XT.shape[1]
    for j in range(XT.shape[0]):
        column, code = XT[j], codes[j]
        mean, deviation = means[j], deviations[j]
        low, high = mean - deviation, mean + deviation
        n_outside = 0
        for i in range(n):
            x = np.float64(column[i])
            state = 1 - np.int64(x < low) + np.int64(x > high)
            n_outside += np.int64(state != 1)
            code[i] = state
        if n_outside == 0 and deviation > 0:
            for i in range(n):
                code[i] = 2 if np.float64(column[i]) > mean else 1


@njit(cache=True, nogil=True)
def equal_width(XT, n_bins, codes, n_states):
    """Cut the range of every feature into ``n_bins`` parts of equal width.

    The code is floor(n_bins (x - min) / (max - min)), the maximum itself in the last bin; a
    constant feature is in bin 0, missing values in bin ``n_bins``. ``n_bins <= MAX_BINS``.
    """
    n = XT.shape[1]
    for j in range(XT.shape[0]):
        column, code = XT[j], codes[j]
        low, high = np.inf, -np.inf
        for i in range(n):
            x = np.float64(column[i])
            # False for NaN, so a missing value never bounds the range.
            if x < low:
                low = x
            if x > high:
                high = x
        n_states[j] = n_bins
        for i in range(n):
            x = np.float64(column[i])
            if np.isnan(x):
                code[i] = n_bins
                n_states[j] = n_bins + 1
            elif high > low:
                code[i] = min(np.int64(n_bins * ((x - low) / (high - low))), n_bins - 1)
            else:
                code[i] = 0


@njit(cache=True, nogil=True)
def _codes_above(column, cuts, missing, code):
    """Code the values by the number of cuts below them; return whether a value is missing."""
    for i in range(column.shape[0]):
        code[i] = 0
    # code[i] is the number of cuts[:k] below column[i].
    for k in range(cuts.shape[0]):
        for i in range(column.shape[0]):
            code[i] += np.uint8(column[i] > cuts[k])
    has_missing = False
    for i in range(column.shape[0]):
        if np.isnan(np.float64(column[i])):
            code[i] = missing
            has_missing = True
    return has_missing
