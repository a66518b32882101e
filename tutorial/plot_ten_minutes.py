"""
Ten minutes with mauc
=====================

From a table with classes to a choice of features that you can defend: what was chosen and why, how
many are enough, what it is worth on new rows, and which classes stay confused. All code below runs
as it stands; download it as a script or a notebook at the end of the page.

A table with classes
--------------------

The table has one row per handwritten digit, 64 features (the pixels of an image of 8 x 8) and ten
classes. With your own data, ``X`` is a data frame or array and ``y`` are the labels, numbers or
words.
"""

from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True, as_frame=True)
X.shape, y.unique()

# %%
# Choose features
# ---------------
#
# ``GreedyMAUC`` adds the feature that reduces the predicted error over all *pairs of classes* the
# most, given those that it has. It is a scikit-learn transformer: ``fit``, ``transform``,
# ``get_support``.

from mauc import GreedyMAUC

selector = GreedyMAUC(10).set_output(transform="pandas").fit(X, y)
selector.transform(X).head(3)

# %%
# Read the trace
# --------------
#
# The trace has one line per step: the pair of classes that the feature was chosen for, its rank
# among all features on that pair, the MAUC that is predicted for the features so far, and what
# this one added. *MAUC* is the mean AUC over all pairs of classes: 1 separates all of them, 0.5 is
# chance.

print(selector.trace_)

# %%
# The same as a picture. A dot is the pair that a feature was chosen for.

import matplotlib.pyplot as plt

from mauc.plotting import TraceDisplay

fig, axes = plt.subplots(
    2, 1, figsize=(7.2, 6), layout="constrained", sharex=True, height_ratios=[1, 1.6]
)
TraceDisplay(selector.trace_).plot(axes)
axes[0].set_title("Predicted MAUC of ten pixels, added one by one", loc="left", pad=24)
plt.show()

# %%
# How many are enough?
# --------------------
#
# Ten was a guess. ``"auto"`` asks cross-validation with four kinds of classifiers, and takes the
# smallest number whose MAUC is as good as the best, to within one standard error or 0.001.

automatic = GreedyMAUC("auto").fit(X, y)
print(automatic.size_curve_)

# %%
fig, ax = plt.subplots(figsize=(7.2, 4), layout="constrained")
automatic.size_curve_.plot(ax)
ax.set_title(
    f"MAUC against number of pixels: {len(automatic.ranking_)} are enough", loc="left", pad=24
)
plt.show()

# %%
# Judge honestly
# --------------
#
# A selector that has seen the test rows flatters every score that follows. Put it into the
# pipeline: then it is fitted again on each training part. ``mauc_scorer`` is a scorer for
# scikit-learn's functions.

from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from mauc import mauc_scorer

model = make_pipeline(GreedyMAUC(10), GaussianNB())
scores = cross_val_score(model, X, y, scoring=mauc_scorer)
print(f"MAUC {scores.mean():.3f} (folds: {', '.join(f'{score:.3f}' for score in scores)})")

# %%
# One split gives an interval:

from sklearn.model_selection import train_test_split

from mauc import mauc_interval

X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
model.fit(X_train, y_train)
probabilities = model.predict_proba(X_test)
print(mauc_interval(y_test, probabilities))

# %%
# Which classes stay confused?
# ----------------------------
#
# The mean hides the hard pairs. The report lists them, the hardest first:

from mauc import pair_auc_scores

print(pair_auc_scores(y_test, probabilities))

# %%
# A pair that matters more than others gets a larger weight, and features of its own:

weighted = GreedyMAUC(10, pair_weight={(1, 8): 20}).fit(X_train, y_train)
for name, chosen in (("equal weights", model[0]), ("1 vs 8 counts 20 times", weighted)):
    judge = GaussianNB().fit(chosen.transform(X_train), y_train)
    report = pair_auc_scores(y_test, judge.predict_proba(chosen.transform(X_test)))
    pair = report.to_frame().set_index(["class_i", "class_j"]).loc[(1, 8), "auc"]
    print(f"{name}: AUC of 1 vs 8 {pair:.3f}, MAUC {report.mauc:.3f}")

# %%
# What you know beforehand
# ------------------------
#
# Features that must be in the choice, or must not:

wished = GreedyMAUC(10, keep=["pixel_4_4"], exclude=["pixel_4_2", "pixel_7_5"]).fit(X, y)
print(", ".join(X.columns[wished.ranking_]))

# %%
# What do these wishes cost? The predictions tell. Here it is nothing: other pixels stand in for
# the two.

print(f"{selector.predicted_mauc_[-1]:.4f} -> {wished.predicted_mauc_[-1]:.4f}")

# %%
# Why this one, and not that one?
# -------------------------------

print(selector.explain("pixel_4_2", X, y))

# %%
print(selector.explain("pixel_5_5", X, y))

# %%
# Is anything lost without the other 54? A certificate bounds it on rows that had no say in the
# choice. Naive Bayes is even better without them:

print(model[0].certificate(X_test, y_test, GaussianNB()))

# %%
# A page to hand on
# -----------------
#
# ``selection_report`` writes one HTML file that needs no network. It opens with a conclusion, has
# all of the above, and lets the reader ask "what if I keep this feature, or leave that one out?".

import tempfile
from pathlib import Path

from mauc.report import selection_report

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "page.html"
    selection_report(selector, X, y, data_name="digits").write(page)
    print(f"{page.stat().st_size / 1e6:.1f} MB")

# %%
# Without Python
# --------------
#
# The command does the same with files of many formats; ``digits`` is the name of a bundled data
# set, in place of a file.
#
# .. code-block:: console
#
#     $ mauc select digits -k 10
#     $ mauc select data.csv --target label -k auto --report page.html
#     $ mauc explain digits pixel_5_5 -k 10
#
# Where next: the :doc:`questions and answers </answers/README>`, the :doc:`examples
# </gallery/index>`, and :doc:`how the methods work </methods/index>`.
