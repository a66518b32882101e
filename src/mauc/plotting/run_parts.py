"""What all displays of a run share: names, styles, panels and legends."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mauc.checks import unknown_word
from mauc.exceptions import MaucError
from mauc.stats.cells import as_pandas

# How the paper writes its short names. Any other label is shown as it stands in the plan.
NAMES = {
    "selector": {
        "mdfs": "MDFS", "maucd": "MAUCD", "mrmr": "mRMR", "fsdd": "FSDD", "schi": "SCHI",
        "ssu": "SSU", "chi": "CHI", "su": "SU", "relieff": "ReliefF",
    },
    "classifier": {"nb": "Naive Bayes", "c45": "C4.5", "1nn": "1NN", "svm": "SVM"},
    "dataset": {
        "isolet": "ISOLET", "mnist": "MNIST", "usps": "USPS", "phoneme": "Phoneme",
        "washington": "Washington", "indiana": "Indiana", "synthetic": "Synthetic",
        "thyroid": "Thyroid",
    },
}  # fmt: skip

# Okabe and Ito's colours for all kinds of sight, without the yellow that fades on paper. A style
# is a colour, a line and a marker in cycles of 7, 7 x 3 and 10, so 21 selectors stay apart.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_LINES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

_MOST_BELOW = 9  # names of a legend below the panels


def shown_name(kind: str, label: str) -> str:
    """Return a label as the paper writes it; kind is selector, classifier or dataset."""
    return NAMES[kind].get(label.lower(), label)


def rows_of(run: Any) -> Any:
    """Return the rows of a run given as a DataFrame or as the path of its folder."""
    if isinstance(run, str | Path):
        from mauc.experiments import load_run

        return load_run(run)
    if not hasattr(run, "columns"):
        got = type(run).__name__
        raise MaucError(f"a run must be a DataFrame of rows or the path of a run, got {got}.")
    return as_pandas(run)


def labels_of(rows: Any, column: str, wanted: Iterable[str] | str | None = None) -> list[str]:
    """Return the labels of a column in the order of the plan, or the wanted ones of them."""
    have = [str(label) for label in rows[column].unique()]
    if wanted is None:
        return have
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    for label in wanted:
        if label not in have:
            raise unknown_word(column, label, have)
    return wanted


def selector_styles(selectors: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return colour, line and marker of each selector; those of the paper look alike in all plots.

    Examples
    --------
    >>> from mauc.plotting.run_parts import selector_styles
    >>> selector_styles(["chi", "mdfs"])["mdfs"]["color"]
    '#000000'
    """
    known = list(NAMES["selector"])
    others = [name for name in selectors if name.lower() not in known]
    styles = {}
    for name in selectors:
        at = known.index(name.lower()) if name not in others else len(known) + others.index(name)
        styles[name] = {
            "color": _COLOURS[at % len(_COLOURS)],
            "linestyle": _LINES[at // len(_COLOURS) % len(_LINES)],
            "marker": _MARKERS[at % len(_MARKERS)],
        }
    return styles


def make_panels(ax: Any, n_rows: int, n_columns: int, *, size: tuple[float, float]) -> Any:
    """Return an array of Axes (n_rows, n_columns): those given, or those of a new figure."""
    import matplotlib.pyplot as plt

    if ax is None:
        figsize = (size[0] * n_columns + 0.6, size[1] * n_rows + 0.5)
        if n_rows * n_columns == 1:
            figsize = (6.4, 4.2)
        return plt.subplots(
            n_rows, n_columns, figsize=figsize, squeeze=False, layout="constrained"
        )[1]
    axes = np.atleast_1d(np.asarray(ax, dtype=object))
    if axes.size != n_rows * n_columns:
        want = f"{n_rows * n_columns} Axes ({n_rows} x {n_columns} panels)"
        raise MaucError(f"ax must hold {want}, got {axes.size}.")
    return axes.reshape(n_rows, n_columns)


def add_legend(
    axes: Any, selectors: Sequence[str], styles: dict[str, Any], *, may_grow: bool
) -> None:
    """Put one legend for all panels below them, or, of many names, to their right.

    A figure of our own grows by the width or height of the legend, so that panels keep theirs.
    """
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], **styles[name], markersize=4, label=shown_name("selector", name))
        for name in selectors
    ]
    figure = axes.flat[0].figure
    width, height = figure.get_size_inches()
    entry = 0.72 + 0.075 * max(len(shown_name("selector", name)) for name in selectors)  # inches
    if len(handles) <= _MOST_BELOW:
        # rows of equal length, e.g. 9 names as 5 + 4 and not as 8 + 1
        n_lines = -(-len(handles) // max(1, int(width / entry)))
        place, n_columns, grow = (
            "outside lower center",
            -(-len(handles) // n_lines),
            (0.0, 0.2 * n_lines),
        )
    else:
        n_columns = -(-len(handles) // max(1, int(height / 0.2)))
        place, grow = "outside right center", (entry * n_columns, 0.0)
    figure.legend(
        handles=handles, loc=place, ncols=n_columns, frameon=False, fontsize=8, handlelength=3.2
    )
    if may_grow:
        figure.set_size_inches(width + grow[0], height + grow[1])
