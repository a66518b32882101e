"""What every relevance is by its definition: of one column, and the labels 0, 1, ... of its rows.

Laws of all relevances read `DEFINITIONS`: a new relevance has a literal one here.
"""

import numpy as np

from tests.helpers import oracle_fsdd, oracle_further, oracle_mdl, oracles


def auc(column, y):
    """Mean folded AUC over the class pairs."""
    return oracles.folded_auc(column[:, np.newaxis], y, y.max() + 1).mean()


def of_bins(statistic):
    """Give the statistic (0 chi-square, 1 SU, 2 IG) of classes and MDL bins."""

    def score(column, y):
        return oracle_mdl.subproblem_scores(column, y, np.arange(y.max() + 1))[1][statistic]

    return score


DEFINITIONS = {
    "auc": auc,
    "chi2": of_bins(0),
    "su": of_bins(1),
    "ig": of_bins(2),
    "fsdd": oracle_fsdd.fsdd,
    "fisher": oracle_further.fisher,
    "anova": oracle_further.anova,
}
