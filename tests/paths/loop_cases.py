# ruff: noqa - code as users write it
"""Functions that loop over sizes, each with its arguments for `symbcast.trace` and whether the answer is exact."""

import numpy as np


def stack_rows(x):
    return np.stack([x[i] for i in range(len(x))])


def add_rows(x):
    total = 0.0
    for row in x:
        total = total + row
    return total


def append_rows(x, w):
    out = []
    for row in x:
        out.append(row @ w)
    return np.array(out)


def pairs(x, y):
    return np.stack([a * b for a, b in zip(x, y)])


def numbered(x):
    out = np.zeros(len(x))
    for i, row in enumerate(x):
        out[i] = row.sum()
    return out


def batches(x):
    return np.concatenate([x[i : i + 4] * 2 for i in range(0, len(x), 4)])


def distances(x, y):
    return np.array([[np.sqrt(((a - b) ** 2).sum()) for b in y] for a in x])


def distances_in_place(x, y):
    out = np.empty((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = np.abs(x[i] - y[j]).sum()
    return out


def recurrent(x, h, w, u):
    states = []
    for t in range(x.shape[0]):
        h = np.tanh(x[t] @ w + h @ u)
        states.append(h)
    return np.stack(states), h


def smooth(x):
    s = x[0]
    out = [s]
    for t in range(1, len(x)):
        s = 0.9 * s + 0.1 * x[t]
        out.append(s)
    return np.array(out)


def centroids(x, labels, k):
    return np.stack([x[labels == j].mean(axis=0) for j in range(k)])


def weighted(x, w):
    total = np.zeros(x.shape[1:])
    for a, row in zip(w, x):
        total += a * row
    return total / w.sum()


def tokens(x):
    rows = (row / np.linalg.norm(row) for row in x)
    return np.vstack(list(rows))


def doubled_rows(x):
    def rows():
        for row in x:
            yield row * 2

    return np.stack(list(rows()))


def grow(x):
    out = np.zeros((0, x.shape[1]))
    for row in x:
        out = np.concatenate([out, row[None]])
    return out


def count(x):
    n = 0
    for _ in x:
        n += 2
    return np.zeros(n)


def total_of_means(x):
    return sum(row.mean() for row in x)


def backwards(x):
    return np.array([row for row in reversed(x)])


def moving(x, k):
    return np.array([x[i : i + k].mean() for i in range(len(x) - k + 1)])


def columns(x):
    return np.column_stack([x[:, j] - x[:, j].mean() for j in range(x.shape[1])])


def differences(x):
    out = []
    for i in range(len(x) - 1):
        out.append(x[i + 1] - x[i])
    return np.array(out)


def gram(x):
    n = len(x)
    k = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            k[i, j] = x[i] @ x[j]
    return k


def heads(x, w):
    return np.concatenate([x @ w[h] for h in range(w.shape[0])], axis=-1)


def norms(x):
    return np.array([float(len(row)) for row in x])


def powers(x, n):
    out = [np.ones_like(x)]
    for _ in range(n):
        out.append(out[-1] * x)
    return np.stack(out, axis=-1)


def matrix_power(a, n):
    out = np.eye(a.shape[0])
    for _ in range(n):
        out = out @ a
    return out


def mapped(x):
    return np.stack(list(map(lambda row: row[::2], x)))


def filled(x):
    return np.array([1.0] * len(x)) * x


def list_of_sizes(n):
    return np.array([i * 2 for i in range(n)]) + np.ones(n)


def outer_sum(x, y):
    rows = []
    for a in x:
        rows.append([a + b for b in y])
    return np.array(rows)


def early(x):
    for row in x:
        if row.sum() > 0:
            return row
    return np.zeros(x.shape[1])


def halves(x):
    while len(x) > 1:
        x = x[::2] + x[1::2]
    return x


def largest(x):
    best = x[0]
    for row in x:
        if row.max() > best.max():
            best = row
    return best


CASES = {
    stack_rows: ("N, D",),
    add_rows: ("N, D",),
    append_rows: ("N, D", "E, K"),
    pairs: ("N, D", "M, E"),
    numbered: ("N, D",),
    batches: ("N, D",),
    distances: ("N, D", "M, E"),
    distances_in_place: ("N, D", "M, E"),
    recurrent: ("T, B, D", "B, H", "D, H", "H, H"),
    smooth: ("N, D",),
    centroids: ("N, D", "M", "size K"),
    weighted: ("N, D", "M"),
    tokens: ("N, D",),
    doubled_rows: ("N, D",),
    grow: ("N, D",),
    count: ("N",),
    total_of_means: ("N, D",),
    backwards: ("N, D",),
    moving: ("N", "size K"),
    columns: ("N, D",),
    differences: ("N, D",),
    gram: ("N, D",),
    heads: ("B, D", "H, E, K"),
    norms: ("N, D",),
    powers: ("N", "size K"),
    matrix_power: ("N, M", "size K"),
    mapped: ("N, D",),
    filled: ("N",),
    list_of_sizes: ("size N",),
    outer_sum: ("N", "M"),
    early: ("N, D",),
    halves: ("N",),
    largest: ("N, D",),
}
