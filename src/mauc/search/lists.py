"""Selectors that draw features from one ranking list per sub-problem.

A relevance scores the features on every sub-problem, block by block, and the best K of each list
are kept; then a schedule says which list gives its next feature, until K are selected.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.special import ndtri

from mauc.compile import njit, njit_part
from mauc.data.columns import ColumnBlock
from mauc.data.problem import Decomposition, Problem
from mauc.data.weights import pair_mean
from mauc.data.wishes import Wishes
from mauc.engine.arrays import mean_of_quotients
from mauc.search.selection import Selection
from mauc.search.wishes import Purse, best_pass, members_by_gain

TieRule = Literal["index", "mauc"]
TIES: tuple[TieRule, ...] = get_args(TieRule)
ScheduleName = Literal["random", "round_robin", "rand_robin", "hardest"]


class TopK(NamedTuple):
    """The best features of every list, best first: arrays of shape (n_lists, k)."""

    scores: np.ndarray
    tie_breaks: np.ndarray  #: order equal scores
    features: np.ndarray

    def first(self, length: int) -> "TopK":
        """Return the first entries of the lists, put in order."""
        order = np.lexsort((self.features, -self.tie_breaks, -self.scores))[:, :length]
        return TopK(*(np.take_along_axis(part, order, axis=1) for part in self))

    def joined(self, other: "TopK", start: int) -> "TopK":
        """Return the entries of both; the features of the other one are numbered from `start`."""
        further = other._replace(features=other.features + start)
        parts = zip(self, further, strict=True)
        return TopK(*(np.concatenate(both, axis=1) for both in parts))


def fill_lists(scores: np.ndarray, tie_breaks: np.ndarray, length: int) -> TopK:
    """Return the best `length` of (n_features, n_lists) scores on every list, the worst first."""
    n_kept, scores = min(length, len(scores)), np.ascontiguousarray(scores.T)
    least = np.partition(scores, -n_kept)[:, -n_kept, np.newaxis]
    number, feature = np.nonzero(scores >= least)
    parts = scores[number, feature], tie_breaks[feature], feature
    order = np.lexsort((-feature, parts[1], parts[0], number))
    ends = np.cumsum(np.bincount(number, minlength=len(scores)))
    chosen = order[ends[:, np.newaxis] + np.arange(-n_kept, 0)]
    return TopK(*(part[chosen] for part in parts))


def rank_features(
    problem: Problem,
    decomposition: Decomposition,
    relevance: Callable[..., np.ndarray],
    length: int,
    ties: str = "index",
    n_jobs: int | None = None,
    *,
    is_dense: bool = True,
    denominators: np.ndarray | None = None,
    pair_auc: np.ndarray | None = None,
    **options: Any,
) -> tuple[TopK, np.ndarray]:
    """Return the best `length` features of every sub-problem, and the mean scores of all features.

    `relevance` is one of `mauc.measure.relevance`, for which `is_dense` fills in sparse columns.
    Only the best of each list are held while blocks of columns pass by: memory is
    O(n_subproblems * length + n_samples * block). K features can be drawn from lists of K.
    `denominators`, one per sub-problem, are those of scores that are quotients, such as AUCs: their
    means are then rounded once, so that equal means are equal numbers. `pair_auc` gets the AUCs of
    all features on the class pairs, from a relevance that knows them.
    """
    mean_scores = np.empty(problem.n_features)
    lists: TopK | None = None
    ranges = problem.map(
        score_block,
        decomposition,
        relevance,
        options,
        denominators,
        out=(mean_scores,) if pair_auc is None else (mean_scores, pair_auc),
        reduce=partial(top_k, length=length, ties=ties),
        n_scores=decomposition.n_subproblems,
        n_jobs=n_jobs,
        is_dense=is_dense,
    )
    for part, best in ranges:
        # The first range begins at column 0.
        lists = best if lists is None else lists.joined(best, part.start).first(length)
    assert lists is not None
    return lists, mean_scores


def score_block(
    problem: Problem,
    block: ColumnBlock,
    decomposition: Decomposition,
    relevance: Callable[..., np.ndarray],
    options: dict[str, Any],
    denominators: np.ndarray | None,
    means: np.ndarray,
    *pair_auc: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of some columns, and their means, which are written to `means` as well."""
    found = relevance(problem, decomposition, block, *pair_auc, **options)
    scores = np.ascontiguousarray(found)
    if problem.pair_shares is not None and decomposition.name == "one-vs-one":
        means[:] = pair_mean(scores, problem.pair_shares)
    elif denominators is None:
        with np.errstate(invalid="ignore"):  # the mean of inf and -inf is no number
            means[:] = scores.mean(axis=1)
        means[np.isnan(means)] = -np.inf
    else:
        means[:] = mean_of_quotients(scores, denominators)
    return scores, means


def top_k(
    blocks: Iterator[tuple[slice, tuple[np.ndarray, np.ndarray]]], length: int, ties: str
) -> TopK:
    """Return the best `length` features of all lists, of blocks of scores and their means."""
    lists: TopK | None = None
    first_blocks: list[tuple[np.ndarray, np.ndarray]] = []  # until the lists can be filled
    for block, (scores, means) in blocks:
        tie_breaks = means if ties == "mauc" else np.zeros(len(means))
        if lists is not None:
            push_block(scores, tie_breaks, block.start, *lists)
            continue
        first_blocks.append((scores, tie_breaks))
        if block.stop >= length:
            lists = _fill_first(first_blocks, length)
            first_blocks.clear()
    if lists is None:  # a process may have fewer columns
        lists = _fill_first(first_blocks, length)
    return lists.first(length)


def _fill_first(blocks: list[tuple[np.ndarray, np.ndarray]], length: int) -> TopK:
    """Return the lists of the first blocks of scores and tie breaks."""
    scores, tie_breaks = zip(*blocks, strict=True)
    return fill_lists(np.concatenate(scores), np.concatenate(tie_breaks), length)


def draw_features(
    lists: TopK, schedule: "Schedule", n_wanted: int, score_feature: Callable[[int], np.ndarray]
) -> Selection:
    """Draw features from ranking lists until `n_wanted` are selected, each once (Algorithm 1)."""
    n_lists, length = lists.features.shape
    heads, is_open = [0] * n_lists, schedule.is_drawn.copy()
    n_open = int(is_open.sum())
    selected: dict[int, tuple[int, int, float]] = {}
    while len(selected) < n_wanted and n_open > 0:
        drawn = schedule.next_list(is_open)
        head = heads[drawn]
        heads[drawn] += 1
        if head + 1 == length:
            is_open[drawn] = False
            n_open -= 1
        feature = int(lists.features[drawn, head])
        if feature not in selected:
            selected[feature] = (drawn, head + 1, lists.scores[drawn, head])
            if schedule.needs_scores:
                schedule.observe(score_feature(feature))
    subproblems, ranks, scores = zip(*selected.values(), strict=True)
    return Selection(
        np.array(list(selected)), np.array(subproblems), np.array(ranks), np.array(scores)
    )


@dataclass
class _Drawn:
    """What a pass over units has drawn: features, lists, ranks there and scores."""

    features: list[int] = field(default_factory=list)
    subproblems: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    total: float = 0.0  #: of the gains on all lists that are drawn from


def draw_units(
    lists: TopK,
    schedule: "Schedule",
    n_wanted: int,
    score_feature: Callable[[int], np.ndarray],
    wishes: Wishes,
) -> Selection:
    """Draw units as `draw_features` does, by AUC above 1/2; what no longer fits is passed over."""
    by_feature = np.argsort(lists.features, axis=1)
    gains = np.take_along_axis(lists.scores, by_feature, axis=1) - 0.5
    tie_breaks = np.take_along_axis(lists.tie_breaks, by_feature, axis=1)
    n_lists, n_units = len(gains), len(wishes.sizes)

    def draw(by_cost: bool) -> _Drawn:
        """Draw units in one pass, by gain per cost or by gain."""
        worth = np.array([wishes.worth(row, by_cost) for row in gains])
        breaks = np.array([wishes.worth(row, by_cost) for row in tie_breaks])
        order = np.lexsort((np.tile(np.arange(n_units), (n_lists, 1)), -breaks, -worth))
        ranks = np.argsort(order, axis=1) + 1
        # The last pass uses the random state as a search without wishes does.
        turns = schedule if by_cost is wishes.passes[-1] else deepcopy(schedule)
        purse, drawn = Purse(wishes, n_wanted), _Drawn()
        heads, is_open = [0] * n_lists, schedule.is_drawn.copy()
        for kept in purse.turns():
            if kept is not None:
                unit, number = kept, int(np.argmax(np.where(is_open, worth[:, kept], -np.inf)))
            elif is_open.any():
                number = turns.next_list(is_open)
                unit = int(order[number, heads[number]])
                heads[number] += 1
                is_open[number] = heads[number] < n_units
                if not purse.is_open[unit]:
                    continue
            else:
                break
            purse.take(unit)
            for feature in members_by_gain(wishes, unit, gains[number]).tolist():
                drawn.features.append(feature)
                drawn.subproblems.append(number)
                drawn.ranks.append(ranks[number, unit])
                drawn.scores.append(gains[number, feature] + 0.5)
                if turns.needs_scores:
                    turns.observe(score_feature(feature))
        drawn.total = float(gains[schedule.is_drawn][:, drawn.features].sum())
        return drawn

    drawn = best_pass(wishes, draw)
    parts = drawn.features, drawn.subproblems, drawn.ranks, drawn.scores
    return Selection(*(np.array(part) for part in parts))


_LARGEST_AUC = 1 - 1e-4  # where the probit of a perfect AUC is clipped
_BATCH = 256  # random numbers drawn at once; fixed, so that a longer selection begins the same


class Schedule(ABC):
    """Says which list is drawn from next; `shares` are what class pairs count, None if equal."""

    needs_scores = False

    def __init__(
        self,
        decomposition: Decomposition,
        class_weights: np.ndarray,
        rng: np.random.RandomState,
        shares: np.ndarray | None = None,
    ):
        self.n_lists: int = decomposition.n_subproblems
        self.rng: np.random.RandomState = rng
        self.shares: np.ndarray | None = shares
        #: lists that are drawn from: not those of pairs that do not count
        self.is_drawn: np.ndarray = np.ones(self.n_lists, bool) if shares is None else shares > 0

    @abstractmethod
    def next_list(self, is_open: np.ndarray) -> int:
        """Return the number of the list to draw from."""

    def observe(self, scores: np.ndarray) -> None:
        """Take note of the scores of a selected feature on all sub-problems."""
        raise NotImplementedError  # they are told to schedules that need them


class Random(Schedule):
    """Draw a list at random, uniformly or by its share: the schedule of MDFS."""

    drawn: Iterator[int] = iter(())

    def next_list(self, is_open: np.ndarray) -> int:
        """Return the number of the list to draw from."""
        while True:
            for number in self.drawn:
                # Drawing again leaves the open lists equally likely.
                if is_open[number]:
                    return number
            if self.shares is None:
                batch = self.rng.randint(self.n_lists, size=_BATCH)
            else:
                batch = self.rng.choice(self.n_lists, size=_BATCH, p=self.shares)
            self.drawn = iter(batch.tolist())


class RandRobin(Random):
    """Draw a list at random by the share of the samples that it is about."""

    def __init__(
        self,
        decomposition: Decomposition,
        class_weights: np.ndarray,
        rng: np.random.RandomState,
        shares: np.ndarray | None = None,
    ):
        super().__init__(decomposition, class_weights, rng, shares)
        weights = decomposition.shares(class_weights)
        if shares is not None:
            weights = weights * shares / (weights @ shares)
        self.shares = weights


class RoundRobin(Schedule):
    """Take the lists in turn: pairs in tournament order, classes in label order.

    A list of a larger share has its turn more often: every turn adds the shares to what the lists
    are owed, and the list that is owed most pays for it.
    """

    def __init__(
        self,
        decomposition: Decomposition,
        class_weights: np.ndarray,
        rng: np.random.RandomState,
        shares: np.ndarray | None = None,
    ):
        super().__init__(decomposition, class_weights, rng, shares)
        self.order: np.ndarray = decomposition.rounds()
        self.turn: int = -1
        self.owed: np.ndarray = np.zeros(self.n_lists)

    def next_list(self, is_open: np.ndarray) -> int:
        """Return the number of the list to draw from."""
        while True:
            if self.shares is None:
                self.turn = (self.turn + 1) % len(self.order)
            else:
                self.owed += self.shares[self.order]
                self.turn = int(np.argmax(self.owed))
                self.owed[self.turn] -= 1.0
            if is_open[self.order[self.turn]]:
                return self.order[self.turn]


class Hardest(Schedule):
    r"""Draw from the sub-problem of the least sum of :math:`\Phi^{-1}(A)^2` over the selected.

    With shares: from that of the largest share times exp(-sum / 4), a bound on its error.
    """

    needs_scores = True

    def __init__(
        self,
        decomposition: Decomposition,
        class_weights: np.ndarray,
        rng: np.random.RandomState,
        shares: np.ndarray | None = None,
    ):
        super().__init__(decomposition, class_weights, rng, shares)
        self.separation: np.ndarray = np.zeros(self.n_lists)
        if shares is not None:
            self.separation -= 4.0 * np.log(np.maximum(shares, 1e-300))

    def next_list(self, is_open: np.ndarray) -> int:
        """Return the number of the list to draw from."""
        return int(np.argmin(np.where(is_open, self.separation, np.inf)))

    def observe(self, scores: np.ndarray) -> None:
        """Take note of the scores of a selected feature on all sub-problems."""
        self.separation += ndtri(np.minimum(scores, _LARGEST_AUC)) ** 2


SCHEDULES: dict[ScheduleName, type[Schedule]] = {
    "random": Random,
    "round_robin": RoundRobin,
    "rand_robin": RandRobin,
    "hardest": Hardest,
}


@njit
def push_block(scores, tie_breaks, first_feature, top_scores, top_ties, top_features):
    """Push a block of (n_block, n_lists) scores into all lists, which are full: (n_lists, k).

    A list is a binary heap with its worst entry at the root. An entry is better by its score, then
    its tie break, then a lower feature number: no order of the blocks changes the outcome.
    """
    for b in range(scores.shape[0]):
        feature, tie_break = first_feature + b, tie_breaks[b]
        for p in range(scores.shape[1]):
            # Most features fail this first test against the list's worst entry.
            if scores[b, p] < top_scores[p, 0]:
                continue
            if _is_worse(
                top_scores[p, 0],
                top_ties[p, 0],
                top_features[p, 0],
                scores[b, p],
                tie_break,
                feature,
            ):
                top_scores[p, 0] = scores[b, p]
                top_ties[p, 0] = tie_break
                top_features[p, 0] = feature
                # a literal would compile the part once more
                _sink(top_scores[p], top_ties[p], top_features[p], np.int64(0))


@njit_part
def _is_worse(score, tie_break, feature, other_score, other_tie_break, other_feature):
    if score != other_score:
        return score < other_score
    if tie_break != other_tie_break:
        return tie_break < other_tie_break
    return feature > other_feature


@njit_part
def _sink(scores, ties, features, root):
    """Move the entry at `root` down until no child is worse than it."""
    n = scores.shape[0]
    while True:
        child = 2 * root + 1
        if child >= n:
            return
        if child + 1 < n and _is_worse(
            scores[child + 1],
            ties[child + 1],
            features[child + 1],
            scores[child],
            ties[child],
            features[child],
        ):
            child += 1
        if not _is_worse(
            scores[child], ties[child], features[child], scores[root], ties[root], features[root]
        ):
            return
        scores[root], scores[child] = scores[child], scores[root]
        ties[root], ties[child] = ties[child], ties[root]
        features[root], features[child] = features[child], features[root]
        root = child
