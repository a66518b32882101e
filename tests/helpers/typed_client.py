"""Uses every public name as a client would; ``mypy --strict`` checks it, and a test runs it."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import mauc
from mauc import (
    ARCO,
    FCBF,
    FSDD,
    JMI,
    MAUCD,
    MDFS,
    MRMR,
    AnovaF,
    BestSubset,
    ChiSquare,
    ColumnSource,
    ConsensusSelector,
    Diagnosis,
    FisherScore,
    GreedyMAUC,
    InformationGain,
    MAUCComparison,
    MAUCInterval,
    MDLDiscretizer,
    PairAUCReport,
    PairAUCSketch,
    PairTests,
    ReliefF,
    SizeCurve,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
    WarmupSummary,
)

Array = np.ndarray[Any, Any]


def select(X: Array, y: Array) -> list[Array]:
    """Fit every selector."""
    chosen = assert_type(GreedyMAUC(2).fit(X, y), GreedyMAUC)
    assert_type(MDFS(2, random_state=0).fit(X, y), MDFS)
    certificate = GreedyMAUC(2).fit(X[::2], y[::2]).certificate(X[1::2], y[1::2])
    explanation = chosen.explain(0, X, y)
    print(str(certificate), explanation, chosen.trace_, chosen.decomposition_.n_subproblems)
    print(len(chosen.alternatives_), chosen.classes_, chosen.support_, chosen.pair_auc_.shape)
    assert_type(chosen.subproblem_names_, list[str])
    sketched = assert_type(MDFS(1).partial_fit(X, y), MDFS)
    assert_type(sketched.sketch_, PairAUCSketch)
    auto = MDFS("auto", n_jobs=1).fit(X, y, cv=3)
    assert_type(auto.size_curve_, SizeCurve)
    consensus = ConsensusSelector(MDFS(), 2, n_resamples=4, random_state=0).fit(X, y)
    others = [
        ARCO(2).fit(X, y),
        FCBF(2).fit(X, y),
        FSDD(2).fit(X, y),
        JMI(2).fit(X, y),
        MAUCD(2).fit(X, y),
        MRMR(2).fit(X, y),
        AnovaF(2).fit(X, y),
        ChiSquare(2).fit(X, y),
        FisherScore(2).fit(X, y),
        InformationGain(2).fit(X, y),
        ReliefF(2).fit(X, y),
        SpreadFx(2).fit(X, y),
        SubproblemSelector(2).fit(X, y),
        SymmetricalUncertainty(2).fit(X, y),
        consensus,
    ]
    reduced = chosen.transform(X)
    assert reduced.shape == (len(y), 2)
    return [chosen.ranking_, *(one.ranking_ for one in others)]


def measure(X: Array, y: Array) -> float:
    """Measure and compare scores."""
    model = GaussianNB().fit(X, y)
    scores: Array = model.predict_proba(X)
    interval = assert_type(mauc.mauc_interval(y, scores, level=0.9), MAUCInterval)
    compared = assert_type(mauc.compare_mauc(y, scores, scores), MAUCComparison)
    report = assert_type(mauc.pair_auc_scores(y, scores), PairAUCReport)
    tests = assert_type(mauc.pair_tests(X, y), PairTests)
    print(interval.lower, compared.p_value, report.to_frame(), len(tests.auc))
    print(mauc.mauc_scorer(model, X, y), mauc.make_mauc_scorer("predict_proba")(model, X, y))
    assert_type(mauc.auc_mu_score(y, scores), float)
    return assert_type(mauc.mauc_score(y, scores), float)


def study(X: Array, y: Array, folder: Path) -> None:
    """Look at data, and for the best size and combination."""
    found = assert_type(mauc.diagnose(X, y), Diagnosis)
    print(found.n_classes)
    curve = assert_type(mauc.select_k(MDFS(), X, y, cv=2, sizes=[1, 2]), SizeCurve)
    best = assert_type(
        mauc.best_subset(X, y, time=300, sizes=[2], selectors=["mdfs"], cv=2, outer=2), BestSubset
    )
    print(curve.size, best.features, best.interval, mauc.feature_pair_auc(X, y).shape)
    binned = assert_type(MDLDiscretizer().fit(X, y), MDLDiscretizer).transform(X)
    sketch = assert_type(mauc.sketch_rows([(binned, y)]), PairAUCSketch)
    np.savetxt(folder / "iris.csv", np.column_stack([X, y]), delimiter=",")
    source, labels = mauc.open_columns(folder / "iris.csv")
    assert_type(source, ColumnSource)
    print(sketch.n_rows, source.shape, labels.shape)


def main(folder: Path) -> None:
    """Run all but what compiles everything and what needs a finished run."""
    X, y = load_iris(return_X_y=True)
    print(mauc.__version__, len(select(X, y)), measure(X, y))
    study(X, y, folder)


def only_checked(folder: Path) -> int:
    """Call what takes long."""
    summary = assert_type(mauc.warmup(["mdfs"], n_jobs=1), WarmupSummary)
    print(mauc.load_run(folder))
    return summary.n_methods
