"""Show the pairs of features that act together, where a selector looked for them."""

from typing import TYPE_CHECKING, Any

from mauc.cli.show import print_text

if TYPE_CHECKING:
    from mauc.datasets import Dataset

_MAX_SHOWN = 10  # pairs


def interactions_dict(selector: Any, dataset: "Dataset") -> dict[str, Any]:
    """Return the pairs found as plain values; nothing where none were looked for."""
    found = getattr(selector, "interactions_", None)
    if found is None:
        return {}
    names = dataset.feature_names
    pairs = [
        {
            "features": [names[one.first], names[one.second]],
            "columns": [one.first, one.second],
            "p_value": one.p_value,
            "rank": one.step + 1 if one.step >= 0 else None,
        }
        for one in found
    ]
    return {"interactions": pairs}


def say_interactions(selector: Any, dataset: "Dataset") -> None:
    """Print the pairs of selected features that act together, below their table."""
    found = getattr(selector, "interactions_", None)
    if found is None:
        return
    lines = found.lines(dataset.feature_names)
    if not lines:
        print_text(f"no interaction of selected features ({found.n_tested:,} pairs tested)")
    for line in lines[:_MAX_SHOWN]:
        print_text(line)
    if len(lines) > _MAX_SHOWN:
        print_text(f"... and {len(lines) - _MAX_SHOWN} more pairs (--json has all)")
