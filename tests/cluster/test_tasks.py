"""What is sent to workers is sent again if one of them dies meanwhile."""

import pytest

from mauc.cluster import tasks


class DyingWorker:
    """A client whose first attempts to send fail."""

    status = "running"

    def __init__(self, n_failures):
        self.n_left = n_failures

    def scatter(self, value, **_):
        self.n_left -= 1
        if self.n_left >= 0:
            raise OSError("Stream is closed")
        return value

    def wait_for_workers(self, n_workers, timeout):
        pass

    def nthreads(self):
        return {"tcp://127.0.0.1:1": 1}


def test_value_is_sent_again(monkeypatch):
    monkeypatch.setattr(tasks.time, "sleep", lambda _: None)
    assert tasks.send(DyingWorker(2), "labels") == "labels"
    with pytest.raises(OSError, match="Stream is closed"):
        tasks.send(DyingWorker(9), "labels")
