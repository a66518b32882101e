"""Relevance by a function of a user, which is called as ``score_func`` of scikit-learn is."""

import inspect

import numpy as np

from mauc.data.columns import ColumnBlock
from mauc.data.problem import Decomposition, Problem
from mauc.engine.arrays import read_only
from mauc.exceptions import MaucError
from mauc.registry import ScoreFunction, function_name


def score_by(
    function: ScoreFunction, problem: Problem, decomposition: Decomposition, chosen: ColumnBlock
) -> np.ndarray:
    """Return the scores of columns on every sub-problem, -inf where the function gives NaN.

    The function gets the rows of the sub-problem and their labels: of a pair or of the whole
    problem those of the user; of a class against the others True for the class.
    """
    XT = _known_values(function, problem, chosen)
    codes, weight = problem.codes, problem.sample_weight
    # Workers hold rows of weight 0, too.
    is_counted = np.ones(len(codes), bool) if weight is None else weight > 0
    labels = problem.classes[codes]
    scores = np.empty((len(XT), decomposition.n_subproblems))
    for number, (first, second) in enumerate(decomposition.members):
        inside, y = is_counted, labels
        if second >= 0:
            inside = inside & ((codes == first) | (codes == second))
        elif first >= 0:
            y = codes == first
        X = XT.T if inside.all() else XT[:, inside].T
        more = {} if weight is None else {"sample_weight": weight[inside]}
        scores[:, number] = _checked_scores(function, function(X, y[inside], **more), len(XT))
    scores[np.isnan(scores)] = -np.inf
    return scores


def takes_weights(function: ScoreFunction) -> bool:
    """Whether a function has a parameter ``sample_weight``."""
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except ValueError:  # some functions in C do not tell
        return False


def _known_values(function: ScoreFunction, problem: Problem, chosen: ColumnBlock) -> np.ndarray:
    """Return columns, (n_chosen, n_samples), as read-only float64; raise for missing values."""
    XT = problem.columns.floats(chosen)
    n_missing = np.isnan(XT).sum(axis=1)
    if n_missing.any():
        first = int(np.argmax(n_missing > 0))
        label = problem.labels[np.arange(problem.n_features)[chosen][first]]
        raise MaucError(
            f"X must hold no missing value (NaN) for relevance={function_name(function)}, got "
            f"{n_missing[first]:,} of them in feature {label!r}; fill them in before, or name a "
            f"relevance of this library, which takes them."
        )
    return read_only(XT.astype(np.float64, copy=False))


def _checked_scores(function: ScoreFunction, found: object, n_columns: int) -> np.ndarray:
    """Return the scores of what a function returned: scores, or a tuple of them and p-values."""
    scores = found[0] if isinstance(found, tuple) and len(found) == 2 else found
    want = (
        f"relevance={function_name(function)} must return a score for each of the {n_columns} "
        f"columns that it got, an array of shape ({n_columns},), or a tuple (scores, p-values)"
    )
    try:
        scores = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MaucError(f"{want}, got {type(found).__name__} that is no such array.") from error
    if scores.shape != (n_columns,):
        raise MaucError(f"{want}, got shape {scores.shape}.")
    return scores
