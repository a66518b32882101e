"""The picture of the comparison with rivals: MAUC against seconds."""

from itertools import product

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

DISTANCES = (8, 16, 24, 32)  # of a label from its point
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))  # right, up
ACROSS = {-1: "right", 0: "center", 1: "left"}
UPRIGHT = {-1: "top", 0: "center", 1: "bottom"}


def plot_seconds(means, seconds, ours, path):
    """Draw mean MAUC against seconds, one point per selector.

    Parameters
    ----------
    means, seconds : Series
        By selector.
    ours : str
        The selector that stands out.
    path : Path
    """
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    ax = figure.add_subplot()
    seconds = seconds.clip(lower=1e-4)
    for name in means.index:
        ax.plot(seconds[name], means[name], "o", color="C3" if name == ours else "C0")
    ax.set_xscale("log")
    ax.set_xlim(seconds.min() / 2, seconds.max() * 4)
    ax.margins(y=0.08)
    ax.set_xlabel("seconds of selection, median over the data sets")
    ax.set_ylabel("mean MAUC")
    ax.grid(alpha=0.3)
    figure.draw_without_rendering()  # places are known only when the layout is
    figure.set_layout_engine("none")
    label_points(ax, {name: (seconds[name], means[name]) for name in means.index}, ours)
    figure.savefig(path, dpi=120)


def label_points(ax, points, ours):
    """Write each name beside its point, at the first place that is free, or at the last."""
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    places = ax.transData.transform(list(points.values()))
    taken = [Bbox.from_bounds(x - 5, y - 5, 10, 10) for x, y in places]
    for name, point in points.items():
        label = None
        for away, (right, up) in product(DISTANCES, SIDES):
            if label is not None:
                label.remove()
            label = ax.annotate(
                name, point, (right * away, up * away), textcoords="offset points", fontsize=9,
                ha=ACROSS[right], va=UPRIGHT[up], weight="bold" if name == ours else "normal",
                arrowprops={"arrowstyle": "-", "lw": 0.4, "color": "grey"} if away > 8 else None,
            )  # fmt: skip
            label.update_positions(renderer)
            box = Text.get_window_extent(label, renderer).padded(1)  # without the line
            if not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)
