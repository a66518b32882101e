"""A table of the paper with the values of a run below its own: cells of both in, a layout out."""

from typing import Any

from mauc.layout import GAP, Group, Layout, Value
from mauc.report.tables import MARKS, PARTIAL, show_number
from mauc.stats.rows import labels_of, shown_name

_GAPS = (Value(GAP),) * 3


def beside_layout(cells: Any, dataset: str) -> Layout:
    """Return published, reproduced and difference in the arrangement of the paper's Tables 2-9.

    Parameters
    ----------
    cells : DataFrame
        That of a `PublishedComparison`.
    dataset : str

    Returns
    -------
    layout : Layout
        A group per classifier and three lines per selector: what the paper printed, what the run
        gave, and reproduced - published. Bold and marks as the paper and the run have them; a mean
        over fewer splits than the classifier has otherwise has a sign and is never bold.
    """
    here = cells[cells["dataset"] == dataset]
    sizes = sorted(int(size) for size in here["size"].unique())
    groups = []
    for classifier in labels_of(here, "classifier"):
        part = here[here["classifier"] == classifier]
        is_partial = (part["n"] < part["n"].max()) & part["reproduced"].notna()
        whole = part["reproduced"].where(~is_partial).map("{:.3f}".format).astype(float)
        is_best = whole == whole.groupby(part["size"]).transform("max")
        part = part.assign(is_partial=is_partial, is_best=is_best)
        lines = []
        for selector in labels_of(part, "selector"):
            rows = part[part["selector"] == selector].set_index("size")
            lines += _lines(shown_name("selector", selector), rows, sizes)
        groups.append(Group(shown_name("classifier", classifier), tuple(lines)))
    name = shown_name("dataset", dataset)
    signs = [value.marks for group in groups for _, line in group.rows for value in line]
    partial = " §: mean over some of the splits." if any(PARTIAL in sign for sign in signs) else ""
    return Layout(
        name=f"published-{dataset}",
        caption=f"{name}: mean MAUC as published, as reproduced, and reproduced - published. "
        "† (‡): worse (better) than MDFS. Bold: the largest value of a classifier and size."
        + partial,
        columns=tuple(map(str, sizes)),
        groups=tuple(groups),
        over="Feature Subset Size",
        heads=("classifier", "selector"),
    )


def _lines(name: str, rows: Any, sizes: list[int]) -> list[tuple[str, tuple[Value, ...]]]:
    columns = [_values(rows.loc[size]) if size in rows.index else _GAPS for size in sizes]
    labels = (f"{name}, published", "reproduced", "difference")
    return list(zip(labels, zip(*columns, strict=True), strict=True))


def _values(row: Any) -> tuple[Value, Value, Value]:
    marks = [MARKS.get(row[f"{source}_mark"], "") for source in ("published", "reproduced")]
    marks[1] += PARTIAL if row["is_partial"] else ""
    return (
        Value(f"{row['published']:.3f}", bool(row["published_best"]), marks[0]),
        Value(show_number(row["reproduced"]), bool(row["is_best"]), marks[1]),
        Value(show_number(row["difference"], "+.4f")),
    )
