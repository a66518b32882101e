"""`mauc cache list | clear`: text files and arrays whose columns were written to disk."""

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.cli.common import DebugOption, JsonOption, command
from mauc.cli.show import add_row, make_table, print_json, print_table, print_text
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.io.cache import CachedTable

cache_app = typer.Typer(
    name="cache",
    help="List and remove the columns of large files that are kept on disk.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@command
def list_command(as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """List the files whose columns are kept, the one that was used last first.

    Example: mauc cache list
    """
    from mauc.io.cache import columns_folder, list_caches
    from mauc.memory import format_bytes

    tables = list_caches()
    if as_json:
        print_json([table_dict(table) for table in tables])
        return
    if not tables:
        print_text(f"{columns_folder()} holds no columns.")
        return
    numbers = ("rows", "columns", "size")
    shown = make_table("name", *numbers, "last used", "source is", "source", right=numbers)
    for table in tables:
        add_row(
            shown, table.name, f"{table.n_samples:,}", f"{table.n_features:,}",
            format_bytes(table.n_bytes), _time(table.last_used)[:16].replace("T", " "),
            table.state, table.source,
        )  # fmt: skip
    print_table(shown)
    total = format_bytes(sum(table.n_bytes for table in tables))
    print_text(f"{total} in {columns_folder()}; mauc cache clear NAME removes one, --all all.")


@command
def clear_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Tables by name, or by the path of their file.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All tables.")] = False,
    older_than: Annotated[
        float | None,
        typer.Option(metavar="DAYS", help="Only those that were not used for so many days."),
    ] = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:  # fmt: skip
    """Remove columns that are kept on disk; they are made again when they are needed.

    Example: mauc cache clear --all --older-than 30
    """
    from mauc.io.cache import clear_caches
    from mauc.memory import format_bytes

    if bool(names) == every:
        raise MaucError(
            "name the tables to remove (see mauc cache list), or say --all"
            + (", not both." if every else ".")
        )
    if older_than is not None and not older_than >= 0:
        raise MaucError(f"--older-than must be a number of days, 0 or more, got {older_than}.")
    removed = clear_caches(names or None, older_than=older_than)
    if as_json:
        print_json([table_dict(table) for table in removed])
        return
    for table in removed:
        print_text(f"removed {table.name} ({table.source}), {format_bytes(table.n_bytes)}")
    total = format_bytes(sum(table.n_bytes for table in removed)) if removed else "nothing"
    print_text(f"freed {total}.")


cache_app.command("list")(list_command)
cache_app.command("clear")(clear_command)


def table_dict(table: "CachedTable") -> dict[str, Any]:
    """Return a table as plain values."""
    values = asdict(table)
    return {**values, "created": _time(table.created), "last_used": _time(table.last_used)}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
