"""How stable a choice is, in one sentence: a fitted ConsensusSelector in, words out."""

import math

SHOWN_THRESHOLD = 0.8  # frequency whose bound is told


def stability_sentence(selector):
    """Return the stability of a fitted `ConsensusSelector`, and how many features may be wrong.

    Returns
    -------
    sentence : str
        Without a capital letter and a full stop; "" if all features were selected, for there was
        nothing to choose. A bound that does not exclude that all are wrong is left out.
    """
    found = selector.stability_
    if math.isnan(found.value):
        return ""
    bound = selector.error_control_.at(SHOWN_THRESHOLD)
    n = bound.n_features
    counted = f"{n:,} features are" if n > 1 else "1 feature is" if n == 1 else "no feature is"
    sentence = (
        f"stability over {len(selector.rankings_):,} halves of the samples: {found.value:.3f} "
        f"({found.lower:.3f} to {found.upper:.3f}); {counted} chosen from {SHOWN_THRESHOLD:.0%} of "
        f"them or more"
    )
    if bound.worst_case < n:
        digits = 1 if bound.worst_case >= 0.1 else 4
        sentence += f", of which at most {bound.worst_case:.{digits}f} are expected to be wrong"
    return sentence
