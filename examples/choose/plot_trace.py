"""
What does each feature add, and for whom?
=========================================

``GreedyMAUC`` adds one feature after the other, each time the one that reduces the predicted error
over all pairs of classes the most, given those that it has. The *trace* is the record of these
steps.
"""

from sklearn.datasets import load_digits

from mauc import GreedyMAUC
from mauc.plotting import TraceDisplay

X, y = load_digits(return_X_y=True, as_frame=True)
selector = GreedyMAUC(16).fit(X, y)
print(selector.trace_)

# %%
# The picture has one column per step. Above, the line is the MAUC that is predicted for the
# features so far, and the orange bar is what the step added: much at first, less and less later.
# Below, a dot tells the pair of digits that the step helped the most; its colour is the rank of
# the feature among all 64 on that pair. A feature need not be the best one of its pair (rank 1):
# it is taken for what it adds to the others.

display = TraceDisplay.from_selector(selector)
display.figure_.set_size_inches(7.6, 6.6)
display.axes_[0].set_title("Predicted MAUC of sixteen pixels, added one by one", loc="left", pad=24)

# %%
# ``explain`` answers for a single feature, chosen or not. The selector does not keep its data, so
# pass them again:

first = selector.trace_.feature_names[0]
print(selector.explain(first, X, y))

# %%
print(selector.explain("pixel_3_3", X, y))
