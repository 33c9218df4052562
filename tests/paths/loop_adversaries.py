# ruff: noqa - code as users write it
"""Loops whose iterations differ: one symbolic iteration must not represent them."""

import numpy as np


def seventh(x):
    for i, row in enumerate(x):
        if i == 3:
            raise ValueError("three")
    return x


def ragged(x):
    return np.concatenate([x[i:] for i in range(len(x))])


def ragged_stack(x):
    return np.stack([x[i:] for i in range(len(x))])


def triangle(x):
    out = []
    for i in range(len(x)):
        for j in range(i):
            out.append(x[i] * x[j])
    return np.array(out)


def odd_rows(x):
    return np.array([row for i, row in enumerate(x) if i % 2])


def positive(x):
    return np.array([v for v in x if v > 0])


def until(x):
    out = []
    for row in x:
        if row.sum() > 2:
            break
        out.append(row)
    return np.array(out)


def first_missing(x):
    previous = None
    for row in x:
        if previous is not None:
            previous @ row
            np.zeros(2) + row
        previous = row
    return previous


def offset(x):
    idx = np.zeros(1, int)
    for row in x:
        x[idx]
        idx = idx + 1
    return idx


def beyond(x, y):
    return np.array([x[i] + y[i] for i in range(len(x))])


def beyond_one(x):
    return np.array([x[i + 1] - x[i] for i in range(len(x))])


def fibonacci(x):
    a, b = 1, 1
    for _ in x:
        a, b = b, a + b
    return np.zeros(a)


def doubled(x):
    n = 1
    for _ in x:
        n = n * 2
    return np.zeros(n)


def alternating(x, y):
    for _ in range(len(x)):
        x, y = y, x
    return x


def three(x, y, z):
    for _ in range(2, len(x)):
        x, y, z = y, z, x
    return x


def two_lists(x):
    a, b = [], []
    for row in x:
        a.append(row)
        b.extend([row, row])
    return np.array(a), np.array(b)


def length_in_loop(x):
    out = []
    for i, row in enumerate(x):
        assert len(out) == i
        out.append(row[: len(out) + 1])
    return len(out)


def popped(x):
    stack = [1]
    for row in x:
        stack.append(row)
        if len(stack) > 3:
            stack.pop(0)
    return np.zeros(len(stack))


def counts(x):
    seen = {}
    for i, row in enumerate(x):
        seen[str(i)] = row
    return np.zeros(len(seen))


def flags(x):
    flag = False
    for _ in x:
        flag = not flag
    return np.zeros(1 if flag else 2)


def swap_none(x, y):
    best = None
    for row in x:
        if best is None or row.sum() > best.sum():
            best = row
    return best


def nested_growth(x):
    out = []
    for row in x:
        inner = []
        for v in row:
            inner.append(v)
        out.append(np.array(inner))
    return np.array(out)


def flat_growth(x):
    out = []
    for row in x:
        for v in row:
            out.append(v)
    return np.array(out)


def squeeze_all(x):
    for _ in range(x.ndim - 1):
        x = x[0]
    return x


def shrink(x):
    for _ in range(len(x) - 1):
        x = x[:-1]
    return x


def shrink_too_far(x):
    for _ in range(len(x)):
        x = x[:-2]
    return x


def add_axis(x, n):
    for _ in range(n):
        x = x[None]
    return x


def generator_pairs(x, y):
    def rows():
        for a, b in zip(x, y):
            yield a
            yield b

    return np.array(list(rows()))


def last_value(x):
    for i, row in enumerate(x):
        part = x[:i]
    return part


def else_loop(x):
    for row in x:
        if row.sum() > 100:
            break
    else:
        return x
    return x[0]


def continued(x):
    out = []
    for i, row in enumerate(x):
        if i == 0:
            continue
        out.append(row - x[i - 1])
    return np.array(out)


def object_state(x):
    class Count:
        n = 0

    counter = Count()
    counter.n = 0
    for _ in x:
        counter.n += 1
    return np.zeros(counter.n)


def hidden_state(x):
    state = {"list": [[]]}
    for row in x:
        state["list"][0].append(row)
    return np.zeros(len(state["list"][0]))


def nonlocal_state(x):
    n = 0

    def more():
        nonlocal n
        n += 1

    for _ in x:
        more()
    return np.zeros(n)


def exponent(x):
    text = ""
    for _ in x:
        text += "a"
    return np.zeros(len(text))


def iterator(x):
    numbers = iter([1, 2, 3])
    out = []
    for row in x:
        out.append(next(numbers))
    return np.array(out)


def total_length(x):
    return np.zeros(sum(len(row) for row in x))


def maximum(x):
    return np.zeros(max(i for i in range(len(x))) + 1)


def any_rows(x):
    return any(row.sum() > 3 for row in x)


def sorted_rows(x):
    return np.stack(sorted(x, key=lambda row: row.sum()))


def starred(x):
    return np.stack([*x])


def unpacked(x):
    first, *rest = x
    return np.array(rest)


def dict_of(x):
    rows = {i: row for i, row in enumerate(x)}
    return np.stack(list(rows.values()))


def cumulative(x):
    out = [np.zeros(x.shape[1])]
    for row in x:
        out.append(out[-1] + row)
    return np.stack(out[1:])


def joined_lists(x):
    left = [row for row in x]
    right = [row for row in x]
    return np.stack(left + right)


def item_of_list(x):
    rows = [row * 2 for row in x]
    return rows[0], rows[-1]


def second_of_list(x):
    rows = [row * 2 for row in x]
    return rows[1]


def by_range_of_list(x):
    rows = [row * 2 for row in x]
    return np.array([rows[i] for i in range(len(rows))])


def truthy(x):
    rows = [row for row in x]
    return np.array(rows) if rows else x


def batch_pairs(x):
    return np.array([x[i : i + 2].sum() for i in range(0, len(x), 2)])


def batch_stack(x):
    return np.stack([x[i : i + 2] for i in range(0, len(x), 2)])


def steps(x):
    return np.concatenate([x[i : i + 2] for i in range(0, len(x) - 1, 2)])


def steps_wide(x):
    return np.concatenate([x[i : i + 3] for i in range(0, len(x), 2)])


ADVERSARIES = {
    beyond: ("N", "M"),
    alternating: ("N, A", "M, B"),
    three: ("N", "M", "K"),
    swap_none: ("N, D", "M"),
    add_axis: ("N", "size K"),
    generator_pairs: ("N, D", "M, D"),
    fibonacci: ("N",),
    doubled: ("N",),
    beyond_one: ("N",),
    shrink: ("N",),
    shrink_too_far: ("N",),
    positive: ("N",),
    batch_pairs: ("N",),
    batch_stack: ("N",),
    steps: ("N",),
    steps_wide: ("N",),
    exponent: ("N",),
}
for _name, _value in list(globals().items()):
    if type(_value) is type(beyond) and _value not in ADVERSARIES:
        ADVERSARIES[_value] = ("N, D",)
