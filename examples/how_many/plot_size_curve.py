"""
How many features are enough?
=============================

With ``n_features_to_select="auto"`` a selector asks cross-validation: it is fitted again on every
training part, four kinds of classifiers are trained on its first 1, 2, 3, ... features, and the
held-out parts measure their MAUC. The chosen size is the smallest whose mean is within one
standard error of the best, or within 0.001 where the standard error is smaller.
"""

from sklearn.datasets import load_digits

from mauc import GreedyMAUC

X, y = load_digits(return_X_y=True, as_frame=True)
selector = GreedyMAUC("auto").fit(X, y)
print(selector.size_curve_)

# %%
# The curve rises steeply, then bends. Beyond the chosen size less than 0.001 is to be gained, and
# with all 64 pixels the classifier is worse than at its best.

display = selector.size_curve_.plot()
display.figure_.set_size_inches(7.2, 4.4)
display.ax_.set_title(
    f"MAUC against number of pixels: {len(selector.ranking_)} of 64 are enough", loc="left", pad=26
)

# %%
# Without cross-validation, ``GreedyMAUC()`` stops where its predicted MAUC says that more features
# add next to nothing. That takes a fraction of the time:

quick = GreedyMAUC().fit(X, y)
print(f"{len(quick.ranking_)} features, predicted MAUC {quick.predicted_mauc_[-1]:.4f}")
