"""How many columns are worked on together: a Problem in, the width of its blocks out."""

from mauc.problem.read_ahead import MEMORY_SHARE
from mauc.problem.source_columns import SourceColumns

# A block of columns and its copies fit into the second-level cache, and the number of scores of a
# block is limited, for problems with many classes.
_BLOCK_BYTES = 2**20
_BLOCK_SCORES = 2**20
# Where X lies row by row, columns of one cache line are read together: taken apart, each would
# read the line again. Tall columns limit that, and so do threads: they share few blocks badly.
_LINE_BYTES = 64
_ROW_BLOCK_BYTES = 2**24
_MIN_BLOCKS = 8
_ROW_CELLS = 2**23


def block_width(problem, n_columns, n_scores=1, *, is_dense=False, reads_rows=False):
    """Return how many columns make a block.

    Parameters
    ----------
    problem : Problem
    n_columns : int
        Of all blocks together.
    n_scores, is_dense, reads_rows
        As in `Problem.blocks`.
    """
    column_bytes = problem.X.dtype.itemsize * problem.n_samples
    block_bytes = _BLOCK_BYTES
    if isinstance(problem.X, SourceColumns):
        block_bytes = min(block_bytes, problem.X.source.memory // MEMORY_SHARE)
        column_bytes = max(column_bytes, int(problem.X.source.widths.max()) * problem.n_samples)
    width = min(block_bytes // column_bytes, 64)
    if problem.is_sparse and not is_dense:
        width = 256
    elif problem.is_by_rows and reads_rows:
        # Pieces of rows are read slower than rows; threads need them where there is much to do.
        n_pieces = min(4, 1 + n_columns * problem.n_samples // _ROW_CELLS)
        width = min(max(n_columns // n_pieces, 16), 512)
    elif problem.is_by_rows:
        in_line = min(_LINE_BYTES // problem.X.itemsize, _ROW_BLOCK_BYTES // column_bytes)
        width = max(width, min(in_line, n_columns // _MIN_BLOCKS))
    return max(1, min(width, _BLOCK_SCORES // n_scores))
