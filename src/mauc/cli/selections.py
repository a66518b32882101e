"""What commands say of a selection beside its table: how stable it is, what could replace it."""

from typing import TYPE_CHECKING, Any

from mauc.cli.show import print_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mauc.selectors.base import RankingSelector

_MAX_LINES = 10  # of features that could be replaced; --json has all


def known_alternatives(selector: "RankingSelector", names: "Sequence[str]") -> Any:
    """Return the alternatives of chosen features under these names; None if they are not known."""
    found = getattr(selector, "alternatives_", None)
    return None if found is None else found.with_names(names)


def say_selection(selector: "RankingSelector", names: "Sequence[str]") -> None:
    """Print how stable a selection is, if that was measured, and which features could change."""
    if hasattr(selector, "stability_"):
        from mauc.selectors.consensus import stability_sentence

        if sentence := stability_sentence(selector):
            print_sentence(sentence)
    alternatives = known_alternatives(selector, names)
    lines = [] if alternatives is None else alternatives.lines()
    for line in lines[:_MAX_LINES]:
        print_sentence(line)
    if len(lines) > _MAX_LINES:
        print_sentence(f"... and {len(lines) - _MAX_LINES} more (--json has all)")


def selection_facts(selector: "RankingSelector", names: "Sequence[str]") -> dict[str, Any]:
    """Return the same as plain values; nothing where it is not known."""
    facts: dict[str, Any] = {}
    stability = getattr(selector, "stability_", None)
    if stability is not None:
        from mauc.selectors.consensus import SHOWN_THRESHOLD

        facts["stability"] = {
            "value": stability.value,
            "lower": stability.lower,
            "upper": stability.upper,
            "n_resamples": len(selector.rankings_),
        }
        facts["wrong_features"] = selector.error_control_.at(SHOWN_THRESHOLD)._asdict()
    alternatives = known_alternatives(selector, names)
    if alternatives is not None:
        facts["alternatives"] = [
            {"feature": names[one.feature], "alternative": names[one.alternative], "loss": one.loss}
            for exchanges in alternatives.values()
            for one in exchanges
        ]
    return facts
