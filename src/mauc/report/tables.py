"""Tables of a run, and the paper's Tables 2 to 9: mean MAUC by classifier, selector and size."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

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
    spreadsheet_text,
)
from mauc.report.provenance import describe_protocol, failure_notes, shortage_notes
from mauc.results import number
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
        """Return the unrounded numbers as CSV; a name like a formula begins with an apostrophe."""
        return str(self.to_frame().map(spreadsheet_text).to_csv(index=False, lineterminator="\n"))

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


def mauc_table(
    run: Any, dataset: str, comparison: Comparison = PAPER_COMPARISON, *, measure: str = "MAUC"
) -> FrameTable:
    """Summarise a run on one data set as the paper's Tables 2 to 9 do.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    dataset : str
    comparison : Comparison, default=PAPER_COMPARISON
        Baseline selector, test and level of the marks.
    measure : str, default="MAUC"
        What the caption calls the values, such as "AUC" of two classes.

    Returns
    -------
    table : FrameTable
        Its frame has a row per classifier, selector and size, with the columns dataset,
        classifier, selector, size, n (splits that worked), mean (NaN for a gap), mark ("better",
        "worse" or "none" than the reference, or ""), is_best and is_partial.

    Notes
    -----
    As in the paper, several values of a configuration are bold if they print alike. A mean over
    some of the splits is not comparable with the others: it is shown with a sign and never bold.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.report import mauc_table
    >>> from mauc.stats import Comparison
    >>> rows = pd.DataFrame({
    ...     "dataset": "wine", "repeat": 0, "fold": [0, 1, 0, 1], "classifier": "nb", "size": 5,
    ...     "selector": ["mdfs", "mdfs", "chi", "chi"], "mauc": [0.9, 0.8, 0.7, 0.8],
    ...     "status": "ok", "error": None, "n_train": 89, "n_test": 89})
    >>> table = mauc_table(rows, "wine", Comparison(test="corrected_t"))
    >>> print(table.to_text().split("at 5 %; ")[1])
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
    notes = (*shortage_notes(here, comparison), *notes)
    present = labels_of(here, "classifier")
    absent = [name for name in labels_of(rows, "classifier") if name not in present]
    if absent:
        names = ", ".join(shown_name("classifier", name) for name in absent)
        notes = (f"Not run on this data set: {names}.", *notes)
    frame = _mauc_frame(marked_means(here, comparison), here)
    layout = _mauc_layout(frame, comparison, describe_protocol(here, dataset), notes, measure)
    return FrameTable(frame, (layout,))


def _mauc_frame(means: Any, rows: Any) -> Any:
    """Return the means of every combination of a data set, which of them are whole and best."""
    import pandas as pd

    keys = ["dataset", "classifier", "selector"]
    labels = [labels_of(rows, key) for key in keys]
    sizes = sorted(int(size) for size in rows["size"].unique())
    index = pd.MultiIndex.from_product([*labels, sizes], names=[*keys, "size"])
    frame = means.set_index(index.names)[["n", "mean", "mark"]].reindex(index).reset_index()
    frame = frame.assign(n=frame["n"].fillna(0).astype(int), mark=frame["mark"].fillna(""))
    n_splits = rows[["classifier", "repeat", "fold"]].drop_duplicates().groupby("classifier").size()
    is_whole = (frame["n"] >= frame["classifier"].map(n_splits)) & frame["mean"].notna()
    # Values that print alike count as equal, so a configuration may have several bold ones.
    printed = frame["mean"].map("{:.3f}".format).astype(float)
    best = printed.where(is_whole).groupby([frame["classifier"], frame["size"]]).transform("max")
    is_best, is_partial = is_whole & (printed == best), ~is_whole & frame["mean"].notna()
    return frame.assign(is_best=is_best, is_partial=is_partial)


def _mauc_layout(
    frame: Any, comparison: Comparison, protocol: str, notes: tuple[str, ...], measure: str
) -> Layout:
    """Return the arrangement of the paper: a group per classifier, a row per selector."""
    groups = tuple(
        Group(
            shown_name("classifier", classifier),
            tuple(
                (shown_name("selector", name), _values(part, name != comparison.reference))
                for name, part in here.groupby("selector", sort=False)
            ),
        )
        for classifier, here in frame.groupby("classifier", sort=False)
    )
    dataset, sizes = frame["dataset"].iloc[0], frame["size"].unique()
    caption = (
        f"Mean {measure} of {frame['selector'].nunique()} selectors on the "
        f"{shown_name('dataset', dataset)} data set, {protocol}."
    )
    if comparison.reference is not None:
        caption += (
            f" † (‡): worse (better) than {shown_name('selector', comparison.reference)} "
            f"by the {comparison}; no mark: no significant difference."
        )
    caption += " Bold: the largest value of a classifier and size."
    if frame["is_partial"].any():
        caption += " §: mean over some of the splits, never bold."
    if frame["mean"].isna().any():
        caption += f" {GAP}: not measured."
    return Layout(
        f"mauc-{dataset}",
        caption,
        tuple(map(str, sizes)),
        groups,
        "Feature Subset Size",
        ("classifier", "selector"),
        notes,
        0.85 if len(sizes) > MAX_UNSCALED else 1.0,
    )


def _values(part: Any, is_math: bool) -> tuple[Value, ...]:
    """Return the entries of a row."""
    return tuple(
        Value(
            show_number(one.mean),
            one.is_best,
            "" if one.mean != one.mean else MARKS.get(one.mark, "") + PARTIAL * one.is_partial,
            is_math,
        )
        for one in part.itertuples(index=False)
    )


def show_number(value: float, form: str = ".3f") -> str:
    """Return a number as a table prints it, a gap for NaN."""
    return number(value, form, GAP)
