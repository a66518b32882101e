"""The values that the paper printed: its tables of MAUC, its marks, its runtimes."""

from pathlib import Path
from typing import Any

from mauc.checks import unknown_word
from mauc.exceptions import MaucError
from mauc.plotting.run_parts import labels_of
from mauc.report.tables import MaucTable, build_mauc_table


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
    0   mnist         nb     mdfs    10  0.889
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


def published_table(dataset: str) -> MaucTable:
    r"""Return a table of the paper, to be shown in any format.

    Parameters
    ----------
    dataset : str
        A data set of the paper, in small letters.

    Returns
    -------
    table : MaucTable

    Examples
    --------
    >>> from mauc.report import published_table
    >>> print(published_table("synthetic").to_latex().splitlines()[11])
    & MDFS & \textbf{0.992} & \textbf{0.996} & \textbf{0.997} & \textbf{0.998} & ...
    """
    published = load_published()
    here = published[published["dataset"] == dataset]
    if here.empty:
        raise unknown_word("dataset", dataset, labels_of(published, "dataset"))
    return build_mauc_table(
        here.rename(columns={"mauc": "mean"}).assign(n=100),
        dataset,
        reference="mdfs",
        labels=(labels_of(here, "classifier"), labels_of(here, "selector")),
        sizes=sorted(int(size) for size in here["size"].unique()),
        n_splits=100,
        protocol="10 × 10-fold cross-validation",
        notes=(f"Published values: Table {here['table'].iloc[0]} of the paper.",),
    )
