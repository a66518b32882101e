"""Read the labels of samples from a text file of their own."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mauc.datasets.readers.files import check_file, check_text, open_text
from mauc.datasets.readers.missing import MISSING_LABELS
from mauc.datasets.readers.table import first_few
from mauc.exceptions import MaucError

#: how the file of the labels is called beside that of the matrix
SUFFIX = "_labels"
_ENDINGS = (".tsv", ".csv", ".txt", ".tab")
# What the column of the labels may be called, and the header of a file that has no other column.
_LABEL_WORDS = ("class", "label", "labels", "target", "type", "diagnosis")


@dataclass(frozen=True)
class SampleLabels:
    """The labels of samples.

    Parameters
    ----------
    path : Path
    samples : list of str, optional
        Their names; None if the labels are in the order of the matrix.
    labels : list of str
    """

    path: Path
    samples: list[str] | None
    labels: list[str]

    def labels_of(self, samples: list[str]) -> tuple[np.ndarray[Any, Any], list[str]]:
        """Return the labels of samples in the order wanted, None where there is none, and notes."""
        if self.samples is None:
            if len(samples) != len(self.labels):
                raise MaucError(
                    f"{self.path} has {len(self.labels)} labels, wanted {len(samples)}, one per "
                    f"sample."
                )
            found: list[str | None] = list(self.labels)
            notes = []
        else:
            known = dict(zip(self.samples, self.labels, strict=True))
            found = [known.get(sample) for sample in samples]
            others = sorted(set(known) - set(samples))
            notes = [f"{self.path.name}: not in the matrix: {first_few(others)}"] if others else []
        found = [None if label in MISSING_LABELS else label for label in found]
        if all(label is not None and label.removeprefix("-").isdecimal() for label in found):
            return np.array([int(label or 0) for label in found]), notes
        return np.array(found, dtype=object), notes


def find_labels(matrix: Path) -> Path | None:
    """Return the file ``NAME_labels.tsv`` (or csv, txt) beside a matrix, if there is one."""
    stem = matrix.name.removesuffix(".gz").rpartition(".")[0]
    names = [f"{stem}{SUFFIX}{ending}{packed}" for ending in _ENDINGS for packed in ("", ".gz")]
    found = [matrix.with_name(name) for name in names if matrix.with_name(name).is_file()]
    if len(found) > 1:
        listed = ", ".join(path.name for path in found)
        raise MaucError(f"{matrix} has more than one file of labels beside it: {listed}.")
    return found[0] if found else None


def read_sample_labels(path: Path, samples: set[str], encoding: str = "utf-8") -> SampleLabels:
    """Read the labels of samples.

    Parameters
    ----------
    path : Path
        One sample per line: its name, then its label, separated by a tab, comma or semicolon; or
        labels alone. Of more columns it is the one called class, label or the like. A line of
        names of the columns may come first.
    samples : set of str
        What may be names of samples, which tells them from a header.
    encoding : str, default="utf-8"
    """
    check_file(path)
    check_text(path, "text with a label per line", encoding)
    with open_text(path, encoding) as file:
        text = file.read()
    first = text.lstrip("\r\n").partition("\n")[0]
    separator = next((mark for mark in "\t;," if mark in first), "\t")
    lines = [
        [cell.strip() for cell in cells]
        for cells in csv.reader(text.splitlines(), delimiter=separator)
        if any(cell.strip() for cell in cells)
    ]
    if not lines:
        raise MaucError(
            f"{path} has no line with a label; the name of a sample and its class are wanted."
        )
    width = len(lines[0])
    for number, cells in enumerate(lines):
        if len(cells) != width:
            raise MaucError(
                f"{path}: row {number + 1} has {len(cells)} values, but the first has {width}: "
                f"the name of a sample and its label are wanted in each."
            )
    if width == 1:
        labels = [cells[0] for cells in lines]
        is_header = labels[0].lower() in _LABEL_WORDS
        return SampleLabels(path, None, labels[is_header:])
    has_header = lines[0][0] not in samples
    header = [cell.lower() for cell in lines[0]] if has_header else []
    place = next((header.index(word) for word in _LABEL_WORDS if word in header), None)
    if place is None:
        place = 1
        if width != 2:
            raise MaucError(
                f"{path} has {width} columns, none of which is called class or label: which one "
                f"holds the labels? Its first line: {first_few(lines[0])}."
            )
    rows = lines[has_header:]
    names = [cells[0] for cells in rows]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MaucError(f"{path}: the sample {twice!r} occurs more than once; remove a line.")
    return SampleLabels(path, names, [cells[place] for cells in rows])
