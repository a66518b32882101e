"""Read the dense rows of an ARFF file: attributes and lines in, a data frame out."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.datasets.readers.arff_header import Attribute, split_items, unquote
from mauc.datasets.readers.exact import exact_floats
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    import pandas as pd


def read_dense(
    path: Path, attributes: list[Attribute], rows: list[tuple[int, str]]
) -> "pd.DataFrame":
    """Read rows ``value, value, ...``.

    Parameters
    ----------
    path : Path
        For error messages.
    attributes : list of Attribute
    rows : list of (line number, line)

    Returns
    -------
    frame : DataFrame
        Float, categorical and text columns.
    """
    import pandas as pd

    quick = _read_plain(attributes, [line for _, line in rows])
    if quick is not None:
        return quick
    cells: list[list[Any]] = [[] for _ in attributes]
    parsers = [cell_parser(attribute) for attribute in attributes]
    for number, line in rows:
        items = split_items(line.strip())
        _check_row(path, number, line, items, len(attributes))
        assert items is not None
        for attribute, parse, column, item in zip(attributes, parsers, cells, items, strict=True):
            try:
                column.append(parse(item))
            except ValueError as error:
                raise cell_error(path, number, attribute, item) from error
    columns = [
        _finish(attribute, column) for attribute, column in zip(attributes, cells, strict=True)
    ]
    return pd.DataFrame(dict(zip([a.name for a in attributes], columns, strict=True)))


def _read_plain(attributes: list[Attribute], lines: list[str]) -> "pd.DataFrame | None":
    """Read rows without quotes the fast way; None if there is anything else in them."""
    import pandas as pd

    n_commas = len(attributes) - 1
    if any(line.count(",") != n_commas or "'" in line or '"' in line for line in lines):
        return None
    names = [attribute.name for attribute in attributes]
    is_number = [attribute.kind == "numeric" for attribute in attributes]
    try:
        frame = pd.read_csv(
            io.StringIO("".join(f"{line.strip()}\n" for line in lines)),
            header=None, names=names, na_values=["?"], keep_default_na=False, index_col=False,
            dtype={n: np.float64 if f else object for n, f in zip(names, is_number, strict=True)},
            skipinitialspace=True, quoting=csv.QUOTE_NONE, **exact_floats(),
        )  # fmt: skip
    except ValueError:  # a cell that is no number: the slow way says which
        return None
    for attribute in attributes:
        if attribute.kind == "numeric":
            continue
        texts = frame[attribute.name].str.strip()
        if attribute.kind == "nominal":
            if not texts.dropna().isin(attribute.values).all():
                return None
            texts = pd.Categorical(texts, categories=list(attribute.values))
        frame[attribute.name] = texts
    return frame


def cell_parser(attribute: Attribute) -> Callable[[str], Any]:
    """Return the function that reads a cell, None or NaN for ``?``."""
    if attribute.kind == "numeric":
        return lambda item: np.nan if item == "?" else float(unquote(item))
    if attribute.kind != "nominal":
        return lambda item: None if item == "?" else unquote(item)
    place = {value: code for code, value in enumerate(attribute.values)}

    def code(item: str) -> float:
        if item == "?":
            return np.nan
        value = unquote(item)
        if value not in place:
            raise ValueError
        return place[value]

    return code


def _finish(attribute: Attribute, column: list[Any]) -> Any:
    import pandas as pd

    if attribute.kind == "numeric":
        return np.array(column, dtype=np.float64)
    if attribute.kind == "nominal":
        codes = np.nan_to_num(np.array(column, dtype=np.float64), nan=-1).astype(np.int64)
        return pd.Categorical.from_codes(codes, categories=list(attribute.values))
    return np.array(column, dtype=object)


def _check_row(path: Path, number: int, line: str, items: list[str] | None, wanted: int) -> None:
    if line.lstrip().startswith("{"):
        raise MaucError(f"{path}, line {number}: a sparse row among dense rows; keep to one kind.")
    if items is None:
        raise MaucError(
            f"{path}, line {number}: the quotes do not match. Quote a whole value, and write "
            f"\\' for a quote within it."
        )
    if len(items) == wanted + 1 and items[-1].startswith("{"):
        raise MaucError(f"{path}, line {number}: weights of rows are not read; remove them.")
    if len(items) != wanted:
        raise MaucError(
            f"{path}, line {number}: the row has {len(items)} value{'s' * (len(items) > 1)}, "
            f"but there are {wanted} attributes."
        )


def cell_error(path: Path, number: int, attribute: Attribute, item: str) -> MaucError:
    """Return the error for a cell that is not what its attribute declares."""
    wanted = "a number"
    if attribute.kind == "nominal":
        listed = ", ".join(attribute.values[:8]) + (", ..." * (len(attribute.values) > 8))
        wanted = f"one of its declared values ({listed})"
    return MaucError(
        f"{path}, line {number}: attribute {attribute.name!r} wants {wanted} or ? for a missing "
        f"value, got {item!r}."
    )
