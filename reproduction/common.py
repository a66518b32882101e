"""What the scripts share: data of the folder MAUC_DATA, versions for their pages."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from sklearn.model_selection import train_test_split


def load_npz(name: str, dtype: type, max_rows: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of NAME.npz in the folder MAUC_DATA or its folder more.

    Larger sets are thinned to `max_rows`, by class and in the order of the file.
    """
    folder = Path(os.environ["MAUC_DATA"])
    path = folder / f"{name}.npz"
    with np.load(path if path.is_file() else folder / "more" / f"{name}.npz") as data:
        X, y = np.asarray(data["X"], dtype=dtype), data["y"]
    if max_rows is not None and len(y) > max_rows:
        rows, _ = train_test_split(
            np.arange(len(y)), train_size=max_rows, stratify=y, random_state=0
        )
        X, y = X[np.sort(rows)], y[np.sort(rows)]
    return X, y


def versions(*packages: str) -> str:
    """Return the versions of packages, those that compute and Python by default."""
    if not packages:
        parts = versions("mauc"), versions("numpy", "scipy", "scikit-learn", "numba")
        return f"{parts[0]}, python {platform.python_version()}, {parts[1]}"
    found = []
    for name in packages:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)
