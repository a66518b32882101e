"""Rows of small runs, made by hand."""

import numpy as np
import pandas as pd

VERSIONS = "mauc 0.1.0, python 3.11.7, numpy 2.1.0"


def make_rows(values, *, repeats=1, n_features=20, seconds=0.5):
    """Return rows of ``{(dataset, classifier, selector, size): values of the splits}``.

    A value of None is a failed row.
    """
    rows = []
    for (dataset, classifier, selector, size), maucs in values.items():
        n_folds = len(maucs) // repeats
        for split, mauc in enumerate(maucs):
            is_ok = mauc is not None
            rows.append(
                {
                    "dataset": dataset,
                    "repeat": split // n_folds,
                    "fold": split % n_folds,
                    "selector": selector,
                    "classifier": classifier,
                    "size": size,
                    "mauc": mauc if is_ok else np.nan,
                    "select_seconds": seconds + split,
                    "fit_seconds": 0.1,
                    "score_seconds": 0.1,
                    "features": np.arange(size) if is_ok else None,
                    "status": "ok" if is_ok else "failed",
                    "error": None if is_ok else "ValueError: no\nanswer",
                    "n_train": 90,
                    "n_test": 10,
                    "n_features": n_features,
                    "seed": 1,
                    "versions": VERSIONS,
                }
            )
    return pd.DataFrame(rows)


LADDER = np.array([0.90, 0.91, 0.92, 0.93, 0.94, 0.95])


def small_run():
    """Two data sets, two classifiers, three selectors, sizes 2 and 4; chi is always worse."""
    values = {}
    for dataset in ("wine", "a_b|c"):
        for classifier in ("nb", "my_tree"):
            for size in (2, 4):
                start = LADDER + 0.01 * (size == 4)
                values[dataset, classifier, "mdfs", size] = start
                values[dataset, classifier, "chi", size] = start - 0.1 - np.arange(6) / 1000
                # up and down alike: no difference
                wave = np.array([1, -1, 2, -2, 3, -3]) / 1000
                values[dataset, classifier, "s_100%", size] = start + wave
    return make_rows(values)
