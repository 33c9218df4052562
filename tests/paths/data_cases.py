# ruff: noqa - code as users write it
"""Functions whose scalars and branches data decide, and that take items of lists that loops fill, with arguments."""

import math

import numpy as np


def classes(labels):
    return np.zeros(labels.max() + 1)


def told_of(x):
    m = x.mean()
    if m > 0.5:
        return x[1:], f"big {m:.2f}"
    return x, "small %.3f" % m


def without_largest(x):
    k = int(x.argmax())
    return x[:k], x[k + 1 :]


def printed(x):
    lines = ["mean: {:.2f}".format(x.mean()), str(x.max()), f"{len(x.shape)} axes, {x.sum()!r:>8}"]
    "\n".join(lines)
    return x * 2


def labelled(x):
    return {"mean": f"{x.mean():.3f}", "rounded": round(float(x.mean()), 2)}


def rooted(x):
    return math.sqrt(x.mean()) * x


def counts(labels):
    found = []
    for k in range(labels.max() + 1):
        found.append((labels == k).sum())
    return np.array(found)


def scaled(x):
    try:
        peak = float(x.mean())
    except ValueError:
        return None
    return x if math.isnan(peak) else x / peak


def until_small(x):
    error = float("inf")
    while error > 1e-6:
        y = (x + 1 / x) / 2
        error = float(np.abs(y - x).max())
        x = y
    return x


def until_break(x):
    while True:
        x = x / 2
        if x.max() < 1:
            break
    return x


def at_most_fifty(x):
    for _ in range(50):
        x = x / 2
        if x.max() < 1e-3:
            return x[0]
    return x


def powers(x, w):
    while x.mean() > 1:
        x = x @ w
    return x


def all_large(x, y, z):
    for v in (x, y, z):
        if v.mean() <= 0.3:
            return None
    return x


def raised(x):
    raise ValueError(f"bad {x.max()}")


def box(mask):
    r = np.where(mask.any(axis=1))[0]
    return mask[r[0] : r[-1] + 1]


def integrated(y, a, n):
    ys = [y]
    for i in range(n):
        ys.append(ys[i] + 0.1 * a @ ys[i])
    return np.array(ys)


def first_and_last(x):
    rows = [r * 2 for r in x]
    return rows[0] + rows[-1]


def chosen(x, k):
    rows = [r * 2 for r in x]
    return rows[k]


def second(x):
    rows = []
    for r in x:
        rows.append(r)
    return rows[1]


def steps(x):
    rows = [r for r in x]
    return np.array([rows[i] - rows[i - 1] for i in range(1, len(rows))])


def tails(x):
    rows = [r for r in x]
    return np.stack(rows[1:]) - np.stack(rows[:-1])


def third_prefix(x):
    rows = [x[:i] for i in range(len(x))]
    return rows[2]


def smoothed(x):
    ys = [x[0]]
    for i in range(1, len(x)):
        ys.append(0.9 * ys[i - 1] + x[i])
    return np.array(ys)


def beyond_list(x):
    rows = [r for r in x]
    return rows[len(x)]


def similar(x):
    rows = [r for r in x]
    total = 0
    for i in range(len(rows)):
        for j in range(len(rows)):
            total = total + rows[i] @ rows[j]
    return total


def windows(x, k):
    return np.array([x[i : i + k] for i in range(len(x) - k)])


def patches(x, p):
    return np.stack([x[i : i + p] for i in range(0, len(x) - p + 1, p)])


def in_blocks(a, b, c, d):
    return np.block([[a, b], [c, d]])


def block_beside(a):
    return np.block([[a, np.eye(2)], [np.zeros((1, 3))]])


def numbered_twice(x):
    out = np.zeros_like(x)
    for i, v in np.ndenumerate(x):
        out[i] = v
    return out


def each_index(x):
    out = np.zeros(x.shape)
    for i, j in np.ndindex(x.shape):
        out[i, j] = x[i, j]
    return out


def parts(x):
    return np.add.reduceat(x, [0, 2, 4], axis=-1)


def resampled(x, n):
    means = [x[np.random.randint(0, len(x), len(x))].mean() for _ in range(n)]
    return np.percentile(means, [5, 95])


def bandwidth(x):
    return x * len(x) ** (-1 / 5)


def thirteenth(x):
    for i in range(20):
        if i == 13:
            x = x[1:]
    return x


def nonzero_rows(x):
    return np.array([r for r in x if r.any()])


def mean_of_large_rows(x):
    return np.stack([r for r in x if r.sum() > 0.5]).mean(axis=0)


def places(x):
    found = []
    for i in range(len(x)):
        if x[i].sum() > 1:
            found.append(i)
    return np.asarray(found)


def without_large_rows(x):
    rows = []
    for r in x:
        if r.sum() > 1:
            continue
        rows.append(r)
    return np.array(rows)


def folded(x):
    return np.array([(r if r.sum() > 0 else -r) for r in x]) + x


def folded_long(x):
    rows = []
    for r in x:
        if len(x) > 2:
            if r.sum() > 0:
                r = -r
            rows.append(r)
    return np.array(rows) + (x if len(x) > 2 else 0)


def steady_state(a, b):
    difference, turns = 5.0, 0
    while difference > 1e-15:
        after = b + a @ b @ a.T * 0
        difference = np.max(np.abs(after - b))
        b, turns = after, turns + 1
        if turns > 500:
            raise ValueError("it does not converge")
    return b


def halvings(x):
    turns = 0
    while x.sum() > 1:
        x, turns = x / 2, turns + 1
    return np.zeros(turns), x


def sorted_elements(x, y):
    return np.sum(np.abs(np.sort(x.flat) - np.sort(y.flat)[::-1]))


def cast(x, dtype=np.float32):
    return np.int64(np.floor(x))[..., None] + dtype(x), x.dtype.type(x.sum())


def not_text(x):
    return x == "auto", x[..., None] != "auto"


CASES = {
    nonzero_rows: ("N, D",), mean_of_large_rows: ("N, D",), places: ("N, D",), without_large_rows: ("N, D",),
    folded: ("N, D",), folded_long: ("N, D",), steady_state: ("N, M", "K, L"), halvings: ("N, D",),
    sorted_elements: ("N, M", "K, L"), cast: ("N, N",), not_text: ("N, D",),
    classes: ("int N",), told_of: ("N",), without_largest: ("N",), printed: ("N",), labelled: ("N",), rooted: ("N",),
    counts: ("int N",), scaled: ("N",), until_small: ("N",), until_break: ("N",), at_most_fifty: ("N",),
    powers: ("N, D", "E, F"), all_large: ("N", "N", "N"), raised: ("N",), box: ("bool N, M",),
    integrated: ("D", "E, F", "size K"), first_and_last: ("N, D",), chosen: ("N, D", "size K"), second: ("N, D",),
    steps: ("N, D",), tails: ("N, D",), third_prefix: ("N",), smoothed: ("N, D",), beyond_list: ("N",),
    similar: ("N, D",), windows: ("N", "size K"), patches: ("N, D", "size K"), in_blocks: ("H, W", "H, V", "G, W", "F, V"),
    block_beside: ("N, M",), numbered_twice: ("N, M",), each_index: ("N, M",), parts: ("N, M",), resampled: ("N", "size K"),
    bandwidth: ("N",), thirteenth: ("N",),
}  # fmt: skip
