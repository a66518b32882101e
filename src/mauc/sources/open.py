"""Open data that need not fit into memory: a path, address or object in, source and labels out."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.source import ColumnSource
from mauc.datasets.assemble import check_kept, warn_left_out
from mauc.exceptions import MaucError
from mauc.memory import parse_bytes
from mauc.sources.arrow_types import no_feature_error, numpy_type
from mauc.sources.feature_columns import find_features
from mauc.sources.kinds import READING, open_any
from mauc.sources.labels import find_place, names_of, table_of, take_labels
from mauc.sources.marked import MarkedColumns


def open_columns(
    data: Any,
    target: Any = None,
    *,
    memory: int | str | None = None,
    columns: str | int | Sequence[str | int] | None = None,
    drop: str | int | Sequence[str | int] = (),
    categorical_features: str | int | Sequence[str | int] = (),
    keep_ids: bool = True,
    skip_unlabelled: bool = False,
    many_classes: bool = False,
    format: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **reading: Any,
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
        - a csv, tsv or txt file, which is transposed once into a cache on disk, see
          ``mauc cache``; any other file of `mauc.datasets.load_dataset`, which is read whole;
        - an array or memmap, a sparse matrix, a Zarr array, an h5py dataset, a table or dataset of
          pyarrow, a Dask array or data frame, a data frame of pandas or polars.
    target : str, int or array-like of shape (n_samples,)
        The column with the labels, by name or number (-1 is the last); or the labels; or the file
        (.npy), or the name of the array in the same Zarr group or HDF5 file, that holds them.
    memory : int or str, optional
        What a pass over the columns may take, in bytes or as text ("1GB", "500MB", "2GiB"); a
        quarter of the free memory by default.
    columns : str, int or sequence of these, optional
        Columns that are features, in this order; all but the target by default.
    drop : str, int or sequence of these
        Columns to leave out.
    categorical_features : str, int or sequence of these
        Columns that are nominal although they hold numbers; columns of words always are.
    keep_ids : bool, default=True
        Whether to keep columns that look like no features (row numbers, identifiers, dates,
        constants, nearly empty ones), see `mauc.datasets.load_dataset`. To find them, every column
        is read once.
    skip_unlabelled : bool, default=False
        Whether to leave out rows without a label; otherwise they are an error.
    many_classes : bool, default=False
        Whether the target may have so many values that it may be a measurement.
    format : str, optional
        Of files whose ending does not tell: "parquet", "feather", "npy", "zarr", "hdf5" or one of
        `mauc.datasets.load_dataset`.
    storage_options : mapping, optional
        Options of the file system of an address, such as keys.
    **reading
        Options of csv, tsv and txt files: encoding, separator, decimal, thousands, header and
        missing, and sheet of xlsx files, as in `mauc.datasets.load_dataset`.

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
    limit = None if memory is None else parse_bytes(memory)
    unknown = sorted(set(reading) - set(READING))
    if unknown:
        raise TypeError(f"open_columns() got an unexpected keyword argument {unknown[0]!r}")
    source, target = open_any(
        data, target, memory=limit, format=format, storage_options=storage_options, reading=reading,
        texts=_listed(categorical_features),
        rules={"skip_unlabelled": skip_unlabelled, "many_classes": many_classes},
    )  # fmt: skip
    place, y, is_missing = take_labels(
        source, target, skip_unlabelled=skip_unlabelled, many_classes=many_classes
    )
    kept = _choose(source, place, columns, drop)
    table = table_of(source)
    marked = {
        find_place(table, name, "categorical_features") for name in _listed(categorical_features)
    }
    _check_features(source, kept, marked)
    if not keep_ids:
        kept = _leave_out(source, kept, marked)
    result = _take(source, kept)
    marks = [number for number, j in enumerate(kept) if j in marked]
    if marks:
        result = MarkedColumns(result, marks)
    if is_missing.any():
        result = result.take_rows(~is_missing)
    return result, y


def _choose(source: ColumnSource, place: int | None, columns: Any, drop: Any) -> list[int]:
    """Return the places of the features."""
    table = table_of(source)
    names = table.names
    dropped = {find_place(table, name, "drop") for name in _listed(drop)}
    if place is not None and place in dropped:
        raise MaucError(f"{source.name}: drop has {names[place]!r}, which is the target.")
    if columns is None:
        index_names = set(getattr(source, "index_names", ()))
        wanted = [j for j, name in enumerate(names) if j != place and name not in index_names]
    else:
        wanted = [find_place(table, name, "columns") for name in _listed(columns)]
        if place in wanted:
            raise MaucError(f"{source.name}: columns has {names[place]!r}, which is the target.")
        twice = [j for j in wanted if wanted.count(j) > 1] if len(set(wanted)) < len(wanted) else []
        if twice:
            raise MaucError(f"{source.name}: columns has {names[twice[0]]!r} twice.")
    kept = [j for j in wanted if j not in dropped]
    if not kept:
        raise MaucError(
            f"{source.name} has no column left to be a feature. Its columns: "
            f"{', '.join(names[:10])}{', ...' * (len(names) > 10)}."
        )
    return kept


def _check_features(source: ColumnSource, kept: Iterable[int], marked: set[int]) -> None:
    """Raise if a column is of a type that no feature has, or text that should be numbers."""
    types = getattr(source, "arrow_types", ())
    check = getattr(source, "check_column", None)  # of text files
    names = names_of(source)
    errors = getattr(source, "type_errors", {})  # of several files
    for j in kept:
        if names[j] in errors:
            raise errors[names[j]]
        if j < len(types) and numpy_type(types[j]) is None:
            raise no_feature_error(source.name, names[j], types[j])
        if check is not None and j not in marked:
            check(j)


def _leave_out(source: ColumnSource, kept: list[int], marked: set[int]) -> list[int]:
    """Return the columns that are features by their values as well; warn of the others."""
    if source.feature_names is None:
        return kept  # columns of arrays have numbers, not names
    table = table_of(source)
    kept, reasons, _ = find_features(table, source, kept, marked, settle=True)
    named = {table.names[j]: reason for j, reason in reasons.items()}
    check_kept(table, kept, named)
    warn_left_out(table, named)
    return kept


def _take(source: ColumnSource, kept: list[int]) -> ColumnSource:
    """Return the source of the kept columns, which keep their numbers as names."""
    if kept == list(range(source.shape[1])):
        return source
    part = source.take(np.array(kept))
    if part.feature_names is None:
        names = names_of(source)
        part.feature_names = np.array([names[j] for j in kept], dtype=object)
    return part


def _listed(given: Any) -> list[Any]:
    if isinstance(given, str | Path) or not isinstance(given, Iterable):
        return [given]
    return list(given)
