"""Functions whose loops and recursions depend on sizes: a trace of each comes to an end."""
# ruff: noqa: F722, F821

import functools

import numpy as np


def quick_select(x: "N"):
    if len(x) <= 1:
        return x
    pivot = len(x) // 2
    return np.concatenate([quick_select(x[:pivot]), x[pivot : pivot + 1], quick_select(x[pivot + 1 :])])


def fold_halves(x: "N"):
    while len(x) > 1:
        half = len(x) // 2
        x = np.concatenate([x[:half] + x[half : 2 * half], x[2 * half :]])
    return x


def collatz_shrink(x: "N"):
    n = len(x)
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return x[:n]


def bisect_rows(x: "N, M"):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if middle * middle < len(x):
            low = middle + 1
        else:
            high = middle
    return x[:low]


def bisect_values(x: "N", y: "M"):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < y[0]:
            low = middle + 1
        else:
            high = middle
    return x[:low]


def sliding_pairs(x: "N", y: "M"):
    return np.array([x[i : i + len(y)] @ y for i in range(len(x) - len(y) + 1)])


def sliding_while(x: "N", n: "s:K"):
    start, found = 0, []
    while start + n <= len(x):
        found.append(x[start : start + n].mean())
        start += max(n, 1)
    return np.array(found)


def odd_even_sort(x: "N"):
    x = x.copy()
    for turn in range(len(x)):
        for i in range(turn % 2, len(x) - 1, 2):
            low, high = np.minimum(x[i], x[i + 1]), np.maximum(x[i], x[i + 1])
            x[i], x[i + 1] = low, high
    return x


def bitonic(x: "N"):
    n = len(x)
    if n & (n - 1):
        raise ValueError("not a power of two")
    size = 2
    while size <= n:
        pairs = x.reshape(n // size, 2, size // 2)
        x = np.concatenate([np.minimum(pairs[:, 0], pairs[:, 1]), np.maximum(pairs[:, 0], pairs[:, 1])], 1).ravel()
        size *= 2
    return x


def longest_common(a: "N", b: "M"):
    table = np.zeros((len(a) + 1, len(b) + 1))
    for i in range(len(a)):
        for j in range(len(b)):
            table[i + 1, j + 1] = np.where(a[i] == b[j], table[i, j] + 1, np.maximum(table[i, j + 1], table[i + 1, j]))
    return table[-1, -1]


def knapsack(values: "N", capacity: "s:K"):
    best = np.zeros(capacity + 1)
    for i in range(len(values)):
        for left in range(capacity, i, -1):
            best[left] = np.maximum(best[left], best[left - i - 1] + values[i])
    return best


def reduce_pieces(x: "N, M"):
    return functools.reduce(np.add, np.array_split(x, 3))


def reduce_rows(x: "N, M"):
    return functools.reduce(lambda a, b: np.concatenate([a, b[:1]]), list(x), np.zeros(0))


def reduce_matrices(x: "N, K, K"):
    return functools.reduce(np.matmul, x)


def haar(x: "N"):
    parts = []
    while len(x) >= 2:
        x = x[: len(x) // 2 * 2]
        parts.append((x[::2] - x[1::2]) / 2)
        x = (x[::2] + x[1::2]) / 2
    return parts


def radix_fft(x: "N"):
    n = len(x)
    if n == 1:
        return x.astype(complex)
    if n % 2:
        raise ValueError("not a power of two")
    even, odd = radix_fft(x[::2]), radix_fft(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + turned, even - turned])


def euclid_tiles(x: "N, M"):
    n, m = x.shape
    while m:
        n, m = m, n % m
    return x[:n, :n]


def fibonacci_sizes(x: "N"):
    a, b, parts = 0, 1, []
    while a + b <= len(x):
        parts.append(x[a : a + b].sum())
        a, b = b, a + b
    return np.array(parts)


def rounded_halves(x: "N"):
    n = len(x)
    while n > 1:
        n = n // 2 + n % 2
    return x[:n]


def ackermann(x: "N", y: "M"):
    def depth(m, n):
        if m == 0:
            return n + 1
        return depth(m - 1, 1) if n == 0 else depth(m - 1, depth(m, n - 1))

    return np.zeros(depth(min(len(x), 2), min(len(y), 2)))


def strassen(x: "N, N", y: "N, N"):
    n = len(x)
    if n <= 1:
        return x * y
    h = n // 2
    parts = [[strassen(x[:h, :h], y[:h, :h]), x[:h, h:] @ y[h:, :h]], [x[h:, :h] @ y[:h, h:], x[h:, h:] @ y[h:, h:]]]
    return parts[0][0] + parts[0][1]


def pyramid(x: "N, M"):
    levels = [x]
    while min(levels[-1].shape) > 1:
        last = levels[-1]
        levels.append(last[: last.shape[0] // 2 * 2 : 2, : last.shape[1] // 2 * 2 : 2])
    return levels[-1]
