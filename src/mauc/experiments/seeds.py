"""Seeds from names: the same words give the same seed on every machine."""

import warnings
from hashlib import blake2b

import numpy as np
from sklearn.model_selection import StratifiedKFold


def seed_of(*names: object) -> int:
    """Return a seed in [0, 2^32) that is a hash of names.

    A seed depends on nothing else, so whatever is drawn for these names is the same in any order
    of work, on any number of workers, on any engine.

    Parameters
    ----------
    *names : object
        Words and numbers, such as the plan's seed, the data set, the repeat.

    Examples
    --------
    >>> from mauc.experiments.seeds import seed_of
    >>> seed_of(0, "usps", 3) == seed_of(0, "usps", 3)
    True
    >>> seed_of("a", "bc") == seed_of("ab", "c")
    False
    """
    words = "\0".join(str(name) for name in names)
    return int.from_bytes(blake2b(words.encode(), digest_size=4).digest(), "big")


def split_rows(y: np.ndarray, n_folds: int, seed: int, fold: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and the test rows of one fold of a stratified split.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    n_folds : int
    seed : int
        Of the repeat: all its folds, selectors and classifiers share it.
    fold : int
        From 0.

    Returns
    -------
    train, test : ndarray of int
    """
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the runner tells of classes below n_folds
        train, test = list(splitter.split(np.zeros((len(y), 1)), y))[fold]
    return train, test
