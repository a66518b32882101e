"""Rankings of halves in, one ranking out: by frequency or by mean rank.

The k-th feature is chosen by what the first k features of every half say, so that the ranking of
fewer features is the beginning of that of more.
"""

import numpy as np


class Counts:
    """Frequencies and mean ranks of all features among the first k of every half.

    Parameters
    ----------
    rankings : ndarray of shape (n_halves, n_ranked), int64
    n_features : int

    Attributes
    ----------
    size : int
        k; 0 at first.
    frequencies : ndarray of shape (n_features,), float64
        Share of the halves that have a feature among their first k.
    """

    def __init__(self, rankings, n_features):
        self._rankings = rankings
        self._held = np.zeros(n_features, np.int64)
        self._places = np.zeros(n_features, np.int64)  # sums of the ranks of those that are held
        self.size = 0

    def extend(self, size):
        """Look at the first `size` features of every half."""
        for place in range(self.size, size):
            np.add.at(self._held, self._rankings[:, place], 1)
            np.add.at(self._places, self._rankings[:, place], place + 1)
        self.size = size

    @property
    def frequencies(self):
        """Share of the halves that have a feature among their first `size`."""
        return self._held / len(self._rankings)

    @property
    def rank_sums(self):
        """Sum of the ranks over the halves; a feature beyond the first k has rank k + 1."""
        return self._places + (len(self._rankings) - self._held) * (self.size + 1)

    @property
    def mean_ranks(self):
        """Mean of the ranks over the halves."""
        return self.rank_sums / len(self._rankings)


def rank_by_counts(rankings, n_features, rule):
    """Return a consensus of rankings.

    Parameters
    ----------
    rankings : ndarray of shape (n_halves, n_ranked), int64
    n_features : int
    rule : {"frequency", "rank"}
        By the frequency, equal ones by the mean rank, or by the mean rank alone; then by column.

    Returns
    -------
    ranking : ndarray of shape (n_ranked,), int64
    scores : ndarray of shape (n_ranked,), float64
        The frequency, or the mean rank, of each feature when it was chosen.
    """
    n_ranked = rankings.shape[1]
    counts = Counts(rankings, n_features)
    is_left = np.ones(n_features, bool)
    ranking, scores = np.empty(n_ranked, np.int64), np.empty(n_ranked)
    for step in range(n_ranked):
        counts.extend(step + 1)
        left = np.flatnonzero(is_left)
        if rule == "frequency":
            held = counts.frequencies[left]
            left = left[held == held.max()]
        best = left[np.argmin(counts.rank_sums[left])]  # the lowest column of equals
        said = counts.frequencies if rule == "frequency" else counts.mean_ranks
        ranking[step], scores[step] = best, said[best]
        is_left[best] = False
    return ranking, scores
