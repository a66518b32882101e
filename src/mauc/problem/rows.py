"""Some rows of a Problem as a Problem of their own."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from mauc.problem.frame_columns import FrameColumns
from mauc.problem.source_columns import SourceColumns


def take_rows(problem, rows):
    """Return the problem of some of the rows; columns keep their types, classes their places.

    Parameters
    ----------
    problem : Problem
    rows : ndarray of shape (n_taken,), int64
        Ascending. Every class must have one of them.

    Returns
    -------
    part : Problem
        Of a source, its columns are read again; its memory is that of the source.
    """
    X = problem.X
    if isinstance(X, SourceColumns):
        mask = np.zeros(problem.n_samples, bool)
        mask[rows] = True
        X = SourceColumns(
            X.source.take_rows(mask), problem.is_nominal, accept_infinite=X.accept_infinite
        )
    elif isinstance(X, FrameColumns):
        X = X.take_rows(rows)
    elif sparse.issparse(X):
        X = X[rows]
        X.sort_indices()
    else:
        X = X[rows]
    codes = problem.codes[rows]
    weight = problem.sample_weight
    return replace(
        problem,
        X=X,
        codes=codes,
        class_counts=np.bincount(codes, minlength=problem.n_classes).astype(np.int64),
        sample_weight=None if weight is None else weight[rows],
    )
