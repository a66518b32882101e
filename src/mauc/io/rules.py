"""What the columns of a table are: labels, features, and those that are not features.

The user's words come first (`find_roles`), then the labels (`mauc.io.labels`), then the values of
the remaining columns (`find_excluded`), each of which is read once, within the memory of their
source: files in memory and larger ones are judged by the same rules.
"""

import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from mauc.data.columns import as_floats
from mauc.data.labels import MAX_EXACT_INTEGER
from mauc.data.source import ColumnSource
from mauc.exceptions import WARNING, MaucError, option
from mauc.io.labels import check_labels, read_labels
from mauc.io.options import ReadOptions
from mauc.io.table import Table, find_place, first_few, split_words
from mauc.progress import track

MIN_ROWS = 10  # in fewer rows all values of a feature may well be different, or equal
MAX_MISSING = 0.95  # share of missing values above which a column is nearly empty
MIN_DISTINCT = 0.95  # share of distinct texts from which a column names its rows
MIN_NAMED = 0.9  # that of distinct values, in a column that is called an identifier
MIN_TEXT = 0.5  # that of distinct texts from which a column may be free text
MIN_WORDS = 4  # in the mean, of free text
MAX_PLAIN = 20  # different texts that are taken for categories without a word
N_FIRST = 1024  # rows that settle most columns of numbers
_SHARE = 4  # of the memory, for what is read or held
_WORK_BYTES = 48  # per row, that judging a column takes beside it
_GROUP_BYTES = 2**26  # of columns that are judged together
_WORD_BYTES = 128  # of a distinct text that is held

# Words of a name that stand for an identifier, wherever they are.
_ID_WORDS = {
    "guid",
    "id",
    "ids",
    "identifier",
    "rowid",
    "rowname",
    "rownames",
    "rownum",
    "serial",
    "ssn",
    "uid",
    "unnamed",
    "uuid",
}
# Those that do as the whole name; "number of rooms" and "refractive index" are measurements.
_WEAK_WORDS = {
    "idx",
    "index",
    "key",
    "no",
    "nr",
    "num",
    "number",
    "obs",
    "observation",
    "ref",
    "row",
}
_ID_ENDING = re.compile(
    r"(account|case|client|customer|employee|file|image|item|member|object|order|passenger|patient"
    r"|person|product|record|row|sample|student|subject|user)(id|no|nr|number)$"
)
_NUMBER = re.compile(r"[+-]?[\d.,']*\d[.,]?([eE][+-]?\d+)?")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ZONE = r"( ?(h|hrs|Uhr|Z|UTC|GMT|[CEMP][DS]T|CES?T|[+-]\d{2}:?\d{2}))?"
_CLOCK = rf"T?\d{{1,2}}(:\d{{2}}(:\d{{2}}([.,]\d+)?)?|h\d{{2}})( ?[AP](\.?M)?\.?)?{_ZONE}"
_MONTH = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DATE = re.compile(
    rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.](\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[ -]{_MONTH}[ ,-]+(\d{{4}}|\d{{2}})|{_MONTH} \d{{1,2}},? +\d{{4}})"
    rf"([T ,]+{_CLOCK})?|(\d+ days? )?{_CLOCK}( ?[-–] ?{_CLOCK})?",
    re.IGNORECASE,
)
Array = np.ndarray[Any, Any]


class Roles(NamedTuple):
    """What the columns of a table are by what the user says, as their numbers."""

    target: int | None  #: None if the labels are kept apart
    features: list[int]  #: in their order
    categorical: frozenset[int]  #: nominal whatever they hold
    groups: int | None = None  #: says which rows belong together


def find_roles(table: Table, options: ReadOptions, *, needs_target: bool = True) -> Roles:
    """Return what the columns of a table are; no value is looked at."""
    has_target = needs_target or options.target is not None or table.target is not None
    target = _find_target(table, options.target) if has_target else None
    dropped = find_columns(table, options.drop, "drop", target)
    categorical = frozenset(
        find_columns(table, options.categorical_features, "categorical_features", target)
    )
    if options.columns is None:
        wanted = [j for j in range(len(table.names)) if j != target and j not in table.hidden]
    else:
        wanted = find_columns(table, options.columns, "columns", target)
        for j, count in Counter(wanted).items():
            if count > 1:
                raise MaucError(f"{table.path}: {option('columns')} has {table.names[j]!r} twice.")
    for name, chosen in (("drop", dropped), ("columns", wanted)):
        if target is not None and target in chosen:
            raise MaucError(
                f"{table.path}: {option(name)} has {table.names[target]!r}, which is the target."
            )
    groups = None
    if options.groups is not None:
        groups = find_column(table, options.groups, "groups")
        for name, taken in (("target", [target]), ("drop", dropped)):
            if groups in taken:
                raise MaucError(
                    f"{table.path}: {option(name)} has {table.names[groups]!r}, which says what "
                    f"rows belong to ({option('groups')})."
                )
    left_out = {*dropped, groups}
    features = [j for j in wanted if j not in left_out]
    if not features:
        raise MaucError(
            f"{table.path} has no column left to be a feature. Its columns: "
            f"{first_few(table.names)}."
        )
    return Roles(target, features, categorical - {groups}, groups)


def _find_target(table: Table, target: str | int | None) -> int | None:
    """Return the column with the labels, or None if they are kept apart."""
    if table.labels is not None:
        if target is not None and not table.has_named_labels:
            raise MaucError(
                f"{table.path} has its labels already (apart from the features), got "
                f"{option('target')} {target!r}; leave it out."
            )
        return None
    if target is not None:
        return find_column(table, target, "target")
    if table.target is None:
        raise MaucError(
            f"{table.path} needs {option('target')}: the name or number of the column with the "
            f"labels. Its columns: {first_few(table.names)}.{table.hint}"
        )
    return table.target


def find_columns(
    table: Table, wanted: Sequence[str | int], name: str, target: int | None
) -> list[int]:
    """Return columns by names, numbers, lists (a,b) and patterns (x*), which spare the target."""
    found = []
    for word in (word for text in wanted for word in split_words(table.names, text)):
        matches = []
        if isinstance(word, str) and find_place(table.names, word) is None:
            matches = [j for j, known in enumerate(table.names) if fnmatchcase(known, word)]
        found += [j for j in matches if j != target] or [find_column(table, word, name)]
    return found


def find_column(table: Table, wanted: str | int, name: str) -> int:
    """Return the number of a column given by name or number (from 0, or -1 for the last)."""
    names = table.names
    found = find_place(names, wanted)
    if found is not None:
        return found
    if isinstance(wanted, str) and not wanted.removeprefix("-").isdigit():
        folded = {name.lower(): name for name in reversed(names)}
        near = get_close_matches(wanted.lower(), list(folded), n=1)
        hint = f"; did you mean {folded[near[0]]!r}?" if near else "."
        raise MaucError(
            f"{table.path} has no column {wanted!r}{hint} "
            f"Its columns: {first_few(names)}.{table.hint}"
        )
    raise MaucError(
        f"{table.path}: {option(name)} as a column number must be in "
        f"[{-len(names)}, {len(names) - 1}], got {wanted}."
    )


def find_excluded(
    table: Table, source: ColumnSource, columns: Sequence[int], categorical: Collection[int] = ()
) -> tuple[dict[int, str], dict[int, str]]:
    """Return which `columns`, read from `source`, are not features, and which may not be; why."""
    if not table.is_named:  # columns of arrays are all features
        return {}, {}
    reasons: dict[int, str | None] = {}
    doubts: dict[int, str | None] = {}
    numbers, words = [], {}
    for j in columns:
        kind = source.types[j].kind
        if j in categorical:
            continue
        if j in table.dates or kind in "mM":
            reasons[j] = "dates"
        elif kind in "Ob":
            words[j] = WordStats(source, table.names[j])
        else:
            numbers.append(j)
    n_rows = source.shape[0]
    n_first = min(N_FIRST, n_rows)
    plain = set()  # columns that have nothing but missing values against them
    for group in _groups(source, numbers, n_first):
        parts = source.read_rows(0, n_first, np.array(group))
        for j, values in zip(group, parts, strict=True):
            reason = number_reason(values, table.names[j], j, is_part=True)
            if reason is None and n_first >= MIN_ROWS and not _starts_again(values):
                plain.add(j)
    settled = plain.intersection(source.complete)
    unread = [j for j in numbers if j not in settled]
    for group in track(list(_groups(source, unread, n_rows)), "groups of columns"):
        for j, values in zip(group, source.read(np.array(group)), strict=True):
            if j in plain:
                reasons[j] = empty_reason(int(np.count_nonzero(values == values)), n_rows)
            else:
                reasons[j] = number_reason(values, table.names[j], j)
                doubts[j] = "counts rows and starts again" if _starts_again(values) else None
    for group in track(list(_groups(source, list(words), n_rows)), "groups of columns"):
        for start, stop in source.take(group).parts_within(source.memory // (2 * _SHARE)):
            parts = source.read_rows(start, stop, np.array(group))
            for j, values in zip(group, parts, strict=True):
                words[j].add(values)
    for j, stats in words.items():
        reasons[j], doubts[j] = stats.judge()
    excluded = {j: reason for j, reason in sorted(reasons.items()) if reason is not None}
    return excluded, {j: text for j, text in sorted(doubts.items()) if text and j not in excluded}


def _groups(source: ColumnSource, columns: Sequence[int], n_rows: int) -> Iterator[list[int]]:
    """Yield columns in groups that may be read together."""
    width = max((int(source.widths[j]) for j in columns), default=1) + _WORK_BYTES
    n_bytes = min(_GROUP_BYTES, source.memory // _SHARE)
    step = max(1, n_bytes // max(1, n_rows * width))
    for start in range(0, len(columns), step):
        yield list(columns[start : start + step])


def number_reason(values: Array, name: str, j: int, *, is_part: bool = False) -> str | None:
    """Return why column `j` of numbers is not a feature, or, of its first rows, may not be one."""
    values = as_floats(values) if values.dtype.char in "mg" else values
    n_rows, is_nameless = len(values), name == f"column{j + 1}"
    known = values[values == values]
    if n_rows < (2 if is_nameless else MIN_ROWS) or len(known) == 0:
        return empty_reason(len(known), n_rows) if n_rows >= MIN_ROWS else None
    low, high = known.min(), known.max()
    is_whole = bool(np.isfinite([low, high]).all() and (known == np.floor(known)).all())
    may_be_range = len(known) > 1 and is_whole and int(high) - int(low) == len(known) - 1
    is_range = is_part or (may_be_range and len(np.unique(known)) == len(known))
    is_named = is_nameless or is_id_name(name, is_range)
    has_start = values[0] == np.round(values[0]) and (is_named or values[0] in (0, 1))
    is_rising = bool((values[1:] > values[:-1]).all())  # integers without a sign wrap around
    if has_start and is_rising and (np.diff(values) == 1).all():
        return "numbers the rows"
    if n_rows < MIN_ROWS:
        return None
    empty = empty_reason(len(known), n_rows)
    if empty is not None or low >= high:
        return empty or "constant"
    if is_named and _starts_again(values):
        return "counts rows and starts again"
    is_wide = bool((np.abs(known.astype(np.float64)) > MAX_EXACT_INTEGER).all())
    if is_whole and (is_wide or is_named):
        n_distinct = len(np.unique(known))
        if is_part or n_distinct >= MIN_NAMED * len(known):
            return f"{n_distinct} values in {n_rows} rows"
    return "dates" if is_date_number(known, name) else None


def _starts_again(values: Array) -> bool:
    """Whether numbers count from 0 or 1 and begin anew, in the mean after five rows or more."""
    if len(values) < MIN_ROWS or values.dtype.kind == "m" or values[0] not in (0, 1):
        return False
    is_next, is_first = values[1:] == values[:-1] + 1, values[1:] == values[0]
    n_starts = 1 + np.count_nonzero(is_first)
    return bool((is_next ^ is_first).all() and 1 < n_starts <= len(values) / 5)


class WordStats:
    """The distinct values of a column of texts or booleans, and how often they occur."""

    def __init__(self, source: ColumnSource, name: str) -> None:
        self._source, self._name = source, name
        self._counts: dict[Any, int] = {}
        self._is_full = False  # more texts than fit into memory

    def add(self, values: Any) -> None:
        """Take the next rows."""
        import pandas

        if self._is_full:
            return
        column = values if hasattr(values, "iloc") else pandas.Series(values, copy=False)
        found = column.value_counts(sort=False)
        for value, count in found[found > 0].items():
            self._counts[value] = self._counts.get(value, 0) + int(count)
        self._is_full = len(self._counts) > self._source.memory // (_SHARE * _WORD_BYTES)
        if self._is_full and len(self._counts) < MIN_DISTINCT * sum(self._counts.values()):
            raise MaucError(
                f"{self._source.name}: column {self._name!r} has more different texts than fit "
                f"into the memory; leave it out ({option('drop', self._name)}), or allow more "
                f"memory."
            )

    def judge(self) -> tuple[str | None, str | None]:
        """Return why the column is not a feature, and why it may not be; None if it is."""
        counts, n_rows = self._counts, self._source.shape[0]
        n_dates = sum(map(is_date, counts))
        # Among many dates a few words, such as "noon" or "unknown", stand for one.
        if n_dates == len(counts) > 0 or n_dates >= max(MIN_DISTINCT * len(counts), MAX_PLAIN + 1):
            return "dates", None
        if self._is_full:
            return "more different texts than fit into memory", None
        if n_rows < MIN_ROWS:
            return None, None
        n_known, distinct = sum(counts.values()), len(counts)
        if distinct == 1:  # a flag, where others are missing
            return None if n_known < n_rows else "constant", None
        if (empty := empty_reason(n_known, n_rows)) is not None:
            return empty, None
        is_named = is_id_name(self._name)
        # Numbers with a decimal comma, or with a few words among them, name nothing.
        n_numbers = sum(count for value, count in counts.items() if _is_number(value))
        if n_known < MIN_ROWS or (2 * n_numbers > n_known and not is_named):
            return None, None
        if distinct >= (MIN_NAMED if is_named else MIN_DISTINCT) * n_known:
            return f"{distinct} values in {n_rows} rows", None
        if distinct <= max(MAX_PLAIN, MIN_TEXT * n_known):
            return None, None
        text = f"{distinct} different texts in {n_rows} rows"
        is_free = sum(len(str(value).split()) for value in counts) >= MIN_WORDS * distinct
        return (f"free text, {text}", None) if is_free else (None, text)


def is_date_number(known: Array, name: str) -> bool:
    """Whether numbers are dates such as 20240131; their column must be called a date."""
    if "date" not in name.lower() or not (known == np.floor(known)).all():
        return False
    if known.min() < 19000101 or known.max() > 21001231:
        return False
    whole = known.astype(np.int64)
    month, day = whole // 100 % 100, whole % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _is_number(value: object) -> bool:
    """Whether a value is a number, or a text of digits: it names nothing."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, Real) and not isinstance(value, bool)


def empty_reason(n_known: int, n_rows: int) -> str | None:
    """Return why a column with so few known values is not a feature, or None if they are enough."""
    if n_known == 0:
        return "no value"
    if n_known < (1 - MAX_MISSING) * n_rows:
        return f"{100 * (1 - n_known / n_rows):.3g} % missing"
    return None


def is_date(value: object) -> bool:
    """Whether a value is a date or a time, or the text of one."""
    if isinstance(value, str):
        return _DATE.fullmatch(value.strip()) is not None
    return isinstance(value, datetime.date | datetime.time | datetime.timedelta)


def is_id_name(name: str, is_range: bool = False) -> bool:
    """Whether the name of a column says that it identifies rows; a range may be any "index"."""
    words = {word.lower() for word in _WORD.findall(name)}
    if words & _ID_WORDS or _ID_ENDING.search(re.sub(r"[\W_]+", "", name.lower())):
        return True
    if is_range:
        return bool(words & _WEAK_WORDS)
    has_digits = any(map(str.isdigit, name))  # NO2 is a gas
    return bool(words) and words <= _WEAK_WORDS and not has_digits


def describe_columns(table: Table, options: ReadOptions) -> tuple[Any, list[str]]:
    """Return a frame with what every column of a table is taken for, and why, and notes."""
    import pandas

    roles, source = find_roles(table, options, needs_target=False), table.source
    judged = [] if options.keep_ids else roles.features
    excluded, doubts = find_excluded(table, source, judged, roles.categorical)
    labels, target_name, what = read_labels(table, source, roles.target)
    rows, notes = [], list(table.notes)
    if labels is None:
        notes.append(f"no column is the target; {option('target')} names it")
    for j in [*range(len(table.names)), *([] if table.labels is None else [None])]:
        name, values = target_name, labels
        if j is not None:
            name, (values,) = table.names[j], source.read(np.array([j]))
        column, code = pandas.Series(values), np.asarray(values).dtype.kind
        is_nominal = code in "ObU" or j in roles.categorical or name in table.categories
        taken, why = "feature", excluded.get(j, "") or WARNING * (j in doubts) + doubts.get(j, "")
        try:
            if j == roles.target and labels is not None:
                taken = "target"
                _, is_missing, more = check_labels(table, labels, what, options)
                column, notes = column.mask(is_missing), [*notes, *more]
            elif j is not None and j == roles.groups:
                taken = "groups"
            elif j in excluded or j not in roles.features:
                is_hidden = j in table.hidden and "no feature by the file"
                taken, why = "left out", why or is_hidden or option("drop")
            elif is_nominal and options.nominal == "drop":
                taken, why = "left out", option("nominal", "drop")
            elif j not in roles.categorical:
                notes += table.check_column(j)
        except MaucError as error:
            why = str(error).removeprefix(f"{table.path}: ")
        kind = "nominal" if is_nominal else "date" if code in "mM" else "number"
        rows.append((name, kind, column.nunique(), column.isna().mean(), taken, why))
    heads = ["column", "kind", "distinct", "missing", "taken", "why"]
    return pandas.DataFrame(rows, columns=heads), notes


def list_excluded(reasons: Mapping[str, str]) -> str:
    """Return names and reasons as one text, columns of the same reason together."""
    groups: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        groups.setdefault(reason, []).append(repr(name))
    texts = []
    for reason, names in groups.items():
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        texts.append(f"{', '.join(names[:5])}{more}, {reason}")
    return "; ".join(texts)
