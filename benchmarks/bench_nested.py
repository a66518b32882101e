"""9 rankings x 10 sizes on one fold, against a fit for every ranking and size."""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler

from _common import load, print_header, print_row, time_in_turns
from mauc import mauc_score
from mauc.classifiers import RBFSVM, NearestNeighbor, NormalNaiveBayes
from mauc.evaluation import FoldEvaluator
from mauc.lab.c45.estimator import C45

N_RANKINGS = 9
SIZES = np.arange(10, 101, 10)


def evaluate_nested(data, rankings, classifier):
    """Return the MAUC of all rankings and sizes, in one fold evaluator."""
    fold = FoldEvaluator(*data, n_jobs=-1)  # scikit-learn and BLAS take all cores too
    return np.array([fold.evaluate(ranking, SIZES, classifier) for ranking in rankings])


def evaluate_one_by_one(data, rankings, classifier):
    """Return the same from a fit for every ranking and size."""
    X_train, y_train, X_test, y_test = data
    values = np.empty((len(rankings), len(SIZES)))
    for i, ranking in enumerate(rankings):
        for j, size in enumerate(SIZES):
            columns = ranking[:size]
            model = clone(classifier).fit(X_train[:, columns], y_train)
            scores = model.predict_proba(X_test[:, columns])
            values[i, j] = mauc_score(y_test, scores, labels=model.classes_)
    return values


def compare(name, data, rankings, ours, theirs, label, bar, n_repeats):
    """Print how many times faster the nested evaluation is, and whether the values agree."""
    results = {}

    def run(key, function, classifier, data):
        results[key] = function(data, rankings, classifier)

    scaler = MinMaxScaler().fit(data[0])
    scaled = (scaler.transform(data[0]), data[1], scaler.transform(data[2]), data[3])
    seconds = time_in_turns(
        lambda: run("ours", evaluate_nested, ours, data),
        lambda: run("theirs", evaluate_one_by_one, theirs, scaled if theirs is not ours else data),
        n_repeats=n_repeats,
    )
    print_row(name, seconds[0], label, seconds[1], bar)
    gap = np.abs(results["ours"] - results["theirs"]).max()
    print(f"    largest difference of a MAUC: {gap:.1e}")


def main():
    X, y, source = load("isolet", np.float64)
    train, test = next(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y))
    data = (X[train], y[train], X[test], y[test])
    # Random rankings share few features: real selectors agree more and gain more.
    rng = np.random.default_rng(0)
    rankings = [rng.permutation(X.shape[1])[: SIZES[-1]] for _ in range(N_RANKINGS)]
    n_used = len(np.unique(rankings))
    print_header(f"9 rankings x 10 sizes, isolet ({source}), {n_used} features in the rankings")
    bayes, neighbor = NormalNaiveBayes(), NearestNeighbor()
    compare("nested Naive Bayes", data, rankings, bayes, bayes, "90 fits of the same", ">= 5", 3)
    compare(
        "nested 1NN",
        data,
        rankings,
        neighbor,
        KNeighborsClassifier(1, algorithm="brute"),
        "90 KNeighborsClassifier",
        ">= 2",
        3,
    )
    compare("nested 1NN", data, rankings, neighbor, neighbor, "90 fits of the same", "", 1)
    tree = C45()
    compare("nested C4.5, 1 ranking", data, rankings[:1], tree, tree, "10 fits of the same", "", 1)
    machine = RBFSVM(C=8, gamma=0.125)
    compare(
        "nested SVM, 1 ranking", data, rankings[:1], machine, machine, "10 fits of the same", "", 1
    )


if __name__ == "__main__":
    main()
