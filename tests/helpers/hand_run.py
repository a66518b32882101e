"""A run whose numbers can be counted by hand."""

import numpy as np
import pandas as pd


def make_run(selectors, *, datasets=("wine", "glass"), classifiers=("nb", "svm"), sizes=(2, 4)):
    """Six folds; each selector lies 0.01 below the one before it, on every fold."""
    n_features = 10 if max(sizes) <= 10 else 200
    rows = [
        {
            "dataset": dataset, "repeat": 0, "fold": fold, "selector": selector,
            "classifier": classifier, "size": size, "status": "ok", "error": None,
            "mauc": 0.9 + 0.01 * fold - 0.01 * place + 0.001 * size,
            "features": (np.arange(size) + fold * (place > 0)) % n_features,
            "n_train": 90, "n_test": 10, "n_features": n_features,
        }
        for dataset in datasets
        for fold in range(6)
        for place, selector in enumerate(selectors)
        for classifier in classifiers
        for size in sizes
    ]  # fmt: skip
    return pd.DataFrame(rows)


THREE = ["mdfs", "chi", "my_own"]
MANY = [f"selector {place}" for place in range(18)]
