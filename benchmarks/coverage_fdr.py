"""False discovery rate and power of `pair_tests` and of ``n_features_to_select="fdr"``.

Tables of 200 features and three classes with noise alone, or with 20 features whose mean is shifted
in the first class: a feature separates that class from both others, and the others not from each
other. Features are independent, correlated with each other, or in blocks of ten. Usage::

    python benchmarks/coverage_fdr.py [tables [words of a setting]]
    python benchmarks/coverage_fdr.py levels  # of the Mann-Whitney test of a rare value
"""

import sys
import warnings

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom, hypergeom, norm, poisson

from mauc import MAUCD, pair_tests
from mauc.exceptions import NoEvidenceWarning
from mauc.measure.pair_tests import adjust

ALPHA = 0.05
N_FEATURES, N_USEFUL, BLOCK = 200, 20, 10
EVEN, FEW, RARE = (50, 50, 50), (15, 100, 100), (5, 100, 100)
# Of the first class of the null ones, 44 rows are expected not to be 0.
LARGE_COUNTS, LARGE_ZEROS, EVEN_ZEROS = (900, 2000, 2000), (110, 500, 500), (500, 500, 500)
# Classes, correlation, whether in blocks, kind of values, shift of the useful features.
SETTINGS = {
    f"{words}, {dependence}": (sizes, rho, blocks, kind, shift)
    for words, sizes, kind, shift in (
        ("noise", EVEN, "normal", 0.0),
        ("signal", EVEN, "normal", 1.0),
        ("noise, a class of 5", RARE, "normal", 0.0),
        ("signal, a class of 5", RARE, "normal", 2.0),
        ("signal, a class of 15", FEW, "normal", 2.0),
        ("noise, counts that are mostly 0, a class of 5", RARE, "counts", 0.0),
        ("signal, counts that are mostly 0", EVEN, "counts", 1.5),
        ("noise, counts that are mostly 0, a class of 900", LARGE_COUNTS, "counts", 0.0),
        ("noise, 60 % zeros, a class of 110", LARGE_ZEROS, "zeros", 0.0),
        ("signal, 60 % zeros, classes of 500", EVEN_ZEROS, "zeros", 2.0),
        ("noise, 20 categories, a class of 5", RARE, "categories", 0.0),
    )
    for dependence, rho, blocks in (
        ("independent", 0.0, False),
        ("correlation 0.5", 0.5, False),
        ("correlation 0.9", 0.9, False),
        ("blocks of correlation 0.9", 0.9, True),
    )
}


def draw(setting, seed):
    """Return a table, its labels, and its nominal columns."""
    sizes, rho, blocks, kind, shift = setting
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), sizes)
    shared = rng.normal(size=(len(y), N_FEATURES // BLOCK if blocks else 1))
    shared = np.repeat(shared, N_FEATURES // shared.shape[1], axis=1)
    X = np.sqrt(rho) * shared + np.sqrt(1 - rho) * rng.normal(size=shared.shape)
    useful = rng.permutation(N_FEATURES)[:N_USEFUL] if shift else []
    X[np.ix_(y == 0, useful)] += shift
    if kind == "counts":
        X = np.searchsorted(poisson.cdf(np.arange(9), 0.05), norm.cdf(X)).astype(float)
    if kind == "zeros":  # in all classes alike: what is not 0 is shifted
        X = np.where(rng.random(X.shape) < 0.6, 0.0, np.exp(X))
    if kind == "categories":
        X = np.floor(20 * norm.cdf(X) ** 3)
    return X, y, np.isin(np.arange(N_FEATURES), useful), kind == "categories"


def shares(found, is_true):
    """Return the share of what is found that is false, 0 if nothing is, and of the true found."""
    return (found & ~is_true).sum() / max(1, found.sum()), found[is_true].mean()


def measure(setting, seed):
    """Return false shares of features, of cells, of cells without Fisher's test; power."""
    X, y, is_useful, is_nominal = draw(setting, seed)
    nominal = {"categorical_features": np.arange(N_FEATURES)} if is_nominal else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NoEvidenceWarning)
        chosen = MAUCD("fdr", fdr_alpha=ALPHA, **nominal).fit(X, y).support_
    chosen &= not any(one.category is NoEvidenceWarning for one in caught)
    tests = pair_tests(X, y, **nominal)
    is_true = is_useful[tests.column] & (tests.class_i == 0)
    alone = np.zeros(len(tests.p), bool)
    if not is_nominal:
        alone = adjust(2 * ndtr(-tests.z)) <= ALPHA
    (of_features, power), (of_cells, cell_power), (without, _) = (
        shares(found, truth) if truth.any() else (float(found.any()), np.nan)
        for found, truth in (
            (chosen, is_useful),
            (tests.p_adjusted <= ALPHA, is_true),
            (alone, is_true),
        )
    )
    return of_features, of_cells, np.nan if is_nominal else without, power, cell_power


def excess(n_small, n_large, share, level):
    """Return how often noise of two values has a Mann-Whitney p <= level, over the level.

    Exact but for the number of rows of the rarer value, for which 41 quantiles of its law stand.
    """
    n, rates = n_small + n_large, []
    for rare in binom.ppf(np.linspace(0.5 / 41, 1 - 0.5 / 41, 41), n, share):
        drawn = np.arange(min(rare, n_small) + 1)
        away = np.maximum(np.abs(drawn * n - rare * n_small) - 1, 0) / 2
        cubes = rare**3 + (n - rare) ** 3
        variance = n_small * n_large / 12 * (n + 1 - (cubes - n) / (n * (n - 1)))
        is_found = 2 * ndtr(-away / np.sqrt(variance)) <= level
        rates.append(hypergeom.pmf(drawn[is_found], n, rare, n_small).sum() / level)
    return np.mean(rates)


def print_levels():
    """Print `excess` by rows of the rarer value expected in the smaller class."""
    print("| rows with it | larger class | 10 expected | 20 | 40 | 80 |\n|---|---|---|---|---|---|")
    for share in (0.05, 0.2, 0.4):
        for times in (1, 3, 20, 100):
            cells = [
                " and ".join(f"{excess(n, times * n, share, a):.2f}" for a in (1e-3, 1e-4))
                for n in (round(expected / share) for expected in (10, 20, 40, 80))
            ]
            print(f"| {share:.0%} | x {times} |", " | ".join(cells), "|")


def main():
    """Print a table of all settings, or of those whose name has the words."""
    if sys.argv[1:] == ["levels"]:
        return print_levels()
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| table | features | cells | cells, Mann-Whitney alone | power, features | cells |")
    print("|---|---|---|---|---|---|")
    words = " ".join(sys.argv[2:])
    for name, setting in SETTINGS.items():
        if words not in name:
            continue
        rows = np.array([measure(setting, seed) for seed in range(n_tables)])
        shown = ("-" if np.isnan(mean) else f"{mean:.3f}" for mean in rows.mean(axis=0))
        print(f"| {name} |", " | ".join(shown), "|", flush=True)


if __name__ == "__main__":
    main()
