"""Which class a column of scores is of, by its name: the rule of Python and of `mauc score`."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: what may stand before the class in the name of a column
PREFIXES = ("", "score_", "proba_", "prob_", "p_")
_WHOLE = re.compile(r"(-?\d+)\.0+")
_ROUNDING = 1e-4  # by which the probabilities of a row may miss 1


@dataclass(frozen=True)
class ScoreNames:
    """What the names of score columns say of their classes."""

    classes: list[Any]  #: of every column, None where its name is of no known class
    prefix: str | None  #: what all that are named after a class have before it
    #: further columns with this prefix: the labels of classes without samples that they may be
    others: dict[int, Any]

    @property
    def named(self) -> list[int]:
        """Return the columns that are named after a known class."""
        return [j for j, label in enumerate(self.classes) if label is not None]

    @property
    def repeated(self) -> list[Any]:
        """Return the classes that several columns are named after."""
        counts = Counter(label for label in self.classes if label is not None)
        return [label for label, count in counts.items() if count > 1]


class KnownClasses:
    """Classes by the texts of their labels; 1.0 is 1 unless both are classes."""

    def __init__(self, classes: Iterable[Any]) -> None:
        self.labels: list[Any] = list(classes)
        self._by_text = {str(label): label for label in self.labels}
        counts = Counter(map(plain_text, self._by_text))
        for text, label in list(self._by_text.items()):
            if counts[plain_text(text)] == 1:
                self._by_text.setdefault(plain_text(text), label)

    def find(self, text: str) -> Any:
        """Return the class that a text names, or None."""
        return self._by_text.get(text, self._by_text.get(plain_text(text)))

    def make(self, text: str) -> Any:
        """Return the label of a further class, of the type of the others, or None."""
        if all(isinstance(label, str) for label in self.labels):
            return text
        is_whole = all(isinstance(label, int | np.integer) for label in self.labels)
        return (
            int(plain_text(text)) if is_whole and re.fullmatch(r"-?\d+", plain_text(text)) else None
        )


def plain_text(text: str) -> str:
    """Return the text of a whole number without a point and zeros behind it."""
    found = _WHOLE.fullmatch(text)
    return text if found is None else found[1]


def match_names(names: Sequence[object], classes: Iterable[Any]) -> ScoreNames:
    """Match names of columns with classes: as a class itself, score_CLASS, proba_CLASS, ...

    >>> match_names(["score_b", "score_1.0", "age", "score_c"], ["1", "b"])
    ScoreNames(classes=['b', '1', None, None], prefix='score_', others={3: 'c'})
    """
    known, texts = KnownClasses(classes), list(map(str, names))
    found, prefixes = [], set()
    for text in texts:
        labels = {
            prefix: known.find(text.removeprefix(prefix))
            for prefix in PREFIXES
            if text.startswith(prefix)
        }
        prefix = next((prefix for prefix, label in labels.items() if label is not None), None)
        found.append(None if prefix is None else labels[prefix])
        prefixes |= set() if prefix is None else {prefix}
    if len(prefixes) != 1:
        return ScoreNames(found, None, {})
    (prefix,) = prefixes
    others = {
        j: known.make(text.removeprefix(prefix))
        for j, text in enumerate(texts)
        if found[j] is None and text.startswith(prefix) and text != prefix
    }
    return ScoreNames(found, prefix, {j: label for j, label in others.items() if label is not None})


def sum_to_one(scores: np.ndarray) -> bool:
    """Whether each row has the probabilities of all classes."""
    return bool((scores >= 0).all() and (np.abs(scores.sum(axis=1) - 1) <= _ROUNDING).all())
