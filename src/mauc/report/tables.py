"""Tables of a run, and the paper's Tables 2 to 9: mean MAUC by classifier, selector and size."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mauc.checks import unknown_choice
from mauc.layout import (
    GAP,
    Group,
    Layout,
    Value,
    render_html,
    render_latex,
    render_markdown,
    render_text,
)
from mauc.report.provenance import describe_protocol, failure_notes
from mauc.stats import PAPER_COMPARISON, Comparison, marked_means
from mauc.stats.rows import labels_of, rows_of, shown_name

PARTIAL = "§"  # a mean over some of the splits
MARKS = {"worse": "†", "better": "‡"}
MAX_UNSCALED = 6  # value columns that fit the page in LaTeX


class Table(ABC):
    """A table of numbers: its layouts give every format, its frame the unrounded numbers."""

    @abstractmethod
    def layouts(self) -> tuple[Layout, ...]:
        """Return what the table shows, in one or several parts."""

    @abstractmethod
    def to_frame(self) -> Any:
        """Return the numbers as a DataFrame, unrounded, one row per value."""

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def to_text(self, *, width: int | None = None, bold: str = "**") -> str:
        """Return the table as plain text; columns that would exceed `width` continue below.

        `bold` is written before and after a bold value.
        """
        return "\n".join(render_text(layout, width, bold) for layout in self.layouts())

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        return "\n".join(render_markdown(layout) for layout in self.layouts())

    def to_latex(self) -> str:
        """Return the table in LaTeX; it needs the packages booktabs, graphicx and multirow."""
        return "\n".join(render_latex(layout) for layout in self.layouts())

    def _repr_html_(self) -> str:
        return "\n".join(render_html(layout) for layout in self.layouts())

    def to_csv(self) -> str:
        """Return the unrounded numbers as CSV."""
        return str(self.to_frame().to_csv(index=False, lineterminator="\n"))

    def to_format(self, extension: str) -> str:
        """Return the table in the format of a file extension: txt, md, tex or csv."""
        formats = {
            "txt": self.to_text,
            "md": self.to_markdown,
            "tex": self.to_latex,
            "csv": self.to_csv,
        }
        if extension not in formats:
            raise unknown_choice("format", extension, formats)
        return formats[extension]()


@dataclass(frozen=True)
class FrameTable(Table):
    """A table made of a frame of numbers and of the layouts that show them."""

    numbers: Any
    parts: tuple[Layout, ...]

    def layouts(self) -> tuple[Layout, ...]:
        """Return what the table shows, in one or several parts."""
        return self.parts

    def to_frame(self) -> Any:
        """Return the numbers as a DataFrame, unrounded."""
        return self.numbers.copy()


@dataclass(frozen=True)
class MaucCell:
    """Mean MAUC of one classifier behind one selector at one size.

    Parameters
    ----------
    mean : float
        Over the splits that worked; NaN if none did.
    mark : {"better", "worse", "none", ""}
        Against the reference; "" for the reference and where nothing could be compared.
    n : int
        Splits that worked.
    is_partial : bool
        Whether some splits of the data set have no value.
    is_best : bool
        Whether no other selector prints a larger value for this classifier and size.
    """

    mean: float
    mark: str = ""
    n: int = 0
    is_partial: bool = False
    is_best: bool = False

    @property
    def is_gap(self) -> bool:
        """Whether nothing was measured."""
        return bool(np.isnan(self.mean))

    @property
    def text(self) -> str:
        """The mean as it is printed, with three decimals."""
        return show_number(self.mean)


@dataclass(frozen=True)
class MaucTable(Table):
    """Mean MAUC on a data set, with marks against a reference; made by `mauc_table`.

    Parameters
    ----------
    dataset : str
    comparison : Comparison
        What the marks are; its reference is None if there are none.
    classifiers, selectors, sizes : tuples
        In the order of the table.
    cells : dict of (classifier, selector, size) to MaucCell
        A combination without a cell is a gap.
    protocol : str
        How the values were measured, in words.
    notes : tuple of str
        Failures and what was left out.
    """

    dataset: str
    comparison: Comparison
    classifiers: tuple[str, ...]
    selectors: tuple[str, ...]
    sizes: tuple[int, ...]
    cells: dict[tuple[str, str, int], MaucCell] = field(repr=False)
    protocol: str = ""
    notes: tuple[str, ...] = ()

    def cell(self, classifier: str, selector: str, size: int) -> MaucCell:
        """Return a cell, a gap if it was not measured."""
        return self.cells.get((classifier, selector, size), MaucCell(np.nan))

    def to_frame(self) -> Any:
        """Return one row per classifier, selector and size, gaps included."""
        import pandas as pd

        rows = [
            (self.dataset, classifier, selector, size, cell.n, cell.mean, cell.mark, cell.is_best)
            for classifier in self.classifiers
            for selector in self.selectors
            for size in self.sizes
            for cell in [self.cell(classifier, selector, size)]
        ]
        columns = ["dataset", "classifier", "selector", "size", "n", "mean", "mark", "is_best"]
        return pd.DataFrame(rows, columns=columns)

    def layouts(self) -> tuple[Layout, ...]:
        """Return the arrangement of the paper: a group per classifier, a row per selector."""
        groups = tuple(
            Group(
                shown_name("classifier", classifier),
                tuple(
                    (
                        shown_name("selector", selector),
                        tuple(self._value(classifier, selector, size) for size in self.sizes),
                    )
                    for selector in self.selectors
                ),
            )
            for classifier in self.classifiers
        )
        layout = Layout(
            f"mauc-{self.dataset}", self._caption(), tuple(map(str, self.sizes)), groups,
            "Feature Subset Size", ("classifier", "selector"), self.notes,
            0.85 if len(self.sizes) > MAX_UNSCALED else 1.0,
        )  # fmt: skip
        return (layout,)

    def _value(self, classifier: str, selector: str, size: int) -> Value:
        cell = self.cell(classifier, selector, size)
        marks = MARKS.get(cell.mark, "") + (PARTIAL if cell.is_partial else "")
        is_math = selector != self.comparison.reference
        return Value(cell.text, cell.is_best, "" if cell.is_gap else marks, is_math)

    def _caption(self) -> str:
        parts = [
            f"Mean MAUC of {len(self.selectors)} selectors on the "
            f"{shown_name('dataset', self.dataset)} data set"
            + (f", {self.protocol}." if self.protocol else "."),
        ]
        if self.comparison.reference is not None:
            parts.append(
                f"† (‡): worse (better) than {shown_name('selector', self.comparison.reference)} "
                f"by the {self.comparison}; no mark: no significant difference."
            )
        parts.append("Bold: the largest value of a classifier and size.")
        shown = [self.cell(c, s, k) for c in self.classifiers for s in self.selectors
                 for k in self.sizes]  # fmt: skip
        if any(cell.is_partial and not cell.is_gap for cell in shown):
            parts.append("§: mean over some of the splits, never bold.")
        if any(cell.is_gap for cell in shown):
            parts.append(f"{GAP}: not measured.")
        return " ".join(parts)


def mauc_table(run: Any, dataset: str, comparison: Comparison = PAPER_COMPARISON) -> MaucTable:
    """Summarise a run on one data set as the paper's Tables 2 to 9 do.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    dataset : str
    comparison : Comparison, default=PAPER_COMPARISON
        Baseline selector, test and level of the marks.

    Returns
    -------
    table : MaucTable

    Notes
    -----
    As in the paper, several values of a configuration are bold if they print alike. A mean over
    some of the splits is not comparable with the others: it is shown with a sign and never bold.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.report import mauc_table
    >>> rows = pd.DataFrame({
    ...     "dataset": "wine", "repeat": 0, "fold": [0, 1, 0, 1], "classifier": "nb", "size": 5,
    ...     "selector": ["mdfs", "mdfs", "chi", "chi"], "mauc": [0.9, 0.8, 0.7, 0.8],
    ...     "status": "ok", "error": None, "n_train": 89, "n_test": 89})
    >>> print(mauc_table(rows, "wine").to_text().split("at 5 %; ")[1])
    no mark: no significant difference.
    Bold: the largest value of a classifier and size.
    <BLANKLINE>
                           Feature Subset Size
    classifier   selector          5
    --------------------------------
    Naive Bayes  MDFS      **0.850**
                 CHI         0.750
    <BLANKLINE>
    """
    rows = rows_of(run, "dataset", "classifier", "selector", "size", "mauc", "status")
    labels_of(rows, "dataset", dataset)
    here = rows[rows["dataset"] == dataset]
    notes = failure_notes(here)
    reference = comparison.reference
    if reference in labels_of(rows, "selector") and reference not in labels_of(here, "selector"):
        name = shown_name("selector", reference)
        notes = (f"{name} was not run on this data set: no marks.", *notes)
        comparison = replace(comparison, reference=None)
    present = labels_of(here, "classifier")
    absent = [name for name in labels_of(rows, "classifier") if name not in present]
    if absent:
        names = ", ".join(shown_name("classifier", name) for name in absent)
        notes = (f"Not run on this data set: {names}.", *notes)
    sizes = sorted(int(size) for size in here["size"].unique())
    return MaucTable(
        dataset, comparison, tuple(present), tuple(labels_of(here, "selector")), tuple(sizes),
        _cells(marked_means(here, comparison), here), describe_protocol(here, dataset), notes,
    )  # fmt: skip


def _cells(means: Any, rows: Any) -> dict[tuple[str, str, int], MaucCell]:
    """Return the cells of a data set: its means, complete or not, and which of them are best."""
    n_splits = rows[["classifier", "repeat", "fold"]].drop_duplicates().groupby("classifier").size()
    # Values that print alike count as equal, so a configuration may have several bold ones.
    printed = means["mean"].map("{:.3f}".format).astype(float)
    is_whole = (means["n"] >= means["classifier"].map(n_splits)) & means["mean"].notna()
    best = printed.where(is_whole).groupby([means["classifier"], means["size"]]).transform("max")
    return {
        (classifier, selector, int(size)): MaucCell(mean, mark, int(n), not whole, bool(is_best))
        for classifier, selector, size, mean, mark, n, whole, is_best in zip(
            means["classifier"], means["selector"], means["size"], means["mean"],
            means["mark"], means["n"], is_whole, is_whole & (printed == best), strict=True,
        )
    }  # fmt: skip


def show_number(value: float, form: str = ".3f") -> str:
    """Return a number as a table prints it, a gap for NaN."""
    return GAP if value != value else format(value, form)
