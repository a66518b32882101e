"""Features that act together: effects and normal scores in, a ranking and the pairs found out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mauc.extras import optional_import
from mauc.printing import MAX_ROWS, Printed, SmallTable, short_name
from mauc.selectors.greedy_mauc.acting_together.heterogeneity import find_pairs
from mauc.selectors.greedy_mauc.acting_together.pair_search import pair_ranking
from mauc.selectors.greedy_mauc.acting_together.products import add_products
from mauc.selectors.greedy_mauc.judging.model import Model, condition_on, state_of
from mauc.selectors.greedy_mauc.judging.predicted import Prediction
from mauc.selectors.greedy_mauc.searching.search import greedy_ranking

MAX_FEATURES = 1500  # of which all pairs are tested, whatever the number of classes
MAX_TESTED = 2**26  # correlations, one per pair and class: two seconds
N_CANDIDATES = 300  # features with more: the first of the search without products


class Interaction(NamedTuple):
    """Two features whose correlation differs between the classes."""

    first: int  #: column number
    second: int
    first_name: str
    second_name: str
    p_value: float  #: of this pair alone
    step: int  #: step of the trace from which on their product counts, 0 for the first; or -1


@dataclass(frozen=True, repr=False)
class Interactions(Printed):
    """Pairs of features that act together, the smallest p-value first; iterating gives tuples.

    It prints as a table; steps are counted from 1 there.

    Parameters
    ----------
    pairs : ndarray of shape (n_found, 2), int64
        Column numbers, the lower first.
    p_values : ndarray of shape (n_found,)
    steps : ndarray of shape (n_found,), int64
        Step of the trace with which the product was added: that of the later of its features. -1
        if one of them was not selected, or the product tells no class pair apart.
    names : ndarray of shape (n_found, 2)
    n_tested : int
        Pairs that were tested.
    """

    pairs: np.ndarray
    p_values: np.ndarray
    steps: np.ndarray
    names: np.ndarray
    n_tested: int

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, place: int) -> Interaction:
        first, second = self.pairs[place].tolist()
        first_name, second_name = map(str, self.names[place])
        p_value, step = float(self.p_values[place]), int(self.steps[place])
        return Interaction(first, second, first_name, second_name, p_value, step)

    def __iter__(self) -> Iterator[Interaction]:
        return (self[place] for place in range(len(self)))

    def first(self, k: int) -> "Interactions":
        """Return the same for a selection of the first k features."""
        return replace(self, steps=np.where(self.steps < k, self.steps, -1))

    @property
    def members(self) -> set[int]:
        """The features of all products that count."""
        return set(self.pairs[self.steps >= 0].ravel().tolist())

    def lines(self, names) -> list[str]:
        """Return one line per product that counts, under these names of all features."""
        return [
            f"{names[one.first]} and {names[one.second]} act together (p = {one.p_value:.1e})"
            for one in self
            if one.step >= 0
        ]

    def to_frame(self):
        """Return the pairs as a pandas DataFrame."""
        pd = optional_import("pandas", "data frames")
        return pd.DataFrame(list(self), columns=list(Interaction._fields))

    def printed_parts(self) -> list[str | SmallTable]:
        """Return the first pairs as a table."""
        rows = [
            [
                short_name(one.first_name), short_name(one.second_name), f"{one.p_value:.1e}",
                str(one.step + 1) if one.step >= 0 else "-",
            ]
            for one in (self[place] for place in range(min(len(self), MAX_ROWS)))
        ]  # fmt: skip
        if not rows:
            return [f"no interaction among {self.n_tested:,} pairs of features"]
        heads = ["feature", "with", "p-value", "step"]
        return [SmallTable(heads, rows, len(self), right=("step",))]


class PairPrediction(Prediction):
    """The MAUC to expect of features with their products, one value per feature."""

    def __init__(self, found, scores, shrinkage):
        # The share of luck in a distance is estimated from features and products alike.
        varies = scores.varies.copy()
        varies[found.columns] = True
        super().__init__(found.columns, found.lower, replace(scores, varies=varies), shrinkage)
        self._n_columns = found.n_columns

    @cached_property
    def mauc(self):
        """In [0.5, 1), shape (k,)."""
        return super().mauc[self._n_columns - 1]


def rank_with_interactions(effects, scores, k, *, noise_correction, feature_names, **search):
    """Choose features as `greedy_ranking` does, some of them together with another one.

    Parameters
    ----------
    effects, scores, k
        As in `greedy_ranking`.
    noise_correction : float
    feature_names : ndarray of shape (n_features,)
    **search
        Options of `greedy_ranking`.

    Returns
    -------
    found : GreedyRanking
    prediction : Prediction
    interactions : Interactions
    """
    columns = _candidates(effects, scores, search)
    pairs = find_pairs(scores, columns)
    steps = np.full(len(pairs.pairs), -1)
    shrinkage = search["shrinkage"]
    products = None
    if len(pairs.pairs) > 0:
        products = add_products(effects, scores, pairs, noise_correction)
    if products is None or len(products.members) == 0:
        found = greedy_ranking(effects, scores, k, **search)
        prediction = Prediction(found.ranking, found.lower, scores, shrinkage)
    else:
        ranked = pair_ranking(products, k, **search)
        # The features that could replace others are those of a search without products.
        model = Model(effects, scores, shrinkage, search["alpha"] / 8.0)
        state = state_of(model, condition_on(model, ranked.found.ranking))
        found = ranked.found._replace(state=state)
        prediction = PairPrediction(ranked, products.scores, shrinkage)
        steps[products.places] = ranked.steps
    names = np.asarray(feature_names)[pairs.pairs]
    return (
        found,
        prediction,
        Interactions(pairs.pairs, pairs.p_values, steps, names, pairs.n_tested),
    )


def _candidates(effects, scores, search):
    """Return the features whose pairs are tested: those that vary and are no categories."""
    is_number = scores.varies.copy()
    is_number[list(scores.nominal_squares)] = False
    n_numbers, n_classes = int(is_number.sum()), len(scores.class_counts)
    n_tested = n_numbers * (n_numbers - 1) // 2 * n_classes
    if n_numbers > MAX_FEATURES and n_tested > MAX_TESTED:
        options = {**search, "keeps_steps": False}
        n_chosen = min(N_CANDIDATES + len(scores.nominal_squares), len(effects))
        ranking = greedy_ranking(effects.copy(), scores, n_chosen, **options).ranking
        return np.sort(ranking[is_number[ranking]][:N_CANDIDATES])
    return np.flatnonzero(is_number)
