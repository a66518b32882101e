"""Selectors that draw from ranking lists: a recipe in, a walk over the lists out."""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from mauc.exceptions import MaucError
from mauc.problem.decomposition import DECOMPOSITIONS, Decomposition
from mauc.selectors.base import RankingSelector, check_choice
from mauc.selectors.rankings import TIES, rank_features
from mauc.selectors.relevance import NOMINAL, RELEVANCES, UNBOUNDED, WEIGHTED, auc_relevance
from mauc.selectors.schedules import SCHEDULES
from mauc.selectors.trace import walk


class Recipe(NamedTuple):
    """What makes a selector: names of the decomposition, relevance, schedule and tie rule."""

    decomposition: str = "one-vs-one"
    relevance: str = "auc"
    schedule: str = "random"
    ties: str = "index"
    options: dict[str, float] = {}  #: further arguments of the relevance

    def check(self) -> Callable:
        """Return the relevance function, or raise for a name that is none."""
        check_choice("decomposition", self.decomposition, DECOMPOSITIONS)
        check_choice("relevance", self.relevance, RELEVANCES)
        check_choice("schedule", self.schedule, SCHEDULES)
        check_choice("ties", self.ties, TIES)
        return partial(RELEVANCES[self.relevance], **self.options)


class ListSelector(RankingSelector):
    """Base of the selectors that draw features from one ranking list per sub-problem.

    A subclass implements ``_recipe``, and has ``random_state`` if its schedule draws and
    ``categorical_features`` if its relevance takes nominal columns.
    """

    @abstractmethod
    def _recipe(self) -> Recipe:
        """Return what makes the selector."""

    def _accepts(self):
        relevance = self._recipe().relevance
        return {
            "accept_sparse": True,
            "accept_infinite": relevance in UNBOUNDED,
            "accept_nominal": relevance in NOMINAL,
        }

    def _rank(self, problem, n_wanted):
        recipe = self._recipe()
        relevance = recipe.check()
        if problem.sample_weight is not None and recipe.relevance not in WEIGHTED:
            raise MaucError(
                f"sample_weight must be None for relevance {recipe.relevance!r}; "
                f"only {', '.join(repr(name) for name in WEIGHTED)} take weights."
            )
        is_flagged = getattr(self, "categorical_features", None) is not None
        if is_flagged and recipe.relevance not in NOMINAL:
            raise MaucError(
                f"categorical_features must be None for relevance {recipe.relevance!r}, "
                f"which needs ordered values; encode those columns first."
            )
        decomposition = Decomposition(recipe.decomposition, problem.n_classes)
        lists, self.scores_ = rank_features(
            problem, decomposition, relevance, n_wanted, recipe.ties, self.n_jobs
        )
        rng = check_random_state(getattr(self, "random_state", None))
        schedule = SCHEDULES[recipe.schedule](decomposition, problem.class_weights, rng)

        def separation(feature):
            if problem.is_nominal is not None and problem.is_nominal[feature]:
                return np.full(decomposition.n_subproblems, 0.5)  # categories have no order
            return auc_relevance(problem, decomposition, [feature])[0]

        return decomposition, walk(lists, schedule, n_wanted, separation)
