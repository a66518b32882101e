import numpy as np

from mauc.data.source import StripeMemory, stripe_array, stripe_memory


def test_memory_is_used_again_when_nothing_lies_in_it():
    memory = StripeMemory()
    first = memory.array((4, 100), np.float32)
    row = first[2]
    row[:] = 7
    place = first.__array_interface__["data"][0]
    del first
    second = memory.array((4, 100), np.float32)
    second[:] = 1
    assert (row == 7).all()
    assert second.__array_interface__["data"][0] != place
    del row
    assert memory.array((3, 100), np.float32).__array_interface__["data"][0] == place


def test_buffers_of_another_size_are_let_go():
    memory = StripeMemory()
    memory.array((1000, 1000), np.float64)
    memory.array((10,), np.int8)
    assert sum(map(len, memory._buffers)) == 10


def test_active_in_its_thread_only():
    memory = StripeMemory()
    with stripe_memory(memory):
        held = stripe_array((5, 6), np.int16)
    assert held.shape == (5, 6)
    assert held.base is memory._buffers[0]
    assert stripe_array((5, 6), np.int16).base is None
