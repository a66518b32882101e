"""The kinds of findings: one table of codes, names, severities and meanings."""

from collections.abc import Iterable
from typing import NamedTuple

from mauc.checks import unknown_choice
from mauc.exceptions import option

SEVERITIES = "high", "medium", "low"


class Kind(NamedTuple):
    """What a finding can be."""

    code: str  #: stays the same, as people ignore findings by it
    name: str
    severity: str
    meaning: str


#: all kinds; findings of one severity are sorted in this order
TABLE = (
    Kind("MD01", "leak", "high", "a column tells all classes apart"),
    Kind("MD12", "class marker", "high", "a column tells one class from all others by a value"),
    Kind("MD13", "target means", "high", "a column holds class shares or means of the labels"),
    Kind("MD14", "dates by class", "high", "a date tells a class from the others"),
    Kind("MD02", "group column", "high", "a column says which rows belong together"),
    Kind("MD03", "copied rows", "high", "rows are equal to others"),
    Kind("MD15", "near copies", "high", "rows are nearly equal to others"),
    Kind("MD04", "groups across folds", "high", "a model was trained on groups it is tested on"),
    Kind("MD05", "missed pair", "high", "a model misses a pair of classes"),
    Kind("MD06", "few rows", "low", "a class has too few rows"),
    Kind("MD07", "inseparable pair", "high", "nothing tells two classes apart"),
    Kind("MD08", "wrong labels", "high", "rows of one class look like another"),
    Kind("MD16", "missing by class", "medium", "values are missing mostly in one class"),
    Kind("MD17", "sentinel", "medium", "a number such as -999 stands for a missing value"),
    Kind("MD18", "identifier", "medium", "a column is called an identifier"),
    Kind("MD09", "duplicated columns", "medium", "columns repeat others"),
    Kind("MD10", "constant columns", "medium", "columns hardly vary"),
    Kind("MD19", "interaction", "medium", "two columns tell only together"),
    Kind("MD11", "merged class", "medium", "a class falls into two clusters"),
)
KINDS = {kind.name: kind for kind in TABLE}
CODES = {kind.code: kind for kind in TABLE}
ORDER = {kind.name: at for at, kind in enumerate(TABLE)}


def check_ignored(ignore: str | Iterable[str]) -> frozenset[str]:
    """Return the names of the kinds with some codes."""
    codes = [ignore] if isinstance(ignore, str) else list(ignore)
    for code in codes:
        if str(code).upper() not in CODES:
            raise unknown_choice(option("ignore"), code, sorted(CODES))
    return frozenset(CODES[code.upper()].name for code in codes)
