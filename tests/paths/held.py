"""Hold a trace of a function against the function itself, at all small sizes."""

import itertools
import math
import warnings

import numpy as np

import symbcast as sb
from symbcast.arrays.arguments import ArrayArgument, TraceArguments
from symbcast.core.solver.evaluation import holds_at, size_at
from symbcast.paths.answer import conclusions_of

MOST_CHOICES = 5_000
"""Of more choices of the numbers that data decide nothing is compared."""


def shapes_of(value):
    """The shapes in what a function returns, flat; a number has none."""
    if isinstance(value, sb.Shape):
        return [tuple(value.dims)]
    if value is list:
        return [list]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [s for v in value for s in shapes_of(v)]
    if isinstance(value, np.ndarray):
        return [value.shape]
    return [()]


class Held:
    """How a trace compares: at how many sizes it is right, wrong, or says nothing."""

    def __init__(self):
        self.right = self.open = 0
        self.wrong = []

    def __repr__(self):
        return f"right {self.right}, open {self.open}, wrong {len(self.wrong)}: {self.wrong[:2]}"


def held(report, function, *arguments, sizes=range(4), most=400, **named):
    """Compare a report with what the function does at all sizes, or at ``most`` of them, spread evenly."""
    found, given, random = Held(), TraceArguments(arguments, named), np.random.default_rng(0)
    symbols = list(conclusions_of(report).scope.names)
    data = list(conclusions_of(report).exploration.data)
    every = list(itertools.product(sizes, repeat=len(symbols)))
    for values in every[:: -(-len(every) // most)]:
        at = dict(zip(symbols, values, strict=True))
        if not all(holds_at(a.formula, at) for a in conclusions_of(report).scope.assumptions):
            continue

        def make_array(dims, dtype, at=at):
            shape = [size_at(d, at) for d in dims]
            kind = np.dtype(dtype).kind
            return random.random(shape).astype(dtype) if kind in "fc" else np.ones(shape, dtype)

        args, options = given.build(
            conclusions_of(report).scope.shapes, make_array, lambda dim, at=at: size_at(dim, at)
        )
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                real = shapes_of(function(*args, **options))
            except np.linalg.LinAlgError as error:
                if "singular" in str(error).lower() or "converge" in str(error) or "positive definite" in str(error):
                    continue  # that is for data to say
                real = None
            except Exception:
                real = None
        told = set()
        counts = {*range(6), *values, math.prod(values)}
        choices = [range(2) if s.upper == 1 else [n for n in counts if n >= s.lower] for s in data]
        is_open = math.prod(map(len, choices)) > MOST_CHOICES
        for decided in () if is_open else itertools.product(*choices):
            there = {**at, **dict(zip(data, decided, strict=True))}
            is_open = is_open or holds_at(report.unexplored.formula, there)
            for case in report.cases:
                if holds_at(case.condition.formula, there):
                    told.add(None if case.error else tuple(_evaluated(shapes_of(case.value), there, data)))
        wanted = None if real is None else tuple(real)
        if is_open:
            found.open += 1
        elif any(_fits(t, wanted) for t in told):
            found.right += 1
        else:
            found.wrong.append((dict(zip(map(str, symbols), values, strict=True)), told, wanted))
    return found


def _evaluated(shapes, at, data):
    for shape in shapes:
        yield shape if shape is list else tuple(None if _is_of_data(d, data) else size_at(d, at) for d in shape)


def _is_of_data(dim, data):
    return not isinstance(dim, int) and any(s in data for s in dim.symbols())


def _fits(told, real):
    if told is None or real is None:
        return told is real
    if list in told:  # a list of any length
        at = told.index(list)
        rest = len(told) - at - 1
        return (
            at + rest <= len(real) and _fits(told[:at], real[:at]) and _fits(told[at + 1 :], real[len(real) - rest :])
        )
    return len(told) == len(real) and all(
        len(a) == len(b) and all(x is None or x == y for x, y in zip(a, b, strict=True))
        for a, b in zip(told, real, strict=True)
    )


__all__ = ["ArrayArgument", "Held", "held", "shapes_of"]
