"""Say what goes on when it takes longer than two seconds: loops in, a bar or lines out.

Loops that may be long are wrapped in `track`, which costs nothing unless somebody watches. Somebody
does within `shown`: the command line on a terminal, and estimators and functions with
``verbose=True``.
"""

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from typing import Any, TypeVar

PATIENCE = 2.0  # seconds before anything is shown
_LINE_EVERY = 10.0  # seconds between lines where there is no terminal
_WIDTH, _MIN_WIDTH = 24, 6  # characters of the bar; it makes room for the text
_MIN_SECONDS = 1.0  # of counting before the time left is told
_MIN_SHARE = 0.005  # of the work, likewise
_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))

_T = TypeVar("_T")
_watcher: "_Watcher | None" = None


@contextmanager
def shown(what: str, *, verbose: bool | None = None) -> Iterator[None]:
    """Show how far the loops in this context are, if it takes longer than `PATIENCE`.

    Parameters
    ----------
    what : str
        What is done: "reading big.csv", "MDFS".
    verbose : bool, optional
        None shows a bar on a terminal and nothing elsewhere, True lines where there is no
        terminal, and False nothing. Within another such context it only names a part.
    """
    global _watcher
    is_terminal = bool(getattr(sys.stderr, "isatty", bool)())
    if verbose is False or (verbose is None and not is_terminal):
        yield
    elif _watcher is not None:
        with _watcher.part(what):
            yield
    else:
        kind = _BarWatcher if is_terminal and find_spec("rich") is not None else _LineWatcher
        watcher = _watcher = kind(what)
        try:
            yield
        finally:
            _watcher = None
            watcher.close()


def track(
    items: Iterable[_T],
    unit: str,
    total: int | None = None,
    *,
    n_bytes: Sequence[int] | None = None,
) -> Iterator[_T]:
    """Iterate over items and count those that are done, for whoever watches.

    Parameters
    ----------
    items : iterable
    unit : str
        What is counted, in the plural: "folds", "blocks of columns".
    total : int, optional
        How many there will be; that of a sequence is known.
    n_bytes : sequence of int, optional
        How many bytes of data each item stands for: they are shown, and the share of the work that
        is done is counted in bytes.
    """
    watcher = _watcher
    if watcher is None or watcher.thread != threading.get_ident():
        return iter(items)
    if total is None:
        items = items if hasattr(items, "__len__") else list(items)
        total = len(items)  # type: ignore[arg-type]
    return _counted(items, _Level(unit, total, n_bytes), watcher)


def _counted(items: Iterable[_T], level: "_Level", watcher: "_Watcher") -> Iterator[_T]:
    watcher.enter(level)
    try:
        for item in items:
            yield item
            level.advance()
            watcher.note()
    finally:
        if level in watcher.levels:
            watcher.levels.remove(level)


@dataclass(eq=False)
class _Level:
    """A loop that is under way: what it counts and how far it is."""

    unit: str
    total: int
    n_bytes: Sequence[int] | None = None
    n_done: int = 0
    bytes_done: int = 0

    def __post_init__(self) -> None:
        self.all_bytes = 0 if self.n_bytes is None else int(sum(self.n_bytes))

    def advance(self) -> None:
        """Count one more item as done."""
        if self.n_bytes is not None and self.n_done < len(self.n_bytes):
            self.bytes_done += int(self.n_bytes[self.n_done])
        self.n_done += 1

    def share(self, of_item: float) -> float:
        """Return which part of the loop is done if the present item is done to a part."""
        if self.all_bytes:
            assert self.n_bytes is not None
            at = self.n_bytes[self.n_done] if self.n_done < len(self.n_bytes) else 0
            return min(1.0, (self.bytes_done + of_item * at) / self.all_bytes)
        return min(1.0, (self.n_done + of_item) / max(self.total, 1))

    def texts(self) -> list[str]:
        """Return the counts in words, bytes before items."""
        counts = [f"{self.n_done:,}/{self.total:,} {self.unit}"]
        return [bytes_text(self.bytes_done, self.all_bytes), *counts] if self.all_bytes else counts


def bytes_text(n_done: int, total: int) -> str:
    """Return how many bytes of all are done, both in the unit of all.

    Examples
    --------
    >>> from mauc.progress import bytes_text
    >>> bytes_text(3_100_000_000, 10_000_000_000)
    '3.1/10.0 GB'
    """
    size, unit = next(((size, unit) for size, unit in _UNITS if total >= size), (1, "bytes"))
    digits = 1 if size > 1 else 0
    return f"{n_done / size:,.{digits}f}/{total / size:,.{digits}f} {unit}"


class _Watcher(ABC):
    """What is under way in one thread: names from the outside in, and loops with their counts."""

    def __init__(self, what: str) -> None:
        self.thread = threading.get_ident()
        self.began = time.monotonic()
        self.names = [what]
        self.levels: list[_Level] = []
        self._mark: tuple[float, float] | None = None  # when counting began, and the share then
        self._over = threading.Event()
        self._painter = threading.Thread(target=self._wait, daemon=True)
        self._painter.start()

    @contextmanager
    def part(self, what: str) -> Iterator[None]:
        """Name a part of what is done while the context lasts."""
        is_own = threading.get_ident() == self.thread and what not in self.names
        if is_own:
            self.names.append(what)
        try:
            yield
        finally:
            if is_own:
                self.names.remove(what)

    def enter(self, level: _Level) -> None:
        """Count a loop within those that are under way."""
        if not self.levels:
            self._mark = None
        self.levels.append(level)

    def note(self) -> None:
        """Take the time at the end of an item."""
        if self._mark is None:
            self._mark = (time.monotonic(), self.share())

    def close(self) -> None:
        """Take away what is shown."""
        self._over.set()
        self._painter.join()

    def share(self) -> float:
        """Return which part of all is done, as far as the counts tell."""
        share = 0.0
        for level in reversed(self.levels[:]):
            share = level.share(share)
        return share

    def seconds_left(self) -> float | None:
        """Return how long the outermost loop will last, or None while that cannot be told.

        Time counts from the end of the first item: before it kernels are compiled, files opened
        and the first columns read, which does not happen again.
        """
        mark = self._mark
        if mark is None or not self.levels:
            return None
        share, seconds = self.share(), time.monotonic() - mark[0]
        if seconds < _MIN_SECONDS or share - mark[1] < _MIN_SHARE:
            return None
        return seconds * (1 - share) / (share - mark[1])

    def text(self) -> str:
        """Return what goes on in words, with the time that it took so far and that is left."""
        counts = [text for level in self.levels[:] for text in level.texts()]
        elapsed = timedelta(seconds=int(time.monotonic() - self.began))
        left = self.seconds_left()
        if left is not None:
            counts.append(f"{timedelta(seconds=round(left))} left")
        return ", ".join([f"{': '.join(self.names[:])} {elapsed}", *counts])

    def _wait(self) -> None:
        if not self._over.wait(PATIENCE):
            self._paint()

    @abstractmethod
    def _paint(self) -> None:
        """Show what goes on until it is over."""


class _LineWatcher(_Watcher):
    """Writes a line to standard error every few seconds."""

    def _paint(self) -> None:
        is_over = False
        while not is_over:
            print(f"mauc: {self.text()}", file=sys.stderr, flush=True)
            is_over = self._over.wait(_LINE_EVERY)


class _BarWatcher(_Watcher):
    """Draws a bar at the foot of the terminal; what others write appears above it."""

    def _paint(self) -> None:
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True)
        with Live(
            console=console, get_renderable=lambda: self._render(console.width),
            refresh_per_second=5, transient=True, redirect_stdout=False,
        ):  # fmt: skip
            self._over.wait()

    def _render(self, width: int) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        line = Table.grid(padding=(0, 1))
        text = Text(self.text(), no_wrap=True, overflow="ellipsis")
        if self.levels:
            room = width - len(text) - len(" 100% ") - 1
            bar = ProgressBar(
                total=1.0, completed=self.share(), width=max(_MIN_WIDTH, min(_WIDTH, room))
            )
            line.add_row(bar, f"{self.share():4.0%}", text)
        else:
            line.add_row(text)
        return line
