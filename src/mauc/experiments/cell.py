"""Run one cell: a fold of a data set in, one row per selector, classifier and size out."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mauc.datasets import Dataset
from mauc.evaluation import FoldEvaluator, Measurement
from mauc.exceptions import MaucError
from mauc.experiments.fold import (
    Split,
    seed_of,
    select_features,
    sizes_of,
    split_cell,
    split_rows,
    warm_up_selectors,
)
from mauc.experiments.methods import build_classifier, tell_nominal
from mauc.experiments.plan import Cell, Combination, MethodSpec, Plan
from mauc.experiments.rows import Row, blank_row, error_text
from mauc.experiments.tuning import Tuned, tune_on


def run_cell(
    plan: Plan, cell: Cell, dataset: Dataset, *, tuned: Mapping[int, Tuned] | str | None = None,
    wanted: frozenset[Combination] | None = None, n_jobs: int = 1,
) -> list[Row]:  # fmt: skip
    """Fit the selectors of a cell once each and evaluate all classifiers and sizes.

    Parameters
    ----------
    plan : Plan
    cell : Cell
    dataset : Dataset
    tuned : mapping of int to Tuned, or str, optional
        What `tune_dataset` found, by size, or why it failed; for the scopes "dataset" and
        "dataset_size".
    wanted : set of (selector, classifier), optional
        The combinations to run; all by default.
    n_jobs : int, default=1
        Threads. The rows do not depend on it, but for their seconds.

    Returns
    -------
    rows : list of Row
        In the order of the plan. A combination that fails has rows with its error.
    """
    split = split_cell(plan, cell, dataset)
    n_features = dataset.X.shape[1]
    sizes = sizes_of(plan, n_features)
    blank = blank_row(cell, len(split.y_train), len(split.y_test), n_features)
    evaluator: FoldEvaluator | None = None
    rows: list[Row] = []
    selectors = list(_wanted_of(plan, wanted))
    warm_up_selectors([spec for spec, _ in selectors], split, max(sizes))
    for spec, classifiers in selectors:
        seed = seed_of(plan.seed, cell.dataset, cell.repeat, cell.fold, spec.name)
        base = replace(blank, selector=spec.name, seed=seed)
        try:
            ranking, seconds = select_features(spec, split, max(sizes), seed, n_jobs)
            base = replace(base, select_seconds=seconds)
            evaluator = evaluator or FoldEvaluator(
                split.X_train, split.y_train, split.X_test, split.y_test, n_jobs=n_jobs
            )
        except Exception as error:  # a failure is a row, the run goes on
            for classifier in classifiers:
                named = replace(base, classifier=classifier.name)
                rows += _failed(named, sizes, error_text(error))
            continue
        # A selector may rank fewer features than it is asked for.
        reached = [size for size in sizes if size <= len(ranking)]
        beyond = error_text(MaucError(f"{spec.name} ranked {len(ranking)} features only"))
        for classifier in classifiers:
            named = replace(base, classifier=classifier.name)
            made: list[Row] = []
            try:
                for model, part in _models(
                    plan, cell, classifier, split, ranking, reached, tuned, seed, n_jobs
                ):
                    for measured in evaluator.measure(ranking, part, model):
                        made.append(_succeeded(named, measured, ranking))
            except Exception as error:
                made += _failed(named, reached[len(made) :], error_text(error))
            rows += made + _failed(named, sizes[len(reached) :], beyond)
    return rows


def failed_cell(
    plan: Plan, cell: Cell, y: np.ndarray, n_features: int, error: str,
    wanted: frozenset[Combination] | None = None,
) -> list[Row]:  # fmt: skip
    """Return the rows of a cell whose worker returned nothing; `y` are all labels."""
    train, test = split_rows(plan, cell, y)
    blank = blank_row(cell, len(train), len(test), n_features)
    rows = []
    for spec, classifiers in _wanted_of(plan, wanted):
        seed = seed_of(plan.seed, cell.dataset, cell.repeat, cell.fold, spec.name)
        for classifier in classifiers:
            base = replace(blank, selector=spec.name, classifier=classifier.name, seed=seed)
            rows += _failed(base, sizes_of(plan, n_features), error)
    return rows


def _wanted_of(
    plan: Plan, wanted: frozenset[Combination] | None
) -> Iterator[tuple[MethodSpec, list[MethodSpec]]]:
    """Yield every selector that is wanted, with the classifiers that are wanted for it."""
    for spec in plan.selectors:
        classifiers = [
            classifier
            for classifier in plan.classifiers
            if wanted is None or (spec.name, classifier.name) in wanted
        ]
        if classifiers:
            yield spec, classifiers


def _succeeded(base: Row, measured: Measurement, ranking: np.ndarray) -> Row:
    return replace(
        base, size=measured.size, mauc=measured.mauc, fit_seconds=measured.fit_seconds,
        score_seconds=measured.score_seconds, features=ranking[: measured.size], status="ok",
    )  # fmt: skip


def _failed(base: Row, sizes: list[int], error: str) -> list[Row]:
    return [replace(base, size=size, error=error) for size in sizes]


def _models(
    plan: Plan, cell: Cell, spec: MethodSpec, split: Split, ranking: np.ndarray, sizes: list[int],
    tuned: Mapping[int, Tuned] | str | None, seed: int, n_jobs: int,
) -> Iterator[tuple[Any, list[int]]]:  # fmt: skip
    """Yield the classifier with its parameters, and the sizes that share these."""
    classifier = tell_nominal(build_classifier(spec), spec.options, split.is_nominal)
    if "random_state" in classifier.get_params() and "random_state" not in spec.options:
        # Without the selector, so that all selectors share what the evaluator keeps.
        own_seed = seed_of(plan.seed, cell.dataset, cell.repeat, cell.fold, spec.name)
        classifier.set_params(random_state=own_seed)
    if not spec.is_tuned:
        yield classifier, sizes
        return
    scope = plan.tuning.scope
    if scope.startswith("fold"):
        tuned = {
            size: tune_on(
                plan.tuning, split.X_train, split.y_train, ranking[:size], seed, n_jobs,
                split.is_nominal,
            )
            for size in (sizes if scope == "fold_size" else sizes[-1:])
        }  # fmt: skip
    if tuned is None:
        raise MaucError(f"scope {scope!r} needs what tune_dataset found.")
    if isinstance(tuned, str):
        raise MaucError(f"the SVM could not be tuned: {tuned}")
    if len(tuned) == 1:
        parts = [(found, sizes) for found in tuned.values()]
    else:
        parts = [(tuned[size], [size]) for size in sizes]
    for found, part in parts:
        yield classifier.set_params(C=found.C, gamma=found.gamma), part
