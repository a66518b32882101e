"""Hypothesis strategies: labels, columns of every awkward kind, and whole problems."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

INTEGERS = tuple(np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8))
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

FAST_EXAMPLES = 5


def examples(number, **options):
    """Settings of a law that needs another number of examples; few in a fast run all the same."""
    is_fast = settings.default.max_examples == FAST_EXAMPLES
    return settings(max_examples=min(number, FAST_EXAMPLES) if is_fast else number, **options)


def codes(n_samples, n_classes):
    """Class codes in which every class occurs, some of them once only."""
    # The first n_classes rows hold every class; a permutation then hides them.
    rest = st.lists(
        st.integers(0, n_classes - 1),
        min_size=n_samples - n_classes,
        max_size=n_samples - n_classes,
    )
    filled = rest.map(lambda tail: list(range(n_classes)) + tail)
    return filled.flatmap(st.permutations).map(lambda y: np.array(y, dtype=np.int32))


def _column(n_samples, elements):
    return st.lists(elements, min_size=n_samples, max_size=n_samples)


def _thrown(n_samples, make):
    """A column made of random numbers: cheap to draw, however long."""
    return st.integers(0, 2**32 - 1).map(
        lambda seed: make(np.random.default_rng(seed), n_samples).tolist()
    )


SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.8e308, -1.8e308)


def float_columns(n_samples, *, allow_missing=True):
    """Columns of floats: ties, constants, NaN, infinities, -0.0, heavy tails, decimals."""
    special = [v for v in SPECIAL if allow_missing or v == v]
    choices = [
        _column(n_samples, st.sampled_from([0.0, 1.0, 2.0])),
        _column(n_samples, st.sampled_from(special)),
        _column(n_samples, st.sampled_from([1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0)])),
        _column(n_samples, st.floats(allow_nan=allow_missing, width=32)),
        st.floats(allow_nan=allow_missing, width=32).map(lambda v: [v] * n_samples),
        _thrown(n_samples, lambda r, n: r.normal(size=n)),
        _thrown(n_samples, lambda r, n: r.normal(size=n).round(int(r.integers(0, 5)))),
        _thrown(n_samples, lambda r, n: 10.0 ** r.uniform(-30, 30, size=n)),
        _thrown(n_samples, lambda r, n: r.standard_cauchy(size=n) ** 3),
        _thrown(
            n_samples, lambda r, n: r.normal(size=max(2, n // 3))[r.integers(0, max(2, n // 3), n)]
        ),
        _thrown(n_samples, lambda r, n: 1e15 + r.integers(0, 7, size=n) / 8),
        _thrown(n_samples, lambda r, n: r.integers(0, 300, size=n).astype(float)),
    ]
    if allow_missing:
        choices.append(
            _thrown(n_samples, lambda r, n: np.where(r.random(n) < 0.3, np.nan, r.normal(size=n)))
        )
    return st.one_of(choices)


def float_tables(n_samples, max_features=4, dtypes=FLOATS, *, allow_missing=True):
    """X of floats, shape (n_samples, 1 to max_features)."""
    columns = st.lists(
        float_columns(n_samples, allow_missing=allow_missing), min_size=1, max_size=max_features
    )

    def build(columns, dtype):
        with np.errstate(over="ignore"):  # to float32: too large becomes an infinity
            return np.array(columns, dtype=np.float64).astype(dtype).T

    return st.builds(build, columns, st.sampled_from(dtypes))


def integer_tables(n_samples, max_features=4):
    """X of integers of any width, or of booleans."""
    shapes = st.integers(1, max_features).map(lambda m: (n_samples, m))
    few = st.sampled_from([0, 1, 2, 5])

    def tables(dtype):
        return st.one_of(
            hnp.arrays(dtype, shapes),
            shapes.flatmap(lambda shape: hnp.arrays(dtype, shape, elements=few)),
        )

    whole = st.sampled_from(INTEGERS).flatmap(tables)
    return st.one_of(whole, shapes.flatmap(lambda shape: hnp.arrays(np.bool_, shape)))


@st.composite
def problems(draw, tables=float_tables, max_classes=6, min_samples=2, max_samples=40, **options):
    """Draw ``(X, y)``: X by `tables`, y of class codes with every class present."""
    n_classes = draw(st.integers(2, max_classes))
    n_samples = draw(st.integers(max(n_classes, min_samples), max(n_classes, max_samples)))
    return draw(tables(n_samples, **options)), draw(codes(n_samples, n_classes))


@st.composite
def long_problems(draw, max_classes=40, max_samples=600):
    """Draw ``(X, y)`` of several hundred rows, so that columns are keyed, sorted and swept."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes = draw(st.integers(2, max_classes))
    n_samples = draw(st.integers(max(200, n_classes), max_samples))
    X = draw(float_tables(n_samples, max_features=3))
    y = np.concatenate((np.arange(n_classes), rng.integers(0, n_classes, n_samples - n_classes)))
    return X, rng.permutation(y).astype(np.int32)


def weights(n_samples):
    """Sample weights, some of them zero."""
    elements = st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-3, 1e3))
    return _column(n_samples, elements).map(np.array)
