"""Turn relevance scores into one ranking list per sub-problem, as columns stream by."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import ndtri

from mauc.checks import check_choice
from mauc.compile import njit, njit_part
from mauc.data.decomposition import DECOMPOSITIONS, Decomposition
from mauc.data.validate import check_generator
from mauc.engine.exact_mean import mean_of_quotients
from mauc.exceptions import MaucError, SmallWeightWarning, warn_user
from mauc.registry import RELEVANCES, Accepts, accepts_of
from mauc.selectors.base import Ranked, RankingSelector
from mauc.selectors.pair_auc import room_for_pair_auc
from mauc.selectors.relevance import auc_relevance
from mauc.selectors.trace import Selection

TIES = ("index", "mauc")


@dataclass(frozen=True)
class RankingLists:
    """The best features of every sub-problem, best first.

    Parameters
    ----------
    features : ndarray of shape (n_subproblems, length), int64
    scores : ndarray of shape (n_subproblems, length)
    """

    features: np.ndarray
    scores: np.ndarray

    @property
    def n_lists(self):
        """Number of lists."""
        return self.features.shape[0]

    @property
    def length(self):
        """Entries of each list."""
        return self.features.shape[1]


def rank_features(
    problem, decomposition, relevance, length, ties="index", n_jobs=None, *, is_dense=True,
    reads_rows=False, denominators=None, **options,
):  # fmt: skip
    """Rank the features of a problem on every sub-problem.

    Only the best `length` of each list are held while blocks of columns pass by, so memory is
    O(n_subproblems * length + n_samples * block), never (n_features, n_subproblems). K
    features can be drawn from lists of K: whatever is popped from a list is selected by then.

    Parameters
    ----------
    problem : Problem
    decomposition : Decomposition
    relevance : callable
        ``(problem, decomposition, chosen) -> scores``, see `mauc.selectors.relevance`.
    length : int
    ties : {"index", "mauc"}, default="index"
        Equal scores go by column number, the smaller first; or by the mean score over all
        sub-problems, the larger first, then by column number.
    n_jobs : int, optional
    is_dense : bool, default=True
        Whether the relevance fills in sparse columns.
    reads_rows : bool, default=False
        Whether it reads rows where X lies row by row.
    denominators : ndarray of shape (n_subproblems,), optional
        Of the scores, where they are quotients such as AUCs: their means are then rounded once,
        so that equal means are equal numbers.
    **options
        Further arguments of the relevance.

    Returns
    -------
    lists : RankingLists
    mean_scores : ndarray of shape (n_features,)
        Mean score of every feature over the sub-problems.
    """
    arguments = (decomposition, relevance, length, ties)
    layout = {"is_dense": is_dense, "reads_rows": reads_rows, "denominators": denominators}
    if problem.cluster is not None:
        held, mean_scores = _hold_on_cluster(problem, *arguments, layout, options)
    else:
        held, mean_scores = hold_best(problem, *arguments, n_jobs, **layout, **options)
    return RankingLists(held.features, held.scores), mean_scores


class HeldLists(NamedTuple):
    """The best entries of every list, best first: arrays of shape (n_lists, length)."""

    scores: np.ndarray
    seconds: np.ndarray  #: break ties of scores
    features: np.ndarray

    def first(self, length):
        """Return the first entries of the lists, put in order."""
        order = np.lexsort((self.features, -self.seconds, -self.scores))[:, :length]
        return HeldLists(*(np.take_along_axis(part, order, axis=1) for part in self))

    def join(self, other, length):
        """Return the best of the entries of both."""
        parts = zip(self, other, strict=True)
        return HeldLists(*(np.concatenate(both, axis=1) for both in parts)).first(length)


def hold_best(
    problem, decomposition, relevance, length, ties, n_jobs=None, *, is_dense, reads_rows,
    denominators, **options,
):  # fmt: skip
    """Return the best entries of the lists, and the mean scores; parameters as above."""
    n_lists = decomposition.n_subproblems
    held_scores = np.empty((n_lists, length))
    held_seconds = np.empty((n_lists, length))
    held_features = np.empty((n_lists, length), np.int64)
    mean_scores = np.empty(problem.n_features)

    def score(block):
        return np.ascontiguousarray(relevance(problem, decomposition, block, **options))

    n_held = 0
    layout = {"is_dense": is_dense, "reads_rows": reads_rows}
    for block, scores in problem.run_blocks(score, n_lists, n_jobs, **layout):
        if denominators is None:
            mean_scores[block] = scores.mean(axis=1)
        else:
            mean_scores[block] = mean_of_quotients(scores, denominators)
        seconds = mean_scores[block] if ties == "mauc" else np.zeros(len(scores))
        n_held = offer_block(
            scores, seconds, block.start, n_held, held_scores, held_seconds, held_features
        )
    return HeldLists(held_scores, held_seconds, held_features).first(length), mean_scores


def _hold_on_cluster(problem, decomposition, relevance, length, ties, layout, options):
    """Return what `hold_best` does, from workers; `pair_auc` of the options is filled."""
    n_lists = decomposition.n_subproblems
    held = HeldLists(
        np.empty((n_lists, 0)), np.empty((n_lists, 0)), np.empty((n_lists, 0), np.int64)
    )
    mean_scores = np.empty(problem.n_features)
    pair_auc = options.get("pair_auc")
    keeps_auc = None if pair_auc is None else pair_auc.shape[1]
    arguments = (decomposition, relevance, length, ties, keeps_auc, layout)
    further = {name: value for name, value in options.items() if name != "pair_auc"}
    for part, found in problem.cluster.map_ranges(problem, hold_part, *arguments, further):
        best, mean_scores[part], of_pairs = found
        held = held.join(best._replace(features=best.features + part.start), length)
        if pair_auc is not None:
            pair_auc[part] = of_pairs
    return held, mean_scores


def hold_part(part, decomposition, relevance, length, ties, n_pairs, layout, options):
    """Return what `hold_best` does of a part of the columns, and its pair AUCs if they are kept.

    Called on a worker; `n_pairs` is the number of class pairs, or None if nothing is kept.
    """
    pair_auc = None
    if n_pairs is not None:
        pair_auc = np.empty((part.n_features, n_pairs))
        options = {**options, "pair_auc": pair_auc}
    length = min(length, part.n_features)
    held, mean_scores = hold_best(part, decomposition, relevance, length, ties, **layout, **options)
    return held, mean_scores, pair_auc


@njit(cache=True, nogil=True)
def offer_block(scores, seconds, first_feature, n_held, held_scores, held_seconds, held_features):
    """Offer a block of features to all lists.

    A list is a binary heap with its worst entry at the root. An entry is better if its score
    is larger, then its second score, then if its feature number is smaller; that order is
    total, so the outcome does not depend on the order in which blocks are offered.

    Parameters
    ----------
    scores : ndarray of shape (n_block, n_lists), float64
    seconds : ndarray of shape (n_block,), float64
        Breaks ties of `scores`.
    first_feature : int
        Number of the block's first feature.
    n_held : int
        Features offered so far, at most the length of a list.
    held_scores, held_seconds : ndarray of shape (n_lists, k), float64
    held_features : ndarray of shape (n_lists, k), int64

    Returns
    -------
    n_held : int
    """
    n_lists, k = held_scores.shape
    for b in range(scores.shape[0]):
        feature, second = first_feature + b, seconds[b]
        if n_held < k:
            for p in range(n_lists):
                held_scores[p, n_held] = scores[b, p]
                held_seconds[p, n_held] = second
                held_features[p, n_held] = feature
            n_held += 1
            if n_held == k:
                for p in range(n_lists):
                    for root in range(k // 2 - 1, -1, -1):
                        _sink(held_scores[p], held_seconds[p], held_features[p], root)
            continue
        for p in range(n_lists):
            # Most features fail this first test against the list's worst entry.
            if scores[b, p] < held_scores[p, 0]:
                continue
            if _is_worse(
                held_scores[p, 0], held_seconds[p, 0], held_features[p, 0],
                scores[b, p], second, feature,
            ):  # fmt: skip
                held_scores[p, 0] = scores[b, p]
                held_seconds[p, 0] = second
                held_features[p, 0] = feature
                # a literal would compile the part once more
                _sink(held_scores[p], held_seconds[p], held_features[p], np.int64(0))
    return n_held


@njit_part
def _is_worse(score, second, feature, other_score, other_second, other_feature):
    if score != other_score:
        return score < other_score
    if second != other_second:
        return second < other_second
    return feature > other_feature


@njit_part
def _sink(scores, seconds, features, root):
    """Move the entry at `root` down until no child is worse than it."""
    n = scores.shape[0]
    while True:
        child = 2 * root + 1
        if child >= n:
            return
        if child + 1 < n and _is_worse(
            scores[child + 1], seconds[child + 1], features[child + 1],
            scores[child], seconds[child], features[child],
        ):  # fmt: skip
            child += 1
        if not _is_worse(
            scores[child], seconds[child], features[child],
            scores[root], seconds[root], features[root],
        ):  # fmt: skip
            return
        scores[root], scores[child] = scores[child], scores[root]
        seconds[root], seconds[child] = seconds[child], seconds[root]
        features[root], features[child] = features[child], features[root]
        root = child


_LARGEST_AUC = 1 - 1e-4  # where the probit of a perfect AUC is clipped
_BATCH = 256  # random numbers drawn at once; fixed, so that a longer walk begins the same


class Random:
    """Draw a list uniformly at random: the schedule of MDFS."""

    draws_until_new = False
    needs_scores = False

    def __init__(self, decomposition, class_weights, rng):
        self.n_lists = decomposition.n_subproblems
        self.rng = rng
        self.drawn = iter(())

    def draw_batch(self):
        """Return the next lists, exhausted ones included."""
        return self.rng.randint(self.n_lists, size=_BATCH)

    def next_list(self, is_open):
        """Return the number of the list to draw from."""
        while True:
            for number in self.drawn:
                # Drawing again leaves the open lists equally likely.
                if is_open[number]:
                    return number
            self.drawn = iter(self.draw_batch())


class RandRobin(Random):
    """Draw a list at random by the share of the samples that it is about."""

    draws_until_new = True

    def __init__(self, decomposition, class_weights, rng):
        super().__init__(decomposition, class_weights, rng)
        self.shares = decomposition.shares(class_weights)

    def draw_batch(self):
        """Return the next lists, exhausted ones included."""
        return self.rng.choice(self.n_lists, size=_BATCH, p=self.shares)


class RoundRobin:
    """Take the lists in turn: pairs in tournament order, classes in label order."""

    draws_until_new = True
    needs_scores = False

    def __init__(self, decomposition, class_weights, rng):
        self.order = decomposition.rounds()
        self.turn = -1

    def next_list(self, is_open):
        """Return the number of the list to draw from."""
        while True:
            self.turn = (self.turn + 1) % len(self.order)
            if is_open[self.order[self.turn]]:
                return self.order[self.turn]


class RoundRobinDrop(RoundRobin):
    """Take the lists in turn, one feature of each: one that is already selected is dropped.

    Of the two rules this one comes closer to the published values of SCHI and SSU in most cases
    (docs/reproduction/README.md).
    """

    draws_until_new = False


class Hardest:
    r"""Draw from the sub-problem that the selected features separate least.

    The separation that a set S has collected for a sub-problem is the sum over S of
    :math:`\Phi^{-1}(A)^2`, A being the AUC of a feature there; of equals the first.
    """

    draws_until_new = True
    needs_scores = True

    def __init__(self, decomposition, class_weights, rng):
        self.separation = np.zeros(decomposition.n_subproblems)

    def next_list(self, is_open):
        """Return the number of the list to draw from."""
        return int(np.argmin(np.where(is_open, self.separation, np.inf)))

    def observe(self, scores):
        """Take note of the scores of a selected feature on all sub-problems."""
        self.separation += ndtri(np.minimum(scores, _LARGEST_AUC)) ** 2


SCHEDULES = {
    "random": Random,
    "round_robin": RoundRobin,
    "rand_robin": RandRobin,
    "hardest": Hardest,
    "round_robin_drop": RoundRobinDrop,
}


def draw_features(lists, schedule, n_wanted, score_feature):
    """Draw features from ranking lists until `n_wanted` are selected (Algorithm 1).

    Parameters
    ----------
    lists : RankingLists
    schedule : object
        One of `SCHEDULES`.
    n_wanted : int
    score_feature : callable
        ``feature -> AUC`` on every sub-problem; called for schedules that need it.

    Returns
    -------
    selection : Selection
    """
    heads = np.zeros(lists.n_lists, np.int64)
    is_open = np.ones(lists.n_lists, bool)
    selected = {}
    while len(selected) < n_wanted and is_open.any():
        drawn_list = schedule.next_list(is_open)
        is_new = False
        while is_open[drawn_list] and not is_new:
            head = heads[drawn_list]
            heads[drawn_list] += 1
            is_open[drawn_list] = heads[drawn_list] < lists.length
            feature = int(lists.features[drawn_list, head])
            is_new = feature not in selected
            if is_new:
                selected[feature] = (drawn_list, head + 1, lists.scores[drawn_list, head])
                if schedule.needs_scores:
                    schedule.observe(score_feature(feature))
            if not schedule.draws_until_new:
                break
    drawn, ranks, scores = zip(*selected.values(), strict=True)
    return Selection(np.array(list(selected)), np.array(drawn), np.array(ranks), np.array(scores))


_COUNTING = ("fsdd", "anova")  # relevances that depend on the number of samples
_AUCS = ("auc", "fast")  # relevances that are wins divided by the largest possible wins


class Recipe(NamedTuple):
    """What makes a selector: names of the decomposition, relevance, schedule and tie rule."""

    decomposition: str = "one-vs-one"
    relevance: str = "auc"
    schedule: str = "random"
    ties: str = "index"
    options: dict[str, Any] = {}  #: further arguments of the relevance


_CHOICES = {
    "decomposition": DECOMPOSITIONS,
    "relevance": RELEVANCES,
    "schedule": SCHEDULES,
    "ties": TIES,
}


class ListSelector(RankingSelector):
    """Base of the selectors that draw features from one ranking list per sub-problem.

    A subclass has a `preset`, whose fields are overridden by parameters of the same name; the
    parameters named in `relevance_options` are passed on to the relevance. It has
    ``random_state`` if its schedule draws and ``categorical_features`` if its relevance takes
    nominal columns.
    """

    preset: ClassVar[Recipe] = Recipe()
    relevance_options: ClassVar[tuple[str, ...]] = ()

    @property
    def recipe(self) -> Recipe:
        """What makes the selector, with its present parameters."""
        given = {name: getattr(self, name) for name in Recipe._fields[:-1] if hasattr(self, name)}
        options = {name: getattr(self, name) for name in self.relevance_options}
        return self.preset._replace(**given, options=options)

    @property
    def accepts(self) -> Accepts:
        """What input the selector takes, with its present options."""
        kind: Any = type(self)
        own, relevance = accepts_of(kind), getattr(self, "relevance", self.preset.relevance)
        if not isinstance(relevance, str) or relevance not in RELEVANCES:
            return own  # it is refused in fit
        accepts = RELEVANCES[relevance].accepts
        return accepts._replace(weights=accepts.weights and own.weights)

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        recipe = self.recipe
        for name, choices in _CHOICES.items():
            value = getattr(recipe, name)
            if not isinstance(value, str) or value not in choices:
                check_choice(name, value, choices)
        check_generator(getattr(self, "random_state", None))
        is_flagged = getattr(self, "categorical_features", None) is not None
        if is_flagged and not self.accepts.nominal:
            raise MaucError(
                f"categorical_features must be None for relevance {recipe.relevance!r}, "
                f"which needs ordered values; encode those columns first."
            )
        return recipe

    @property
    def _no_weights(self):
        """Why weights are refused, where they are."""
        weighted = [repr(entry.name) for entry in RELEVANCES.values() if entry.accepts.weights]
        return (
            f"sample_weight must be None for relevance {self.recipe.relevance!r}; "
            f"only {', '.join(weighted)} take weights."
        )

    def _rank(self, problem, n_wanted, recipe):
        decomposition = Decomposition(recipe.decomposition, problem.n_classes)
        entry, options = RELEVANCES[recipe.relevance], dict(recipe.options)
        if recipe.relevance in _COUNTING and problem.class_weights.sum() <= problem.n_classes:
            warn_user(
                f"sample_weight sums to {problem.class_weights.sum():.3g}, and "
                f"{entry.measure!r} takes weights as numbers of samples: too few to measure a "
                f"variance in {problem.n_classes} classes. Multiply the weights, for example so "
                f"that they sum to {problem.n_samples}.",
                SmallWeightWarning,
            )
        pair_auc = None
        if recipe.relevance == "auc":
            pair_auc = options["pair_auc"] = room_for_pair_auc(problem, n_wanted)
        lists, scores = rank_features(
            problem, decomposition, entry.score, n_wanted, recipe.ties, self.n_jobs,
            is_dense=recipe.relevance != "auc", reads_rows=entry.reads_rows,
            denominators=_auc_denominators(problem, decomposition, recipe.relevance), **options,
        )  # fmt: skip
        rng = check_generator(getattr(self, "random_state", None))
        schedule = SCHEDULES[recipe.schedule](decomposition, problem.class_weights, rng)

        def separation(feature):
            if pair_auc is not None and decomposition.name == "one-vs-one":
                return pair_auc[feature]
            if problem.cluster is not None:
                chosen = np.array([feature])
                found = problem.cluster.map_chosen(problem, score_part, chosen, decomposition)
                return next(scores for _, scores in found)[0]
            return auc_relevance(problem, decomposition, [feature])[0]

        selection = draw_features(lists, schedule, n_wanted, separation)
        chosen_auc = None if pair_auc is None else pair_auc[selection.features]
        return Ranked(decomposition, selection, scores, chosen_auc)


def score_part(part, decomposition):
    """Return the AUCs of all columns of a part; called on a worker."""
    return auc_relevance(part, decomposition, slice(None))


def _auc_denominators(problem, decomposition, relevance):
    """Return twice the row pairs of every sub-problem where the scores are AUCs, else None."""
    if relevance not in _AUCS or decomposition.name == "whole":
        return None
    if decomposition.name == "one-vs-one":
        return problem.max_wins
    totals = problem.pair_weights[1]  # scaled weights are no whole numbers in any unit
    return 2 * totals * (totals.sum() - totals)
