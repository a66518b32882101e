"""The selectors, as scikit-learn transformers; a family is imported when it is first asked for."""

from importlib import import_module
from typing import Any

from mauc.registry import PAPER_SELECTORS, SELECTOR_CLASSES, SELECTORS, make_selector

__all__ = ["PAPER_SELECTORS", "SELECTORS", "make_selector"]


def __getattr__(name: str) -> Any:
    if name not in SELECTOR_CLASSES:  # which are public names of the package
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("mauc"), name)
