"""Error rates and coverage of `compare_mauc`, simulated: the tables of docs/answers/compare.md.

    python benchmarks/coverage_compare.py [N_REPLICATES]
    python benchmarks/coverage_compare.py swaps [N_REPLICATES]

Two models a and b score the same samples; where they differ, one is worse. The interval
should hold the true difference, that of a large sample, in 95 %. The same difference is the margin
of the test whether b is not inferior, which should then find so in 5 %; with equal MAUCs it is the
test of superiority, and the two-sided test, too, should reject in 5 %. Scores are normal, with a
share of their noise in common; predicted labels; votes of five labels; leaves of fitted decision
trees; normal scores of which a few rows are thrown to the wrong side of all others; or rounded. In
groups of five rows a share of the noise is that of the group, or whole groups are thrown.

Settings that come out near a bound are simulated again with 4, 16 and 64 times the replicates.
"swaps" gives the error rates and the power of the permutation test with classes of few rows, for
models that are exchangeable and for models of equal MAUC that are not, and the seconds it takes.
"""

import sys
import warnings
from collections import defaultdict
from functools import cache
from time import perf_counter

import numpy as np
from scipy.special import expit, ndtri
from sklearn.tree import DecisionTreeClassifier

from mauc import compare_mauc, mauc_score

DESIGNS = {
    "30, 30": (30,) * 2,
    "2 x 50": (50,) * 2,
    "100, 100": (100,) * 2,
    "3 x 20": (20,) * 3,
    "3 x 100": (100,) * 3,
    "3 x 200": (200,) * 3,
    "8 x 25": (25,) * 8,
    "3, 40": (3, 40),
    "5, 50": (5, 50),
    "3 x 10": (10,) * 3,
    "200, 100, 8": (200, 100, 8),
}
GROUPED = {"3 x 30 groups": (150,) * 3, "60, 30, 8 groups": (300, 150, 40)}
N_ROWS, OF_GROUP = 5, 0.5
N_TRUTH = 200_000
#: times the replicates; an error beyond is simulated with the next number
STAGES = ((1, 0.03), (4, 0.05), (16, 0.06), (64, 1.0))
N_TRAINED, N_FEATURES = 60, 6  # rows per class and features of the trees
FAR = 100.0


def normal(common, shifts, digits=None):
    """Return a model of scores that are larger for the true class by a shift."""

    def draw(y, n_classes, groups, generator):
        is_own = y[:, np.newaxis] == np.arange(n_classes)
        noise = generator.normal(size=(3, len(y), n_classes))
        if groups is not None:
            shared = generator.normal(size=(3, groups.max() + 1, n_classes))[:, groups]
            noise = np.sqrt(OF_GROUP) * shared + np.sqrt(1.0 - OF_GROUP) * noise
        scores = [
            shift * is_own + np.sqrt(common) * noise[0] + np.sqrt(1.0 - common) * own
            for shift, own in zip(shifts, noise[1:], strict=True)
        ]
        return scores if digits is None else [np.round(each, digits) for each in scores]

    return draw


def votes(rates, n_votes):
    """Return a model of votes, each for a wrong class at a rate; one vote is a predicted label."""

    def draw(y, n_classes, groups, generator):
        scores = []
        for rate in rates:
            counts = np.zeros((len(y), n_classes))
            for _ in range(n_votes):
                is_wrong = generator.random(len(y)) < rate
                voted = (y + is_wrong * generator.integers(1, n_classes, len(y))) % n_classes
                counts[np.arange(len(y)), voted] += 1.0
            scores.append(counts)
        return scores

    return draw


def gross(rates, common):
    """Return a model of normal scores; at a rate rows, or groups, are put on the wrong side."""
    base = normal(common, (2.5, 2.5))

    def draw(y, n_classes, groups, generator):
        units = np.arange(len(y)) if groups is None else groups
        scores = base(y, n_classes, None, generator)
        for each, rate in zip(scores, rates, strict=True):
            is_thrown = (generator.random(units.max() + 1) < rate)[units]
            each[is_thrown] = FAR
            each[is_thrown, y[is_thrown]] = -FAR
        return scores

    return draw


def trees(depth):
    """Return a model of two fitted trees, one of which knows half of the features."""

    def features(y, n_classes, generator):
        centers = np.zeros((n_classes, N_FEATURES))
        centers[np.arange(N_FEATURES) % n_classes, np.arange(N_FEATURES)] = 2.0
        return centers[y] + generator.normal(size=(len(y), N_FEATURES))

    @cache
    def fitted(n_classes):
        generator = np.random.default_rng(1)
        y = np.repeat(np.arange(n_classes), N_TRAINED)
        X = features(y, n_classes, generator)
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        return tree.fit(X, y), DecisionTreeClassifier(max_depth=depth, random_state=0).fit(
            X[:, : N_FEATURES // 2], y
        )

    def draw(y, n_classes, groups, generator):
        X = features(y, n_classes, generator)
        every, half = fitted(n_classes)
        return every.predict_proba(X), half.predict_proba(X[:, : N_FEATURES // 2])

    return draw


#: family, name, model, whether the MAUCs are equal
SHAPES = [
    ("normal", "no noise in common", normal(0.0, (1.2, 1.2)), True),
    ("normal", "half in common", normal(0.5, (1.2, 1.2)), True),
    ("normal", "half in common", normal(0.5, (1.2, 0.9)), False),
    ("normal", "near 1, 0.9 in common", normal(0.9, (3.0, 2.6)), False),
    ("labels", "10 % wrong", votes((0.1, 0.1), 1), True),
    ("labels", "0 and 1 % wrong", votes((0.0, 0.01), 1), False),
    ("labels", "0 and 3 % wrong", votes((0.0, 0.03), 1), False),
    ("labels", "5 and 15 % wrong", votes((0.05, 0.15), 1), False),
    ("votes of 5", "20 % wrong", votes((0.2, 0.2), 5), True),
    ("votes of 5", "10 and 20 % wrong", votes((0.1, 0.2), 5), False),
    ("trees", "of depth 2", trees(2), False),
    ("trees", "of any depth", trees(None), False),
    ("gross errors", "1 % by both", gross((0.01, 0.01), 0.9), True),
    ("gross errors", "0.3 %", gross((0.0, 0.003), 1.0), False),
    ("gross errors", "1 %", gross((0.0, 0.01), 1.0), False),
    ("gross errors", "3 %", gross((0.0, 0.03), 1.0), False),
    ("gross errors", "3 %, 0.9 in common", gross((0.0, 0.03), 0.9), False),
    ("ties", "rounded", normal(0.5, (1.2, 1.2), 0), True),
    ("ties", "rounded, near 1", normal(0.9, (3.0, 2.6), 0), False),
]
OF_GROUPS = {"normal": SHAPES[1:4], "gross errors": SHAPES[15:16]}


def true_difference(model, n_classes):
    """Return the difference of the MAUCs of a large sample; sizes do not matter, nor groups."""
    y = np.repeat(np.arange(n_classes), N_TRUTH // n_classes)
    a, b = model(y, n_classes, None, np.random.default_rng(0))
    return mauc_score(y, a) - mauc_score(y, b)


def simulate(sizes, model, truth, is_grouped, is_mixed, n_replicates, seed):
    """Return the rates of rejection, of one-sided rejection at the truth, and of coverage."""
    generator, y = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    found = []
    for _ in range(n_replicates):
        groups = np.arange(len(y)) // N_ROWS if is_grouped else None
        if is_mixed:  # groups with rows of several classes
            groups = generator.permutation(groups)
        a, b = model(y, len(sizes), groups, generator)
        two = compare_mauc(y, a, b, groups=groups)
        # The worse one is worse by the truth: that much is the margin.
        worse, better = (b, a) if truth >= 0 else (a, b)
        options = {"groups": groups, "alternative": "noninferior", "margin": abs(truth)}
        one = compare_mauc(y, worse, better, **options)
        found.append((two.p_value < 0.05, one.p_value < 0.05, two.lower <= truth <= two.upper))
    return np.mean(found, axis=0)


def measure(sizes, shape, is_grouped, is_mixed, n_replicates, seed, truths):
    """Return the three rates of a setting, NaN for the two-sided error where MAUCs differ."""
    _, _, model, is_equal = shape
    key = model, len(sizes)
    if key not in truths:
        truths[key] = 0.0 if is_equal else true_difference(model, len(sizes))
    options = sizes, model, truths[key], is_grouped, is_mixed
    for factor, max_error in STAGES:
        two, one, coverage = simulate(*options, factor * n_replicates, seed)
        if max(one, two if is_equal else 0.0, 1.0 - coverage) <= max_error:
            break
    return two if is_equal else np.nan, one, coverage


def main(n_replicates=100):
    """Print a table of all settings, the worst of every kind of scores, and the extremes."""
    warnings.simplefilter("error")
    print("| samples | scores | MAUCs | two-sided error | one-sided error | coverage |")
    print("|---|---|---|---|---|---|")
    designs = [(name, sizes, False, False, SHAPES) for name, sizes in DESIGNS.items()]
    for name, sizes in GROUPED.items():
        for kind, is_mixed in ((" of 5", False), (", mixed", True)):
            shapes = [shape for family in OF_GROUPS.values() for shape in family]
            designs.append((name + kind, sizes, True, is_mixed, shapes))
    truths, rates = {}, defaultdict(list)
    for seed, (name, sizes, is_grouped, is_mixed, shapes) in enumerate(designs):
        for shape in shapes:
            found = measure(sizes, shape, is_grouped, is_mixed, n_replicates, seed, truths)
            rates["groups of 5" if is_grouped else shape[0]].append(found)
            two, one, coverage = found
            shown = f"{two:.3f}" if shape[3] else ""
            kind = "equal" if shape[3] else "unequal"
            print(
                f"| {name} | {shape[0]}, {shape[1]} | {kind} | {shown} | {one:.3f} | "
                f"{coverage:.3f} |",
                flush=True,
            )
    print("\n| scores | settings | largest two-sided error | one-sided | least coverage |")
    print("|---|---|---|---|---|")
    every = [found for of_family in rates.values() for found in of_family]
    for family, found in {**rates, "all": every}.items():
        two, one, coverage = np.array(found).T
        largest = f"{np.nanmax(two):.3f}" if np.isfinite(two).any() else ""
        print(
            f"| {family} | {len(found)} | {largest} | {one.max():.3f} | {coverage.min():.3f} |",
            flush=True,
        )


def probabilities(auc, sharpness=1.0, prior=0.0):
    """Return a model of probabilities, by their AUC; sharper or for another prior."""
    shift = np.sqrt(2.0) * ndtri(auc)

    def draw(y, generator):
        x = shift * (y - 0.5) + generator.normal(size=len(y))
        return expit(sharpness * shift * x - prior)

    return draw


def labels(rate):
    """Return a model of predicted labels."""
    return lambda y, generator: np.where(generator.random(len(y)) < rate, 1.0 - y, y)


#: name, two models of two classes; MAUCs are equal where the name does not say "power"
SWAPPED = [
    ("exchangeable: probabilities, AUC 0.9", probabilities(0.9), probabilities(0.9)),
    ("exchangeable: labels, 5 % wrong", labels(0.05), labels(0.05)),
    ("one sharper", probabilities(0.9), probabilities(0.9, 4.0)),
    ("one for another prior", probabilities(0.9), probabilities(0.9, 1.0, 2.0)),
    ("labels against probabilities, AUC 0.95", labels(0.05), probabilities(0.95)),
    ("power: AUC 0.95 against 0.7", probabilities(0.95), probabilities(0.7)),
    ("power: perfect against 0.5", probabilities(1.0 - 1e-9), lambda y, g: g.random(len(y))),
]


def swaps(n_replicates=200):
    """Print how often p < 0.05 by swaps, by "auto" and by DeLong's variance, and seconds."""
    methods = "permutation", "auto", "delong"
    print("| samples | models | " + " | ".join(methods) + " |")
    print("|---|---|---|---|---|")
    for sizes in ((3, 40), (5, 50), (8, 8), (15, 15)):
        y = np.repeat([1, 0], sizes)
        for name, *models in SWAPPED:
            generator = np.random.default_rng(0)
            found = []
            for _ in range(n_replicates):
                a, b = (model(y, generator) for model in models)
                found.append([compare_mauc(y, a, b, method=m).p_value < 0.05 for m in methods])
            rates = " | ".join(f"{rate:.3f}" for rate in np.mean(found, axis=0))
            print(f"| {sizes[0]}, {sizes[1]} | {name} | {rates} |", flush=True)
    y = np.repeat([0, 1, 2], 20)
    a, b = normal(0.5, (1.2, 0.9))(y, 3, None, np.random.default_rng(0))
    compare_mauc(y, a, b, method="permutation")
    start = perf_counter()
    compare_mauc(y, a, b, method="permutation")
    print(f"\n60 rows of 3 classes, 16,384 swaps: {perf_counter() - start:.3f} s")


if __name__ == "__main__":
    is_swaps = sys.argv[1:2] == ["swaps"]
    (swaps if is_swaps else main)(*map(int, sys.argv[1 + is_swaps :]))
