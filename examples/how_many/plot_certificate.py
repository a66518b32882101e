"""
What does leaving out features cost at most?
============================================

Fewer features are cheaper, but is anything lost? A *certificate* bounds the loss of MAUC, on rows
that had no say in the choice: in each of five folds of these rows a classifier is trained on all
features and on the chosen ones, and both score the part left out. The loss is the difference; its
bound is a one-sided 95 % bound.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split

from mauc import GreedyMAUC

X, y = load_digits(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.01)

# %%
# One certificate is a sentence:

selector = GreedyMAUC(20).fit(X_train, y_train)
print(selector.certificate(X_test, y_test, model))

# %%
# Many of them, of growing choices, tell how many features a given loss allows. Here it is a linear
# discriminant that is to lose at most 0.005 of its MAUC. (Each bound holds for one choice that was
# made beforehand; who reads the smallest size off several bounds is a little too hopeful.)

sizes = [8, 10, 12, 15, 20, 25, 30, 40, 50]
certificates = [
    GreedyMAUC(size).fit(X_train, y_train).certificate(X_test, y_test, model) for size in sizes
]
loss = np.array([certificate.loss for certificate in certificates])
bound = np.array([certificate.bound for certificate in certificates])
wanted = 0.005
enough = next(size for size, value in zip(sizes, bound, strict=True) if value <= wanted)

# %%
fig, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
ax.fill_between(sizes, loss, bound, color="#0072B2", alpha=0.15, linewidth=0)
ax.plot(sizes, bound, "v-", color="#0072B2", label="bound: at most this much is lost (95 %)")
ax.plot(sizes, loss, "o--", color="black", label="estimate of the loss")
ax.axhline(0, color="0.8", linewidth=1, zorder=0)
ax.axhline(wanted, color="#D55E00", linewidth=1)
ax.text(sizes[-1], wanted, "a loss of 0.005", color="#D55E00", va="bottom", ha="right")
ax.axvline(enough, color="#D55E00", linestyle=":", linewidth=1.5)
ax.annotate(
    f"{enough} features\nare certified",
    (enough, wanted),
    xytext=(24, 50),
    textcoords="offset points",
    arrowprops={"arrowstyle": "->", "color": "#D55E00"},
)
ax.set(xlabel="number of features chosen of 64", ylabel="loss of MAUC against all features")
ax.set_title("Loss of MAUC at most, against the number of pixels kept", loc="left")
ax.legend(loc="upper right")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
