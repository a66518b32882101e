"""What a careless FSDD does on MNIST: which slip gives the values that the paper has.

``python -m reproduction.research.fsdd_mnist`` prints how many pixels are constant, the slips in the
score and the sorts that NaN breaks on one fold with Naive Bayes, and the nearest sorts on all ten
folds: all of them with Naive Bayes, Java's with 1NN and C4.5 too. ``--repeats`` and
``--classifiers`` change the latter (``svm`` tunes C and gamma for every size as
reproduction/plans/svm.toml does), and ``--java`` has the first fold sorted by Java itself too, old
and new, which needs ``java``.

A comparator tells of scores a and b whether a ranks before b (-1), after (1) or neither (0). What
it tells when one is NaN, for a constant pixel is 0 / 0, depends on how it is written:

- 0: ``a > b ? -1 : a < b ? 1 : 0``
- -1: ``a < b ? 1 : -1``
- 1: ``a > b ? -1 : 1``
- none: the sort itself compares with < and > or <= and >=, which are all false
"""

import argparse
import sys
from functools import partial

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split

from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.evaluation import FoldEvaluator
from mauc.lab import C45, tune_rbf_svm
from reproduction.common import load_npz
from reproduction.published import load_published
from reproduction.research import sorts

SIZES = list(range(10, 101, 10))
JAVA_6 = "merge sort, insertion below 7 (Java up to 6)"
SORTS = {
    JAVA_6: partial(sorts.merge_down, small=7),
    "merge sort (C's qsort in glibc)": sorts.merge_down,
    "merge sort, longer half left": partial(sorts.merge_down, bigger="left"),
    "merge sort, right one first if equal": partial(sorts.merge_down, takes_equal="right"),
    "merge sort, bottom up": sorts.merge_up,
    "Timsort (Python)": sorts.timsort,
    "insertion or bubble sort": sorts.insertion,
    "insertion, place sought from the front": sorts.insertion_from_front,
    "insertion, place sought by halving": sorts.binary_insertion,
    "selection sort": sorts.selection,
    "Shell sort": sorts.shell,
    "heap sort": sorts.heap,
    "priority queue (Java)": sorts.priority_queue,
    "binary search tree": sorts.search_tree,
    "quicksort, pivot in the middle (Hoare)": sorts.quick_middle,
    "quicksort, pivot last (Lomuto)": sorts.quick_last,
    "quicksort, pivot first": sorts.quick_first,
    "quicksort of Kernighan and Ritchie": sorts.quick_kernighan,
    "quicksort, median of three": sorts.quick_median_of_three,
    "introsort (GNU's std::sort)": sorts.introsort,
    "qsort of Microsoft": sorts.quick_microsoft,
}
FINALISTS = list(SORTS)[:4]
ANSWERS = {"0": 0, "-1": -1, "1": 1, "none": float("nan")}
CLASSIFIERS = {"nb": NormalNaiveBayes(), "1nn": NearestNeighbor(), "c45": C45()}
N_TUNED = 2000  # rows on which the SVM is tuned
MAX_COMPARISONS = 1_000_000  # some sorts never end on a comparator that is no order


class Endless(Exception):
    """A sort made more comparisons than any would on an order."""


def comparator(scores, answer):
    """Return the comparator of item numbers for descending scores."""
    scores, n_calls = scores.tolist(), 0

    def compare(i, j):
        nonlocal n_calls
        n_calls += 1
        if n_calls > MAX_COMPARISONS:
            raise Endless
        a, b = scores[i], scores[j]
        return -1 if a > b else 1 if a < b else 0 if a == b else answer

    return compare


def rank(scores, sort, answer, is_reversed=False):
    """Return pixels by descending score; reversed: sorted by ascending score, then read backwards.

    None if the sort does not end or loses pixels.
    """
    try:
        order = sort(comparator(-scores if is_reversed else scores, answer), len(scores))
    except (Endless, IndexError, RecursionError):
        return None
    if sorted(order) != list(range(len(scores))):
        return None
    return np.array(order[::-1] if is_reversed else order)


def spreads(X, y, ddof=1):
    """Return the variance of the class means, that within classes and that of all, per pixel."""
    centre, between, within = X.mean(axis=0), 0.0, 0.0
    for label in np.unique(y):
        part = X[y == label]
        share = len(part) / len(y)
        between = between + share * (part.mean(axis=0) - centre) ** 2
        within = within + share * part.var(axis=0, ddof=ddof)
    return between, within, X.var(axis=0, ddof=ddof)


def score_slips(X, y):
    """Yield name and scores of FSDD as the paper defines it and with a slip each."""
    between, within, total = spreads(X, y)
    scores = (between - 2 * within) / total
    yield "as in the paper", scores
    low = spreads(X, y, ddof=0)
    yield "population variances", (low[0] - 2 * low[1]) / low[2]
    scaled = spreads(X / 255, y)
    yield "pixels scaled to 0..1", (scaled[0] - 2 * scaled[1]) / scaled[2]
    single = spreads(X.astype(np.float32), y)
    yield "single precision", (single[0] - 2 * single[1]) / single[2]
    # Squares less squared mean; the same sums for class k and for all.
    parts = [X[y == label] for label in np.unique(y)]
    inner = sum(
        len(part) / len(y) * ((part**2).mean(axis=0) - part.mean(axis=0) ** 2) for part in parts
    )
    yield (
        "variances as mean square less squared mean",
        (between - 2 * inner) / ((X**2).mean(axis=0) - X.mean(axis=0) ** 2),
    )
    yield "1e-10 added to the denominator", (between - 2 * within) / (total + 1e-10)
    yield "not divided by the variance", between - 2 * within
    yield "divided by the spread within", between / within
    yield "sign lost: worst first", -scores
    with np.errstate(invalid="ignore"):
        yield "scores cut to integers", np.trunc(scores)
    yield "beta = 1", (between - within) / total
    yield (
        "spread within not weighted by class size",
        (between - 2 * sum(part.var(axis=0, ddof=1) for part in parts)) / total,
    )
    bytes_ = X.astype(np.uint8)
    square = (bytes_ * bytes_).astype(float)  # overflows
    yield (
        "squares of bytes overflow",
        (between - 2 * within) / (square.mean(axis=0) - X.mean(axis=0) ** 2),
    )


def published_curve(classifier):
    """Return the paper's MAUC of FSDD on MNIST by size."""
    found = load_published().set_index(["dataset", "selector", "classifier", "size"])["mauc"]
    return found["mnist", "fsdd", classifier][SIZES].to_numpy()


def print_row(name, n_leading, curve, target):
    """Print a row of a table in Markdown."""
    values = " ".join(f"{value:.3f}" for value in curve)
    print(f"| {name} | {n_leading} | {np.abs(curve - target).mean():.4f} | {values} |", flush=True)


def print_head(title):
    """Print the head of a table."""
    print(f"\n{title}\n\n| variant | constant pixels first | mean abs. difference | 10..100 |")
    print("|---|---|---|---|")


def n_constant_first(ranking, is_constant):
    """Return how many constant pixels stand before the first that varies."""
    return int(np.argmin(is_constant[ranking]))


def print_constants(X, y, folds):
    """Print how many pixels are constant, in all rows and in the training parts."""
    varies = np.ptp(X, axis=0) > 0
    counts = [int((np.ptp(X[train], axis=0) == 0).sum()) for train, _ in folds]
    extra = [count - int((~varies).sum()) for count in counts]
    print(f"constant in all {len(y)} rows: {(~varies).sum()} of {X.shape[1]} pixels")
    print(f"before the first that varies: {np.argmax(varies)} pixels, ", end="")
    print(f"after the last: {np.argmax(varies[::-1])}")
    quarter = X.shape[1] // 4
    print(f"heads of the four quarters constant: {(~varies[::quarter]).tolist()}")
    print(f"constant in the training parts: {min(counts)} to {max(counts)} pixels, ", end="")
    print(f"{min(extra)} to {max(extra)} of them not in all rows")


def screen(X, y, fold, with_java):
    """Print the tables of slips in the score and of sorts, on one fold with Naive Bayes."""
    train, test = fold
    X_train, y_train = X[train], y[train]
    evaluator = FoldEvaluator(X_train, y_train, X[test], y[test])
    is_constant = np.ptp(X_train, axis=0) == 0
    target = published_curve("nb")

    def measure(ranking):
        curve = evaluator.evaluate(ranking[:100], SIZES, CLASSIFIERS["nb"])
        return n_constant_first(ranking, is_constant), curve

    slips = dict(score_slips(X_train, y_train))
    print_head("Slips in the score, NaN sorted last, first, or by Java up to 6 as equal to all")
    print_row("published", "", target, target)
    for name, scores in slips.items():
        last = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")
        first = np.argsort(np.where(np.isnan(scores), -np.inf, -scores), kind="stable")
        print_row(f"{name}; last", *measure(last), target)
        if np.isnan(scores).any():
            print_row(f"{name}; first", *measure(first), target)
            print_row(f"{name}; Java", *measure(rank(scores, SORTS[JAVA_6], 0)), target)

    print_head("Sorts that NaN breaks; of each sort the nearest of its eight forms")
    print_row("published", "", target, target)
    scores, rows = slips["as in the paper"], []
    for name, sort in SORTS.items():
        found = []
        for told, answer in ANSWERS.items():
            for is_reversed in (False, True):
                ranking = rank(scores, sort, answer, is_reversed)
                if ranking is not None:
                    form = f"NaN: {told}" + " reversed" * is_reversed
                    found.append((form, *measure(ranking)))
        _, n_leading, curve = min(found, key=lambda row: np.abs(row[2] - target).mean())
        alike = ", ".join(form for form, _, other in found if np.array_equal(other, curve))
        rows.append((f"{name}; {alike}", n_leading, curve))
    if with_java:
        ranking = sorts.java_order(scores, is_legacy=False)
        print(f"| Java on the path | {'refuses' if ranking is None else 'sorts'} | | |")
        rows += [] if ranking is None else [("Java on the path", *measure(ranking))]
    for row in sorted(rows, key=lambda row: np.abs(row[2] - target).mean()):
        print_row(*row, target)
    return scores


def tune_svms(X, y, ranking):
    """Return an SVM for every size, tuned on a stratified sample of training rows."""
    X, _, y, _ = train_test_split(X, y, train_size=N_TUNED, stratify=y, random_state=0)
    return {
        size: tune_rbf_svm(X[:, ranking[:size]], y, search="coarse_to_fine").classifier()
        for size in SIZES
    }


def confirm(X, y, n_repeats, classifiers):
    """Print the nearest sorts on many folds, with the first classifier, Java's with all."""
    curves, leading, svms = {}, {}, None
    for seed in range(n_repeats):
        for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(X, y):
            # As WEKA does. Many samples are equally near in a few pixels, and 1NN takes the first;
            # in the file the tidier writers come first.
            train = np.random.default_rng(seed).permutation(train)
            between, within, total = spreads(X[train], y[train])
            scores = (between - 2 * within) / total
            evaluator = FoldEvaluator(X[train], y[train], X[test], y[test])
            for name in FINALISTS:
                answer = -1 if "right one first" in name else 0
                ranking = rank(scores, SORTS[name], answer)
                leading.setdefault(name, []).append(n_constant_first(ranking, total == 0))
                for classifier in classifiers if name == JAVA_6 else classifiers[:1]:
                    if classifier == "svm":
                        svms = svms or tune_svms(X[train], y[train], ranking)
                        curve = [
                            evaluator.evaluate(ranking[:100], [size], svms[size])[0]
                            for size in SIZES
                        ]
                    else:
                        curve = evaluator.evaluate(ranking[:100], SIZES, CLASSIFIERS[classifier])
                    curves.setdefault((classifier, name), []).append(curve)
    print_head(f"The nearest, {n_repeats} times tenfold")
    for classifier in classifiers:
        target = published_curve(classifier)
        print_row(f"{classifier}: published", "", target, target)
        for (of, name), found in curves.items():
            if of == classifier:
                span = f"{min(leading[name])} to {max(leading[name])}"
                print_row(f"{classifier}: {name}", span, np.mean(found, axis=0), target)


def main():
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1, help="times tenfold of the last table")
    parser.add_argument("--java", action="store_true", help="sort by Java itself too")
    parser.add_argument(
        "--classifiers", nargs="+", choices=[*CLASSIFIERS, "svm"], default=list(CLASSIFIERS)
    )
    options = parser.parse_args()
    sys.setrecursionlimit(10_000)
    np.seterr(divide="ignore", invalid="ignore")
    X, y = load_npz("mnist", np.float64)
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    print_constants(X, y, folds)
    scores = screen(X, y, folds[0], options.java)
    ranking = rank(scores, SORTS[JAVA_6], 0)
    quarter = X.shape[1] // 4
    kept = np.array_equal(np.sort(ranking[:quarter]), np.arange(quarter))
    print(f"\nJava's first {quarter} pixels are the first {quarter} of the image: {kept}")
    if options.java:
        is_same = np.array_equal(sorts.java_order(scores, is_legacy=True), ranking)
        print(f"Java's own merge sort gives the same ranking as the one here: {is_same}")
    confirm(X, y, options.repeats, options.classifiers)


if __name__ == "__main__":
    main()
