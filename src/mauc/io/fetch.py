"""Download a data set once, check it, and keep it where `load_dataset` finds it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mauc.data.nominal import get_column
from mauc.exceptions import MaucError
from mauc.files import write_atomic
from mauc.io.cache import file_digest, private_folder
from mauc.io.dataset import Dataset
from mauc.io.load import assemble, load_dataset
from mauc.io.options import ReadOptions
from mauc.io.registry import Entry, cached_path, dataset_info, find_in_folder, read_note
from mauc.io.table import Table
from mauc.io.write import write_table


def fetch(name: str, *, force: bool = False) -> Path:
    """Download a data set of the registry, unless it is on this machine.

    Parameters
    ----------
    name : str
        A name of `list_datasets`.
    force : bool, default=False
        Whether to download it again, and to accept other data than those of the first download.

    Returns
    -------
    path : Path
        The file: in the folder MAUC_DATA if it is there, which needs no network; otherwise
        in the folder MAUC_CACHE or the user's cache folder. Beside it ``NAME.json`` notes
        origin, licence, digest and fingerprint.

    Notes
    -----
    Data sets of OpenML are downloaded by `sklearn.datasets.fetch_openml`, which checks the digest
    that OpenML gives. What is downloaded must have the shape and class counts of the registry where
    these are known, and the fingerprint recorded by the first download.
    """
    entry = dataset_info(name)
    if entry.is_bundled:
        raise MaucError(f"the data set {name!r} is bundled; it needs no download.")
    known = find_in_folder(name)
    if known is None and not force:
        known = cached_path(name)
    if known is not None:
        return known
    cache = private_folder()
    download = _download_openml if entry.openml_id is not None else _download_file
    dataset = _check(entry, download(entry, cache / "downloads", force))
    recorded = (read_note(name) or {}).get("fingerprint")
    fingerprint = dataset.fingerprint()
    if recorded not in (None, fingerprint) and not force:
        raise MaucError(
            f"the download of {name!r} has the fingerprint {fingerprint}, but {recorded} was "
            f"recorded when it was first fetched; force accepts the new data."
        )
    path = write_table(dataset, cache / f"{name}.npz", force=True)
    note = {
        "name": name,
        "title": entry.title,
        "url": entry.url,
        "openml_id": entry.openml_id,
        "origins": list(entry.origins),
        "licence": entry.licence,
        "npz_sha256": file_digest(path),
        "fingerprint": fingerprint,
        "shape": [dataset.n_samples, dataset.n_features],
    }
    write_atomic(cache / f"{name}.json", json.dumps(note, indent=2) + "\n", force=True)
    return path


def _download_openml(entry: Entry, folder: Path, force: bool) -> Dataset:
    from sklearn import datasets

    from mauc.io.arrays import FrameSource

    what = f"the data set {entry.openml_id} of OpenML"
    try:
        bunch = datasets.fetch_openml(
            data_id=entry.openml_id, data_home=folder, as_frame=True, cache=not force
        )
    except ValueError as error:  # no such data set, or a wrong digest
        raise MaucError(f"{what} cannot be read: {error}") from error
    except OSError as error:
        raise _unreachable(what, error) from error
    names = [str(column) for column in bunch.data.columns]
    table = Table(what, FrameSource(bunch.data, what), names, labels=bunch.target)
    return assemble(table, ReadOptions(keep_ids=True), entry.name)


def _download_file(entry: Entry, folder: Path, force: bool) -> Dataset:
    import pooch
    from requests.exceptions import RequestException

    assert entry.url is not None
    name = f"{entry.name}{Path(entry.url).suffix}"
    if force:
        (folder / name).unlink(missing_ok=True)
    # pooch would log the digest and the folder of the file, which are ours.
    pooch.get_logger().setLevel("WARNING")
    try:
        raw = pooch.retrieve(entry.url, known_hash=None, fname=name, path=folder)
    except (RequestException, OSError) as error:
        raise _unreachable(entry.url, error) from error
    # Pixels that are never set are columns of the published data sets, too.
    return load_dataset(Path(raw), **{"keep_ids": True, **entry.reading})


def _unreachable(what: str, error: Exception) -> MaucError:
    return MaucError(
        f"{what} cannot be downloaded ({type(error).__name__}). Without network, put the data "
        f"into a folder as NAME.npz (arrays X, y, classes) and set MAUC_DATA to that folder."
    )


def _check(entry: Entry, dataset: Dataset) -> Dataset:
    """Return the features and rows that are wanted; raise if they are not those of the registry."""
    dataset = dataset.take([j for j in range(dataset.n_features) if not _is_identifier(dataset, j)])
    if entry.rows is not None:
        rows = slice(*entry.rows)
        dataset = replace(dataset, X=dataset.X[rows], y=dataset.y[rows])
    counts = np.sort(np.unique(dataset.y, return_counts=True)[1])[::-1].tolist()
    compared: tuple[tuple[str, Any, Any], ...] = (
        ("samples", entry.n_samples, dataset.n_samples),
        ("features", entry.n_features, dataset.n_features),
        ("classes", entry.n_classes, len(counts)),
        ("samples of each class", entry.class_counts, tuple(counts)),
    )
    for what, wanted, got in compared:
        if wanted is not None and wanted != got:
            raise MaucError(
                f"the download of {entry.name!r} has {got} {what}, wanted {wanted}: it was changed "
                f"at its origin. It is not kept."
            )
    return replace(dataset, name=entry.name)


def _is_identifier(dataset: Dataset, j: int) -> bool:
    """Whether a feature only names or numbers the samples."""
    if dataset.feature_names[j] in dataset.nominal_features:
        return bool(dataset.X.iloc[:, j].nunique() == dataset.n_samples)
    column = np.asarray(get_column(dataset.X, j))
    numbers = np.arange(dataset.n_samples)
    return bool((column == numbers).all() or (column == numbers + 1).all())
