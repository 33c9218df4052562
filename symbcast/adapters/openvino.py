"""OpenVINO: `PartialShape`, and objects with one: tensors, nodes with one output, outputs, ports of a model.

In: a fixed dimension is its size; a dimension with a `Symbol` is the same size wherever the symbol occurs; any other
is an unknown with the dimension's bounds, a new one on every read. The bounds of a dimension with a symbol are in
`assumptions`. A `PartialShape` of dynamic rank is ``...``: any number of axes.

Out: sizes and symbols, each with its `Symbol` and its assumed range as bounds. Not supported: arithmetic (``N + 1``,
``N//2``, ``broadcast(N, M)``), assumptions with gaps or over several symbols, and shapes of unknown rank other than
``...`` alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import sympy

from symbcast.adapters.conversion import load, resolve_shapes, sizes_of
from symbcast.core.algebra.arithmetic import check_size
from symbcast.core.algebra.formulas import at_most
from symbcast.core.algebra.symbols import Unknown
from symbcast.core.algebra.sympy_conversion import formula_to_sympy
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.shapes import Shape, ShapeLike, any_shape_of, from_dim, shape
from symbcast.errors import DimensionError, ShapeTypeError

if TYPE_CHECKING:
    import openvino

# A Symbol is identified by its address: its dimension keeps it alive, so no other Symbol can reuse the address.
_dims_by_symbol: WeakValueDictionary[Any, Unknown] = WeakValueDictionary()
_symbols_by_unknown: WeakKeyDictionary[Unknown, Any] = WeakKeyDictionary()

# A named size keeps the same Symbol forever.
_named: dict[Any, Symbol] = {}
_symbols_by_name: dict[Symbol, Any] = {}


def read(value: object) -> Shape:
    """Return the shape of a `PartialShape`, or of an OpenVINO object with one."""
    return any_shape_of(from_dim(d, n) for n, d in enumerate(_dims(value)))


def read_dim(value: Any, unknowns: int = 0) -> Dim | None:
    """Return a `Dimension` as a dimension, or None for anything else."""
    if not isinstance(value, load("openvino", "openvino").Dimension):
        return None
    if value.is_static:
        return check_size(value.get_length())
    if value.has_symbol():
        return _read_symbol(value.get_symbol(), unknowns)
    return Unknown(f"?{unknowns}", *_bounds(value))


def assumptions(*values: object) -> list[sympy.Basic]:
    """Return the bounds of dimensions with a symbol; other dimensions carry their own bounds."""
    facts: dict[sympy.Basic, None] = {}
    for dim in (d for v in values for d in _dims(v) if d is not ...):
        read_as = from_dim(dim)
        if isinstance(read_as, int) or not dim.has_symbol():
            continue
        low, high = _bounds(dim)
        facts[formula_to_sympy(at_most(low, read_as))] = None
        if high is not None:
            facts[formula_to_sympy(at_most(read_as, high))] = None
    return [f for f in facts if f != sympy.true]


def write(shape: ShapeLike, *, assume: Assumptions = (), min_size: int = 0) -> openvino.PartialShape:
    """Return a shape as `PartialShape`.

    Raises `DimensionError` for anything that a `PartialShape` cannot express.
    """
    return write_all([shape], assume=assume, min_size=min_size)[0]


def write_all(
    shapes: Iterable[ShapeLike], *, assume: Assumptions = (), min_size: int = 0
) -> list[openvino.PartialShape]:
    """Return several shapes as `PartialShape` with shared labels and assumptions."""
    openvino = load("openvino", "openvino")
    operands = list(shapes)
    # A bare ``...`` has no dimensions to write.
    resolved = resolve_shapes([() if _says_nothing(s) else s for s in operands], assume, min_size)
    resolved.refuse_others("OpenVINO")
    dimensions = {s: _written(openvino, s, *resolved.bounds(s, "OpenVINO")) for s in resolved.domains}
    return [
        openvino.PartialShape.dynamic()
        if _says_nothing(s)
        else openvino.PartialShape([_checked(d, dimensions) for d in dims])
        for s, dims in zip(operands, (s.dims for s in resolved.shapes), strict=True)
    ]


def _says_nothing(text: ShapeLike) -> bool:
    """Return whether a shape is an unnamed sequence of axes and nothing else."""
    return shape(text) == _DYNAMIC


_DYNAMIC = shape("...")


def _dims(value: Any) -> tuple[Any, ...]:
    openvino = load("openvino", "openvino")
    if isinstance(value, openvino.Dimension):
        return (value,)
    dims = value if isinstance(value, openvino.PartialShape) else _shape_of(value)
    if isinstance(dims, openvino.PartialShape) and dims.rank.is_dynamic:
        return (...,)
    return sizes_of(dims, value, "a shape of OpenVINO", "pass a PartialShape, or an output that has one")


def _shape_of(value: Any) -> Any:
    """Return the partial shape of a node or a port, the shape of a tensor, and anything else unchanged."""
    if hasattr(value, "get_output_partial_shape"):
        if value.get_output_size() != 1:
            raise ShapeTypeError(value, "one shape", "pass one of its outputs")
        return value.get_output_partial_shape(0)
    if hasattr(value, "get_partial_shape"):
        return value.get_partial_shape()
    return getattr(value, "shape", value)


def _bounds(dimension: Any) -> tuple[int, int | None]:
    high = dimension.get_max_length()
    return dimension.get_min_length(), None if high < 0 else high


def _read_symbol(label: Any, unknowns: int) -> Symbol:
    if label in _named:
        return _named[label]
    known = _dims_by_symbol.get(label)
    if known is None:
        known = _dims_by_symbol[label] = Unknown(f"?{unknowns}")
        # Both ways, so that writing what was read gives the same Symbol again.
        _symbols_by_unknown[known] = label
    return known


def _written(openvino: Any, s: Symbol, low: int, high: int | None) -> Any:
    dimension = openvino.Dimension(low, -1 if high is None else high)
    dimension.set_symbol(_symbol(openvino, s))
    return dimension


def _symbol(openvino: Any, s: Symbol) -> Any:
    if isinstance(s, Unknown):
        if s not in _symbols_by_unknown:
            label = _symbols_by_unknown[s] = openvino.Symbol()
            _dims_by_symbol[label] = s
        return _symbols_by_unknown[s]
    if s not in _symbols_by_name:
        label = _symbols_by_name[s] = openvino.Symbol()
        _named[label] = s
    return _symbols_by_name[s]


def _checked(dim: Dim, dimensions: dict[Symbol, Any]) -> Any:
    if isinstance(dim, int):
        return dim
    if not isinstance(dim, Symbol):
        problem = "a PartialShape holds only sizes and symbols, not expressions"
        raise DimensionError(dim, problem, "write '?' or a name for this axis, and keep the relation as an assumption")
    return dimensions[dim]
