"""The sketch on the data sets of the paper: 1,024 bins are within 0.002 of the exact AUCs."""

import numpy as np
import pytest

from mauc import PairAUCSketch, feature_pair_auc

MAX_DIFFERENCE = 0.002


@pytest.mark.data
@pytest.mark.parametrize("name", ["isolet", "mnist", "usps", "indiana", "phoneme"])
def test_within_two_thousandths_and_within_its_bound(name, load_paper_data):
    X, y = load_paper_data(name)
    order = np.random.default_rng(0).permutation(len(y))
    exact = feature_pair_auc(X, y, n_jobs=2)
    # The bins are chosen by all rows, and by a quarter of them.
    for n_parts, n_buffered in ((1, None), (8, len(y) // 4)):
        sketch = PairAUCSketch(1024, n_buffered=n_buffered, n_jobs=2)
        for rows in np.array_split(order, n_parts):
            sketch.update(X[rows], y[rows])
        difference = np.abs(sketch.pair_auc() - exact)
        assert difference.max() <= MAX_DIFFERENCE
        assert (difference <= sketch.error_bound()).all()
