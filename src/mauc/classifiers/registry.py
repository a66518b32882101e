"""Classifiers by short name: a word and options in, an unfitted classifier out."""

from mauc.classifiers.c45.c45 import C45
from mauc.classifiers.naive_bayes.naive_bayes import NormalNaiveBayes
from mauc.classifiers.nearest_neighbor.nearest_neighbor import NearestNeighbor
from mauc.classifiers.svm.svm import RBFSVM
from mauc.exceptions import unknown_word

CLASSIFIERS = {
    "nb": NormalNaiveBayes,
    "c45": C45,
    "1nn": NearestNeighbor,
    "svm": RBFSVM,
}


def make_classifier(method, **options):
    """Return the unfitted classifier of a short name.

    Parameters
    ----------
    method : str
        A name in `CLASSIFIERS`.
    **options
        Parameters of the classifier.

    Returns
    -------
    classifier : classifier

    Examples
    --------
    >>> from mauc.classifiers import make_classifier
    >>> make_classifier("svm", C=8.0)
    RBFSVM(C=8.0)
    """
    if method not in CLASSIFIERS:
        raise unknown_word("classifier", method, CLASSIFIERS)
    classifier = CLASSIFIERS[method]()
    for name in options:
        if name not in classifier.get_params():
            raise unknown_word(f"option of classifier {method}", name, classifier.get_params())
    return classifier.set_params(**options)
