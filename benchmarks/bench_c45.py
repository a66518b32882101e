"""Time C4.5 against scikit-learn's entropy tree and, where WEKA is given, J48 inside the JVM.

    python bench_c45.py usps.npz mnist.npz [--columns 100] [--weka weka.jar:folder-of-WekaRef.class]

Each file holds X (n, m) and y. All times are for one thread: best of several, in one process;
J48's is the best of three builds after warming up, thread CPU time.
"""

import argparse
import csv
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from mauc.classifiers.c45 import C45
from mauc.kernels.tree import fit_tree
from mauc.kernels.tree_order import sort_orders


def best_of(function, repeats=5):
    """Return the least seconds of thread CPU time over `repeats` calls, after one warm-up call."""
    function()
    seconds = []
    for _ in range(repeats):
        start = time.thread_time()
        function()
        seconds.append(time.thread_time() - start)
    return min(seconds)


def time_j48(class_path, X, y):
    """Return the seconds J48 needs to build its tree, measured inside the JVM."""
    with tempfile.TemporaryDirectory() as name:
        arff, out = Path(name) / "train.arff", Path(name) / "times.csv"
        header = ["@relation bench", *(f"@attribute a{j} numeric" for j in range(X.shape[1]))]
        classes = ",".join(str(c) for c in np.unique(y))
        header += [f"@attribute class {{{classes}}}", "@data"]
        rows = (",".join(map(repr, [*x, c])) for x, c in zip(X.tolist(), y.tolist(), strict=True))
        arff.write_text("\n".join([*header, *rows]) + "\n")
        command = ["java", "-cp", class_path, "WekaRef", "time", str(arff), "-", str(out)]
        subprocess.run([*command, "j48=weka.classifiers.trees.J48"], check=True)
        with out.open() as lines:
            row = next(csv.reader(lines))
    return float(row[7])  # best build, thread CPU seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--weka", help="class path of weka.jar and WekaRef")
    arguments = parser.parse_args()
    for path in arguments.files:
        data = np.load(path)
        rows = np.random.default_rng(0).permutation(len(data["y"]))[: int(0.9 * len(data["y"]))]
        widest = np.sort(np.argsort(-data["X"].std(axis=0), kind="stable")[: arguments.columns])
        X = data["X"][rows][:, widest].astype(np.float64)
        y = data["y"][rows].astype(np.int32)
        n_classes = int(y.max()) + 1
        XT = np.array(X.T, order="C")
        XT.flags.writeable = False
        columns = np.arange(X.shape[1], dtype=np.int32)
        order = sort_orders(XT)
        nested_columns = [columns[:k] for k in range(10, X.shape[1] + 1, 10)]

        presort = best_of(lambda XT=XT: sort_orders(XT))
        tree = best_of(lambda a=(XT, y, n_classes, order, columns): fit_tree(*a))
        nested = best_of(
            lambda a=(XT, y, n_classes, order), ks=nested_columns: [fit_tree(*a, k) for k in ks], 2
        )
        ours = best_of(lambda X=X, y=y: C45().fit(X, y))
        theirs = best_of(lambda X=X, y=y: DecisionTreeClassifier(criterion="entropy").fit(X, y), 3)
        print(f"{path.stem}: {X.shape[0]} x {X.shape[1]}, {n_classes} classes")
        print(f"  presort {presort:.4f} s, tree {tree:.4f} s, C45.fit {ours:.4f} s")
        print(f"  {len(nested_columns)} nested sizes with one presort {presort + nested:.4f} s")
        print(f"  scikit-learn {theirs:.4f} s: {theirs / ours:.1f} x C45.fit")
        if arguments.weka:
            j48 = time_j48(arguments.weka, X, y)
            print(f"  J48 {j48:.4f} s: {j48 / ours:.1f} x C45.fit")


if __name__ == "__main__":
    main()
