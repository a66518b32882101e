"""Feature selection for a high multi-class AUC (MAUC).

The public names stand in ``__init__.pyi``. A name is imported when it is first asked for, so that
the command line and whoever needs one part do not wait for all.
"""

from importlib.metadata import version

from lazy_loader import attach_stub

__version__ = version("mauc")

__getattr__, _list_names, __all__ = attach_stub(__name__, __file__)
# As ruff sorts them: CONSTANTS, then Classes, then functions.
__all__ = sorted(
    (*__all__, "__version__"), key=lambda name: (not name.isupper(), not name[0].isupper(), name)
)


def __dir__() -> list[str]:
    return sorted(__all__)
