"""Load a data set: a name or a path in, a Dataset out."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mauc.checks import check_choice, is_int, is_real
from mauc.datasets.assemble import assemble
from mauc.datasets.bundled import BUNDLED, load_bundled
from mauc.datasets.dataset import Dataset
from mauc.datasets.find import find_dataset
from mauc.datasets.nominal import NOMINAL, encode_dataset
from mauc.datasets.readers import FORMATS
from mauc.datasets.readers.expression import read_samples
from mauc.datasets.readers.table import Table
from mauc.datasets.stream import NAME, is_stream, stream_as_file
from mauc.exceptions import MaucError

#: the options of `load_dataset` and their defaults
OPTIONS: dict[str, Any] = {
    "format": None, "nominal": "keep", "categorical_features": (), "drop": (), "keep_ids": False,
    "skip_unlabelled": False, "many_classes": False, "encoding": None, "separator": None,
    "decimal": None, "thousands": None, "header": None, "missing": None, "sheet": None,
}  # fmt: skip


def load_dataset(
    source: str | Path,
    target: str | int | None = None,
    *,
    format: str | None = None,
    nominal: str = "keep",
    categorical_features: str | int | Sequence[str | int] = (),
    drop: str | int | Sequence[str | int] = (),
    keep_ids: bool = False,
    skip_unlabelled: bool = False,
    many_classes: bool = False,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    header: bool | None = None,
    missing: str | Sequence[str] | None = None,
    sheet: str | int | None = None,
) -> Dataset:
    """Load a data set by its name, or a file by its path.

    Parameters
    ----------
    source : str or Path
        A name in `BUNDLED`; the name, without extension, of a file in the folder that the
        environment variable MAUC_DATA names; the name of a data set that `fetch` has downloaded;
        or a path. ``"-"`` reads standard input.
    target : str or int, optional
        The column with the labels, by name or number (-1 is the last). Needed for csv, tsv,
        txt, xlsx, parquet and feather files. The default for arff is the last attribute; npz, mat,
        envi and svmlight files keep labels apart, and so do text files with a file
        ``NAME_labels.tsv`` beside them, see the notes.
    format : {"arff", "csv", "envi", "feather", "mat", "npz", "parquet", "svmlight", "tsv", \
            "txt", "xlsx"}, optional
        By default the extension decides, for .txt files and streams the content; text formats may
        be compressed (``.csv.gz``).
    nominal : {"keep", "ordinal", "onehot", "drop"}, default="keep"
        How to treat columns that hold text, categories or booleans, see `encode_dataset`.
        Kept, they are categorical columns of a data frame `X`.
    categorical_features : str, int or sequence of these
        Columns that are nominal although they hold numbers.
    drop : str, int or sequence of these
        Columns to leave out.
    keep_ids : bool, default=False
        Whether to keep columns that look like no features: row numbers, identifiers, dates,
        columns of a single value and nearly empty ones, see the notes. Dates that are kept are
        seconds since 1970, or text if the file has text.
    skip_unlabelled : bool, default=False
        Whether to leave out rows without a label; otherwise they are an error.
    many_classes : bool, default=False
        Whether the target may have more than 1,000 values or, if it has more than 20, fewer than
        two rows for each on average; otherwise it is taken for a measurement and refused.
    encoding : str, default="utf-8"
        Of csv, tsv, txt and arff files.
    separator : str, optional
        Of csv, tsv and txt files; "whitespace" for any run of blanks and tabs.
    decimal : str, default="."
        The decimal point of csv, tsv and txt files.
    thousands : str, optional
        What separates thousands in csv, tsv and txt files. By default it is recognised in columns
        that leave no doubt, such as one with "3,070" and "1,234,567".
    header : bool, default=True
        Whether csv, tsv and txt files begin with a line of names.
    missing : str or sequence of str, optional
        What stands for a missing value in csv, tsv, txt and xlsx files besides nothing, ``?``,
        ``NA``, ``N/A``, ``NaN``, ``nan`` and ``null``. Labels that are names are missing only
        where there is nothing, ``?`` or what this parameter names: "NA" may be a class.
    sheet : str or int, optional
        Of an xlsx file, by name or number; the first by default.

    Returns
    -------
    dataset : Dataset
        Its `notes` say how the columns were taken, its `source` is this call.

    Warns
    -----
    LeftOutWarning
        Names the columns that were left out.

    Notes
    -----
    Columns of named tables (csv, tsv, txt, xlsx, arff, parquet, feather) are left out if they

    - number the rows: 0, 1, 2, ... or 1, 2, 3, ... in this order, or from any number in a column
      that has no name or is called an identifier;
    - identify them: texts of which 95 % are different; whole numbers that are all different in a
      column whose name says so (``id``, ``PassengerId``, ``row_no``) or beyond 2**53, or a range
      in a column whose name has a word such as ``index``;
    - are dates or times, by type or text;
    - have a single value, or more than 95 % missing values.

    In tables of fewer than 10 rows only dates and row numbers without a name are. Columns in
    `categorical_features` are always kept, and so are all columns of bundled data sets, npz, mat,
    envi and svmlight files and expression matrices.

    An image cube, ENVI's ``NAME.hdr`` with its flat file or a ``NAME.mat`` with a variable of lines
    x columns x bands, gives one row per pixel that has a class in its ground truth, ``NAME_gt.mat``
    or ``NAME_gt.hdr`` beside it (0 is no class), and one feature per band.

    A csv, tsv or txt file may be an expression matrix, with names of features (genes) in its first
    column and one further column per sample. The labels are one of its rows, which `target` names,
    or are in ``NAME_labels.tsv`` (or csv, txt): one line per sample, its name and its label. Such a
    file tells the labels of samples in rows as well. The target of a text file that is called by
    its name is "class" by default.

    Examples
    --------
    >>> from mauc.datasets import load_dataset
    >>> load_dataset("wine").X.shape
    (178, 13)
    >>> load_dataset("wine", drop=["hue", 0]).source
    "load_dataset('wine', drop=['hue', 0])"
    """
    check_choice("nominal", nominal, NOMINAL)
    if format is not None:
        check_choice("format", format, FORMATS)
    target = None if target is None else _plain_column("target", target)
    marked = _plain_columns("categorical_features", categorical_features)
    dropped = _plain_columns("drop", drop)
    options = {
        "encoding": encoding,
        "separator": separator,
        "decimal": decimal,
        "thousands": thousands,
        "header": header,
        "missing": None if missing is None else _plain_words(missing),
        "sheet": int(sheet) if sheet is not None and is_int(sheet) else sheet,
    }
    given = {
        "format": format, "nominal": nominal, "categorical_features": marked, "drop": dropped,
        "keep_ids": keep_ids, "skip_unlabelled": skip_unlabelled, "many_classes": many_classes,
        **options,
    }  # fmt: skip
    options["missing"] = None if missing is None else _listed(given["missing"])
    marked, dropped = _listed(marked), _listed(dropped)
    rules: dict[str, Any] = {
        "categorical_features": marked, "drop": dropped, "keep_ids": keep_ids,
        "skip_unlabelled": skip_unlabelled, "many_classes": many_classes,
    }  # fmt: skip
    if _is_bundled(source, format):
        dataset = assemble(_bundled_table(str(source), target, options), target, **rules)
        name = str(source)
    else:
        options |= {"texts": marked or None, "label": target}
        if is_stream(source):
            with stream_as_file(source) as path:
                table, column = read_samples(
                    path, format or "txt", target, is_named=False, **options
                )
                dataset, name = assemble(table, column, **rules), NAME
        else:
            path = find_dataset(source)
            is_named = path != Path(source)
            table, column = read_samples(path, format, target, is_named=is_named, **options)
            dataset = assemble(table, column, **rules)
            name = str(source) if is_named else _stem(path)
    encoded = encode_dataset(replace(dataset, name=name), nominal)
    return replace(encoded, source=_call(source, target, given))


def _is_bundled(source: str | Path, format: str | None) -> bool:
    """Whether a source is a bundled data set; a format says that it is a file."""
    if not isinstance(source, str) or source not in BUNDLED:
        return False
    if format is not None and not Path(source).is_file():
        raise MaucError(
            f"format goes with files, not with the bundled data set {source!r}, got {format!r}."
        )
    return format is None


def _call(source: str | Path, target: str | int | None, given: dict[str, Any]) -> str:
    """Return the call of `load_dataset` with what differs from its defaults."""
    words = [repr(str(source))] + ([] if target is None else [repr(target)])
    for name, value in given.items():
        if value != OPTIONS[name] and value != []:
            words.append(f"{name}={value!r}")
    return f"load_dataset({', '.join(words)})"


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


def _plain_columns(option: str, given: Any) -> Any:
    """Return a column, or the list of columns of any sequence, as plain names and numbers."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return _plain_column(option, given)
    return [_plain_column(option, column) for column in given]


def _plain_column(option: str, column: Any) -> str | int:
    if isinstance(column, str):
        return str(column)
    if is_int(column):
        return int(column)
    raise MaucError(f"{option} must name columns by text or whole number, got {column!r}.")


def _plain_words(given: Any) -> str | list[str]:
    """Return a word, or the list of words of any sequence, as plain text."""
    if isinstance(given, str) or is_real(given):
        return str(given)
    return [str(word) for word in given]


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


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
