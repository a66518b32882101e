"""Selectors that draw from ranking lists: a recipe in, a walk and its trace out."""

from abc import abstractmethod
from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from mauc.decompose import DECOMPOSITIONS, Decomposition
from mauc.parallel import run_blocks
from mauc.rankings import TIES, rank_features
from mauc.relevance import RELEVANCES, auc_relevance
from mauc.schedules import SCHEDULES
from mauc.selection import SelectionTrace, walk
from mauc.selectors.base import RankingSelector, check_choice


class Recipe(NamedTuple):
    """What makes a selector: names of the decomposition, relevance, schedule and tie rule."""

    decomposition: str = "one-vs-one"
    relevance: str = "auc"
    schedule: str = "random"
    ties: str = "index"


class ListSelector(RankingSelector):
    """Base of the selectors that draw features from one ranking list per sub-problem.

    A subclass implements ``_recipe`` and has ``n_jobs``, and ``random_state`` if its schedule
    draws.
    """

    @abstractmethod
    def _recipe(self):
        """Return the Recipe."""

    def _rank(self, problem, n_wanted):
        recipe = self._recipe()
        check_choice("decomposition", recipe.decomposition, DECOMPOSITIONS)
        relevance = RELEVANCES[check_choice("relevance", recipe.relevance, RELEVANCES)]
        make_schedule = SCHEDULES[check_choice("schedule", recipe.schedule, SCHEDULES)]
        check_choice("ties", recipe.ties, TIES)
        decomposition = Decomposition(recipe.decomposition, problem.n_classes)

        lists, self.scores_ = rank_features(
            problem, decomposition, relevance, n_wanted, recipe.ties, self.n_jobs
        )
        rng = check_random_state(getattr(self, "random_state", None))
        ranking, subproblems, ranks, scores = walk(
            lists,
            make_schedule(decomposition, problem.class_counts, rng),
            n_wanted,
            lambda feature: relevance(problem, decomposition, [feature])[0],
        )
        self.decomposition_ = decomposition
        self.subproblem_names_ = decomposition.names(problem.classes)
        self.pair_auc_ = _pair_auc(problem, ranking, self.n_jobs)
        self.trace_ = SelectionTrace(
            features=ranking,
            subproblems=subproblems,
            ranks=ranks,
            scores=scores,
            feature_names=_names(problem)[ranking],
            subproblem_names=np.array(self.subproblem_names_)[subproblems],
        )
        return ranking


def _pair_auc(problem, ranking, n_jobs):
    pairs = Decomposition("one-vs-one", problem.n_classes)
    blocks = [ranking[start : start + 16] for start in range(0, len(ranking), 16)]
    scores = run_blocks(lambda chosen: auc_relevance(problem, pairs, chosen), blocks, n_jobs)
    return np.concatenate([part for _, part in scores])


def _names(problem):
    if problem.feature_names is not None:
        return problem.feature_names
    return np.array([f"x{column}" for column in range(problem.n_features)])
