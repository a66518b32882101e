"""Fingerprints of what every selector and classifier computes, to see that a change keeps all bits.

    python tools/fingerprint.py                     # compare with the golden file
    python tools/fingerprint.py wine wishes         # the same of some sets and cases alone
    python tools/fingerprint.py --write FILE        # write fingerprints instead
    python tools/fingerprint.py --data FOLDER ...   # npz files (X, y) of a folder in place of them

A fingerprint is a digest of the bytes of rankings, scores, traces and probabilities, and of texts,
so two versions agree if and only if their files do. Plain fits on the bundled sets and a small run
are here, the cases (wishes, weights, frames, sketches, curves, ...) in fingerprint_cases.py.
Floating point may round differently on another
processor: the golden file is that of x86-64 with AVX-512 or AVX2.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from fingerprint_cases import CASES, CLASSIFIERS, METHODS, digest

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "fingerprints.json"
SETS = ("breast_cancer", "control_charts", "digits", "iris", "siren", "wine")
#: further options of some selectors; the seed is that of all that have one
VARIANTS = {
    "mdfs": ({"ties": "mauc"}, {"schedule": "hardest"}, {"schedule": "round_robin"}),
    "mrmr": ({"criterion": "quotient"}, {"binning": "mdl"}, {"binning": "equal_width"}),
    "jmi": ({"binning": "equal_frequency"},),
    "relieff": ({"n_iterations": "log"},),
    "greedy": ({"n_features_to_select": "predicted"}, {"shrinkage": 0.2}),
    "subproblem": ({"decomposition": "one-vs-rest", "relevance": "fisher"},),
}
PLAN = """name = "fingerprint"
datasets = ["wine", "iris"]
selectors = ["mdfs", "mrmr", "greedy", {method = "relieff", options = {n_iterations = "log"}}]
classifiers = ["nb", "c45", "1nn", "svm"]
sizes = [1, 2, 4]
repeats = 1
folds = 3
seed = 0

[tuning]
scope = "dataset_size"
search = "coarse_to_fine"
"""
MAX_ROWS = 2000  # of a file: ReliefF and the support vector machine take squares of them


def selector_prints(X, y):
    """Yield a name and the fingerprint of every selector and variant."""
    from mauc.selectors import make_selector

    size = min(20, X.shape[1])
    for method in METHODS:
        for options in ({}, *VARIANTS.get(method, ())):
            selector = make_selector(method, **{"n_features_to_select": size, **options})
            if "random_state" in selector.get_params():
                selector.set_params(random_state=0)
            selector.fit(X, y)
            trace = selector.trace_
            key = " ".join([method, *(f"{name}={value}" for name, value in options.items())])
            yield (
                key,
                digest(
                    selector.ranking_,
                    selector.scores_,
                    selector.pair_auc_,
                    trace.subproblems,
                    trace.ranks,
                    trace.scores,
                ),
            )


def classifier_prints(X, y):
    """Yield a name and the fingerprint of every classifier, alone and on nested features."""
    from mauc import MAUCD
    from mauc.classifiers import make_classifier
    from mauc.evaluation import evaluate_ranking

    train = np.empty(len(y), bool)
    for label in np.unique(y):  # two thirds of every class, in order of the rows
        train[y == label] = np.arange(np.sum(y == label)) % 3 > 0
    ranking = MAUCD("all").fit(X[train], y[train]).ranking_
    sizes = [k for k in (1, 2, 5, 10, 20) if k <= X.shape[1]]
    for name in CLASSIFIERS:
        model = make_classifier(name).fit(X[train], y[train])
        nested = evaluate_ranking(ranking, sizes, model, X[train], y[train], X[~train], y[~train])
        yield name, digest(model.predict_proba(X[~train]), nested)


def run_print():
    """Return the fingerprint of the table of a small run, without seconds."""
    from mauc.experiments import load_run, parse_plan, run_plan

    with tempfile.TemporaryDirectory() as folder:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_plan(parse_plan(PLAN), Path(folder) / "run", engine="serial", progress="quiet")
        rows = load_run(Path(folder) / "run")
    kept = ["dataset", "repeat", "fold", "selector", "classifier", "size", "status", "mauc"]
    rows = rows[kept].sort_values(kept[:6])
    return hashlib.sha256(rows.to_csv(index=False, float_format="%.17g").encode()).hexdigest()[:16]


def load_sets(folder):
    """Yield a name, X and y of the bundled sets, or of the npz files of a folder."""
    if folder is None:
        from mauc.datasets import load_bundled

        for name in SETS:
            dataset = load_bundled(name)
            yield name, dataset.X, dataset.y
        return
    for path in sorted(Path(folder).glob("*.npz")):
        with np.load(path, allow_pickle=False) as parts:
            X, y = parts["X"], parts["y"]
        kept = np.arange(0, len(y), -(-len(y) // MAX_ROWS))
        yield path.stem, X[kept], y[kept]


def set_prints(name, X, y):
    """Return the fingerprints of all selectors and classifiers on a data set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = [*selector_prints(X, y), *classifier_prints(X, y)]
    return {f"{name}: {key}": value for key, value in pairs}


def case_prints(name):
    """Return the fingerprints of a case."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key, value in CASES[name]():
            if f"{name}: {key}" in found:
                raise ValueError(f"case {name} has the key {key!r} twice")
            found[f"{name}: {key}"] = value
    return found


def all_prints(folder=None, names=()):
    """Return the fingerprints of everything, or of some sets and cases, by name and method."""
    found = {}
    for name, X, y in load_sets(folder):
        if not names or name in names:
            found |= set_prints(name, X, y)
    if folder is None:
        for name in CASES:
            if not names or name in names:
                found |= case_prints(name)
        if not names or "run" in names:
            found["run"] = run_print()
    return found


def main():
    """Write fingerprints, or compare them with the golden ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = (*SETS, *CASES, "run")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(known)}")
    parser.add_argument("--write", metavar="FILE", help="write the fingerprints to a file")
    parser.add_argument("--against", metavar="FILE", default=GOLDEN, help="compare with a file")
    parser.add_argument("--data", metavar="FOLDER", help="npz files in place of the bundled sets")
    options = parser.parse_args()
    if unknown := {*options.names} - {*known}:
        parser.error(f"NAME must be one of {', '.join(known)}, got {', '.join(sorted(unknown))}")
    found = all_prints(options.data, options.names)
    if options.write:
        Path(options.write).write_text(json.dumps(found, indent=1) + "\n")
        return
    wanted = json.loads(Path(options.against).read_text())
    if options.names:
        wanted = {key: wanted[key] for key in wanted if key.split(": ")[0] in options.names}
    differ = sorted(key for key in wanted if wanted[key] != found.get(key))
    n_new = len(found.keys() - wanted.keys())  # of methods that the file does not know yet
    print(f"{len(found)} fingerprints, {n_new} new, {len(differ)} differ", *differ, sep="\n  ")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
