"""Write the tables and figures of a run as files: all of them or, on any error, none."""

import io
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mauc.checks import unknown_word
from mauc.exceptions import MaucError
from mauc.files import write_atomic
from mauc.plotting.critical_difference import CriticalDifferenceDisplay, problem_scores
from mauc.plotting.curves import CurvesDisplay
from mauc.plotting.run_parts import labels_of, rows_of
from mauc.plotting.stability import StabilityDisplay
from mauc.plotting.win_draw_loss import WinDrawLossDisplay
from mauc.report.as_markdown import escape_markdown
from mauc.report.comparison import compare_published
from mauc.report.layout import Table
from mauc.report.provenance import check_rows, stamp_of
from mauc.report.runtime import runtime_table
from mauc.report.summaries import ranks_table, stability_table, summary_table, win_draw_loss_table
from mauc.report.tables import mauc_table

FORMATS = ("txt", "md", "tex", "csv")


def write_tables(
    run: Any,
    folder: str | Path,
    *,
    formats: Iterable[str] | str = FORMATS,
    reference: str | None = "mdfs",
    test: str = "wilcoxon",
    alpha: float = 0.05,
    force: bool = False,
) -> list[Path]:
    """Write all tables of a run.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    folder : path
        Where to write; made if it does not exist.
    formats : sequence of {"txt", "md", "tex", "csv"}
        All four by default.
    reference : str or None, default="mdfs"
        Selector that the others are marked against; None leaves out marks and win/draw/loss.
    test : {"wilcoxon", "corrected_t"}, default="wilcoxon"
    alpha : float, default=0.05
    force : bool, default=False
        Replace files that exist.

    Returns
    -------
    files : list of Path
        table_<dataset>, runtime, ranks, stability and, with a reference, win_draw_loss and
        summary, each in every format.
    """
    rows = check_rows(rows_of(run), "dataset", "selector", "versions")
    options: dict[str, Any] = {"reference": reference, "test": test, "alpha": alpha}
    tables: dict[str, Table] = {}
    for dataset, name in _file_names(labels_of(rows, "dataset")).items():
        tables[f"table_{name}"] = mauc_table(rows, dataset, **options)
    tables["runtime"] = runtime_table(rows)
    tables["ranks"] = ranks_table(rows, reference=reference, alpha=alpha)
    tables["stability"] = stability_table(rows)
    if reference is not None:
        tables["win_draw_loss"] = win_draw_loss_table(rows, **options)
        tables["summary"] = summary_table(rows, **options)
    return _write_files(Path(folder), _render(tables, _check_formats(formats), rows), force)


def write_figures(
    run: Any,
    folder: str | Path,
    *,
    reference: str | None = "mdfs",
    test: str = "wilcoxon",
    alpha: float = 0.05,
    dpi: float = 200,
    force: bool = False,
) -> list[Path]:
    """Draw the figures of a run as PNG.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    folder : path
    reference : str or None, default="mdfs"
    test : {"wilcoxon", "corrected_t"}, default="wilcoxon"
    alpha : float, default=0.05
    dpi : float, default=200
    force : bool, default=False
        Replace files that exist.

    Returns
    -------
    files : list of Path
        curves_<dataset>, stability; win_draw_loss with a reference and another selector; and
        critical_difference with at least two data sets that all selectors have.
    """
    rows = check_rows(rows_of(run), "dataset", "selector", "versions")
    drawings = _drawings(rows, reference, test, alpha)
    return _write_files(Path(folder), _draw(drawings, stamp_of(rows), dpi), force)


def write_published(
    run: Any,
    folder: str | Path,
    *,
    methods: Mapping[str, str] | None = None,
    reference: str | None = None,
    test: str = "wilcoxon",
    alpha: float = 0.05,
    formats: Iterable[str] | str = FORMATS,
    dpi: float = 200,
    force: bool = False,
) -> list[Path]:
    """Write the comparison with the paper and the figures of a run.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    folder : path
    methods : mapping of str to str, optional
        Method of the paper for selectors that the run labels otherwise.
    reference : str, optional
        Selector of the run that plays MDFS; by default the one labelled so.
    test : {"wilcoxon", "corrected_t"}, default="wilcoxon"
    alpha : float, default=0.05
    formats : sequence of {"txt", "md", "tex", "csv"}
    dpi : float, default=200
    force : bool, default=False
        Replace files that exist.

    Returns
    -------
    files : list of Path
        published in every format, and the files of `write_figures`.
    """
    rows = check_rows(rows_of(run), "dataset", "selector", "versions")
    options: dict[str, Any] = {"reference": reference, "test": test, "alpha": alpha}
    comparison = compare_published(rows, methods=methods, **options)
    files = _render({"published": comparison}, _check_formats(formats), rows)
    drawings = _drawings(rows, comparison.reference, test, alpha)
    return _write_files(Path(folder), {**files, **_draw(drawings, stamp_of(rows), dpi)}, force)


def _drawings(
    rows: Any, reference: str | None, test: str, alpha: float
) -> dict[str, Callable[[], Any]]:
    drawings: dict[str, Callable[[], Any]] = {
        f"curves_{name}": partial(CurvesDisplay.from_run, rows, datasets=dataset)
        for dataset, name in _file_names(labels_of(rows, "dataset")).items()
    }
    drawings["stability"] = lambda: StabilityDisplay.from_run(rows)
    n_selectors = len(labels_of(rows, "selector"))
    if reference is not None and n_selectors > 1:
        drawings["win_draw_loss"] = lambda: WinDrawLossDisplay.from_run(
            rows, reference=reference, test=test, alpha=alpha
        )
    if n_selectors > 1 and len(problem_scores(rows, "dataset")) > 1:
        drawings["critical_difference"] = lambda: CriticalDifferenceDisplay.from_run(
            rows, alpha=alpha
        )
    return drawings


def _draw(
    drawings: Mapping[str, Callable[[], Any]], stamp: tuple[str, ...], dpi: float
) -> dict[str, bytes]:
    import matplotlib.pyplot as plt

    files = {}
    for name, make in drawings.items():
        figure = make().plot().figure_
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=dpi, metadata={"Description": "; ".join(stamp)})
        plt.close(figure)
        files[f"{name}.png"] = buffer.getvalue()
    return files


def _render(tables: Mapping[str, Table], formats: list[str], rows: Any) -> dict[str, bytes]:
    stamp = stamp_of(rows)
    return {
        f"{name}.{extension}": _stamped(table.to_format(extension), extension, stamp).encode()
        for name, table in tables.items()
        for extension in formats
    }


def _stamped(text: str, extension: str, stamp: tuple[str, ...]) -> str:
    if extension == "tex":
        needs = "needs the packages booktabs, graphicx and multirow"
        return "".join(f"% {line}\n" for line in (*stamp, needs)) + text
    if extension == "csv":
        return "".join(f"# {line}\n" for line in stamp) + text
    if extension == "md":
        return text + "\n" + "  \n".join(escape_markdown(line) for line in stamp) + "\n"
    return text + "\n" + "\n".join(stamp) + "\n"


def _check_formats(formats: Iterable[str] | str) -> list[str]:
    wanted = [formats] if isinstance(formats, str) else list(dict.fromkeys(formats))
    for name in wanted:
        if name not in FORMATS:
            raise unknown_word("format", name, FORMATS)
    if not wanted:
        raise MaucError(f"formats must name at least one of {', '.join(FORMATS)}, got none.")
    return wanted


def _file_names(labels: list[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for label in labels:
        name = re.sub(r"[^\w.-]+", "_", label).strip(".") or "_"
        # File systems that ignore case see "Wine" and "wine" as one name.
        taken = {other.lower() for other in names.values()}
        n, stem = 2, name
        while name.lower() in taken:
            name, n = f"{stem}_{n}", n + 1
        names[label] = name
    return names


def _write_files(folder: Path, files: Mapping[str, bytes], force: bool) -> list[Path]:
    if folder.exists() and not folder.is_dir():
        raise MaucError(f"folder must be a directory, got the file {folder}.")
    existing = [name for name in files if (folder / name).exists()]
    if existing and not force:
        shown = ", ".join(existing[:3]) + (", ..." if len(existing) > 3 else "")
        raise MaucError(
            f"{folder} already has {len(existing)} of the files to write ({shown}); "
            "choose another folder or force=True to replace them."
        )
    folder.mkdir(parents=True, exist_ok=True)
    return [write_atomic(folder / name, files[name], force=True) for name in files]
