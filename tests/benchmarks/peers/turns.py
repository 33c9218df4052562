"""Peers that are asked distinct questions in turn: of integers, and of a pair that they can take.

None of them takes two names that may differ beside each other and tells when it works; they are given one name.
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
}
