"""What the registry knows of one data set."""

from dataclasses import dataclass, field
from typing import Any

from mauc.datasets.bundled import BUNDLED


@dataclass(frozen=True)
class Entry:
    """One data set that can be loaded by its name.

    Parameters
    ----------
    name : str
    title : str
        What it is, in a few words.
    origins : tuple of str
        Pages that describe the data.
    licence : str
    n_samples, n_features, n_classes : int, optional
        None where it is not known before the download.
    class_counts : tuple of int, optional
        Samples of each class, from the largest class to the smallest.
    versus_paper : str, default=""
        How the set compares with that of the paper's Table 1.
    openml_id : int, optional
        Number of the data set at OpenML.
    url : str, optional
        Address of the file, where it is not from OpenML.
    sha256 : str, optional
        Digest of the downloaded file; None if it is not known beforehand, in which case that of
        the first download is recorded.
    rows : tuple of (int, int), optional
        First and last + 1 of the rows to keep, for a part of the downloaded file.
    reading : dict, default={}
        Options of `load_dataset` for the downloaded file.
    label : str, default=""
        How tables and figures write it: as the paper does, or its name by default.
    obtain : tuple of str, default=()
        Where a user gets it and what to know of it, if it cannot be fetched.
    files : tuple of str, default=()
        The forms in which it is read from the folder MAUC_DATA, if it cannot be fetched.
    run : str, default=""
        The command that makes its table of the paper, if it cannot be fetched.
    """

    name: str
    title: str
    origins: tuple[str, ...]
    licence: str
    n_samples: int | None = None
    n_features: int | None = None
    n_classes: int | None = None
    class_counts: tuple[int, ...] | None = None
    versus_paper: str = ""
    openml_id: int | None = None
    url: str | None = None
    sha256: str | None = None
    rows: tuple[int, int] | None = None
    reading: dict[str, Any] = field(default_factory=dict, hash=False)
    label: str = ""
    obtain: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    run: str = ""

    @property
    def is_bundled(self) -> bool:
        """Whether the set needs no download."""
        return self.name in BUNDLED

    @property
    def is_fetched(self) -> bool:
        """Whether `fetch` can download the set."""
        return self.openml_id is not None or self.url is not None
