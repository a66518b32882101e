"""Stability of selections over splits: sets of features in, a number with its interval out."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.exceptions import MaucError
from mauc.stability import UNKNOWN, stability
from mauc.stats.cells import SPLIT, as_pandas, check_columns, group_rows

if TYPE_CHECKING:
    import pandas as pd

_SETTING = ("dataset", "selector", "size")


def selector_stability(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Measure the stability of each selector over the splits of a data set.

    Parameters
    ----------
    rows : DataFrame
        One row per measurement, as `mauc.load_run` gives; the columns dataset, selector, size,
        repeat, fold, features and n_features are used.

    Returns
    -------
    table : DataFrame
        Columns dataset, selector, size, stability, lower, upper (95 % interval) and n, the
        number of selections. Names are in the order of their first row, sizes ascending.
        Classifiers share a selection, so it counts once; rows of failed selections have no
        features and count nowhere. With fewer than 2 selections, or if there was nothing to
        choose, the numbers are NaN.

    See Also
    --------
    stability : The measure.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.stats import selector_stability
    >>> rows = pd.DataFrame({
    ...     "dataset": "glass", "selector": "mdfs", "size": 2, "repeat": 0, "fold": [0, 1, 2],
    ...     "features": [[0, 1], [0, 1], [0, 2]], "n_features": 4})
    >>> selector_stability(rows)[["selector", "size", "stability", "n"]].round(3)
      selector  size  stability  n
    0     mdfs     2      0.333  3
    """
    rows = as_pandas(rows)
    check_columns(rows, (*_SETTING, *SPLIT, "features", "n_features"))
    group, settings = group_rows(rows, _SETTING)
    split, splits = group_rows(rows, SPLIT)
    features = rows["features"].to_numpy(dtype=object)
    n_features = rows["n_features"].to_numpy()

    selected = np.flatnonzero([_has_features(chosen) for chosen in features])
    # The first row of a cell stands for it: np.unique sorts by group, then by split.
    _, first = np.unique((group * len(splits) + split)[selected], return_index=True)
    chosen = selected[first]
    ends = np.searchsorted(group[chosen], np.arange(len(settings) + 1))
    found = []
    for start, stop in pairwise(ends):
        cells = chosen[start:stop]
        if len(cells) < 2:
            found.append(UNKNOWN)
            continue
        if len(np.unique(n_features[cells])) > 1:
            name = rows["dataset"].iloc[cells[0]]
            raise MaucError(
                f"rows must give one n_features per data set, got several for {name!r}."
            )
        found.append(stability(features[cells], int(n_features[cells[0]])))
    return settings.assign(
        stability=np.array([item.value for item in found], dtype=np.float64),
        lower=np.array([item.lower for item in found], dtype=np.float64),
        upper=np.array([item.upper for item in found], dtype=np.float64),
        n=np.diff(ends),
    )


def _has_features(chosen: Any) -> bool:
    return isinstance(chosen, Sequence | np.ndarray) and len(chosen) > 0
