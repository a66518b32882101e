"""`mauc datasets`, `mauc cache`, `mauc methods` and `mauc warmup`: what there is, and upkeep."""

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from mauc.checks import unknown_choice
from mauc.cli import common, show
from mauc.cli.fitting import NOT_SET
from mauc.exceptions import MaucError

if TYPE_CHECKING:
    from mauc.datasets import Entry
    from mauc.io.cache import CachedTable


@click.group("datasets", no_args_is_help=True)
def datasets_group() -> None:
    """List, describe and download data sets."""


@click.group("cache", no_args_is_help=True)
def cache_group() -> None:
    """List and remove the columns of large files that are kept on disk."""


@datasets_group.command("list", cls=common.Command)
def list_sets(as_json: bool) -> None:
    """List the registered data sets.

    Example: mauc datasets list
    """
    from mauc.datasets import list_datasets

    entries = list_datasets()
    if as_json:
        show.print_json({"datasets": [entry_dict(entry) for entry in entries]}, "datasets-list-1")
        return
    numbers = ("samples", "features", "classes")
    table = show.make_table("name", *numbers, "where", "title", right=numbers)
    for entry in entries:
        counts = (entry.n_samples, entry.n_features, entry.n_classes)
        shown = ["?" if count is None else count for count in counts]
        show.add_row(table, entry.name, *shown, place_of(entry), entry.title)
    show.print_table(table)


@datasets_group.command("info", cls=common.Command)
@click.argument("name", default=common.DEFAULT_DATA)
def describe_set(name: str, as_json: bool) -> None:
    """Describe the data set NAME: origin, licence, classes.

    Example: mauc datasets info usps
    """
    import numpy as np

    from mauc.datasets import dataset_info, load_dataset

    values = entry_dict(dataset_info(name))
    if values["where"] != "to fetch":
        dataset = load_dataset(name)
        labels, counts = np.unique(dataset.y, return_counts=True)
        values["class_samples"] = {
            str(label): int(count) for label, count in zip(labels, counts, strict=True)
        }
        values["fingerprint"] = dataset.fingerprint()
    if as_json:
        show.print_json(values, "datasets-info-1")
        return
    for key, value in values.items():
        if value in (None, "", ()):
            continue
        if isinstance(value, dict):
            value = ", ".join(f"{label}: {count}" for label, count in value.items())
        elif isinstance(value, tuple):
            value = ", ".join(value)
        show.print_text(f"{key.replace('_', ' ') + ':':<14} {value}")


@datasets_group.command("fetch", cls=common.Command)
@click.argument("name")
@click.option("--force", is_flag=True, help="Download it again.")
def fetch_set(name: str, force: bool, as_json: bool) -> None:
    """Download the data set NAME into the cache and check it.

    Example: mauc datasets fetch usps
    """
    from mauc.datasets import dataset_info, fetch

    path = fetch(name, force=force)
    entry = dataset_info(name)
    if as_json:
        show.print_json({"path": path, **entry_dict(entry)}, "datasets-fetch-1")
        return
    show.print_text(f"{name} is in {path}")
    show.print_text(f"from {', '.join(entry.origins)}; licence: {entry.licence}")


def place_of(entry: "Entry") -> str:
    """Return where a data set is: bundled, here (folder or cache) or to fetch."""
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
    names = ("n_samples", "n_features", "n_classes", "origins", "licence", "versus_paper")
    known = {name: getattr(entry, name) for name in names}
    return {"name": entry.name, "title": entry.title, "where": place_of(entry), **known}


@cache_group.command("list", cls=common.Command)
def list_caches(as_json: bool) -> None:
    """List the files whose columns are kept, the one that was used last first.

    Example: mauc cache list
    """
    from mauc.io.cache import columns_folder, list_caches
    from mauc.memory import format_bytes

    tables = list_caches()
    if as_json:
        show.print_json({"tables": [table_dict(table) for table in tables]}, "cache-list-1")
        return
    if not tables:
        show.print_text(f"{columns_folder()} holds no columns.")
        return
    numbers = ("rows", "columns", "size")
    shown = show.make_table("name", *numbers, "last used", "source is", "source", right=numbers)
    for table in tables:
        show.add_row(
            shown,
            table.name,
            f"{table.n_samples:,}",
            f"{table.n_features:,}",
            format_bytes(table.n_bytes),
            _time(table.last_used)[:16].replace("T", " "),
            table.state,
            table.source,
        )
    show.print_table(shown)
    total = format_bytes(sum(table.n_bytes for table in tables))
    show.print_text(f"{total} in {columns_folder()}; mauc cache clear NAME removes one, --all all.")


@cache_group.command("clear", cls=common.Command)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="All tables.")
@click.option(
    "--older-than", metavar="DAYS", type=float, help="Only those not used for this many days."
)
def clear_caches(
    names: tuple[str, ...], every: bool, older_than: float | None, as_json: bool
) -> None:
    """Remove columns that are kept on disk; they are made again when they are needed.

    NAME is a table by its name, or by the path of its file.

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
        show.print_json({"tables": [table_dict(table) for table in removed]}, "cache-clear-1")
        return
    for table in removed:
        show.print_text(f"removed {table.name} ({table.source}), {format_bytes(table.n_bytes)}")
    total = format_bytes(sum(table.n_bytes for table in removed)) if removed else "nothing"
    show.print_text(f"freed {total}.")


def table_dict(table: "CachedTable") -> dict[str, Any]:
    """Return a table as plain values."""
    values = asdict(table)
    return {**values, "created": _time(table.created), "last_used": _time(table.last_used)}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


@common.command()
def methods(as_json: bool) -> None:
    """List the selectors and classifiers with what they accept and their options.

    Example: mauc methods
    """
    from mauc.registry import CLASSIFIERS, PEERS, SELECTORS

    listed = {
        "selectors": [_describe(entry) for entry in SELECTORS.values()],
        "classifiers": [_describe(entry) for entry in (CLASSIFIERS | PEERS).values()],
    }
    if as_json:
        show.print_json(listed, "methods-1")
        return
    for kind, how in (("selector", " (--set)"), ("classifier", "")):
        table = show.make_table(kind, "in tables", "measure", "accepts")
        options = show.make_table(kind, f"options{how}")
        for row in listed[f"{kind}s"]:
            accepted = ", ".join(row["accepts"]) or "-"
            show.add_row(table, row["name"], row["label"], row["measure"], accepted)
            if row["options"]:
                given = [f"{name}={value}" for name, value in row["options"].items()]
                show.add_row(options, row["name"], ", ".join(given))
        show.print_table(table)
        show.print_table(options)


def _describe(entry: Any) -> dict[str, Any]:
    hidden = set(NOT_SET) | set(entry.options)
    options = {name: value for name, value in entry().get_params().items() if name not in hidden}
    return {
        "name": entry.name,
        "label": entry.label,
        "class": entry.class_name,
        "measure": entry.measure,
        "accepts": entry.accepts.names(),
        "options": options,
        "is_in_paper": entry.is_in_paper,
    }


@common.command()
@click.option(
    "-m",
    "--methods",
    metavar="NAMES",
    help="Selectors and classifiers, comma-separated; all by default.",
)
@common.workers_option
@common.progress_option
def warmup(methods: str | None, jobs: int, progress: str, as_json: bool) -> None:
    """Compile the loops of all methods now, in parallel, and tell where they are kept.

    Without it each method compiles its loops when it is first called, which takes seconds.

    Example: mauc warmup
    """
    from mauc.compile import find_cache

    find_cache()  # if there is none, one error says so, before a warning does
    from mauc.precompile import warmup

    names = None if methods is None else common.words_of(methods, "--methods")
    summary = warmup(names, n_jobs=jobs, progress=progress)
    if as_json:
        show.print_json(asdict(summary), "warmup-1")
    else:
        show.print_text(str(summary))


@common.command("schema")
@click.argument("name", required=False)
def print_schema(name: str | None, as_json: bool) -> None:
    """Print the JSON Schema of what a command prints with --json, or list the schemas.

    NAME is a command, such as select or "datasets list". JSON names its schema in "schema", as
    mauc/select-1; the number grows when a field is renamed, removed or gets another meaning.

    Example: mauc schema select
    """
    import json
    from importlib.resources import files

    folder = files("mauc") / "schemas"
    known = sorted(
        file.name.removesuffix(".json") for file in folder.iterdir() if ".json" in file.name
    )
    if name is None:
        titles = {one: json.loads((folder / f"{one}.json").read_text())["title"] for one in known}
        if as_json:
            show.print_json({"schemas": titles}, "schema-1")
            return
        table = show.make_table("schema", "of")
        for one, title in titles.items():
            show.add_row(table, one, title)
        show.print_table(table)
        return
    wanted = name.removeprefix("mauc/").replace(" ", "-")
    found = [one for one in known if wanted in (one, one.rpartition("-")[0])]
    if not found:
        raise unknown_choice("NAME", name, [one.rpartition("-")[0] for one in known])
    show.print_json(json.loads((folder / f"{found[-1]}.json").read_text(encoding="utf-8")))
