"""The values that the paper printed: its tables of MAUC, its marks, its runtimes."""

from pathlib import Path
from typing import Any

from mauc.exceptions import MaucError


def paper_folder() -> Path:
    """Return the folder of the paper's plans and published values.

    It lies in the package when installed, and beside the sources in the repository.
    """
    package = Path(__file__).resolve().parents[1]
    folders = [package / "papers" / "wang2011", package.parents[1] / "papers" / "wang2011"]
    for folder in folders:
        if folder.is_dir():
            return folder
    raise MaucError(
        f"the published values must lie in {folders[0]} or {folders[1]}, got neither folder."
    )


def load_published() -> Any:
    """Return the published MAUC values.

    Returns
    -------
    published : DataFrame
        Columns table, dataset, classifier, selector, size, mauc, mark ("worse", "better" or
        "none" against MDFS, "" for MDFS itself) and is_best.

    Examples
    --------
    >>> from mauc.report import load_published
    >>> published = load_published()
    >>> published[["dataset", "classifier", "selector", "size", "mauc"]].head(1)
      dataset classifier selector  size   mauc
    0  isolet         nb     mdfs    10  0.958
    """
    import pandas as pd

    path = paper_folder() / "published" / "mauc.csv"
    published = pd.read_csv(path, dtype={"versus_mdfs": str}, keep_default_na=False)
    names = {"method": "selector", "n_features": "size", "versus_mdfs": "mark"}
    return published.rename(columns=names).astype({"is_best": bool})


def load_published_runtime() -> Any:
    """Return the paper's Table 10.

    Returns
    -------
    published : DataFrame
        Columns table, selector, dataset, seconds.
    """
    import pandas as pd

    path = paper_folder() / "published" / "runtime.csv"
    return pd.read_csv(path).rename(columns={"method": "selector"})
