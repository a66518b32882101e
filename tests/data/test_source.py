import numpy as np

from mauc.data.source import StripePool, stripe_array


def test_memory_is_used_again_when_nothing_lies_in_it():
    pool = StripePool()
    first = pool.array((4, 100), np.float32)
    row = first[2]
    row[:] = 7
    place = first.__array_interface__["data"][0]
    del first
    second = pool.array((4, 100), np.float32)
    second[:] = 1
    assert (row == 7).all()
    assert second.__array_interface__["data"][0] != place
    del row
    assert pool.array((3, 100), np.float32).__array_interface__["data"][0] == place


def test_buffers_of_another_size_are_let_go():
    pool = StripePool()
    pool.array((1000, 1000), np.float64)
    assert sum(map(len, pool._free)) == 8_000_000
    held = pool.array((10,), np.int8)
    assert held.size == 10
    assert pool._free == []


def test_active_in_its_thread_only():
    pool = StripePool()
    with pool:
        held = stripe_array((5, 6), np.int16)
    assert held.shape == (5, 6)
    del held
    assert len(pool._free) == 1
    assert stripe_array((5, 6), np.int16).base is None
