"""The registry of data sets: label, origin, licence, shape, and how they compare to the paper's."""

from mauc.checks import unknown_choice
from mauc.datasets.by_hand import THYROID, WASHINGTON
from mauc.datasets.entry import Entry

OPENML = "https://www.openml.org"
_ESL = "https://hastie.su.domains/ElemStatLearn"
_UCI = "https://archive.ics.uci.edu/dataset"
_CC_BY = "CC BY 4.0"


def _openml(number: int) -> str:
    return f"{OPENML}/d/{number}"


_ENTRIES = (
    Entry(
        "breast_cancer", "Breast cancer Wisconsin (diagnostic)", (f"{_UCI}/17",), _CC_BY,
        569, 30, 2, (357, 212), "not in the paper",
    ),
    Entry(
        "control_charts", "Control charts, generated like the UCI data set", (f"{_UCI}/139",),
        "generated, no rights reserved",
        600, 60, 6, (100,) * 6, "another sample of what Synthetic was drawn from",
    ),
    Entry(
        "digits", "Handwritten digits, 8 x 8 pixels", (f"{_UCI}/80",), _CC_BY,
        1797, 64, 10, (183, 182, 182, 181, 181, 180, 179, 178, 177, 174), "not in the paper",
    ),
    Entry(
        "indiana", "Indian Pines hyperspectral image",
        (_openml(41972), "https://purr.purdue.edu/publications/1947"),
        "public; see its page at OpenML",
        versus_paper="paper: 9345 x 220, 9 classes; pixels, bands and classes of this version "
        "differ, so results are not comparable",
        openml_id=41972,
        label="Indiana",
    ),
    Entry(
        "iris", "Iris flowers", (f"{_UCI}/53",), _CC_BY,
        150, 4, 3, (50,) * 3, "not in the paper",
    ),
    Entry(
        "isolet", "Spoken letters", (_openml(300), f"{_UCI}/54"), _CC_BY,
        7797, 617, 26, (300,) * 24 + (299, 298), "same", openml_id=300,
        label="ISOLET",
    ),
    Entry(
        "mnist", "Handwritten digits, 28 x 28 pixels, the test part (t10k)", (_openml(554),),
        "CC BY-SA 3.0",
        10000, 784, 10, (1135, 1032, 1028, 1010, 1009, 982, 980, 974, 958, 892),
        "same: the last 10000 rows of mnist_784 are the test part, which the paper used",
        openml_id=554, rows=(60000, 70000),
        label="MNIST",
    ),
    Entry(
        "phoneme", "Log-periodograms of five phonemes (Elements of Statistical Learning)",
        (f"{_ESL}/datasets/phoneme.info.txt",), "free for research; drawn from TIMIT",
        4509, 256, 5, (1163, 1022, 872, 757, 695), "same",
        url=f"{_ESL}/datasets/phoneme.data",
        reading={"format": "csv", "target": "g", "drop": ["row.names", "speaker"]},
        label="Phoneme",
    ),
    Entry(
        "siren", "Generated: easy class pairs drown out hard ones", (),
        "generated, no rights reserved",
        600, 78, 6, (100,) * 6, "not in the paper",
    ),
    Entry(
        "synthetic", "Synthetic control chart time series", (_openml(377), f"{_UCI}/139"), _CC_BY,
        600, 60, 6, (100,) * 6, "same", openml_id=377,
        label="Synthetic",
    ),
    THYROID,
    Entry(
        "usps", "Handwritten zip-code digits, 16 x 16 pixels",
        (_openml(41082), f"{_ESL}/datasets/zip.info.txt"), "public; see its page at OpenML",
        9298, 256, 10,
        versus_paper="paper: the 7291 samples of the training part; this has both parts",
        openml_id=41082,
        label="USPS",
    ),
    WASHINGTON,
    Entry(
        "wine", "Wines by their chemistry", (f"{_UCI}/109",), _CC_BY,
        178, 13, 3, (71, 59, 48), "not in the paper",
    ),
)  # fmt: skip
REGISTRY = {entry.name: entry for entry in _ENTRIES}
_LABELS = {entry.name: entry.label for entry in _ENTRIES if entry.label}


def dataset_label(name: str) -> str:
    """Return how tables and figures write the name of a data set; other names stay as they are.

    Examples
    --------
    >>> from mauc.datasets import dataset_label
    >>> dataset_label("isolet"), dataset_label("my_data")
    ('ISOLET', 'my_data')
    """
    return _LABELS.get(name.lower(), name)


def list_datasets() -> list[Entry]:
    """Return all data sets that have a name, sorted by it.

    Examples
    --------
    >>> from mauc.datasets import list_datasets
    >>> [entry.name for entry in list_datasets() if not entry.is_bundled]
    ['indiana', 'isolet', 'mnist', 'phoneme', 'synthetic', 'thyroid', 'usps', 'washington']
    """
    return [REGISTRY[name] for name in sorted(REGISTRY)]


def dataset_info(name: str) -> Entry:
    """Return what is known of a data set before it is loaded.

    Parameters
    ----------
    name : str

    Returns
    -------
    entry : Entry

    Examples
    --------
    >>> from mauc.datasets import dataset_info
    >>> dataset_info("isolet").n_features
    617
    """
    if name not in REGISTRY:
        raise unknown_choice("data set", name, sorted(REGISTRY))
    return REGISTRY[name]
