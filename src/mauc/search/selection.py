"""What a search found: the selected features in order, and where each came from."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mauc.data.problem import Decomposition


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
