"""Checks that several tests share: each returns what it checked, or says what was wanted."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from mauc.exceptions import MaucError


def check_alpha(alpha: float) -> float:
    """Return the level of significance, a number between 0 and 1."""
    if not 0 < alpha < 1:
        raise MaucError(f"alpha must lie between 0 and 1, got {alpha!r}.")
    return float(alpha)


def check_known(name: Any, known: Sequence[Any], what: str) -> Any:
    """Return a name that is one of those known; the error names the nearest."""
    if name not in known:
        near = get_close_matches(str(name), [str(other) for other in known], n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise MaucError(
            f"{what} must be one of {', '.join(repr(other) for other in known)}, got {name!r}{hint}"
        )
    return name
