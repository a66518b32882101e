"""Coverage of the interval on the page of a selection, and the honest MAUC of a size curve.

Tables of noise, whose MAUC is 1/2 whatever is chosen, and tables with a signal, whose MAUC is that
of the same steps on many fresh tables. Usage::

    python benchmarks/coverage_page.py [tables] [processes]
"""

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

from mauc import GreedyMAUC, select_k
from mauc.report.html import selection_report

NOISE = tuple(product((2, 3, 6, 10), (60, 150, 400), (10, 60), (0.0,)))
SIGNAL = tuple(product((2, 4), (60, 200), (20,), (0.5, 1.0, 2.0)))


def draw(generator, n_classes, n_samples, n_features, shift):
    """Return a table whose first three features tell the classes apart by `shift`."""
    y = np.arange(n_samples) % n_classes
    X = generator.normal(size=(n_samples, n_features))
    X[:, :3] += shift * generator.permutation(n_classes)[y, np.newaxis] / np.sqrt(n_classes)
    return X, y


def measure(setting, seed):
    """Return MAUC, bounds, and the honest and the best mean of the size curve of one table."""
    warnings.simplefilter("ignore")
    X, y = draw(np.random.default_rng(seed), *setting)
    found = selection_report(GreedyMAUC(5).fit(X, y), X, y).to_dict()["conclusion"]["chosen"]
    honest = best = np.nan
    if seed % 3 == 0:  # a curve takes as long as three pages
        curve = select_k(GreedyMAUC(), X, y)
        honest, best = curve.honest_mauc, curve.mean.max()
    return found["mauc"], found["lower"], found["upper"], honest, best


def main():
    """Print coverage and means of all settings."""
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    n_processes = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    print("classes samples features shift | truth coverage | MAUC honest best")
    with ProcessPoolExecutor(n_processes) as pool:
        for setting in NOISE + SIGNAL:
            values = pool.map(measure, [setting] * n_tables, range(n_tables), chunksize=4)
            mauc, lower, upper, honest, best = np.array(list(values)).T
            truth = 0.5 if setting[-1] == 0.0 else mauc.mean()
            coverage = ((lower <= truth) & (truth <= upper)).mean()
            print(
                *setting,
                f"| {truth:.3f} {coverage:.3f} |",
                f"{mauc.mean():.3f} {np.nanmean(honest):.3f} {np.nanmean(best):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
