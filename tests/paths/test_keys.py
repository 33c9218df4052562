"""Sizes as keys of dicts, as members of sets, in caches; and ranges of floats."""

import functools
from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest
from paths.held import held

import symbcast as sb

memo = {}


@functools.lru_cache
def window(n, kind="a"):
    return np.hanning(n)


@functools.cache
def grid(shape):
    return np.zeros(shape)


def keys_of_a_dict(x, y):
    d = {len(x): x, len(y): y}
    return np.zeros(len(d))


def shapes_as_keys(x, y):
    d = {}
    for v in (x, y):
        d[v.shape] = v
    return list(d.values())[-1]


def member_of_numbers(x):
    d = {3: "a", 5: "b"}
    return np.ones(2) if len(x) in d else x


def looked_up(x):
    d = {3: 1, 5: 2}
    return np.ones(d[len(x)])


def got(x):
    d = {3: 1, 5: 2}
    return np.ones(d.get(len(x), 7))


def cached(x):
    return window(len(x)) * x


def cached_by_shape(x, y):
    return grid(x.shape) + grid(y.shape)


def set_of_lengths(x, y):
    return np.zeros(len({len(x), len(y)}))


def member_of_a_set(x, y):
    if len(x) in {2, 4}:
        return x
    return y


def kept(x):
    if x.shape not in memo:
        memo[x.shape] = np.ones(len(x))
    return memo[x.shape] * x


def grouped(x, y):
    d = defaultdict(list)
    for v in (x, y):
        d[len(v)].append(v)
    return [len(g) for g in d.values()]


def added_once(x, y):
    d = {}
    d.setdefault(len(x), x)
    d.setdefault(len(y), y)
    return np.zeros(len(d))


def added_to_a_set(x, y):
    s = set()
    s.add(len(x))
    s.add(len(y))
    s.discard(3)
    return np.zeros(len(s))


def number_as_key(x):
    d = {len(x): 1}
    return np.zeros(d[3]) if 3 in d else x


def distinct(x):
    return np.array(tuple(set(x)))


def float_range(x):
    return np.arange(float(len(x)))


def half_steps(x):
    return np.arange(0, len(x), 0.5)


def from_a_half(x):
    return np.arange(0.5, len(x) - 0.5)


def half_as_many(x):
    return np.arange(len(x) / 2)


def from_a_generator(x):
    return np.fromiter((float(i) for i in range(len(x))), float)


def increased(x, y):
    d = {len(x): 2, 3: 4}
    d[len(y)] += 1
    return np.zeros(sum(d.values()))


def deleted(x, y):
    d = OrderedDict()
    d[len(x)] = 1
    d[len(y)] = 2
    del d[len(x)]
    return np.zeros(len(d))


def by_remainder(x):
    return np.zeros({0: 3, 1: 4}[len(x) % 2])


def kept_in_a_default(n, cache={}):  # noqa: B006 - a cache
    if n not in cache:
        cache[n] = n + 1
    return np.zeros(cache[n])


CASES = [
    (keys_of_a_dict, "N", "M"),
    (shapes_as_keys, "N, M", "M, K"),
    (member_of_numbers, "N"),
    (looked_up, "N"),
    (got, "N"),
    (cached, "N"),
    (cached_by_shape, "N", "M"),
    (set_of_lengths, "N", "M"),
    (member_of_a_set, "N", "M"),
    (kept, "N"),
    (grouped, "N", "M"),
    (added_once, "N", "M"),
    (added_to_a_set, "N", "M"),
    (number_as_key, "N"),
    (distinct, "N"),
    (float_range, "N"),
    (half_steps, "N"),
    (from_a_half, "N"),
    (half_as_many, "N"),
    (from_a_generator, "N"),
    (increased, "N", "M"),
    (deleted, "N", "M"),
    (by_remainder, "N"),
    (kept_in_a_default, sb.size("N")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_a_key_with_sizes_is_one_of_the_keys_or_a_new_one(case):
    function, *arguments = case
    report = sb.trace(function, *arguments)
    assert report.complete, report.reason
    assert not held(report, function, *arguments, sizes=range(7), most=60).wrong
    assert all(type(n) is int for key in memo for n in key)  # of real calls


def test_what_takes_a_hash_elsewhere_is_open():
    report = sb.trace(lambda x: np.zeros(len(Counter([len(x)]))), "N")
    assert "a size is hashed" in report.reason


def test_a_dict_with_a_size_as_key_is_a_result():
    report = sb.trace(lambda x: {len(x): x}, "N")
    assert report.complete, report.reason
