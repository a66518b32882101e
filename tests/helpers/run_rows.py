"""Rows of small runs."""

import numpy as np
import pandas as pd

NAN = float("nan")
SETTING = ["dataset", "classifier", "size", "selector"]


def run_rows(maucs, *, dataset="glass", classifier="nb", size=10):
    """Rows of one setting: selector -> MAUC of every split, two folds a repeat."""
    rows = [
        {
            "dataset": dataset,
            "classifier": classifier,
            "size": size,
            "selector": selector,
            "repeat": split // 2,
            "fold": split % 2,
            "mauc": mauc,
            "status": "failed" if np.isnan(mauc) else "ok",
            "n_train": 90 + split % 2,
            "n_test": 10 - split % 2,
        }
        for selector, values in maucs.items()
        for split, mauc in enumerate(values)
    ]
    return pd.DataFrame(rows)
