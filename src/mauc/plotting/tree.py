"""Draw a C4.5 tree as boxes joined by lines."""

from functools import cache, cached_property

import numpy as np

from mauc.checks import check_choice, check_int
from mauc.classifiers.c45.estimator import describe_leaf, describe_test, largest_class
from mauc.data.validate import check_fitted
from mauc.extras import optional_import
from mauc.plotting.axes import MAX_WIDTH, shorten, size_in_inches
from mauc.plotting.tree_layout import SPACE, deepest_layout, edge_lines, lay_out, node_depths

_MAX_HEIGHT = 29.0  # inches
_PAD = 0.3  # between text and frame of a box, in units of the font
_LABEL = 0.85  # size of the tests beside that of the boxes
_HINTING = 1.08  # letters are fitted to pixels: a file of other resolution has wider ones
_LETTERS = 22  # of a name
_SMALLEST = 4.0  # points of a font that can be read


class TreeDisplay:
    """A decision tree, laid out by the size of its texts.

    Parameters
    ----------
    tree : Tree
        Flat tree, as in ``C45.tree_``.
    feature_names, class_names : sequences of str
    categories : dict of int to ndarray
        Values of the nominal features.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    boxes_ : list of matplotlib Text
        One per node shown, parents before children.
    tests_ : list of matplotlib Text
        The test before each of them but the root.
    edges_ : matplotlib LineCollection
    layout_ : TreeLayout
        Which nodes are shown, and where.
    """

    def __init__(self, tree, *, feature_names, class_names, categories):
        self.tree = tree
        self.feature_names = feature_names
        self.class_names = class_names
        self.categories = categories

    @classmethod
    def from_estimator(cls, estimator, *, feature_names=None, class_names=None):
        """Make the display of a fitted C45; names default to those it was fitted with."""
        check_fitted(estimator)
        return cls(
            estimator.tree_,
            feature_names=estimator.feature_names() if feature_names is None else feature_names,
            class_names=estimator.classes_ if class_names is None else class_names,
            categories=estimator.categories_,
        )

    def plot(self, ax=None, *, max_depth=None, orientation="auto", fontsize=8, cmap="tab10"):
        """Draw the tree.

        A box shows the feature asked for or, at a leaf, its class with the training weight and the
        part of it that belongs to other classes; its colour is that of the most frequent class, the
        stronger the purer the node. What does not fit is left out, with a note of how many levels
        follow.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None: a new figure that fits the tree, at most 12 inches wide and 29 high.
        max_depth : int, default=None
            Levels below the root; None shows as many as fit.
        orientation : {"auto", "down", "right"}, default="auto"
            The root on top, or on the left; "auto" is "down" where the whole tree fits so, else
            what shows more nodes.
        fontsize : float, default=8
        cmap : str or Colormap, default="tab10"
            Colours of the classes.

        Returns
        -------
        self : TreeDisplay
        """
        check_choice("orientation", orientation, ("auto", "down", "right"))
        if max_depth is not None:
            check_int("max_depth", max_depth, 0)
        plt = optional_import("matplotlib.pyplot", "plots")
        is_new = ax is None
        if is_new:
            ax = plt.figure().add_axes((0, 0, 1, 1))
        limits = (MAX_WIDTH, _MAX_HEIGHT) if is_new else size_in_inches(ax)
        layout = self._layout(ax.figure, limits, max_depth, orientation, fontsize)
        excess = max(layout.width / limits[0], layout.height / limits[1])
        if not is_new and excess > 1:
            fontsize = max(_SMALLEST, fontsize / excess)
            layout = self._layout(ax.figure, limits, max_depth, orientation, fontsize)
        if is_new:
            limits = (max(layout.width, 2.0), max(layout.height, 0.8))
            ax.figure.set_size_inches(limits)
        self.layout_ = layout
        self._draw(ax, fontsize, plt.get_cmap(cmap))
        # One unit is one inch, and the tree stands in the middle.
        for set_limits, size, room in zip(
            (ax.set_xlim, ax.set_ylim), (layout.width, layout.height), limits, strict=True
        ):
            spare = max(0.0, room - size) / 2
            set_limits(-spare, size + spare)
        ax.invert_yaxis()
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _layout(self, figure, limits, max_depth, orientation, fontsize):
        layouts = []
        for name in ("down", "right"):
            if orientation in ("auto", name):
                measure = self._measure(figure, fontsize, is_down=name == "down")
                is_down = name == "down"
                if max_depth is None:
                    layouts.append(deepest_layout(self.tree, measure, limits, is_down=is_down))
                else:
                    layouts.append(lay_out(self.tree, measure, max_depth, is_down=is_down))
        fitting = [
            one for one in layouts if one.width <= limits[0] and one.height <= limits[1]
        ] or layouts
        return max(fitting, key=lambda layout: len(layout.nodes))

    def _measure(self, figure, fontsize, *, is_down):
        from matplotlib.text import Text

        @cache
        def size(text, points):
            box = Text(0, 0, text, fontsize=points, figure=figure).get_window_extent()
            return _HINTING * box.width / figure.dpi, _HINTING * box.height / figure.dpi

        frame = 2 * (_PAD * fontsize + 1) / 72

        def measure(t, is_cut):
            label = (0.0, 0.0) if t == 0 else size(self._test(t), _LABEL * fontsize)
            width, height = size(self._text(t, is_cut, is_down), fontsize)
            return label, (width + frame, height + frame)

        return measure

    @cached_property
    def _levels_below(self):
        return node_depths(self.tree)[1]

    @cached_property
    def _parents(self):
        tree = self.tree
        inner = np.flatnonzero(tree.n_children)
        parents = np.full(len(tree.feature), -1)
        for t in inner:
            parents[tree.first_child[t] : tree.first_child[t] + tree.n_children[t]] = t
        return parents

    def _test(self, t):
        """Return the test on the branch to a node, without the name of the feature."""
        tree, parent = self.tree, int(self._parents[t])
        branch = t - int(tree.first_child[parent])
        test = describe_test(tree, parent, branch, self.feature_names, self.categories)
        return shorten(test.removeprefix(f"{self.feature_names[tree.feature[parent]]} "), _LETTERS)

    def _text(self, t, is_cut, is_down):
        """Return what stands in the box of a node."""
        tree = self.tree
        if is_cut:
            n_levels = int(self._levels_below[t])
            return f"… and {n_levels} more level{'s' if n_levels > 1 else ''}"
        if tree.n_children[t] > 0:
            return shorten(self.feature_names[tree.feature[t]], _LETTERS)
        names = [shorten(name, _LETTERS) for name in self.class_names]
        text = describe_leaf(tree, t, int(self._parents[t]), names)
        name, bracket, weight = text.rpartition(" (")
        return f"{name}\n({weight}" if is_down else f"{name}{bracket}{weight}"

    def _draw(self, ax, fontsize, colours):
        from matplotlib.collections import LineCollection

        tree, layout = self.tree, self.layout_
        lines = edge_lines(tree, layout)
        self.edges_ = LineCollection(lines, colors="0.6", linewidths=0.8, zorder=1)
        ax.add_collection(self.edges_)
        self.boxes_, self.tests_ = [], []
        for t in layout.nodes:
            if t > 0:
                # Below the end of its edge, or to the right of it.
                place = layout.point(layout.start[t] + SPACE, layout.middle[t])
                self.tests_.append(
                    ax.text(
                        *place, self._test(t), fontsize=_LABEL * fontsize,
                        ha="center" if layout.is_down else "left",
                        va="top" if layout.is_down else "center",
                    )
                )  # fmt: skip
            counts = tree.counts[t]
            best = largest_class(counts)
            purity = counts[best] / max(counts.sum(), 1e-12)
            is_cut = t in layout.cut
            frame = {
                "boxstyle": f"round,pad={_PAD}", "edgecolor": "0.5",
                "facecolor": (*colours(best % colours.N)[:3], 0.1 + 0.5 * purity),
                "linestyle": ":" if is_cut else "-",
            }  # fmt: skip
            place = layout.point((layout.box_start[t] + layout.box_end[t]) / 2, layout.middle[t])
            text = self._text(t, is_cut, layout.is_down)
            self.boxes_.append(
                ax.text(*place, text, fontsize=fontsize, ha="center", va="center", bbox=frame)
            )
