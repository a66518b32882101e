"""Output files of a command: checked before the work, written after it."""

import io
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauc.checks import unknown_choice
from mauc.cli.show import say_files, watched
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.files import write_atomic
from mauc.io.files import hide_password
from mauc.layout import spreadsheet_text

if TYPE_CHECKING:
    from mauc.datasets import Dataset

_EXTENSIONS = {
    "--figure": (".png", ".pdf", ".svg"),
    "--pairs": (".csv", ".parquet", ".xlsx"),
    "--report": (".html", ".htm", ".json"),
}


def check_outputs(*, force: bool, **paths: Path | None) -> None:
    """Refuse files, by the names of their options, that cannot or must not be written."""
    given = [path for path in paths.values() if path is not None]
    for name, path in paths.items():
        if path is None:
            continue
        known = _EXTENSIONS.get(f"--{name}", (path.suffix.lower(),))
        if path.suffix.lower() not in known:
            raise unknown_choice(f"the extension of --{name}", path.suffix, known)
        if path.is_dir():
            raise MaucError(f"{path} is a folder; the name of a file is wanted.")
        if path.exists() and not force:
            raise MaucError(f"{path} exists already; --force replaces it.")
        if not path.absolute().parent.is_dir():
            raise MaucError(f"{path}: there is no folder {path.parent}.")
        _check_writable(path, path.absolute().parent)
    if len({path.absolute() for path in given}) < len(given):
        raise MaucError(f"two results cannot go to one file, {given[0]}.")
    if paths.get("figure"):
        use_no_screen()


def check_folder(path: Path | None) -> None:
    """Refuse a folder that cannot be made or written to."""
    if path is None:
        return
    if path.exists() and not path.is_dir():
        raise MaucError(f"{path} is a file; the name of a folder is wanted.")
    there = path.absolute()
    while not there.exists():
        there = there.parent
    _check_writable(path, there)


def _check_writable(path: Path, folder: Path) -> None:
    """Write a file without a name into a folder: permissions do not tell if it is full."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x")
            probe.flush()
    except OSError as error:
        raise MaucError(
            f"{path} cannot be written: {error.strerror or error} (folder {folder})."
        ) from error


class Written:
    """The files of a command: what cannot be written is told after the result was shown."""

    def __init__(self) -> None:
        self.files: list[Path] = []  #: those that were written
        self._error: Exception | None = None

    def add(self, write: Callable[[], Path]) -> None:
        """Write a file; an error waits for `finish`."""
        try:
            self.files.append(write())
        except Exception as error:
            self._error = self._error or error

    def finish(self) -> None:
        """Say which files were written, and raise the first error."""
        say_files(self.files)
        if self._error is not None:
            raise self._error


def use_no_screen() -> None:
    """Let matplotlib draw into files only."""
    optional_import("matplotlib", "figures").use("Agg")


def write_figure(figure: Any, path: Path, *, force: bool) -> Path:
    """Write a figure of matplotlib."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lower().lstrip("."), dpi=200, bbox_inches="tight")
    return write_atomic(path, buffer.getvalue(), force=force)


def write_frame(frame: Any, path: Path, *, force: bool) -> Path:
    """Write a pandas frame as CSV, Parquet or Excel."""
    kind, buffer = path.suffix.lower(), io.BytesIO()
    if kind == ".xlsx":
        optional_import("openpyxl", "Excel files")
    if kind != ".parquet":
        frame = frame.map(spreadsheet_text)
    writers = {".csv": frame.to_csv, ".xlsx": frame.to_excel, ".parquet": frame.to_parquet}
    writers[kind](buffer, index=False)
    return write_atomic(path, buffer.getvalue(), force=force)


def write_page(
    path: Path,
    selector: Any,
    dataset: "Dataset",
    reading: Sequence[str],
    *,
    force: bool,
    options: Sequence[str] = (),
    wishes: Sequence[str] = (),
    is_table_written: bool = False,
    **more: Any,
) -> Path:
    """Write the page of a selection, with next steps in the words of the command line."""
    from mauc.report.html import selection_report

    page = watched(selection_report, "the page")(
        selector,
        dataset.X,
        dataset.y,
        data_name=dataset.name,
        groups=dataset.groups,
        feature_names=dataset.feature_names,
        source=dataset.source,
        command=hide_password(shlex.join(["mauc", *sys.argv[1:]])),
        steps=next_steps(
            selector, dataset.n_features, [*reading, *wishes], options, is_table_written
        ),
        what_if_words=what_if_words(reading, options),
        **{"notes": dataset.notes, **more},
    )
    return page.write(path, force=force)


def next_steps(
    selector: Any,
    n_features: int,
    reading: Sequence[str],
    options: Sequence[str] = (),
    is_table_written: bool = False,
) -> dict[str, str] | None:
    """Return the command of each next step; None for a selector without a short name."""
    from mauc.report.html.recipe import rivals_of, short_name

    name, size = short_name(selector), len(selector.ranking_)
    if name is None:
        return None
    select = ["mauc", "select", *reading, "--method"]
    same = [*select, name, *(word for option in options for word in ("--set", option)), "-k"]
    steps = {
        "greedy": [*select, "greedy", "-k", str(size)],
        "auto": [*same, "auto"],
        "more": [*same, str(min(2 * size, n_features))],
        "compare": [
            "mauc",
            "compare",
            *reading,
            "--methods",
            ",".join(rivals_of(selector)),
            "--sizes",
            str(size),
        ],
        "use": [*same, str(size), "--output", "reduced.csv"],
    }
    if is_table_written:
        del steps["use"]
    return {step: hide_password(shlex.join(words)) for step, words in steps.items()}


def what_if_words(reading: Sequence[str], options: Sequence[str]) -> dict[str, str]:
    """Return the parts of the command that searches again; the page fills in `{}`."""
    words = ["mauc", "select", *reading, "--method", "greedy"]
    words += [word for option in options for word in ("--set", option)]
    return {
        "language": "shell",
        "start": hide_password(shlex.join(words)) + " ",
        "between": " ",
        "end": "",
        "size": "-k {}",
        "keep": "--keep {}",
        "exclude": "--exclude {}",
        "feature_costs": "--feature-costs {}",
        "budget": "--budget {}",
        "pair_weight": "--costs {}",
    }
