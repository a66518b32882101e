"""
When in time do the classes differ?
===================================

The features of a time series are its points in time. The AUC of every point on every pair of
classes shows when a pair can be told apart, and a selector tells which few points in time suffice
for all pairs. The data are control charts of a process: normal, cyclic, with a trend, or with a
shift.
"""

import matplotlib.pyplot as plt
import numpy as np

from mauc import GreedyMAUC, feature_pair_auc
from mauc.datasets import make_control_charts

charts = make_control_charts(random_state=0)
selector = GreedyMAUC(6).fit(charts.X, charts.y)
auc = feature_pair_auc(charts.X, charts.y)  # shape (n_features, n_pairs)
print("chosen points in time:", ", ".join(str(t) for t in selector.ranking_))

# %%
# Above, five series of each class; below, the AUC of every point in time on every pair, the pairs
# with the lowest best AUC first. The dashed lines are the chosen points, numbered in their order.

order = np.argsort(auc.max(axis=0), kind="stable")
fig, (above, below) = plt.subplots(
    2, 1, figsize=(8, 7), layout="constrained", sharex=True, height_ratios=[1, 1.3]
)
colours = dict(
    zip(
        selector.classes_,
        ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00"),
        strict=True,
    )
)
for name, colour in colours.items():
    for number, series in enumerate(charts.X[charts.y == name][:5]):
        above.plot(series, color=colour, linewidth=0.8, label=name if number == 0 else None)
above.set_ylabel("value")
above.legend(loc="upper left", ncols=3, fontsize="small", framealpha=0.9)
above.set_ylim(top=85)
above.set_title("Control charts: five series of each class", loc="left")
image = below.imshow(
    auc[:, order].T, aspect="auto", vmin=0.5, vmax=1, cmap="cividis", interpolation="none"
)
below.set_yticks(range(15), [selector.subproblem_names_[pair] for pair in order])
below.set_xlabel("time, and the order in which the points were chosen")
below.set_title("AUC of every point in time on every pair of classes", loc="left")
fig.colorbar(image, ax=below, label="AUC", pad=0.01)
for step, t in enumerate(selector.ranking_, 1):
    for ax in (above, below):
        ax.axvline(t, color="white" if ax is below else "0.3", linestyle="--", linewidth=1.3)
    below.text(
        t,
        14.1,
        step,
        ha="center",
        va="center",
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "boxstyle": "circle,pad=0.15"},
    )
plt.show()

# %%
# The hardest pairs are a trend and a shift in the same direction. When is a single point in time
# best for them?

for pair in order[:2]:
    t = auc[:, pair].argmax()
    print(f"{selector.subproblem_names_[pair]}: t = {t}, AUC {auc[t, pair]:.3f}")

# %%
# Then the trend is well under way, and no shift has come yet. At the end of the series, where most
# other pairs are told apart, both have moved, by amounts that overlap.
