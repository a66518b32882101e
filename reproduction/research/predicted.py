"""How many features GreedyMAUC("predicted") takes, and how far its predicted MAUC is off.

Run as ``python -m reproduction.research.predicted [data sets]``. The tables are Markdown, as in
reproduction/beyond/greedy_predicted.md. "Before" is the rule without a correction: the fewest
features whose mean of Phi(D_p / sqrt(2)) is within 0.002 of that of 100 features.
"""

import sys
import warnings

import numpy as np
from scipy.special import ndtr
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from mauc import GreedyMAUC
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.data.door import make_problem
from mauc.evaluation import FoldEvaluator
from mauc.lab import C45
from mauc.measure.effects import Candidates, measure
from mauc.search.greedy import SearchOptions, search_candidates
from reproduction.common import load_npz

MORE = (
    "arrhythmia",
    "cnae9",
    "dermatology",
    "libras",
    "penbased",
    "satimage",
    "segment",
    "semeion",
    "sorlie",
    "su",
    "texture",
    "urban",
    "vehicle",
)
FIRST = (
    "thyroid_sub_srbct",
    "thyroid_sub_tox171",
    "synthetic",
    "washington_sub_forest",
    "phoneme",
    "usps",
    "indiana",
    "isolet",
    "mnist",
)
MAX_ROWS = 3000  # larger sets are thinned, by class
N_FOLDS, N_REPEATS, FEW_ROWS = 5, 3, 500  # sets with few rows are split three times
MAX_SIZE = 100
BAR = 0.005  # MAUC that may be given away
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 41, 51, 63, 78, 90, 100)
CLASSIFIERS = {"NB": NormalNaiveBayes(), "C4.5": C45(), "1NN": NearestNeighbor()}


def predict_before(X, y, shrinkage):
    """Return the predicted MAUC of 1, 2, ... features without a correction."""
    problem = make_problem(np.asfortranarray(X), y)
    effects, scores = measure(problem, max_samples=2048)
    k = min(X.shape[1], MAX_SIZE)
    state, found = search_candidates(Candidates(effects, scores), k, SearchOptions(shrinkage))
    separations = np.array([state.separations_of(n) for n in found.n_steps])
    return ndtr(np.sqrt(separations / 2)).mean(axis=1)


def discriminant(n_samples, shrinkage):
    """Return the classifier that the prediction is of."""
    scores = QuantileTransformer(n_quantiles=n_samples, output_distribution="normal")
    return make_pipeline(scores, LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage))


def study_fold(X, y, train, test):
    """Return sizes, predictions and test MAUCs of one split."""
    k = min(X.shape[1], MAX_SIZE)
    ranked = GreedyMAUC(k).fit(X[train], y[train])
    after = GreedyMAUC("predicted").fit(X[train], y[train])
    before = predict_before(X[train], y[train], ranked.shrinkage_)
    size_before = int(np.argmax(before >= before[-1] - 0.002)) + 1
    size_after = len(after.ranking_)
    sizes = sorted({size for size in SIZES if size < k} | {k})
    fold = FoldEvaluator(X[train], y[train], X[test], y[test])
    others = np.setdiff1d(np.arange(X.shape[1]), ranked.ranking_)
    ranking = np.concatenate([ranked.ranking_, others])
    wanted = [*sizes, size_before, size_after, len(ranking)]
    curves = np.array([fold.evaluate(ranking, wanted, model) for model in CLASSIFIERS.values()])
    at_choice = discriminant(len(train), ranked.shrinkage_)
    return {
        "sizes": sizes,
        "k": np.array([size_before, size_after]),
        "curves": curves,  # the last three: before, after, all features
        "predicted": np.array([before[size_before - 1], after.predicted_mauc_[-1]]),
        # What both predict: the discriminant, and on the same sizes.
        "error": np.array(
            [
                [
                    predicted[size - 1] - fold.evaluate(ranking, [size], at_choice)[0]
                    for size in (size_before, size_after)
                ]
                for predicted in (before, ranked.predicted_mauc_)
            ]
        ),
    }


def study(name):
    """Return the means over the folds of one data set."""
    X, y = load_npz(name, np.float32, MAX_ROWS)
    folds = [
        study_fold(X, y, train, test)
        for repeat in range(N_REPEATS if len(y) < FEW_ROWS else 1)
        for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat).split(X, y)
    ]
    means = {key: np.mean([fold[key] for fold in folds], axis=0) for key in folds[0]}
    return {**means, "shape": X.shape}


def print_table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def print_choices(results, which, title):
    """Print what each rule gives away; `which` are the classifiers whose mean counts."""
    print(f"{title}\n")
    rows, lost = [], {}
    for name, found in results.items():
        curve = found["curves"][which].mean(axis=0)
        best = int(np.argmax(curve[:-3]))
        before, after, everything = curve[-3:]
        lost[name] = np.array(
            [before - everything, after - everything, before - curve[best], after - curve[best]]
        )
        rows.append(
            [
                name,
                f"{found['shape'][0]} x {found['shape'][1]}",
                f"{found['k'][0]:.1f}",
                f"{found['k'][1]:.1f}",
                f"{found['sizes'][best]:.0f}",
                f"{before:.4f}",
                f"{after:.4f}",
                f"{everything:.4f}",
                f"{curve[best]:.4f}",
                *(f"{value:+.4f}" for value in lost[name]),
            ]
        )
    print_table(
        [
            "data set",
            "shape",
            "size before",
            "after",
            "best",
            "MAUC before",
            "after",
            "all features",
            "best size",
            "before - all",
            "after - all",
            "before - best",
            "after - best",
        ],
        rows,
    )
    for label, group in (("further", MORE), ("first", FIRST)):
        values = np.array([lost[name] for name in group if name in lost])
        if len(values):
            counts = (values >= -BAR).sum(axis=0)
            print(
                f"At most {BAR} given away, of {len(values)} {label} sets: against all features "
                f"{counts[0]} before, {counts[1]} after; against the best size up to {MAX_SIZE} "
                f"{counts[2]} before, {counts[3]} after.\n"
            )


def print_calibration(results):
    """Print how far the predictions are from MAUC on the test parts."""
    print("Predicted MAUC less that on the test parts\n")
    rows = []
    for name, found in results.items():
        by_bayes = found["predicted"] - found["curves"][0, [-3, -2]]
        error = found["error"]
        rows.append(
            [
                name,
                *(
                    f"{value:+.4f}"
                    for value in (error[0, 0], error[1, 0], error[0, 1], error[1, 1], *by_bayes)
                ),
            ]
        )
    numbers = np.array([[float(cell) for cell in row[1:]] for row in rows])
    rows.append(["mean of absolute values", *(f"{v:.4f}" for v in np.abs(numbers).mean(axis=0))])
    print_table(
        [
            "data set",
            "discriminant, size before: before",
            "after",
            "discriminant, size after: before",
            "after",
            "Naive Bayes: before, its size",
            "after, its size",
        ],
        rows,
    )


def main(names):
    warnings.simplefilter("ignore")
    results = {}
    for name in names:
        results[name] = study(name)
        print(f"<!-- {name} done -->", file=sys.stderr, flush=True)
    print_choices(results, [0, 1, 2], "Mean MAUC of Naive Bayes, C4.5 and 1NN")
    print_choices(results, [0], "MAUC of Naive Bayes")
    print_calibration(results)


if __name__ == "__main__":
    main(sys.argv[1:] or [*MORE, *FIRST])
