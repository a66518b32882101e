"""A source of columns for tests of clusters: the columns of a .npy file, by path."""

import os
import time
from pathlib import Path
from uuid import uuid4

import numpy as np

from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError


class FileSource(ColumnSource):
    """Columns that lie in a file of shape (n_features, n_samples).

    `pause` are seconds that every read takes; reads leave a file each in the folder `log`.
    """

    def __init__(self, path, *, pause=0.0, log=None, **options):
        self.path, self.pause, self.log = str(path), pause, log
        table = np.load(self.path, mmap_mode="r")
        super().__init__(path, table.shape[1], [table.dtype] * table.shape[0], **options)

    def read(self, places):
        if self.log is not None:
            (Path(self.log) / uuid4().hex).touch()
        time.sleep(self.pause)
        table = np.load(self.path, mmap_mode="r")
        return [np.array(table[j]) for j in places]

    def check_unchanged(self):
        if not os.path.exists(self.path):
            raise MaucError(f"{self.path} is not there.")
