"""Columns of words: their distinct texts in, what they are and what is wrong with them out."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mauc.exceptions import WARNING, MaucError, option
from mauc.io.lines import NUMBER
from mauc.io.table import check_precision
from mauc.results import plural

Array = np.ndarray[Any, Any]
#: what stands for a missing value in most files
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null")
#: what stands for a missing label: the other words of `MISSING` may well be names of classes
MISSING_LABELS = ("", "?")
_MIN_WORDS = 0.1  # share of words from which a column of numbers and words is nominal
_MIN_ROWS = 10  # in fewer rows any word may be a slip
_THOUSANDS = (",", ".", "'", " ")  # what separates thousands, unless it is the decimal point
_TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(rf"{NUMBER}|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_AMBIGUOUS = re.compile(r"[+-]?(\d{1,3}(,\d{3})?|\d+)")
# A number with a currency in front of it or a unit behind it.
_MEASURED = re.compile(
    r"(?P<sign>[+-]?)(?P<mark>[A-Z]{0,3}[$€£¥₹])?\s?"
    r"(?P<number>[+-]?[\d.,' ]*\d[.,]?([eE][+-]?\d+)?)\s?"
    r"(?P<unit>[^\d\s.,'/:_-]\D{0,14}[23]?)?"
)
_PLURAL = re.compile(r"(?<=\w\w)s$")  # "1 year" and "2 years"; "m" and "ms" are different units


@dataclass(frozen=True)
class TypedWords:
    """What stands for each distinct text of a column."""

    words: Sequence[str]  #: in the order of their appearance
    #: a number, or the code of a category, -1 where it is missing
    table: Array
    categories: list[Any] | None  #: None if the texts are numbers
    note: str = ""  #: what a user should know of how they were read

    def decode(self, codes: Array) -> Any:
        """Return the values of some rows, given by the codes of their texts."""
        if self.categories is None:
            return self.table[codes]
        import pandas as pd

        return pd.Series(pd.Categorical.from_codes(self.table[codes], self.categories))


def type_words(
    name: str,
    words: Sequence[str],
    missing: Sequence[str] = (),
    decimal: str = ".",
    thousands: str | None = None,
    *,
    is_label: bool = False,
    is_text: bool = False,
) -> TypedWords:
    """Give the distinct texts of a column their type; those of text stay as they are."""
    gaps = {*(MISSING_LABELS if is_label else MISSING), *missing}
    texts = {word: word for word in words if word not in gaps}
    if is_text:
        return _categories(words, texts)
    if texts and all(word in _TRUTH for word in texts):
        return _categories(words, {word: _TRUTH[word] for word in texts})
    known, note = list(texts), ""
    numbers = parse_numbers(known, decimal)
    if numbers is None and is_label:
        # Among numbers these words are missing labels; among names they are names.
        known = [word for word in known if word not in MISSING]
        numbers = parse_numbers(known, decimal) if known else None
    elif numbers is None:
        plain, note = take_unit_off(name, known)
        numbers = parse_numbers(plain, decimal)
        found = join_thousands(plain, decimal, thousands) if numbers is None else None
        if found is not None:
            numbers, example = found
            start = f"{note};" if note else f"column {name!r}:"
            note = f"{start} texts such as {example!r} are numbers with separated thousands"
        elif numbers is None and plain is not known:
            note = (
                f"{WARNING}column {name!r}: texts such as {known[0]!r} have a unit, but no number "
                f"that can be read; {option('decimal', ',')} or {option('thousands', ',')} may help"
            )
    if numbers is None:
        return _categories(words, texts, note)
    if len(known) < len(words):
        places = {word: j for j, word in enumerate(known)}
        extended = np.append(numbers.astype(np.float64), np.nan)
        numbers = extended[[places.get(word, -1) for word in words]]
    return TypedWords(words, numbers, None, note)


def _categories(words: Sequence[str], values: dict[str, Any], note: str = "") -> TypedWords:
    """Return texts as codes of their sorted values; those without a value are missing."""
    categories = sorted(set(values.values()))
    codes = {value: code for code, value in enumerate(categories)}
    table = [codes[values[word]] if word in values else -1 for word in words]
    return TypedWords(words, np.array(table, np.int32), categories, note)


def parse_numbers(words: Sequence[str], decimal: str = ".") -> Array | None:
    """Return texts as int64, uint64 or float64; None if one is not a number, or too large."""
    stripped = [word.strip() for word in words]
    if decimal != ".":
        if any("." in word for word in stripped):
            return None
        stripped = [word.replace(decimal, ".") for word in stripped]
    if not all(_NUMBER.fullmatch(word) for word in stripped):
        return None
    if not stripped or not all(_INTEGER.fullmatch(word) for word in stripped):
        return np.array([float(word) for word in stripped], np.float64)
    for kind in (np.int64, np.uint64):
        with suppress(OverflowError):
            return np.array([int(word) for word in stripped], kind)
    return None


def take_unit_off(name: str, words: list[str]) -> tuple[list[str], str]:
    """Return texts without the unit that nearly all of them have, if there is one, and a note."""
    if not any(map(_MEASURED.fullmatch, words[:_MIN_ROWS])):
        return words, ""
    found = [_MEASURED.fullmatch(word.strip()) for word in words]
    units = [one and _PLURAL.sub("", f"{one['mark'] or ''}{one['unit'] or ''}") for one in found]
    counts, enough = Counter(filter(None, units)), (1 - _MIN_WORDS) * len(words)
    # "1st", "2nd" and "3rd" have no units: fewer than three texts have the same ending.
    if counts.total() < enough or 3 * len(counts) > max(3, len(words)):
        return words, ""
    unit, n_most = counts.most_common(1)[0]
    odd = [word for word, own in zip(words, units, strict=True) if own not in ("", unit)]
    kept = option("categorical_features", name)
    if odd:
        return words, (
            f"{WARNING}column {name!r} has numbers with {unit!r}, but is nominal because of "
            f"{odd[0]!r}; write one unit, or pass {option('missing', odd[0])} or {kept}"
        )
    bare = f", {len(words) - n_most} of {len(words)} texts have none" * (n_most < len(words))
    note = f"column {name!r}: {unit!r} taken off{bare} ({kept} keeps the texts)"
    return [one["sign"] + one["number"] for one in found if one], note


def join_thousands(
    words: Sequence[str], decimal: str, thousands: str | None
) -> tuple[Array, str] | None:
    """Return numbers of texts with separated thousands and one that leaves no doubt, or None."""
    stripped = [word.strip() for word in words]
    if not stripped or not stripped[0][-1:].isdigit():
        return None
    for mark in _THOUSANDS if thousands is None else (thousands,):
        # Some writers say 1.234.567 with no decimal point at all.
        point = decimal if mark != decimal else ("," if decimal == "." else ".")
        grouped, certain = _patterns(mark, point)
        if not all(grouped.fullmatch(word) for word in stripped):
            continue
        if mark == decimal and any(point in word for word in stripped):
            continue
        grouping = [word for word in stripped if mark in word]
        if thousands is None:
            grouping = [word for word in grouping if certain.fullmatch(word)]
        if grouping:
            plain = [word.replace(mark, "").replace(point, ".") for word in stripped]
            numbers = parse_numbers(plain)
            return (numbers if numbers is not None else np.array(plain, float)), grouping[0]
    return None


@cache
def _patterns(mark: str, point: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of the numbers of a column, and of those that can be nothing else."""
    mark, point = re.escape(mark), re.escape(point)
    decimals = rf"{point}\d*([eE][+-]?\d+)?"
    grouped = rf"[+-]?(\d{{1,3}}({mark}\d{{3}})+|\d+)({decimals})?"
    certain = rf"[+-]?\d{{1,3}}(({mark}\d{{3}}){{2,}}({decimals})?|{mark}\d{{3}}{decimals})"
    return re.compile(grouped), re.compile(certain)


def check_words(
    path: Path,
    name: str,
    typed: TypedWords,
    codes: Array,
    missing: Sequence[str],
    locate_row: Callable[[int], str],
) -> list[str]:
    """Return notes on a feature; raise if it is numbers with less than a tenth of words."""
    texts = [word.strip() for word in typed.words]
    if typed.categories is None:
        check_precision(path, name, texts)
        return []
    is_known = np.array([word not in {*MISSING, *missing} for word in typed.words], bool)
    known = [text for text, is_one in zip(texts, is_known, strict=True) if is_one]
    if not known or all(text in _TRUTH for text in known):
        return []
    is_number = np.array([_NUMBER.fullmatch(text) is not None for text in texts]) & is_known
    if is_number[is_known].all():
        check_precision(path, name, known)
    commas = [text for text in known if _COMMA_NUMBER.fullmatch(text)]
    if commas and all(_COMMA_NUMBER.fullmatch(t) or _INTEGER.fullmatch(t) for t in known):
        point = option("decimal", ",")
        if all(_AMBIGUOUS.fullmatch(text) for text in known):
            raise MaucError(
                f"{path}: column {name!r} holds numbers such as {commas[0]!r}: pass "
                f"{option('thousands', ',')} if the comma separates thousands, {point} if it is a "
                f"decimal comma."
            )
        raise MaucError(
            f"{path}: column {name!r} holds numbers with a decimal comma, such as {commas[0]!r}; "
            f"pass {point}."
        )
    counts = np.bincount(codes, minlength=len(texts))
    n_known, n_numbers = int(counts[is_known].sum()), int(counts[is_number].sum())
    n_words = n_known - n_numbers
    if n_numbers == 0 or n_words == 0:
        return []
    if n_known >= _MIN_ROWS and n_words >= _MIN_WORDS * n_known:
        mix = f"{plural(n_words, 'word')} and {plural(n_numbers, 'number')}"
        return [f"column {name!r} mixes {mix}: nominal"]
    is_odd = is_known & (~is_number if 2 * n_numbers >= n_known else is_number)
    row = int(np.argmax(is_odd[codes]))
    odd = texts[codes[row]]
    raise MaucError(
        f"{path}: column {name!r} mixes {plural(n_numbers, 'number')} and "
        f"{plural(n_words, 'text')}; the first odd value is {odd!r} on {locate_row(row)}. "
        f"Correct it; or, if it stands for a missing value, pass {option('missing', odd)}; or, if "
        f"the column is nominal, pass {option('categorical_features', name)}."
    )
