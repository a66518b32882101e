"""A source of columns for tests: an array that counts what is read of it."""

import numpy as np

from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError


class CountingSource(ColumnSource):
    """Columns of an array; `reads` lists the columns of every call of `read`."""

    def __init__(self, X, **options):
        super().__init__("an array", X.shape[0], [X.dtype] * X.shape[1], **options)
        self.X, self.reads = X, []

    def read(self, places):
        self.reads.append(places.tolist())
        return list(np.ascontiguousarray(self.X[:, places].T))


class BrokenSource(CountingSource):
    """The same with a column 50 that cannot be read."""

    def read(self, places):
        if 50 in places:
            raise MaucError("part 7 is broken.")
        return super().read(places)
