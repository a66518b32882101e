"""Hypothesis strategies for the filters that look at values: columns with bounded values."""

import numpy as np
from hypothesis import strategies as st


def seeds():
    """Seeds of a generator: arrays are drawn from it, which is cheap, however long they are."""
    return st.integers(0, 2**32 - 1)


def roles(n_classes):
    """Every kind of sub-problem: whole, against the rest and pairs both ways, groups."""
    numbers = np.arange(n_classes)
    i, j = np.triu_indices(n_classes, 1)
    pairs = np.full((len(i), n_classes), -1)
    pairs[np.arange(len(i)), i], pairs[np.arange(len(i)), j] = 0, 1
    parts = [
        numbers,
        np.eye(n_classes),
        1 - np.eye(n_classes),
        pairs,
        pairs[:, ::-1],
        numbers % 2,
        np.append(-1, numbers[:-1]),
        np.maximum(numbers - 1, 0),
    ]
    return np.vstack(parts).astype(np.int32)


@st.composite
def single_columns(draw):
    """One column with its codes and number of classes: ties, constants, gaps, class shifts."""
    n_classes = draw(st.integers(2, 5))
    n = draw(st.integers(1, 70))
    rng = np.random.default_rng(draw(seeds()))
    y = rng.integers(0, draw(st.integers(1, n_classes)), n).astype(np.int32)
    kind = draw(st.sampled_from(["ties", "spread", "class", "constant"]))
    if kind == "spread":
        x = rng.normal(size=n) * draw(st.sampled_from([1e-3, 1.0, 1e6]))
    elif kind == "constant":
        x = np.full(n, 3.25)
    else:
        x = rng.integers(0, draw(st.integers(2, 13)), n).astype(float)
    if kind != "ties":
        x += y * draw(st.sampled_from([0.0, 1.0, 3.0, 5.5])) * (kind != "constant")
    x[rng.random(n) < draw(st.sampled_from([0.0, 0.0, 0.1, 0.6, 1.0]))] = np.nan
    return x, y, n_classes


@st.composite
def coded_features(draw, max_states=12):
    """Features in states, numbers of states, classes, and how many to choose: ties, constants."""
    n = draw(st.integers(1, 150))
    m = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(seeds()))
    n_classes = draw(st.integers(1, 12))
    n_states = rng.integers(1, max_states + 1, m)
    y = rng.integers(0, n_classes, n).astype(np.int32)
    D = np.stack([rng.integers(0, s, n) for s in n_states]).astype(np.uint8)
    if draw(st.booleans()) and m > 1:
        D[-1], n_states[-1] = D[0], n_states[0]
    half = m // 2
    D[:half] = np.where(rng.random((half, n)) < 0.5, y % n_states[:half, None], D[:half])
    return D, n_states, y, n_classes, draw(st.integers(1, m))


@st.composite
def moment_problems(draw):
    """Three features, classes, frequencies: NaN, offsets, outliers, constants, rare classes."""
    n = draw(st.integers(2, 60))
    n_classes = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(seeds()))
    dtype = draw(st.sampled_from([np.float32, np.float64, np.int32]))
    y = rng.integers(0, n_classes, n)
    y[:2] = 0, 1
    values = rng.normal(size=(n, 3)) * draw(st.sampled_from([1.0, 100.0])) + y[:, np.newaxis]
    values[:, 1] = np.rint(values[:, 1])
    values[0, 2] += draw(st.sampled_from([0.0, 1e6]))
    if draw(st.booleans()):
        values[:, 1] = 7
    if dtype != np.int32:
        values += draw(st.sampled_from([0.0, 1e9 if dtype == np.float64 else 1e3]))
        gaps = draw(st.sampled_from([0.0, 0.0, 0.2, 0.9]))
        values[rng.random(values.shape) < gaps] = np.nan
    weight = None
    if draw(st.booleans()):
        weight = rng.integers(0, 4, n)
        weight[np.unique(y, return_index=True)[1]] += 1  # every class keeps some weight
    return values.astype(dtype), np.unique(y, return_inverse=True)[1], weight


@st.composite
def relief_problems(draw):
    """Few levels, so that ties, copies and constant columns are common; gaps; nominal columns."""
    n_samples, n_features = draw(st.integers(2, 24)), draw(st.integers(1, 9))
    n_classes = draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(seeds()))
    n_levels, unit = draw(st.sampled_from([1, 2, 4, 1000])), draw(st.sampled_from([1.0, 0.1, 1e-7]))
    X = rng.integers(0, n_levels, (n_samples, n_features)) * unit
    y = rng.integers(0, draw(st.integers(1, n_classes)), n_samples).astype(np.int32)
    is_nominal = None
    if draw(st.booleans()):
        X[rng.random(X.shape) < draw(st.sampled_from([0.05, 0.4]))] = np.nan
        X[:, 0] = np.nan if draw(st.booleans()) else X[:, 0]
    if draw(st.booleans()):
        is_nominal = rng.random(n_features) < 0.5
        X[:, is_nominal] = np.nan_to_num(X[:, is_nominal], nan=99)  # a category as others
    rows = rng.integers(0, n_samples, draw(st.integers(1, 9))) if draw(st.booleans()) else None
    return X, y, n_classes, rows, draw(st.sampled_from([1, 2, 3, 10])), is_nominal


@st.composite
def feature_columns(draw):
    """One feature as an array (1, n): few or many values, any type, NaN, offsets."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    n = draw(st.integers(1, 80))
    rng = np.random.default_rng(draw(seeds()))
    values = rng.integers(0, draw(st.sampled_from([1, 2, 3, 100])), n)
    values = values / draw(st.sampled_from([1.0, 3.0]))
    values += draw(st.sampled_from([0.0, 1e5 if dtype == np.float32 else 1e9]))
    values[rng.random(n) < draw(st.sampled_from([0.0, 0.2, 1.0]))] = np.nan
    XT = values.astype(dtype)[np.newaxis]
    XT.flags.writeable = False
    return XT
