"""Coverage and width of `mauc_interval`, simulated; writes docs/intervals.md.

Scores of known distributions are drawn many times; a 95 % interval should hold the true MAUC, and
that of a pair the true AUC of the pair, in 95 % of them. Usage::

    python benchmarks/coverage_intervals.py [replicates] [processes]
    python benchmarks/coverage_intervals.py groups [replicates] [processes]

The second line simulates patients of five rows alone, the last part of the page.
"""

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from zlib import crc32

import numpy as np
from scipy.special import ndtri

from mauc import pair_auc_scores
from mauc.metrics.interval import component_bounds, pair_components
from mauc.metrics.mauc import ClassPairs, score_columns

LEVEL = 0.95
TARGETS = (0.64, 0.8, 0.9, 0.97, 0.998)
DESIGNS = (
    *((size, size) for size in (5, 10, 20, 30, 50, 200)), (100, 10),
    *((size,) * 3 for size in (5, 10, 20, 30, 50, 200)),
    (5,) * 5, (20,) * 5, (100, 40, 20, 10, 5), (50,) * 10, (10,) * 20, (3,) * 30,
)  # fmt: skip
N_TRUTH = 300_000  # samples that give the true AUCs
N_PERCENTILE = 300  # replicates of the bootstrap, which takes longer
N_RESAMPLES = 200
DOUBTFUL = 0.94  # settings that cover less are measured again, with four times the replicates
# Patients per class, the shares of the variance that is theirs, and whether all rows of a patient
# have one class; if not, classes are drawn in these proportions.
PATIENTS = ((10, 10), (30, 30), (40, 6), (20, 20, 20), (60, 20, 6), (10,) * 5)
SHARES = (0.0, 0.3, 0.7, 0.95)
N_ROWS = 5
GROUPS_HEAD = "## Samples in groups"
OUTPUT = Path(__file__).resolve().parent.parent / "docs" / "intervals.md"


def _added(noise):
    """Return a model: the score of the true class is larger by a shift."""

    def draw(generator, codes, n_classes, shift):
        is_own = codes[:, np.newaxis] == np.arange(n_classes)
        return noise(generator, is_own) + shift * is_own

    return draw


def _probabilities(generator, codes, n_classes, shift):
    """Draw probabilities of the best classifier of classes at the corners of a simplex."""
    X = generator.normal(size=(len(codes), n_classes))
    X[np.arange(len(codes)), codes] += shift
    odds = np.exp(shift * (X - X.max(axis=1, keepdims=True)))
    return odds / odds.sum(axis=1, keepdims=True)


def _ordered(generator, codes, n_classes, shift):
    """Draw log densities of classes in a row: only neighbours are hard to tell apart."""
    x = generator.normal(size=len(codes)) + shift * codes
    return -((x[:, np.newaxis] - shift * np.arange(n_classes)) ** 2)


def _wrong_labels(generator, codes, n_classes, shift):
    """Draw normal scores, of which one in thirty-three is that of another class."""
    is_wrong = generator.random(len(codes)) < 0.03
    other = (codes + generator.integers(1, n_classes, len(codes))) % n_classes
    return MODELS["normal"](generator, np.where(is_wrong, other, codes), n_classes, shift)


MODELS = {
    "normal": _added(lambda generator, is_own: generator.normal(size=is_own.shape)),
    "unequal variances": _added(
        lambda generator, is_own: generator.normal(size=is_own.shape) * np.where(is_own, 3.0, 1.0)
    ),
    "heavy tails": _added(lambda generator, is_own: generator.standard_t(2, size=is_own.shape)),
    "ties": lambda *given: np.round(MODELS["normal"](*given)),
    "probabilities": _probabilities,
    "ordered": _ordered,
    "wrong labels": _wrong_labels,
}


def draw_scores(model, generator, sizes, shift):
    """Return labels and scores; two classes share one column of scores."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    scores = MODELS[model](generator, codes, len(sizes), shift)
    return codes, scores[:, 1] if len(sizes) == 2 else scores


@lru_cache
def find_truth(model, n_classes, target):
    """Return the shift at which MAUC is about `target`, and the true AUCs of the pairs there."""

    def pair_auc(shift, n_samples):
        sizes = (n_samples // n_classes,) * n_classes
        return pair_auc_scores(*draw_scores(model, np.random.default_rng(1), sizes, shift)).auc

    low, high = 0.0, 64.0
    for _ in range(16):
        middle = (low + high) / 2
        is_low = pair_auc(middle, N_TRUTH // 20).mean() < target
        low, high = (middle, high) if is_low else (low, middle)
    return high, pair_auc(high, N_TRUTH)


def delong(scored, sizes):
    """Return the bounds of `mauc_interval`, without the checks of its arguments."""
    codes = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    pairs = ClassPairs(codes, np.arange(len(sizes)))
    bounds, pair_bounds = [], []
    for scores in scored:
        ST = score_columns(scores, "scores")
        auc, components = np.mean(pairs.auc(ST), axis=0), pair_components(ST, pairs)
        found = component_bounds(components, codes, pairs.weights, auc, pairs.pair_weights, LEVEL)
        bounds.append(found[0])
        pair_bounds.append(found[1])
    return np.stack(bounds, axis=1), np.stack(pair_bounds, axis=1)


def percentile(scored, sizes, generator):
    """Return the bounds of the percentile bootstrap; resamples are products with pair matrices."""
    stops = np.cumsum(sizes)
    parts = [slice(stop - size, stop) for stop, size in zip(stops, sizes, strict=True)]
    first, second = np.triu_indices(len(sizes), 1)
    auc = np.empty((len(scored), N_RESAMPLES, len(first)))
    for place, scores in enumerate(scored):
        ST = score_columns(scores, "scores")
        drawn = [
            generator.multinomial(size, np.full(size, 1 / size), N_RESAMPLES) / size
            for size in sizes
        ]
        for pair, (i, j) in enumerate(zip(first, second, strict=True)):
            above = ST[i, parts[i], np.newaxis] - ST[i, parts[j]]
            below = ST[j, parts[j]] - ST[j, parts[i], np.newaxis]
            wins = (np.sign(above) + np.sign(below) + 2) / 4
            auc[place, :, pair] = ((drawn[i] @ wins) * drawn[j]).sum(axis=1)
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    return np.quantile(auc.mean(axis=2), tails, axis=1), np.quantile(auc, tails, axis=1)


def simulate(method, model, sizes, target, n_replicates, *, is_last=False):
    """Return coverage of MAUC, the least coverage among kinds of pairs, and the two mean widths."""
    shift, truth = find_truth(model, len(sizes), target)
    generator = np.random.default_rng(crc32(repr((model, sizes, target)).encode()))
    scored = [draw_scores(model, generator, sizes, shift)[1] for _ in range(n_replicates)]
    if method == "delong":
        (lower, upper), (pair_lower, pair_upper) = delong(scored, sizes)
    else:
        (lower, upper), (pair_lower, pair_upper) = percentile(scored, sizes, generator)
    is_covered = ((pair_lower <= truth) & (truth <= pair_upper)).mean(axis=0)
    # Pairs of the same sizes and distributions are one kind.
    first, second = np.triu_indices(len(sizes), 1)
    distance = second - first if model == "ordered" else np.zeros(len(first))
    kinds = list(zip(np.array(sizes)[first], np.array(sizes)[second], distance, strict=True))
    pair_coverage = min(
        np.mean([value for value, own in zip(is_covered, kinds, strict=True) if own == kind])
        for kind in set(kinds)
    )
    coverage = ((lower <= truth.mean()) & (truth.mean() <= upper)).mean()
    if method == "delong" and min(coverage, pair_coverage) < DOUBTFUL and not is_last:
        return simulate(method, model, sizes, target, 4 * n_replicates, is_last=True)
    return coverage, pair_coverage, (upper - lower).mean(), (pair_upper - pair_lower).mean()


def simulate_groups(sizes, target, share, is_mixed, n_replicates):
    """Return coverage of MAUC, least coverage of a pair, and coverage of MAUC without groups."""
    shift, n_classes, n_groups = np.sqrt(2) * ndtri(target), len(sizes), sum(sizes)
    generator = np.random.default_rng(crc32(repr((sizes, target, share, is_mixed)).encode()))
    groups, is_covered = np.repeat(np.arange(n_groups), N_ROWS), []
    for _ in range(n_replicates):
        codes = np.repeat(np.repeat(np.arange(n_classes), sizes), N_ROWS)
        codes = (generator.permutation(codes) if is_mixed else codes).astype(np.int32)
        own = generator.normal(size=(n_groups, n_classes))[groups]
        scores = np.sqrt(share) * own + np.sqrt(1 - share) * generator.normal(size=own.shape)
        scores[np.arange(len(codes)), codes] += shift
        ST = score_columns(scores[:, 1] if n_classes == 2 else scores, "scores")
        pairs = ClassPairs(codes, np.arange(n_classes))
        auc, components = np.mean(pairs.auc(ST), axis=0), pair_components(ST, pairs)
        given = (components, codes, pairs.weights, auc, pairs.pair_weights, LEVEL)
        bounds, pair_bounds = component_bounds(*given, groups=groups)
        limits = [bounds, *pair_bounds.T, component_bounds(*given)[0]]
        is_covered.append([low <= target <= high for low, high in limits])
    first, *others, last = np.mean(is_covered, axis=0)
    return first, min(others), last


def write_groups(n_replicates, n_processes):
    """Return the part of docs/intervals.md on patients of several rows."""
    targets = (0.64, 0.8, 0.97)
    jobs = [
        (sizes, target, share, is_mixed, n_replicates)
        for is_mixed in (False, True) for sizes in PATIENTS for share in SHARES
        for target in targets
    ]  # fmt: skip
    with ProcessPoolExecutor(n_processes) as pool:
        values = list(pool.map(simulate_groups, *zip(*jobs, strict=True), chunksize=4))
    found = dict(zip([job[:-1] for job in jobs], values, strict=True))
    table = "| patients per class | classes | " + " | ".join(f"{s:g}" for s in SHARES) + " |\n"
    table += "|---" * (2 + len(SHARES)) + "|\n"
    for is_mixed in (False, True):
        for sizes in PATIENTS:
            cells = []
            for share in SHARES:
                some = [found[sizes, target, share, is_mixed] for target in targets]
                cells.append(" / ".join(f"{min(v[i] for v in some):.3f}" for i in range(3)))
            name = "of rows" if is_mixed else "of patients"
            table += f"| {'/'.join(map(str, sizes))} | {name} | {' | '.join(cells)} |\n"
    least = [min(value[i] for value in values) for i in range(3)]
    error = 1.96 * np.sqrt(0.95 * 0.05 / n_replicates)
    return f"""{GROUPS_HEAD}

Written by `python benchmarks/coverage_intervals.py groups {n_replicates}`: patients of {N_ROWS}
rows, normal scores, of whose variance a share belongs to the patient; {n_replicates} replicates,
so that a coverage of 0.95 is known to {error:.3f}. Each cell is the least over a true MAUC of
{", ".join(f"{target:g}" for target in targets)}: MAUC and pairs with `groups=`, and MAUC without.
With groups coverage is at least {least[0]:.3f} (pairs {least[1]:.3f}), without them it falls to
{least[2]:.3f}.

{table}"""


def run_all(n_replicates, n_processes):
    """Return results by (method, model, sizes, target)."""
    jobs = []
    for model in MODELS:
        for target in TARGETS:
            for sizes in DESIGNS:
                # With one column of two classes they are the normal scores again.
                if len(sizes) > 2 or model not in ("probabilities", "ordered"):
                    jobs.append(("delong", model, sizes, target, n_replicates))
                if model == "normal":
                    jobs.append(("percentile", model, sizes, target, N_PERCENTILE))
    with ProcessPoolExecutor(n_processes) as pool:
        values = pool.map(simulate, *zip(*jobs, strict=True), chunksize=8)
        return {job[:-1]: value for job, value in zip(jobs, values, strict=True)}


def write_tables(results, n_replicates):
    """Return docs/intervals.md."""
    delong = {key[1:]: value for key, value in results.items() if key[0] == "delong"}
    percentile = {key[2:]: value for key, value in results.items() if key[0] == "percentile"}
    head = "| samples per class | " + " | ".join(f"{target:g}" for target in TARGETS) + " |\n"
    head += "|---" * (1 + len(TARGETS)) + "|\n"
    worst, before, widths = head, head, head
    for sizes in DESIGNS:
        is_long = len(sizes) > 5
        name = f"| {len(sizes)} x {sizes[0]} " if is_long else f"| {'/'.join(map(str, sizes))} "
        cells, old_cells, width_cells = [], [], []
        for target in TARGETS:
            found = [value for key, value in delong.items() if key[1:] == (sizes, target)]
            cells.append(" / ".join(f"{min(v[i] for v in found):.3f}" for i in (0, 1)))
            old, new = percentile[sizes, target], delong["normal", sizes, target]
            old_cells.append(f"{old[0]:.3f} / {old[1]:.3f}")
            width_cells.append(f"{new[2]:.3f} ({old[2]:.3f}) / {new[3]:.3f} ({old[3]:.3f})")
        worst += name + "| " + " | ".join(cells) + " |\n"
        before += name + "| " + " | ".join(old_cells) + " |\n"
        widths += name + "| " + " | ".join(width_cells) + " |\n"
    least = [min(value[i] for value in delong.values()) for i in (0, 1)]
    mean = [np.mean([value[i] for value in delong.values()]) for i in (0, 1)]
    error = 1.96 * np.sqrt(0.95 * 0.05 / n_replicates)
    return f"""# Coverage of the intervals of MAUC

Written by `python benchmarks/coverage_intervals.py {n_replicates}`: {len(delong)} settings,
{n_replicates} replicates each, so that a coverage of 0.95 is known to {error:.3f}; where it came
out below {DOUBTFUL:g}, four times as many. Score models: {", ".join(MODELS)}.
Two classes share one column of scores.

`mauc_interval(method="delong")`, the default, covers the true MAUC in at least {least[0]:.3f} of
the replicates of every setting ({mean[0]:.3f} on average), the true AUC of a pair in at least
{least[1]:.3f} ({mean[1]:.3f}), for a level of 0.95. Exact bounds are conservative: where the least
favourable scores are still covered, others are more often than 0.95, at the price of the widths
below. The percentile bootstrap is narrower and does not cover.

## Least coverage over the score models, MAUC / pairs, by true MAUC

{worst}
## The percentile bootstrap, normal scores, MAUC / pairs

{N_PERCENTILE} replicates of {N_RESAMPLES} resamples.

{before}
## Mean width, normal scores, MAUC / pairs (in brackets: percentile bootstrap)

{widths}"""


def main():
    """Simulate, write the tables and say what the least coverage is."""
    is_part = sys.argv[1:2] == ["groups"]
    numbers = [int(word) for word in sys.argv[1 + is_part :]]
    n_replicates, n_processes = (*numbers, *(1000, 2)[len(numbers) :])
    start = perf_counter()
    groups = write_groups(n_replicates, n_processes)
    if is_part:
        tables = OUTPUT.read_text(encoding="utf-8").partition(GROUPS_HEAD)[0].rstrip("\n")
        OUTPUT.write_text(f"{tables}\n\n{groups}", encoding="utf-8")
        print(f"{perf_counter() - start:.0f} s; wrote {OUTPUT}")
        return
    results = run_all(n_replicates, n_processes)
    OUTPUT.write_text(f"{write_tables(results, n_replicates)}\n{groups}", encoding="utf-8")
    delong = [(value, key[1:]) for key, value in results.items() if key[0] == "delong"]
    for place, what in enumerate(("MAUC", "pairs")):
        for value, key in sorted(delong, key=lambda item, place=place: item[0][place])[:5]:
            print(f"{what}: {value[place]:.4f} {key}")
    print(f"{perf_counter() - start:.0f} s; wrote {OUTPUT}")


if __name__ == "__main__":
    warnings.simplefilter("error")
    main()
