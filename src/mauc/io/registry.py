"""Data sets that have a name: what is known of them, those that are bundled, where files are."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets

from mauc.checks import check_choice
from mauc.exceptions import MaucError
from mauc.io.cache import cache_folder, file_digest, private_folder
from mauc.io.dataset import Dataset
from mauc.io.files import split_archive
from mauc.io.formats import is_data_path
from mauc.io.generated import make_control_charts, make_siren

_SHIPPED: dict[str, Callable[[], Any]] = {
    "breast_cancer": sklearn_datasets.load_breast_cancer,
    "digits": sklearn_datasets.load_digits,
    "iris": sklearn_datasets.load_iris,
    "wine": sklearn_datasets.load_wine,
}
_GENERATED: dict[str, Callable[[], Dataset]] = {
    "control_charts": make_control_charts,
    "siren": make_siren,
}
#: data sets that need no network: those that ship with scikit-learn, and generated ones
BUNDLED = tuple(sorted([*_SHIPPED, *_GENERATED]))


@dataclass(frozen=True)
class Entry:
    """One data set that can be loaded by its name."""

    name: str
    title: str  #: what it is, in a few words
    origins: tuple[str, ...]  #: pages that describe the data
    licence: str
    n_samples: int | None = None  #: None where it is not known before the download
    n_features: int | None = None
    n_classes: int | None = None
    class_counts: tuple[int, ...] | None = None  #: from the largest class to the smallest
    versus_paper: str = ""  #: how the set compares with that of the paper's Table 1
    openml_id: int | None = None  #: number of the data set at OpenML
    url: str | None = None  #: address of the file, where it is not from OpenML
    rows: tuple[int, int] | None = None  #: first and last + 1 of those to keep of a download
    #: options of `load_dataset` for the file at `url`
    reading: dict[str, Any] = field(default_factory=dict, hash=False)
    label: str = ""  #: how tables and figures write it; its name by default

    @property
    def is_bundled(self) -> bool:
        """Whether the set needs no download."""
        return self.name in BUNDLED


_OPENML = "https://www.openml.org/d"
_ESL = "https://hastie.su.domains/ElemStatLearn"
_UCI = "https://archive.ics.uci.edu/dataset"
_CC_BY = "CC BY 4.0"


_ENTRIES = (
    Entry(
        "breast_cancer",
        "Breast cancer Wisconsin (diagnostic)",
        (f"{_UCI}/17",),
        _CC_BY,
        569,
        30,
        2,
        (357, 212),
        "not in the paper",
    ),
    Entry(
        "control_charts",
        "Control charts, generated like the UCI data set",
        (f"{_UCI}/139",),
        "generated, no rights reserved",
        600,
        60,
        6,
        (100,) * 6,
        "another sample of what Synthetic was drawn from",
    ),
    Entry(
        "digits",
        "Handwritten digits, 8 x 8 pixels",
        (f"{_UCI}/80",),
        _CC_BY,
        1797,
        64,
        10,
        (183, 182, 182, 181, 181, 180, 179, 178, 177, 174),
        "not in the paper",
    ),
    Entry(
        "indiana",
        "Indian Pines hyperspectral image",
        (f"{_OPENML}/41972", "https://purr.purdue.edu/publications/1947"),
        "public; see its page at OpenML",
        versus_paper="paper: 9345 x 220, 9 classes; pixels, bands and classes of this version "
        "differ, so results are not comparable",
        openml_id=41972,
        label="Indiana",
    ),
    Entry(
        "iris",
        "Iris flowers",
        (f"{_UCI}/53",),
        _CC_BY,
        150,
        4,
        3,
        (50,) * 3,
        "not in the paper",
    ),
    Entry(
        "isolet",
        "Spoken letters",
        (f"{_OPENML}/300", f"{_UCI}/54"),
        _CC_BY,
        7797,
        617,
        26,
        (300,) * 24 + (299, 298),
        "same",
        openml_id=300,
        label="ISOLET",
    ),
    Entry(
        "mnist",
        "Handwritten digits, 28 x 28 pixels, the test part (t10k)",
        (f"{_OPENML}/554",),
        "CC BY-SA 3.0",
        10000,
        784,
        10,
        (1135, 1032, 1028, 1010, 1009, 982, 980, 974, 958, 892),
        "same: the last 10000 rows of mnist_784 are the test part, which the paper used",
        openml_id=554,
        rows=(60000, 70000),
        label="MNIST",
    ),
    Entry(
        "phoneme",
        "Log-periodograms of five phonemes (Elements of Statistical Learning)",
        (f"{_ESL}/datasets/phoneme.info.txt",),
        "free for research; drawn from TIMIT",
        4509,
        256,
        5,
        (1163, 1022, 872, 757, 695),
        "same",
        url=f"{_ESL}/datasets/phoneme.data",
        reading={"format": "csv", "target": "g", "drop": ["row.names", "speaker"]},
        label="Phoneme",
    ),
    Entry(
        "siren",
        "Generated: easy class pairs drown out hard ones",
        (),
        "generated, no rights reserved",
        600,
        78,
        6,
        (100,) * 6,
        "not in the paper",
    ),
    Entry(
        "synthetic",
        "Synthetic control chart time series",
        (f"{_OPENML}/377", f"{_UCI}/139"),
        _CC_BY,
        600,
        60,
        6,
        (100,) * 6,
        "same",
        openml_id=377,
        label="Synthetic",
    ),
    Entry(
        "usps",
        "Handwritten zip-code digits, 16 x 16 pixels",
        (f"{_OPENML}/41082", f"{_ESL}/datasets/zip.info.txt"),
        "public; see its page at OpenML",
        9298,
        256,
        10,
        versus_paper="paper: the 7291 samples of the training part; this has both parts",
        openml_id=41082,
        label="USPS",
    ),
    Entry(
        "wine",
        "Wines by their chemistry",
        (f"{_UCI}/109",),
        _CC_BY,
        178,
        13,
        3,
        (71, 59, 48),
        "not in the paper",
    ),
)
REGISTRY = {entry.name: entry for entry in _ENTRIES}


def dataset_label(name: str) -> str:
    """Return how tables and figures write the name of a data set; other names stay as they are.

    Examples
    --------
    >>> from mauc.datasets import dataset_label
    >>> dataset_label("isolet"), dataset_label("my_data")
    ('ISOLET', 'my_data')
    """
    entry = REGISTRY.get(name.lower())
    return name if entry is None else entry.label or name


def list_datasets() -> list[Entry]:
    """Return all data sets that have a name, sorted by it.

    Examples
    --------
    >>> from mauc.datasets import list_datasets
    >>> [entry.name for entry in list_datasets() if not entry.is_bundled]
    ['indiana', 'isolet', 'mnist', 'phoneme', 'synthetic', 'usps']
    """
    return [REGISTRY[name] for name in sorted(REGISTRY)]


def dataset_info(name: str) -> Entry:
    """Return what is known of a data set before it is loaded.

    Examples
    --------
    >>> from mauc.datasets import dataset_info
    >>> dataset_info("isolet").n_features
    617
    """
    return REGISTRY[check_choice("data set", name, sorted(REGISTRY), quoted=False)]


def load_bundled(name: str) -> Dataset:
    """Load a bundled data set, its labels as their names.

    Parameters
    ----------
    name : str
        One of `BUNDLED`.

    Examples
    --------
    >>> from mauc.datasets import BUNDLED, load_bundled
    >>> BUNDLED
    ('breast_cancer', 'control_charts', 'digits', 'iris', 'siren', 'wine')
    >>> load_bundled("digits").X.shape
    (1797, 64)
    """
    if name in _GENERATED:
        return _GENERATED[name]()
    bunch = _SHIPPED[check_choice("data set", name, BUNDLED, quoted=False)]()
    return Dataset(
        name=name,
        X=bunch.data,
        y=np.asarray(bunch.target_names).astype(str)[bunch.target],
        feature_names=[str(feature) for feature in bunch.feature_names],
    )


def find_dataset(source: str | Path) -> Path:
    """Return the file of a name, in MAUC_DATA or downloaded, or of a path."""
    path = Path(source)
    is_name = isinstance(source, str) and path.name == source and not is_data_path(path)
    if is_name:
        found = find_in_folder(str(source)) or cached_path(str(source))
        if found is not None:
            return found
    if path.exists():
        if not path.is_file() and not path.is_dir():
            raise MaucError(
                f"{source} is a pipe or a device, not a file; pass - and send the data to standard "
                "input."
            )
        return path
    if not is_name and not path.is_absolute() and not is_data_path(path):
        found = find_in_folder(str(path))
        if found is not None:
            return found
    if is_name and source in REGISTRY:
        raise MaucError(
            f"the data set {source!r} is not on this machine: get it with "
            f"`mauc datasets fetch {source}`, or set MAUC_DATA to a folder with {source}.npz."
        )
    fetched = sorted(set(REGISTRY) - set(BUNDLED))
    near = get_close_matches(str(source), sorted(REGISTRY), n=1) if is_name else []
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise MaucError(
        f"{source} is neither a file nor a bundled data set ({', '.join(BUNDLED)}) "
        f"nor one to be fetched ({', '.join(fetched)}){hint}"
    )


def find_in_folder(name: str) -> Path | None:
    """Return the file of a data set in the folder MAUC_DATA; ``NAME.npz`` before other formats."""
    given = os.environ.get("MAUC_DATA")
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        raise MaucError(f"MAUC_DATA must be a folder with data sets, got {folder}.")
    if (folder / f"{name}.npz").is_file():
        return folder / f"{name}.npz"
    wanted = folder / name
    if not wanted.parent.is_dir():
        return None
    found = [
        path
        for path in sorted(wanted.parent.iterdir())
        if split_archive(path.name)[0].rpartition(".")[0] == wanted.name
        and path.is_file()
        and is_data_path(path)
    ]
    if len(found) > 1:
        raise MaucError(
            f"the folder MAUC_DATA ({folder}) has several files for {name!r}: "
            f"{', '.join(path.name for path in found)}; remove all but one, or give the path of "
            f"the one you mean."
        )
    return found[0] if found else None


def cached_path(name: str) -> Path | None:
    """Return the file of a downloaded data set, or None; its digest must be the recorded one."""
    path = cache_folder() / f"{name}.npz"
    if not path.is_file():
        return None
    private_folder()
    if (read_note(name) or {}).get("npz_sha256") != file_digest(path):
        raise MaucError(
            f"{path} is not what was recorded when {name!r} was fetched (it was changed or is "
            f"broken); download it again with `mauc datasets fetch {name} --force`."
        )
    return path


def read_note(name: str) -> dict[str, Any] | None:
    """Return what was recorded of a download, or None."""
    try:
        text = (cache_folder() / f"{name}.json").read_text(encoding="utf-8")
        note: dict[str, Any] = json.loads(text)
    except (OSError, ValueError):
        return None
    return note
