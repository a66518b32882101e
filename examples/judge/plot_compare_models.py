"""
Is one model better, and on which classes?
==========================================

Two models that score the same rows are compared by ``compare_mauc``. What both get wrong cancels,
so that the test is far sharper than two intervals side by side; and it looks at every pair of
classes.
"""

import matplotlib.pyplot as plt
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from mauc import GreedyMAUC, compare_mauc, mauc_interval
from mauc.datasets import make_control_charts

charts = make_control_charts(random_state=0)
X_train, X_test, y_train, y_test = train_test_split(
    charts.X, charts.y, test_size=0.5, stratify=charts.y, random_state=0
)

# %%
# The rows are time series of six classes, the features are 60 points in time. Both models are
# naive Bayes on four points, chosen in two ways.

scores = {}
for name, selector in (
    ("GreedyMAUC", GreedyMAUC(4)),
    ("SelectKBest", SelectKBest(f_classif, k=4)),
):
    model = make_pipeline(selector, GaussianNB()).fit(X_train, y_train)
    scores[name] = model.predict_log_proba(X_test)
    print(name, mauc_interval(y_test, scores[name], labels=model.classes_))

found = compare_mauc(y_test, scores["GreedyMAUC"], scores["SelectKBest"], labels=model.classes_)
print(found)

# %%
# The same for every pair: the dot is the difference of the AUCs, the line its 95 % interval. To
# the right of zero ``GreedyMAUC`` is better. Intervals of pairs are each for its pair alone; with
# 15 of them, one may miss by chance.

pairs = found.to_frame().assign(difference=lambda rows: rows["auc_a"] - rows["auc_b"])
pairs = pairs.sort_values("difference").reset_index(drop=True)
fig, ax = plt.subplots(figsize=(7.6, 5.2), layout="constrained")
for row in pairs.itertuples():
    differs = row.lower > 0 or row.upper < 0
    colour = "#0072B2" if row.lower > 0 else "#D55E00" if differs else "0.55"
    ax.plot([row.lower, row.upper], [row.Index] * 2, color=colour, linewidth=2)
    ax.plot(row.difference, row.Index, "o", color=colour, markersize=6)
ax.plot([found.lower, found.upper], [-1.5] * 2, color="black", linewidth=3)
ax.plot(found.difference, -1.5, "D", color="black", markersize=8)
ax.axvline(0, color="0.4", linewidth=1)
ax.axhline(-0.75, color="0.8", linewidth=1)
labels = [f"{row.class_i} vs {row.class_j}" for row in pairs.itertuples()]
ax.set_yticks([-1.5, *pairs.index], ["all pairs: MAUC", *labels])
ax.set_xlabel("AUC with GreedyMAUC minus AUC with SelectKBest")
ax.set_title("Difference of two models on every pair of classes", loc="left")
ax.spines[["top", "right", "left"]].set_visible(False)
ax.tick_params(axis="y", length=0)
plt.show()
