"""Feature selection for a high multi-class AUC (MAUC)."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

__version__ = version("mauc")

# Where each name lives. A name is imported when it is first asked for, so that the command line
# and whoever needs one part do not wait for all.
_HOMES = {
    "binning": ("MDLDiscretizer",),
    "difficulty": ("siren_study",),
    "evaluation": ("SizeCurve", "select_k"),
    "experiments": ("load_run",),
    "metrics": (
        "MAUCInterval",
        "PairAUCReport",
        "mauc_interval",
        "mauc_score",
        "mauc_scorer",
        "pair_auc_scores",
    ),
    "selectors.relevance": ("feature_pair_auc",),
    "selectors": (
        "ARCO",
        "FAST",
        "FCBF",
        "FSDD",
        "JMI",
        "MAUCD",
        "MDFS",
        "MRMR",
        "AnovaF",
        "ChiSquare",
        "FisherScore",
        "GreedyMAUC",
        "InformationGain",
        "ReliefF",
        "SpreadFx",
        "SubproblemSelector",
        "SymmetricalUncertainty",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "ARCO",
    "FAST",
    "FCBF",
    "FSDD",
    "JMI",
    "MAUCD",
    "MDFS",
    "MRMR",
    "AnovaF",
    "ChiSquare",
    "FisherScore",
    "GreedyMAUC",
    "InformationGain",
    "MAUCInterval",
    "MDLDiscretizer",
    "PairAUCReport",
    "ReliefF",
    "SizeCurve",
    "SpreadFx",
    "SubproblemSelector",
    "SymmetricalUncertainty",
    "__version__",
    "feature_pair_auc",
    "load_run",
    "mauc_interval",
    "mauc_score",
    "mauc_scorer",
    "pair_auc_scores",
    "select_k",
    "siren_study",
]
