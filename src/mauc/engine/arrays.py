"""Read-only views for kernels, and the numbering of class pairs."""


def read_only(array):
    """Return a read-only view."""
    # A view has a flag of its own; with all inputs read-only a kernel is compiled once.
    view = array.view()
    view.flags.writeable = False
    return view


def n_pairs_of(n_classes):
    """Return the number of class pairs, c (c - 1) / 2."""
    return n_classes * (n_classes - 1) // 2


def pair_index(i, j, n_classes):
    """Return the index of the pair i < j in the order (0, 1), (0, 2), ..., (c-2, c-1)."""
    return i * (2 * n_classes - i - 1) // 2 + j - i - 1
