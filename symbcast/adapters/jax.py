"""Jax: the symbolic dimensions of ``jax.export``, in a shape, a `jax.ShapeDtypeStruct` or anything with a ``.shape``.

In: every operation of jax (``+ - * ^``, ``floordiv``, ``mod``, ``max``, ``min``, as in Python). A dimension belongs to
its scope: ``a`` of one scope and ``a`` of another are different sizes. Jax assumes that every dimension variable is at
least 1; `assumptions` returns that and the constraints of the scope.

Out: into a new scope, with the assumptions as its constraints. Not supported: ``broadcast(N, M)``; a size that may be 0
(assume ``N >= 1``); assumptions with ``or`` and ``!=``; names that are not identifiers, or that are ``max``, ``min``,
``mod`` or ``floordiv``. Jax simplifies by its constraints, so ``max(N, 1)`` is read back as ``N``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

import sympy

from symbcast.adapters import conversion
from symbcast.adapters.conversion import ResolvedShapes, Scopes
from symbcast.core.algebra.arithmetic import check_size, replace_symbols
from symbcast.core.algebra.formulas import AllOf, Comparison, Formula, at_most, dims_of
from symbcast.core.algebra.sympy_conversion import formula_to_sympy
from symbcast.core.algebra.terms import Dim, Kind, symbols_of, term
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.shapes import Shape, ShapeLike, from_dim, shape_of
from symbcast.core.solver.evaluation import replace_in_formula
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.text import parse_dim, parse_formula
from symbcast.core.text.notation import formula_text
from symbcast.errors import DimensionError, ShapeSyntaxError

_scopes = Scopes()
_POSITIVE = SizeSet.interval(1, None)
_RESERVED = ("max", "min", "mod", "floordiv", "_")
_NAME = re.compile(r"[^\W\d]\w*(?![\w(])")


def read(value: object) -> Shape:
    """Return the shape of an array, a `jax.ShapeDtypeStruct`, or a sequence of sizes and symbolic dimensions."""
    return shape_of(from_dim(_size(d)) for d in _dims(value))


def read_dim(value: Any, unknowns: int = 0) -> Dim | None:
    """Return a symbolic dimension of jax, or None for anything else."""
    if not _is_symbolic(value):
        return None
    try:
        dim = parse_dim(_quoted(str(value)))
    except ShapeSyntaxError as error:  # too long, or a negative number that jax has not evaluated
        raise DimensionError(value, error.problem) from error
    return replace_symbols(dim, {s: _scopes.symbol(value.scope, s.name) for s in symbols_of([dim])})


def assumptions(*values: object) -> list[sympy.Basic]:
    """Return jax's assumptions about the sizes in some shapes: a minimum of 1, and the scope's constraints."""
    facts: dict[sympy.Basic, None] = {}
    for scope in dict.fromkeys(d.scope for v in values for d in _dims(v) if _is_symbolic(d)):
        facts.update(dict.fromkeys(_constraints(scope)))
    for s in symbols_of([d for v in values for d in read(v).dims]):
        facts[formula_to_sympy(at_most(1, s))] = None
    return [f for f in facts if f != sympy.true]


def write(shape: ShapeLike, *, assume: Assumptions = (), min_size: int = 0) -> tuple[Any, ...]:
    """Return a shape for `jax.ShapeDtypeStruct`, in a new scope with the assumptions as its constraints.

    Raises `DimensionError` for anything that jax cannot express.
    """
    return write_all([shape], assume=assume, min_size=min_size)[0]


def write_all(shapes: Iterable[ShapeLike], *, assume: Assumptions = (), min_size: int = 0) -> list[tuple[Any, ...]]:
    """Return several shapes in one new scope: a computation can only mix dimensions of one scope."""
    export = conversion.load("jax.export", "jax")
    resolved = conversion.resolve_shapes(shapes, assume, min_size)
    names = conversion.identifiers(resolved.names, "jax", _RESERVED)
    texts = [", ".join(_text(d, names) for d in s.dims) for s in resolved.shapes]
    constraints = list(_written_constraints(resolved, names))
    try:
        scope = export.SymbolicScope(constraints)
    except (ValueError, NotImplementedError) as error:
        raise DimensionError("; ".join(constraints), f"jax does not take these constraints: {error}") from error
    written = [tuple(_size(d) for d in export.symbolic_shape(text, scope=scope)) for text in texts]
    _scopes.record(scope, names)
    return written


def dimension_text(dim: Dim) -> str:
    """Return a dimension in the grammar of ``jax.export.symbolic_shape``, with its names unchanged.

    Raises `DimensionError` for a join, which jax does not have.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> dimension_text(symbol("n") + 1), dimension_text(4)
    ('1 + n', '4')
    """
    return str(dim) if isinstance(dim, int) else _text(dim, _OwnNames())


class _OwnNames(dict[Any, str]):
    """A mapping from each size to its own name."""

    def __missing__(self, key: Any) -> str:
        return str(key.name)


def _dims(value: Any) -> tuple[Any, ...]:
    dims = getattr(value, "shape", value)
    if _is_symbolic(dims):
        return (dims,)
    return conversion.sizes_of(dims, value, "a shape of jax", "pass an array, a ShapeDtypeStruct or a tuple")


def _size(value: Any) -> Any:
    """Return a size unchanged; raise for a negative integer, which jax can compute: -1 is not an unknown here."""
    return check_size(value) if type(value) is int else value


def _is_symbolic(value: Any) -> bool:
    return bool(conversion.load("jax.export", "jax").is_symbolic_dim(value))


def _quoted(text: str) -> str:
    """Return jax's text in our grammar; names are quoted, since jax may call a dimension ``None`` or ``and``."""
    return _NAME.sub(lambda name: f"'{name[0]}'", text).replace("^", "**")


def _constraints(scope: Any) -> Iterator[sympy.Basic]:
    """Yield the constraints of a scope, and a lower bound of 1 for each size in them."""
    for constraint in scope._explicit_constraints:  # jax offers no public access to them
        text = constraint.debug_str
        formula = parse_formula(_quoted(text))
        inside = {s: _scopes.symbol(scope, s.name) for s in symbols_of(dims_of(formula))}
        yield formula_to_sympy(replace_in_formula(formula, inside))
        # jax takes every dimension to be at least 1.
        yield from (formula_to_sympy(at_most(1, s)) for s in inside.values())


def _text(dim: Dim, names: dict[Any, str]) -> str:
    return conversion.fold(term(dim), names.__getitem__, partial(_operation, dim), _total)


def _total(parts: Sequence[tuple[int, list[str]]]) -> str:
    terms = (f"{'-' if number < 0 else '+'} {_product(abs(number), factors)}" for number, factors in parts)
    return " ".join(terms).removeprefix("+ ") or "0"


def _product(number: int, factors: list[str]) -> str:
    return "*".join(factors if number == 1 and factors else [str(number), *factors])


def _operation(dim: Dim, kind: Kind, args: list[str]) -> str:
    if kind == "join":
        raise conversion.cannot_join(dim, "jax")
    function = {"//": "floordiv", "%": "mod", "min": "min", "max": "max"}[kind]
    return reduce(lambda left, right: f"{function}({left}, {right})", args)


def _written_constraints(resolved: ResolvedShapes, names: dict[Any, str]) -> Iterator[str]:
    for s, members in resolved.domains.items():
        if resolved.may_be_zero(s):
            hint = f"pass assume='{names[s]} >= 1', or min_size=1"
            raise DimensionError(s, "it may be 0, and jax assumes that every dimension is at least 1", hint)
        yield from _written(set_formula(s, members, _POSITIVE), names)
    for formula in resolved.others:
        yield from _written(formula, names)


def _written(formula: Formula, names: dict[Any, str]) -> Iterator[str]:
    match formula:
        case AllOf(parts):
            for part in parts:
                yield from _written(part, names)
        case Comparison("<=", left, right):
            yield f"{_text(right, names)} >= {_text(left, names)}"
        case Comparison("<", left, right):
            yield f"{_text(right, names)} >= {_text(left, names)} + 1"
        case Comparison("==", left, right) if isinstance(right, int) and len(term(left).coefficients) == 1:
            yield f"{_text(left, names)} == {right}"
        case Comparison("==", left, right):
            # An equality would make jax substitute one side for the other; two bounds say the same and keep both.
            yield f"{_text(right, names)} >= {_text(left, names)}"
            yield f"{_text(left, names)} >= {_text(right, names)}"
        case _:
            problem = "jax supports only constraints with ==, >= and <="
            raise DimensionError(formula_text(formula), problem, "omit this assumption in jax, and keep it here")
