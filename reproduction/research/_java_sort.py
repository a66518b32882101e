"""Sort scores in Java, with a comparator to which NaN equals all: old and new Collections.sort."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCE = """
import java.util.*;
class Rank {
    public static void main(String[] names) throws Exception {
        List<double[]> items = new ArrayList<>();
        Scanner lines = new Scanner(System.in);
        for (int i = 0; lines.hasNextLine(); i++)
            items.add(new double[] {i, Double.parseDouble(lines.nextLine())});
        Collections.sort(items, new Comparator<double[]>() {
            public int compare(double[] a, double[] b) {
                return a[1] > b[1] ? -1 : a[1] < b[1] ? 1 : 0;
            }
        });
        for (double[] item : items) System.out.println((int) item[0]);
    }
}
"""


def java_order(scores, *, is_legacy):
    """Return the places of the scores in descending order, as Java sorts them.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    is_legacy : bool
        Whether by the merge sort of Java's versions up to 6, which later ones keep as an option,
        or by the sort of the Java on the path.

    Returns
    -------
    order : ndarray of shape (n,), or None
        None if Java finds that the comparator is no order.
    """
    flag = str(is_legacy).lower()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "Rank.java"
        source.write_text(SOURCE)
        done = subprocess.run(
            ["java", f"-Djava.util.Arrays.useLegacyMergeSort={flag}", str(source)],
            input="\n".join("NaN" if np.isnan(score) else repr(float(score)) for score in scores),
            capture_output=True,
            text=True,
        )
    if "violates its general contract" in done.stderr:
        return None
    done.check_returncode()
    return np.array(done.stdout.split(), dtype=int)
