"""C4.5 against J48 inside the JVM and against scikit-learn's entropy tree: one thread."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from _common import load, print_header, print_row
from _peers import CPU, WekaClock, find_weka, time_wall_and_cpu
from mauc.lab import C45

N_COLUMNS = 100
J48 = "j48=weka.classifiers.trees.J48 -C 0.25 -M 2"


def bench(name, jar):
    """Compare the training of one tree on the columns of largest variance."""
    X, y, source = load(name, np.float64)
    X = np.asfortranarray(X[:, np.sort(np.argsort(-X.var(axis=0))[:N_COLUMNS])])
    peer = DecisionTreeClassifier(criterion="entropy", random_state=0)
    ours, theirs = time_wall_and_cpu(lambda: C45().fit(X, y), lambda: peer.fit(X, y), n_repeats=3)[
        :, CPU
    ]
    measure = f"{source} {name}, {X.shape[1]} columns: C45.fit"
    print_row(measure, ours, "DecisionTreeClassifier", theirs, "<= 2.5")
    if jar is not None:
        with WekaClock(jar, X, y) as weka:
            print_row(measure, ours, "WEKA, J48 build (*)", weka.seconds(J48)[0], ">= 3")


def main():
    print_header("C45: growing and pruning a tree, the sort of the columns included, CPU seconds")
    jar = find_weka()
    for name in ("usps", "mnist"):
        bench(name, jar)
    if jar is not None:
        print("  (*) timed inside the JVM, processor time of its thread")


if __name__ == "__main__":
    main()
