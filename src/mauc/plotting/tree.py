"""Draw a C4.5 tree as boxes joined by lines."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mauc.classifiers.c45.text import describe_leaf, describe_test, largest_class
from mauc.extras import optional_import


class TreeDisplay:
    """A decision tree, laid out with the leaves side by side.

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
        One per node, in the order of the tree's nodes.
    """

    def __init__(self, tree, *, feature_names, class_names, categories):
        self.tree = tree
        self.feature_names = feature_names
        self.class_names = class_names
        self.categories = categories

    @classmethod
    def from_estimator(cls, estimator, *, feature_names=None, class_names=None):
        """Make the display of a fitted C45; names default to those it was fitted with."""
        check_is_fitted(estimator)
        return cls(
            estimator.tree_,
            feature_names=feature_names or estimator.feature_names(),
            class_names=estimator.classes_ if class_names is None else class_names,
            categories=estimator.categories_,
        )

    def layout(self):
        """Return the place of each node: leaves at 0, 1, 2, ..., a parent over its children.

        Returns
        -------
        x, y : float64 ndarrays of shape (n_nodes,)
            y is minus the depth.
        """
        tree = self.tree
        n_nodes = len(tree.feature)
        x, y = np.zeros(n_nodes), np.zeros(n_nodes)
        n_leaves = 0
        waiting = [0]
        while waiting:
            # leaves come off the stack from left to right
            t = waiting.pop()
            children = tree.first_child[t] + np.arange(tree.n_children[t])
            y[children] = y[t] - 1.0
            waiting += children[::-1].tolist()
            if len(children) == 0:
                x[t] = n_leaves
                n_leaves += 1
        for t in range(n_nodes - 1, -1, -1):
            # children come after their parent: their positions are final
            if tree.n_children[t] > 0:
                first = tree.first_child[t]
                x[t] = (x[first] + x[first + tree.n_children[t] - 1]) / 2.0
        return x, y

    def plot(self, ax=None, *, fontsize=8, cmap="tab10"):
        """Draw the tree.

        A box shows the feature asked for or, at a leaf, its class with the training weight and the
        part of it that belongs to other classes; its colour is that of the most frequent class, the
        stronger the purer the node.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None: a new figure that fits the tree.
        fontsize : float, default=8
        cmap : str or Colormap, default="tab10"
            Colours of the classes.

        Returns
        -------
        self : TreeDisplay
        """
        plt = optional_import("matplotlib.pyplot", "plots")
        tree = self.tree
        x, y = self.layout()
        if ax is None:
            size = (max(4.0, 1.3 * (x.max() + 1.0)), max(2.0, 1.1 * (1.0 - y.min())))
            _, ax = plt.subplots(figsize=size)
        colours = plt.get_cmap(cmap)
        parent = np.full(len(tree.feature), -1)
        self.boxes_ = []
        for t in range(len(tree.feature)):
            # parents come before their children: parent[t] is known
            for v in range(tree.n_children[t]):
                child = tree.first_child[t] + v
                parent[child] = t
                ax.plot([x[t], x[child]], [y[t], y[child]], color="0.6", linewidth=0.8, zorder=1)
                test = describe_test(tree, t, v, self.feature_names, self.categories)
                label = test.removeprefix(f"{self.feature_names[tree.feature[t]]} ")
                middle = (x[t] + x[child]) / 2.0, (y[t] + y[child]) / 2.0
                ax.text(*middle, label, fontsize=0.85 * fontsize, ha="center", va="center")
            counts = tree.counts[t]
            if tree.n_children[t] > 0:
                text = str(self.feature_names[tree.feature[t]])
            else:
                text = describe_leaf(tree, t, parent[t], self.class_names).replace(" (", "\n(")
            best = largest_class(counts)
            purity = counts[best] / max(counts.sum(), 1e-12)
            colour = (*colours(best % colours.N)[:3], 0.15 + 0.55 * purity)
            box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "0.5"}
            self.boxes_.append(
                ax.text(x[t], y[t], text, fontsize=fontsize, ha="center", va="center", bbox=box)
            )
            self.boxes_[-1].get_bbox_patch().set_facecolor(colour)
        ax.set_xlim(-0.7, x.max() + 0.7)
        ax.set_ylim(y.min() - 0.5, 0.5)
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self
