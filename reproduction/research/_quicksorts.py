"""Quicksorts of libraries and textbooks, as functions of a comparator; see _comparison_sorts."""


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
