"""Numbers of plain arrays: sorts, sweeps, AUCs of class pairs, moments, exact means."""

from mauc.compilation import prepare_numba

prepare_numba()
