"""Data from a pipe: standard input, or another stream that can be read only once, as a file."""

import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from mauc.exceptions import MaucError

NAME = "stdin"  # of a data set that came through a pipe


def is_stream(source: str | Path) -> bool:
    """Whether a source is ``-``, a device such as /dev/stdin, or a named pipe."""
    text = str(source)
    if text == "-" or text.startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/")):
        return True
    try:
        return stat.S_ISFIFO(Path(source).stat().st_mode)
    except OSError:
        return False


@contextmanager
def stream_as_file(source: str | Path) -> Iterator[Path]:
    """Copy a stream to a temporary file, which readers may read more than once.

    Errors call the file "standard input", or by the name of the stream.
    """
    text = str(source)
    is_standard = text in ("-", "/dev/stdin")
    with TemporaryDirectory(prefix="mauc-") as folder:
        path = Path(folder) / NAME
        with path.open("wb") as copy:
            if text == "-":
                if sys.stdin is None or sys.stdin.isatty():
                    raise MaucError(
                        "- reads standard input, which is a terminal here; pipe a file into it, "
                        "as in `cat data.csv | mauc select - --target label`."
                    )
                shutil.copyfileobj(sys.stdin.buffer, copy)
            else:
                try:
                    with open(source, "rb") as stream:
                        shutil.copyfileobj(stream, copy)
                except OSError as error:
                    raise MaucError(f"{source} cannot be read: {error.strerror}.") from error
        try:
            yield path
        except MaucError as error:
            shown = "standard input" if is_standard else text
            raise type(error)(str(error).replace(str(path), shown)) from error
