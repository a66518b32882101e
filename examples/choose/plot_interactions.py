"""
Which features tell something only together?
============================================

Two features can each be worthless and together tell two classes apart: where both have the same
sign it is one class, where the signs differ it is the other. No ranking of single features finds
them. ``GreedyMAUC(interactions=True)`` tests all pairs of features for correlations that differ
between the classes.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from mauc import GreedyMAUC, mauc_scorer

# %%
# A table of three classes and 30 features. The feature "level" tells class a from the others.
# Classes b and c differ only in the signs of "first" and "second" together. All others are noise.

rng = np.random.default_rng(0)
y = np.repeat(["a", "b", "c"], 150)
values = rng.normal(size=(450, 30))
values[y == "a", 0] += 3
same = np.abs(values[:, 2]) * np.sign(values[:, 1])
values[y == "b", 2] = same[y == "b"]
values[y == "c", 2] = -same[y == "c"]
names = ["level", "first", "second", *(f"noise {number}" for number in range(1, 28))]
X = pd.DataFrame(values, columns=names)

# %%
# Extra trees judge three features of either choice in five folds.

searches = {
    "interactions=False": GreedyMAUC(3),
    "interactions=True": GreedyMAUC(3, interactions=True),
}
chosen, mauc = {}, {}
for name, selector in searches.items():
    trees = ExtraTreesClassifier(100, random_state=0)
    folds = cross_val_score(make_pipeline(selector, trees), X, y, scoring=mauc_scorer)
    mauc[name] = folds.mean()
    chosen[name] = list(selector.fit(X, y).get_feature_names_out())
    print(f"{name}: {', '.join(chosen[name])}; MAUC {mauc[name]:.3f}")

# %%
# What it found:

print(selector.interactions_)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(8.6, 4), layout="constrained", width_ratios=[1, 1])
for label, colour, marker in (("b", "#0072B2", "o"), ("c", "#D55E00", "^")):
    rows = X[y == label]
    left.scatter(rows["first"], rows["second"], s=18, color=colour, marker=marker, label=label)
left.axhline(0, color="0.7", zorder=0)
left.axvline(0, color="0.7", zorder=0)
left.set(xlabel="first", ylabel="second", title="Signs tell class b from class c")
left.legend(title="class", loc="upper left")

bars = right.barh(list(mauc), list(mauc.values()), color=["#999999", "#009E73"], height=0.6)
for bar, name in zip(bars, mauc, strict=True):
    right.text(0.51, bar.get_y() + 0.3, ",\n".join(chosen[name]), va="center", color="black")
right.bar_label(bars, fmt="%.3f", padding=3)
right.set(xlim=(0.5, 1.08), xlabel="cross-validated MAUC of extra trees")
right.set_title("GreedyMAUC chooses three of 30")
right.spines[["top", "right"]].set_visible(False)
plt.show()
