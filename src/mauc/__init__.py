"""Feature selection for a high multi-class AUC (MAUC)."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

from mauc.registry import SELECTOR_CLASSES

__version__ = version("mauc")

# Where each name lives. A name is imported when it is first asked for, so that the command line
# and whoever needs one part do not wait for all.
_HOMES = {
    "evaluation.best": ("BestSubset", "best_subset"),
    "binning": ("MDLDiscretizer",),
    "data.source": ("ColumnSource",),
    "difficulty": ("siren_study",),
    "evaluation.doctor": ("Diagnosis", "diagnose"),
    "evaluation": ("SizeCurve", "select_k"),
    "experiments": ("load_run",),
    "io.load": ("open_columns",),
    "metrics": (
        "MAUCInterval",
        "PairAUCReport",
        "auc_mu_score",
        "make_mauc_scorer",
        "mauc_interval",
        "mauc_score",
        "mauc_scorer",
        "pair_auc_scores",
    ),
    "metrics.compare": ("MAUCComparison", "compare_mauc"),
    "precompile": ("WarmupSummary", "warmup"),
    "selectors": SELECTOR_CLASSES,
    "measure.pair_auc": ("feature_pair_auc",),
    "measure.pair_tests": ("PairTests", "pair_tests"),
    "sketch": ("PairAUCSketch", "sketch_rows"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(
    (*_HOME_OF, "__version__"), key=lambda name: (not name.isupper(), not name[0].isupper(), name)
)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
