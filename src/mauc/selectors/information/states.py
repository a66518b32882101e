"""What the filters on states share: planes and margins of all features, relevance, blocks."""

from dataclasses import dataclass

import numpy as np

from mauc.parallel import run_in
from mauc.selectors.information.joint_counts import (
    MAX_PLANE_STATES,
    class_information,
    feature_margins,
    fixed_log,
    log_table,
    pack_planes,
)

# Words and table look-ups of work that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 19


@dataclass(frozen=True)
class Counted:
    """Features ready for joint counts: what the kernels of `joint_counts` read."""

    D: np.ndarray
    n_states: np.ndarray
    starts: np.ndarray
    planes: np.ndarray
    counts: np.ndarray
    margin_logs: np.ndarray
    log_n: int
    table: np.ndarray
    unit: float


def count_margins(D, n_states, blocks, pool):
    """Make planes and margins of all features."""
    n_features, n_samples = D.shape
    n_planes = np.where(n_states <= MAX_PLANE_STATES, n_states - 1, 0)
    starts = np.concatenate([[0], np.cumsum(n_planes)]).astype(np.int64)
    planes = np.empty((starts[-1], (n_samples + 63) // 64), dtype=np.uint64)
    counts = np.zeros((n_features, n_states.max()), dtype=np.int64)
    margin_logs = np.empty(n_features, dtype=np.int64)
    table, unit = log_table(n_samples)

    def count(block):
        first, last = block
        own = slice(starts[first], starts[last])
        feature_margins(
            D[first:last], n_states[first:last], starts[first : last + 1] - starts[first],
            table, unit, planes[own], counts[first:last], margin_logs[first:last],
        )  # fmt: skip

    run_in(pool, count, blocks)
    log_n = fixed_log(n_samples, table, unit)
    return Counted(D, n_states, starts, planes, counts, margin_logs, log_n, table, unit)


def class_relevance(counted, y, n_classes, blocks, pool):
    """Return I(f; y) of all features."""
    class_planes = np.empty((n_classes - 1, counted.planes.shape[1]), dtype=np.uint64)
    pack_planes(y, n_classes - 1, 0, class_planes)
    class_counts = np.bincount(y, minlength=n_classes).astype(np.int64)
    log_y = sum(fixed_log(count, counted.table, counted.unit) for count in class_counts)
    relevance = np.empty(counted.D.shape[0], dtype=np.float64)

    def inform(block):
        class_information(
            counted.D, counted.n_states, counted.starts, counted.planes, counted.counts,
            counted.margin_logs, y, n_classes, class_planes, class_counts, log_y, counted.log_n,
            counted.table, counted.unit, block[0], relevance[block[0] : block[1]],
        )  # fmt: skip

    run_in(pool, inform, blocks)
    return relevance


def feature_blocks(D, n_states, n_threads):
    """Cut the features into at most ``n_threads`` blocks worth a thread each."""
    n_features, n_samples = D.shape
    states = int(n_states.max())
    words = n_samples // 64 * (states - 1) ** 2 if states <= MAX_PLANE_STATES else n_samples
    work = n_features * (words + states**2)
    n_blocks = max(1, min(n_threads, n_features, work // BLOCK_WORK))
    bounds = np.linspace(0, n_features, n_blocks + 1).astype(np.int64)
    return [(int(bounds[b]), int(bounds[b + 1])) for b in range(n_blocks)]
