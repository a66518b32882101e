"""What the columns of a table are: labels, features, and those that are not features.

The user's words come first (`find_roles`), then the labels (`check_labels`), then the values of
the remaining columns (`find_excluded`), of which statistics are gathered once, part by part within
the memory of their source: files in memory and larger ones are judged by the same rules.
"""

import datetime
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from mauc.checks import is_class_count, many_classes_text
from mauc.data.columns import MAX_EXACT_INTEGER, as_floats
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, option
from mauc.io.options import ReadOptions
from mauc.io.table import Table, find_place, first_few
from mauc.progress import track

MIN_ROWS = 10  # in fewer rows all values of a feature may well be different, or equal
MAX_MISSING = 0.95  # share of missing values above which a column is nearly empty
MIN_DISTINCT = 0.95  # share of distinct texts from which a column names its rows
N_FIRST = 1024  # rows that settle most columns of numbers
_SHARE = 4  # of the memory, for what is read or held
_WORK_BYTES = 48  # per row, that judging a column takes beside it
_GROUP_BYTES = 2**26  # of columns that are judged together
_WORD_BYTES = 128  # of a distinct text that is held

# Words of a name that stand for an identifier, wherever they are.
_ID_WORDS = {
    "guid", "id", "ids", "identifier", "rowid", "rowname", "rownames", "rownum", "serial", "ssn",
    "uid", "unnamed", "uuid",
}  # fmt: skip
# Those that do as the whole name; "number of rooms" and "refractive index" are measurements.
_WEAK_WORDS = {
    "idx", "index", "key", "no", "nr", "num", "number", "obs", "observation", "ref", "row",
}  # fmt: skip
_ID_ENDING = re.compile(
    r"(account|case|client|customer|employee|file|image|item|member|object|order|passenger|patient"
    r"|person|product|record|row|sample|student|subject|user)(id|no|nr|number)$"
)
_NUMBER = re.compile(r"[+-]?[\d.,']*\d[.,]?([eE][+-]?\d+)?")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AaPp]\.?[Mm]\.?)?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
_MONTH = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DATE = re.compile(
    rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.](\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}[ -]{_MONTH}[ ,-]+(\d{{4}}|\d{{2}})|{_MONTH} \d{{1,2}},? +\d{{4}})"
    rf"([T ,]+{_CLOCK})?|{_CLOCK}",
    re.IGNORECASE,
)
Array = np.ndarray[Any, Any]


class Roles(NamedTuple):
    """What the columns of a table are by what the user says, as their numbers."""

    target: int | None  #: None if the labels are kept apart
    features: list[int]  #: in their order
    categorical: frozenset[int]  #: nominal whatever they hold


def find_roles(table: Table, options: ReadOptions) -> Roles:
    """Return what the columns of a table are; no value is looked at."""
    target = _find_target(table, options.target)
    dropped = {find_column(table, name, "drop") for name in options.drop}
    categorical = frozenset(
        find_column(table, name, "categorical_features") for name in options.categorical_features
    )
    columns = options.columns
    if columns is None:
        wanted = [j for j in range(len(table.names)) if j != target and j not in table.hidden]
    else:
        wanted = [find_column(table, name, "columns") for name in columns]
        twice = [j for j in wanted if wanted.count(j) > 1] if len(set(wanted)) < len(wanted) else []
        if twice:
            raise MaucError(
                f"{table.path}: {option('columns')} has {table.names[twice[0]]!r} twice."
            )
    for name, chosen in (("drop", dropped), ("columns", wanted)):
        if target is not None and target in chosen:
            raise MaucError(
                f"{table.path}: {option(name)} has {table.names[target]!r}, which is the target."
            )
    features = [j for j in wanted if j not in dropped]
    if not features:
        raise MaucError(
            f"{table.path} has no column left to be a feature. Its columns: "
            f"{first_few(table.names)}."
        )
    return Roles(target, features, categorical)


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


def check_labels(
    table: Table, column: Any, what: str, options: ReadOptions
) -> tuple[Array, Array, list[str]]:
    """Return labels, a mask of the rows that have none, and notes; errors call them `what`."""
    is_missing = _missing(column)
    n_missing = int(is_missing.sum())
    if n_missing and not options.skip_unlabelled:
        more = f" ({n_missing} rows have none)" if n_missing > 1 else ""
        raise MaucError(
            f"{table.path}: {what} has no label in {table.locate_row(int(np.argmax(is_missing)))}"
            f"{more}; give it one, or leave such rows out ({option('skip_unlabelled', True)})."
        )
    y = _plain_labels(table, column, is_missing, what)
    n_classes = len(np.unique(y))
    if not options.many_classes and not is_class_count(n_classes, len(y)):
        raise MaucError(
            f"{table.path}: {what} has {many_classes_text(n_classes, len(y))}. If they are "
            f"classes all the same, pass {option('many_classes', True)}."
        )
    notes = []
    if n_missing:
        notes.append(f"{n_missing} row{'s' * (n_missing > 1)} without a label left out")
    if y.dtype.kind == "U":
        for word in sorted(set(table.missing_words) & set(np.unique(y).tolist())):
            notes.append(f"{word!r} is a class; {option('missing', word)} makes it a missing label")
    return y, is_missing, notes


def _plain_labels(table: Table, labels: Any, is_missing: Array, what: str) -> Array:
    """Return the labels that there are as integers or texts."""
    if is_missing.all():
        raise MaucError(f"{table.path}: {what} has no label in any row. Is it the right target?")
    labels = labels[~is_missing]
    if str(labels.dtype) == "category":
        labels = labels.cat.remove_unused_categories()
        kept = np.asarray(labels.cat.categories)
        if kept.dtype.kind not in "iuf":
            kept = np.array([str(value) for value in kept.tolist()])
        labels = kept[labels.cat.codes.to_numpy()]
    values = np.asarray(labels)
    if values.dtype == np.dtype("m8"):  # integers beyond float64, see `with_missing`
        return values.view(np.int64)
    if values.dtype.kind == "f":
        kind = np.uint64 if values.max() >= 2**63 else np.int64
        limits = np.iinfo(kind)
        whole = (values == np.round(values)) & (values >= limits.min) & (values < limits.max + 1.0)
        if not whole.all():
            first = int(np.argmin(whole))
            row = int(np.flatnonzero(~is_missing)[first])
            raise MaucError(
                f"{table.path}: {what} holds {values[first]} in {table.locate_row(row)}: labels "
                f"are names or integers, not measurements. Is it the right target?"
            )
        return values.astype(kind)
    if values.dtype.kind in "iuU":
        return values
    return np.array([str(value) for value in values.tolist()])


def _missing(labels: Any) -> Array:
    import pandas

    is_missing = np.asarray(pandas.isna(labels))
    is_text = isinstance(labels, np.ndarray) and labels.dtype.kind in "OU"
    return is_missing | (labels == "") if is_text else is_missing


def find_excluded(
    table: Table, source: ColumnSource, columns: Sequence[int], categorical: Collection[int] = ()
) -> dict[int, str]:
    """Return which `columns` of a table, read from `source`, are not features, and why."""
    if not table.is_named:  # columns of arrays are all features
        return {}
    reasons: dict[int, str] = {}
    gathered: dict[int, NumberStats | WordStats] = {}
    for j in columns:
        name, kind = table.names[j], source.types[j]
        if j in categorical:
            continue
        if j in table.dates or kind.kind in "mM":
            reasons[j] = "dates"
        elif kind.kind in "Ob":
            gathered[j] = WordStats(source, name)
        else:
            gathered[j] = NumberStats(source, name, is_nameless=name == f"column{j + 1}")

    def gather(group: list[int], steps: Iterable[tuple[int, int]]) -> None:
        for start, stop in steps:
            parts = source.read_rows(start, stop, np.array(group))
            for j, values in zip(group, parts, strict=True):
                stats = gathered[j]
                stats.add(values[max(0, stats.n_rows - start) :])

    n_rows = source.shape[0]
    n_first = min(N_FIRST, n_rows)
    numbers = [j for j, stats in gathered.items() if isinstance(stats, NumberStats)]
    for group in _groups(source, numbers, n_first):
        gather(group, [(0, n_first)])
    for j in getattr(source, "complete", ()):
        stats = gathered.get(j)
        if isinstance(stats, NumberStats) and stats.is_settled:
            stats.n_known = stats.n_rows = n_rows
    undecided = [j for j, stats in gathered.items() if stats.n_rows < n_rows]
    for group in track(list(_groups(source, undecided, n_rows)), "groups of columns"):
        gather(group, _row_steps(source, group))
    found = {j: stats.reason(j) for j, stats in gathered.items()}
    reasons |= {j: reason for j, reason in found.items() if reason is not None}
    return dict(sorted(reasons.items()))


def _groups(source: ColumnSource, columns: Sequence[int], n_rows: int) -> Iterator[list[int]]:
    """Yield columns in groups that may be read together."""
    width = max((int(source.widths[j]) for j in columns), default=1) + _WORK_BYTES
    n_bytes = min(_GROUP_BYTES, source.memory // _SHARE)
    step = max(1, n_bytes // max(1, n_rows * width))
    for start in range(0, len(columns), step):
        yield list(columns[start : start + step])


def _row_steps(source: ColumnSource, group: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows of some columns that fit into the memory: all rows where they do."""
    width = sum(int(source.widths[j]) + _WORK_BYTES for j in group)
    most = max(1, source.memory // (_SHARE * width))
    n_rows = source.shape[0]
    for begin, end in [(0, n_rows)] if n_rows <= most else source.row_parts():
        for start in range(begin, end, most):
            yield start, min(start + most, end)


class NumberStats:
    """What the rules need to know of a column of numbers, gathered from parts of its rows."""

    def __init__(self, source: ColumnSource, name: str, is_nameless: bool = False) -> None:
        self._source, self._name, self._is_nameless = source, name, is_nameless
        self.n_rows = self.n_known = 0
        self.is_settled = False  #: whether only the number of known values is still of interest
        self._start: Any = None  # value of the first row, and of the last so far
        self._last: Any = None
        self._is_whole = self._is_wide = self._is_date = True
        self._steps_by_one = self._is_rising = self._is_falling = True
        self._is_repeated = False  # a value right behind itself
        self._low, self._high = np.inf, -np.inf

    def add(self, values: Array) -> None:
        """Take the next rows."""
        if len(values) == 0:
            return
        values = as_floats(values) if values.dtype.char in "mg" else values
        self.n_rows += len(values)
        is_float = values.dtype.kind == "f"
        if self.is_settled:
            self.n_known += int(np.count_nonzero(values == values)) if is_float else len(values)
            return
        known = values[values == values] if is_float else values
        self.n_known += len(known)
        before = values[:0] if self._last is None else np.array([self._last], values.dtype)
        joined = np.concatenate([before, values])
        lower, upper = joined[:-1], joined[1:]
        self._start = values[0] if self._start is None else self._start
        self._last = values[-1]
        self._is_rising &= bool((upper > lower).all())
        self._is_falling &= bool((upper < lower).all())
        self._is_repeated |= bool((upper == lower).any())
        self._steps_by_one &= self._is_rising and bool((upper - lower == 1).all())
        if len(known):
            self._is_whole &= bool((known == np.floor(known)).all() and np.isfinite(known).all())
            self._is_wide &= bool((np.abs(known.astype(np.float64)) > MAX_EXACT_INTEGER).all())
            self._is_date &= is_date_number(known, self._name)
            self._low, self._high = min(self._low, known.min()), max(self._high, known.max())
        may_name = self._is_whole and (
            self._is_wide or self._is_nameless or is_id_name(self._name, is_range=True)
        )
        is_constant = self._low >= self._high
        self.is_settled = not (is_constant or self._steps_by_one or self._is_date or may_name)

    def reason(self, column: int) -> str | None:
        """Return why the column, by its number in the source, is not a feature; None if it is."""
        n_rows = self._source.shape[0]
        if n_rows < (2 if self._is_nameless else MIN_ROWS):
            return None
        if self.is_settled:
            return empty_reason(self.n_known, n_rows) if n_rows >= MIN_ROWS else None
        may_be_range = self._is_whole and self._high - self._low == self.n_known - 1
        is_range = self.n_known > 1 and may_be_range and self._is_distinct(column)
        is_named = self._is_nameless or is_id_name(self._name, is_range)
        has_start = self._start == np.round(self._start) and (is_named or self._start in (0, 1))
        if self._steps_by_one and has_start:
            return "numbers the rows"
        if n_rows < MIN_ROWS:
            return None
        empty = empty_reason(self.n_known, n_rows)
        if empty is not None or self._low >= self._high:
            return empty or "constant"
        if self._is_whole and (self._is_wide or is_named) and self._is_distinct(column):
            return f"{self.n_known} values in {n_rows} rows"
        return "dates" if self._is_date else None

    def _is_distinct(self, column: int) -> bool:
        """Whether no value occurs twice; the column is read once more where order does not tell."""
        if self._is_rising or self._is_falling:
            return True
        source = self._source
        span = float(self._high) - float(self._low) + 1
        if self._is_repeated or span < self.n_known:
            return False
        if span <= source.memory // _SHARE:  # all values between are marked
            is_seen = np.zeros(int(span), bool)
            for start, stop in _row_steps(source, [column]):
                values = source.read_rows(start, stop, np.array([column]))[0]
                known = values[values == values]
                offsets = (known - known.dtype.type(self._low)).astype(np.int64)
                if is_seen[offsets].any() or len(np.unique(offsets)) < len(offsets):
                    return False
                is_seen[offsets] = True
            return True
        if source.shape[0] * (3 * source.types[column].itemsize + _WORK_BYTES) > source.memory:
            raise MaucError(
                f"{source.name}: within the memory it cannot be told whether column "
                f"{self._name!r} is an identifier; leave it out ({option('drop', self._name)}), "
                f"keep it ({option('keep_ids', True)}), or allow more memory."
            )
        values = source.read(np.array([column]))[0]
        known = values[values == values]
        return len(np.unique(known)) == len(known)


class WordStats:
    """The distinct values of a column of texts or booleans, and how often they occur."""

    def __init__(self, source: ColumnSource, name: str) -> None:
        self._source, self._name = source, name
        self.n_rows = 0
        self._counts: dict[Any, int] = {}
        self._is_full = False  # more texts than fit into memory

    def add(self, values: Any) -> None:
        """Take the next rows."""
        import pandas

        self.n_rows += len(values)
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

    def reason(self, column: int) -> str | None:
        """Return why the column is not a feature; None if it is."""
        counts, n_rows = self._counts, self._source.shape[0]
        if counts and all(map(is_date, counts)):
            return "dates"
        if self._is_full:
            return "more different texts than fit into memory"
        if n_rows < MIN_ROWS:
            return None
        n_known, distinct = sum(counts.values()), len(counts)
        empty = empty_reason(n_known, n_rows)
        if empty is not None or distinct == 1:
            return empty or "constant"
        if n_known < MIN_ROWS or distinct < MIN_DISTINCT * n_known:
            return None
        # Numbers with a decimal comma, or with a few words among them, name nothing.
        n_numbers = sum(count for value, count in counts.items() if _is_number(value))
        return None if 2 * n_numbers > n_known else f"{distinct} values in {n_rows} rows"


def is_row_index(values: Array) -> bool:
    """Whether values are 0, 1, 2, ... or 1, 2, 3, ... in this order."""
    return len(values) > 1 and values[0] in (0, 1) and bool((np.diff(values) == 1).all())


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
    """Whether a value is a date or a time, or the text of one.

    >>> [is_date(text) for text in ("2024-01-31 08:15", "31.1.2024", "1.31", "Jan 31, 2024")]
    [True, True, False, True]
    """
    if isinstance(value, str):
        return _DATE.fullmatch(value.strip()) is not None
    return isinstance(value, datetime.date | datetime.time | datetime.timedelta)


def is_id_name(name: str, is_range: bool = False) -> bool:
    """Whether the name of a column says that it identifies rows.

    If its values are a range, "index", "number" and the like are enough anywhere in the name;
    otherwise the name must be nothing else.

    >>> [is_id_name(name) for name in ("ID", "PassengerId", "row_no", "Unnamed: 0", "width")]
    [True, True, True, True, False]
    >>> is_id_name("refractive index"), is_id_name("plot index", is_range=True)
    (False, True)
    """
    words = {word.lower() for word in _WORD.findall(name)}
    if words & _ID_WORDS or _ID_ENDING.search(re.sub(r"[\W_]+", "", name.lower())):
        return True
    if is_range:
        return bool(words & _WEAK_WORDS)
    has_digits = any(map(str.isdigit, name))  # NO2 is a gas
    return bool(words) and words <= _WEAK_WORDS and not has_digits


def is_whole_range(values: Array) -> bool:
    """Whether values are whole numbers without gap or repetition, in any order."""
    if len(values) < 2 or float(values.max()) - float(values.min()) != len(values) - 1:
        return False
    return bool((np.diff(np.sort(values)) == 1).all() and values[0] == np.floor(values[0]))


def list_excluded(reasons: Mapping[str, str]) -> str:
    """Return names and reasons as one text, columns of the same reason together.

    >>> list_excluded({"id": "344 values in 344 rows", "a": "constant", "b": "constant"})
    "'id', 344 values in 344 rows; 'a', 'b', constant"
    """
    groups: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        groups.setdefault(reason, []).append(repr(name))
    texts = []
    for reason, names in groups.items():
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        texts.append(f"{', '.join(names[:5])}{more}, {reason}")
    return "; ".join(texts)
