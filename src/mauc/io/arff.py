"""Open and write ARFF files, WEKA's format: attributes and rows, dense or sparse.

https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/ describes it. The last
attribute is the target unless another is named; relational attributes and weights of rows are
refused.
"""

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from mauc.data.labels import MAX_EXACT_INTEGER
from mauc.data.nominal import get_column
from mauc.exceptions import MaucError
from mauc.io.arrays import FrameSource, SparseSource
from mauc.io.dataset import Dataset
from mauc.io.lines import check_text, find_encoding, open_lines
from mauc.io.options import ReadOptions
from mauc.io.table import Table, check_precision, check_unique
from mauc.results import plural

# A quoted text with backslash escapes, in either kind of quotes. What was matched is not given back
# (*+, ++): the time that lines take is linear in their length.
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s{{'\"]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUE = re.compile(rf"\s*+()({_QUOTED}|[^,'\"{{}}]*+)\s*+(,|$)", re.DOTALL)
_PLACED = re.compile(  # in sparse rows
    rf"\s*+(\d{{1,9}})\s++({_QUOTED}|[^\s,'\"]++)\s*+(,|$)", re.DOTALL
)
# Parts outside quotes; a quote that is never closed ends with the line.
_PARTS = re.compile(rf"({_QUOTED})|[^'\"]++|['\"].*", re.DOTALL)
_SPECIAL = re.compile(r"['\"{}]")
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_UNESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_BLOCK_ROWS = 4096  # that are texts at the same time


@dataclass(frozen=True)
class _Attribute:
    name: str
    kind: str  #: "numeric", "nominal", "string" or "date"
    values: tuple[str, ...] = ()  #: declared, of a nominal attribute

    def parse(self, texts: Sequence[str | None]) -> np.ndarray[Any, Any]:
        """Return numbers, or codes of declared values, NaN if missing; texts stay texts."""
        if self.kind == "numeric":
            return np.array([np.nan if text is None else text for text in texts], np.float64)
        if self.kind == "nominal":
            return np.array([self._codes[text] for text in texts], np.float64)
        return np.array(texts, object)

    @cached_property
    def _codes(self) -> dict[str | None, float]:
        return {None: np.nan, **{value: j for j, value in enumerate(self.values)}}


class _Rows:
    """The rows of a file behind its header, each with the number of its line."""

    attributes: list[_Attribute]

    def __init__(self, path: Path, encoding: str) -> None:
        self.path, self._encoding = path, encoding
        self.numbers: list[int] = []
        self.wide: set[int] = set()  #: columns with numbers beyond what float64 holds exactly
        first = next(self._lines(), None)
        if first is None:
            raise MaucError(f"{path} has a header but no rows after @data.")
        self.is_sparse = first.startswith("{")

    def _lines(self) -> Iterator[str]:
        """Read the header, then yield the lines of rows and write down their numbers."""
        self.numbers.clear()
        with open_lines(self.path, self._encoding, newline=None) as file:
            lines = enumerate(file, start=1)
            self.attributes = _read_header(self.path, lines)
            for number, line in lines:
                line = _cut_comment(line).strip()
                if line:
                    self.numbers.append(number)
                    yield line

    def __iter__(self) -> Iterator[Any]:
        """Yield lists of texts, or dictionaries of column and text in sparse rows."""
        n = len(self.attributes)
        wanted = f"a row of {plural(n, 'value')} separated by commas"
        if self.is_sparse:
            wanted = f"a sparse row {{place value, ...}} with places in [0, {n - 1}]"
        for line in self._lines():
            where = f"{self.path}, line {self.numbers[-1]}:"
            pairs = _split_sparse(line) if self.is_sparse else _split_values(line)
            places = [int(place or j) for j, (place, _) in enumerate(pairs or ())]
            is_short = not self.is_sparse and len(places) < n
            if pairs is None or is_short or max(places, default=0) >= n:
                raise MaucError(
                    f"{where} {wanted} is wanted (dense and sparse rows are not mixed, weights of "
                    f"rows are not read; quote values that hold blanks, commas, braces or quotes), "
                    f"got {line[:60]!r}."
                )
            texts = [None if text in ("", "?") else _unquote(text) for _, text in pairs]
            if self.is_sparse and len(set(places)) < len(places):
                twice = Counter(places).most_common(1)[0][0]
                raise MaucError(
                    f"{where} the sparse row names the place {twice} twice; keep one of its values."
                )
            yield dict(zip(places, texts, strict=True)) if self.is_sparse else texts

    def parse(self, j: int, texts: Sequence[str | None], rows: Sequence[int]) -> Any:
        """Return the values of a column in some rows; raise if one is not what is declared."""
        attribute = self.attributes[j]
        try:
            found = attribute.parse(texts)
            if attribute.kind == "numeric" and (np.abs(found) >= MAX_EXACT_INTEGER).any():
                self.wide.add(j)
            return found
        except (ValueError, KeyError) as error:
            if len(texts) > 1:  # which of them it is
                for text, row in zip(texts, rows, strict=True):
                    self.parse(j, [text], [row])
            values = attribute.values
            listed = ", ".join(values[:8]) + ", ..." * (len(values) > 8)
            wanted = f"one of its declared values ({listed})" if values else "a number"
            raise MaucError(
                f"{self.path}, line {self.numbers[rows[0]]}: attribute {attribute.name!r} wants "
                f"{wanted} or ? for a missing value, got {(texts[0] or '')[:60]!r}."
            ) from error

    def texts(self, j: int) -> Iterator[str]:
        """Yield the texts of a column."""
        for row in self:
            text = row.get(j) if self.is_sparse else row[j]
            if text is not None:
                yield text


def open_arff(path: Path, options: ReadOptions, memory: int | None) -> Table:
    """Open an ARFF file: a data frame, or a sparse matrix with codes in nominal columns."""
    encoding = find_encoding(path, options.encoding)
    check_text(path, "an ARFF file", encoding)
    rows = _Rows(path, encoding)
    attributes = rows.attributes
    names = [attribute.name for attribute in attributes]
    source = (_read_sparse if rows.is_sparse else _read_dense)(rows, memory)
    numbers = np.array(rows.numbers)

    def check_column(column: int) -> tuple[str, ...]:
        if column in rows.wide:
            check_precision(path, names[column], rows.texts(column))
        return ()

    declared = {a.name: a.values for a in attributes if a.kind == "nominal"}
    return Table(
        path,
        source,
        names,
        target=len(names) - 1,
        is_named=not rows.is_sparse,
        locate_row=lambda row: f"line {numbers[row]}",
        check_column=check_column,
        categories=declared if rows.is_sparse else {},
        dates=frozenset(j for j, a in enumerate(attributes) if a.kind == "date"),
    )


def _read_dense(rows: _Rows, memory: int | None) -> FrameSource:
    import pandas as pd

    parts: list[list[Any]] = [[] for _ in rows.attributes]
    found = iter(rows)
    start = 0
    while block := list(islice(found, _BLOCK_ROWS)):
        numbers = range(start, start + len(block))
        for j, texts in enumerate(zip(*block, strict=True)):
            parts[j].append(rows.parse(j, texts, numbers))
        start += len(block)
    columns = {}
    for attribute, blocks in zip(rows.attributes, parts, strict=True):
        values = np.concatenate(blocks)
        blocks.clear()
        if attribute.kind == "nominal":
            codes = np.where(np.isnan(values), -1, values).astype(np.int32)
            values = pd.Categorical.from_codes(codes, categories=list(attribute.values))
        columns[attribute.name] = values
    return FrameSource(pd.DataFrame(columns, copy=False), str(rows.path), memory=memory)


def _read_sparse(rows: _Rows, memory: int | None) -> SparseSource:
    """Read rows ``{place value, ...}``: what a row leaves out is 0, or the first nominal value."""
    for attribute in rows.attributes:
        if attribute.kind in ("string", "date"):
            raise MaucError(
                f"{rows.path}: attribute {attribute.name!r} is a {attribute.kind}, which sparse "
                f"rows cannot leave out safely; declare it as nominal or remove it."
            )
    data: list[float] = []
    indices: list[int] = []
    indptr = [0]
    for number, row in enumerate(rows):
        for j, text in sorted(row.items()):
            value = float(rows.parse(j, [text], [number])[0])
            if value != 0:
                data.append(value)
                indices.append(j)
        indptr.append(len(data))
    shape = (len(indptr) - 1, len(rows.attributes))
    values = sparse.csr_array((np.array(data, np.float64), indices, indptr), shape=shape)
    return SparseSource(values, str(rows.path), memory=memory)


def _read_header(path: Path, lines: Iterator[tuple[int, str]]) -> list[_Attribute]:
    """Read numbered lines up to and with ``@data``."""
    attributes: list[_Attribute] = []
    for number, line in lines:
        line = _cut_comment(line).strip()
        if not line:
            continue
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@data":
            if not attributes:
                raise MaucError(f"{path}, line {number}: @data comes before any @attribute.")
            check_unique(path, [attribute.name for attribute in attributes])
            return attributes
        if keyword == "@attribute":
            # The values of a nominal attribute may go on over several lines, as in WEKA.
            parts, bare = [line], _outside_quotes(line)
            while "{" in bare and "}" not in bare and (following := next(lines, None)) is not None:
                parts.append(_cut_comment(following[1]).strip())
                bare = "{" + _outside_quotes(parts[-1])
            attributes.append(_read_attribute(path, number, " ".join(parts)))
        elif keyword != "@relation":
            raise MaucError(
                f"{path}, line {number}: @relation, @attribute, @data or a comment (%) is wanted "
                f"in the header of an ARFF file, got {line[:40]!r}."
            )
    raise MaucError(f"{path} has no @data line; an ARFF file needs one in front of its rows.")


def _read_attribute(path: Path, number: int, line: str) -> _Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if not found:
        raise MaucError(
            f"{path}, line {number}: an attribute is written @attribute name type (quote names "
            f"with spaces), got {line[:60]!r}."
        )
    name, declared = _unquote(found[1]), found[2].strip()
    if declared.startswith("{"):
        if not declared.endswith("}"):
            raise MaucError(f"{path}, line {number}: the values of {name!r} must end with '}}'.")
        values = [value for _, value in _split_values(declared[1:-1]) or ()]
        if not values or not all(values) or len(set(values)) != len(values):
            raise MaucError(
                f"{path}, line {number}: the values of {name!r} must be different and separated "
                f"by commas (quote those with spaces, commas or quotes in them)."
            )
        return _Attribute(name, "nominal", tuple(map(_unquote, values)))
    kind = declared.split(None, 1)[0].lower() if declared else ""
    if kind in ("numeric", "real", "integer"):
        return _Attribute(name, "numeric")
    if kind in ("string", "date"):
        return _Attribute(name, kind)
    raise MaucError(
        f"{path}, line {number}: the type of {name!r} must be numeric, real, integer, string, "
        f"date or a list of values in braces, got {declared[:60]!r}."
    )


def _cut_comment(line: str) -> str:
    """Return a line without what follows a ``%`` outside quotes."""
    for found in _PARTS.finditer(line) if "%" in line else ():
        if not found[1] and "%" in found[0]:
            return line[: line.index("%", found.start())]
    return line


def _outside_quotes(line: str) -> str:
    return "".join(found[0] for found in _PARTS.finditer(line) if not found[1])


def _split_values(text: str, pattern: re.Pattern[str] = _VALUE) -> list[tuple[str, str]] | None:
    """Cut a text at the commas outside quotes into places and values; None if it cannot be."""
    if pattern is _VALUE and not _SPECIAL.search(text):  # most rows, and faster
        return [("", value.strip()) for value in text.split(",")]
    found: list[tuple[str, str]] = []
    start, comma = 0, ","
    while comma:
        match = pattern.match(text, start)
        if match is None:
            return None
        place, value, comma = match.groups()
        found.append((place, value.strip()))
        start = match.end()
    return found


def _split_sparse(line: str) -> list[tuple[str, str]] | None:
    """Cut a sparse row into places and values; None if it is not one."""
    if line[0] + line[-1] != "{}":
        return None
    inside = line[1:-1].strip()
    return _split_values(inside, _PLACED) if inside else []


def _unquote(text: str) -> str:
    """Take the quotes and backslashes off a text, if it has any."""
    if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0]:
        return text
    return re.sub(r"\\(.)", lambda found: _UNESCAPES.get(found[1], found[1]), text[1:-1])


def write_arff(dataset: Dataset, file: IO[bytes]) -> None:
    """Write an ARFF file, the labels as its last attribute, which is nominal."""
    labels = [str(label) for label in dataset.y.tolist()]
    classes = sorted(set(labels))
    nominal = set(dataset.nominal_features)
    kinds = [
        _braces(dataset.X[name].cat.categories) if name in nominal else "numeric"
        for name in dataset.feature_names
    ]
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n", write_through=True)
    try:
        text.write(f"@relation {_quote(dataset.name)}\n\n")
        names = [*dataset.feature_names, dataset.target_name]
        for name, kind in zip(names, [*kinds, _braces(classes)], strict=True):
            text.write(f"@attribute {_quote(name)} {kind}\n")
        text.write("\n@data\n")
        rows = _sparse_rows if sparse.issparse(dataset.X) else _dense_rows
        text.writelines(f"{row}\n" for row in rows(dataset, classes, labels))
    finally:
        text.detach()


def _braces(values: Any) -> str:
    return "{" + ",".join(_quote(str(value)) for value in values) + "}"


def _quote(text: str) -> str:
    """Quote a name or value if it needs it."""
    if _PLAIN.fullmatch(text):
        return text
    return "'" + "".join(_ESCAPES.get(letter, letter) for letter in text) + "'"


def _dense_rows(dataset: Dataset, classes: list[str], labels: list[str]) -> Iterator[str]:
    columns = []
    nominal = set(dataset.nominal_features)
    for j, name in enumerate(dataset.feature_names):
        column = get_column(dataset.X, j)
        if name in nominal:
            quoted = [_quote(str(value)) for value in column.cat.categories] + ["?"]
            columns.append([quoted[code] for code in column.cat.codes])
        else:
            columns.append(_format_numbers(dataset, name, np.asarray(column)))
    columns.append([_quote(label) for label in labels])
    return map(",".join, zip(*columns, strict=True))


def _sparse_rows(dataset: Dataset, classes: list[str], labels: list[str]) -> Iterator[str]:
    X = sparse.csr_array(dataset.X, copy=True)
    X.sum_duplicates()
    values = _format_numbers(dataset, "X", X.data)
    for row, label in enumerate(labels):
        stored = range(X.indptr[row], X.indptr[row + 1])
        items = [f"{X.indices[at]} {values[at]}" for at in stored]
        if label != classes[0]:  # the first value is what a sparse row leaves out
            items.append(f"{dataset.n_features} {_quote(label)}")
        yield "{" + ", ".join(items) + "}"


def _format_numbers(dataset: Dataset, name: str, values: np.ndarray[Any, Any]) -> list[str]:
    if values.dtype.kind == "f":
        if np.isinf(values).any():
            raise MaucError(
                f"{dataset.name}: column {name!r} holds infinite values, which an arff file "
                f"cannot hold; write csv, parquet or npz."
            )
        values = values.astype(np.float64)
    elif values.dtype.kind == "b":
        values = values.astype(np.uint8)
    return ["?" if value != value else repr(value) for value in values.tolist()]
