"""The greedy choice of GreedyMAUC: a Problem in, the features in the order of choice out."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs
from scipy.special import ndtri

from mauc.auc.pair_auc import dense_wins, fold_wins
from mauc.parallel import run_blocks
from mauc.problem.decomposition import Decomposition
from mauc.selectors.greedy_mauc.normal_scores import NormalScorer
from mauc.selectors.greedy_mauc.step import rate_block, take_feature, update_block, within_scales

MOST_AUC = 1.0 - 1e-4  # a perfect AUC of a finite sample is no proof of an infinite effect
MOST_SQUARE = 11.0  # of an effect (AUC 0.99): beyond, its variance is no better known
LEAST_SQUARE = 1e-12
MODEL_NOISE = 0.05  # square of an effect (AUC 0.56) that is not told from model error
_BLOCK_BYTES = 2**20
# Rough seconds of a product and an exponential, and what a step must take for a thread to be
# worth its call.
_PRODUCT_TIME, _EXP_TIME, _THREAD_TIME = 5e-11, 1e-9, 5e-5


@dataclass(frozen=True)
class GreedyRanking:
    """The features in the order of choice; arrays of shape (k,) but for the last two.

    Attributes
    ----------
    ranking : ndarray of int64
    pairs : ndarray of int64
        The class pair whose error each feature lowers most.
    ranks : ndarray of int64
        Place of the feature among those left by the gain on that pair, 1 for the best.
    gains : ndarray of float64
        Part of the error of the set so far that the feature takes away.
    predicted_mauc : ndarray of float64
        Mean over the pairs of Phi(D_p / sqrt(2)) of the features so far.
    separations : ndarray of shape (n_pairs,), float64
        D_p^2 of the whole set.
    relevance : ndarray of shape (n_features,), float64
        Gain of every feature at the first step.
    """

    ranking: np.ndarray
    pairs: np.ndarray
    ranks: np.ndarray
    gains: np.ndarray
    predicted_mauc: np.ndarray
    separations: np.ndarray
    relevance: np.ndarray


def effect_sizes(wins, most_wins, variances, noise_correction=0.0):
    r"""Return the effect of features on class pairs, positive where the first class is higher.

    Parameters
    ----------
    wins : ndarray of shape (n_features, n_pairs)
    most_wins : ndarray of shape (n_pairs,)
    variances : ndarray of shape (n_pairs,)
        1 / n_i + 1 / n_j, the variance of an estimated effect of 0.
    noise_correction : float, default=0.0

    Returns
    -------
    effects : ndarray of shape (n_features, n_pairs), float64
        Of x and of -x the same up to the sign, to the bit.

    Notes
    -----
    :math:`d = \sqrt 2 \Phi^{-1}(A)` of the clipped AUC, times
    :math:`\max(0, 1 - \kappa s^2 / d^2)` with :math:`\kappa` the noise correction and
    :math:`s^2 = (1/n_i + 1/n_j)(1 + \min(d^2, 11) / 8) + 0.05`: the variance of d, and what the
    model is wrong by with any number of samples. It is the positive-part rule of James and
    Stein, one effect at a time.
    """
    folded = np.empty(wins.shape)
    fold_wins(wins, most_wins, folded)
    effects = np.sqrt(2.0) * ndtri(np.minimum(folded, MOST_AUC))
    if noise_correction > 0.0:
        squares = effects * effects
        noise = variances * (1.0 + np.minimum(squares, MOST_SQUARE) / 8.0) + MODEL_NOISE
        share = noise_correction * noise / np.maximum(squares, LEAST_SQUARE)
        effects *= 1.0 - np.minimum(share, 1.0)
    return np.where(2 * wins < most_wins, -effects, effects)


def measure(problem, *, noise_correction=0.0, max_samples=None, n_jobs=None):
    """Return effect sizes and normal scores of all features.

    Parameters
    ----------
    problem : Problem
        Sparse columns are filled in, one block at a time.
    noise_correction : float, default=0.0
        See `effect_sizes`.
    max_samples : int, optional
        Samples whose normal scores are kept; see `NormalScorer`.
    n_jobs : int, optional

    Returns
    -------
    effects : ndarray of shape (n_pairs, n_features), float64
    scores : NormalScores
    """
    pairs = Decomposition("one-vs-one", problem.n_classes)
    effects = np.empty((pairs.n_subproblems, problem.n_features))
    first, second = pairs.members.T
    variances = 1.0 / problem.class_counts[first] + 1.0 / problem.class_counts[second]
    scorer = NormalScorer(problem, max_samples)
    scores = scorer.make_room()

    def fill(block):
        XT = problem.ordered_columns(block)
        wins = dense_wins(XT, problem.codes, problem.class_counts)
        found = effect_sizes(wins, problem.most_wins, variances, noise_correction)
        effects[:, block] = found.T
        scorer.write(XT, block, scores)

    for _ in run_blocks(fill, _blocks(problem), n_jobs):
        pass
    return effects, scores


def _blocks(problem):
    width = max(1, min(64, _BLOCK_BYTES // (problem.X.dtype.itemsize * problem.n_samples)))
    for start in range(0, problem.n_features, width):
        yield slice(start, min(start + width, problem.n_features))


def greedy_ranking(effects, scores, k, *, shrinkage, alpha, n_jobs=None):
    """Choose features that together separate all class pairs.

    Parameters
    ----------
    effects : ndarray of shape (n_pairs, n_features), float64
        Overwritten.
    scores : NormalScores
    k : int
        How many features to choose.
    shrinkage : float
        In [0, 1]: within-class correlations count 1 - shrinkage times.
    alpha : float
        Error of a pair is taken as exp(-alpha D_p^2 / 8).
    n_jobs : int, optional
        Threads. The result does not depend on it.

    Returns
    -------
    GreedyRanking
    """
    n_pairs, n_features = effects.shape
    n_chosen = min(k, int(scores.varies.sum()))
    centers, scales = np.empty(scores.sums.shape), np.empty(n_features)
    within_scales(scores.sums, scores.squares, scores.class_counts, centers, scales)
    is_left = scores.varies.copy()
    variances = np.ones(n_features)
    factors = np.zeros((max(n_chosen, 1), n_features))
    factor_s, losses = np.empty(len(factors)), np.ones(n_features)
    separations, slopes = np.zeros(n_pairs), np.zeros(n_pairs)
    weights = np.full(n_pairs, 1.0 / n_pairs)
    found = GreedyRanking(
        np.empty(k, np.int64), np.zeros(k, np.int64), np.ones(k, np.int64),
        np.zeros(k), np.empty(k), separations, np.zeros(n_features),
    )  # fmt: skip
    rate = alpha / 8.0
    blocks = _feature_blocks(n_features, scores.scores.shape[1], n_pairs, n_jobs)

    def rate_features(block, step, s, root):
        first, last = block
        if step > 0:
            update_block(
                scores.scores, centers, scales, shrinkage, s, step - 1, factor_s, root,
                first, last, is_left, factors, variances,
            )  # fmt: skip
        return rate_block(
            effects, variances, weights, rate, slopes, factors[max(step - 1, 0)], first, last,
            is_left, losses,
        )  # fmt: skip

    s, root = 0, 1.0
    with ThreadPoolExecutor(len(blocks) - 1) if len(blocks) > 1 else nullcontext() as pool:
        # found.ranking[:step] is the chosen set; effects and variances are given it.
        for step in range(n_chosen):
            futures = [pool.submit(rate_features, b, step, s, root) for b in blocks[:-1]]
            last = rate_features(blocks[-1], step, s, root)
            bests = [f for f in [*(future.result() for future in futures), last] if f >= 0]
            if step == 0:
                # The weights sum to 1 up to rounding: a gain of nothing may come out below 0.
                found.relevance[:] = np.where(scores.varies, np.maximum(1.0 - losses, 0.0), 0.0)
            s = min(bests, key=lambda f: losses[f])  # the first of equals, in column order
            found.ranking[step] = s
            found.gains[step] = max(1.0 - losses[s], 0.0)
            pair, rank, root, predicted = take_feature(
                s, step, effects, variances, is_left, factors, rate,
                separations, weights, slopes, factor_s,
            )  # fmt: skip
            found.pairs[step], found.ranks[step] = pair, rank
            found.predicted_mauc[step] = predicted
    # Constant features tell nothing: they come last, by column.
    found.ranking[n_chosen:] = np.flatnonzero(~scores.varies)[: k - n_chosen]
    found.predicted_mauc[n_chosen:] = found.predicted_mauc[n_chosen - 1] if n_chosen else 0.5
    return found


def _feature_blocks(n_features, n_kept, n_pairs, n_jobs):
    """Cut the features into at most one block a thread, each worth its thread."""
    step = n_features * (n_kept * _PRODUCT_TIME + n_pairs * _EXP_TIME)
    n_blocks = max(1, min(effective_n_jobs(n_jobs), n_features, int(step / _THREAD_TIME)))
    bounds = np.linspace(0, n_features, n_blocks + 1).astype(np.int64)
    return [(int(a), int(b)) for a, b in pairwise(bounds)]
