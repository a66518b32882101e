"""
Which feature separates which pair of classes?
==============================================

With three classes there are three pairs of classes, and a feature that is excellent for one pair
may be useless for another. A *pair map* shows it: one row per chosen feature, one column per pair,
and the colour is the AUC of the feature alone on that pair. An AUC of 1 (yellow) separates the
pair without error, 0.5 (dark blue) is chance. The dot marks the pair that a feature was chosen
for.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_wine

from mauc import GreedyMAUC
from mauc.plotting import PairMapDisplay

wine = load_wine(as_frame=True)
selector = GreedyMAUC(5).fit(wine.data, wine.target_names[wine.target])

fig, ax = plt.subplots(figsize=(8.2, 3.6), layout="constrained")
display = PairMapDisplay.from_selector(selector, wine.data, wine.target_names[wine.target], ax=ax)
ax.set_title("Five features on the three pairs of wines", loc="left")
plt.show()

# %%
# No single feature is the best on all three pairs. The numbers behind the colours:

display.to_frame().round(3)

# %%
# Ten classes have 45 pairs. Then a map of classes by classes is easier to read: the colour is the
# AUC of the *best* of the chosen features on each pair, here on a scale that begins at 0.85. Dark
# cells are pairs that no single one of the features separates well; they need several together.

X, y = load_digits(return_X_y=True, as_frame=True)
digits = GreedyMAUC(10).fit(X, y)

fig, ax = plt.subplots(figsize=(6.0, 4.8), layout="constrained")
PairMapDisplay.from_selector(digits, X, y, by="classes", ax=ax).image_.set_clim(0.85, 1)
ax.set_title("The best of ten pixels on every pair of digits", loc="left")
plt.show()

# %%
# The pairs with the lowest values:

best = digits.pair_auc_.max(axis=0)
for pair in best.argsort()[:5]:
    print(f"{digits.subproblem_names_[pair]}: {best[pair]:.3f}")
