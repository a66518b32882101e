"""What GreedyMAUC measures first: a Problem in, effects on class pairs and normal scores out."""

import numpy as np

from mauc.auc.column_reader import ColumnReader
from mauc.auc.pair_auc import folded_auc
from mauc.parallel import run_blocks
from mauc.selectors.greedy_mauc.effects import EffectSizer
from mauc.selectors.greedy_mauc.normal_scores import NormalScorer


def measure(problem, *, noise_correction=0.0, max_samples=None, pair_auc=None, n_jobs=None):
    """Return effect sizes and normal scores of all features.

    Parameters
    ----------
    problem : Problem
        Sparse columns are filled in, one block at a time.
    noise_correction : float, default=0.0
        See `mauc.selectors.greedy_mauc.effects.effect_sizes`.
    max_samples : int, optional
        Samples whose normal scores are kept; see `NormalScorer`.
    pair_auc : ndarray of shape (n_features, n_pairs), optional
        Gets the folded AUCs of all features.
    n_jobs : int, optional

    Returns
    -------
    effects : ndarray of shape (n_features, n_pairs), float64
    scores : NormalScores
    """
    effects = np.empty((problem.n_features, len(problem.max_wins)))
    sizer = EffectSizer(problem, noise_correction)
    scorer = NormalScorer(problem, max_samples)
    reader = ColumnReader(problem, scorer, scorer.order)

    def fill(block):
        wins = reader.read(block)
        sizer.write(wins, effects[block])
        if pair_auc is not None:
            pair_auc[block] = folded_auc(wins, problem.max_wins)

    for _ in run_blocks(fill, problem.blocks(effects.shape[1], is_dense=True), n_jobs):
        pass
    return effects, scorer.scores
