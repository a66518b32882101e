"""Read ARFF files: WEKA's attributes and rows in, a table with nominal columns out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.columns import MAX_EXACT_INTEGER
from mauc.datasets.readers.arff_dense import read_dense
from mauc.datasets.readers.arff_header import cut_comment, read_header, split_items
from mauc.datasets.readers.arff_sparse import read_sparse, sparse_items
from mauc.datasets.readers.files import check_text, open_text
from mauc.datasets.readers.table import Table, check_precision, check_unique
from mauc.exceptions import MaucError


def read_arff(path: Path, *, encoding: str = "utf-8") -> Table:
    """Read an ARFF file, dense or sparse.

    Parameters
    ----------
    path : Path
        Compressed by gzip or not.
    encoding : str, default="utf-8"

    Returns
    -------
    table : Table
        A data frame with categorical columns for nominal attributes; or, if the file has sparse
        rows, a sparse array in which nominal columns hold codes. The last attribute is the
        target unless another is named, as in WEKA.

    Notes
    -----
    A ``%`` outside quotes begins a comment that ends with the line, as in WEKA. Relational
    attributes and weights of rows are refused.

    References
    ----------
    The format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
    """
    check_text(path, "an ARFF file", encoding)
    with open_text(path, encoding, newline=None) as file:
        lines = enumerate(file, start=1)
        attributes = read_header(path, lines)
        plain = ((number, cut_comment(line)) for number, line in lines)
        rows = [(number, line) for number, line in plain if line.strip()]
    names = [attribute.name for attribute in attributes]
    check_unique(path, names)
    if not rows:
        raise MaucError(f"{path} has a header but no rows after @data.")
    is_sparse = rows[0][1].lstrip().startswith("{")
    values: Any = (read_sparse if is_sparse else read_dense)(path, attributes, rows)

    def check_column(place: int) -> None:
        attribute = attributes[place]
        column = values[:, [place]].data if is_sparse else values.iloc[:, place]
        if attribute.kind == "numeric" and (np.abs(column) >= MAX_EXACT_INTEGER).any():
            cells = _cells(path, rows, place, len(attributes), is_sparse)
            check_precision(path, attribute.name, cells)

    return Table(
        path, values, names, target=len(names) - 1,
        locate_row=lambda row: f"line {rows[row][0]}", check_column=check_column,
        categories={a.name: a.values for a in attributes if a.kind == "nominal"},
        dates=frozenset(j for j, a in enumerate(attributes) if a.kind == "date"),
    )  # fmt: skip


def _cells(
    path: Path, rows: list[tuple[int, str]], place: int, n_attributes: int, is_sparse: bool
) -> Iterator[str]:
    """Yield the text of a column in every row."""
    for number, line in rows:
        if is_sparse:
            yield dict(sparse_items(path, number, line, n_attributes)).get(place, "0")
        else:
            yield (split_items(line.strip()) or [])[place]
