"""What is wrong with a table, its labels or a model: one diagnosis per fault, the worst first."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from mauc.data.arguments import CategoricalFeatures, MatrixLike, Seed
from mauc.data.columns import as_floats, is_frame, is_polars
from mauc.data.door import AUCS, FitOptions, make_problem, open_input
from mauc.data.frames import pandas_values, polars_values
from mauc.data.nominal import get_column
from mauc.data.source import ColumnSource
from mauc.evaluation.doctor.case import Case
from mauc.evaluation.doctor.chance import find_inseparable, find_interactions
from mauc.evaluation.doctor.findings import Diagnosis, Finding
from mauc.evaluation.doctor.judged import (
    find_few_rows,
    find_groups_across_folds,
    find_missed_pairs,
    judge,
)
from mauc.evaluation.doctor.kinds import ORDER, SEVERITIES, check_ignored
from mauc.evaluation.doctor.labels import find_wrong_labels
from mauc.evaluation.doctor.leaks import find_column_faults
from mauc.evaluation.doctor.rows import find_copied_rows, find_near_copies
from mauc.evaluation.doctor.shapes import find_merged_class
from mauc.exceptions import MaucError, UndefinedMAUCError
from mauc.metrics.mauc import check_scored

Array = np.ndarray


def diagnose(
    X: ArrayLike,
    y: ArrayLike,
    scores: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    categorical_features: ArrayLike | None = None,
    ignore: str | Iterable[str] = (),
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Diagnosis:
    """Find what is wrong with a table, its labels or a model, the most consequential first.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        NaN is a missing value.
    y : array-like of shape (n_samples,)
        Class labels.
    scores : array-like of shape (n_samples, n_classes), optional
        Scores of a model on these rows, which it was not trained on: pairs are found that it
        misses though classifiers separate them.
    groups : array-like of shape (n_samples,), optional
        What rows belong to, such as a patient; folds keep them together.
    labels : array-like of shape (n_classes,), optional
        Labels of the columns of `scores`, sorted by default.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
    ignore : str or iterable of str, default=()
        Codes of findings that are not looked for, such as "MD03".
    random_state : int, SeedSequence, Generator, RandomState or None, default=0
        Of the folds.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Returns
    -------
    diagnosis : Diagnosis

    Notes
    -----
    Four classifiers judge the pairs of classes in 5 folds, without columns that leak; a large table
    on part of its rows. Bounds are those of `mauc_interval`, of missed pairs at level 0.95 over all
    (Bonferroni). docs/answers/doctor.md has the code and the rule of every kind.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from mauc import diagnose
    >>> X, y = load_iris(return_X_y=True)
    >>> found = diagnose(np.column_stack([X, 2 - y]), y)
    >>> found[0].code, found[0].kind, found[0].features
    ('MD01', 'leak', ('x4',))
    """
    return examine(
        X,
        y,
        scores,
        groups=groups,
        labels=labels,
        categorical_features=categorical_features,
        ignore=ignore,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def examine(
    X: MatrixLike,
    y: ArrayLike,
    scores: Any = None,
    *,
    groups: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    categorical_features: CategoricalFeatures = None,
    ignore: str | Iterable[str] = (),
    random_state: Seed = 0,
    n_jobs: int | None = None,
    dates: Mapping[str, Array] | None = None,
) -> Diagnosis:
    """Return what `diagnose` does; `dates`, in seconds, are columns that were left out of X."""
    ignored = check_ignored(ignore)
    X, y, _, _ = open_input(X, y)
    if isinstance(X, ColumnSource):
        raise MaucError("diagnose takes a table in memory, got a source; pass some of its rows.")
    options = FitOptions(AUCS, categorical_features=categorical_features)
    problem = make_problem(X, y, options, None, groups)
    if scores is not None:
        shape = problem.n_samples, problem.n_classes
        if np.shape(scores) != shape:
            raise MaucError(f"scores must be of shape {shape}, as X and y, got {np.shape(scores)}.")
        table, names, _ = check_scored(problem.classes[problem.codes], scores, labels)
        scores = table[np.argsort(names)].T
    kind = "pandas" if is_frame(X) else "sparse" if sparse.issparse(X) else "array"
    case = Case(problem, "polars" if is_polars(X) else kind, random_state, n_jobs, ignored)
    found = [
        *find_column_faults(case, _missing_words(X, problem.is_nominal), _dates(X, dates)),
        *_judged(case, scores),
    ]
    found = [one for one in found if one.kind not in ignored]
    found.sort(key=lambda one: (SEVERITIES.index(one.severity), ORDER[one.kind]))
    return Diagnosis(tuple(found), case.checked(), problem.n_classes)


def _judged(case: Case, scores: Array | None) -> Iterator[Finding]:
    """Yield what cross-validated classifiers find."""
    if not case.used.any():
        return
    try:
        folds = case.folds(case.sample)
    except UndefinedMAUCError:
        return
    yield from find_copied_rows(case, folds)
    yield from find_near_copies(case)
    interactions, interacting = find_interactions(case)
    yield from interactions
    of_labels = case.looks_for("wrong labels")
    if case.looks_for("few rows", "inseparable pair") or of_labels or scores is not None:
        verdict = judge(case, folds)
        if scores is not None:
            yield from find_missed_pairs(case, verdict, scores)
            yield from find_groups_across_folds(case, verdict, scores)
        yield from find_inseparable(case, verdict, interacting)
        if of_labels:
            yield from find_wrong_labels(case, verdict.judges)
        yield from find_few_rows(case, verdict)
    yield from find_merged_class(case)


def _missing_words(X: Any, is_nominal: Array) -> Array | None:
    """Return where nominal columns of a data frame have no value; their codes do not show it."""
    if not is_frame(X) or not is_nominal.any():
        return None
    gone = np.zeros(X.shape, bool)
    for j in np.flatnonzero(is_nominal).tolist():
        column = get_column(X, j)
        gone[:, j] = column.is_null().to_numpy() if is_polars(X) else column.isna().to_numpy()
    return gone


def _dates(X: Any, dates: Mapping[str, Array] | None) -> dict[str, Array]:
    """Return the dates of a data frame in seconds, and those that were left out of it."""
    found = dict(dates or {})
    if is_frame(X):
        for j, kind in enumerate(X.dtypes):
            if getattr(kind, "kind", "O") == "M" or str(kind).startswith("Date"):
                column = get_column(X, j)
                values = polars_values(column) if is_polars(X) else pandas_values(column)
                found[str(X.columns[j])] = as_floats(values)
    return found
