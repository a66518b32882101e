"""Load a data set: a name or a path in, a Dataset out."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mauc.checks import check_choice
from mauc.datasets.assemble import assemble
from mauc.datasets.bundled import BUNDLED, load_bundled
from mauc.datasets.dataset import Dataset
from mauc.datasets.find import find_dataset
from mauc.datasets.nominal import NOMINAL, encode_dataset
from mauc.datasets.readers import read_table
from mauc.datasets.readers.table import Table
from mauc.exceptions import MaucError


def load_dataset(
    source: str | Path,
    target: str | int | None = None,
    *,
    format: str | None = None,
    nominal: str = "keep",
    categorical_features: str | int | Sequence[str | int] = (),
    drop: str | int | Sequence[str | int] = (),
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    missing: str | Sequence[str] | None = None,
) -> Dataset:
    """Load a data set by its name, or a file by its path.

    Parameters
    ----------
    source : str or Path
        A name in `BUNDLED`; the name of an .npz file in the folder that the environment
        variable MAUC_DATA names; the name of a data set that `fetch` has downloaded; or a path.
    target : str or int, optional
        The column with the labels, by name or number (-1 is the last). Needed for csv, tsv,
        parquet and feather files. The default for arff is the last attribute; npz, mat and
        svmlight files keep labels apart.
    format : {"arff", "csv", "feather", "mat", "npz", "parquet", "svmlight", "tsv"}, optional
        By default the extension decides; text formats may be compressed (``.csv.gz``).
    nominal : {"keep", "ordinal", "onehot", "drop"}, default="keep"
        How to treat columns that hold text, categories or booleans, see `encode_dataset`.
        Kept, they are categorical columns of a data frame `X`.
    categorical_features : str, int or sequence of these
        Columns that are nominal although they hold numbers.
    drop : str, int or sequence of these
        Columns to leave out, such as identifiers.
    encoding : str, default="utf-8"
        Of csv, tsv and arff files.
    separator : str, optional
        Of csv and tsv files.
    decimal : str, default="."
        The decimal point of csv and tsv files.
    header : bool, default=True
        Whether csv and tsv files begin with a line of names.
    missing : str or sequence of str, optional
        What stands for a missing value in csv and tsv files besides nothing, ``?``, ``NA``,
        ``N/A``, ``NaN``, ``nan`` and ``null``.

    Returns
    -------
    dataset : Dataset

    Examples
    --------
    >>> from mauc.datasets import load_dataset
    >>> load_dataset("wine").X.shape
    (178, 13)
    """
    check_choice("nominal", nominal, NOMINAL)
    marked, dropped = _listed(categorical_features), _listed(drop)
    options = {
        "encoding": encoding,
        "separator": separator,
        "decimal": decimal,
        "header": header,
        "missing": None if missing is None else [str(text) for text in _listed(missing)],
    }
    if isinstance(source, str) and source in BUNDLED and format is None:
        table = _bundled_table(source, target, options)
        name = source
    else:
        path = find_dataset(source)
        is_named = path != Path(source)
        texts = [str(column) for column in marked] or None
        table = read_table(path, format, texts=texts, **options)
        name = str(source) if is_named else _stem(path)
    dataset = assemble(table, target, categorical_features=marked, drop=dropped)
    return encode_dataset(replace(dataset, name=name), nominal)


def read_csv(path: str | Path, target: str | int | None = None, **options: Any) -> Dataset:
    """Read a CSV file, whatever its extension.

    Parameters
    ----------
    path : str or Path
    target : str or int
        The column with the labels.
    **options
        Those of `load_dataset`.

    Returns
    -------
    dataset : Dataset
    """
    return load_dataset(Path(path), target, format="csv", **options)


def _stem(path: Path) -> str:
    """Return the name of a file without its extension, and without ``.gz``."""
    name = path.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _listed(given: str | int | Sequence[Any]) -> list[Any]:
    return [given] if isinstance(given, str | int) else list(given)


def _bundled_table(name: str, target: str | int | None, options: dict[str, Any]) -> Table:
    if target is not None:
        raise MaucError(
            f"the bundled data set {name!r} has its labels already, got target {target!r}; "
            f"write ./{name} for a file of that name."
        )
    for option, value in options.items():
        if value is not None:
            raise MaucError(f"{option} goes with files, not with the bundled data set {name!r}.")
    dataset = load_bundled(name)
    return Table(Path(name), dataset.X, dataset.feature_names, labels=dataset.y)
