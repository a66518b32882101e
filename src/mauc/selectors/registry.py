"""Selectors by short name: a word and options in, an unfitted selector out."""

from functools import partial

from mauc.exceptions import unknown_word
from mauc.selectors.anova_f import AnovaF
from mauc.selectors.arco.arco import ARCO
from mauc.selectors.chi_square import ChiSquare
from mauc.selectors.fast import FAST
from mauc.selectors.fisher_score import FisherScore
from mauc.selectors.fsdd import FSDD
from mauc.selectors.greedy_mauc.greedy_mauc import GreedyMAUC
from mauc.selectors.information.fcbf import FCBF
from mauc.selectors.information.jmi import JMI
from mauc.selectors.information.mrmr import MRMR
from mauc.selectors.information_gain import InformationGain
from mauc.selectors.maucd import MAUCD
from mauc.selectors.mdfs import MDFS
from mauc.selectors.relieff.relieff import ReliefF
from mauc.selectors.spreadfx import SpreadFx
from mauc.selectors.subproblem import SubproblemSelector
from mauc.selectors.symmetrical_uncertainty import SymmetricalUncertainty

# The nine of the paper by its names, in its order.
PAPER_SELECTORS = ("mdfs", "maucd", "mrmr", "fsdd", "schi", "ssu", "chi", "su", "relieff")

SELECTORS = {
    "mdfs": MDFS,
    "maucd": MAUCD,
    "mrmr": MRMR,
    "fsdd": FSDD,
    "schi": partial(SpreadFx, relevance="chi2"),
    "ssu": partial(SpreadFx, relevance="su"),
    "chi": ChiSquare,
    "su": SymmetricalUncertainty,
    "relieff": ReliefF,
    "fisher": FisherScore,
    "ig": InformationGain,
    "anova": AnovaF,
    "fcbf": FCBF,
    "fast": FAST,
    "arco": ARCO,
    "jmi": JMI,
    "greedy": GreedyMAUC,
    "subproblem": SubproblemSelector,
}


def make_selector(method, n_features_to_select=None, **options):
    """Return the unfitted selector of a short name.

    Parameters
    ----------
    method : str
        A name in `SELECTORS`.
    n_features_to_select : int, float or "all", optional
        How many features; the selector's own default if not given.
    **options
        Further parameters of the selector.

    Returns
    -------
    selector : RankingSelector

    Examples
    --------
    >>> from mauc.selectors import make_selector
    >>> make_selector("schi", 5)
    SpreadFx(n_features_to_select=5)
    """
    if method not in SELECTORS:
        raise unknown_word("selector", method, SELECTORS)
    selector = SELECTORS[method]()
    for name in options:
        if name not in selector.get_params():
            raise unknown_word(f"option of selector {method}", name, selector.get_params())
    if n_features_to_select is not None:
        options["n_features_to_select"] = n_features_to_select
    return selector.set_params(**options)
