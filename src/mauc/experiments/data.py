"""The data sets of a plan: their sources in, checked data out; a process reads each once."""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from mauc.checks import unknown_word
from mauc.datasets import Dataset, load_dataset
from mauc.exceptions import MaucError
from mauc.experiments.plan import DatasetSpec, Plan

_given: dict[str, Dataset] = {}  # what the driver sent to this worker, by fingerprint


class WorkerSetupError(MaucError):
    """A worker lacks the data of the run, or has others; none of its cells would be right."""


def load_data(
    plan: Plan, given: Mapping[str, Dataset], note: Callable[[str], None]
) -> dict[str, Dataset]:
    """Return the data sets of a plan by name, those given or read; refuse what cannot be split.

    Parameters
    ----------
    plan : Plan
    given : mapping of str to Dataset
        Those that need not be read, by name.
    note : callable
        Takes messages for the user.
    """
    names = [spec.name for spec in plan.datasets]
    for name in given:
        if name not in names:
            raise unknown_word("a name in data", name, names)
    data = {}
    for spec in plan.datasets:
        try:
            data[spec.name] = (
                given[spec.name] if spec.name in given
                else load_dataset(spec.source, spec.target, **spec.options)
            )  # fmt: skip
        except MaucError as error:
            raise MaucError(f"data set {spec.name}: {error}") from error
        _check_split(plan, spec.name, data[spec.name], note)
    return data


def _check_split(plan: Plan, name: str, dataset: Dataset, note: Callable[[str], None]) -> None:
    classes, counts = np.unique(dataset.y, return_counts=True)
    if len(classes) < 2:
        raise MaucError(f"data set {name} must have at least 2 classes, got {len(classes)}.")
    if counts.max() < plan.folds:
        raise MaucError(
            f"data set {name} cannot be split into {plan.folds} folds: its largest class has "
            f"{counts.max()} samples."
        )
    if counts.min() < plan.folds:
        note(
            f"{name}: class {classes[counts.argmin()]!s} has {counts.min()} samples, fewer than "
            "folds; MAUC of a fold is over the classes that its test part has."
        )
    too_large = [str(size) for size in plan.sizes if size > dataset.n_features]
    if too_large:
        note(
            f"{name} has {dataset.n_features} features: sizes {', '.join(too_large)} are left out."
        )


def describe(dataset: Dataset) -> dict[str, Any]:
    """Return the fingerprint, the shape and the names of a data set, as plain values."""
    classes, counts = np.unique(dataset.y, return_counts=True)
    return {
        "fingerprint": dataset.fingerprint(),
        "n_samples": dataset.n_samples,
        "n_features": dataset.n_features,
        "classes": {str(label): int(count) for label, count in zip(classes, counts, strict=True)},
        "feature_names": [str(name) for name in dataset.feature_names],
    }


def receive_data(data: Mapping[str, Dataset]) -> bool:
    """Keep data sets, by fingerprint, that this worker need not read; return that it runs."""
    _given.update(data)
    return True


def find_data(spec: DatasetSpec, fingerprint: str) -> Dataset:
    """Return the data set that this worker was sent, or read it, once per process."""
    if fingerprint in _given:
        return _given[fingerprint]
    options = json.dumps(spec.options, sort_keys=True)  # a list cannot be hashed
    return _read(spec.name, spec.source, spec.target, options, fingerprint)


@lru_cache(maxsize=4)
def _read(name: str, source: str, target: str | None, options: str, fingerprint: str) -> Dataset:
    try:
        dataset = load_dataset(source, target, **json.loads(options))
    except (MaucError, OSError) as error:
        raise WorkerSetupError(f"a worker cannot load {name}: {error}") from error
    got = dataset.fingerprint()
    if got != fingerprint:
        raise WorkerSetupError(
            f"a worker has other data for {name}: fingerprint {got[:12]}, "
            f"the run's is {fingerprint[:12]}."
        )
    return dataset
