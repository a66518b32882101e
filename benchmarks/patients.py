"""What `"auto"` claims on noise of patients with five rows each, with groups and without.

Ten features are noise of the rows, five have a value per patient, and labels are drawn per patient:
nothing tells anything about a patient who was not seen. Usage::

    python benchmarks/patients.py [tables]
"""

import sys

import numpy as np

from mauc import MAUCD, GreedyMAUC

N_PATIENTS, N_ROWS, N_NOISE, N_ENCODING = 100, 5, 10, 5


def draw_table(seed):
    """Return features, labels and patients."""
    generator = np.random.default_rng(seed)
    groups = np.repeat(np.arange(N_PATIENTS), N_ROWS)
    y = generator.integers(0, 2, N_PATIENTS)[groups]  # fixed numbers would tell of those left out
    X = generator.normal(size=(len(groups), N_NOISE + N_ENCODING))
    values = generator.normal(size=(N_PATIENTS, N_ENCODING))[groups]
    X[:, N_NOISE:] = values + 1e-3 * X[:, N_NOISE:]
    return X, y, groups


def main():
    """Print the means over the tables."""
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 16
    for selector in (GreedyMAUC("auto"), MAUCD("auto")):
        for has_groups in (False, True):
            rows = []
            for seed in range(n_tables):
                X, y, groups = draw_table(seed)
                selector.fit(X, y, groups=groups if has_groups else None)
                curve = selector.size_curve_
                chosen = curve.mean[curve.sizes == curve.size][0]
                n_encoding = (selector.ranking_ >= N_NOISE).sum()
                rows.append((chosen, curve.honest_mauc, curve.size, n_encoding))
            curve, honest, size, n_encoding = np.mean(rows, axis=0)
            error = np.std(rows, axis=0, ddof=1)[1] / np.sqrt(n_tables)
            print(
                f"{type(selector).__name__} {'with' if has_groups else 'without'} groups: curve "
                f"{curve:.3f}, honest {honest:.3f} (standard error {error:.3f}), {size:.1f} "
                f"features, {n_encoding:.1f} of the patients"
            )


if __name__ == "__main__":
    main()
