"""
What does a missing value tell?
===============================

A laboratory test is ordered where the doctor suspects something. Then *that* the value is missing
tells as much as the value. With ``missing="side"`` missing values lie below or above all others,
whichever separates a pair of classes better, as in the split of a tree; with ``missing="tie"``,
the default, they tie with every value and tell nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mauc import MAUCD, feature_pair_auc

# %%
# 900 patients in three classes. The test is ordered for most of the ill and for few of the
# healthy; its value differs only a little between cold and flu. The temperature is always known.

rng = np.random.default_rng(0)
y = np.repeat(["cold", "flu", "healthy"], 300)
test = rng.normal(np.where(y == "flu", 0.8, 0), 1)
is_ordered = rng.random(900) < np.where(y == "healthy", 0.1, np.where(y == "flu", 0.9, 0.8))
X = pd.DataFrame(
    {
        "lab test": np.where(is_ordered, test, np.nan),
        "temperature": rng.normal(np.where(y == "healthy", 36.6, 37.2), 0.8),
    }
)

# %%
# On the left the values that there are, and a bar for those that are missing. On the right the AUC
# of the test on each pair of classes.

colours = {"healthy": "#999999", "cold": "#0072B2", "flu": "#D55E00"}
fig, (left, right) = plt.subplots(
    1, 2, figsize=(8.4, 4.2), layout="constrained", width_ratios=[1.3, 1]
)
for shift, (name, colour) in zip((-0.25, 0, 0.25), colours.items(), strict=True):
    values = X["lab test"][y == name]
    share, edges = np.histogram(values.dropna(), bins=np.arange(-3, 4.01, 1))
    left.bar(edges[:-1] + 0.5 + shift, share / 300, 0.25, color=colour, label=name)
    left.bar(-4.5 + shift, values.isna().mean(), 0.25, color=colour)
left.axvline(-3.5, color="0.6", linestyle=":")
left.set_xticks([-4.5, -2, 0, 2, 4], ["missing", "-2", "0", "2", "4"])
left.set(xlabel="value of the lab test", ylabel="share of the class")
left.set_title("Values of the lab test, by class", loc="left")
left.legend()

pairs = ["cold vs flu", "cold vs healthy", "flu vs healthy"]
for shift, (missing, colour) in zip(
    (0.18, -0.18), (("tie", "#E69F00"), ("side", "#009E73")), strict=True
):
    auc = feature_pair_auc(X[["lab test"]], y, missing=missing)[0]
    bars = right.barh(np.arange(3) + shift, auc, 0.34, color=colour, label=f'missing="{missing}"')
    right.bar_label(bars, fmt="%.2f", padding=2)
right.set_yticks(range(3), pairs)
right.set(xlim=(0.5, 1.09), xlabel="AUC of the lab test", ylim=(-0.5, 3.1))
right.set_title("AUC on each pair of classes", loc="left")
right.legend(loc="upper right", ncols=2, fontsize="small")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The choice of the first feature changes with it:

for missing in ("tie", "side"):
    print(missing, "->", X.columns[MAUCD(1, missing=missing).fit(X, y).ranking_[0]])

# %%
# "side" is right where the reason why a value is missing will be the same for new rows, and where
# the classifier sees which values are missing.
