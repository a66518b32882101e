"""
Is it better than SelectKBest, or than a forest?
================================================

The choice of 2, 4, 8, ... pixels of handwritten digits by four selectors, compared in nested
cross-validation: every selector chooses on the training part of a fold, a classifier is trained on
the choice, and the test part, which neither has seen, is scored.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif, mutual_info_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from mauc import GreedyMAUC, mauc_score

X, y = load_digits(return_X_y=True)
X = X[:, X.var(axis=0) > 0.1]  # without margins that are white in nearly all images
sizes = [2, 4, 6, 8, 10, 15, 20, 30]

# %%
# Each selector is a function that returns a ranking of the features, best first.

rankings = {
    "GreedyMAUC": lambda X, y: GreedyMAUC(max(sizes)).fit(X, y).ranking_,
    "SelectKBest, f_classif": lambda X, y: np.argsort(-f_classif(X, y)[0]),
    "SelectKBest, mutual_info": lambda X, y: np.argsort(-mutual_info_classif(X, y, random_state=0)),
    "random forest": lambda X, y: np.argsort(
        -RandomForestClassifier(100, random_state=0).fit(X, y).feature_importances_
    ),
}
mauc = {name: np.zeros((3, len(sizes))) for name in rankings}
for fold, (train, test) in enumerate(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)):
    for name, rank in rankings.items():
        ranking = rank(X[train], y[train])
        for at, size in enumerate(sizes):
            chosen = ranking[:size]
            model = GaussianNB().fit(X[train][:, chosen], y[train])
            scores = model.predict_log_proba(X[test][:, chosen])
            mauc[name][fold, at] = mauc_score(y[test], scores)

# %%
# Where few features are wanted it matters that they complement each other. With thirty of them all
# four choices are nearly alike.

styles = {
    "GreedyMAUC": ("#0072B2", "o", 2.8),
    "SelectKBest, f_classif": ("#D55E00", "s", 1.3),
    "SelectKBest, mutual_info": ("#E69F00", "^", 1.3),
    "random forest": ("#009E73", "D", 1.3),
}
fig, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
for name, (colour, marker, width) in styles.items():
    mean, spread = mauc[name].mean(axis=0), np.ptp(mauc[name], axis=0) / 2
    ax.errorbar(
        sizes, mean, spread, color=colour, marker=marker, linewidth=width, elinewidth=1, label=name
    )
ax.set_xscale("log")
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.minorticks_off()
ax.set(xlabel="number of features", ylabel="MAUC of naive Bayes on test folds")
ax.set_title("Selectors of pixels: MAUC against number of features", loc="left")
ax.grid(axis="y", color="0.9")
ax.legend(loc="lower right")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The bars reach from half of the range of the three folds below the mean to half above. This is
# one data set and one classifier; :doc:`/evidence/index` has many.
