"""`mauc datasets list | info | fetch`: the registry of data sets."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mauc.cli.common import DEFAULT_DATA, DebugOption, JsonOption, command
from mauc.cli.show import add_row, make_table, print_json, print_table, print_text
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.datasets import Entry

datasets_app = typer.Typer(
    name="datasets",
    help="List, describe and download data sets.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="A data set, see mauc datasets list.")
]


@command
def list_command(as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """List the registered data sets.

    Example: mauc datasets list
    """
    from mauc.datasets import list_datasets

    entries = list_datasets()
    if as_json:
        print_json([entry_dict(entry) for entry in entries])
        return
    numbers = ("samples", "features", "classes")
    table = make_table("name", *numbers, "where", "title", right=numbers)
    for entry in entries:
        counts = (entry.n_samples, entry.n_features, entry.n_classes)
        shown = ["?" if count is None else count for count in counts]
        add_row(table, entry.name, *shown, place_of(entry), entry.title)
    print_table(table)


@command
def info(
    name: NameArgument = DEFAULT_DATA, as_json: JsonOption = False, debug: DebugOption = False
) -> None:
    """Describe a data set: origin, licence, classes.

    Example: mauc datasets info usps
    """
    from mauc.datasets import dataset_info

    entry = dataset_info(name)
    values = entry_dict(entry)
    if values["where"] != "to fetch":
        values |= _loaded(entry)
    if as_json:
        print_json(values)
    else:
        _print_values(values)


def _print_values(values: dict[str, Any]) -> None:
    for key, value in values.items():
        if value in (None, "", []):
            continue
        title = f"{key.replace('_', ' ') + ':':<14}"
        if isinstance(value, dict):
            value = ", ".join(f"{label}: {count}" for label, count in value.items())
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        print_text(f"{title} {value}")


def _loaded(entry: "Entry") -> dict[str, Any]:
    """Return what is known of a data set that is on this machine."""
    import numpy as np

    from mauc.datasets import load_dataset

    dataset = load_dataset(entry.name)
    classes, counts = np.unique(dataset.y, return_counts=True)
    return {
        "class_samples": {
            str(label): int(count) for label, count in zip(classes, counts, strict=True)
        },
        "fingerprint": dataset.fingerprint(),
    }


@command
def fetch_command(
    name: NameArgument,
    force: Annotated[bool, typer.Option("--force", help="Download it again.")] = False,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Download a data set into the cache and check it.

    Example: mauc datasets fetch usps
    """
    from mauc.datasets import dataset_info, fetch

    path = fetch(name, force=force)
    entry = dataset_info(name)
    if as_json:
        print_json({"name": name, "path": path, **entry_dict(entry)})
        return
    print_text(f"{name} is in {path}")
    print_text(f"from {', '.join(entry.origins)}; licence: {entry.licence}")


datasets_app.command("list")(list_command)
datasets_app.command("info")(info)
datasets_app.command("fetch")(fetch_command)


def place_of(entry: "Entry") -> str:
    """Return where a data set is: bundled, here (folder or cache), or to fetch."""
    if entry.is_bundled:
        return "bundled"
    from mauc.io.registry import find_dataset

    try:
        find_dataset(entry.name)
    except MaucError:
        return "to fetch"
    return "here"


def entry_dict(entry: "Entry") -> dict[str, Any]:
    """Return an entry as plain values."""
    return {
        "name": entry.name,
        "title": entry.title,
        "where": place_of(entry),
        "n_samples": entry.n_samples,
        "n_features": entry.n_features,
        "n_classes": entry.n_classes,
        "origins": list(entry.origins),
        "licence": entry.licence,
        "versus_paper": entry.versus_paper,
    }
