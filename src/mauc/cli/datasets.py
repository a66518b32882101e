"""`mauc datasets list | info | fetch`: the registry of data sets."""

from typing import Annotated, Any

import numpy as np
import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from mauc.cli.common import (
    DebugOption,
    ForceOption,
    JsonOption,
    command,
    make_console,
    print_json,
)
from mauc.datasets import Entry, dataset_info, fetch, list_datasets, load_dataset
from mauc.exceptions import MaucError

datasets_app = typer.Typer(
    name="datasets", help="List, describe and download data sets.", no_args_is_help=True
)

NameArgument = Annotated[str, typer.Argument(help="The name of a data set.")]


@command
def list_command(as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """List the data sets that have a name.

    Example: mauc datasets list
    """
    entries = list_datasets()
    if as_json:
        print_json([entry_dict(entry) for entry in entries])
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in ("name", "samples", "features", "classes", "where", "title"):
        table.add_column(head, justify="right" if head in ("samples", "features", "classes") else
                         "left", overflow="fold")  # fmt: skip
    for entry in entries:
        numbers = (entry.n_samples, entry.n_features, entry.n_classes)
        shown = ["?" if number is None else str(number) for number in numbers]
        table.add_row(entry.name, *shown, place_of(entry), Text(entry.title))
    make_console().print(table)


@command
def info(name: NameArgument, as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """Tell what a data set is, where it comes from, its licence and its classes.

    Example: mauc datasets info usps
    """
    entry = dataset_info(name)
    values = entry_dict(entry)
    if values["where"] != "to fetch":
        dataset = load_dataset(name)
        classes, counts = np.unique(dataset.y, return_counts=True)
        values["class_samples"] = {
            str(label): int(count) for label, count in zip(classes, counts, strict=True)
        }
        values["fingerprint"] = dataset.fingerprint()
    if as_json:
        print_json(values)
        return
    for key, value in values.items():
        if value in (None, "", []):
            continue
        if isinstance(value, dict):
            value = ", ".join(f"{label}: {count}" for label, count in value.items())
        elif isinstance(value, list | tuple):
            value = ", ".join(map(str, value))
        typer.echo(f"{key.replace('_', ' ') + ':':<14} {value}")


@command
def fetch_command(
    name: NameArgument, force: ForceOption = False, debug: DebugOption = False
) -> None:
    """Download a data set once, check it and keep it.

    Example: mauc datasets fetch usps
    """
    path = fetch(name, force=force)
    entry = dataset_info(name)
    typer.echo(f"{name} is in {path}")
    typer.echo(f"from {', '.join(entry.origins)}; licence: {entry.licence}")


datasets_app.command("list")(list_command)
datasets_app.command("info")(info)
datasets_app.command("fetch")(fetch_command)


def place_of(entry: Entry) -> str:
    """Return where a data set is: bundled, here (folder or cache), or to fetch."""
    if entry.is_bundled:
        return "bundled"
    from mauc.datasets.find import find_dataset

    try:
        find_dataset(entry.name)
    except MaucError:
        return "to fetch"
    return "here"


def entry_dict(entry: Entry) -> dict[str, Any]:
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
        "sha256": entry.sha256,
    }
