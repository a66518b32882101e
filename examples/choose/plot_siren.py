"""
Why does the best mean AUC leave classes confused?
==================================================

Suppose that two of six classes are easy to tell from all others, and dozens of features do it. The
other four classes are hard: few features tell each pair of them apart, and none of these is good
on the average over all pairs. A filter that ranks by the mean takes the features of the easy
classes again and again. Forman (2004) calls them *sirens*. ``make_siren`` makes such a table.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

from mauc import MAUCD, MDFS, GreedyMAUC, mauc_score, pair_auc_scores
from mauc.datasets import make_siren

table = make_siren(random_state=0)
names = np.array(table.feature_names)
X_train, X_test, y_train, y_test = train_test_split(
    table.X, table.y, test_size=0.5, stratify=table.y, random_state=0
)

# %%
# Three selectors choose eight features on half of the rows. ``MAUCD`` ranks by the mean AUC over
# the pairs, ``MDFS`` lets randomly drawn pairs take their best feature in turn, and ``GreedyMAUC``
# looks at what is still confused.

selectors = {
    "MAUCD (mean AUC)": MAUCD(8),
    "MDFS (pairs in turn)": MDFS(8, random_state=0),
    "GreedyMAUC": GreedyMAUC(8),
}
pair_auc, mauc = {}, {}
for name, selector in selectors.items():
    selector.fit(X_train, y_train)
    model = GaussianNB().fit(selector.transform(X_train), y_train)
    scores = model.predict_proba(selector.transform(X_test))
    report = pair_auc_scores(y_test, scores, labels=model.classes_).to_frame()
    report.index = report["class_i"] + " vs " + report["class_j"]
    pair_auc[name] = report["auc"]
    mauc[name] = mauc_score(y_test, scores, labels=model.classes_)
    print(f"{name}: {', '.join(names[selector.ranking_])}")

# %%
# On the other half of the rows a naive Bayes classifier shows what the features are worth, pair by
# pair. All three separate the nine pairs with an easy class. On the six hard pairs the ranking
# by the mean is no better than chance.

order = pair_auc["GreedyMAUC"].index
order = sorted(order, key=lambda pair: pair.count("hard"))
fig, ax = plt.subplots(figsize=(7.6, 4.4), layout="constrained")
ax.axvspan(8.5, 14.5, color="#E69F00", alpha=0.15, linewidth=0)
ax.axhline(0.5, color="0.4", linestyle=":")
for (name, auc), marker, colour, shift in zip(
    pair_auc.items(), "vso", ("#D55E00", "#000000", "#0072B2"), (-0.15, 0, 0.15), strict=True
):
    ax.plot(
        np.arange(15) + shift,
        auc[order],
        marker,
        color=colour,
        markersize=7,
        label=f"{name}: MAUC {mauc[name]:.3f}",
    )
ax.text(-0.3, 0.51, "chance", color="0.4", va="bottom")
ax.text(11.5, 1.012, "pairs of hard classes", ha="center", va="bottom", color="#8a5a00")
ax.set_xticks(range(15), order, rotation=60, ha="right", rotation_mode="anchor")
ax.set(xlim=(-0.5, 14.5), ylim=(0.36, 1.06), ylabel="AUC on held-out rows")
ax.legend(loc="center left", bbox_to_anchor=(0.0, 0.55))
ax.set_title("Eight features by three selectors: AUC of each pair of classes", loc="left")
plt.show()
