"""A source of columns for tests of clusters: the columns of a .npy file, by path."""

import os
import time

import numpy as np

from mauc.exceptions import MaucError
from mauc.problem.source import ColumnSource


class FileSource(ColumnSource):
    """Columns that lie in a file of shape (n_features, n_samples); a pause before every read."""

    def __init__(self, path, *, pause=0.0, **options):
        self.path, self.pause = str(path), pause
        table = np.load(self.path, mmap_mode="r")
        super().__init__(path, table.shape[1], [table.dtype] * table.shape[0], **options)

    def read(self, places):
        time.sleep(self.pause)
        table = np.load(self.path, mmap_mode="r")
        return [np.array(table[j]) for j in places]

    def check_unchanged(self):
        if not os.path.exists(self.path):
            raise MaucError(f"{self.path} is not there.")
