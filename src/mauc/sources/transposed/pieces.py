"""Parse a text file piece by piece: lines in, what each column holds in them out."""

import io
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.data.columns import MAX_EXACT_INTEGER
from mauc.datasets.readers.delimited import Delimited
from mauc.datasets.readers.files import encoding_error, open_binary, skip_mark

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]
# What a column holds in a piece: nothing, integers, floats, integers beyond int64, truth values,
# words.
EMPTY, WHOLE, FLOAT, HUGE, TRUTH, WORDS = b"eifubw"
_SAMPLE = 11  # lines from which their length is estimated, the first one apart


@dataclass(frozen=True)
class Piece:
    """Some rows of a file.

    Parameters
    ----------
    n_rows : int
    kinds : ndarray of shape (n_columns,), uint8
        What each column holds.
    numbers : list of (ndarray of int, ndarray of shape (n_chosen, n_rows))
        Columns of integers, and those of floats or nothing (NaN): their places and values.
    words : dict of int to (ndarray of int32, list)
        Columns of words and truth values: for each row the place of its value in the list of
        different values, -1 where it is missing.
    has_missing, is_wide : ndarray of shape (n_columns,), bool
        Columns of numbers with missing values, and with values beyond what float64 holds.
    """

    n_rows: int
    kinds: Array
    numbers: list[tuple[Array, Array]]
    words: dict[int, tuple[Array, list[Any]]]
    has_missing: Array
    is_wide: Array


def read_pieces(
    layout: Delimited,
    n_bytes: int,
    n_threads: int = 1,
    *,
    texts: list[str] | None = None,
) -> Iterator[Piece]:
    """Yield the rows of a file in order.

    Parameters
    ----------
    layout : Delimited
    n_bytes : int
        Of text in a piece, about.
    n_threads : int, default=1
        That parse at once, each a piece of its own, where the file can be cut without parsing it.
    texts : list of str, optional
        Read these columns only, as text, missing values included.
    """
    if layout.lines.is_plain and n_threads > 1:
        return _read_plain(layout, n_bytes, n_threads, texts)
    return _read_ahead(_read_in_turn(layout, n_bytes, texts))


def _read_plain(
    layout: Delimited, n_bytes: int, n_threads: int, texts: list[str] | None
) -> Iterator[Piece]:
    """Cut the file at line ends and parse the parts in threads; at most one more part waits."""
    waiting: deque[Future[Piece | None]] = deque()
    with ThreadPoolExecutor(n_threads, "mauc-parse") as pool:
        try:
            for number, raw in enumerate(_cut_lines(layout, n_bytes)):
                waiting.append(pool.submit(_parse_lines, layout, raw, number == 0, texts))
                if len(waiting) > n_threads:
                    yield from _present(waiting.popleft())
            while waiting:
                yield from _present(waiting.popleft())
        finally:
            for future in waiting:
                future.cancel()


def _read_ahead(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Parse the next piece in a thread while the last one is taken."""
    with ThreadPoolExecutor(1, "mauc-parse") as pool:
        waiting = pool.submit(next, pieces, None)
        while (piece := waiting.result()) is not None:
            waiting = pool.submit(next, pieces, None)
            yield piece


def _present(future: "Future[Piece | None]") -> Iterator[Piece]:
    piece = future.result()
    if piece is not None:
        yield piece


def _cut_lines(layout: Delimited, n_bytes: int) -> Iterator[bytes]:
    """Yield parts of the file that begin and end with a line and are not blank."""
    with open_binary(layout.lines.path) as file:
        while raw := file.read(n_bytes):
            raw += file.readline()
            if not raw.isspace():
                yield raw


def _parse_lines(
    layout: Delimited, raw: bytes, is_first: bool, texts: list[str] | None
) -> Piece | None:
    lines = layout.lines
    try:
        frame = layout.parse(
            io.BytesIO(raw), has_header=is_first and lines.has_header, texts=texts,
            encoding=skip_mark(lines.encoding) if is_first else lines.encoding,
        )  # fmt: skip
    except UnicodeError as error:
        raise encoding_error(lines.path, lines.encoding) from error
    return _make_piece(layout, frame) if len(frame) else None


def _read_in_turn(layout: Delimited, n_bytes: int, texts: list[str] | None) -> Iterator[Piece]:
    """Let the parser find where rows end: quoted cells may hold line ends."""
    import pandas as pd

    with layout.opened() as file:
        sample = [file.readline() for _ in range(_SAMPLE)][1:]
    width = max(1, sum(map(len, sample)) // len(sample))
    with layout.opened() as file:
        frames = layout.parse(file, texts=texts, chunksize=max(1, n_bytes // width))
        try:
            for frame in frames:
                yield _make_piece(layout, frame)
        except pd.errors.ParserError as error:
            raise layout.parser_error(error) from error


def _make_piece(layout: Delimited, frame: "pd.DataFrame") -> Piece:
    place_of = {name: j for j, name in enumerate(layout.names)}
    places = np.array([place_of[str(name)] for name in frame.columns])
    types = np.array([dtype.kind for dtype in frame.dtypes])
    n_columns = len(layout.names)
    kinds = np.full(n_columns, EMPTY, np.uint8)
    has_missing, is_wide = np.zeros(n_columns, bool), np.zeros(n_columns, bool)
    numbers: list[tuple[Array, Array]] = []
    for kind in "if":
        chosen = np.flatnonzero(types == kind)
        if len(chosen):
            values = np.ascontiguousarray(frame.iloc[:, chosen].to_numpy().T)
            at = places[chosen]
            kinds[at], has_missing[at], is_wide[at] = _describe(values)
            numbers.append((at, values))
    kinds[places[types == "u"]] = HUGE
    words: dict[int, tuple[Array, list[Any]]] = {}
    for number in np.flatnonzero(~np.isin(types, list("iuf"))).tolist():
        j = int(places[number])
        codes, distinct = frame.iloc[:, number].factorize()
        words[j] = codes.astype(np.int32), distinct.tolist()
        found = {type(word) for word in words[j][1]}
        # A missing value in words beside integers beyond int64: pandas leaves it as it is.
        is_odd = not found <= {str} or not set(layout.gaps(j)).isdisjoint(words[j][1])
        kinds[j] = TRUTH if found == {bool} else HUGE if is_odd else WORDS
    return Piece(len(frame), kinds, numbers, words, has_missing, is_wide)


def _describe(values: Array) -> tuple[Array, Array, Array]:
    """Return the kinds of columns of numbers, which miss values, and which hold wide ones.

    A column of integers with missing values is one of floats here.
    """
    wide = are_wide(values)
    if values.dtype.kind == "i":
        return np.full(len(values), WHOLE), np.zeros(len(values), bool), wide
    is_missing = np.isnan(values)
    kinds = np.where(is_missing.all(axis=1), EMPTY, FLOAT)
    return kinds, np.asarray(is_missing.any(axis=1)), wide


def are_wide(values: Array) -> Array:
    """Return which columns, along the last axis, hold numbers beyond what float64 holds exactly."""
    low, high = np.fmin.reduce(values, axis=-1), np.fmax.reduce(values, axis=-1)
    return np.asarray((low <= -MAX_EXACT_INTEGER) | (high >= MAX_EXACT_INTEGER))
