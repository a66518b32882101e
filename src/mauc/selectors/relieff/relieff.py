"""ReliefF weights of columns in memory: columns in, the weight of every feature out."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mauc.checks import check_int, is_int
from mauc.data.columns import default_names
from mauc.data.validate import check_generator
from mauc.exceptions import MaucError, TinyUnitsWarning, listed, warn_user
from mauc.parallel import count_threads, even_ranges
from mauc.progress import track
from mauc.selectors.base import RankingSelector, single_ranking
from mauc.selectors.relieff.neighbors import (
    MIN_RANGE,
    add_weights,
    column_widths,
    count_values,
    fill_panel,
    new_slots,
    scale_columns,
    scan_panel,
)
from mauc.selectors.relieff.streamed import streamed_weights

# A panel holds at most this many queries, and about this many distances (two panels are kept).
PANEL_QUERIES = 256
PANEL_SIZE = 1 << 21
# Bytes of neighbour slots up to which all rows hold theirs at once (12 bytes per slot).
SLOT_BYTES = 1 << 29


def relieff_weights(XT, y, n_classes, rows=None, n_neighbors=10, n_threads=1, is_nominal=None):
    """Compute the ReliefF weight of every feature.

    Parameters
    ----------
    XT : ndarray of shape (n_features, n_samples)
        Columns, C-contiguous and read-only; NaN is a missing value.
    y : ndarray of shape (n_samples,), int32
        Class codes in 0 .. n_classes - 1; a class may be absent.
    n_classes : int
        With two classes misses are not weighted by class probabilities.
    rows : ndarray of shape (n_queries,), int, optional
        The sampled rows, repeats allowed; None takes each row once.
    n_neighbors : int, default=10
        Hits, and misses per other class.
    n_threads : int, default=1
        The weights are the same bits for any number.
    is_nominal : ndarray of shape (n_features,), bool, optional
        Columns compared by equality. With a missing value their difference is 1 - 1 / v, v the
        number of distinct known values in the column.

    Returns
    -------
    weights : ndarray of shape (n_features,), float64
    """
    n_features, n_samples = XT.shape
    y = np.array(y, np.int32)
    queries = np.arange(n_samples) if rows is None else np.array(rows, np.int64)
    slot_bytes = 12 * n_samples * n_classes * n_neighbors
    # Where all rows are queries, the distance of two rows is computed once.
    is_symmetric = rows is None and slot_bytes <= SLOT_BYTES
    panel_queries = max(1, min(PANEL_QUERIES, PANEL_SIZE // n_samples, queries.size))
    with ThreadPoolExecutor(n_threads) as pool:

        def run(tasks):
            each = map if n_threads == 1 else pool.map
            return list(each(lambda task: task[0](*task[1:]), tasks))

        n_values = np.append(count_values(XT, is_nominal), np.int32(0))
        # The last row of ZT stays zero: the column that pads groups of four.
        ZT = np.zeros((n_features + 1, n_samples))
        tasks = [
            (scale_columns, XT[a:b], n_values[a:b], ZT[a:b])
            for a, b in even_ranges(n_features, n_threads)
        ]
        is_plain = not (any(run(tasks)) or n_values.any())
        columns = np.arange(n_features)
        if is_plain:
            # A column of zeros adds nothing to any distance.
            columns = columns[ZT[:-1].any(axis=1)]
            columns = np.append(columns, np.full(-columns.size % 4, n_features))

        class_counts = np.bincount(y, minlength=n_classes)
        weights = np.zeros(n_features)

        def weigh(block, near_row):
            fixed = (ZT, n_values, is_plain, block, y, class_counts, near_row)
            return [
                (add_weights, *fixed, a, b, weights) for a, b in even_ranges(n_features, n_threads)
            ]

        n_rows = panel_queries + -panel_queries % 4
        panels = [np.empty((n_rows, n_samples)) for _ in range(2 if is_symmetric else 1)]
        slots = new_slots(n_samples, n_classes, n_neighbors) if is_symmetric else None
        scans = []
        starts = range(0, queries.size, panel_queries)
        for number, start in enumerate(track(starts, "blocks of samples")):
            block = queries[start : start + panel_queries]
            panel = panels[number % len(panels)]
            if not is_symmetric:
                slots = new_slots(block.size, n_classes, n_neighbors)
            offset = start if is_symmetric else 0
            fixed = (ZT, columns, n_values, is_plain, block, is_symmetric)
            fills = [
                (fill_panel, *fixed, a, b, y, panel, *slots)
                for a, b in even_ranges(n_samples - offset, n_threads, offset)
            ]
            # Symmetric use: a panel is scanned while the next one is filled. The scan only touches
            # the slots of its own queries, the fill those of rows after the next panel.
            run(fills + scans)
            scans = [
                (scan_panel, block, is_symmetric, a, b, offset, y, panel, *slots)
                for a, b in even_ranges(block.size, n_threads)
            ]
            if not is_symmetric:
                run(scans)
                run(weigh(block, slots[1]))
                scans = []
        if is_symmetric:
            run(scans)
            run(weigh(queries, slots[1]))
    weights *= 1.0 / queries.size
    return weights


class ReliefF(RankingSelector):
    r"""Rank features by ReliefF weights.

    A feature is good if it differs between a sample and its nearest neighbours of other
    classes (misses) and does not between the sample and its nearest neighbours of the same
    class (hits). The weights are those of WEKA's ReliefFAttributeEval, to the bit.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or "auto", default=0.5
        How many features to select: a number, a fraction of all, all of them (a full ranking),
        or as many as `mauc.select_k` finds enough; its curve is then `size_curve_`.
    n_neighbors : int, default=10
        Hits, and misses of every other class, of a sample.
    n_iterations : "all", "log" or int, default="all"
        How many samples are compared with their neighbours: all of them once, or this many drawn
        with replacement; "log" is round(ln n), the paper's choice (noisy, but linear time).
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of
        strings in a data frame are nominal anyway. They differ by 0 or 1.
    random_state : int, RandomState instance or None, default=None
        Draws of the samples.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns, best first; equal scores go by column.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Weight of every feature, in [-1, 1].
    trace_ : SelectionTrace
        For each step the feature, its rank and its weight.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair; of
        nominal ones as in `MDFS`.
    decomposition_ : Decomposition
        The sub-problems.
    subproblem_names_ : list of str
        Their names.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    Notes
    -----
    With diff the difference of two samples in feature f, scaled by its range, S the samples
    drawn, :math:`H_r` the k nearest hits and :math:`M_{r,c}` the k nearest misses of class c,

    .. math:: W_f = \frac{1}{|S|} \sum_{r \in S} \Big[ -\frac{1}{k} \sum_{h \in H_r}
              \mathrm{diff}_f(r, h) + \sum_{c \ne c_r} \frac{P(c)}{1 - P(c_r)}
              \frac{1}{k} \sum_{m \in M_{r,c}} \mathrm{diff}_f(r, m) \Big]

    Distances are sums of differences. A missing value differs from a known one z, scaled to
    [0, 1], by max(z, 1 - z), and from a missing one by 1. Memory is O(n c k), never n x n.

    A source of columns is read once to find the neighbours of as many samples as its `memory` has
    room for, 8 bytes for each of them and every row, and once for the weights. Where the memory
    holds fewer samples than are drawn, the columns are kept in a temporary file and read from there
    once more for every so many samples; `fit` warns if that takes hours. "log" draws few samples.

    A feature whose range is below 1e-6, whatever its unit, counts as constant, as in WEKA; `fit`
    warns of it. Scale features in tiny units first.

    References
    ----------
    .. [1] M. Robnik-Sikonja, I. Kononenko, "Theoretical and empirical analysis of ReliefF and
       RReliefF", Machine Learning 53, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import ReliefF
    >>> X, y = load_iris(return_X_y=True)
    >>> ReliefF(2).fit(X, y).ranking_
    array([3, 2])
    """

    def __init__(
        self,
        n_features_to_select=0.5,
        *,
        n_neighbors=10,
        n_iterations="all",
        categorical_features=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.n_iterations = n_iterations
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _no_cluster = "its distances are sums over all columns, in their order"

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        wanted = self.n_iterations
        is_word = isinstance(wanted, str) and wanted in ("all", "log")
        if not is_word and not (is_int(wanted) and wanted >= 1):
            raise MaucError(
                f'n_iterations must be "all", "log" or an int of at least 1, got {wanted!r}.'
            )
        check_generator(self.random_state)
        return check_int("n_neighbors", self.n_neighbors, 1)

    def _rank(self, problem, n_wanted, n_neighbors):
        rows, n_threads = self._draw_rows(problem.n_samples), count_threads(self.n_jobs)
        if problem.columns.is_streamed:
            weights, widths = streamed_weights(problem, rows, n_neighbors, n_threads)
            _warn_of_tiny_ranges(problem, widths)
        else:
            XT = problem.float_columns(slice(None))
            _warn_of_tiny_ranges(problem, column_widths(XT))
            weights = relieff_weights(
                XT, problem.codes, problem.n_classes, rows, n_neighbors, n_threads,
                problem.is_nominal,
            )  # fmt: skip
        ranking = np.argsort(-weights, kind="stable")[:n_wanted]
        return single_ranking(problem, ranking, weights[ranking], weights)

    def _draw_rows(self, n_samples):
        """Return the sampled rows, or None for all."""
        n_iterations = self.n_iterations
        if n_iterations == "all":
            return None
        if n_iterations == "log":
            n_iterations = max(1, round(np.log(n_samples)))
        return check_generator(self.random_state).randint(n_samples, size=n_iterations)


def _warn_of_tiny_ranges(problem, widths):
    """Warn of numeric columns that vary, but by less than ReliefF looks at."""
    is_tiny = (widths > 0) & (widths < MIN_RANGE)
    is_tiny &= ~problem.is_nominal
    tiny = np.flatnonzero(is_tiny)
    if len(tiny):
        names = problem.feature_names
        names = default_names(tiny) if names is None else names[tiny]
        warn_user(
            f"{len(tiny)} of {problem.n_features} features ({listed(names)}) vary by less than "
            f"{MIN_RANGE:g} and count as constant, as in WEKA; give them in a smaller unit, or "
            f"scale them, for example with sklearn.preprocessing.StandardScaler.",
            TinyUnitsWarning,
        )
