"""How often `diagnose` is right: docs/answers/doctor.md.

    MAUC_DATA=/path/to/npz/files python benchmarks/doctor.py faults [--all] [--seed N] [--only TEXT]
    python benchmarks/doctor.py clean [--tables N] [--only SHAPE] [--ignore CODE]
    python benchmarks/doctor.py new [--only TEXT]
    MAUC_DATA=/path/to/npz/files python benchmarks/doctor.py real

faults: every fault goes into every data set, one at a time: those of scikit-learn and those in the
folder MAUC_DATA. A set is thinned to 800 rows, 40 columns and 8 classes, and made sound as far as a
look at its columns and rows can: without columns of one value in 97 % of the rows, columns and rows
that repeat others, and classes of fewer than 30 rows. A diagnosis is right if its kind is that of
the fault and it names the class, the pair or a column that the fault is in. Two classes cannot be
merged. `--all` prints every answer that is wrong.

clean: tables without a fault, of six shapes (t with 2 degrees of freedom, log-normal, binary,
counts, mixed, normal), 20 of each, with 2 to 6 classes, every second one with a rare class of 15 to
34 rows. Printed is in how many tables a kind is found.

new: faults that simulated tables alone have: a nominal column that marks a class, missing values by
class, dates, -999, an exclusive or, target means, near copies, repeated subjects, identifiers, a
wrong unit. Printed is in how many of 5 tables the kind is found.

real: all findings of high and medium severity in the tables of MAUC_DATA as they are, those of
MAUC_DATA/tables among them.
"""

import argparse
import os
import re
import time
import warnings
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from threadpoolctl import threadpool_limits

from mauc import diagnose

BUNDLED = "wine", "iris", "breast_cancer", "digits"
MAX_ROWS, MAX_COLUMNS, MAX_CLASSES, MIN_CLASS, MAX_SAME = 800, 40, 8, 30, 0.97


def data_sets():
    """Yield name, X and y of the sets that are left with two classes or more."""
    for name in BUNDLED:
        yield name, *prepared(*getattr(datasets, f"load_{name}")(return_X_y=True))
    folder = Path(os.environ.get("MAUC_DATA", "missing"))
    for path in sorted([*folder.glob("*.npz"), *folder.glob("more/*.npz")]):
        with np.load(path, allow_pickle=True) as data:
            X, y = prepared(data["X"], data["y"])
        if len(np.unique(y)) > 1:
            yield path.stem, X, y


def prepared(X, y):
    """Return a thinned table without the faults that can be seen in its columns and rows."""
    generator = np.random.default_rng(0)
    X, y = np.asarray(X, np.float64), np.unique(y, return_inverse=True)[1]
    rows = np.sort(np.unique(X, axis=0, return_index=True)[1])
    kept = generator.permutation(np.flatnonzero(np.bincount(y[rows]) >= MIN_CLASS))[:MAX_CLASSES]
    rows = rows[np.isin(y[rows], kept)]
    rows = np.sort(generator.permutation(rows)[:MAX_ROWS])
    rows = rows[np.bincount(y[rows])[y[rows]] >= MIN_CLASS]
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    if not len(rows):
        return X, y
    varied = [max(np.unique(x, return_counts=True)[1]) < MAX_SAME * len(x) for x in X.T]
    X = X[:, varied]
    ranks = [tuple(np.unique(x, return_inverse=True)[1]) for x in X.T]
    own = np.sort([*{rank: j for j, rank in enumerate(ranks)}.values()])
    columns = np.sort(generator.permutation(own)[:MAX_COLUMNS])
    return X[:, columns], y


# ---- faults: (X, y, generator) -> (X, y, scores, groups, kind, is it named)


def two_of(y, generator):
    return generator.permutation(np.unique(y))[:2]


def some_of(y, code, share, generator):
    rows = np.flatnonzero(y == code)
    return generator.permutation(rows)[: max(round(share * len(rows)), 2)]


def names(codes):
    return lambda found: set(codes) <= set(found.classes)


def has(*columns):
    return lambda found: bool({f"x{j}" for j in columns} & set(found.features))


def with_column(X, *columns):
    return np.column_stack([X, *columns])


def exchanged(X, y, generator):
    a, b = two_of(y, generator)
    is_pair = (y == a) | (y == b)
    y = y.copy()
    y[is_pair] = generator.permutation(y[is_pair])
    return X, y, None, "inseparable pair", names((a, b))


def split_class(X, y, generator):
    a, new = generator.choice(y), y.max() + 1
    y = y.copy()
    y[some_of(y, a, 0.5, generator)] = new
    return X, y, None, "inseparable pair", names((a, new))


def model_scores(X, y):
    forest = RandomForestClassifier(100, random_state=0)
    return cross_val_predict(forest, X, y, method="predict_proba", cv=5)


def missed(X, y, generator):
    scores, (a, b) = model_scores(X, y), two_of(y, generator)
    rows = np.flatnonzero((y == a) | (y == b))
    scores[np.ix_(rows, (a, b))] = scores[np.ix_(generator.permutation(rows), (a, b))]
    return X, y, scores, "missed pair", names((a, b))


def few_rows(X, y, generator):
    a, _ = two_of(y, generator)
    n_kept = generator.integers(3, 9)
    kept = np.sort(
        np.r_[np.flatnonzero(y != a), generator.permutation(np.flatnonzero(y == a))[:n_kept]]
    )
    return X[kept], y[kept], None, "few rows", lambda found: found.classes[0] == a


def noise_of_class(X, y, generator):
    (a, b), share = two_of(y, generator), generator.uniform(0.08, 0.2)
    changed = y.copy()
    changed[some_of(y, a, share, generator)] = b
    return X, changed, None, "wrong labels", names((a, b))


def noise_of_all(X, y, generator):
    share, y = generator.uniform(0.05, 0.2), y.copy()
    rows = generator.permutation(len(y))[: round(share * len(y))]
    y[rows] = (y[rows] + generator.integers(1, y.max() + 1, len(rows))) % (y.max() + 1)
    return X, y, None, "wrong labels", lambda found: True


def merged(X, y, generator):
    a, b = two_of(y, generator)
    return X, np.where(y == b, a, y), None, "merged class", names((a,))


def label_code(X, y, generator):
    codes = generator.permutation(y.max() + 1) * 1.5
    return with_column(X, codes[y]), y, None, "leak", has(X.shape[1])


def label_and_noise(X, y, generator):
    column = y + generator.choice([1e-6, 0.01, 0.1]) * generator.normal(size=len(y))
    return with_column(X, np.exp(column)), y, None, "leak", has(X.shape[1])


def one_hot(X, y, generator):
    columns = np.eye(y.max() + 1)[y].T
    last = range(X.shape[1], X.shape[1] + len(columns))
    return with_column(X, *columns), y, None, "leak", has(*last)


def group_of_class(X, y, generator):
    """Patients of 3 to 6 rows each, each of one class, in any order."""
    size, groups, start = generator.integers(3, 7), np.empty(len(y)), 0
    for code in np.unique(y):
        rows = generator.permutation(np.flatnonzero(y == code))
        groups[rows] = start + np.arange(len(rows)) // size
        start = groups.max() + 1
    number = generator.permutation(int(start))
    return with_column(X, number[groups.astype(int)]), y, None, "group column", has(X.shape[1])


def group_at_random(X, y, generator):
    """Patients of 5 rows each, of any class: 0 0 0 0 0 1 1 1 1 1 ..."""
    rows = generator.permutation(len(y))
    groups = np.arange(len(y)) // 5
    return with_column(X[rows], groups), y[rows], None, "group column", has(X.shape[1])


def same_column(X, y, generator):
    x = X[:, generator.integers(X.shape[1])]
    x = [x, 3.7 * x + 2, -x][generator.integers(3)]
    return with_column(X, x), y, None, "duplicated columns", has(X.shape[1])


def constant(X, y, generator):
    column = np.full(len(y), 3.0)
    changed = generator.permutation(len(y))[: round(generator.choice([0, 0.005, 0.01]) * len(y))]
    column[changed] = generator.normal(size=len(changed))
    return with_column(X, column), y, None, "constant columns", has(X.shape[1])


def copied_rows(X, y, generator):
    rows = generator.permutation(len(y))[: round(generator.uniform(0.1, 0.3) * len(y))]
    rows = np.r_[np.arange(len(y)), rows]
    return X[rows], y[rows], None, "copied rows", lambda found: True


def unchanged(X, y, generator):
    return X, y, None, "", lambda found: False


def unchanged_model(X, y, generator):
    return X, y, model_scores(X, y), "", lambda found: False


FAULTS = {
    "labels of a pair exchanged at random": exchanged,
    "class split in two at random": split_class,
    "model with the scores of a pair shuffled": missed,
    "class thinned to 3 to 8 rows": few_rows,
    "8 to 20 % of a class labelled as another": noise_of_class,
    "5 to 20 % of all labels wrong": noise_of_all,
    "two classes merged": merged,
    "label code as a column": label_code,
    "label with noise as a column": label_and_noise,
    "label as indicator columns": one_hot,
    "number of a patient, each of one class": group_of_class,
    "number of a patient, of any class": group_at_random,
    "column repeated, scaled or negated": same_column,
    "column constant but for 0 to 1 %": constant,
    "10 to 30 % of the rows repeated": copied_rows,
}
SOUND = {"nothing": unchanged, "nothing, and a sound model": unchanged_model}


# ---- tables without a fault, and faults of simulated tables

SHAPES = "t2", "lognormal", "binary", "counts", "mixed", "normal"
_OF_COLUMNS = (*SHAPES[:4], "normal")


def values(shape, centers, generator):
    """Return a column of one shape with its center at each row."""
    n = len(centers)
    if shape == "t2":
        return centers + generator.standard_t(2, n)
    if shape == "lognormal":
        return np.exp(centers / 2 + generator.normal(size=n))
    if shape == "binary":
        return (generator.random(n) < 1 / (1 + np.exp(-centers))).astype(float)
    if shape == "counts":
        return generator.poisson(np.exp(np.clip(centers / 2 + 0.5, -3, 4))).astype(float)
    return centers + generator.normal(size=n)


def clean_table(shape, seed):
    """Return X and y of a table without a fault, its columns independent within classes."""
    generator = np.random.default_rng([SHAPES.index(shape), seed])
    n_classes = int(generator.choice([2, 3, 4, 6]))
    sizes = generator.integers(40, 200, n_classes)
    if seed % 2:
        sizes[-1] = generator.integers(15, 35)
    y = generator.permutation(np.repeat(np.arange(n_classes), sizes))
    n_columns = int(generator.choice([3, 6, 12, 25]))
    centers = generator.normal(size=(n_classes, n_columns)) * generator.choice([0.5, 1.0, 2.0])
    kinds = [shape] * n_columns
    if shape == "mixed":
        kinds = generator.choice(_OF_COLUMNS, n_columns).tolist()
    columns = [values(kind, centers[y, j], generator) for j, kind in enumerate(kinds)]
    return np.column_stack(columns), y


def simulated(generator, n=240):
    """Return a frame of 6 columns that tell three classes apart in part, and the classes."""
    y = np.sort(np.arange(n) % 3)
    X = generator.normal(size=(n, 6)) + 1.2 * np.eye(3, 6)[y]
    return pd.DataFrame(X, columns=list("abcdef")), y


def nominal_marker(generator):
    X, y = simulated(generator)
    city = np.where(y == 2, "X", generator.choice(list("ABCDEF"), len(y)))
    return X.assign(new=city), y, "class marker"


def missing_marker(generator):
    X, y = simulated(generator)
    return X.assign(new=X["d"].mask(y == 1)), y, "class marker"


def missing_by_class(generator):
    X, y = simulated(generator)
    is_gone = (y == 1) & (generator.random(len(y)) < 0.6)
    return X.assign(new=X["d"].mask(is_gone)), y, "missing by class"


def dates_by_class(generator):
    X, y = simulated(generator)
    days = y * 40 + 30 * generator.random(len(y))
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D")
    return X.assign(new=when), y, "leak"  # it tells every class: the first of both names


def days_of_a_class(generator):
    X, y = simulated(generator)
    days = generator.permutation(len(y) // 4)[np.arange(len(y)) // 4]
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D")
    return X.assign(new=when), y, "dates by class"


def sentinels(generator):
    X, y = simulated(generator)
    return X.assign(new=X["d"].mask(generator.random(len(y)) < 0.05, -999.0)), y, "sentinel"


def exclusive_or(generator):
    n = 400
    y, a = generator.integers(0, 2, n), generator.normal(size=n)
    b = np.where(y == 1, np.sign(a), -np.sign(a)) * np.abs(generator.normal(size=n))
    X = pd.DataFrame(generator.normal(size=(n, 15))).add_prefix("x")
    return X.assign(other=a, new=b), y, "interaction"


def target_means(generator):
    X, y = simulated(generator)
    category = pd.Series(generator.integers(0, 14, len(y)))
    shares = pd.Series(y == 2).astype(float).groupby(category)
    n, total, a = shares.transform("size"), shares.transform("sum"), generator.choice([0, 10])
    return X.assign(new=(total + a / 3) / (n + a)), y, "target means"


def near_copies(generator):
    X, y = simulated(generator)
    rows = generator.permutation(len(y))[:30]
    near = X.iloc[rows] + 0.001 * generator.normal(size=(30, 6))
    return pd.concat([X, near], ignore_index=True), np.r_[y, y[rows]], "near copies"


def subjects(generator):
    """1 to 6 rows of each of many subjects, whose class is the same, under a neutral name."""
    X, _ = simulated(generator)
    numbers = np.repeat(np.arange(200), generator.integers(1, 7, 200))[: len(X)]
    y = generator.integers(0, 3, 200)[numbers]
    return X.assign(new=generator.permutation(2000)[numbers]), y, "group column"


def subject_id(generator):
    X, y = simulated(generator)
    subject = generator.integers(0, generator.choice([5, 150]), len(y))
    return X.assign(subject_id=subject), y, "group column"


def identifier(generator):
    X, y = simulated(generator)
    return X.assign(subject_id=generator.permutation(len(y))), y, "identifier"


def wrong_unit(generator):
    X, y = simulated(generator)
    X = X + 10.0
    rows = np.flatnonzero(y == 1)[::2]
    X.loc[rows, "d"] *= generator.choice([10.0, 100.0, 1000.0])
    return X.rename(columns={"d": "new"}), y, "merged class"


NEW = (
    nominal_marker,
    missing_marker,
    missing_by_class,
    dates_by_class,
    days_of_a_class,
    sentinels,
    exclusive_or,
    target_means,
    near_copies,
    subjects,
    subject_id,
    identifier,
    wrong_unit,
)
_N_NEW = 5


def judge_new(options):
    """Print in how many tables each fault of simulated tables is found."""
    for inject in NEW:
        if not re.search(options.only, inject.__name__):
            continue
        n_right = 0
        for seed in range(_N_NEW):
            X, y, kind = inject(np.random.default_rng([zlib.crc32(inject.__name__.encode()), seed]))
            found = quietly(X, y, None, options.ignore)
            needs = "subject_id" if "subject_id" in X else "new"
            named = [one for one in found if one.kind == kind]
            is_rows = kind == "near copies"
            n_right += any(is_rows or needs in one.features for one in named)
        print(f"| {inject.__name__} | {kind} | {n_right} of {_N_NEW} |", flush=True)


def judge_clean(options):
    """Print in how many tables without a fault each kind is found."""
    total, n_tables = Counter(), 0
    for shape in SHAPES:
        if not re.search(options.only, shape):
            continue
        kinds = Counter()
        for seed in range(options.tables):
            found = quietly(*clean_table(shape, seed), None, options.ignore)
            kinds.update({f"{one.code} {one.kind}" for one in found})
        n_tables += options.tables
        total += kinds
        print(f"{shape}: {dict(sorted(kinds.items()))}", flush=True)
    print(f"all {n_tables}: {dict(sorted(total.items()))}")


def judge_real(options):
    """Print the findings of high and medium severity in real tables as they are."""
    folder = Path(os.environ.get("MAUC_DATA", "missing"))
    for path in sorted(
        [*folder.glob("*.npz"), *folder.glob("more/*.npz"), *folder.glob("tables/*")]
    ):
        if path.suffix != ".npz" or not re.search(options.only, path.stem):
            continue
        with np.load(path, allow_pickle=True) as data:
            X, y = data["X"][:2000], data["y"][:2000]
            nominal = data.get("nominal")
        found = quietly(X, y, None, options.ignore, nominal)
        for one in found:
            if one.severity != "low":
                print(f"{path.stem}: {one.code} {one.kind} ({one.severity}): {one.evidence}")


def quietly(X, y, scores=None, ignore=(), nominal=None):
    """Return the findings, without warnings of the reader."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(diagnose(X, y, scores, ignore=ignore, categorical_features=nominal, n_jobs=1))


def main():
    """Judge what the first argument says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("faults", "clean", "new", "real"))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of the name of the faults or shapes")
    parser.add_argument("--tables", type=int, default=20, help="clean tables per shape")
    parser.add_argument("--ignore", action="append", default=[], help="codes of findings")
    options = parser.parse_args()
    judges = {"clean": judge_clean, "new": judge_new, "real": judge_real, "faults": judge_faults}
    start = time.process_time()
    judges[options.what](options)
    print(f"{time.process_time() - start:.0f} seconds of CPU time")


def judge_faults(options):
    """Print a line per fault: how often the first diagnosis, and any, is right."""
    sets = list(data_sets())
    total = np.zeros(3, int)
    print(f"{len(sets)} data sets: {', '.join(name for name, _, _ in sets)}\n")
    print("| fault | data sets | first diagnosis right | any diagnosis right |\n|---|---|---|---|")
    for fault, inject in FAULTS.items():
        counts = np.zeros(3, int)
        for name, X, y in sets:
            if not re.search(options.only, fault) or (
                len(np.unique(y)) == 2 and inject in (merged,)
            ):
                continue
            found, kind, is_named = run(name, X, y, fault, inject, options.seed)
            right = [one.kind == kind and is_named(one) for one in found]
            counts += 1, any(right[:1]), any(right)
            if options.all and not any(right[:1]):
                print(f"    {name}: {[(one.kind, one.evidence) for one in found[:3]]}", flush=True)
        total += counts
        if counts[0]:
            print(f"| {fault} | {counts[0]} | {counts[1]} | {counts[2]} |", flush=True)
    shares = [f"{count} ({count / max(total[0], 1):.0%})" for count in total[1:]]
    print(f"| all | {total[0]} | {' | '.join(shares)} |\n")
    for fault, inject in SOUND.items():
        if not re.search(options.only, fault):
            continue
        kinds = defaultdict(list)
        for name, X, y in sets:
            found = run(name, X, y, fault, inject, options.seed)[0]
            for kind in {one.kind for one in found} or {"nothing"}:
                kinds[kind].append(name)
        print(f"| found, of {fault} put in | data sets |\n|---|---|")
        for kind, those in sorted(kinds.items()):
            print(f"| {kind} | {len(those)}: {', '.join(those)} |")
        print()


def run(name, X, y, fault, inject, seed):
    """Return the findings, the kind that is right and whether a finding names the place."""
    generator = np.random.default_rng([zlib.crc32(f"{name} {fault}".encode()), seed])
    X, y, scores, kind, is_named = inject(X, y, generator)
    return quietly(X, y, scores), kind, is_named


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
