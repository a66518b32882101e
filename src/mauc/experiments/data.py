"""The data sets of a plan: sources in, checked data out, which workers map or read once."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import joblib
import numpy as np
from sklearn.utils import _safe_indexing

from mauc.checks import check_choice
from mauc.datasets import BUNDLED, Dataset, load_dataset
from mauc.exceptions import ColumnWarning, MaucError, format_labels
from mauc.experiments.cell import seed_of
from mauc.experiments.plan import DatasetSpec, Plan, build_classifier, build_selector, takes_nominal
from mauc.results import plural

_PROCESS = 300 * 10**6  # bytes of a worker with its packages and compiled loops
_PAIR_NAME = 110  # bytes of the name of a class pair
_ALL_PAIRS = ("greedy",)  # methods that hold an effect of every feature on every class pair
_MAX_READ = 4  # data sets that a worker on a cluster keeps
_read: dict[str, Dataset] = {}  # what this worker read last, by fingerprint


class WorkerSetupError(MaucError):
    """A worker lacks the data of the run, or has others; none of its cells would be right."""


def load_data(
    plan: Plan, given: Mapping[str, Dataset], note: Callable[[str], None]
) -> dict[str, Dataset]:
    """Return the data sets of a plan by name, those given or read; refuse what cannot be split."""
    names = [spec.name for spec in plan.datasets]
    for name in given:
        check_choice("a name in data", name, names, quoted=False)
    data = {}
    for spec in plan.datasets:
        lines: list[str] = []
        try:
            whole = given[spec.name] if spec.name in given else _load(spec)
        except MaucError as error:
            raise MaucError(f"data set {spec.name}: {error}") from error
        if spec.name not in given and spec.source not in BUNDLED:
            lines += whole.notes
        data[spec.name] = dataset = thin_rows(plan, spec.name, whole)
        if dataset is not whole:
            lines.append(f"thinned from {whole.n_samples} to {dataset.n_samples} rows.")
        for line in (*lines, *nominal_notes(plan, dataset)):
            note(f"{spec.name}: {line}")
        _check_split(plan, spec.name, dataset, note)
    return data


def _load(spec: DatasetSpec) -> Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)  # the notes say it
        return load_dataset(spec.source, spec.target, groups=spec.groups, **spec.options)


def thin_rows(plan: Plan, name: str, dataset: Dataset) -> Dataset:
    """Return at most the `max_rows` of a plan, drawn by its seed and the data set's name alone."""
    if plan.max_rows is None or dataset.n_samples <= plan.max_rows:
        return dataset
    _, codes, counts = np.unique(dataset.y, return_inverse=True, return_counts=True)
    rng = np.random.default_rng(seed_of(plan.seed, name, "rows"))
    kept = [
        rng.choice(np.flatnonzero(codes == code), size, replace=False)
        for code, size in enumerate(class_shares(counts, plan.max_rows, plan.folds))
    ]
    rows = np.sort(np.concatenate(kept))
    groups = None if dataset.groups is None else dataset.groups[rows]
    X = _safe_indexing(dataset.X, rows)
    return replace(dataset, X=X, y=dataset.y[rows], groups=groups, source="")


def class_shares(counts: np.ndarray, n_rows: int, n_least: int) -> np.ndarray:
    """Return how many of `n_rows` rows each class gets: its share, but not less than `n_least`."""
    exact = counts * (n_rows / counts.sum())
    shares: np.ndarray = np.maximum(np.floor(exact).astype(np.int64), np.minimum(counts, n_least))
    n_missing = n_rows - int(shares.sum())
    # Rounding leaves rows for the largest remainders; small classes may have taken too many.
    shares[np.argsort(shares - exact, kind="stable")[: max(n_missing, 0)]] += 1
    for _ in range(-n_missing):
        shares[shares.argmax()] -= 1
    return shares


def nominal_notes(plan: Plan, dataset: Dataset) -> list[str]:
    """Return a line on who takes nominal columns as such and who gets codes, if there are any."""
    n_nominal = len(dataset.nominal_features)
    if not n_nominal:
        return []
    methods = [(spec.name, build_selector(spec)) for spec in plan.selectors]
    methods += [(spec.name, build_classifier(spec)) for spec in plan.classifiers]
    ways = {True: "as such", False: "as codes 0, 1, ..."}
    takers = {way: [name for name, one in methods if takes_nominal(one) == way] for way in ways}
    parts = [f"{ways[way]} for {', '.join(names)}" for way, names in takers.items() if names]
    return [f"{plural(n_nominal, 'nominal column')} {'; '.join(parts)}"]


def _check_split(plan: Plan, name: str, dataset: Dataset, note: Callable[[str], None]) -> None:
    classes, counts = np.unique(dataset.y, return_counts=True)
    if len(classes) < 2:
        raise MaucError(f"data set {name} must have at least 2 classes, got {len(classes)}.")
    if counts.max() < plan.folds:
        raise MaucError(
            f"data set {name} cannot be split into {plan.folds} folds: its largest class has "
            f"{plural(counts.max(), 'sample')}, its smallest, {classes[counts.argmin()].item()!r}, "
            f"{counts.min()}."
        )
    n_groups = plan.folds if dataset.groups is None else len(np.unique(dataset.groups))
    if n_groups < plan.folds:
        raise MaucError(
            f"data set {name} cannot be split into {plan.folds} folds: it has "
            f"{plural(n_groups, 'group')}."
        )
    single = classes[counts == 1]
    if len(classes) - len(single) < 2:
        raise MaucError(
            f"data set {name} must have at least 2 classes of 2 samples or more, got "
            f"{len(classes) - len(single)}."
        )
    if len(single):
        note(
            f"{name}: class{'es' * (len(single) > 1)} {format_labels(single)} "
            f"{'have' if len(single) > 1 else 'has'} a single sample, which stays in the training "
            "part: MAUC is over the other classes. Join such classes with others, or remove their "
            "rows."
        )
    counts = np.where(counts == 1, plan.folds, counts)
    if counts.min() < plan.folds:
        note(
            f"{name}: class {classes[counts.argmin()]!s} has {plural(counts.min(), 'sample')}, "
            "fewer than folds; MAUC of a fold is over the classes that its test part has."
        )
    too_large = [str(size) for size in plan.sizes if size > dataset.n_features]
    if too_large:
        note(
            f"{name} has {plural(dataset.n_features, 'feature')}: sizes {', '.join(too_large)} are "
            f"left out."
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


def write_data(dataset: Dataset, folder: Path) -> Path:
    """Write a data set for the workers of this host to a part, which the next start removes."""
    path = folder / f".data.{uuid4().hex}.part"
    try:
        joblib.dump(dataset, path)
    except OSError as error:
        raise MaucError(
            f"the data cannot be written for the workers ({error.strerror or error}); use a folder "
            f'with more space, or engine="serial", which needs no copy.'
        ) from error
    return path


@lru_cache(maxsize=_MAX_READ)
def map_data(path: Path) -> Dataset:
    """Return a data set whose arrays are mapped from a file: the workers of a host share them."""
    return joblib.load(path, mmap_mode="r")  # type: ignore[no-any-return]


def find_data(plan: Plan, name: str, fingerprint: str) -> Dataset:
    """Return the data set that this worker of a cluster reads, once per process."""
    if fingerprint in _read:
        return _read[fingerprint]
    spec = next(spec for spec in plan.datasets if spec.name == name)
    try:
        dataset = thin_rows(plan, name, _load(spec))
    except (MaucError, OSError) as error:
        raise WorkerSetupError(f"a worker cannot load {name}: {error}") from error
    got = dataset.fingerprint()
    if got != fingerprint:
        raise WorkerSetupError(
            f"a worker has other data for {name}: fingerprint {got[:12]}, "
            f"the run's is {fingerprint[:12]}."
        )
    if len(_read) == _MAX_READ:
        del _read[next(iter(_read))]
    _read[fingerprint] = dataset
    return dataset


def cell_memory(plan: Plan, dataset: Dataset) -> int:
    """Return about how many bytes a worker takes at most for a cell of a data set."""
    n_samples, n_features = dataset.n_samples, dataset.n_features
    n_classes = len(np.unique(dataset.y))
    n_pairs = n_classes * (n_classes - 1) // 2
    n_test = -(-n_samples // plan.folds)
    n_train = n_samples - n_test
    n_ranked = min(max(plan.sizes), n_features)
    n_held = sum(2 * n_features for spec in plan.selectors if spec.method in _ALL_PAIRS)
    pairs = n_pairs * (_PAIR_NAME + 8 * (3 * n_ranked + n_held))
    n_used = min(n_features, n_ranked * len(plan.selectors))
    # What classifiers share between sizes: likelihoods of Naive Bayes, distances of 1NN and SVM.
    held = {
        "nb": n_test * n_classes * n_used,
        "1nn": 2 * n_test * n_train,
        "svm": 3 * n_train * n_samples,
    }
    shared = sum(held.get(spec.method, n_samples * n_used) for spec in plan.classifiers)
    # The table three times: the parts of the fold in the types of selectors and classifiers.
    return int(_PROCESS + 8 * 3 * n_samples * n_features + pairs + 8 * shared)
