"""What workers share during a fit: the recipe of the source and the labels."""

from functools import cached_property
from typing import Any

import numpy as np

from mauc.data.columns import default_names
from mauc.data.problem import Problem
from mauc.data.streaming import SourceColumns
from mauc.memory import format_bytes

# What a Problem computes of the labels alone: once per worker, not once per range of columns.
_OF_LABELS = (
    "class_weights", "row_weights", "pair_weights", "max_wins", "row_counts", "by_class",
)  # fmt: skip
_MEMORY_SHARE = 2  # half of what a worker may use is for columns being read and sorted


class Job:
    """The source and the labels of a fit on a `Problem`, sent to every worker once."""

    def __init__(self, problem: Problem) -> None:
        columns = problem.columns
        assert isinstance(columns, SourceColumns)
        self.source = columns.source
        self.accept_infinite = columns.accept_infinite
        self.is_nominal, self.class_counts = problem.is_nominal, problem.class_counts
        self.sample_weight, self.missing = problem.sample_weight, problem.missing
        self.pair_shares = problem.pair_shares
        # In the narrowest type: with many rows codes are all that is moved.
        self._sent_codes = problem.codes.astype(np.min_scalar_type(problem.n_classes - 1))
        self._of_labels: dict[str, Any] = {}  # what parts on this worker computed of them

    @cached_property
    def _codes(self) -> np.ndarray:
        return self._sent_codes.astype(np.int32)

    def part(self, numbers: np.ndarray) -> Problem:
        """Return the problem of some columns, as a worker solves it."""
        source = self.source.take(numbers).with_memory(self._memory())
        if source.feature_names is None:  # errors must not count from the first of the part
            source.feature_names = np.array(default_names(numbers), dtype=object)
        # Tasks fill all threads of a worker: where reading takes a core, it takes that of the task.
        columns = SourceColumns(
            source, self.is_nominal[numbers], accept_infinite=self.accept_infinite,
            reads_ahead=source.waits,
        )  # fmt: skip
        part = Problem(
            columns, self._codes, np.arange(len(self.class_counts)), self.class_counts,
            columns.is_nominal, self.sample_weight, source.feature_names, missing=self.missing,
            pair_shares=self.pair_shares,
        )  # fmt: skip
        part.__dict__.update(self._of_labels)
        return part

    def keep(self, part: Problem) -> None:
        """Keep what a part computed of the labels alone."""
        self._of_labels.update((name, part.__dict__[name]) for name in _OF_LABELS
                               if name in part.__dict__)  # fmt: skip

    def memory_words(self) -> str:
        """Say how the memory of a task of this worker comes about."""
        limit, n_threads = _worker_limits()
        words = f"memory={format_bytes(self.source.memory)} of the source"
        if limit:
            words += f", but at most half of the {format_bytes(limit)} of the worker"
        return (
            f" A task there may take {format_bytes(self._memory())}: {words}, shared by its "
            f"threads ({n_threads})."
        )

    def _memory(self) -> int:
        """Return the bytes that one task of this process may take."""
        limit, n_threads = _worker_limits()
        memory = int(self.source.memory)
        if limit:
            memory = min(memory, limit // _MEMORY_SHARE)
        return memory // n_threads

    def __getstate__(self) -> dict[str, Any]:
        # Without what this worker computed: others do so sooner than it is sent.
        own = {name: value for name, value in vars(self).items() if name != "_codes"}
        return {**own, "_of_labels": {}}


def _worker_limits() -> tuple[int, int]:
    """Return the bytes that this worker may use, 0 if there is no limit, and its threads."""
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return 0, 1
    return int(worker.memory_manager.memory_limit or 0), int(worker.state.nthreads)
