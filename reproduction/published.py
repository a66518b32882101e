"""A run beside the paper: its published values in, tables of both and of their differences out.

python -m reproduction.published runs/wang2011                      # print
python -m reproduction.published runs/wang2011 --output tables      # write files and figures
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd

from mauc.exceptions import MaucError
from mauc.experiments import load_run
from mauc.report import (
    FrameTable,
    Group,
    Layout,
    Table,
    Value,
    describe_protocols,
    runtime_table,
    write_figures,
    write_tables,
)
from mauc.results import number
from mauc.stats import Comparison, marked_means, shown_name

VALUES = Path(__file__).resolve().parent / "values"
#: the test and level of the paper, against the selector that the run labels as MDFS
AS_PUBLISHED = Comparison(reference=None)
GROUPS = ("dataset", "classifier", "selector", "method", "size")
MARKS = ("worse", "none", "better")
SIGNS = {"worse": "†", "better": "‡"}
PARTIAL = "§"  # a mean over some of the splits
GAP = "—"  # what was not measured
COLUMNS = (
    "cells",
    "missing",
    "mean |diff|",
    "max |diff|",
    "mean diff",
    "marks agree",
    "where paper marks",
)


def load_published() -> pd.DataFrame:
    """Return the published MAUC values, Tables 2 to 9.

    Columns table, dataset, classifier, selector, size, mauc, mark ("worse", "better" or "none"
    against MDFS, "" for MDFS itself) and is_best.
    """
    published = pd.read_csv(VALUES / "mauc.csv", dtype={"versus_mdfs": str}, keep_default_na=False)
    names = {"method": "selector", "n_features": "size", "versus_mdfs": "mark"}
    return published.rename(columns=names).astype({"is_best": bool})


def load_published_runtime() -> pd.DataFrame:
    """Return the paper's Table 10: columns table, selector, dataset, seconds."""
    return pd.read_csv(VALUES / "runtime.csv").rename(columns={"method": "selector"})


@dataclass(frozen=True)
class PublishedComparison(Table):
    """Every cell of the paper's tables beside that of a run; made by `compare_published`.

    Parameters
    ----------
    cells : DataFrame
        Columns dataset, classifier, selector (label of the run), method (of the paper), size, n,
        published, reproduced, difference (reproduced - published), published_best (whether the
        paper has it bold), published_mark, reproduced_mark and agreement (True, False, or None
        where there are no two marks).
    comparison : Comparison
        Of the reproduced marks; its reference is the selector of the run that stands for MDFS.
        The published marks are those of Wilcoxon's test at 5 %.
    protocol : str
        How the run was measured, in words.
    absent_datasets : tuple of str
        Published data sets that the run lacks.
    other_datasets, other_selectors : tuples of str
        What the run has and the published values do not.
    """

    cells: pd.DataFrame = field(repr=False)
    comparison: Comparison
    protocol: str
    absent_datasets: tuple[str, ...] = ()
    other_datasets: tuple[str, ...] = ()
    other_selectors: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per cell of the paper, unrounded."""
        return self.cells.copy()

    def summary(self, *by: str) -> pd.DataFrame:
        """Return differences and agreement, over all cells or by some columns of `GROUPS`.

        Columns by, cells (with both values), missing, mean_absolute, max_absolute and mean
        difference; n_marks, agreement (share of equal marks, draws included); n_significant,
        significant_agreement (where the paper has worse or better); n_opposite (one says worse,
        the other better).
        """
        parts = self.cells.groupby(list(by), sort=False) if by else [((), self.cells)]
        return pd.DataFrame(
            [{**dict(zip(by, key, strict=True)), **summarise(part)} for key, part in parts]
        )

    def mark_counts(self) -> pd.DataFrame:
        """Count cells by published mark (rows) and reproduced mark (columns)."""
        both = self.cells[self.cells["agreement"].notna()]
        counts = pd.crosstab(both["published_mark"], both["reproduced_mark"])
        return counts.reindex(index=MARKS, columns=MARKS, fill_value=0)

    def layouts(self) -> tuple[Layout, ...]:
        """Return differences by data set and classifier, by selector, marks, and every table."""
        tables = (beside_layout(self.cells, name) for name in self.cells["dataset"].unique())
        return (*self.summaries(), *tables)

    def to_latex(self) -> str:
        """Return the summaries in LaTeX; the tables are longer than a page, `to_csv` has them."""
        return FrameTable(self.cells, self.summaries()).to_latex()

    def summaries(self) -> tuple[Layout, ...]:
        groups = []
        for dataset, part in self.cells.groupby("dataset", sort=False):
            lines = [
                (shown_name("classifier", name), summary_values(here))
                for name, here in part.groupby("classifier", sort=False)
            ]
            lines.append(("all", summary_values(part)))
            groups.append(Group(shown_name("dataset", dataset), tuple(lines)))
        groups.append(Group("all", (("all", summary_values(self.cells)),)))
        selectors = tuple(
            (shown_name("selector", name), summary_values(part))
            for name, part in self.cells.groupby("selector", sort=False)
        )
        counts = self.mark_counts()
        marks = tuple(
            (name, tuple(Value(str(counts.loc[name, other])) for other in MARKS)) for name in MARKS
        )
        caption = (
            f"Published and reproduced MAUC ({self.protocol}) by data set and classifier. diff: "
            "reproduced - published. Marks agree: share of cells with the same mark against "
            "MDFS, and the share where the paper marks worse or better. Reproduced marks: "
            f"{self.comparison}."
        )
        return (
            Layout(
                "published",
                caption,
                COLUMNS,
                tuple(groups),
                heads=("data set", "classifier"),
                notes=self.notes(),
                scale=0.85,
            ),
            Layout(
                "published-selectors",
                "Published and reproduced MAUC by selector.",
                COLUMNS,
                (Group("", selectors),),
                heads=("", "selector"),
                scale=0.85,
            ),
            Layout(
                "published-marks",
                "Cells by published mark (rows) and reproduced mark (columns) against MDFS.",
                MARKS,
                (Group("", marks),),
                "Reproduced",
                ("", "published"),
            ),
        )

    def notes(self) -> tuple[str, ...]:
        lists = {
            "Published data sets that are not in the run": self.absent_datasets,
            "Data sets of the run without published values": self.other_datasets,
            "Selectors of the run without published values": self.other_selectors,
        }
        return tuple(f"{words}: {', '.join(names)}." for words, names in lists.items() if names)


def compare_published(
    rows: pd.DataFrame,
    comparison: Comparison = AS_PUBLISHED,
    *,
    methods: Mapping[str, str] | None = None,
) -> PublishedComparison:
    """Put the values of a run beside those that the paper printed.

    Parameters
    ----------
    rows : DataFrame
        The rows of a run.
    comparison : Comparison, default=AS_PUBLISHED
        The selector of the run that stands for MDFS, test and level; reference None takes the
        selector labelled as MDFS.
    methods : mapping of str to str, optional
        Method of the paper for selectors that the run labels otherwise, such as
        ``{"fsdd (constant first)": "fsdd"}``; several labels may share a method. Other labels
        are matched by name, whatever their case.

    Returns
    -------
    compared : PublishedComparison
        With every cell the paper has for the data sets of the run; what was not measured is
        missing there, never guessed.
    """
    published = load_published()
    selectors = list(rows["selector"].unique())
    method_of = match_methods(selectors, methods or {}, list(published["selector"].unique()))
    if comparison.reference is None:
        own = next((name for name, method in method_of.items() if method == "mdfs"), None)
        comparison = replace(comparison, reference=own)
    means = marked_means(rows, comparison)
    have = {name.lower(): name for name in rows["dataset"].unique()}
    paper_datasets = list(published["dataset"].unique())
    common = [name for name in have if name in paper_datasets]
    if not common:
        raise MaucError(
            f"the run must have a data set with published values ({', '.join(paper_datasets)}), "
            f"got {', '.join(have.values())}."
        )
    return PublishedComparison(
        cells=side_by_side(published[published["dataset"].isin(common)], means, method_of, have),
        comparison=comparison,
        protocol=describe_protocols(rows[rows["dataset"].isin([have[name] for name in common])]),
        absent_datasets=tuple(name for name in paper_datasets if name not in have),
        other_datasets=tuple(have[name] for name in have if name not in paper_datasets),
        other_selectors=tuple(name for name in selectors if name not in method_of),
    )


def match_methods(labels: list[str], given: Mapping[str, str], known: list[str]) -> dict[str, str]:
    """Return the method of the paper of each label that has one."""
    for label, method in given.items():
        if label not in labels:
            raise MaucError(
                f"a selector in methods must be one of {', '.join(labels)}, got {label!r}."
            )
        if method.lower() not in known:
            raise MaucError(
                f"the method of {label} must be one of {', '.join(known)}, got {method!r}."
            )
    matched = {label: given.get(label, label).lower() for label in labels}
    return {label: method for label, method in matched.items() if method in known}


def side_by_side(
    published: pd.DataFrame,
    means: pd.DataFrame,
    method_of: Mapping[str, str],
    datasets: Mapping[str, str],
) -> pd.DataFrame:
    """Return the cells of a `PublishedComparison`."""
    # A method may have several labels in the run, or none: then its own name stands for it.
    labels = [
        (label, method)
        for method in published["selector"].unique()
        for label in [name for name, own in method_of.items() if own == method] or [method]
    ]
    found = {
        (row.dataset, row.classifier.lower(), row.selector, row.size): row
        for row in means.itertuples(index=False)
    }
    cells = []
    names = pd.DataFrame(labels, columns=["label", "selector"])
    paper = published.merge(names, on="selector").sort_values(["table"], kind="stable")
    for cell in paper.itertuples(index=False):
        row = found.get((datasets[cell.dataset], cell.classifier, cell.label, cell.size))
        value, mark, n = (np.nan, "", 0) if row is None else (row.mean, row.mark, row.n)
        cells.append(
            {
                "dataset": cell.dataset,
                "classifier": cell.classifier,
                "selector": cell.label,
                "method": cell.selector,
                "size": cell.size,
                "n": n,
                "published": cell.mauc,
                "reproduced": value,
                "difference": value - cell.mauc,
                "published_best": cell.is_best,
                "published_mark": cell.mark,
                "reproduced_mark": mark,
                "agreement": (cell.mark == mark) if cell.mark and mark else None,
            }
        )
    return pd.DataFrame(cells).astype({"agreement": object})


def summarise(part: pd.DataFrame) -> dict[str, Any]:
    """Return the numbers of `PublishedComparison.summary` for some cells."""
    difference = part["difference"].dropna()
    both = part[part["agreement"].notna()]
    marked = both[both["published_mark"] != "none"]
    differs = marked["published_mark"] != marked["reproduced_mark"]
    return {
        "cells": len(difference),
        "missing": len(part) - len(difference),
        "mean_absolute": float(difference.abs().mean()),
        "max_absolute": float(difference.abs().max()),
        "mean": float(difference.mean()),
        "n_marks": len(both),
        "agreement": float(both["agreement"].astype(float).mean()),
        "n_significant": len(marked),
        "significant_agreement": float(marked["agreement"].astype(float).mean()),
        "n_opposite": int((differs & (marked["reproduced_mark"] != "none")).sum()),
    }


def summary_values(part: pd.DataFrame) -> tuple[Value, ...]:
    """Return a line of the tables of differences."""
    summary = summarise(part)
    texts = (
        str(summary["cells"]),
        str(summary["missing"]),
        shown(summary["mean_absolute"], ".4f"),
        shown(summary["max_absolute"], ".4f"),
        shown(summary["mean"], "+.4f"),
        share(summary["agreement"], summary["n_marks"]),
        share(summary["significant_agreement"], summary["n_significant"]),
    )
    # In math mode LaTeX sets a minus sign, not a hyphen.
    return tuple(Value(text, is_math=text[0] in "+-") for text in texts)


def share(part: float, n: int) -> str:
    return GAP if n == 0 else f"{100 * part:.1f} % of {n}"


def shown(value: float, form: str = ".3f") -> str:
    return number(value, form, GAP)


def as_printed(values: pd.Series) -> pd.Series:
    """Return MAUC values as the tables print them: those that print alike are equal."""
    return values.map("{:.3f}".format).astype(float)


def beside_layout(cells: pd.DataFrame, dataset: str) -> Layout:
    """Return published, reproduced and difference in the arrangement of the paper's Tables 2-9.

    A group per classifier and three lines per selector: what the paper printed, what the run
    gave, and reproduced - published. Bold and marks as the paper and the run have them; a mean
    over fewer splits than the classifier has otherwise has a sign and is never bold.
    """
    here = cells[cells["dataset"] == dataset]
    sizes = sorted(int(size) for size in here["size"].unique())
    groups = []
    for classifier, part in here.groupby("classifier", sort=False):
        is_partial = (part["n"] < part["n"].max()) & part["reproduced"].notna()
        whole = as_printed(part["reproduced"].where(~is_partial))
        is_best = whole == whole.groupby(part["size"]).transform("max")
        part = part.assign(is_partial=is_partial, is_best=is_best)
        lines = []
        for selector, rows in part.groupby("selector", sort=False):
            by_size = rows.set_index("size")
            columns = [
                beside_values(by_size.loc[size]) if size in by_size.index else (Value(GAP),) * 3
                for size in sizes
            ]
            name = shown_name("selector", selector)
            labels = (f"{name}, published", "reproduced", "difference")
            lines += zip(labels, zip(*columns, strict=True), strict=True)
        groups.append(Group(shown_name("classifier", classifier), tuple(lines)))
    signs = [value.marks for group in groups for _, line in group.rows for value in line]
    partial = (
        f" {PARTIAL}: mean over some of the splits." if any(PARTIAL in s for s in signs) else ""
    )
    return Layout(
        name=f"published-{dataset}",
        caption=f"{shown_name('dataset', dataset)}: mean MAUC as published, as reproduced, and "
        "reproduced - published. † (‡): worse (better) than MDFS. Bold: the largest value of a "
        "classifier and size." + partial,
        columns=tuple(map(str, sizes)),
        groups=tuple(groups),
        over="Feature Subset Size",
        heads=("classifier", "selector"),
    )


def beside_values(row: pd.Series) -> tuple[Value, Value, Value]:
    """Return the three values of a cell: published, reproduced, difference."""
    marks = [SIGNS.get(row[f"{source}_mark"], "") for source in ("published", "reproduced")]
    marks[1] += PARTIAL if row["is_partial"] else ""
    return (
        Value(f"{row['published']:.3f}", bool(row["published_best"]), marks[0]),
        Value(shown(row["reproduced"]), bool(row["is_best"]), marks[1]),
        Value(shown(row["difference"], "+.4f")),
    )


def runtime_beside(rows: pd.DataFrame) -> FrameTable:
    """Return the seconds of a run with the paper's Table 10 below, where it has any of them.

    The frame has the columns of `runtime_table` and published_seconds.
    """
    table = runtime_table(rows)
    frame, (layout,) = table.to_frame(), table.layouts()
    seconds = load_published_runtime().set_index(["dataset", "selector"])["seconds"].to_dict()
    keys = zip(frame["dataset"].str.lower(), frame["selector"].str.lower(), strict=True)
    frame["published_seconds"] = [seconds.get(key, np.nan) for key in keys]
    known = set(frame.loc[frame["published_seconds"].notna(), "selector"])
    if not known:
        return FrameTable(frame, (layout,))
    lines = tuple(
        (
            shown_name("selector", selector),
            tuple(
                Value(shown(seconds.get((name.lower(), selector.lower()), np.nan)))
                for name in frame["dataset"].unique()
            ),
        )
        for selector in frame["selector"].unique()
        if selector in known
    )
    layout = replace(
        layout,
        caption=f"{layout.caption} Published: the paper's Table 10, on its machine.",
        groups=(replace(layout.groups[0], name="this run"), Group("published", lines)),
        heads=("source", "selector"),
    )
    return FrameTable(frame, (layout,))


def write_published(
    rows: pd.DataFrame,
    folder: Path,
    *,
    formats: tuple[str, ...] = ("txt", "md", "tex", "csv"),
    methods: Mapping[str, str] | None = None,
    dpi: float = 200,
    force: bool = False,
) -> list[Path]:
    """Write the comparison of a run with the paper, and the figures of the run."""
    compared = compare_published(rows, methods=methods)
    tables = {"published": compared}
    files = write_tables(rows, folder, tables=tables, formats=formats, force=force)
    return files + write_figures(rows, folder, compared.comparison, dpi=dpi, force=force)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="A run folder.")
    parser.add_argument(
        "--as",
        dest="methods",
        metavar="NAME=METHOD",
        action="append",
        default=[],
        help='Selector under another name, such as "fsdd2=fsdd"; repeatable.',
    )
    parser.add_argument("--output", type=Path, help="Write files to this folder, print nothing.")
    parser.add_argument("--force", action="store_true", help="Replace files that exist.")
    options = parser.parse_args(arguments)
    methods = dict(entry.rpartition("=")[::2] for entry in options.methods)
    try:
        rows = load_run(options.run)
        if options.output is None:
            print(compare_published(rows, methods=methods))
            return
        matplotlib.use("agg")
        files = write_published(rows, options.output, methods=methods, force=options.force)
    except MaucError as error:
        raise SystemExit(f"error: {error}") from error
    print(*files, sep="\n")


if __name__ == "__main__":
    main()
