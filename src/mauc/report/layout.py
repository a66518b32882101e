"""What a table looks like before it has a format: groups of labelled rows, values with marks."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from mauc.checks import unknown_choice

GAP = "—"  # a value that was not measured
WORSE, BETTER, PARTIAL = "†", "‡", "§"
MARKS = {"worse": WORSE, "better": BETTER}


@dataclass(frozen=True)
class Value:
    """One entry of a table.

    Parameters
    ----------
    text : str
        The number as it is printed, or `GAP`.
    is_bold : bool
    marks : str
        Any of † (worse than the reference), ‡ (better) and § (mean over some of the splits).
    is_math : bool
        Whether LaTeX sets it in math mode, as the paper does outside the row of MDFS.
    """

    text: str
    is_bold: bool = False
    marks: str = ""
    is_math: bool = False


@dataclass(frozen=True)
class Group:
    """Rows under a common name.

    Parameters
    ----------
    name : str
    rows : tuple of (str, tuple of Value)
        Each row is its label and its values.
    """

    name: str
    rows: tuple[tuple[str, tuple[Value, ...]], ...]


@dataclass(frozen=True)
class Layout:
    """A table without a format.

    Parameters
    ----------
    name : str
        Short name, for LaTeX's label.
    caption : str
    columns : tuple of str
        Heads of the value columns.
    groups : tuple of Group
        A table without groups has one, of the name "".
    over : str
        What the value columns are, written above their heads.
    heads : pair of str
        Heads of the group names and of the row labels.
    notes : tuple of str
        Sentences below the table.
    scale : float
        Size in LaTeX; 1 for tables that fit the page.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    groups: tuple[Group, ...]
    over: str = ""
    heads: tuple[str, str] = ("", "")
    notes: tuple[str, ...] = ()
    scale: float = 1.0

    @property
    def is_grouped(self) -> bool:
        """Whether the groups have names."""
        return any(group.name for group in self.groups)


class Table(ABC):
    """A table of numbers that has a layout and a frame, and through them every format."""

    @abstractmethod
    def layouts(self) -> tuple[Layout, ...]:
        """Return what the table shows, in one or several parts."""

    @abstractmethod
    def to_frame(self) -> Any:
        """Return the numbers as a DataFrame, unrounded, one row per value."""

    def __str__(self) -> str:
        return self.to_text().rstrip("\n")

    def to_text(self, *, width: int | None = None, bold: str = "**") -> str:
        """Return the table as plain text.

        Parameters
        ----------
        width : int, optional
            Captions and notes are wrapped to it, and columns that would exceed it continue below;
            by default columns are not parted.
        bold : str, default="**"
            What stands before and after a bold value.
        """
        from mauc.report.as_text import render_text

        return "\n".join(render_text(layout, width, bold) for layout in self.layouts())

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        from mauc.report.as_markdown import render_markdown

        return "\n".join(render_markdown(layout) for layout in self.layouts())

    def to_latex(self) -> str:
        """Return the table in LaTeX; it needs the packages booktabs, graphicx and multirow."""
        from mauc.report.as_latex import render_latex

        return "\n".join(render_latex(layout) for layout in self.layouts())

    def to_csv(self) -> str:
        """Return the unrounded numbers as CSV."""
        text: str = self.to_frame().to_csv(index=False, lineterminator="\n")
        return text

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
    """A table made of a frame of numbers and of the layouts that show them.

    Parameters
    ----------
    numbers : DataFrame
    parts : tuple of Layout
    """

    numbers: Any
    parts: tuple[Layout, ...]

    def layouts(self) -> tuple[Layout, ...]:
        """Return what the table shows, in one or several parts."""
        return self.parts

    def to_frame(self) -> Any:
        """Return the numbers as a DataFrame, unrounded."""
        return self.numbers.copy()


def as_printed(values: Any) -> Any:
    """Return a Series of MAUC values as the tables print them: those that print alike are equal."""
    return values.map("{:.3f}".format).astype(float)


def show_number(value: float, form: str = ".3f") -> str:
    """Return a number as a table prints it, a gap for NaN."""
    return GAP if value != value else format(value, form)
