"""
How exact are AUCs of rows that come in batches?
================================================

A stream of rows, or a file that does not fit into memory, is read once. A ``PairAUCSketch`` counts
values in bins, and from the counts come the AUCs of all features on all pairs of classes, with a
bound of their error that is never exceeded. More bins take more memory and make the bound smaller.
"""

import matplotlib.pyplot as plt
import numpy as np

from mauc import MDFS, PairAUCSketch, feature_pair_auc

# %%
# 100,000 rows of 20 features in four classes, in batches of 5,000.

rng = np.random.default_rng(0)
y = rng.integers(4, size=100_000)
X = rng.normal(size=(100_000, 20)) + rng.normal(size=(4, 20))[y] * np.linspace(0, 1, 20)
exact = feature_pair_auc(X, y)

n_bins = [16, 32, 64, 128, 256, 512, 1024]
bounds, errors, sizes = [], [], []
for number in n_bins:
    sketch = PairAUCSketch(n_bins=number, n_buffered=5_000)
    for start in range(0, len(X), 5_000):
        sketch.update(X[start : start + 5_000], y[start : start + 5_000])
    bounds.append(sketch.error_bound().max())
    errors.append(np.abs(sketch.pair_auc() - exact).max())
    sizes.append(sketch.nbytes)

# %%
# The largest error of 120 AUCs against the bound that the sketch states, without knowing the
# truth:

fig, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
ax.fill_between(n_bins, errors, bounds, color="#0072B2", alpha=0.12, linewidth=0)
ax.loglog(n_bins, bounds, "v-", color="#0072B2", label="bound that the sketch states", linewidth=2)
ax.loglog(n_bins, errors, "o--", color="#D55E00", label="largest error in fact", linewidth=2)
for number, bound, size in zip(n_bins, bounds, sizes, strict=True):
    ax.annotate(
        f"{size / 1e3:,.0f} kB",
        (number, bound),
        xytext=(4, 6),
        textcoords="offset points",
        fontsize=8,
        color="#0072B2",
    )
ax.set_xticks(n_bins, [str(number) for number in n_bins])
ax.minorticks_off()
ax.set_xlim(right=1700)
ax.set(xlabel="bins per feature", ylabel="error of an AUC")
ax.set_title(
    f"Error of the AUCs of {X.nbytes / 1e6:.0f} MB of rows that were seen once", loc="left"
)
ax.legend(loc="lower left")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Selectors that need nothing but these AUCs are fitted on the sketch, and know the bound:

selector = MDFS(5, random_state=0).fit_sketch(sketch)
print(selector.ranking_, f"error at most {selector.error_bound_.max():.5f}")
