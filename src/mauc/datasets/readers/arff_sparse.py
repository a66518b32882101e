"""Read the sparse rows of an ARFF file: attributes and lines in, a sparse array out."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from mauc.datasets.readers.arff_dense import cell_error, cell_parser
from mauc.datasets.readers.arff_header import Attribute, split_items
from mauc.exceptions import MaucError


def read_sparse(
    path: Path, attributes: list[Attribute], rows: list[tuple[int, str]]
) -> "sparse.csr_array":
    """Read rows ``{place value, ...}``.

    Parameters
    ----------
    path : Path
        For error messages.
    attributes : list of Attribute
    rows : list of (line number, line)

    Returns
    -------
    values : csr_array of shape (n_rows, n_attributes)
        Codes in nominal columns. What a row does not name is 0 or the first nominal value.
    """
    for attribute in attributes:
        if attribute.kind in ("string", "date"):
            raise MaucError(
                f"{path}: attribute {attribute.name!r} is a {attribute.kind}, which sparse rows "
                f"cannot leave out safely; declare it as nominal or remove it."
            )
    parsers = [cell_parser(attribute) for attribute in attributes]
    data: list[float] = []
    indices: list[int] = []
    indptr = [0]
    for number, line in rows:
        for place, item in sparse_items(path, number, line, len(attributes)):
            try:
                value = parsers[place](item)
            except ValueError as error:
                raise cell_error(path, number, attributes[place], item) from error
            if value != 0:
                data.append(value)
                indices.append(place)
        indptr.append(len(data))
    shape = (len(indptr) - 1, len(attributes))
    found = sparse.csr_array((np.array(data, dtype=np.float64), indices, indptr), shape=shape)
    found.sort_indices()
    return found


def sparse_items(
    path: Path, number: int, line: str, n_attributes: int
) -> Iterator[tuple[int, str]]:
    """Yield the place and the value of everything that a sparse row names."""
    line = line.strip()
    if not (line.startswith("{") and line.endswith("}")):
        raise MaucError(
            f"{path}, line {number}: a sparse row {{place value, ...}} is wanted, as in the rows "
            f"before it, got {line[:40]!r}."
        )
    inner = line[1:-1].strip()
    seen: set[int] = set()
    # The place and the value stand in one item; a quoted value may hold commas, so the
    # items are cut after the place is taken off.
    while inner:
        head, _, rest = inner.partition(" ")
        if not head.isdigit() or int(head) >= n_attributes or int(head) in seen:
            raise MaucError(
                f"{path}, line {number}: a sparse row names every place once, as a whole number "
                f"in [0, {n_attributes - 1}] with a value behind it, got {head!r}."
            )
        seen.add(int(head))
        items = _first_item(rest.lstrip())
        if items is None:
            raise MaucError(f"{path}, line {number}: the quotes do not match.")
        item, inner = items
        yield int(head), item


def _first_item(text: str) -> tuple[str, str] | None:
    if not text.startswith(("'", '"')):
        item, _, rest = text.partition(",")
        return item.strip(), rest.strip()
    items = split_items(text)
    if items is None:
        return None
    return items[0], text[len(items[0]) :].lstrip().removeprefix(",").strip()
