"""How often a certificate's bound holds: simulated tables whose true loss is known.

    python benchmarks/coverage_certificate.py [N_REPLICATES] [MODEL]

A selector chooses on one sample; a second sample gives the certificate. The true loss is that of
models trained on as many rows as a fold has, on 10,000 fresh rows, the mean of 20 training sets.
"""

import sys
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from mauc import MAUCD, mauc_score

N_FEATURES, N_USEFUL = 12, 6
#: samples per class, whether rows come in groups of four, features selected, how far classes are
SETTINGS = {
    "three classes of 100, 4 selected": ((100, 100, 100), False, 4, 1.0),
    "three classes of 100, 8 selected": ((100, 100, 100), False, 8, 1.0),
    "a class of 15": ((150, 120, 15), False, 4, 1.0),
    "60 rows in all": ((20, 20, 20), False, 4, 1.0),
    "groups of four rows": ((120, 120, 120), True, 4, 1.0),
    "two easy classes of 30, 1 selected": ((30, 30), False, 1, 3.0),
    "two easy classes of 100, 1 selected": ((100, 100), False, 1, 3.0),
}
MODELS = {
    "naive Bayes": GaussianNB(),
    "logistic regression": LogisticRegression(max_iter=500),
    "decision tree": DecisionTreeClassifier(random_state=0),
    "tree of depth 3": DecisionTreeClassifier(max_depth=3, random_state=0),
}
N_TRUTH, N_TRAINED = 10_000, 20


def draw(sizes, is_grouped, distance, generator):
    """Return features, classes and groups of a sample."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    centers = np.zeros((len(sizes), N_FEATURES))
    for feature in range(N_USEFUL):
        centers[feature % len(sizes), feature] = distance * (0.9 - 0.1 * feature)
    X = centers[y] + generator.normal(size=(len(y), N_FEATURES))
    groups = np.arange(len(y))
    if is_grouped:  # rows of a class in fours, with an effect in common
        groups = np.arange(len(y)) // 4
        X += generator.normal(size=(groups[-1] + 1, N_FEATURES))[groups]
    return X, y, groups


def true_loss(sizes, is_grouped, distance, chosen, model, generator):
    """Return the loss of MAUC of models trained on four fifths of such a sample."""
    parts = tuple(max(round(0.8 * size), 2) for size in sizes)
    if is_grouped:
        parts = tuple(4 * (part // 4) for part in parts)
    whole = tuple(N_TRUTH * size // sum(sizes) // 4 * 4 for size in sizes)
    X_truth, y_truth, _ = draw(whole, is_grouped, distance, generator)
    losses = []
    for _ in range(N_TRAINED):
        X, y, _ = draw(parts, is_grouped, distance, generator)
        every, few = (
            mauc_score(y_truth, model.fit(X[:, used], y).predict_proba(X_truth[:, used]))
            for used in (np.arange(N_FEATURES), chosen)
        )
        losses.append(every - few)
    return np.mean(losses)


def main(n_replicates=200, only=None):
    """Print the share of the bounds that hold, for every setting and model, or one model."""
    print("| sample | model | bound holds | mean bound | mean true loss |")
    print("|---|---|---|---|---|")
    for at, (name, (sizes, is_grouped, k, distance)) in enumerate(SETTINGS.items()):
        for model_name, model in MODELS.items():
            if only not in (None, model_name):
                continue
            generator = np.random.default_rng(at)
            found, truths = [], {}
            for _ in range(n_replicates):
                X, y, _ = draw(sizes, is_grouped, distance, generator)
                selector = MAUCD(k).fit(X, y)
                chosen = tuple(np.sort(selector.ranking_).tolist())
                if chosen not in truths:  # a selection met again has the same true loss
                    truths[chosen] = true_loss(
                        sizes, is_grouped, distance, list(chosen), model, generator
                    )
                X, y, groups = draw(sizes, is_grouped, distance, generator)
                options = {"groups": groups} if is_grouped else {}
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    bound = selector.certificate(X, y, model, **options).bound
                found.append((bound, truths[chosen]))
            bounds, losses = np.array(found).T
            holds = np.mean(bounds >= losses)
            print(
                f"| {name} | {model_name} | {holds:.3f} | {bounds.mean():.4f} | "
                f"{losses.mean():.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
