"""Find the columns of a table that are no features: row numbers, identifiers, dates, constants."""

import datetime
import re
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.data.columns import MAX_EXACT_INTEGER, is_frame
from mauc.datasets.readers.table import Table

if TYPE_CHECKING:
    import pandas as pd

MIN_ROWS = 10  # in fewer rows all values of a feature may well be different, or equal
MAX_MISSING = 0.95  # share of missing values above which a column is nearly empty
MIN_DISTINCT = 0.95  # share of distinct texts from which a column names its rows

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


def find_left_out(table: Table, chosen: list[int], marked: set[int]) -> dict[int, str]:
    """Return why columns of a table are no features.

    Parameters
    ----------
    table : Table
        The columns of arrays (npz, mat, svmlight, sparse arff) have numbers rather than names and
        are never left out.
    chosen : list of int
        Columns to look at.
    marked : set of int
        Columns that the user calls nominal; they are features.

    Returns
    -------
    reasons : dict of int to str
        Column and reason, in the order of the columns.

    Notes
    -----
    Left out are

    - columns that number the rows: 0, 1, 2, ... or 1, 2, 3, ... in this order, from any number
      if the column has no name or is called an identifier;
    - identifiers: texts of which 95 % are different; whole numbers that are all different, if the
      name of the column says so (``id``, ``PassengerId``, ``row_no``), if they are a range and the
      name has a word such as ``index``, or if they are larger than 2**53. Measurements that are
      all different are features;
    - dates and times, by their type or their text;
    - columns with a single value, and those with more than 95 % missing values.

    In tables of fewer than 10 rows only dates and nameless row numbers are.
    """
    if not is_frame(table.values):
        return {}
    reasons = {}
    for j in chosen:
        reason = (
            None
            if j in marked
            else column_reason(
                table.values.iloc[:, j], table.names[j], j, is_declared_date=j in table.dates
            )
        )
        if reason is not None:
            reasons[j] = reason
    return reasons


def column_reason(
    column: "pd.Series[Any]", name: str, place: int, *, is_declared_date: bool = False
) -> str | None:
    """Return why a column is no feature, or None if it is one; see `find_left_out`.

    Parameters
    ----------
    column : Series of shape (n_samples,)
    name : str
    place : int
        Its number in the table: columns without a name are called by it.
    is_declared_date : bool, default=False
        Whether the file declares that it holds dates.
    """
    import pandas as pd

    types = pd.api.types
    if is_declared_date or types.is_datetime64_any_dtype(column.dtype):
        return "dates"
    if types.is_bool_dtype(column.dtype) or not types.is_numeric_dtype(column.dtype):
        return _text_reason(column)
    values = column.to_numpy(
        dtype=np.float64 if column.dtype.kind == "f" or column.hasnans else None, na_value=np.nan
    )
    return _number_reason(values, name, is_nameless=name == f"column{place + 1}")


def _number_reason(values: np.ndarray[Any, Any], name: str, is_nameless: bool) -> str | None:
    n_rows = len(values)
    known = values[~np.isnan(values)] if values.dtype.kind == "f" else values
    is_named_id = is_nameless or is_id_name(name, is_whole_range(known))
    if (is_nameless or n_rows >= MIN_ROWS) and numbers_rows(values, any_start=is_named_id):
        return "numbers the rows"
    if n_rows < MIN_ROWS:
        return None
    empty = empty_reason(len(known), n_rows)
    if empty is not None:
        return empty
    if known[0] == known[-1] and (known == known[0]).all():
        return "constant"
    is_wide = abs(float(known[0])) > MAX_EXACT_INTEGER and bool(
        (np.abs(known.astype(np.float64)) > MAX_EXACT_INTEGER).all()
    )
    if (is_wide or is_named_id) and (known == np.floor(known)).all():
        distinct = len(np.unique(known))
        if distinct == len(known) and np.isfinite(known.astype(np.float64)).all():
            return f"{distinct} values in {n_rows} rows"
    if is_date_number(known, name):
        return "dates"
    return None


def numbers_rows(values: np.ndarray[Any, Any], any_start: bool = False) -> bool:
    """Whether values are 0, 1, 2, ... or 1, 2, 3, ... in this order, or begin anywhere."""
    if len(values) < 2 or values[1] - values[0] != 1 or values[0] != np.round(values[0]):
        return False
    if not any_start and values[0] not in (0, 1):
        return False
    return bool((np.diff(values) == 1).all())


def is_date_number(known: np.ndarray[Any, Any], name: str) -> bool:
    """Whether numbers are dates such as 20240131; their column must be called a date."""
    if "date" not in name.lower() or not (known == np.floor(known)).all():
        return False
    if known.min() < 19000101 or known.max() > 21001231:
        return False
    whole = known.astype(np.int64)
    month, day = whole // 100 % 100, whole % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def _text_reason(column: "pd.Series[Any]") -> str | None:
    if str(column.dtype) == "category":
        codes = column.cat.codes.to_numpy()
        counts = np.bincount(codes[codes >= 0], minlength=len(column.cat.categories))
        occurs = counts > 0
        values = column.cat.categories[occurs].tolist()
        return category_reason(values, counts[occurs], len(column))
    known = column.dropna()
    if len(known) and is_date(known.iloc[0]) and known.map(is_date).all():
        return "dates"
    n_rows = len(column)
    if n_rows < MIN_ROWS:
        return None
    empty = empty_reason(len(known), n_rows)
    if empty is not None:
        return empty
    distinct = known.astype(object).nunique()
    if distinct == 1:
        return "constant"
    if 2 * sum(map(_is_number, known)) > len(known):  # a decimal comma, or a few words among them
        return None
    if len(known) >= MIN_ROWS and distinct >= MIN_DISTINCT * len(known):
        return f"{distinct} values in {n_rows} rows"
    return None


def category_reason(values: list[Any], counts: np.ndarray[Any, Any], n_rows: int) -> str | None:
    """Return why a column of texts is no feature, from the distinct ones and how often they occur.

    Parameters
    ----------
    values : list
        Those that occur.
    counts : ndarray of shape (n_values,)
    n_rows : int
        Rows with a missing value included.
    """
    if values and all(map(is_date, values)):
        return "dates"
    n_known, distinct = int(counts.sum()), len(values)
    if n_rows < MIN_ROWS:
        return None
    empty = empty_reason(n_known, n_rows)
    if empty is not None:
        return empty
    if distinct == 1:
        return "constant"
    if n_known < MIN_ROWS or distinct < MIN_DISTINCT * n_known:
        return None
    is_number = np.array([_is_number(value) for value in values])
    if 2 * counts[is_number].sum() > n_known:
        return None
    return f"{distinct} values in {n_rows} rows"


def _is_number(value: object) -> bool:
    """Whether a value is a number, or a text of digits: it names nothing."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, Real) and not isinstance(value, bool)


def empty_reason(n_known: int, n_rows: int) -> str | None:
    """Return why a column with so few known values is no feature, or None if they are enough."""
    if n_known == 0:
        return "no value"
    if n_known < (1 - MAX_MISSING) * n_rows:
        return f"{100 * (1 - n_known / n_rows):.3g} % missing"
    return None


def is_date(value: object) -> bool:
    """Whether a value is a date or a time, or the text of one.

    Examples
    --------
    >>> from mauc.datasets.left_out import is_date
    >>> [is_date(text) for text in ("2024-01-31 08:15", "31.1.2024", "1.31", "Jan 31, 2024")]
    [True, True, False, True]
    """
    if isinstance(value, str):
        return _DATE.fullmatch(value.strip()) is not None
    return isinstance(value, datetime.date | datetime.time | datetime.timedelta)


def is_id_name(name: str, is_range: bool = False) -> bool:
    """Whether the name of a column says that it identifies rows.

    Parameters
    ----------
    name : str
    is_range : bool, default=False
        Whether its values are a range, see `is_whole_range`: then "index", "number" and the like
        are enough anywhere in the name, otherwise the name must be nothing else.

    Examples
    --------
    >>> from mauc.datasets.left_out import is_id_name
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


def is_whole_range(values: np.ndarray[Any, Any]) -> bool:
    """Whether values are whole numbers without gap or repetition, in any order."""
    if len(values) < 2 or float(values.max()) - float(values.min()) != len(values) - 1:
        return False
    return bool((np.diff(np.sort(values)) == 1).all() and values[0] == np.floor(values[0]))


def list_left_out(reasons: dict[str, str]) -> str:
    """Return names and reasons as one text, columns of the same reason together.

    Examples
    --------
    >>> from mauc.datasets.left_out import list_left_out
    >>> list_left_out({"id": "344 values in 344 rows", "a": "constant", "b": "constant"})
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
