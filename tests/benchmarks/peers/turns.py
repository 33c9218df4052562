"""Peers that are asked distinct questions in turn: of integers, and of a pair that they can take.

No shape inference takes two names that may differ and says when that works; they are given one name. z3 and isl take
the requirement, which we write for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from benchmarks.turns import Case, in_turn, integers

_numbers = itertools.count()


def _pairs(size: Callable[[str], Any]) -> Callable[[], Any]:
    """Return a function that returns ``(N, 3)`` and ``(N, 1)`` over the next of 200 names."""
    found = [size(f"s{n}") for n in range(200)]
    return in_turn(((a, 3), (a, 1)) for a in found)


def numpy_integers() -> Case:
    import numpy as np

    return Case(lambda: np.broadcast_shapes(*integers()))


def jax_integers() -> Case:
    import jax.numpy

    return Case(lambda: jax.numpy.broadcast_shapes(*integers()))


def jax_names() -> Case:
    import jax.numpy
    from jax import export

    pair = _pairs(lambda name: export.symbolic_shape(name)[0])
    return Case(lambda: jax.numpy.broadcast_shapes(*pair()))


def jax_new_names() -> Case:
    import jax.numpy
    from jax import export

    def ask() -> Any:
        (size,) = export.symbolic_shape(f"q{next(_numbers)}")
        return jax.numpy.broadcast_shapes((size, 3), (size, 1))

    return Case(ask)


def openvino_integers() -> Case:
    import openvino as ov
    from openvino import opset13 as op

    def ask() -> Any:
        left, right = (op.parameter(ov.PartialShape(list(shape)), ov.Type.f32) for shape in integers())
        return op.add(left, right).get_output_partial_shape(0)

    return Case(ask)


def openvino_names() -> Case:
    import openvino as ov
    from openvino import opset13 as op

    def size(_: str) -> Any:
        made = ov.Dimension()
        made.set_symbol(ov.Symbol())
        return made

    pair = _pairs(size)

    def ask() -> Any:
        left, right = (op.parameter(ov.PartialShape(list(shape)), ov.Type.f32) for shape in pair())
        return op.add(left, right).get_output_partial_shape(0)

    return Case(ask)


def tvm_integers() -> Case:
    from tvm import te, topi

    def ask() -> Any:
        left, right = (te.placeholder(shape) for shape in integers())
        return topi.add(left, right).shape

    return Case(ask)


def tvm_names() -> Case:
    from tvm import te, tirx, topi

    pair = _pairs(lambda name: tirx.Var(name, "int64"))

    def ask() -> Any:
        left, right = (te.placeholder(shape) for shape in pair())
        return topi.add(left, right).shape

    return Case(ask)


def tinygrad_integers() -> Case:
    from tinygrad.uop.ops import _broadcast_shape

    return Case(lambda: _broadcast_shape(*integers()))


def tinygrad_names() -> Case:
    from tinygrad import Variable
    from tinygrad.uop.ops import _broadcast_shape

    pair = _pairs(lambda name: Variable(name, 1, 4096))
    return Case(lambda: _broadcast_shape(*pair()))


def z3_new_names() -> Case:
    """z3's answers whether the requirement of a pair can hold, and whether it can fail."""
    import z3

    def ask() -> Any:
        left, right = z3.Ints(f"q{(n := next(_numbers))} r{n}")
        solver = z3.Solver()
        solver.add(left >= 0, right >= 0)
        fits = z3.Or(left == right, left == 1, right == 1)
        return solver.check(fits), solver.check(z3.Not(fits))

    return Case(ask)


def isl_new_names() -> Case:
    """isl's set of the sizes of a pair, with pieces joined where that is possible, as text."""
    import islpy

    def ask() -> Any:
        left, right = f"q{(n := next(_numbers))}", f"r{n}"
        fits = f"({left} = {right} or {left} = 1 or {right} = 1)"
        return str(islpy.Set(f"{{ [{left}, {right}] : {left} >= 0 and {right} >= 0 and {fits} }}").coalesce())

    return Case(ask)


CASES: dict[str, Callable[[], Case]] = {
    "integers, numpy": numpy_integers,
    "integers, jax": jax_integers,
    "integers, openvino": openvino_integers,
    "integers, tvm": tvm_integers,
    "integers, tinygrad": tinygrad_integers,
    "one name twice, jax.export": jax_names,
    "one name twice, openvino": openvino_names,
    "one name twice, tvm": tvm_names,
    "one name twice, tinygrad": tinygrad_names,
    "one new name twice, jax.export": jax_new_names,
    "a pair over new names, text: verdict, z3": z3_new_names,
    "a pair over new names, text: condition, isl": isl_new_names,
}
