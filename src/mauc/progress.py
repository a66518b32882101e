"""Long operations show progress: a bar on a terminal, lines elsewhere, or nothing.

Loops that may be long are wrapped in `track`, which costs nothing unless they run within
`progress`: the command line on a terminal, runs of plans, and estimators and functions with
``verbose=True``; or within the fit of an estimator with scikit-learn's callbacks.
"""

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import accumulate
from typing import TypeVar

from mauc.exceptions import printable

KINDS = ("auto", "bar", "lines", "quiet")  #: values of ``progress=``
DELAY_SECONDS = 2.0  # before anything is shown
_LINE_EVERY, _BAR_EVERY = 10.0, 0.2  # seconds between lines, and between updates of the bar
_WIDTH = 24  # characters of the bar
_MIN_SECONDS = 1.0  # of counting before the time left is shown
_MIN_SHARE = 0.005  # of the work, likewise
_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))

_T = TypeVar("_T")
current: "Display | None" = None  #: what is shown now
fits = threading.local()  #: `report`: tells callbacks of the loops of a fit in this thread


@contextmanager
def progress(
    what: str, *, verbose: bool | None = None, style: str = "auto"
) -> Iterator["Display | None"]:
    """Show how far the loops in this context are, if it takes longer than `DELAY_SECONDS`.

    `what` names the work: "reading big.csv", "MDFS". ``verbose=None`` shows a bar on a terminal
    and nothing elsewhere, True lines where there is no terminal, and False nothing; `style` "bar"
    or "lines" wants one of them, "quiet" nothing. Within another such context it only names a part.
    """
    global current
    is_terminal = bool(getattr(sys.stderr, "isatty", bool)())
    if verbose is False or style == "quiet" or (verbose is None and not is_terminal):
        yield None
    elif current is not None:
        outer, names = current, current.names
        is_new = outer.thread == threading.get_ident() and what not in names
        if is_new:
            outer.names = [*names, what]
        try:
            yield outer
        finally:
            if is_new:
                outer.names = names
    else:
        display = current = Display(what, style == "bar" or (style == "auto" and is_terminal))
        try:
            yield display
        finally:
            current = None
            display.close()


def track(
    items: Iterable[_T],
    unit: str,
    total: int | None = None,
    *,
    n_bytes: Sequence[int] | None = None,
    n_before: int = 0,
) -> Iterator[_T]:
    """Iterate over items and count those that are done, where `progress` is shown.

    `unit` is what is counted, in the plural: "folds", "blocks of columns". `n_bytes` are the bytes
    of data of each item: they are shown, and the share of the work is counted in bytes. `n_before`
    of the total were done before.
    """
    report = getattr(fits, "report", None)
    display = current if current is not None and current.thread == threading.get_ident() else None
    if report is None and display is None:
        return iter(items)
    if total is None:
        items = items if hasattr(items, "__len__") else list(items)
        total = len(items)  # type: ignore[arg-type]
    items = iter(items) if report is None else report(items, unit, total)
    return items if display is None else display.count(items, unit, total, n_bytes, n_before)


def note(message: str) -> None:
    """Write a line to standard error; a bar that is shown stays below it."""
    print("mauc:", printable(message, "\n"), file=sys.stderr, flush=True)


class _Level:
    """A loop that is under way: what it counts and how far it is."""

    def __init__(
        self, unit: str, total: int, n_bytes: Sequence[int] | None = None, n_before: int = 0
    ) -> None:
        self.unit, self.total, self.n_done = unit, total, n_before
        self._ends = [0, *accumulate(int(size) for size in (() if n_bytes is None else n_bytes))]
        self.all_bytes = self._ends[-1]

    @property
    def bytes_done(self) -> int:
        """Bytes of the items that are done."""
        return self._ends[min(self.n_done, len(self._ends) - 1)]

    def share(self, of_item: float) -> float:
        """Return which part of the loop is done if the present item is done to a part."""
        if self.all_bytes:
            end = self._ends[min(self.n_done + 1, len(self._ends) - 1)]
            done = self.bytes_done + of_item * (end - self.bytes_done)
            return min(1.0, done / self.all_bytes)
        return min(1.0, (self.n_done + of_item) / max(self.total, 1))

    def texts(self) -> list[str]:
        """Return the counts, bytes before items."""
        counts = [f"{self.n_done:,}/{self.total:,} {self.unit}"]
        return [bytes_text(self.bytes_done, self.all_bytes), *counts] if self.all_bytes else counts


def bytes_text(n_done: int, total: int) -> str:
    """Return how many bytes of all are done, both in the unit of all: "3.1/10.0 GB"."""
    size, unit = next(((size, unit) for size, unit in _UNITS if total >= size), (1, "bytes"))
    digits = 1 if size > 1 else 0
    return f"{n_done / size:,.{digits}f}/{total / size:,.{digits}f} {unit}"


class Display:
    """What is under way in one thread: names from the outside in, and loops with their counts."""

    def __init__(self, what: str, has_bar: bool) -> None:
        self.thread: int = threading.get_ident()
        self.names: list[str] = [what]
        self.levels: list[_Level] = []
        self.results = ""  #: what is known so far, for the end of the text
        self._began = time.monotonic()
        self._mark: tuple[float, float] | None = None  # when counting began, and the share then
        self._over = threading.Event()
        self._painter = threading.Thread(target=self._paint, args=(has_bar,), daemon=True)
        self._painter.start()

    def count(
        self,
        items: Iterable[_T],
        unit: str,
        total: int,
        n_bytes: Sequence[int] | None,
        n_before: int,
    ) -> Iterator[_T]:
        """Yield the items of a loop within those that are under way, and count them."""
        level = _Level(unit, total, n_bytes, n_before)
        if not self.levels:
            self._mark = None
        self.levels.append(level)
        try:
            for item in items:
                yield item
                level.n_done += 1
                # Time left is counted from the end of the first item: before it kernels are
                # compiled, files opened and the first columns read, which does not happen again.
                if self._mark is None:
                    self._mark = (time.monotonic(), self.share())
        finally:
            if level in self.levels:
                self.levels.remove(level)

    def close(self) -> None:
        """Remove what is shown."""
        self._over.set()
        self._painter.join()

    def share(self) -> float:
        """Return which part of all is done, by the counts."""
        share = 0.0
        for level in reversed(self.levels[:]):
            share = level.share(share)
        return share

    def seconds_left(self) -> float | None:
        """Return how long the outermost loop will last, or None while that is not known."""
        mark = self._mark
        if mark is None or not self.levels:
            return None
        share, seconds = self.share(), time.monotonic() - mark[0]
        if seconds < _MIN_SECONDS or share - mark[1] < _MIN_SHARE:
            return None
        return seconds * (1 - share) / (share - mark[1])

    def text(self) -> str:
        """Describe the work under way, with the time that it took so far and that is left."""
        counts = [text for level in self.levels[:] for text in level.texts()]
        elapsed = timedelta(seconds=int(time.monotonic() - self._began))
        left = self.seconds_left()
        if left is not None:
            counts.append(f"{timedelta(seconds=round(left))} left")
        text = ", ".join([f"{': '.join(self.names)} {elapsed}", *counts])
        return printable(f"{text}; {self.results}" if self.results else text)

    def _paint(self, has_bar: bool) -> None:
        if self._over.wait(DELAY_SECONDS):
            return
        if has_bar:
            self._draw_bar()
            return
        is_over = False
        while not is_over:
            note(self.text())
            is_over = self._over.wait(_LINE_EVERY)

    def _draw_bar(self) -> None:
        """Draw a bar at the foot of the terminal; other output appears above it."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            BarColumn(_WIDTH),
            TextColumn("{task.percentage:3.0f}%"),
            TextColumn("{task.description}", markup=False),
        )
        console = Console(stderr=True)
        with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
            task = bar.add_task("")
            is_over = False
            while not is_over:
                total = 1.0 if self.levels else None  # without a loop the bar pulses
                bar.update(task, description=self.text(), completed=self.share(), total=total)
                is_over = self._over.wait(_BAR_EVERY)
