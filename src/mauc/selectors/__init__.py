"""The selectors, as scikit-learn transformers; a family is imported when it is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mauc.registry import PAPER_SELECTORS, SELECTORS, make_selector

if TYPE_CHECKING:
    from mauc.selectors.arco import ARCO
    from mauc.selectors.consensus import ConsensusSelector
    from mauc.selectors.fcbf import FCBF
    from mauc.selectors.filters import (
        FSDD,
        MAUCD,
        MDFS,
        AnovaF,
        ChiSquare,
        FisherScore,
        InformationGain,
        SpreadFx,
        SubproblemSelector,
        SymmetricalUncertainty,
    )
    from mauc.selectors.greedy_mauc import GreedyMAUC
    from mauc.selectors.information import JMI, MRMR
    from mauc.selectors.relieff import ReliefF

_HOME_OF = {entry.class_name: entry.module for entry in SELECTORS.values()}

__all__ = [
    "ARCO",
    "FCBF",
    "FSDD",
    "JMI",
    "MAUCD",
    "MDFS",
    "MRMR",
    "PAPER_SELECTORS",
    "SELECTORS",
    "AnovaF",
    "ChiSquare",
    "ConsensusSelector",
    "FisherScore",
    "GreedyMAUC",
    "InformationGain",
    "ReliefF",
    "SpreadFx",
    "SubproblemSelector",
    "SymmetricalUncertainty",
    "make_selector",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
