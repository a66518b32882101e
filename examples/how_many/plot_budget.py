"""
What does a budget buy?
=======================

Features may have prices: a colour is read off at once, a chemical analysis takes a laboratory.
With ``feature_costs=`` and ``budget=`` the selector looks for the best choice that the budget pays
for.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold

from mauc import GreedyMAUC, mauc_scorer

# %%
# The prices of the 13 measurements of wines are made up: what an instrument on the table measures
# is cheap, what a laboratory measures is dear.

X, y = load_wine(return_X_y=True, as_frame=True)
prices = {
    "color_intensity": 1,
    "hue": 1,
    "alcohol": 2,
    "ash": 2,
    "alcalinity_of_ash": 3,
    "magnesium": 4,
    "malic_acid": 4,
    "od280/od315_of_diluted_wines": 4,
    "total_phenols": 6,
    "nonflavanoid_phenols": 8,
    "proanthocyanins": 8,
    "flavanoids": 8,
    "proline": 10,
}

# %%
# A fit with a budget has a cost curve: the predicted MAUC against what the features so far cost.
# None asks for as many features as the budget pays for; by default ``GreedyMAUC`` stops where more
# of them add next to nothing.

selector = GreedyMAUC(None, feature_costs=prices, budget=15).fit(X, y)
print(selector.cost_curve_)
print(", ".join(selector.get_feature_names_out()))

# %%
# Who ignores the prices takes the features in the order of their worth, and passes over those that
# the rest of the money does not pay for. How much better is it to look at the prices? In five
# folds both choose on the training part, and a linear discriminant is scored on the test part.


def affordable(ranking, budget):
    """Return the features that the budget pays for, in the order of a ranking."""
    names, left = [], budget
    for name in ranking:
        if prices[name] <= left:
            names.append(name)
            left -= prices[name]
    return names


budgets = [2, 4, 5, 6, 8, 10, 12, 15]
by_prices, ignoring = np.zeros((2, 5, len(budgets)))
for fold, (train, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)):
    X_train, y_train, X_test, y_test = X.iloc[train], y.iloc[train], X.iloc[test], y.iloc[test]
    ranking = X.columns[GreedyMAUC(13).fit(X_train, y_train).ranking_]
    for at, budget in enumerate(budgets):
        selector = GreedyMAUC(None, feature_costs=prices, budget=budget)
        selector.fit(X_train, y_train)
        choices = (
            (by_prices, selector.get_feature_names_out()),
            (ignoring, affordable(ranking, budget)),
        )
        for values, names in choices:
            model = LinearDiscriminantAnalysis().fit(X_train[names], y_train)
            values[fold, at] = mauc_scorer(model, X_test[names], y_test)

# %%
by_prices, ignoring = by_prices.mean(axis=0), ignoring.mean(axis=0)
fig, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
ax.fill_between(
    budgets,
    ignoring,
    by_prices,
    where=by_prices >= ignoring,
    interpolate=True,
    color="#0072B2",
    alpha=0.12,
    linewidth=0,
)
ax.plot(budgets, by_prices, "o-", color="#0072B2", linewidth=2.5, label="by gain per price")
ax.plot(budgets, ignoring, "s--", color="#D55E00", label="by gain, ignoring prices")
ax.set_xticks(range(2, 16, 2))
ax.set(xlabel="budget", ylabel="cross-validated MAUC")
ax.set_title("Cross-validated MAUC that a budget buys on the wines", loc="left")
ax.legend(loc="lower right")
ax.grid(axis="y", color="0.9")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# With a budget of 8, who ignores the prices spends all of it on flavanoids, the best single
# feature. The same money buys several cheap features that are worth more together. With 12 or more
# both ways buy enough, and differ by little.
