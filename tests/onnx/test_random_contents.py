"""What is known of the elements of tensors is what ONNX Runtime works out, at all small sizes."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import given, note

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from random_models.models import RandomModel, models_of_contents, models_of_numbers, random_models
from running import Refusal, Runs

import symbcast as sb
from symbcast.core.algebra.formulas import FORMULA_KINDS
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at, size_at
from symbcast.operators.values.contents import Bands, Elements, IndexRamp, Interval, RampStack, SizeRatio


def element_at(element, sizes):
    if isinstance(element, SizeRatio):
        return Fraction(size_at(element.above, sizes), size_at(element.below, sizes))
    return holds_at(element, sizes) if isinstance(element, FORMULA_KINDS) else size_at(element, sizes)


def ramp_at(ramp, index, sizes):
    strides = [size_at(s, sizes) for s in ramp.strides]
    return size_at(ramp.start, sizes) + sum(s * i for s, i in zip(strides, index, strict=True))


def numbers_at(content, shape, sizes):
    """Return the elements that a content stands for; None for those that are not known."""
    indices = product(*map(range, shape))
    match content:
        case Elements(items):
            return [None if item is None else element_at(item, sizes) for item in items]
        case IndexRamp():
            return [ramp_at(content, index, sizes) for index in indices]
        case RampStack(parts):
            return [ramp_at(parts[index[-1]], index[:-1], sizes) for index in indices]
        case _:
            return content.array.ravel().tolist()


def ends_at(interval, sizes):
    """Return the ends of an interval; None for no bound."""
    return [None if end is None else size_at(end, sizes) for end in (interval.low, interval.high)]


def assert_within(interval, array, sizes):
    """Check that elements are in an interval, and that both its ends are among them where it says so."""
    low, high = ends_at(interval, sizes)
    if array.size:
        assert low is None or low <= array.min()
        assert high is None or array.max() <= high
        assert not interval.is_attained or (low, high) == (array.min(), array.max())


def assert_holds(content, array, sizes) -> int:
    """Hold a content against an array; return of how many elements it says something."""
    match content:
        case Interval():
            assert_within(content, array, sizes)
        case Bands(axis, parts):
            assert array.shape[axis] == len(parts)
            for n, part in enumerate(parts):
                assert_within(part, array.take(n, axis), sizes)
        case _:
            found = numbers_at(content, array.shape, sizes)
            assert len(found) == array.size
            assert all(a is None or a == b for a, b in zip(found, array.ravel().tolist(), strict=True))
    return array.size


def with_cases(report, bound):
    """Return sizes with those that go by cases, as far as the given ones decide them."""
    found = dict(bound)
    for size, (chosen, yes, no) in report._checked.asker.cases.items():
        with suppress(KeyError, ArithmeticError):
            found[size] = size_at(yes if holds_at(chosen, found) else no, found)
    return found


def check(model: RandomModel) -> int:
    report = sb.onnx.check(model.proto, min_size=model.min_size, runtime="onnxruntime")
    assert not [u for u in report.unanalysed if "could not be analysed" in u.reason]
    values, runs, known = report._checked.walk.top.values, Runs(model.proto), 0
    for sizes in model.points():
        real = runs.at(sizes)
        if isinstance(real, Refusal) or any(prod(a.shape) > 10_000 for a in real.values()):
            continue
        bound = with_cases(report, {symbol(name): size for name, size in sizes.items()})
        for name, array in real.items():
            if values[name].content is None:
                continue
            note(f"{name} at {sizes}: {values[name]}")
            with suppress(KeyError):  # a size that data decide
                known += assert_holds(values[name].content, array, bound)
    return known


@given(random_models("ranges"))
def test_elements_that_data_decide_are_where_they_are_said_to_be(model):
    note(str(model))
    check(model)


@given(models_of_numbers())
def test_known_elements_are_what_the_runtime_has(model):
    note(str(model))
    check(model)


@given(models_of_contents())
def test_contents_are_what_the_runtime_has(model):
    note(str(model))
    check(model)
