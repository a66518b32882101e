"""What GreedyMAUC measures first: a Problem in, effects on class pairs and normal scores out."""

import numpy as np

from mauc.auc.column_reader import ColumnReader
from mauc.auc.nominal_auc import nominal_wins
from mauc.auc.pair_auc import folded_auc, unordered_columns
from mauc.problem.columns import read_only
from mauc.selectors.greedy_mauc.measuring.category_scores import (
    category_scores,
    class_signs,
    rank_scores,
)
from mauc.selectors.greedy_mauc.measuring.effects import EffectSizer
from mauc.selectors.greedy_mauc.measuring.normal_scores import NormalScorer


def measure(
    problem, *, noise_correction=0.0, max_samples=None, kept=None, pair_auc=None, n_jobs=None
):
    """Return effect sizes and normal scores of all features.

    Parameters
    ----------
    problem : Problem
        Sparse columns are filled in, one block at a time.
    noise_correction : float, default=0.0
        See `mauc.selectors.greedy_mauc.measuring.effects.take_off_noise`.
    max_samples : int, optional
        Samples whose normal scores are kept; see `NormalScorer`.
    kept : ndarray of shape (n_kept,), int64, optional
        Which they are, if that is known already.
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
    scorer = NormalScorer(problem, max_samples, kept)
    all_columns = ColumnReader(problem, None, scorer.order)

    def fill(block):
        writer = scorer.writer(block, takes_all=sizer.takes_all)
        reader = all_columns.with_writer(writer)
        wins = reader.read(block)
        sizer.write(wins, writer.block, effects[block])
        if pair_auc is not None:
            pair_auc[block] = folded_auc(wins, problem.max_wins)
        # They were read as codes, and are read again as scores of the categories.
        for place, counts in unordered_columns(problem, block):
            column = block.start + place
            by_category = category_scores(counts)
            codes = problem.float_columns([column])[0]
            ranks = np.append(rank_scores(by_category), np.nan)  # the last is of missing values
            values = ranks[np.where(np.isnan(codes), -1, codes).astype(np.int64)]
            reader.read_columns(read_only(values[np.newaxis]), np.array([column]))
            won = nominal_wins(counts)
            effects[column] = sizer.nominal(won, class_signs(counts, by_category))
            scorer.scores.nominal_squares[column] = float((effects[column] ** 2).sum())
            if pair_auc is not None:
                pair_auc[column] = won / problem.max_wins

    for _ in problem.run_blocks(fill, effects.shape[1], n_jobs, is_dense=True):
        pass
    return effects, scorer.scores
