"""
Which selector is best over many data sets?
===========================================

A *plan* says data sets, selectors, classifiers and sizes; ``run_plan`` measures all combinations
in cross-validation, here in memory. A critical-difference diagram shows the mean ranks of the
selectors over the data sets; a bar joins those that do not differ significantly.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification

from mauc.datasets import Dataset, make_control_charts, make_siren
from mauc.experiments import DatasetSpec, MethodSpec, Plan, run_plan
from mauc.plotting import CriticalDifferenceDisplay

# %%
# Three bundled data sets, and six that are generated: control charts, sirens and Gaussian
# clusters.

data = {}
for seed in range(2):
    data[f"charts {seed}"] = make_control_charts(40, random_state=seed)
    data[f"siren {seed}"] = make_siren(50, random_state=seed)
    X, y = make_classification(
        400,
        40,
        n_informative=10,
        n_redundant=10,
        n_classes=5,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=seed,
    )
    data[f"clusters {seed}"] = Dataset(
        f"clusters {seed}", X, y, [f"x{column}" for column in range(40)]
    )

plan = Plan(
    "small",
    tuple(DatasetSpec(name) for name in ("wine", "iris", "breast_cancer", *data)),
    tuple(MethodSpec(name) for name in ("greedy", "mdfs", "maucd", "mrmr", "chi", "relieff")),
    (MethodSpec("nb"),),
    sizes=(2, 4, 8),
    repeats=1,
    folds=3,
)
rows = run_plan(plan, engine="serial", progress="quiet", data=data).rows
print(rows.groupby("selector")["mauc"].mean().sort_values(ascending=False).round(4))

# %%
# Best to the left. The test (Friedman, then Holm) takes the mean MAUC on each data set as one
# number.

display = CriticalDifferenceDisplay.from_run(rows)
display.figure_.set_size_inches(7.2, 2.9)
display.ax_.set_title("Critical-difference diagram of six selectors", loc="left", fontsize=11)
plt.show()

# %%
# Nine small tables are a demonstration. :doc:`/evidence/index` has the comparisons on real
# data sets.
