"""Statistics: which differences between selectors are real, and how stable selections are."""

from mauc.stability import Stability, stability
from mauc.stats.compare import PAPER_COMPARISON, Comparison, compare_to, marked_means, win_draw_loss
from mauc.stats.paired import PairedTest, corrected_t_test, wilcoxon_test
from mauc.stats.ranks import (
    FriedmanTest,
    average_ranks,
    critical_difference,
    friedman_test,
    holm_adjust,
    holm_test,
    rank_cliques,
)
from mauc.stats.rows import (
    mean_interval,
    mean_mauc,
    problem_scores,
    selector_stability,
    shown_name,
)

__all__ = [
    "PAPER_COMPARISON",
    "Comparison",
    "FriedmanTest",
    "PairedTest",
    "Stability",
    "average_ranks",
    "compare_to",
    "corrected_t_test",
    "critical_difference",
    "friedman_test",
    "holm_adjust",
    "holm_test",
    "marked_means",
    "mean_interval",
    "mean_mauc",
    "problem_scores",
    "rank_cliques",
    "selector_stability",
    "shown_name",
    "stability",
    "wilcoxon_test",
    "win_draw_loss",
]
