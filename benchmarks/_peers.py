"""What the benchmarks against other programs share: their data, their clocks, their absence."""

import importlib
import importlib.metadata
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from _common import load, print_row

WEKA_JARS = ("/usr/share/java/weka.jar", "/usr/share/weka/weka.jar")
WEKA_DRIVER = Path(__file__).parents[1] / "tests" / "golden" / "weka" / "WekaRef.java"

CPU = 1  #: column of the processor seconds in what `time_wall_and_cpu` returns
_TURN_SECONDS = 0.15


def load_shapes():
    """Return the two problems of the ReliefF and mRMR benchmarks, by name, in C order.

    The random one has 5 classes, whose means lie up to half a standard deviation apart from
    one to the next, differently far in every feature.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 2000)
    shifts = 0.5 * rng.random(200) * rng.permutation(5)[:, np.newaxis]
    random_X = rng.standard_normal((2000, 200)) + shifts[y]
    X, usps_y, source = load("usps", np.float64)
    return {
        "random 2000 x 200 x 5": (random_X, y),
        f"{source} usps": (np.ascontiguousarray(X), usps_y),
    }


def import_peer(module, package):
    """Return a module, or None with a printed reason where it cannot be imported."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # a peer too old for its dependencies can fail in any way
        print(f"  {package} skipped: {type(error).__name__}: {error}")
        return None


def version(package):
    """Return name and version of an installed package."""
    return f"{package} {importlib.metadata.version(package)}"


def time_wall_and_cpu(*contestants, n_repeats=9, n_warm=1):
    """Return the least wall-clock and the least processor seconds of each contestant.

    They run in turns; a turn of a short one is many runs, up to `_TURN_SECONDS`. On a busy
    machine a run of seconds cannot dodge the other load while one of milliseconds can, so that
    wall-clock ratios flatter the shorter one; processor time does not, but it does not show
    how well threads are used.

    Returns
    -------
    seconds : ndarray of shape (n_contestants, 2)
        Wall clock, and processor time of all threads of this process.
    """
    seconds = np.full((len(contestants), 2), np.inf)
    for turn in range(n_warm + n_repeats):
        for place, contestant in enumerate(contestants):
            # Threads of the contestant before may still be spinning.
            time.sleep(0.02)
            runs = _run_one_turn(contestant)
            if turn >= n_warm:
                seconds[place] = np.minimum(seconds[place], runs)
    return seconds


def _run_one_turn(contestant):
    least, end = np.full(2, np.inf), time.perf_counter() + _TURN_SECONDS
    while True:
        wall, cpu = time.perf_counter(), time.process_time()
        contestant()
        least = np.minimum(least, (time.perf_counter() - wall, time.process_time() - cpu))
        if time.perf_counter() > end:
            return least


def print_rows(measure, ours, against, theirs, bar):
    """Print two rows of wall-clock and processor seconds, the same clock for both sides."""
    for clock, mine, other in zip(("wall", "CPU"), ours, theirs, strict=True):
        print_row(f"{measure}, {clock}", mine, against, other, bar)


def find_weka():
    """Return the path of weka.jar, or None with a printed reason.

    The environment variable WEKA_JAR goes before the places where Debian puts it.
    """
    for program in ("java", "javac"):
        if shutil.which(program) is None:
            print(f"  WEKA skipped: no {program} (Debian: default-jdk-headless)")
            return None
    for path in (os.environ.get("WEKA_JAR", ""), *WEKA_JARS):
        if path and Path(path).is_file():
            return path
    print("  WEKA skipped: no weka.jar (Debian: package weka; or set WEKA_JAR)")
    return None


class WekaClock:
    """Times WEKA's evaluators and classifiers inside a Java virtual machine.

    Parameters
    ----------
    jar : str
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    """

    def __init__(self, jar, X, y):
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name)
        self._classpath = os.pathsep.join((jar, self._folder.name))
        write_arff(self._path / "data.arff", X, y)
        subprocess.run(
            ["javac", "-nowarn", "-cp", jar, "-d", self._folder.name, str(WEKA_DRIVER)],
            check=True,
            capture_output=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def seconds(self, *evaluators, n_passes=3):
        """Return the seconds of each evaluator or classifier, all in one virtual machine.

        They are "chi", "su" or "name=class and options".

        A pass runs each three times, and the least processor time of its thread counts:
        without the time to read the data and to start Java, nor that of other threads. On a
        busy machine the compiler of Java lags behind, so that one pass is too few.
        """
        table = self._path / "seconds.csv"
        table.unlink(missing_ok=True)
        subprocess.run(
            [
                "java",
                "-Xmx4g",
                "-cp",
                self._classpath,
                "WekaRef",
                "time",
                str(self._path / "data.arff"),
                "-",
                str(table),
                *evaluators * n_passes,
            ],
            check=True,
            capture_output=True,
        )
        rows = [line.split(",") for line in table.read_text().splitlines()]
        names = [what.partition("=")[0] for what in evaluators]
        return [min(float(row[7]) for row in rows if row[4] == name) for name in names]


def write_arff(path, X, y):
    """Write numeric columns and a nominal class as a file that WEKA reads."""
    codes = np.unique(y, return_inverse=True)[1]
    with open(path, "w") as file:
        file.write("@relation data\n")
        file.writelines(f"@attribute f{j} numeric\n" for j in range(X.shape[1]))
        labels = ",".join(f"c{code}" for code in range(codes.max() + 1))
        file.write(f"@attribute class {{{labels}}}\n@data\n")
        line = ",".join(["%.9g"] * X.shape[1]) + ",c%d\n"
        file.writelines(
            line % (*row, code) for row, code in zip(X.tolist(), codes.tolist(), strict=True)
        )
