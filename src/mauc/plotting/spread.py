"""Curves over numbers of features: the spread around them, and ticks at the very sizes."""

from typing import Any

import numpy as np

from mauc.plotting.axes import room_for, size_in_inches

_MAX_BANDS = 4  # more bands than these hide each other: thin bars instead
_MAX_STRONG = 9  # more bars are paler: together they would be darker than the curves
_MAX_SHIFT = 1.4  # points that a bar stands beside its size, below 1 % of a panel


def draw_curves(
    ax: Any, curves: dict[str, Any], styles: dict[str, Any], limits: tuple[Any, float]
) -> None:
    """Draw curves, with bands of few and thin bars of many.

    Curves and their markers stand at their sizes. Bars stand a point beside each other, so that
    one does not hide the others, and end where the measure does.

    Parameters
    ----------
    ax : matplotlib Axes
    curves : dict of str to tuple
        Sizes, values, lower and upper ends of every curve, as arrays; NaN for what is unknown.
    styles : dict of str to dict
        Of `selector_styles`.
    limits : tuple of float
        The smallest and the largest value of the measure.
    """
    from matplotlib.transforms import ScaledTranslation

    n_sizes = max((len(curve[0]) for curve in curves.values()), default=0)
    has_bands = len(curves) <= _MAX_BANDS and n_sizes > 1
    shifts = np.linspace(-1, 1, len(curves)) if len(curves) > 1 else np.zeros(1)
    for (name, (sizes, value, lower, upper)), shift in zip(curves.items(), shifts, strict=True):
        style = styles[name]
        # No interval reaches beyond the measure, unless the value itself does.
        lower = np.maximum(lower, np.minimum(value, limits[0]))
        upper = np.minimum(upper, np.maximum(value, limits[1]))
        if has_bands:
            ax.fill_between(sizes, lower, upper, color=style["color"], alpha=0.13, lw=0)
        else:
            aside = ScaledTranslation(_MAX_SHIFT * shift / 72, 0, ax.figure.dpi_scale_trans)
            ax.vlines(
                sizes, lower, upper, colors=style["color"], linewidth=0.6,
                alpha=0.55 if len(curves) <= _MAX_STRONG else 0.35, transform=ax.transData + aside,
            )  # fmt: skip
            ends = np.concatenate([lower, upper])
            is_known = ~np.isnan(ends)
            # Shifted bars do not widen the axis by themselves.
            ax.update_datalim(np.column_stack([np.tile(sizes, 2), ends])[is_known])
        ax.plot(sizes, value, **style, markersize=4.5, linewidth=1.3, markeredgewidth=0.9)
    ax.autoscale_view()
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def mark_sizes(ax: Any, sizes: Any) -> None:
    """Put ticks at the sizes; those that have room get their number.

    The axis is logarithmic where most sizes would crowd at its beginning.

    Parameters
    ----------
    ax : matplotlib Axes
    sizes : array-like of int
    """
    sizes = np.unique(sizes)
    is_crowded = len(sizes) > 3 and np.median(sizes) < 0.3 * sizes[-1]
    if is_crowded:
        ax.set_xscale("log")
    places = np.log(sizes) if is_crowded else sizes.astype(float)
    span = 1.1 * max(places[-1] - places[0], 1e-9)
    room = (room_for([sizes[-1]]) + 0.08) / size_in_inches(ax)[0] * span
    labelled: list[int] = []
    # The largest size is named first, then the first, then what has room between them.
    for at in [len(sizes) - 1, 0, *range(len(sizes) - 2, 0, -1)]:
        if all(abs(places[at] - places[other]) >= room for other in labelled):
            labelled.append(at)
    ax.set_xticks(sizes[sorted(labelled)], [str(sizes[at]) for at in sorted(labelled)])
    ax.set_xticks(np.delete(sizes, labelled), [""] * (len(sizes) - len(labelled)), minor=True)
    if len(sizes) == 1:
        ax.set_xlim(sizes[0] - 1, sizes[0] + 1)
