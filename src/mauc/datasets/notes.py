"""Say in plain lines how the columns of a data set were taken."""

from collections.abc import Mapping

from mauc.datasets.left_out import list_left_out


def columns_note(
    n_numbers: int, n_nominal: int, how: str = "", left_out: Mapping[str, str] | None = None
) -> str:
    """Return the line that begins the notes of a data set.

    Parameters
    ----------
    n_numbers, n_nominal : int
        Columns of each kind.
    how : str, default=""
        What became of the nominal columns, such as "as codes".
    left_out : mapping of str to str, optional
        Columns that are no features, with the reason.

    Examples
    --------
    >>> from mauc.datasets.notes import columns_note
    >>> columns_note(5, 3, left_out={"id": "344 values in 344 rows"})
    "5 numbers, 3 nominal; left out: 'id', 344 values in 344 rows"
    """
    parts = [f"{n_numbers} number{'s' * (n_numbers != 1)}"] if n_numbers or not n_nominal else []
    if n_nominal:
        parts.append(f"{n_nominal} nominal{' ' * bool(how)}{how}")
    line = ", ".join(parts)
    return f"{line}; left out: {list_left_out(dict(left_out))}" if left_out else line


def recoded_note(
    notes: tuple[str, ...], n_numbers: int, n_nominal: int, how: str
) -> tuple[str, ...]:
    """Return notes whose first line says what became of the nominal columns."""
    _, semicolon, rest = (notes[0] if notes else "").partition("; left out: ")
    return (columns_note(n_numbers, n_nominal, how) + semicolon + rest, *notes[1:])
