"""Say what goes on when it takes longer than two seconds: loops in, a bar or lines out.

Loops that may be long are wrapped in `track`, which costs nothing unless somebody watches. Somebody
does within `shown`: the command line on a terminal, and estimators and functions with
``verbose=True``.
"""

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec
from typing import Any, TypeVar

PATIENCE = 2.0  # seconds before anything is shown
_LINE_EVERY = 10.0  # seconds between lines where there is no terminal
_WIDTH = 24  # characters of the bar

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


def track(items: Iterable[_T], unit: str, total: int | None = None) -> Iterator[_T]:
    """Iterate over items and count those that are done, for whoever watches.

    Parameters
    ----------
    items : iterable
    unit : str
        What is counted, in the plural: "folds", "blocks of columns".
    total : int, optional
        How many there will be; that of a sequence is known.
    """
    watcher = _watcher
    if watcher is None or watcher.thread != threading.get_ident():
        yield from items
        return
    if total is None:
        items = items if hasattr(items, "__len__") else list(items)
        total = len(items)  # type: ignore[arg-type]
    level: list[Any] = [unit, 0, total]
    watcher.levels.append(level)
    try:
        for item in items:
            yield item
            level[1] += 1
    finally:
        if level in watcher.levels:
            watcher.levels.remove(level)


class _Watcher(ABC):
    """What is under way in one thread: names from the outside in, and loops with their counts."""

    def __init__(self, what: str) -> None:
        self.thread = threading.get_ident()
        self.began = time.monotonic()
        self.names = [what]
        self.levels: list[list[Any]] = []
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

    def close(self) -> None:
        """Take away what is shown."""
        self._over.set()
        self._painter.join()

    def share(self) -> float:
        """Return which part of all is done, as far as the counts tell."""
        share = 0.0
        for _, n_done, total in reversed(self.levels[:]):
            share = min(1.0, (n_done + share) / max(total, 1))
        return share

    def text(self) -> str:
        """Return what goes on in words, with the time that it took so far."""
        counts = [f"{n_done:,}/{total:,} {unit}" for unit, n_done, total in self.levels[:]]
        elapsed = timedelta(seconds=int(time.monotonic() - self.began))
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
            console=console, get_renderable=self._render, refresh_per_second=5, transient=True,
            redirect_stdout=False,
        ):  # fmt: skip
            self._over.wait()

    def _render(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        line = Table.grid(padding=(0, 1))
        text = Text(self.text(), no_wrap=True, overflow="ellipsis")
        if self.levels:
            bar = ProgressBar(total=1.0, completed=self.share(), width=_WIDTH)
            line.add_row(bar, f"{self.share():4.0%}", text)
        else:
            line.add_row(text)
        return line
