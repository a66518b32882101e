"""Nominal columns of a source as codes or indicators: columns of words in, numbers out."""

from typing import Any

import numpy as np

from mauc.checks import check_choice, check_int
from mauc.data.source import ColumnSource
from mauc.datasets.dataset import Dataset
from mauc.datasets.nominal import (
    NOMINAL,
    Encoded,
    check_encoded,
    encode_column,
    encoded_dataset,
)
from mauc.parallel import track


class EncodedColumns(ColumnSource):
    """A source whose nominal columns are codes or indicators.

    Parameters
    ----------
    source : ColumnSource
    made : list of Encoded
        The columns, each with that of `source` it is made of.
    """

    def __init__(self, source: ColumnSource, made: list[Encoded]) -> None:
        self._source, self._made = source, made
        self._read_like(source)
        types = [
            source.types[piece.place] if piece.categories is None else np.dtype(np.float64)
            for piece in made
        ]
        super().__init__(
            source.name, source.shape[0], types, feature_names=[piece.name for piece in made],
            memory=source.memory,
        )  # fmt: skip
        self.widths = np.maximum(self.widths, source.widths[[piece.place for piece in made]])

    def read(self, places: np.ndarray[Any, Any]) -> list[Any]:
        """Read whole columns, see `ColumnSource.read`."""
        return self._encode(places, self._source.read(self._origins(places)))

    def read_rows(self, start: int, stop: int, places: np.ndarray[Any, Any]) -> list[Any]:
        """Read some rows of columns."""
        columns = self._source.read_rows(start, stop, self._origins(places))
        return self._encode(places, columns)

    def row_parts(self) -> list[tuple[int, int]]:
        """Return ranges of rows that are cheap to read one by one."""
        return self._source.row_parts()

    def check_unchanged(self) -> None:
        """Raise if a file changed since the source was opened."""
        self._source.check_unchanged()

    def _origins(self, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        # Indicators of one column are made of one reading of it.
        return np.array(list(dict.fromkeys(self._made[j].place for j in places)), np.int64)

    def _encode(self, places: np.ndarray[Any, Any], columns: list[Any]) -> list[Any]:
        origins = dict(zip(self._origins(places).tolist(), columns, strict=True))
        codes: dict[int, np.ndarray[Any, Any]] = {}
        encoded = []
        for piece in (self._made[j] for j in places):
            values = origins[piece.place]
            if piece.categories is not None:
                if piece.place not in codes:
                    codes[piece.place] = piece.codes(values)
                values = piece.values(codes[piece.place])
            encoded.append(values)
        return encoded


def encode_stream(
    dataset: Dataset, nominal: str = "ordinal", *, max_categories: int | None = None
) -> Dataset:
    """Turn the nominal columns of a data set that is not in memory into numbers.

    The nominal columns are read once, one at a time, to learn their values.

    Parameters
    ----------
    dataset : Dataset
        With a source as `X`.
    nominal, max_categories
        As in `mauc.datasets.encode_dataset`, which makes the same columns.

    Returns
    -------
    dataset : Dataset
        With a source as `X`.
    """
    check_choice("nominal", nominal, NOMINAL)
    check_int("max_categories", max_categories, 1, optional=True)
    source = dataset.X
    nominal_places = np.flatnonzero(source.is_text).tolist()
    if nominal == "keep" or not nominal_places:
        return dataset
    found: dict[int, list[Encoded]] = {}
    sizes = [source.shape[0] * source.types[j].itemsize for j in nominal_places]
    for j in track(nominal_places, "nominal columns", n_bytes=sizes):
        name = dataset.feature_names[j]
        column = None if nominal == "drop" else source.read(np.array([j]))[0]
        found[j] = encode_column(name, j, column, nominal, max_categories)
    made = [
        piece
        for j, name in enumerate(dataset.feature_names)
        for piece in found.get(j, [Encoded(name, j)])
    ]
    check_encoded(dataset, made)
    return encoded_dataset(dataset, EncodedColumns(source, made), made, nominal, max_categories)
