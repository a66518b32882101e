"""
What does cross-validation claim when rows belong together?
===========================================================

Ten rows per patient, and every patient has values of his own: who knows nine of the rows
recognises the tenth. Folds that tear patients apart reward a model for that, and a selector finds
features by which patients, not diseases, are told apart. On new patients much less of it is left.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from mauc import GreedyMAUC, mauc_scorer

# %%
# Three diseases; four of 40 features depend weakly on the disease. All features vary from patient
# to patient much more than from row to row.

rng = np.random.default_rng(0)


def make_patients(n_patients):
    """Return rows of patients: features, disease and number of the patient."""
    patient = np.repeat(np.arange(n_patients), 10)
    disease = np.arange(n_patients) % 3
    values = rng.normal(size=(n_patients, 40))
    values[:, :4] += np.eye(3, 4)[disease] * 1.2
    return values[patient] + 0.4 * rng.normal(size=(len(patient), 40)), disease[patient], patient


X, y, patient = make_patients(60)
X_new, y_new, _ = make_patients(600)

# %%
# The same pipeline is judged twice: by folds of rows, and by folds of whole patients. The third
# line is the truth: the pipeline is trained on all rows and scores 600 patients that it has never
# seen.

sizes = [1, 2, 4, 8, 16, 32]
rows, patients, truth = [], [], []
for size in sizes:
    model = make_pipeline(GreedyMAUC(size), KNeighborsClassifier(15, weights="distance"))
    by_rows = StratifiedKFold(5, shuffle=True, random_state=0)
    by_patients = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    rows.append(cross_val_score(model, X, y, cv=by_rows, scoring=mauc_scorer).mean())
    patients.append(
        cross_val_score(model, X, y, cv=by_patients, groups=patient, scoring=mauc_scorer).mean()
    )
    truth.append(mauc_scorer(model.fit(X, y), X_new, y_new))

# %%
fig, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
for values, name, style, colour in (
    (rows, "folds of rows", "s-", "#D55E00"),
    (patients, "folds of patients", "o-", "#0072B2"),
    (truth, "new patients", "--", "black"),
):
    ax.plot(sizes, values, style, color=colour, label=name, linewidth=2)
ax.fill_between(sizes, truth, rows, color="#D55E00", alpha=0.1, linewidth=0)
ax.text(11, (rows[3] + truth[3]) / 2, "claimed, but not true", ha="center", color="#9a4300")
ax.axhline(0.5, color="0.6", linestyle=":")
ax.text(sizes[0], 0.505, "chance", color="0.4", va="bottom")
ax.set_xscale("log")
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.minorticks_off()
ax.set(xlabel="number of features", ylabel="MAUC", ylim=(0.47, 1.02))
ax.set_title("What two kinds of folds promise for new patients", loc="left")
ax.legend(loc="center left", bbox_to_anchor=(0.0, 0.72))
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# ``groups=`` of ``GreedyMAUC("auto").fit``, ``mauc_interval``, ``compare_mauc``, ``select_k`` and
# ``selection_report`` keep rows of a group together in the same way.
