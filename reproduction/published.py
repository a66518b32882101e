"""Published and reproduced values side by side, and how far they agree."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mauc.checks import check_choice, unknown_choice
from mauc.exceptions import MaucError
from mauc.layout import GAP, Group, Layout, Value, render_latex
from mauc.report.beside import beside_layout
from mauc.report.provenance import describe_protocols
from mauc.report.published import load_published
from mauc.report.tables import Table, show_number
from mauc.stats import Comparison, marked_means
from mauc.stats.rows import labels_of, rows_of, shown_name

_MARKS = ("worse", "none", "better")
#: the test and level of the paper, against the selector that the run labels as MDFS
AS_PUBLISHED = Comparison(reference=None)
_COLUMNS = (
    "cells", "missing", "mean |diff|", "max |diff|", "mean diff", "marks agree",
    "where paper marks",
)  # fmt: skip


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

    cells: Any = field(repr=False)
    comparison: Comparison
    protocol: str
    absent_datasets: tuple[str, ...] = ()
    other_datasets: tuple[str, ...] = ()
    other_selectors: tuple[str, ...] = ()

    def to_frame(self) -> Any:
        """Return one row per cell of the paper, unrounded."""
        return self.cells.copy()

    def summary(self, *by: str) -> Any:
        """Return differences and agreement, over all cells or grouped by some columns.

        Parameters
        ----------
        *by : str
            Any of dataset, classifier, selector, method, size.

        Returns
        -------
        summary : DataFrame
            Columns by, cells (with both values), missing, mean_absolute, max_absolute and mean
            difference; n_marks, agreement (share of equal marks, draws included);
            n_significant, significant_agreement (where the paper has worse or better);
            n_opposite (one says worse, the other better).
        """
        import pandas as pd

        for name in by:
            check_choice("by", name, ("dataset", "classifier", "selector", "method", "size"))
        parts = self.cells.groupby(list(by), sort=False) if by else [((), self.cells)]
        return pd.DataFrame(
            [{**dict(zip(by, key, strict=True)), **_summarise(part)} for key, part in parts]
        )

    def mark_counts(self) -> Any:
        """Count cells by published mark (rows) and reproduced mark (columns)."""
        import pandas as pd

        both = self.cells[self.cells["agreement"].notna()]
        counts = pd.crosstab(both["published_mark"], both["reproduced_mark"])
        return counts.reindex(index=_MARKS, columns=_MARKS, fill_value=0)

    def layouts(self) -> tuple[Layout, ...]:
        """Return differences by data set and classifier, by selector, marks, and every table."""
        tables = (beside_layout(self.cells, name) for name in labels_of(self.cells, "dataset"))
        return (*self._summaries(), *tables)

    def to_latex(self) -> str:
        """Return the summaries in LaTeX; the tables are longer than a page, `to_csv` has them."""
        return "\n".join(render_latex(layout) for layout in self._summaries())

    def _summaries(self) -> tuple[Layout, ...]:
        groups = []
        for dataset, part in self.cells.groupby("dataset", sort=False):
            lines = [
                (shown_name("classifier", name), _summary_values(here))
                for name, here in part.groupby("classifier", sort=False)
            ]
            lines.append(("all", _summary_values(part)))
            groups.append(Group(shown_name("dataset", dataset), tuple(lines)))
        groups.append(Group("all", (("all", _summary_values(self.cells)),)))
        selectors = tuple(
            (shown_name("selector", name), _summary_values(part))
            for name, part in self.cells.groupby("selector", sort=False)
        )
        counts = self.mark_counts()
        marks = tuple(
            (name, tuple(Value(str(counts.loc[name, other])) for other in _MARKS))
            for name in _MARKS
        )
        caption = (
            f"Published and reproduced MAUC ({self.protocol}) by data set and classifier. diff: "
            "reproduced - published. Marks agree: share of cells with the same mark against "
            "MDFS, and the share where the paper marks worse or better. Reproduced marks: "
            f"{self.comparison}."
        )
        return (
            Layout("published", caption, _COLUMNS, tuple(groups), heads=("data set", "classifier"),
                   notes=self._notes(), scale=0.85),
            Layout("published-selectors", "Published and reproduced MAUC by selector.", _COLUMNS,
                   (Group("", selectors),), heads=("", "selector"), scale=0.85),
            Layout("published-marks", "Cells by published mark (rows) and reproduced mark "
                   "(columns) against MDFS.", _MARKS, (Group("", marks),), "Reproduced",
                   ("", "published")),
        )  # fmt: skip

    def _notes(self) -> tuple[str, ...]:
        lists = {
            "Published data sets that are not in the run": self.absent_datasets,
            "Data sets of the run without published values": self.other_datasets,
            "Selectors of the run without published values": self.other_selectors,
        }
        return tuple(f"{words}: {', '.join(names)}." for words, names in lists.items() if names)


def compare_published(
    run: Any,
    comparison: Comparison = AS_PUBLISHED,
    *,
    methods: Mapping[str, str] | None = None,
) -> PublishedComparison:
    """Put the values of a run beside those that the paper printed.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
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
    rows = rows_of(run, "dataset", "classifier", "selector", "size", "mauc", "status")
    published = load_published()
    paper_methods = labels_of(published, "selector")
    method_of = _match_methods(labels_of(rows, "selector"), methods, paper_methods)
    if comparison.reference is None:
        own = next((name for name, method in method_of.items() if method == "mdfs"), None)
        comparison = replace(comparison, reference=own)
    means = marked_means(rows, comparison)
    have = {name.lower(): name for name in labels_of(rows, "dataset")}
    paper_datasets = labels_of(published, "dataset")
    common = [name for name in have if name in paper_datasets]
    if not common:
        raise MaucError(
            f"the run must have a data set with published values ({', '.join(paper_datasets)}), "
            f"got {', '.join(have.values())}."
        )
    return PublishedComparison(
        cells=_side_by_side(published[published["dataset"].isin(common)], means, method_of, have),
        comparison=comparison,
        protocol=describe_protocols(rows[rows["dataset"].isin([have[name] for name in common])]),
        absent_datasets=tuple(name for name in paper_datasets if name not in have),
        other_datasets=tuple(have[name] for name in have if name not in paper_datasets),
        other_selectors=tuple(n for n in labels_of(rows, "selector") if n not in method_of),
    )


def _match_methods(
    labels: list[str], methods: Mapping[str, str] | None, known: list[str]
) -> dict[str, str]:
    given = dict(methods or {})
    for label, method in given.items():
        if label not in labels:
            raise unknown_choice("selector in methods", label, labels)
        if method.lower() not in known:
            raise unknown_choice(f"method of {label}", method, known)
    matched = {label: given.get(label, label).lower() for label in labels}
    return {label: method for label, method in matched.items() if method in known}


def _side_by_side(
    published: Any, means: Any, method_of: Mapping[str, str], datasets: Mapping[str, str]
) -> Any:
    import pandas as pd

    # A method may have several labels in the run, or none: then its own name stands for it.
    labels = [
        (label, method)
        for method in labels_of(published, "selector")
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
                "dataset": cell.dataset, "classifier": cell.classifier, "selector": cell.label,
                "method": cell.selector, "size": cell.size, "n": n, "published": cell.mauc,
                "reproduced": value, "difference": value - cell.mauc,
                "published_best": cell.is_best, "published_mark": cell.mark,
                "reproduced_mark": mark,
                "agreement": (cell.mark == mark) if cell.mark and mark else None,
            }
        )  # fmt: skip
    return pd.DataFrame(cells).astype({"agreement": object})


def _summarise(part: Any) -> dict[str, Any]:
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


def _summary_values(part: Any) -> tuple[Value, ...]:
    summary = _summarise(part)
    texts = (
        str(summary["cells"]), str(summary["missing"]),
        show_number(summary["mean_absolute"], ".4f"), show_number(summary["max_absolute"], ".4f"),
        show_number(summary["mean"], "+.4f"), _share(summary["agreement"], summary["n_marks"]),
        _share(summary["significant_agreement"], summary["n_significant"]),
    )  # fmt: skip
    # In math mode LaTeX sets a minus sign, not a hyphen.
    return tuple(Value(text, is_math=text[0] in "+-") for text in texts)


def _share(share: float, n: int) -> str:
    return GAP if n == 0 else f"{100 * share:.1f} % of {n}"
