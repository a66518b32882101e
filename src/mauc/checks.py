"""Check the options of estimators and functions: each check returns what it checked, or raises.

scikit-learn's ``check_scalar`` would do for numbers, but its errors are not `MaucError` and do not
say what was wanted in one sentence.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeGuard, overload

from mauc.exceptions import MaucError, printable


def check_choice(
    name: str, value: object, choices: Iterable[object], *, quoted: bool = True
) -> Any:
    """Return `value` if it is one of the choices; the error is that of `unknown_choice`.

    >>> check_choice("ties", "mau", ("index", "mauc"))
    Traceback (most recent call last):
    mauc.exceptions.MaucError: ties must be one of 'index', 'mauc', got 'mau'; ...
    """
    choices = list(choices)
    # The value may be an array, which cannot be compared with a choice.
    if isinstance(value, str | int | bool | None) and value in choices:
        return value
    raise unknown_choice(name, value, choices, quoted=quoted)


def unknown_choice(
    what: str, got: object, choices: Iterable[object], *, quoted: bool = False
) -> MaucError:
    """Return the error for a value that is none of the choices; it names the nearest one.

    `what` is the option, as the user knows it. Choices are `quoted` as Python values, unless they
    are those of a file or a command line.
    """
    choices = list(choices)
    by_name = {str(choice).lower(): choice for choice in choices}
    near = get_close_matches(str(got).lower(), list(by_name), n=1)
    hint = f"; did you mean {by_name[near[0]]!r}?" if near else "."
    shown = ", ".join(repr(choice) if quoted else printable(choice) for choice in choices[:50])
    shown += ", ..." * (len(choices) > 50)
    return MaucError(f"{what} must be one of {shown}, got {got!r}{hint}")


@overload
def check_int(name: str, value: Any, low: int, high: int | None = None) -> int: ...
@overload
def check_int(
    name: str, value: Any, low: int, high: int | None = None, *, optional: bool
) -> int | None: ...
def check_int(
    name: str, value: Any, low: int, high: int | None = None, *, optional: bool = False
) -> int | None:
    """Return a whole number of at least `low`, and at most `high`; None too if it is optional.

    >>> check_int("n_bins", 1, 2, 255)
    Traceback (most recent call last):
    mauc.exceptions.MaucError: n_bins must be an int in [2, 255], got 1.
    """
    if optional and value is None:
        return None
    if is_int(value) and value >= low and (high is None or value <= high):
        return int(value)
    wanted = f"an int of at least {low}" if high is None else f"an int in [{low}, {high}]"
    raise MaucError(f"{name} must be {'None or ' if optional else ''}{wanted}, got {value!r}.")


def check_real(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    is_low_open: bool = False,
    is_high_open: bool = False,
    others: str = "",
) -> float:
    """Return a finite number between two bounds, which belong to the range unless they are open.

    `others` is what else is allowed, for the error message, such as ``' or "auto"'``.
    """
    if is_real(value) and math.isfinite(value):
        is_above = value > low if is_low_open else value >= low
        is_below = value < high if is_high_open else value <= high
        if is_above and is_below:
            return float(value)
    if math.isinf(low) and math.isinf(high):
        wanted = "a finite number"
    elif math.isinf(high):
        finite = "finite " if is_real(value) and not math.isfinite(value) else ""
        wanted = f"a {finite}number {'>' if is_low_open else '>='} {low:g}"
    else:
        brackets = "(" if is_low_open else "[", ")" if is_high_open else "]"
        wanted = f"a number in {brackets[0]}{low:g}, {high:g}{brackets[1]}"
    raise MaucError(f"{name} must be {wanted}{others}, got {value!r}.")


def check_level(name: str, value: Any) -> float:
    """Return a level of significance or confidence: a number between 0 and 1, both excluded."""
    return check_real(name, value, 0, 1, is_low_open=True, is_high_open=True)


MAX_CLASSES = 1000  # more class pairs than half a million take gigabytes
_MAX_SPARSE_CLASSES = 20  # up to here classes may have a row each: it is a small table
_are_many_allowed: ContextVar[bool] = ContextVar("are_many_classes_allowed", default=False)


@contextmanager
def allow_many_classes() -> Iterator[None]:
    """Let selectors accept more than `MAX_CLASSES` classes while the context lasts.

    >>> with allow_many_classes():
    ...     pass  # MDFS(10).fit(X, y)
    """
    token = _are_many_allowed.set(True)
    try:
        yield
    finally:
        _are_many_allowed.reset(token)


def check_class_count(n_classes: int, n_samples: int) -> None:
    """Raise if there are more than `MAX_CLASSES` classes, unless they are allowed."""
    if n_classes > MAX_CLASSES and not _are_many_allowed.get():
        raise MaucError(
            f"y has {many_classes_text(n_classes, n_samples)}; its "
            f"{n_classes * (n_classes - 1) // 2:,} class pairs may take gigabytes. If they are "
            f"classes all the same, call fit in `with mauc.checks.allow_many_classes():`."
        )


def is_class_count(n_classes: int, n_samples: int) -> bool:
    """Whether a target can be a class: it has at most 1,000 values, with two rows each.

    Up to 20 classes may have any number of rows.

    >>> is_class_count(26, 300), is_class_count(11602, 12000), is_class_count(30, 50)
    (True, False, False)
    """
    if n_classes > MAX_CLASSES:
        return False
    return n_classes <= _MAX_SPARSE_CLASSES or n_samples >= 2 * n_classes


def many_classes_text(n_classes: int, n_samples: int) -> str:
    """Describe the problem with a target for which `is_class_count` is False."""
    return (
        f"{n_classes:,} classes in {n_samples:,} rows, which looks like a measurement or an "
        f"identifier, not a class (at most {MAX_CLASSES:,} classes are expected, with 2 rows each "
        f"on average)"
    )


def is_int(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, of Python or NumPy; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: object) -> TypeGuard[float]:
    """Whether a value is a number, of Python or NumPy; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)
