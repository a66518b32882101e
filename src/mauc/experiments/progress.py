"""Show how far a run is: a live display on a terminal, lines to log elsewhere, or nothing."""

import sys
import time
from collections import defaultdict
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from mauc.checks import unknown_choice

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("auto", "bar", "lines", "quiet")
_LINE_EVERY = 10.0  # seconds between lines


class Progress:
    """Counts cells and running means; by itself it shows nothing.

    Parameters
    ----------
    unit : str, default="cells"
        What is counted.
    """

    def __init__(self, unit: str = "cells") -> None:
        self.unit = unit
        self.n_cells = self.n_before = self.n_now = 0
        self.began = time.monotonic()
        self._sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def start(self, n_cells: int, n_done: int | None = None) -> None:
        """Begin with `n_cells` cells, `n_done` of which were done before; None if none can be."""
        self.n_cells, self.n_before, self.began = n_cells, n_done or 0, time.monotonic()

    def add(self, table: "pa.Table") -> None:
        """Add rows to the running means."""
        columns = [table[key].to_pylist() for key in ("selector", "mauc", "status")]
        for selector, mauc, status in zip(*columns, strict=True):
            if status == "ok":
                self._sums[selector][0] += mauc
                self._sums[selector][1] += 1

    def advance(self) -> None:
        """Count a cell that was run now."""
        self.n_now += 1

    def note(self, message: str) -> None:
        """Show a message to the user."""

    def close(self) -> None:
        """Restore the terminal."""

    @property
    def n_done(self) -> int:
        """Cells that are done."""
        return self.n_before + self.n_now

    def means(self) -> dict[str, float]:
        """Return the running mean MAUC of each selector."""
        return {name: total / n for name, (total, n) in self._sums.items() if n}

    def pace(self) -> str:
        """Return speed and time left, as text."""
        elapsed = time.monotonic() - self.began
        if not self.n_now:
            return "-"
        per_minute = 60 * self.n_now / max(elapsed, 1e-9)
        left = (self.n_cells - self.n_done) / per_minute * 60
        return f"{per_minute:.1f} {self.unit}/min, {timedelta(seconds=int(left))} left"


class LineProgress(Progress):
    """Writes a line to standard error every few seconds."""

    def __init__(self, unit: str = "cells") -> None:
        super().__init__(unit)
        self._shown = 0.0

    def start(self, n_cells: int, n_done: int | None = None) -> None:
        """Begin, with a line."""
        super().start(n_cells, n_done)
        before = "" if n_done is None else f", {n_done} done before"
        self.note(f"{n_cells} {self.unit}{before}")

    def advance(self) -> None:
        """Count a cell; write a line for the last one, and every few seconds."""
        super().advance()
        now = time.monotonic()
        if now - self._shown >= _LINE_EVERY or self.n_done == self.n_cells:
            self._shown = now
            means = ", ".join(f"{name} {mean:.3f}" for name, mean in self.means().items())
            line = f"{self.n_done}/{self.n_cells} {self.unit}, {self.pace()}"
            self.note(f"{line}; mean MAUC {means}" if means else line)

    def note(self, message: str) -> None:
        """Write a line."""
        print(f"mauc: {message}", file=sys.stderr, flush=True)


class BarProgress(Progress):
    """A bar with speed and time left, and below it the mean MAUC of each selector so far."""

    def __init__(self, unit: str = "cells") -> None:
        super().__init__(unit)
        from rich.console import Console
        from rich.live import Live

        self._console = Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True)

    def start(self, n_cells: int, n_done: int | None = None) -> None:
        """Begin to draw."""
        super().start(n_cells, n_done)
        if self.n_before < n_cells:
            self._live.start()
            self._live.update(self._render())

    def advance(self) -> None:
        """Count a cell and draw."""
        super().advance()
        self._live.update(self._render())

    def note(self, message: str) -> None:
        """Write a line above the bar."""
        self._console.print(f"mauc: {message}", highlight=False, markup=False)

    def close(self) -> None:
        """Remove the bar."""
        self._live.stop()

    def _render(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        line = Table.grid(padding=(0, 1))
        line.add_row(
            ProgressBar(total=self.n_cells, completed=self.n_done, width=30),
            f"{self.n_done}/{self.n_cells} {self.unit}, {self.pace()}",
        )
        ranked = sorted(self.means().items(), key=lambda item: -item[1])
        means = Table.grid(padding=(0, 2))
        for name, mean in ranked[:12]:
            means.add_row(Text(name), f"{mean:.4f}")
        parts = [line]
        if ranked:
            parts += [Text("mean MAUC so far", style="dim"), means]  # type: ignore[list-item]
        return Group(*parts)


def make_progress(kind: str, unit: str = "cells") -> Progress:
    """Return the display of a kind; "auto" is a bar on a terminal and lines elsewhere."""
    if kind not in KINDS:
        raise unknown_choice("progress", kind, KINDS)
    if kind == "quiet":
        return Progress(unit)
    if kind == "lines" or (kind == "auto" and not (_has_rich() and sys.stderr.isatty())):
        return LineProgress(unit)
    return BarProgress(unit)


def _has_rich() -> bool:
    return find_spec("rich") is not None
