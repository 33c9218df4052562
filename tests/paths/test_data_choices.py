"""Functions whose path data choose: what guards say of small sizes, held against calls with all data of few values."""

import itertools

import numpy as np
import pytest

import symbcast as sb

VALUES = (-1, 0, 1, 2)


def last_of_sorted(x, y):
    return y[np.argsort(x)[-1]]


def first_two_of_sorted(x, y):
    return y[np.argsort(x)[:2]]


def place_in_sorted(x, y):
    return y[np.searchsorted(x, 1)]


def place_in_itself(x):
    return x[np.searchsorted(x, 2)]


def first_above(x, y):
    return y[np.where(x > 0)[0][0]]


def all_above(x, y):
    return y[np.nonzero(x > 0)[0]] + x


def places_of_distinct(x, y):
    return y[np.unique(x, return_inverse=True)[1]]


def as_integers(x, y):
    return y[x.astype(int)]


def parts_of_masks(x, y):
    return np.concatenate([x[x > 0], x[x <= 0]]) + y


def falling(x):
    if x[0] > x[-1]:
        return x
    raise ValueError("not falling")


def positive_sum(x, y):
    if x.sum() > 0:
        return x + y
    raise ValueError("not positive")


def crossed_bounds(x):
    if x.max() < x.min():
        return x
    raise ValueError("never")


def all_but_none(x):
    if (x > 0).all() and not (x > 0).any():
        return x
    raise ValueError("only without elements")


def below_itself(x):
    if x[0] < x[0]:
        return x
    raise ValueError("never")


def both_signs(x):
    if x[0] > 0 and x[0] < 0:
        return x
    raise ValueError("never")


def part_larger_than_whole(x):
    mask = x > 0
    if (mask & (x < 1)).sum() > mask.sum():
        return x
    raise ValueError("never")


def none_small(x):
    if not (x <= 1).any():
        return x
    raise ValueError("a small element")


FUNCTIONS = [
    last_of_sorted,
    first_two_of_sorted,
    place_in_sorted,
    place_in_itself,
    first_above,
    all_above,
    places_of_distinct,
    as_integers,
    parts_of_masks,
    falling,
    positive_sum,
    crossed_bounds,
    all_but_none,
    below_itself,
    both_signs,
    part_larger_than_whole,
    none_small,
]


def works(function, n, *others):
    """Return whether a function returns for some data of a few values."""
    for values in itertools.product(VALUES, repeat=n):
        try:
            function(np.array(values, float), *map(np.zeros, others))
        except (ValueError, IndexError):
            continue
        return True
    return False


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_guard_says_nothing_wrong_where_data_choose(function):
    count = function.__code__.co_argcount
    guard = sb.trace(function, *"NM"[:count]).guard()
    for sizes in itertools.product(range(6 if count == 1 else 5), repeat=count):
        assert guard(**dict(zip("NM", sizes, strict=False))) == works(function, *sizes), sizes


def larger_mean(x):
    return x[x > x.mean()] + x[x > x.mean()]


def quicksorted(x):
    return np.concatenate([x[x < x[0]], x[x == x[0]], x[x > x[0]]]) + x


def filled_by_casts(x):
    return np.zeros((x > 0).astype(int).sum()) + x[x > 0]


def transposed(x):
    return x[x > 0] + x.T[x.T > 0]


def either_or_both(x):
    one, other = x > 0, x < 2
    return np.zeros((one | other).sum() + (one & other).sum()) + np.zeros(one.sum() + np.count_nonzero(other))


def places(x):
    mask = x > 0
    return np.flatnonzero(mask) + np.argwhere(mask)[:, 0] + x[np.where(mask)] + x[mask]


def distinct(x):
    return np.unique(x) + np.zeros(len(np.unique(x)))


@pytest.mark.parametrize(
    ("function", "shape", "condition"),
    [
        (larger_mean, "N", "True"),
        (quicksorted, "N", "N >= 1"),
        (filled_by_casts, "N", "True"),
        (transposed, "N, D", "True"),
        (either_or_both, "N", "True"),
        (places, "N", "True"),
        (distinct, "N", "True"),
    ],
)
def test_counts_of_masks_are_related(function, shape, condition):
    report = sb.trace(function, shape)
    assert report.complete and str(report.data_condition) == "True"
    assert report.condition.equivalent(condition)


def test_what_may_be_no_number_is_not_negated():
    def logarithms(x):
        y = np.log(x)
        return np.concatenate([y[y > 0], y[y <= 0]]) + x

    report = sb.trace(logarithms, "N")
    assert str(report.data_condition) != "True" and report.verdict is sb.Verdict.SOMETIMES


def test_what_is_written_between_has_other_true_elements():
    def written(x):
        before = x[x > 0]
        x[0] = -1
        return before + x[x > 0]

    assert sb.trace(written, "N").verdict is sb.Verdict.SOMETIMES
    assert str(sb.trace(written, "N").data_condition) != "True"
