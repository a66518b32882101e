"""The lazy greedy search of mRMR, JMI and ARCO: one feature after another, given the chosen.

The score of a feature f is a function of its relevance and of a sum of terms, one for each chosen
feature s, in the order of choice:

    mRMR    relevance - mean of I(f; s), or their quotient
    ARCO    relevance - weight * mean of |rho(f, s)|
    JMI     sum of I(f, s; y)

Terms are not negative, so that of the first two a shorter sum bounds the score from above, in
floating point as well, and a term is counted only while this bound can still win. That of JMI
grows with every term: no bound rules out a feature, and all terms of a step are counted.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from mauc.compile import njit, njit_part
from mauc.measure.information import (
    MergedClasses,
    StateArrays,
    count_joint,
    information,
    joint_information,
)
from mauc.measure.ranks import rank_correlation
from mauc.memory import Workspace
from mauc.parallel import run_in, with_progress

DIFFERENCE, QUOTIENT, SUM = range(3)
# Mean redundancies below this (in nats) count as none in the quotient: rounding alone gives
# 1e-16, and a quotient by it would rank noise above relevance.
REDUNDANCY_FLOOR = 1e-9


class Rule(NamedTuple):
    """How the score of a feature follows from its relevance and its terms."""

    kind: int  #: DIFFERENCE, QUOTIENT or SUM
    weight: float = 1.0  #: of the mean of the terms in the difference


class Terms(NamedTuple):
    """What terms are counted from; the kernel is compiled for what is not None."""

    states: StateArrays | None = None  #: I(f; s), or with the next I(f, s; y)
    merged: MergedClasses | None = None  #: with the states of the feature chosen last
    ranks: np.ndarray | None = None  #: |rho(f, s)|; the fields of `RankArrays`
    squares: np.ndarray | None = None

    def joint_counts(self) -> np.ndarray | None:
        """Return an array for the joint counts of two features, or of one and the merged classes.

        Allocated in the kernel, it would take longer to compile.
        """
        if self.states is None:
            return None
        width = self.states.counts.shape[1]
        return np.empty(
            (width, width if self.merged is None else len(self.merged.counts)), np.int64
        )


class Sums(NamedTuple):
    """What a search knows of every feature; arrays of shape (n_features,)."""

    relevance: np.ndarray  #: -inf of constant features
    is_left: np.ndarray
    n_counted: np.ndarray  #: ``sums[f]`` has the terms with the first ``n_counted[f]`` chosen
    sums: np.ndarray


class Features(Protocol):
    """What a search asks of features; their rows may be in a file, and are then read in parts."""

    @property
    def relevance(self) -> np.ndarray: ...  # noqa: D102
    @property
    def is_constant(self) -> np.ndarray: ...  # noqa: D102
    @property
    def blocks(self) -> list[tuple[int, int]]: ...  # noqa: D102
    @property
    def pool(self) -> Any: ...  # noqa: D102
    @property
    def max_rows(self) -> int: ...  # noqa: D102
    @property
    def spilled(self) -> Workspace | None: ...  # noqa: D102


class LazySearch:
    """Choose the most relevant feature, then step by step the best one given the chosen.

    Equal scores go by column. Constant features, which are redundant to nothing, would be chosen
    before redundant ones: they come last instead, with a score of -inf.
    """

    def __init__(self, features: Features, k: int, rule: Rule) -> None:
        n_features = len(features.relevance)
        self.ranking: np.ndarray = np.empty(k, np.int64)
        self.scores: np.ndarray = np.empty(k)
        self._features, self._rule = features, rule
        self._sums = Sums(
            np.where(features.is_constant, -np.inf, features.relevance),
            np.ones(n_features, np.bool_),
            np.zeros(n_features, np.int64),
            np.zeros(n_features),
        )

    def run(self, terms: Terms | Callable[[int], Terms]) -> Self:
        """Choose k features by terms, or ``terms(feature)`` of the one that was chosen last."""
        relevance, is_left = self._sums.relevance, self._sums.is_left
        blocks, pool = self._features.blocks, self._features.pool
        best = int(np.argmax(relevance))
        score = float(relevance[best])
        # ranking[:step] is the chosen set in the order of choice.
        for step in with_progress(range(len(self.ranking)), "features"):
            if step > 0:
                given = terms(best) if callable(terms) else terms
                if pool is None:
                    best, score = self._best_of(blocks[0], given, step)
                else:
                    found = run_in(pool, self._best_of, blocks, given, step)
                    # The first of equals; -1 has the lowest score, and so have constant features.
                    best, score = max(found, key=lambda pair: (pair[1], pair[0] >= 0))
            self.ranking[step], self.scores[step] = best, score
            is_left[best] = False
        return self

    def scores_given(self, chosen: list[int], terms: Terms) -> np.ndarray:
        """Return the score of every feature, given those chosen, which go on from earlier calls."""
        sums, n_chosen = self._sums, len(chosen)
        is_earlier = sums.n_counted > n_chosen  # of another pass
        sums.n_counted[is_earlier], sums.sums[is_earlier] = 0, 0.0
        if n_chosen == 0:
            return sums.relevance
        self.ranking[:n_chosen] = chosen
        every = range(len(sums.relevance))
        return np.array([self._best_of((f, f + 1), terms, n_chosen)[1] for f in every])

    def _best_of(self, block: tuple[int, int], terms: Terms, n_chosen: int) -> tuple[int, float]:
        """Return the best of a range of features that are left, or -1, and its score."""
        features, (first, last) = self._features, block
        best, score = -1, -np.inf
        chosen, joint = self.ranking if terms.merged is None else None, terms.joint_counts()
        while first < last:  # once, unless the rows are in a file
            best, score, first = best_of_block(
                *terms,
                *self._sums,
                *self._rule,
                chosen,
                n_chosen,
                first,
                last,
                best,
                score,
                features.max_rows,
                joint,
            )
            if features.spilled is not None:
                features.spilled.release()
        return best, score


@njit_part
def score_of(rule, weight, relevance, n_counted, sums, n_chosen, f):
    """Return the score of a feature or, while its sum of terms is not complete, an upper bound."""
    if rule == DIFFERENCE:
        return relevance[f] - weight * (sums[f] / n_chosen)
    if rule == QUOTIENT:
        redundancy = sums[f] / n_chosen
        return relevance[f] / (redundancy if redundancy > REDUNDANCY_FLOOR else REDUNDANCY_FLOOR)
    if relevance[f] == -np.inf:
        return -np.inf
    return sums[f] if n_counted[f] == n_chosen else np.inf


@njit
def best_of_block(
    states,
    merged,
    ranks,
    squares,
    relevance,
    is_left,
    n_counted,
    sums,
    rule,
    weight,
    chosen,
    n_chosen,
    first,
    last,
    best,
    best_score,
    max_rows,
    joint,
):
    """Find the candidate of the largest score among features ``first`` to ``last``.

    Terms are counted from `states` or `ranks` with the features `chosen`, or from `states` with the
    classes merged with the last of them (`Terms`); what asks for an argument that is None is not
    compiled. Say that two features are chosen, and three are left by mRMR, with relevance 0.9, 0.8
    and 0.7; of them 2, 1 and 0 terms are counted, with sums 0.8, 0.1 and 0. The bounds are
    0.9 - 0.8 / 2 = 0.5, 0.75 and 0.7.

    - The second feature is the favourite, and has its turn first. Its other term is counted, say
      0.2, which makes 0.8 - 0.3 / 2 = 0.65, the best score so far.
    - The first has 0.5, which is less, and nothing is missing.
    - The third may still have 0.7. Its first term, say 0.3, makes 0.7 - 0.3 / 2 = 0.55: it cannot
      win any more, and its second term is not counted.

    Sums that are compared in the end are complete, so neither blocks nor what was not counted
    changes a bit. `best` is the winner so far, -1 if there is none; the lowest of equals wins.
    Returns it, its score and where to begin again after `max_rows` rows were read, or `last`.
    """
    if states is not None:
        codes, n_states, starts, planes, counts, margin_logs = states[:6]
        log_n, table, scale, n, weights = states[6:]
    if merged is not None:
        z, z_planes, z_counts, groups, log_y = merged
        n_codes = z_counts.shape[0]

    # The largest bound is the likeliest winner: counted first, it rules most others out.
    favourite, favourite_bound = -1, -np.inf
    for f in range(first, last):
        if is_left[f]:
            bound = score_of(rule, weight, relevance, n_counted, sums, n_chosen, f)
            if favourite < 0 or bound > favourite_bound:
                favourite, favourite_bound = f, bound
    if favourite < 0:
        return best, best_score, last

    n_rows = 0
    # best is the winner among the favourite, the features first .. f - 1 and those before.
    for turn in range(first - 1, last):
        f = favourite if turn < first else turn
        if not is_left[f] or f == best:
            continue
        score = score_of(rule, weight, relevance, n_counted, sums, n_chosen, f)
        can_win = best < 0 or score > best_score or (score == best_score and f < best)
        while can_win and n_counted[f] < n_chosen and score > -np.inf:
            if n_rows > 0 and n_rows + 2 > max_rows:
                return best, best_score, turn if turn > first else first
            n_rows += 2
            if chosen is not None:
                s = chosen[n_counted[f]]
                if ranks is not None:
                    sums[f] += rank_correlation(ranks, squares, f, s)
                if states is not None:
                    count_joint(
                        codes,
                        n_states,
                        starts,
                        planes,
                        counts,
                        weights,
                        f,
                        codes[s],
                        n_states[s],
                        planes,
                        starts[s],
                        starts[s + 1] - starts[s],
                        counts[s],
                        joint,
                    )
                    sums[f] += information(
                        joint,
                        n_states[f],
                        n_states[s],
                        margin_logs[f],
                        margin_logs[s],
                        log_n,
                        table,
                        scale,
                        n,
                    )
            if merged is not None:
                count_joint(
                    codes,
                    n_states,
                    starts,
                    planes,
                    counts,
                    weights,
                    f,
                    z,
                    n_codes,
                    z_planes,
                    np.int64(0),
                    z_planes.shape[0],
                    z_counts,
                    joint,
                )
                sums[f] += joint_information(
                    joint, n_states[f], groups, log_n - log_y, table, scale, n
                )
            n_counted[f] += 1
            score = score_of(rule, weight, relevance, n_counted, sums, n_chosen, f)
            can_win = best < 0 or score > best_score or (score == best_score and f < best)
        if can_win:
            best, best_score = f, score
    return best, best_score, last
