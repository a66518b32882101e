"""Coverage and width of `mauc_interval`, simulated; writes docs/intervals.md.

Scores of known distributions are drawn many times; a 95 % interval should hold the true MAUC, and
that of a pair the true AUC of the pair, in 95 % of them. Usage::

    python benchmarks/coverage_intervals.py [replicates] [processes]
    python benchmarks/coverage_intervals.py groups [replicates] [processes]

The second line simulates samples in groups alone, the last two parts of the page.
"""

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter
from zlib import crc32

import numpy as np
from scipy.special import ndtr, ndtri

from mauc import pair_auc_scores
from mauc.metrics.interval import component_bounds, pair_components
from mauc.metrics.mauc import ClassPairs, score_columns

LEVEL = 0.95
TARGETS = (0.64, 0.8, 0.9, 0.97, 0.998)
DESIGNS = (
    *((size, size) for size in (5, 10, 20, 30, 50, 200)),
    (100, 10),
    *((size,) * 3 for size in (5, 10, 20, 30, 50, 200)),
    (5,) * 5,
    (20,) * 5,
    (100, 40, 20, 10, 5),
    (50,) * 10,
    (10,) * 20,
    (3,) * 30,
)
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
N_AGAIN = 10  # times as many replicates of settings in groups that are doubtful
# Few groups: kinds of scores with a true MAUC, rows per class, and how many groups there are.
FEW_SCORES = (
    ("normal", 0.8),
    ("labels", 0.8),
    ("votes", 0.8),
    ("heavy tails", 0.8),
    ("normal", 0.97),
    ("labels", 0.97),
    ("normal", 0.998),
)
FEW_SIZES = ((20, 20), (40, 40, 40))
FEW_GROUPS = (5, 8, 12, 20)
FEW_SHARES = (0.0, 0.2, 0.5)
FEW_HEAD = "## Few groups"
NEAR_ONE = 0.97
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

    return _search_shift(pair_auc, target)


def _search_shift(pair_auc, target):
    """Return the shift at which AUCs of pairs have the mean `target`, and those of many rows."""
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


def write_patients(n_replicates, n_processes):
    """Return the part of docs/intervals.md on patients of several rows."""
    targets = (0.64, 0.8, 0.97)
    jobs = [
        (sizes, target, share, is_mixed, n_replicates)
        for is_mixed in (False, True)
        for sizes in PATIENTS
        for share in SHARES
        for target in targets
    ]
    with ProcessPoolExecutor(n_processes) as pool:
        values = list(
            pool.map(
                partial(simulate_again, simulate_groups), *zip(*jobs, strict=True), chunksize=4
            )
        )
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
so that a coverage of 0.95 is known to {error:.3f}, and {N_AGAIN} times as many where it came out
below {DOUBTFUL:g}. Each cell is the least over a true MAUC of
{", ".join(f"{target:g}" for target in targets)}: MAUC and pairs with `groups=`, and MAUC without.
With groups coverage is at least {least[0]:.3f} (pairs {least[1]:.3f}), without them it falls to
{least[2]:.3f}.

{table}"""


def draw_groups(sizes, n_groups, is_equal, is_mixed, generator):
    """Return the group of every row: each has rows of one class, or of any."""

    def assign(n_rows, n_own):
        if is_equal:
            return np.arange(n_rows) % n_own
        ratio = 0.6 if n_groups < 10 else 0.8  # of the expected size of a group to the one before
        shares = ratio ** np.arange(n_own)
        more = generator.choice(n_own, n_rows - n_own, p=shares / shares.sum())
        return np.concatenate((np.arange(n_own), more))

    if is_mixed:
        return generator.permutation(assign(sum(sizes), n_groups))
    n_classes, groups = len(sizes), []
    for place, size in enumerate(sizes):
        n_before = sum(map(len, map(np.unique, groups)))
        groups.append(n_before + assign(size, (n_groups + n_classes - 1 - place) // n_classes))
    return np.concatenate(groups)


def draw_grouped(kind, generator, codes, groups, n_classes, share, shift):
    """Return scores, of whose noise a share is that of the group."""
    draw = generator.standard_normal
    if kind == "heavy tails":
        draw = partial(generator.standard_t, 2)
    own = draw(size=(groups.max() + 1, n_classes))[groups]
    scores = np.sqrt(share) * own + np.sqrt(1 - share) * draw(size=own.shape)
    scores[np.arange(len(codes)), codes] += shift
    if n_classes == 2:
        scores = scores[:, 1]
    if kind == "labels":
        if n_classes == 2:
            return (scores > shift / 2).astype(float)
        return np.eye(n_classes)[scores.argmax(axis=1)]
    if kind == "votes":
        return generator.binomial(5, ndtr(scores - shift / 2)) / 5
    return scores


@lru_cache
def find_grouped_truth(kind, n_classes, share, target):
    """Return the shift at which MAUC of rows of different groups is `target`, and their AUCs."""

    def pair_auc(shift, n_samples):
        codes = np.repeat(np.arange(n_classes), n_samples // n_classes)
        given = np.random.default_rng(1), codes, np.arange(len(codes)), n_classes, share, shift
        return pair_auc_scores(codes, draw_grouped(kind, *given)).auc

    return _search_shift(pair_auc, target)


def simulate_few(setting, scores, n_replicates):
    """Return coverage of MAUC and of its pairs, and the mean width over that of the spread."""
    sizes, n_groups, is_equal, is_mixed, share = setting  # n_groups is None without groups
    shift, truth = find_grouped_truth(scores[0], len(sizes), share, scores[1])
    generator = np.random.default_rng(crc32(repr((setting, scores)).encode()))
    codes = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    pairs, values, found, is_pair_covered = ClassPairs(codes, np.arange(len(sizes))), [], [], []
    for _ in range(n_replicates):
        groups = np.arange(len(codes))
        if n_groups is not None:
            groups = draw_groups(sizes, n_groups, is_equal, is_mixed, generator)
        drawn = draw_grouped(scores[0], generator, codes, groups, len(sizes), share, shift)
        ST = score_columns(drawn, "scores")
        auc, components = np.mean(pairs.auc(ST), axis=0), pair_components(ST, pairs)
        given = (components, codes, pairs.weights, auc, pairs.pair_weights, LEVEL)
        bounds, pair_bounds = component_bounds(*given, groups=None if n_groups is None else groups)
        values.append(auc.mean())
        found.append(bounds)
        is_pair_covered.append((pair_bounds[0] <= truth) & (truth <= pair_bounds[1]))
    lower, upper = np.transpose(found)
    coverage = np.mean((lower <= truth.mean()) & (truth.mean() <= upper))
    width = np.mean(upper - lower) / (2 * ndtri((1 + LEVEL) / 2) * np.std(values))
    return coverage, np.mean(is_pair_covered), width


def simulate_again(simulate, *setting):
    """Simulate, with more replicates, the last of the setting, where the coverage is doubtful."""
    found = simulate(*setting)
    if min(found[:2]) < DOUBTFUL:
        return simulate(*setting[:-1], N_AGAIN * setting[-1])
    return found


def write_few(n_replicates, n_processes):
    """Return the part of docs/intervals.md on few groups."""
    settings = [(sizes, None, True, True, 0.0) for sizes in FEW_SIZES]
    settings += [
        (sizes, n_groups, is_equal, is_mixed, share)
        for n_groups in FEW_GROUPS
        for is_mixed in (True, False)
        for is_equal in (True, False)
        for sizes in FEW_SIZES
        for share in FEW_SHARES
    ]
    jobs = [(setting, scores, n_replicates) for setting in settings for scores in FEW_SCORES]
    with ProcessPoolExecutor(n_processes) as pool:
        values = list(
            pool.map(partial(simulate_again, simulate_few), *zip(*jobs, strict=True), chunksize=16)
        )
    found = {job[:2]: value for job, value in zip(jobs, values, strict=True)}
    moderate = [scores for scores in FEW_SCORES if scores[1] == FEW_SCORES[0][1]]
    near = [scores for scores in FEW_SCORES if scores[1] == NEAR_ONE]

    def show(setting):
        some = [found[setting, scores] for scores in FEW_SCORES]
        least = [min(value[i] for value in some) for i in (0, 1)]
        ratios = [np.mean([found[setting, one][2] for one in part]) for part in (moderate, near)]
        if ratios[0] >= 2.0:
            wide.append(f"{describe(setting)} ({ratios[0]:.1f})")
        return f"{least[0]:.3f} / {least[1]:.3f} / {ratios[0]:.2f} / {ratios[1]:.1f}"

    def describe(setting):
        sizes, n_groups, is_equal, is_mixed, share = setting
        kind = f"{'equal' if is_equal else 'unequal'}, {'any' if is_mixed else 'one'} class"
        return f"{n_groups} groups, {kind}, {len(sizes)} x {sizes[0]}, share {share:g}"

    wide = []

    table = "| groups | sizes | rows of a group | samples | "
    table += " | ".join(f"{share:g}" for share in FEW_SHARES) + " |\n"
    table += "|---" * (4 + len(FEW_SHARES)) + "|\n"
    for n_groups in FEW_GROUPS:
        for is_mixed in (True, False):
            for is_equal in (True, False):
                for sizes in FEW_SIZES:
                    part = (sizes, n_groups, is_equal, is_mixed)
                    cells = [show((*part, share)) for share in FEW_SHARES]
                    table += f"| {n_groups} | {'equal' if is_equal else 'unequal'} "
                    table += f"| {'any class' if is_mixed else 'one class'} "
                    table += f"| {len(sizes)} x {sizes[0]} | {' | '.join(cells)} |\n"
    least = [min(value[i] for value in values) for i in (0, 1)]
    names = ", ".join(f"{kind} {target:g}" for kind, target in FEW_SCORES)
    alone = "; ".join(f"{len(s[0])} x {s[0][0]}: {show(s)}" for s in settings[: len(FEW_SIZES)])
    return f"""{FEW_HEAD}

Written by the same command: {len(jobs)} settings, {n_replicates} replicates each,
{N_AGAIN} times as many where a coverage came out below {DOUBTFUL:g}. Sizes are equal, or each
is expected to be 0.6 (12 and 20 groups: 0.8) of the one before. The columns are the share of the
noise that belongs to the group. Each cell has the least coverage of MAUC and of the pairs over
these scores (kind, true MAUC): {names}; then the mean width over 2 x 1.96
standard deviations of MAUC over the replicates, at {FEW_SCORES[0][1]:g} and at {NEAR_ONE:g}.
Coverage is at least {least[0]:.3f} (pairs {least[1]:.3f}). Without groups, rows being
independent, the same numbers are {alone}.

The ratio at {FEW_SCORES[0][1]:g} is below 2 in all settings but {len(wide)}: {"; ".join(wide)}.
A class in a single group has no variance between groups to estimate: the largest possible is taken.
That is so of 5 groups of one class each and three classes.

{table}"""


def write_groups(n_replicates, n_processes):
    """Return the parts of docs/intervals.md on samples in groups."""
    patients = write_patients(n_replicates, n_processes)
    return f"{patients}\n{write_few(n_replicates, n_processes)}"


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
