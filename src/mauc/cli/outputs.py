"""Output files of a command: checked before the work, written after it."""

import io
from pathlib import Path
from typing import Any

from mauc.checks import unknown_word
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.files import write_atomic

_PICTURES = (".png", ".pdf", ".svg")


def check_outputs(*paths: Path | None, force: bool) -> None:
    """Refuse places where a file cannot or must not be written."""
    given = [path for path in paths if path is not None]
    for path in given:
        if path.is_dir():
            raise MaucError(f"{path} is a folder; the name of a file is wanted.")
        if path.exists() and not force:
            raise MaucError(f"{path} exists already; --force replaces it.")
        if not path.absolute().parent.is_dir():
            raise MaucError(f"{path}: there is no folder {path.parent}.")
    if len({path.absolute() for path in given}) < len(given):
        raise MaucError(f"two results cannot go to one file, {given[0]}.")


def check_extension(option: str, path: Path | None, known: tuple[str, ...]) -> None:
    """Refuse a file whose extension is none of those known."""
    if path is not None and path.suffix.lower() not in known:
        raise unknown_word(f"the extension of {option}", path.suffix, known)


def check_figure(path: Path | None, *, force: bool) -> None:
    """Refuse a figure that cannot be drawn: its name is wrong, or matplotlib is missing."""
    if path is None:
        return
    check_outputs(path, force=force)
    check_extension("--figure", path, _PICTURES)
    use_no_screen()


def use_no_screen() -> None:
    """Let matplotlib draw into files only."""
    optional_import("matplotlib", "figures").use("Agg")


def write_figure(figure: Any, path: Path, *, force: bool) -> Path:
    """Write a figure of matplotlib."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lower().lstrip("."), dpi=200, bbox_inches="tight")
    return write_atomic(path, buffer.getvalue(), force=force)
