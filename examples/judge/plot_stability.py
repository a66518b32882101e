"""
Would other samples have given the same features?
=================================================

Where features resemble each other, chance decides which of them is chosen. ``ConsensusSelector``
fits a selector on 50 random halves of the samples and counts how often each feature is among the
chosen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from mauc import ConsensusSelector, GreedyMAUC

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
consensus = ConsensusSelector(GreedyMAUC(6), random_state=0).fit(X, y)
stability = consensus.stability_
print(f"stability {stability.value:.2f} ({stability.lower:.2f} to {stability.upper:.2f})")

# %%
# A stability of 1 means the same choice from every half, 0 is that of a choice by lot. The bars
# show where it comes from: some features are chosen from almost every half, others stand in for
# one another.

order = np.argsort(-consensus.frequencies_, kind="stable")[:16]
is_chosen = consensus.get_support()[order]
fig, ax = plt.subplots(figsize=(7.4, 5.0), layout="constrained")
ax.barh(
    X.columns[order],
    consensus.frequencies_[order],
    color=np.where(is_chosen, "#0072B2", "#BBBBBB"),
)
ax.invert_yaxis()
ax.axvline(6 / 30, color="#D55E00", linestyle="--")
ax.text(6 / 30 + 0.01, 15.2, "six of 30 drawn by lot", color="#D55E00", va="center")
for colour, label in (("#0072B2", "chosen by the consensus"), ("#BBBBBB", "not chosen")):
    ax.barh([0], [0], color=colour, label=label)
ax.legend(loc="lower right", bbox_to_anchor=(1, 0.12))
ax.grid(axis="x", color="0.9")
ax.set_axisbelow(True)
ax.set(xlim=(0, 1), xlabel="share of 50 halves of the samples that choose the feature")
ax.set_title(f"How often each feature is chosen: stability {stability.value:.2f}", loc="left")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The consensus goes step by step, as ``GreedyMAUC`` does: among the features that would gain
# nearly the most it takes the one that most halves choose. A frequent feature that adds little to
# those already taken is passed over.
#
# How many of the frequent features may be there by luck? The bounds of Shah and Samworth:

print(consensus.error_control_)
