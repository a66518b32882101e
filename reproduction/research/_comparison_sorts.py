"""Sorts of libraries and textbooks but quicksorts, as functions of a comparator.

Every sort takes a comparator of two item numbers and the number of items, and returns the item
numbers in the order it leaves them in. They index and compare as their models do, since with a
comparator that is no order (NaN) the result depends on each comparison made; bounds are checked
where a model would run off the array.
"""

from functools import cmp_to_key


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
