"""Read the header of an ARFF file: lines in, attributes out."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mauc.exceptions import MaucError

# A quoted text with backslash escapes, in either kind of quotes.
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{'\"]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
_ITEM = re.compile(rf"\s*({QUOTED}|[^,'\"]*?)\s*(,|$)", re.DOTALL)
# All up to a % outside quotes; a quote that is never closed is an ordinary letter.
_BEFORE_COMMENT = re.compile(rf"(?:{QUOTED}|[^%])*")
_NUMERIC = ("numeric", "real", "integer")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True)
class Attribute:
    """One column of an ARFF file.

    Parameters
    ----------
    name : str
    kind : {"numeric", "nominal", "string", "date"}
    values : tuple of str
        The declared values of a nominal attribute, in their order.
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()


def read_header(path: Path, lines: Iterator[tuple[int, str]]) -> list[Attribute]:
    """Read lines up to and with ``@data``.

    Parameters
    ----------
    path : Path
        For error messages.
    lines : iterator over (line number, line)

    Returns
    -------
    attributes : list of Attribute
    """
    attributes: list[Attribute] = []
    for number, line in lines:
        line = cut_comment(line).strip()
        if not line:
            continue
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@data":
            if not attributes:
                raise MaucError(f"{path}, line {number}: @data comes before any @attribute.")
            return attributes
        if keyword == "@attribute":
            # The values of a nominal attribute may go on over several lines, as in WEKA.
            while _is_open(line) and (following := next(lines, None)) is not None:
                line = f"{line} {cut_comment(following[1]).strip()}"
            attributes.append(_read_attribute(path, number, line))
        elif keyword != "@relation":
            raise MaucError(
                f"{path}, line {number}: @relation, @attribute, @data or a comment (%) is wanted "
                f"in the header of an ARFF file, got {line[:40]!r}."
            )
    raise MaucError(f"{path} has no @data line; an ARFF file needs one in front of its rows.")


def _read_attribute(path: Path, number: int, line: str) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if not found:
        raise MaucError(
            f"{path}, line {number}: an attribute is written @attribute name type (quote names "
            f"with spaces), got {line[:60]!r}."
        )
    name, declared = unquote(found[1]), found[2].strip()
    if declared.startswith("{"):
        if not declared.endswith("}"):
            raise MaucError(f"{path}, line {number}: the values of {name!r} must end with '}}'.")
        values = split_items(declared[1:-1])
        if values is None or not all(values) or len(set(values)) != len(values):
            raise MaucError(
                f"{path}, line {number}: the values of {name!r} must be different and separated "
                f"by commas (quote those with spaces, commas or quotes in them)."
            )
        return Attribute(name, "nominal", tuple(unquote(value) for value in values))
    kind = declared.split(None, 1)[0].lower() if declared else ""
    if kind in _NUMERIC:
        return Attribute(name, "numeric")
    if kind in ("string", "date"):
        return Attribute(name, kind)
    raise MaucError(
        f"{path}, line {number}: the type of {name!r} must be numeric, real, integer, string, "
        f"date or a list of values in braces, got {declared!r}."
    )


def cut_comment(line: str) -> str:
    """Return a line without what follows a ``%`` outside quotes."""
    if "%" not in line:
        return line
    found = _BEFORE_COMMENT.match(line)
    return line if found is None else found[0]


def _is_open(line: str) -> bool:
    """Whether the list of values of an attribute goes on in the next line."""
    bare = re.sub(QUOTED, "", line)
    return "{" in bare and "}" not in bare


def split_items(text: str) -> list[str] | None:
    """Cut a text at the commas outside quotes; None if the quotes do not match."""
    if "'" not in text and '"' not in text:
        return [item.strip() for item in text.split(",")]
    items, place = [], 0
    while True:
        found = _ITEM.match(text, place)
        if not found:
            return None
        items.append(found[1])
        place = found.end()
        if not found[2]:
            return items


def unquote(item: str) -> str:
    """Take the quotes and backslashes off an item, if it has any."""
    if len(item) < 2 or item[0] not in "'\"" or item[-1] != item[0]:
        return item
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), item[1:-1])
