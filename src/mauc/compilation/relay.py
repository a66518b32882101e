"""Compilations in worker processes: told to a file by the workers, shown by their parent."""

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mauc.compilation import notice

_EVERY = 0.5  # seconds between looks at the file


@contextmanager
def relay_notices(show: Callable[[str], None]) -> Iterator[str | None]:
    """Show what workers compile, each line once, while the context lasts.

    A file and not a queue: a worker that dies holds no lock that others wait for.

    Parameters
    ----------
    show : callable
        Takes a line.

    Yields
    ------
    path : str or None
        For `report_to` in the workers; None if nobody looks, for want of a terminal.
    """
    if not notice.is_at_terminal():
        yield None
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path, over = Path(folder) / "compiling", threading.Event()
        path.touch()

        def watch() -> None:
            shown: set[str] = set()
            while not over.wait(_EVERY):
                for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
                    if line.endswith("\n") and line not in shown:
                        shown.add(line)
                        show(line.rstrip("\n"))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield str(path)
        finally:
            over.set()
            watcher.join()


def report_to(path: str | None) -> None:
    """Have this worker tell its compilations to a file of `relay_notices`."""

    def tell(line: str) -> None:
        with suppress(OSError), open(path or "", "a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    notice.tell_by(None if path is None else tell)
