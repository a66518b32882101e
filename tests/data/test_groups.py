"""Columns that look like groups, and those that do not."""

import numpy as np
import pytest

from mauc.data.rows import looks_like_group

N, RNG = 60, np.random.default_rng(0)
ROWS = np.repeat(np.arange(N), 5)
UNEVEN = np.repeat(np.arange(N), RNG.integers(2, 9, N))
LABELS = RNG.integers(0, 2, N)  # of the values
ANY = RNG.integers(0, 2, 5 * N)  # of the rows


@pytest.mark.parametrize(
    ("values", "codes", "options", "is_group"),
    [
        (ROWS, LABELS[ROWS], {}, True),
        (UNEVEN, LABELS[UNEVEN], {}, True),
        (ROWS, np.sort(LABELS)[ROWS], {}, True),  # even, though ordered
        (UNEVEN, np.sort(LABELS)[UNEVEN], {}, False),  # a very good feature
        (UNEVEN, np.sort(LABELS)[UNEVEN], {"is_nominal": True}, True),
        (ROWS, ANY, {}, False),  # an age, a count
        (ROWS, ANY, {"name": "patient_id"}, True),
        (ROWS, ANY, {"name": "PatientNo"}, True),
        (ROWS, ANY, {"name": "subject"}, True),
        (ROWS, ANY, {"name": "patient_age"}, False),
        (ROWS + 0.5, ANY, {"name": "patient"}, False),
        (np.arange(5 * N), ANY, {"name": "id"}, False),  # a row each
        (ROWS % 5, LABELS[ROWS], {"name": "category_id"}, False),  # few values
        (ROWS % 5, LABELS[ROWS], {"name": "subject_id"}, True),
        (np.repeat(np.arange(10), 60), np.repeat(LABELS[:10], 60), {}, False),  # many rows
        (ROWS, (ROWS == 3).astype(int), {}, False),  # one class nearly everywhere
        (np.full(50, np.nan), ANY[:50], {}, False),
    ],
)
def test_cases(values, codes, options, is_group):
    values = values.astype(float)
    assert looks_like_group(values, codes, **options) == is_group
    shuffled = RNG.permutation(len(values))
    assert looks_like_group(values[shuffled], codes[shuffled], **options) == is_group
    with_gaps = np.append(values, [np.nan] * 3)
    assert looks_like_group(with_gaps, np.append(codes, [0, 1, 0]), **options) == is_group
