"""Load a data set, or open its columns: a name, path or object in, features and labels out."""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from mauc.data.columns import as_floats, default_names, is_frame
from mauc.data.labels import check_vector, missing_mask
from mauc.data.rows import looks_like_group
from mauc.data.source import ColumnSource, default_memory
from mauc.exceptions import (
    WARNING,
    ColumnWarning,
    LeftOutWarning,
    MaucError,
    NotEnoughMemoryError,
    option,
    warn_user,
)
from mauc.io import rules
from mauc.io.dataset import Dataset, columns_note, encode_dataset
from mauc.io.features import FeatureColumns, HeldColumns, feature_matrix
from mauc.io.files import STDIN, hide_password, is_address, is_stream, split_archive, stream_as_file
from mauc.io.formats import SPECIAL, TEXT_FORMATS, find_format, open_table, split_array
from mauc.io.labels import check_labels, read_labels
from mauc.io.objects import as_vector, open_in_memory, open_object
from mauc.io.options import ReadOptions, with_option_texts
from mauc.io.table import Table
from mauc.memory import format_bytes, parse_bytes
from mauc.results import plural

# Bytes of a row while labels are read and checked (a class of one letter: 38), and those of labels
# that are taken beside the memory that was asked for.
_LABEL_BYTES, _SMALL_BYTES = 40, 2**27
LABEL = "class"  # column with the labels of a text file that is called by the name of its data set


@with_option_texts
def load_dataset(source: str | Path, target: str | int | None = None, **options: Any) -> Dataset:
    """Load a data set by its name, or a file by its path, into memory.

    Parameters
    ----------
    source : str or Path
        A name in `BUNDLED`; the name, without extension, of a file in the folder that the
        environment variable MAUC_DATA names; the name of a data set that `fetch` has downloaded;
        or a path, or an address, of any format of `mauc.open_columns`. ``"-"`` reads standard
        input.
    {target}
    {options}

    Returns
    -------
    dataset : Dataset
        Its `notes` say how the columns were taken, its `source` is this call.

    Warns
    -----
    LeftOutWarning
        Names the columns that were left out.
    ColumnWarning
        Names columns and labels that may not be what they are taken for.

    Notes
    -----
    Columns of named tables (all formats but those of arrays, see below) are left out if they

    - number the rows: 0, 1, 2, ... or 1, 2, 3, ... in this order, or from any number in a column
      that has no name or is called an identifier;
    - identify them: texts of which 95 % are different; in a column whose name says so (``id``,
      ``PassengerId``, ``row_no``) texts or whole numbers of which 90 % are different, or which
      count rows and start again; the same beyond 2**53, or a range in a column whose name has a
      word such as ``index``;
    - are free text: most are different, of four words or more in the mean;
    - are dates or times of day, by type or text (of more than 20 different texts a twentieth may be
      something else);
    - have a single value, or more than 95 % missing values.

    In tables of fewer than 10 rows only dates and row numbers without a name are. Columns in
    `categorical_features` are always kept, and so are all columns of bundled data sets and of
    arrays (npz, mat, svmlight, npy, zarr, hdf5). Dates that are kept are seconds since 1970, or
    text if the file has text. The target of a text file that is called by its name is "class" by
    default.

    Examples
    --------
    >>> from mauc.datasets import load_dataset
    >>> load_dataset("wine").X.shape
    (178, 13)
    >>> load_dataset("wine", drop=["hue", 0]).source
    "load_dataset('wine', drop=['hue', 0])"
    """
    plain = ReadOptions.make("load_dataset", {**options, "target": target})
    with _opened(source, plain) as (table, plain, name):
        dataset = encode_dataset(assemble(table, plain, name), plain.nominal)
    return replace(dataset, source=_call(source, target, options, plain))


class LocatedDataset(NamedTuple):
    """A data set and what its file has besides."""

    dataset: Dataset
    rows: np.ndarray[Any, Any]  #: number in the file, from 0, of every row
    dates: dict[str, np.ndarray[Any, Any]]  #: columns left out as dates, in seconds, NaN if missing
    locate: Callable[[Iterable[int]], list[str]]  #: where rows of the file are, such as "line 3"


@contextmanager
def load_located(
    source: str | Path, target: str | int | None = None, **options: Any
) -> Iterator[LocatedDataset]:
    """Load a data set as `load_dataset`; its file is there until the context ends."""
    plain = ReadOptions.make("load_dataset", {**options, "target": target})
    with _opened(source, plain) as (table, plain, name):
        dataset, rows, excluded = _assemble(table, plain, name)
        dates = {
            table.names[j]: _as_seconds(np.asarray(table.source.read(np.array([j]))[0]))[rows]
            for j, reason in excluded.items()
            if reason == "dates"
        }
        located = partial(_locate_rows, table.locate_row)
        yield LocatedDataset(encode_dataset(dataset, plain.nominal), rows, dates, located)


def _as_seconds(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return dates, by type, text or numbers such as 20240131, in seconds since 1970."""
    import pandas as pd

    if values.dtype.kind not in "mM":
        if values.dtype.kind in "iuf":
            texts = pd.Series(values).astype("Int64").astype("string")
            dates = pd.to_datetime(texts, format="%Y%m%d", errors="coerce")
        else:
            texts = pd.Series(values).astype("string")
            first = pd.to_numeric(texts.str.extract(r"^(\d{1,2})[./-]")[0])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of days that come first
                dates = pd.to_datetime(
                    texts,
                    format="mixed",
                    errors="coerce",
                    utc=True,
                    dayfirst=bool((first > 12).any()),
                ).dt.tz_localize(None)
        values = dates.to_numpy()
    return as_floats(values)


def _locate_rows(locate: Callable[[int], str], rows: Iterable[int]) -> list[str]:
    """Return where rows are; between two rows as far apart as their lines nothing is looked up."""
    wanted = sorted({int(row) for row in rows})
    found: dict[int, str] = {}

    def fill(first: int, last: int) -> None:
        ends = [found.setdefault(wanted[at], locate(wanted[at])) for at in (first, last)]
        if last - first < 2:
            return
        (word, start), (_, stop) = (end.rsplit(" ", 1) for end in ends)
        if int(stop) - int(start) == wanted[last] - wanted[first]:
            for row in wanted[first + 1 : last]:
                found[row] = f"{word} {int(start) + row - wanted[first]}"
            return
        middle = (first + last) // 2
        fill(first, middle)
        fill(middle, last)

    if wanted:
        fill(0, len(wanted) - 1)
    return [found[int(row)] for row in rows]


@with_option_texts
def open_columns(
    data: Any, target: Any = None, *, memory: int | str | None = None, **options: Any
) -> tuple[ColumnSource, np.ndarray[Any, Any]]:
    """Open data whose columns are read when they are needed, and read their labels.

    Selectors and `feature_pair_auc` take the source in the place of `X`; they read its columns in
    blocks, within `memory`, and find what they would find on an array with all columns, to the bit.

    Parameters
    ----------
    data : str, path or object
        - a Parquet or Feather (Arrow IPC) file, a folder of such files, a pattern such as
          ``"part-*.parquet"``, or the address of any of these in a file system of fsspec
          (``"s3://bucket/folder"``). Values in the names of folders (``year=2024/``) are columns.
        - a .npy file; a Zarr array or an HDF5 file, with the name of the array after ``::`` if
          there are several (``"data.h5::X"``);
        - a csv, tsv or txt file, which is converted once into a cache on disk, see
          ``mauc cache``; any other file of `mauc.datasets.load_dataset`, which is read whole;
        - an array or memmap, a sparse matrix, a Zarr array, an h5py dataset, a table or dataset of
          pyarrow, a Dask array or data frame, a data frame of pandas or polars.
    target : str, int or array-like of shape (n_samples,)
        The column with the labels, by name or number (-1 is the last); or the labels; or the file
        (.npy), or the name of the array in the same Zarr group or HDF5 file, that holds them.
    memory : int or str, optional
        What a pass over the columns may take, in bytes or as text ("1GB", "500MB", "2GiB"); a
        quarter of the free memory by default.
    {options}

    Returns
    -------
    source : ColumnSource of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels: integers or texts.

    Examples
    --------
    >>> import numpy as np
    >>> from mauc import MDFS, open_columns
    >>> X = np.array([[1.0, 5.0, 0.0], [2.0, 4.0, 0.0], [3.0, 5.0, 1.0], [4.0, 4.0, 1.0]])
    >>> source, y = open_columns(X, target=2, memory="100MB")
    >>> source.shape, MDFS(1).fit(source, y).get_feature_names_out()
    ((4, 2), array(['x0'], dtype=object))
    """
    limit = None if memory is None else parse_bytes(memory, option("memory"))
    if isinstance(target, PathLike):
        target = fspath(target)
    is_column = target is None or isinstance(target, str) or np.ndim(target) == 0
    if options.get("groups") is not None:
        raise MaucError(
            f"{option('groups')} must be None here, as columns and labels alone are returned; read "
            f"that column on its own and pass it to fit, got {options['groups']!r}."
        )
    given = {"keep_ids": True, **options, "target": target if is_column else None}
    plain = ReadOptions.make("open_columns", given)
    if isinstance(data, str | PathLike):
        table = open_table(fspath(data), plain, default_memory() if limit is None else limit)
    else:
        _refuse_file_options(plain, f"a {type(data).__name__}.")
        table = _object_table(data, limit)
    if not is_column:
        table = replace(table, labels=_as_labels(target, table), has_named_labels=True)
    dataset = assemble(table, plain, "", is_streamed=True, is_raw=True)
    dataset = encode_dataset(dataset, plain.nominal)
    return dataset.X, dataset.y


def open_dataset(
    data: str, target: str | int | None = None, *, memory: int | None = None, **options: Any
) -> Dataset:
    """Open a data set whose columns are read when they are needed, otherwise as `load_dataset`."""
    plain = ReadOptions.make("open_dataset", {**options, "target": target})
    table, plain, name = _find_table(data, plain, default_memory() if memory is None else memory)
    return encode_dataset(assemble(table, plain, name, is_streamed=True), plain.nominal)


def describe_file(data: str, **options: Any) -> tuple[Any, list[str]]:
    """Return how every column of a data set is taken, and notes, as `load_dataset` would."""
    plain = ReadOptions.make("describe_file", options)
    with _opened(data, plain, default_memory()) as (table, plain, _):
        return rules.describe_columns(table, plain)


@contextmanager
def _opened(
    source: str | Path, options: ReadOptions, memory: int | None = None
) -> Iterator[tuple[Table, ReadOptions, str]]:
    """Open a stream, or what `_find_table` finds."""
    if not is_stream(source):
        yield _find_table(source, options, memory)
        return
    with stream_as_file(source) as path:
        as_text = options if options.format else replace(options, format="txt")
        yield open_table(str(path), as_text, memory), as_text, STDIN


def assemble(
    table: Table,
    options: ReadOptions,
    name: str,
    *,
    is_streamed: bool = False,
    is_raw: bool = False,
) -> Dataset:
    """Split a table into features and labels; if streamed, `X` is a source, as read if raw."""
    return _assemble(table, options, name, is_streamed=is_streamed, is_raw=is_raw)[0]


def _assemble(
    table: Table,
    options: ReadOptions,
    name: str,
    *,
    is_streamed: bool = False,
    is_raw: bool = False,
) -> tuple[Dataset, np.ndarray[Any, Any], dict[int, str]]:
    """Return what `assemble` does, the rows of the table that it has, and why columns are not."""
    roles = rules.find_roles(table, options)
    source, target = table.source, roles.target
    if is_streamed:
        _check_rows(source)
    elif getattr(source, "matrix", None) is None:
        others = [j for j in (target, roles.groups) if j is not None]
        source = HeldColumns(source, [*roles.features, *others])
    labels, target_name, what = read_labels(table, source, target)
    y, is_missing, label_notes = check_labels(table, labels, what, options)
    judged = [] if options.keep_ids else roles.features
    excluded, doubts = rules.find_excluded(table, source, judged, roles.categorical)
    kept = [j for j in roles.features if j not in excluded]
    reasons = {table.names[j]: reason for j, reason in excluded.items()}
    listed = rules.list_excluded(reasons)
    if not kept:
        raise MaucError(
            f"{table.path} has no column left to be a feature; left out: {listed}. "
            f"{option('keep_ids', True)} keeps them."
        )
    notes = [*label_notes, *table.notes]
    if doubts:
        doubtful = rules.list_excluded({table.names[j]: doubt for j, doubt in doubts.items()})
        notes.append(f"{WARNING}may not be features: {doubtful}; {option('drop')} leaves them out")
    for j in kept:
        if j not in roles.categorical:
            notes += table.check_column(j)
    X: Any
    if is_streamed:
        X = _stream(table, kept, roles.categorical & set(kept), is_raw)
        X = X.take_rows(~is_missing) if is_missing.any() else X
    else:
        X = feature_matrix(table, source, kept, roles.categorical)
        if is_missing.any():
            X = X.loc[~is_missing].reset_index(drop=True) if is_frame(X) else X[~is_missing]
    groups = None
    if roles.groups is not None:
        groups = _read_groups(table, source, roles.groups)[~is_missing]
        notes.insert(
            0, f"{plural(len(np.unique(groups)), 'group')} by {table.names[roles.groups]!r}"
        )
    elif judged and table.is_named and not is_streamed and len(y) >= rules.MIN_ROWS:
        notes += _group_notes(X, y, [table.names[j] for j in kept])
    dataset = Dataset(
        name, X, y, [table.names[j] for j in kept], target_name=target_name, groups=groups
    )
    nominal = dataset.nominal_features
    categories = {} if is_streamed else {key: tuple(X[key].cat.categories) for key in nominal}
    first = columns_note(len(kept) - len(nominal), len(nominal), excluded=reasons)
    if reasons:
        it = "it" if len(reasons) == 1 else "them"
        warn_user(
            f"{table.path}: left out: {listed}; {option('keep_ids', True)} keeps {it}.",
            LeftOutWarning,
        )
    for note in notes:
        if note.startswith(WARNING):
            warn_user(f"{table.path}: {note.removeprefix(WARNING)}.", ColumnWarning)
    dataset = replace(dataset, categories=categories, notes=(first, *notes))
    return dataset, np.flatnonzero(~is_missing), excluded


def _read_groups(table: Table, source: ColumnSource, column: int) -> np.ndarray[Any, Any]:
    """Return what rows belong to: the values of a column, as texts if they are not numbers."""
    groups = np.asarray(source.read(np.array([column]))[0])
    is_missing = missing_mask(groups)
    if is_missing.any():
        raise MaucError(
            f"{table.path}: {option('groups')} {table.names[column]!r} has no value in "
            f"{table.locate_row(int(np.argmax(is_missing)))}; every row needs a group."
        )
    return groups if groups.dtype.kind in "iufb" else groups.astype(str)


def _group_notes(X: Any, y: np.ndarray[Any, Any], names: list[str]) -> list[str]:
    """Return a warning of the first column that looks like a group, if there is one."""
    codes = np.unique(y, return_inverse=True)[1]
    for j, name in enumerate(names):
        values = X.iloc[:, j] if is_frame(X) else X[:, j]
        is_nominal = str(values.dtype) == "category"
        values = values.cat.codes.to_numpy() if is_nominal else np.asarray(values)
        if looks_like_group(values, codes, name, is_nominal=is_nominal):
            return [
                f"{WARNING}{name!r} looks like a group, such as a patient, not like a feature: "
                f"{option('groups', name)} keeps its rows on one side of every split"
            ]
    return []


def _check_rows(source: ColumnSource) -> None:
    """Raise if the labels, which are in memory in any case, take more of it than is allowed."""
    needed = _LABEL_BYTES * source.shape[0]
    if needed > source.memory + _SMALL_BYTES:
        raise NotEnoughMemoryError(
            f"{source.name}: the labels of {source.shape[0]:,} rows take about "
            f"{format_bytes(needed)}, but {option('memory')} is {format_bytes(source.memory)}; "
            f"allow that much, or take a sample of the rows."
        )


def _refuse_file_options(options: ReadOptions, what: str) -> None:
    for name in options.given():
        if name == "format" or name in SPECIAL:
            raise MaucError(f"{option(name)} goes with files, not with {what}")


def _stream(
    table: Table, kept: list[int], categorical: Collection[int], is_raw: bool
) -> ColumnSource:
    """Return the source of the features."""
    source = table.source
    if not is_raw or categorical or table.categories:
        return FeatureColumns(table, kept, categorical, is_raw=is_raw)
    if kept == list(range(source.shape[1])):
        return source
    part = source.take(np.array(kept))
    if part.feature_names is None:  # columns keep their numbers
        part.feature_names = np.array([table.names[j] for j in kept], dtype=object)
    return part


def _object_table(data: Any, memory: int | None) -> Table:
    """Return the table of an object that holds columns."""
    source = open_object(data, memory=memory)
    source = open_in_memory(data, memory) if source is None else source
    if hasattr(source, "arrow_types"):
        from mauc.io.arrow import arrow_table

        return arrow_table(source)  # type: ignore[arg-type]
    named = source.feature_names
    names = named.tolist() if named is not None else default_names(range(source.shape[1]))
    return Table(source.name, source, names, is_named=named is not None)


def _as_labels(target: Any, table: Table) -> Any:
    """Return labels of any kind as an array or Series; Dask collections are computed."""
    target = as_vector(target)
    if hasattr(target, "to_pandas"):
        target = target.to_pandas()  # of polars
    is_series = hasattr(target, "isna") and hasattr(target, "to_numpy")
    labels = target if is_series else check_vector(target, "target")
    if len(labels) != table.source.shape[0]:
        raise MaucError(
            f"{table.path} has {plural(table.source.shape[0], 'row')}, but target has "
            f"{plural(len(labels), 'label')}."
        )
    return labels


def _find_table(
    source: str | Path, options: ReadOptions, memory: int | None = None
) -> tuple[Table, ReadOptions, str]:
    """Return the table of a path, an address or the name of a data set, and what it is called."""
    from mauc.io.registry import BUNDLED, find_dataset, load_bundled

    data = str(source)
    if source in BUNDLED and not (options.format and Path(data).is_file()):
        way_out = f"write ./{data} for a file of that name."
        _refuse_file_options(options, f"the bundled data set {data!r}; {way_out}")
        dataset = load_bundled(data)
        columns, names = open_in_memory(dataset.X, None), dataset.feature_names
        return Table(data, columns, names, labels=dataset.y, is_named=False), options, data
    if is_address(data) or has_magic(data) or split_array(data)[1] is not None:
        return open_table(data, options, memory), options, _name(data)
    path = find_dataset(source)
    if path == Path(source):
        return open_table(str(path), options, memory), options, _name(data)
    if options.target is None and find_format(path, options.format) in TEXT_FORMATS:
        by_name = replace(options, target=LABEL)
        table = open_table(str(path), by_name, memory)
        if LABEL in table.names or (table.labels is None and table.target is None):
            return table, by_name, data
    return open_table(str(path), options, memory), options, data


def _name(data: str) -> str:
    """Return what a data set is called: its file without the extension, and without ``.gz``."""
    if has_magic(data) and not Path(data).is_file():
        return data
    name, _ = split_archive(PurePosixPath(data.partition("://")[2] or data).name)
    return name.rpartition(".")[0] or name


def _call(source: Any, target: Any, given: Mapping[str, Any], plain: ReadOptions) -> str:
    """Return the call of `load_dataset` with what differs from its defaults."""
    words = [repr(hide_password(str(source)))] + ([] if target is None else [repr(plain.target)])
    for name, value in plain.given().items():
        if name in given:
            if isinstance(value, tuple):
                is_one = isinstance(given[name], str) or np.ndim(given[name]) == 0
                value = value[0] if is_one else list(value)
            words.append(f"{name}={value!r}")
    return f"load_dataset({', '.join(words)})"
