"""A run with failures."""

import numpy as np
import pandas as pd
import pytest

from tests.helpers.run_rows import NAN, run_rows


@pytest.fixture
def rows(rng):
    """A run of 2 data sets, 2 classifiers, 2 sizes, 3 selectors, 60 splits, with failures."""
    better = {"mdfs": 0.02, "su": 0.0, "relieff": 0.09}
    parts = [
        run_rows(
            {
                name: np.round(0.8 + plus + rng.normal(0, 0.05, 60), 2)
                for name, plus in better.items()
            },
            dataset=dataset,
            classifier=classifier,
            size=size,
        )
        for dataset in ("wine", "glass")
        for classifier in ("nb", "1nn")
        for size in (20, 10)
    ]
    run = pd.concat(parts, ignore_index=True)
    failed = rng.choice(len(run), 40, replace=False)
    run.loc[failed, "mauc"] = NAN
    run.loc[failed, "status"] = "failed"
    return run
