"""Write j48_mixed.npz: J48's trees on random data with nominal, missing and weighted rows.

Needs Java and WEKA 3.6.14 with the reference driver WekaRef on the class path::

    python make_j48_mixed.py weka.jar:folder-of-WekaRef.class
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

N_DATA_SETS = 28
OPTIONS = {"default": "", "unpruned": "-U", "no_raising": "-S", "strict": "-C 0.1 -M 5"}


def make_data(seed):
    """Return X, y, weight, n_values, n_classes; the first two thirds are for training."""
    rng = np.random.default_rng(seed)
    n, m, n_classes = int(rng.integers(60, 400)), int(rng.integers(2, 8)), int(rng.integers(2, 6))
    y = rng.integers(0, n_classes, n)
    X = np.empty((n, m))
    n_values = np.zeros(m, np.int32)
    kinds = np.full(m, 2) if seed % 5 == 0 else rng.integers(0, 3, m)
    for j, kind in enumerate(kinds):
        z = (rng.normal(0, 1, n_classes) * rng.choice([0, 0.7, 2]))[y] + rng.normal(size=n)
        if kind == 0:
            X[:, j] = np.round(z, int(rng.integers(1, 8)))
        elif kind == 1:
            X[:, j] = np.round(z)
        elif rng.random() < 0.8:
            n_values[j] = rng.integers(2, 9)
            X[:, j] = np.clip(np.round(1.2 * z + n_values[j] / 2), 0, n_values[j] - 1)
        else:  # more values than 30 % of the training rows: out of the average gain
            n_values[j] = max(2, int(0.35 * n))
            X[:, j] = rng.integers(0, n_values[j], n)
    flipped = rng.random(n) < rng.choice([0, 0.1, 0.3])
    y[flipped] = rng.integers(0, n_classes, np.count_nonzero(flipped))
    if seed % 3:
        X[rng.random((n, m)) < rng.choice([0.03, 0.2])] = np.nan
    weight = np.ones(n)
    if seed % 7 == 3:
        weight = rng.integers(1, 4, n).astype(float)
    if seed % 7 == 5:
        weight = np.round(rng.uniform(0.3, 2, n), 3)
    return X, y, weight, n_values, n_classes


def write_arff(path, X, y, weight, n_values, n_classes):
    """Write rows as ARFF, missing as ?, the weight in braces."""
    lines = ["@relation mixed"]
    for j, v in enumerate(n_values):
        kind = "{" + ",".join(f"v{u}" for u in range(v)) + "}" if v else "numeric"
        lines.append(f"@attribute a{j} {kind}")
    lines += ["@attribute class {" + ",".join(f"c{c}" for c in range(n_classes)) + "}", "@data"]
    for x, c, w in zip(X, y, weight, strict=True):
        cells = [
            "?" if np.isnan(a) else f"v{int(a)}" if v else repr(float(a))
            for a, v in zip(x, n_values, strict=True)
        ]
        lines.append(",".join([*cells, f"c{c}"]) + (f",{{{float(w)!r}}}" if w != 1.0 else ""))
    path.write_text("\n".join(lines) + "\n")


def run_j48(class_path, folder):
    """Run J48 with each option set; return probabilities and printouts by option name."""
    specs = [f"{name}=weka.classifiers.trees.J48 {o}" for name, o in OPTIONS.items()]
    command = ["java", "-cp", class_path, "WekaRef", "clf"]
    files = [str(folder / "train.arff"), str(folder / "test.arff"), f"{folder}/"]
    subprocess.run([*command, *files, *specs], check=True, stdout=subprocess.DEVNULL)
    for name in OPTIONS:
        proba = np.loadtxt(folder / f"proba_{name}.csv", delimiter=",", ndmin=2)
        yield name, proba, (folder / f"{name}_tree.txt").read_text()


def main(class_path):
    arrays = {}
    for seed in range(N_DATA_SETS):
        X, y, weight, n_values, n_classes = make_data(seed)
        n_train = 2 * len(y) // 3
        arrays |= {f"{seed}_X": X, f"{seed}_y": y, f"{seed}_weight": weight}
        arrays |= {f"{seed}_n_values": n_values, f"{seed}_n_classes": n_classes}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rest = n_values, n_classes
            train, test = slice(n_train), slice(n_train, None)
            write_arff(folder / "train.arff", X[train], y[train], weight[train], *rest)
            write_arff(folder / "test.arff", X[test], y[test], np.ones(len(y) - n_train), *rest)
            for option, proba, text in run_j48(class_path, folder):
                arrays[f"{seed}_{option}_proba"] = proba
                arrays[f"{seed}_{option}_text"] = text
    np.savez_compressed(Path(__file__).with_name("j48_mixed.npz"), **arrays)


if __name__ == "__main__":
    main(sys.argv[1])
