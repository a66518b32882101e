"""
Which pixels tell ten digits apart?
===================================

The features of the digits are the pixels of images of 8 x 8, so that a choice of features can be
looked at. A filter that scores every pixel on its own takes pixels side by side that tell the same
twice. ``GreedyMAUC`` counts what a pixel adds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from mauc import GreedyMAUC, mauc_scorer

X, y = load_digits(return_X_y=True)
inked = np.flatnonzero(X.var(axis=0) > 0.1)  # without margins that are white in nearly all images
selectors = {"SelectKBest(f_classif)": SelectKBest(f_classif, k=10), "GreedyMAUC": GreedyMAUC(10)}

# %%
# The MAUC above each image is that of a naive Bayes classifier in five folds; the selector is a
# step of the pipeline, so that it never sees the rows that are scored.

fig, axes = plt.subplots(1, 2, figsize=(7.2, 4.1), layout="constrained")
for ax, (name, selector) in zip(axes, selectors.items(), strict=True):
    mauc = cross_val_score(
        make_pipeline(selector, GaussianNB()), X[:, inked], y, scoring=mauc_scorer
    ).mean()
    chosen = inked[selector.fit(X[:, inked], y).get_support()]
    ax.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys", vmax=24)
    ax.scatter(chosen % 8, chosen // 8, s=480, marker="s", color="#D55E00", alpha=0.85)
    if name == "GreedyMAUC":  # in order of selection
        for step, pixel in enumerate(inked[selector.ranking_], 1):
            ax.text(
                pixel % 8, pixel // 8, step, ha="center", va="center", color="white", weight="bold"
            )
    ax.set_title(f"Ten pixels by {name}:\nMAUC {mauc:.3f}", fontsize=11)
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# The grey is the mean image of all digits. The numbers are the order in which ``GreedyMAUC``
# chose. Its pixels are spread over the image.
