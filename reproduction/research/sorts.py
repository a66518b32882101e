"""Sorts of libraries and textbooks as functions of a comparator, and Java's own.

Every sort takes a comparator of two item numbers and the number of items, and returns the item
numbers in the order it leaves them in. They index and compare as their models do, since with a
comparator that is no order (NaN) the result depends on each comparison made; bounds are checked
where a model would run off the array.
"""

import subprocess
import tempfile
from functools import cmp_to_key
from pathlib import Path

import numpy as np

#: sorts scores with a comparator to which NaN equals all, by the old or the new Collections.sort
JAVA = """
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


def merge_down(compare, n, *, small=1, bigger="right", takes_equal="left"):
    """Sort halves, then merge them; insertion sort below `small` items.

    The defaults are the C library's qsort in glibc; small=7 is Java's sort of objects up
    to version 6. Java also skips a merge if the halves are in order already.
    """
    skips = small > 1

    def sort(items):
        if len(items) < max(small, 2):
            return _insert(compare, items)
        half = (len(items) + (bigger == "left")) // 2
        left, right = sort(items[:half]), sort(items[half:])
        if skips and compare(left[-1], right[0]) <= 0:
            return left + right
        return _merge(compare, left, right, takes_equal)

    return sort(list(range(n)))


def merge_up(compare, n):
    """Merge runs of 1, 2, 4 ... items."""
    runs = [[item] for item in range(n)]
    while len(runs) > 1:
        odd = [runs[-1]] if len(runs) % 2 else []
        pairs = zip(runs[::2], runs[1::2], strict=False)
        runs = [_merge(compare, left, right, "left") for left, right in pairs] + odd
    return runs[0]


def _merge(compare, left, right, takes_equal):
    merged, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        sign = compare(left[i], right[j])
        if sign < 0 or (sign == 0 and takes_equal == "left"):
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def _insert(compare, items):
    for i in range(1, len(items)):
        j = i
        while j > 0 and compare(items[j - 1], items[j]) > 0:
            items[j - 1], items[j] = items[j], items[j - 1]
            j -= 1
    return items


def insertion(compare, n):
    """Let each item sink while the one before it is larger; the same as bubble sort."""
    return _insert(compare, list(range(n)))


def insertion_from_front(compare, n):
    """Put each item before the first that is larger."""
    items = []
    for item in range(n):
        place = next((k for k, other in enumerate(items) if compare(item, other) < 0), len(items))
        items.insert(place, item)
    return items


def binary_insertion(compare, n):
    """Look for the place of each item by halving."""
    items = []
    for item in range(n):
        low, high = 0, len(items)
        while low < high:
            middle = (low + high) // 2
            if compare(item, items[middle]) < 0:
                high = middle
            else:
                low = middle + 1
        items.insert(low, item)
    return items


def selection(compare, n):
    """Swap the least of the rest to the front; items that compare with nothing stay."""
    items = list(range(n))
    for i in range(n):
        least = i
        for j in range(i + 1, n):
            if compare(items[j], items[least]) < 0:
                least = j
        items[i], items[least] = items[least], items[i]
    return items


def shell(compare, n):
    """Insertion sort over gaps n / 2, n / 4 ... 1."""
    items, gap = list(range(n)), n // 2
    while gap:
        for i in range(gap, n):
            j = i
            while j >= gap and compare(items[j - gap], items[j]) > 0:
                items[j - gap], items[j] = items[j], items[j - gap]
                j -= gap
        gap //= 2
    return items


def heap(compare, n):
    """Build a heap with the largest on top, then take it off n times."""
    items = list(range(n))

    def sink(i, end):
        while 2 * i + 1 < end:
            child = 2 * i + 1
            if child + 1 < end and compare(items[child], items[child + 1]) < 0:
                child += 1
            if not compare(items[i], items[child]) < 0:
                return
            items[i], items[child] = items[child], items[i]
            i = child

    for i in range(n // 2 - 1, -1, -1):
        sink(i, n)
    for end in range(n - 1, 0, -1):
        items[0], items[end] = items[end], items[0]
        sink(0, end)
    return items


def priority_queue(compare, n):
    """Take the least of a binary heap n times (Java's PriorityQueue)."""
    queue, order = [], []
    for item in range(n):
        place = len(queue)
        queue.append(item)
        while place and not compare(item, queue[(place - 1) // 2]) >= 0:
            queue[place] = queue[(place - 1) // 2]
            place = (place - 1) // 2
        queue[place] = item
    while queue:
        order.append(queue[0])
        item, place = queue.pop(), 0
        while place < len(queue) // 2:
            child = 2 * place + 1
            if child + 1 < len(queue) and compare(queue[child], queue[child + 1]) > 0:
                child += 1
            if compare(item, queue[child]) <= 0:
                break
            queue[place] = queue[child]
            place = child
        if queue:
            queue[place] = item
    return order


def timsort(compare, n):
    """Python's own sort, also Java's of objects from version 7 on (with other run lengths)."""
    return sorted(range(n), key=cmp_to_key(compare))


def search_tree(compare, n):
    """Read a binary search tree in order; equal items go right."""
    root = [0, None, None]
    for item in range(1, n):
        node = root
        while True:
            side = 1 if compare(item, node[0]) < 0 else 2
            if node[side] is None:
                node[side] = [item, None, None]
                break
            node = node[side]
    order, above, node = [], [], root
    while above or node:
        while node:
            above.append(node)
            node = node[1]
        node = above.pop()
        order.append(node[0])
        node = node[2]
    return order


def quick_middle(compare, n):
    """Pivot in the middle, pointers from both ends (Hoare; WEKA up to 3.4)."""
    items = list(range(n))

    def sort(left, right):
        i, j, pivot = left, right, items[(left + right) // 2]
        while i <= j:
            while i < right and compare(items[i], pivot) < 0:
                i += 1
            while j > left and compare(items[j], pivot) > 0:
                j -= 1
            if i <= j:
                _swap(items, i, j)
                i, j = i + 1, j - 1
        if left < j:
            sort(left, j)
        if i < right:
            sort(i, right)

    sort(0, n - 1)
    return items


def quick_last(compare, n):
    """Pivot last, one pointer (Lomuto)."""
    items = list(range(n))

    def sort(left, right):
        if left >= right:
            return
        end = left
        for j in range(left, right):
            if compare(items[j], items[right]) <= 0:
                _swap(items, end, j)
                end += 1
        _swap(items, end, right)
        sort(left, end - 1)
        sort(end + 1, right)

    sort(0, n - 1)
    return items


def quick_first(compare, n):
    """Pivot first, holes filled from both ends."""
    items = list(range(n))

    def sort(left, right):
        if left >= right:
            return
        i, j, pivot = left, right, items[left]
        while i < j:
            while i < j and compare(items[j], pivot) >= 0:
                j -= 1
            if i < j:
                items[i] = items[j]
                i += 1
            while i < j and compare(items[i], pivot) <= 0:
                i += 1
            if i < j:
                items[j] = items[i]
                j -= 1
        items[i] = pivot
        sort(left, i - 1)
        sort(i + 1, right)

    sort(0, n - 1)
    return items


def quick_kernighan(compare, n):
    """Pivot from the middle to the front, one pointer (Kernighan and Ritchie)."""
    items = list(range(n))

    def sort(left, right):
        if left >= right:
            return
        _swap(items, left, (left + right) // 2)
        last = left
        for i in range(left + 1, right + 1):
            if compare(items[i], items[left]) < 0:
                last += 1
                _swap(items, last, i)
        _swap(items, left, last)
        sort(left, last - 1)
        sort(last + 1, right)

    sort(0, n - 1)
    return items


def quick_median_of_three(compare, n):
    """Median of first, middle and last as pivot (WEKA from 3.5 on, if it did not replace NaN)."""
    items = list(range(n))

    def order(i, j):
        if compare(items[i], items[j]) > 0:
            _swap(items, i, j)

    def sort(left, right):
        if right <= left:
            return
        middle = left if right == left + 1 else (left + right) // 2
        order(left, middle)
        order(left, right)
        order(middle, right)
        if right - left < 3:
            return
        _swap(items, middle, right - 1)
        pivot, i, j = items[right - 1], left, right - 1
        while True:
            i, j = i + 1, j - 1
            while i < right and compare(items[i], pivot) < 0:
                i += 1
            while j > left and compare(items[j], pivot) > 0:
                j -= 1
            if i >= j:
                break
            _swap(items, i, j)
        _swap(items, i, right - 1)
        sort(left, i - 1)
        sort(i + 1, right)

    sort(0, n - 1)
    return items


def introsort(compare, n):
    """std::sort of GNU's C++ library: median of three down to 16 items, then insertion.

    The heap sort that it turns to when the recursion gets deep is left out.
    """
    items = list(range(n))

    def median(i, j, k):
        if compare(items[i], items[j]) < 0:
            if compare(items[j], items[k]) < 0:
                return j
            return k if compare(items[i], items[k]) < 0 else i
        if compare(items[i], items[k]) < 0:
            return i
        return k if compare(items[j], items[k]) < 0 else j

    def sort(first, last):
        while last - first > 16:
            _swap(items, first, median(first + 1, first + (last - first) // 2, last - 1))
            i, j = first + 1, last
            while True:
                while i < n and compare(items[i], items[first]) < 0:
                    i += 1
                j -= 1
                while j >= 0 and compare(items[first], items[j]) < 0:
                    j -= 1
                if i >= j:
                    break
                _swap(items, i, j)
                i += 1
            sort(i, last)
            last = i

    sort(0, n)
    for i in range(1, n):
        item, j = items[i], i
        if i < 16 and compare(item, items[0]) < 0:
            j = 0
        while j > 0 and compare(item, items[j - 1]) < 0:
            j -= 1
        items.insert(j, items.pop(i))
    return items


def quick_microsoft(compare, n):
    """Microsoft's qsort: median of three, selection of the largest in 8 items and fewer."""
    items = list(range(n))

    def select(low, high):
        for end in range(high, low, -1):
            largest = low
            for i in range(low + 1, end + 1):
                if compare(items[i], items[largest]) > 0:
                    largest = i
            _swap(items, largest, end)

    def sort(low, high):
        if high - low < 8:
            select(low, high)
            return
        middle = low + (high - low + 1) // 2
        for i, j in ((low, middle), (low, high), (middle, high)):
            if compare(items[i], items[j]) > 0:
                _swap(items, i, j)
        i, j = low, high
        while True:
            i += 1
            while i <= high and (i == middle or compare(items[i], items[middle]) <= 0):
                i += 1
            j -= 1
            while j > middle and compare(items[j], items[middle]) > 0:
                j -= 1
            if j < i:
                break
            _swap(items, i, j)
            if middle == j:
                middle = i
        while j > low and (j == middle or compare(items[j], items[middle]) == 0):
            j -= 1
        if low < j:
            sort(low, j)
        if i < high:
            sort(i, high)

    sort(0, n - 1)
    return items


def _swap(items, i, j):
    items[i], items[j] = items[j], items[i]


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
        source.write_text(JAVA)
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
