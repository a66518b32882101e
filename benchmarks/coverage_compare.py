"""Error rate and coverage of `compare_mauc`, simulated: the tables of docs/answers/compare.md.

    python benchmarks/coverage_compare.py [N_REPLICATES]

Two models score the same samples: the score of the true class is larger by a shift, and a share rho
of the variance of the noise is common to both. With equal shifts the MAUCs are equal, and a test at
5 % should reject in 5 % of the samples; with others the interval should hold the true difference,
that of a large sample, in 95 %. The same true difference is the margin of the one-sided test, which
then should reject in 5 %, too. In groups of five rows a share of the noise is that of the group.
"""

import sys
import warnings
from functools import cache

import numpy as np

from mauc import compare_mauc, mauc_score

DESIGNS = {
    "2 x 50": (50, 50), "3 x 30": (30,) * 3, "3 x 200": (200,) * 3, "200, 100, 8": (200, 100, 8),
    "100, 40, 20, 10": (100, 40, 20, 10), "8 x 25": (25,) * 8,
}  # fmt: skip
GROUPED = {"3 x 30 groups": (150,) * 3, "60, 30, 8 groups": (300, 150, 40)}
COMMON = (0.0, 0.5, 0.9)
SHIFTS = {"equal": (1.2, 1.2), "unequal": (1.2, 0.9), "near 1": (3.0, 2.6)}
N_ROWS, OF_GROUP = 5, 0.5
N_TRUTH = 200_000


def draw(sizes, common, shifts, is_grouped, is_mixed, generator):
    """Return classes, two score matrices and groups."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    groups = np.arange(len(y)) // N_ROWS
    if is_mixed:  # groups with rows of several classes
        groups = generator.permutation(groups)

    def noise():
        own = generator.normal(size=(len(y), len(sizes)))
        if not is_grouped:
            return own
        shared = generator.normal(size=(groups.max() + 1, len(sizes)))[groups]
        return np.sqrt(OF_GROUP) * shared + np.sqrt(1.0 - OF_GROUP) * own

    is_own, both = y[:, np.newaxis] == np.arange(len(sizes)), noise()
    scores = [
        shift * is_own + np.sqrt(common) * both + np.sqrt(1.0 - common) * noise()
        for shift in shifts
    ]
    return y, *scores, groups


@cache
def true_difference(sizes, shifts):
    """Return the difference of the MAUCs of a large sample; sizes do not matter, nor groups."""
    if shifts[0] == shifts[1]:
        return 0.0
    large = (N_TRUTH // len(sizes),) * len(sizes)
    generator = np.random.default_rng(0)
    y, a, b, _ = draw(large, 0.0, shifts, False, False, generator)
    return mauc_score(y, a) - mauc_score(y, b)


def simulate(sizes, common, shifts, is_grouped, is_mixed, n_replicates, seed):
    """Return the rates of rejection, of one-sided rejection at the truth, and of coverage."""
    truth, generator = true_difference(sizes, shifts), np.random.default_rng(seed)
    found = []
    for _ in range(n_replicates):
        y, a, b, groups = draw(sizes, common, shifts, is_grouped, is_mixed, generator)
        options = {"groups": groups} if is_grouped else {}
        two = compare_mauc(y, a, b, **options)
        # b is worse by the truth: that much is the margin
        one = compare_mauc(y, b, a, alternative="noninferior", margin=truth, **options)
        found.append((two.p_value < 0.05, one.p_value < 0.05, two.lower <= truth <= two.upper))
    return np.mean(found, axis=0)


def main(n_replicates=1000):
    """Print a table of all settings, and the extremes."""
    warnings.simplefilter("error")
    print("| samples | noise in common | MAUCs | two-sided error | one-sided error | coverage |")
    print("|---|---|---|---|---|---|")
    errors, covered = [], []
    designs = [(name, sizes, False, False) for name, sizes in DESIGNS.items()]
    for name, sizes in GROUPED.items():
        designs += [(f"{name} of 5", sizes, True, False), (f"{name}, mixed", sizes, True, True)]
    for at, (name, sizes, is_grouped, is_mixed) in enumerate(designs):
        for common in COMMON:
            for kind, shifts in SHIFTS.items():
                options = (is_grouped, is_mixed, n_replicates, at)
                two, one, coverage = simulate(sizes, common, shifts, *options)
                is_null = shifts[0] == shifts[1]
                errors += [one, *([two] if is_null else [])]
                covered.append(coverage)
                shown = f"{two:.3f}" if is_null else ""
                print(
                    f"| {name} | {common} | {kind} | {shown} | {one:.3f} | {coverage:.3f} |",
                    flush=True,
                )
    print(
        f"\nerror rates {min(errors):.3f} to {max(errors):.3f}, least coverage {min(covered):.3f}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
