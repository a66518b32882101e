"""What a search found: the selected features in order, and where each came from."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mauc.data.problem import Decomposition, decompose


class Selection(NamedTuple):
    """Selected features in order and where each came from; arrays of shape (n_selected,)."""

    features: np.ndarray
    subproblems: np.ndarray  #: number of the list
    ranks: np.ndarray  #: rank in that list, 1 for the best
    scores: np.ndarray  #: relevance there


class Ranked(NamedTuple):
    """What a selector finds out about a problem."""

    decomposition: Decomposition
    selection: Selection
    scores: np.ndarray  #: of every feature, shape (n_features,)
    pair_auc: np.ndarray | None = None  #: folded AUCs of the selected, if they are known already
    details: Mapping[str, ArrayLike] = {}  #: further columns of the trace


def single_ranking(
    problem: Any, ranking: np.ndarray, list_scores: np.ndarray, scores: np.ndarray, **further: Any
) -> Ranked:
    """Return what one ranking of the whole problem found; `list_scores` are those when selected."""
    n_selected = len(ranking)
    selection = Selection(
        ranking, np.zeros(n_selected, np.int64), np.arange(1, n_selected + 1), list_scores
    )
    return Ranked(decompose("whole", problem.n_classes), selection, scores, **further)
