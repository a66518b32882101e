"""
Why not accuracy, when a class is rare?
=======================================

A fault of a machine is rare, and one sensor sees it. How much is that sensor worth? Accuracy says:
as little as the fault is frequent. MAUC is the mean over pairs of classes, so that a rare class
counts as much as a frequent one, and its answer hardly depends on how many rows each class has.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.naive_bayes import GaussianNB

from mauc import GreedyMAUC, mauc_score

# %%
# Two states of a machine are frequent, and four sensors tell them apart, each a little. The fault
# is seen by sensor 5 alone. Ten more sensors see nothing.

names = [f"sensor {number}" for number in range(1, 16)]


def make_rows(share, n_rows, seed):
    """Return rows of which this share is faulty."""
    rng = np.random.default_rng(seed)
    n_faulty = round(share * n_rows)
    state = np.repeat(["idle", "busy", "fault"], [n_rows // 2, n_rows // 2 - n_faulty, n_faulty])
    X = rng.normal(size=(len(state), 15))
    X[state == "busy", :4] += 1.2
    X[state == "fault", :4] += rng.choice([0, 1.2], size=((state == "fault").sum(), 1))
    X[state == "fault", 4] += 2
    return pd.DataFrame(X, columns=names), state


# %%
# A naive Bayes classifier with the first four sensors, and with sensor 5 as well, is trained on
# 4,000 rows and tested on 20,000. What does sensor 5 add?

shares = [0.3, 0.2, 0.1, 0.05, 0.02, 0.01]
gains = {"MAUC": [], "accuracy": []}
for share in shares:
    X_train, y_train = make_rows(share, 4_000, seed=0)
    X_test, y_test = make_rows(share, 20_000, seed=1)
    mauc, accuracy = [], []
    for chosen in (names[:4], names[:5]):
        model = GaussianNB().fit(X_train[chosen], y_train)
        scores = model.predict_log_proba(X_test[chosen])
        mauc.append(mauc_score(y_test, scores, labels=model.classes_))
        accuracy.append(model.score(X_test[chosen], y_test))
    gains["MAUC"].append(mauc[1] - mauc[0])
    gains["accuracy"].append(accuracy[1] - accuracy[0])

# %%
fig, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
for (name, gain), colour, marker in zip(gains.items(), ("#0072B2", "#D55E00"), "os", strict=True):
    ax.plot(shares, gain, color=colour, marker=marker, linewidth=2.2)
    ax.annotate(
        name,
        (shares[-1], gain[-1]),
        xytext=(8, 6),
        textcoords="offset points",
        va="center",
        color=colour,
        weight="bold",
    )
ax.set_xscale("log")
ax.set_xticks(shares, [f"{share:.0%}" for share in shares])
ax.minorticks_off()
ax.invert_xaxis()
ax.set_xlim(right=0.0065)
ax.set_ylim(bottom=-0.01)
ax.axhline(0, color="0.7", linewidth=1)
ax.set(xlabel="share of rows that are faulty", ylabel="gain by sensor 5")
ax.set_title("What the only sensor that sees the fault adds", loc="left")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Selection follows the measure. With faults in one row of a hundred, a score that weighs rows
# ranks sensor 5 behind those of the frequent states; for MAUC it is among the first.

X, y = make_rows(0.01, 4_000, seed=0)
scores = SelectKBest(lambda X, y: mutual_info_classif(X, y, random_state=0), k=3).fit(X, y)
print("mutual information:", ", ".join(scores.get_feature_names_out()))
print("GreedyMAUC:", ", ".join(X.columns[GreedyMAUC(3).fit(X, y).ranking_]))
