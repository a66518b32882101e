"""The classifiers keep scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mauc.classifiers import RBFSVM, NearestNeighbor, NormalNaiveBayes


@parametrize_with_checks(
    [
        NormalNaiveBayes(),
        NearestNeighbor(),
        NearestNeighbor(smooth=True),
        RBFSVM(),
        RBFSVM(precompute=False),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
