"""Write the tables and figures of a run as files: all of them or, on any error, none."""

import contextlib
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mauc.checks import unknown_choice
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.files import write_atomic
from mauc.layout import escape_markdown
from mauc.plotting import (
    CriticalDifferenceDisplay,
    CurvesDisplay,
    StabilityDisplay,
    WinDrawLossDisplay,
)
from mauc.report.provenance import stamp_of
from mauc.report.summaries import run_tables
from mauc.report.tables import Table
from mauc.stats import PAPER_COMPARISON, Comparison, problem_scores
from mauc.stats.rows import labels_of, rows_of

FORMATS = ("txt", "md", "tex", "csv")


def write_tables(
    run: Any,
    folder: str | Path,
    comparison: Comparison = PAPER_COMPARISON,
    *,
    tables: Mapping[str, Table] | None = None,
    formats: Iterable[str] | str = FORMATS,
    force: bool = False,
) -> list[Path]:
    """Write the tables of a run.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    folder : path
        Where to write; made if it does not exist.
    comparison : Comparison, default=PAPER_COMPARISON
        Baseline selector, test and level.
    tables : dict of str to Table, optional
        What to write, by name; the tables of `run_tables` by default.
    formats : sequence of {"txt", "md", "tex", "csv"}
        All four by default.
    force : bool, default=False
        Replace files that exist.

    Returns
    -------
    files : list of Path
        Each table in every format; those of `run_tables` are table_<dataset>, runtime, ranks,
        stability and, with a baseline, win_draw_loss and summary.
    """
    formats = _check_formats(formats)
    rows = rows_of(run, "dataset", "selector", "versions")
    datasets = _file_names(labels_of(rows, "dataset"))
    files = {f"mauc {dataset}": f"table_{name}" for dataset, name in datasets.items()}
    made = run_tables(rows, comparison) if tables is None else tables
    named = {files.get(name, name.replace("/", "_")): table for name, table in made.items()}
    stamp = stamp_of(rows)
    contents = {
        f"{name}.{extension}": _stamped(table.to_format(extension), extension, stamp).encode()
        for name, table in named.items()
        for extension in formats
    }
    return _write_files(Path(folder), contents, force)


def write_figures(
    run: Any,
    folder: str | Path,
    comparison: Comparison = PAPER_COMPARISON,
    *,
    dpi: float = 200,
    force: bool = False,
) -> list[Path]:
    """Draw the figures of a run as PNG.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    folder : path
    comparison : Comparison, default=PAPER_COMPARISON
        Baseline selector, test and level.
    dpi : float, default=200
    force : bool, default=False
        Replace files that exist.

    Returns
    -------
    files : list of Path
        curves_<dataset>, stability; win_draw_loss with a baseline and another selector; and
        critical_difference with at least five data sets that all selectors have.
    """
    rows = rows_of(run, "dataset", "selector", "versions")
    plt = optional_import("matplotlib.pyplot", "figures")
    about = {"Description": "; ".join(stamp_of(rows))}
    files = {}
    for name, display in _displays(rows, comparison):
        figure, buffer = display.figure_, io.BytesIO()
        figure.savefig(buffer, format="png", dpi=dpi, metadata=about)
        plt.close(figure)
        files[f"{name}.png"] = buffer.getvalue()
    return _write_files(Path(folder), files, force)


def _displays(rows: Any, comparison: Comparison) -> Iterator[tuple[str, Any]]:
    """Yield the displays of a run with the names of their files."""
    for dataset, name in _file_names(labels_of(rows, "dataset")).items():
        yield f"curves_{name}", CurvesDisplay.from_run(rows, datasets=dataset)
    yield "stability", StabilityDisplay.from_run(rows)
    n_selectors = len(labels_of(rows, "selector"))
    if comparison.reference is not None and n_selectors > 1:
        yield "win_draw_loss", WinDrawLossDisplay.from_run(rows, comparison)
    ranks = CriticalDifferenceDisplay
    if n_selectors > 1 and len(problem_scores(rows, "dataset")) >= ranks.min_datasets:
        yield "critical_difference", ranks.from_run(rows, alpha=comparison.alpha)


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
            raise unknown_choice("format", name, FORMATS)
    if not wanted:
        raise MaucError(f"formats must name at least one of {', '.join(FORMATS)}, got none.")
    return wanted


def _file_names(labels: list[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for label in labels:
        name = re.sub(r"[^\w.-]+", "_", label).strip(".")[:100] or "_"
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
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    try:
        for name, content in files.items():
            written.append(write_atomic(folder / name, content, force=True))
    except BaseException:  # Ctrl-C as well: half of the files would keep the next try from starting
        for path in written:
            if path.name not in existing:
                path.unlink(missing_ok=True)
        if is_new:
            with contextlib.suppress(OSError):  # a parent may have been made, too; it stays
                folder.rmdir()
        raise
    return written
