"""onnx-ir: `SymbolicDim`, alone or in a `Shape`, or in the shape of a `Value`.

In: a name is one size throughout a model; text that onnx-ir cannot parse is a name too. None and the texts ``?`` and
``-1`` are unknowns, a new one each time. Expressions are read as onnx-ir parses them: ``+ - * // % **``, ``floor``,
``Mod``, ``max`` and ``min``, but not ``/`` and ``sqrt``. It simplifies them as if every name were at least 1;
`assumptions` returns that for the names in expressions. A name on its own may be 0.

Out: names, unknowns, and expressions that onnx-ir does not change: without ``broadcast``; ``//`` and ``%`` only by
positive numbers, and never of a ``%``, ``min`` or ``max``, which sympy, and so onnx-ir, evaluates wrongly; without
terms like ``min(N, 1)``, which it simplifies to 1. Not supported: unknowns with bounds or that occur twice, and
assumptions, which onnx-ir cannot store.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import sympy

from symbcast.adapters.conversion import cannot_join, load, operations, sizes_of
from symbcast.adapters.sympy import write as write_sympy
from symbcast.core.algebra.arithmetic import check_size
from symbcast.core.algebra.formulas import at_most
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.algebra.sympy_conversion import check_dim, formula_to_sympy, from_sympy
from symbcast.core.algebra.term_arithmetic import substitute
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, symbols_of, term
from symbcast.core.shapes import Shape, ShapeLike, any_shape_of, from_dim, known_rank, shape_of
from symbcast.core.shapes import shape as read_shape
from symbcast.core.text.notation import dim_text
from symbcast.errors import DimensionError

if TYPE_CHECKING:
    import onnx_ir

_UNKNOWN = ("", "?", "-1")


def read(value: object) -> Shape:
    """Return the shape of an `onnx_ir.Shape`, of a `Value` or tensor, or of a sequence of dimensions."""
    return any_shape_of(from_dim(d, n) for n, d in enumerate(_dims(value)))


def read_dim(value: Any, unknowns: int = 0) -> Dim | None:
    """Return a `SymbolicDim` as a dimension, or None for anything else."""
    if not _is_symbolic(value):
        return None
    text = value.value
    if text is None or text.strip() in _UNKNOWN:
        return Unknown(f"?{unknowns}")
    expression = _expression(value)
    if expression is None or isinstance(expression, sympy.Symbol):
        return symbol(text)
    if isinstance(expression, sympy.Integer):
        return check_size(int(expression))
    return _renamed(expression)


def assumptions(*values: object) -> list[sympy.Basic]:
    """Return the assumptions that the names within expressions are at least 1."""
    dims = [read_dim(d) for v in values for d in _dims(v) if _is_symbolic(d)]
    named = symbols_of(d for d in dims if d is not None and not isinstance(d, Symbol))
    return [formula_to_sympy(at_most(1, s)) for s in named]


def write(shape: ShapeLike) -> onnx_ir.Shape:
    """Return a shape as `onnx_ir.Shape`.

    Raises `DimensionError` for anything that onnx-ir cannot express.
    """
    library = load("onnx_ir", "onnx-ir")
    dims = known_rank(read_shape(shape), "a shape of onnx-ir").dims
    # A None of onnx-ir is a new unknown on each axis, so one that occurs twice cannot be written.
    uses = Counter(s for d in dims if not isinstance(d, int) for s in d.symbols())
    return cast("onnx_ir.Shape", library.Shape([_written(library, d, uses) for d in dims]))


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, load("onnx_ir", "onnx-ir").SymbolicDim)


def _dims(value: Any) -> tuple[Any, ...]:
    onnx_ir = load("onnx_ir", "onnx-ir")
    if isinstance(value, onnx_ir.SymbolicDim):
        return (value,)
    dims = value if isinstance(value, onnx_ir.Shape) else getattr(value, "shape", value)
    if dims is None:
        return (...,)
    return sizes_of(dims, value, "a shape of onnx-ir", "pass a Shape, or a Value that has one")


def _expression(value: Any) -> sympy.Expr | None:
    """Return onnx-ir's expression for the text of a dimension, or None if it is not an expression."""
    try:
        expression: sympy.Expr | None = value._expr  # the only access to the expression of a computed SymbolicDim
    except (ValueError, TypeError):
        return None
    return expression


def _renamed(expression: sympy.Expr) -> Dim:
    """Return the dimension in our symbols, which may be 0."""
    value = term(check_dim(expression))
    return substitute(value, {s: symbol(s.name) for s in value.symbols()}).dim()


def _written(onnx_ir: Any, dim: Dim, uses: Counter[Any]) -> Any:
    if isinstance(dim, int):
        return dim
    for s in dim.symbols():
        _check_symbol(s, dim, uses)
    if isinstance(dim, Unknown):
        return onnx_ir.SymbolicDim(None)
    if isinstance(dim, Symbol):
        if dim.name.strip() in _UNKNOWN or _read_back(onnx_ir, dim.name) != dim:
            raise DimensionError(dim, "onnx-ir reads that name as something else", "give it another name")
        return onnx_ir.SymbolicDim(dim.name)
    return _written_expression(onnx_ir, dim)


def _check_symbol(s: Symbol, dim: Term, uses: Counter[Any]) -> None:
    if not isinstance(s, Unknown):
        return
    if dim is not s or uses[s] > 1:
        raise DimensionError(
            dim, "onnx-ir allows an unknown only once and not in an expression", "write a name instead of ?"
        )
    if s.lower or s.upper is not None:
        raise DimensionError(dim, "onnx-ir cannot store bounds", "write '?', and keep the bounds as an assumption")


def _written_expression(onnx_ir: Any, dim: Term) -> Any:
    for operation in operations(dim):
        if operation.kind == "join":
            raise cannot_join(dim, "onnx-ir")
        if operation.kind in ("//", "%"):
            _check_division(operation, dim)
    expression = write_sympy(shape_of((dim,)))[0].doit()  # evaluated, as reading it back does
    if expression.is_Integer:
        return check_size(int(expression))
    text = str(expression)
    read_back = _read_back(onnx_ir, text)
    if read_back != from_sympy(expression):
        read = "one name" if isinstance(read_back, Symbol) and read_back.name == text else dim_text(read_back)
        problem = f"onnx-ir, which assumes that every name is at least 1, reads {text!r} as {read}"
        raise DimensionError(dim, problem, "write that if you mean it, or give the axis its own name")
    return onnx_ir.SymbolicDim(text)


def _check_division(division: Operation, dim: Term) -> None:
    dividend, divisor = division.args
    if not (divisor.is_constant and divisor.constant > 0):
        raise DimensionError(dim, "onnx-ir cancels symbols in a division by a symbol", "divide by a number")
    if any(o.kind != "//" for o in operations(dividend)):
        problem = "onnx-ir, with sympy, evaluates a division of %, min or max wrongly"
        raise DimensionError(dim, problem, "give the dividend its own name")


def _read_back(onnx_ir: Any, text: str) -> Dim:
    dim = read_dim(onnx_ir.SymbolicDim(text))
    return 0 if dim is None else dim
