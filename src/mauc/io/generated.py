"""Generated data sets: a seed in, the same Dataset out on every machine."""

from itertools import combinations
from typing import Any

import numpy as np

from mauc.checks import check_int
from mauc.data.door import check_generator
from mauc.io.dataset import Dataset

CHARTS = (
    "Normal",
    "Cyclic",
    "Increasing trend",
    "Decreasing trend",
    "Upward shift",
    "Downward shift",
)
# Values are rounded, so that the last bits of a machine's sine and logarithm do not show.
_DECIMALS = 4


def make_control_charts(n_per_class: int = 100, length: int = 60, random_state: Any = 0) -> Dataset:
    """Generate control charts: six classes of time series.

    Parameters
    ----------
    n_per_class : int, default=100
    length : int, default=60
        Points of a series, t = 0, 1, ..., which are the features.
    random_state : int, SeedSequence, Generator, RandomState or None, default=0

    Returns
    -------
    dataset : Dataset
        Of shape (6 * n_per_class, length), the classes one after another.

    Notes
    -----
    With m = 30, s = 2 and r(t) uniform in [-3, 3], a series of n points is m + r(t) s plus

    - normal: nothing;
    - cyclic: a sin(2 pi t / T), with a and T uniform in [10, 15];
    - increasing and decreasing trend: g t and -g t, with g uniform in [0.2, 0.5];
    - upward and downward shift: x and -x from the point floor(t3) on, with x uniform in [7.5, 20]
      and t3 uniform in [n/3, 2n/3].

    The parameters are drawn again for every series. With the defaults this is another sample of
    what the UCI data set "Synthetic Control Chart Time Series" was drawn from.

    References
    ----------
    Alcock, R. J. and Manolopoulos, Y. (1999). Time-series similarity queries employing a
    feature-based approach. 7th Hellenic Conference on Informatics.

    Examples
    --------
    >>> from mauc.datasets import make_control_charts
    >>> charts = make_control_charts(n_per_class=2, length=30)
    >>> charts.X.shape
    (12, 30)
    >>> print(charts.y[0], charts.y[-1], sep=", ")
    Normal, Downward shift
    """
    check_int("n_per_class", n_per_class, 1)
    check_int("length", length, 1)
    rng = check_generator(random_state)
    t = np.arange(length)
    shape = (n_per_class, 1)
    flat = np.zeros((n_per_class, length))
    amplitude, period = rng.uniform(10, 15, shape), rng.uniform(10, 15, shape)
    cycle = amplitude * np.sin(2 * np.pi * t / period)
    trends = [rng.uniform(0.2, 0.5, shape) * t for _ in range(2)]
    shifts = [
        rng.uniform(7.5, 20, shape)
        * (t >= np.floor(rng.uniform(length / 3, 2 * length / 3, shape)))
        for _ in range(2)
    ]
    signal = np.concatenate([flat, cycle, trends[0], -trends[1], shifts[0], -shifts[1]])
    values = 30 + 2 * rng.uniform(-3, 3, signal.shape) + signal
    return Dataset(
        name="control_charts",
        X=values.round(_DECIMALS),
        y=np.repeat(CHARTS, n_per_class),
        feature_names=[f"t{point}" for point in t],
    )


def make_siren(
    n_per_class: int = 100,
    n_easy: int = 2,
    n_hard: int = 4,
    n_loud: int = 40,
    n_quiet: int = 3,
    n_noise: int = 20,
    random_state: Any = 0,
) -> Dataset:
    """Generate a problem on which filters that average over class pairs fail.

    Many redundant "loud" features separate the easy classes from all others. For every pair of
    hard classes a few "quiet" features separate these two. On the mean over all class pairs a
    loud feature looks better than any quiet one, so a filter that averages takes loud features
    alone and leaves the hard pairs to chance; drawing from every pair in turn finds the quiet ones.

    Parameters
    ----------
    n_per_class : int, default=100
    n_easy, n_hard : int, default=2 and 4
        Classes of each kind, at least 2 hard ones.
    n_loud : int, default=40
        Redundant features for the easy classes.
    n_quiet : int, default=3
        Features of each pair of hard classes.
    n_noise : int, default=20
        Features that tell nothing.
    random_state : int, SeedSequence, Generator, RandomState or None, default=0

    Returns
    -------
    dataset : Dataset
        Columns ``loud1``, ..., then ``quiet1-2a`` (the first one for hard classes 1 and 2), ...,
        then ``noise1``, ...

    Notes
    -----
    All loud features are z + e / 2 with one z = p + e / 2 for each sample, every e standard
    normal, and the place p of its class: 0 for hard classes, -4, 4, -8, 8, ... for easy ones.
    A quiet feature is standard normal with mean -1 on one hard class and 1 on another.

    References
    ----------
    Forman, G. (2004). A pitfall and solution in multi-class feature selection for text
    classification. ICML.

    Examples
    --------
    >>> from mauc import MAUCD, MDFS
    >>> from mauc.datasets import make_siren
    >>> siren = make_siren()
    >>> siren.X.shape
    (600, 78)
    >>> averaged = MAUCD(20).fit(siren.X, siren.y).ranking_
    >>> sum(siren.feature_names[j].startswith("quiet") for j in averaged)
    0
    >>> decomposed = MDFS(20, random_state=0).fit(siren.X, siren.y).ranking_
    >>> sum(siren.feature_names[j].startswith("quiet") for j in decomposed)
    11
    """
    for name, count, low in (
        ("n_per_class", n_per_class, 1),
        ("n_easy", n_easy, 1),
        ("n_hard", n_hard, 2),
        ("n_loud", n_loud, 1),
        ("n_quiet", n_quiet, 1),
        ("n_noise", n_noise, 0),
    ):
        check_int(name, count, low)
    rng = check_generator(random_state)
    classes = [f"easy{i + 1}" for i in range(n_easy)] + [f"hard{i + 1}" for i in range(n_hard)]
    codes = np.repeat(np.arange(n_easy + n_hard), n_per_class)
    easy = np.arange(n_easy)
    place = np.zeros(n_easy + n_hard)
    place[:n_easy] = 4 * (easy // 2 + 1) * np.where(easy % 2, 1, -1)
    loudness = place[codes] + rng.normal(size=len(codes)) / 2
    blocks = [loudness[:, None] + rng.normal(size=(len(codes), n_loud)) / 2]
    names = [f"loud{i + 1}" for i in range(n_loud)]
    for first, second in combinations(range(n_hard), 2):
        mean = (codes == n_easy + second) * 1.0 - (codes == n_easy + first)
        blocks.append(mean[:, None] + rng.normal(size=(len(codes), n_quiet)))
        names += [f"quiet{first + 1}-{second + 1}{_letters(i)}" for i in range(n_quiet)]
    blocks.append(rng.normal(size=(len(codes), n_noise)))
    names += [f"noise{i + 1}" for i in range(n_noise)]
    return Dataset(
        name="siren",
        X=np.hstack(blocks).round(_DECIMALS),
        y=np.array(classes)[codes],
        feature_names=names,
    )


def _letters(place: int) -> str:
    """Return a, b, ..., z, aa, ab, ..."""
    head, tail = divmod(place, 26)
    return (_letters(head - 1) if head else "") + chr(ord("a") + tail)
