"""Data in: bundled data sets by name, CSV files by path."""

from mauc.datasets.bundled import BUNDLED, load_bundled
from mauc.datasets.dataset import Dataset
from mauc.datasets.readers import read_csv
from mauc.exceptions import MaucError

__all__ = ["BUNDLED", "Dataset", "load_bundled", "load_dataset", "read_csv"]


def load_dataset(source: str, target: str | None = None) -> Dataset:
    """Load a bundled data set by its name, or a CSV file by its path.

    Parameters
    ----------
    source : str
        A name in `BUNDLED`, or a path.
    target : str, optional
        The column with the labels; needed for a file.

    Returns
    -------
    dataset : Dataset

    Examples
    --------
    >>> from mauc.datasets import load_dataset
    >>> load_dataset("wine").X.shape
    (178, 13)
    """
    if source in BUNDLED:
        if target is not None:
            raise MaucError(
                f"the bundled data set {source!r} has its labels already, got target {target!r}; "
                f"write ./{source} for a file of that name."
            )
        return load_bundled(source)
    return read_csv(source, target)
