"""Data in: data sets by name, files by path; reduced data out."""

from mauc.datasets.bundled import BUNDLED, load_bundled
from mauc.datasets.dataset import Dataset
from mauc.datasets.fetch import fetch
from mauc.datasets.generated import make_control_charts, make_siren
from mauc.datasets.load import load_dataset, read_csv
from mauc.datasets.nominal import NOMINAL, check_numeric, coded_columns, encode_dataset
from mauc.datasets.readers import FORMATS
from mauc.datasets.registry import Entry, dataset_info, dataset_label, list_datasets
from mauc.datasets.writers import WRITABLE, write_table

__all__ = [
    "BUNDLED", "FORMATS", "NOMINAL", "WRITABLE", "Dataset", "Entry", "check_numeric",
    "coded_columns", "dataset_info", "dataset_label", "encode_dataset", "fetch", "list_datasets",
    "load_bundled", "load_dataset", "make_control_charts", "make_siren", "read_csv", "write_table",
]  # fmt: skip
