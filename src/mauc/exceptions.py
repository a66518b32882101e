"""The errors and warnings of the library.

::

    ValueError
      └─ MaucError                   whatever a user can cause
           ├─ MaucTypeError          an input of the wrong type; also a TypeError
           ├─ UndefinedMAUCError     fewer than two classes to compare
           ├─ NotEnoughMemoryError   work that would need more memory than is free or allowed
           └─ DamagedShardError      a file of a run is not what was written
    UserWarning
      ├─ MaucWarning                 the answer stands, but means less than it seems
      │    ├─ SmallClassWarning      a class has a single sample
      │    ├─ ConstantInputWarning   features are constant and tell nothing
      │    ├─ NoEvidenceWarning      no feature is significant, and one had to be selected
      │    ├─ TinyUnitsWarning       values differ by less than a method can see
      │    ├─ AbsentClassWarning     a class has no sample to score
      │    ├─ LooseBoundWarning      AUCs of a sketch may be far from those of the rows
      │    ├─ ColumnWarning          columns of a file may not be what they are taken for
      │    │    └─ LeftOutWarning    columns were taken for no features
      │    ├─ RepeatedRowsWarning    rows are in the training and in the test part
      │    └─ IncompleteRunWarning   cells of a run are not there yet
      └─ NoCacheWarning              compiled loops cannot be kept
"""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


#: how notes of a data set begin that are a `ColumnWarning` as well
WARNING = "warning: "


class MaucError(ValueError):
    """Base class of the errors of mauc."""

    def __str__(self) -> str:
        return printable(super().__str__(), "\n")  # it may hold names of a file


class MaucTypeError(MaucError, TypeError):
    """An input has a type that cannot be used."""


class UndefinedMAUCError(MaucError):
    """MAUC compares classes, and there are fewer than two."""


class NotEnoughMemoryError(MaucError):
    """Work would need more memory than is free or allowed; it was not begun."""


class DamagedShardError(MaucError):
    """A shard of a run is truncated, altered or not of its cell."""


class MaucWarning(UserWarning):
    """The result is valid, but means less than it seems."""


class SmallClassWarning(MaucWarning):
    """A class has a single sample: its AUCs take only a few values."""


class ConstantInputWarning(MaucWarning):
    """Every feature is constant, or constant features had to be selected."""


class NoEvidenceWarning(MaucWarning):
    """No feature separates two classes significantly, and one had to be selected."""


class TinyUnitsWarning(MaucWarning):
    """Values differ by less than float64, or an absolute tolerance of the method, can see."""


class AbsentClassWarning(MaucWarning):
    """A class has no sample to score; the mean is over the pairs that are present."""


class LooseBoundWarning(MaucWarning):
    """Rows of a sketch are not like its first ones: its AUCs may be far from the exact ones."""


class ColumnWarning(MaucWarning):
    """Columns or labels of a file may not be what they are taken for."""


class LeftOutWarning(ColumnWarning):
    """Columns look like row numbers, ids, dates or constants and were left out."""


class RepeatedRowsWarning(MaucWarning):
    """Rows with the same values are in the training and in the test part of a fold."""


class IncompleteRunWarning(MaucWarning):
    """Cells of a run are not there yet: means and tests are over fewer folds."""


class NoCacheWarning(UserWarning):
    """No folder can be written in which compiled loops are kept; every process compiles them."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the line of the caller outside this library and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith(("mauc.", "sklearn.")):
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message, "\n"), category, stacklevel=level)


def printable(text: object, kept: str = "") -> str:
    """Return text for a terminal: control and invisible characters as escapes, but those `kept`."""
    return "".join(
        char if char.isprintable() or char in kept else char.encode("unicode_escape").decode()
        for char in str(text)
    )


def first_line(error: object) -> str:
    """Return the first line of an error without its full stop, or its type if it is empty."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".;: ") if lines else type(error).__name__


def format_labels(labels: "Sequence[Any] | np.ndarray") -> str:
    """Return labels as a message shows them: the first five, as plain Python values."""
    shown = [repr(label.item() if hasattr(label, "item") else label) for label in labels[:5]]
    return ", ".join(shown) + (", ..." if len(labels) > 5 else "")


_spelling: Callable[..., str] | None = None  # how messages name parameters; None for Python


def option(name: str, *value: object) -> str:
    """Return how a message names a parameter: ``drop``, or with a value ``drop='id'``.

    The command line shows its own options instead, see `spell_options`.
    """
    if _spelling is not None:
        return _spelling(name, *value)
    return f"{name}={value[0]!r}" if value else name


@contextmanager
def spell_options(spelling: Callable[..., str] | None) -> Iterator[None]:
    """Let the messages that are made meanwhile, in all threads, name parameters by `spelling`."""
    global _spelling
    before, _spelling = _spelling, spelling
    try:
        yield
    finally:
        _spelling = before


def as_mauc_error(error: Exception) -> Exception:
    """Return an error of scikit-learn's checks as one of this library, with its message."""
    if isinstance(error, MaucError):
        return error
    kind = MaucTypeError if isinstance(error, TypeError) else MaucError
    return kind(str(error))


@contextmanager
def mauc_errors() -> Iterator[None]:
    """Raise errors of scikit-learn's checks as errors of this library."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise as_mauc_error(error) from error
