"""Download a data set once, check it, and keep it where `load_dataset` finds it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mauc.datasets.cache import cache_folder, cached_path, file_digest, read_note
from mauc.datasets.dataset import Dataset, column_of
from mauc.datasets.find import find_in_folder
from mauc.datasets.load import load_dataset
from mauc.datasets.registry import OPENML, Entry, dataset_info
from mauc.datasets.writers import write_table
from mauc.exceptions import MaucError
from mauc.extras import optional_import


def fetch(name: str, *, force: bool = False) -> Path:
    """Download a data set of the registry, unless it is on this machine.

    Parameters
    ----------
    name : str
        A name of `list_datasets`.
    force : bool, default=False
        Whether to download it again, and to accept another file than the one recorded by the
        first download. A digest that the registry knows is checked always.

    Returns
    -------
    path : Path
        The file: in the folder MAUC_DATA if it is there, which needs no network; otherwise
        in the folder MAUC_CACHE or the user's cache folder. Beside it ``NAME.json`` notes
        origin, licence, digests and fingerprint.

    Notes
    -----
    Files of OpenML are found through its description of the data set, which also gives their
    MD5 digest. What is downloaded must have the SHA-256 digest of the registry or, where that is
    unknown, the one recorded by the first download, and the shape and class counts of the
    registry where these are known.
    """
    entry = dataset_info(name)
    if entry.is_bundled:
        raise MaucError(f"the data set {name!r} is bundled; it needs no download.")
    here = find_in_folder(name)
    if here is not None:
        return here
    if not entry.is_fetched:
        raise MaucError(
            f"the data set {name!r} cannot be fetched, as no address offers it ready to read: "
            f"`mauc datasets info {name}` tells where it is to be had."
        )
    if not force:
        kept = cached_path(name)
        if kept is not None:
            return kept
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MaucError(
            f"the cache folder {cache} cannot be made: {error.strerror}; set MAUC_CACHE."
        ) from error
    url, md5, reading = _locate(entry)
    raw = _download(url, cache / "downloads", f"{name}{_extension(entry, url)}", md5, force)
    digest = _check_digest(entry, raw, force)
    dataset = _read(entry, raw, reading)
    path = write_table(dataset, cache / f"{name}.npz", force=True)
    note = {
        "name": name,
        "title": entry.title,
        "url": url,
        "origins": list(entry.origins),
        "licence": entry.licence,
        "sha256": digest,
        "npz_sha256": file_digest(path),
        "fingerprint": dataset.fingerprint(),
        "shape": [dataset.n_samples, dataset.n_features],
    }
    (cache / f"{name}.json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
    return path


def _extension(entry: Entry, url: str) -> str:
    return ".arff" if entry.openml_id is not None else Path(url).suffix


def _locate(entry: Entry) -> tuple[str, str | None, dict[str, Any]]:
    """Return the address of the file, its MD5 digest if known, and how to read it."""
    if entry.openml_id is None:
        assert entry.url is not None
        return entry.url, None, entry.reading
    address = f"{OPENML}/api/v1/json/data/{entry.openml_id}"
    folder = cache_folder() / "downloads"
    # The description is small and its addresses change, so it is asked for every time.
    path = _download(address, folder, f"{entry.name}-description.json", None, force=True)
    try:
        described = json.loads(path.read_text(encoding="utf-8"))["data_set_description"]
        url = str(described["url"])
    except (ValueError, KeyError, TypeError) as error:
        raise MaucError(f"{address} did not answer with the description of a data set.") from error
    reading = {
        "format": "arff",
        "target": described.get("default_target_attribute"),
        "drop": [
            *_listed(described.get("row_id_attribute")),
            *_listed(described.get("ignore_attribute")),
        ],
        **entry.reading,
    }
    return url, described.get("md5_checksum"), reading


def _listed(given: Any) -> list[str]:
    """Return as a list what OpenML gives as nothing, a text with commas or a list."""
    texts = given.split(",") if isinstance(given, str) else given or []
    return [str(text).strip() for text in texts]


def _download(url: str, folder: Path, file_name: str, md5: str | None, force: bool) -> Path:
    import pooch

    requests = optional_import("requests", "downloads")
    path = folder / file_name
    if force:
        path.unlink(missing_ok=True)
    known = f"md5:{md5}" if md5 else None
    # pooch would log the digest and the folder of the file, which are ours.
    pooch.get_logger().setLevel("WARNING")
    try:
        return Path(pooch.retrieve(url, known_hash=known, fname=file_name, path=folder))
    except requests.exceptions.RequestException as error:
        raise MaucError(
            f"{url} cannot be downloaded ({type(error).__name__}). Without network, put the data "
            f"into a folder as NAME.npz (arrays X, y, classes) and set MAUC_DATA to that folder."
        ) from error
    except ValueError as error:  # a wrong digest; pooch has removed the file
        raise MaucError(
            f"the download of {url} does not have the MD5 digest that its origin gives; try again."
        ) from error


def _check_digest(entry: Entry, raw: Path, force: bool) -> str:
    digest = file_digest(raw)
    if entry.sha256 is not None and digest != entry.sha256:
        raw.unlink()
        raise MaucError(
            f"the download of {entry.name!r} has the SHA-256 digest {digest}, wanted "
            f"{entry.sha256}: it is broken or was changed at its origin. It is not kept."
        )
    recorded = (read_note(entry.name) or {}).get("sha256")
    if recorded is not None and digest != recorded and not force:
        raise MaucError(
            f"{raw} has the SHA-256 digest {digest}, but {recorded} was recorded when "
            f"{entry.name!r} was first fetched; force accepts the new file."
        )
    return digest


def _read(entry: Entry, raw: Path, reading: dict[str, Any]) -> Dataset:
    """Read a downloaded file and compare it with its entry in the registry."""
    # Pixels that are never set are columns of the published data sets, too.
    dataset = load_dataset(raw, **{"keep_ids": True, **reading})
    dataset = dataset.take([j for j in range(dataset.n_features) if not _is_identifier(dataset, j)])
    if entry.rows is not None:
        rows = slice(*entry.rows)
        dataset = replace(dataset, X=dataset.X[rows], y=dataset.y[rows])
    counts = np.sort(np.unique(dataset.y, return_counts=True)[1])[::-1].tolist()
    compared = (
        ("samples", entry.n_samples, dataset.n_samples),
        ("features", entry.n_features, dataset.n_features),
        ("classes", entry.n_classes, len(counts)),
        ("samples of each class", entry.class_counts, tuple(counts)),
    )
    for what, wanted, got in compared:
        if wanted is not None and wanted != got:
            raise MaucError(
                f"the download of {entry.name!r} has {got} {what}, wanted {wanted}: it was changed "
                f"at its origin. It is kept as {raw}, which can be loaded by its path."
            )
    return replace(dataset, name=entry.name)


def _is_identifier(dataset: Dataset, j: int) -> bool:
    """Whether a feature only names or numbers the samples."""
    if dataset.feature_names[j] in dataset.nominal_features:
        return bool(dataset.X.iloc[:, j].nunique() == dataset.n_samples)
    column = np.asarray(column_of(dataset.X, j))
    numbers = np.arange(dataset.n_samples)
    return bool((column == numbers).all() or (column == numbers + 1).all())
