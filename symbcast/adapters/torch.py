"""Torch: `SymInt` in the shape of a (fake) tensor or alone, `torch.export.Dim`, the inputs of an `ExportedProgram`.

In: a `SymInt` belongs to its `ShapeEnv`: ``s0`` of one and ``s0`` of another are different sizes. Reading adds no guard
and specialises nothing; the replacements of the `ShapeEnv` are substituted. A `Dim` is a size with its name, ``2*dim +
1`` is arithmetic on it. The ragged size of a nested tensor (``j1``) is a size for each tensor of offsets: equal offsets
that are two tensors are two sizes, as in torch. Not supported: sizes that may be negative (an unbacked ``u0`` before
``torch._check(u0 >= 0)``). `assumptions` returns the ranges, replacements, guards and runtime asserts of the `ShapeEnv`
that are about sizes: 0 and 1 are excluded exactly where the `ShapeEnv` excludes them. It also says that a ragged size
is at least 2 and no other size of the same call, so that it broadcasts with itself and 1 only; a number that is the
length of the longest row is left open, as torch pads to it.

Out: a `Dim` with its range for a symbol, and ``a*dim + b`` (``a >= 1``) on it. Nothing else is supported: no
``broadcast``, ``//``, ``%``, ``min``, ``max``, products, two symbols in one dimension, unknowns, assumptions with gaps
or over several symbols. For a `SymInt`, write sympy (`symbcast.adapters.sympy`) and let your `ShapeEnv` create it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import sympy

from symbcast.adapters import conversion
from symbcast.adapters.conversion import ResolvedShapes, Scopes
from symbcast.adapters.torch_operations import OPERATIONS
from symbcast.core.algebra.arithmetic import MAX_SIZE, check_size, multiply
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    Comparison,
    Formula,
    Operator,
    all_of,
    any_of,
    at_most,
    different,
    negate,
)
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.algebra.sympy_conversion import MAX_POWER, formula_to_sympy, read_symbol
from symbcast.core.algebra.sympy_functions import symbol as sympy_symbol
from symbcast.core.algebra.term_arithmetic import operate
from symbcast.core.algebra.terms import Dim, Symbol, Term, collect, constant
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.shapes import Shape, ShapeLike, from_dim, shape_of
from symbcast.errors import DimensionError

if TYPE_CHECKING:
    import torch.export


# Torch's symbolic expressions as terms: sympy with torch's own functions, read by their documented meaning.
#
# Torch writes a quotient as a fraction (``s0/2``) if its guards require that it is exact. It is read as the quotient
# rounded down, which is the same wherever the guards hold. ``CeilToInt(IntTrueDiv(a, b))``, from ``math.ceil(a / b)``,
# is read as exact division; floating-point division agrees for sizes below 2**53.


Leaf: TypeAlias = Callable[[sympy.Symbol], Term]

_ROUNDINGS = ("CeilToInt", "FloorToInt", "TruncToInt", "ceiling", "floor")
_RELATIONS: dict[str, Operator] = {"Equality": "==", "Unequality": "!=", "LessThan": "<=", "StrictLessThan": "<"}


def read_term(expr: Any, leaf: Leaf) -> Term:
    """Return a torch expression as a term; ``leaf`` maps torch's symbols to terms."""
    kind = type(expr).__name__
    if isinstance(expr, sympy.Symbol):
        return leaf(expr)
    if isinstance(expr, sympy.Integer):
        return constant(int(expr))
    if isinstance(expr, (sympy.Add, sympy.Mul)):
        return _read_arithmetic(expr, leaf)
    if isinstance(expr, sympy.Pow) or kind == "PowByNatural":
        return _read_power(expr, leaf)
    if kind in OPERATIONS:
        return operate(OPERATIONS[kind], tuple(read_term(a, leaf) for a in expr.args))
    if kind in _ROUNDINGS:
        return _read_rounding(kind, expr.args[0], leaf)
    if kind == "Identity":
        return read_term(expr.args[0], leaf)
    raise DimensionError(expr, f"torch's {kind} is not part of a dimension")


def _read_arithmetic(expr: Any, leaf: Leaf) -> Term:
    factors = [f for a in sympy.Add.make_args(expr) for f in sympy.Mul.make_args(a)]
    if any((f.is_Rational and not f.is_Integer) or (f.is_Pow and f.exp.is_negative) for f in factors):
        return _read_quotient(expr, leaf)
    parts = [read_term(a, leaf) for a in expr.args]
    if isinstance(expr, sympy.Add):
        return collect((p, 1) for p in parts)
    product = constant(1)
    for part in parts:
        product = product * part
    return product


def _read_quotient(expr: Any, leaf: Leaf) -> Term:
    """Return a quotient, rounded down."""
    if type(expr).__name__ in ("IntTrueDiv", "FloatTrueDiv"):
        numerator, denominator = expr.args
    else:
        numerator, denominator = sympy.fraction(sympy.together(expr))
    return operate("//", (read_term(numerator, leaf), read_term(denominator, leaf)))


def _read_power(expr: Any, leaf: Leaf) -> Term:
    base, exponent = expr.args
    if not (exponent.is_Integer and 0 <= exponent <= MAX_POWER):
        raise DimensionError(expr, f"the exponent {exponent} is not an integer from 0 to {MAX_POWER}")
    product, factor = constant(1), read_term(base, leaf)
    for _ in range(int(exponent)):
        product = product * factor
    return product


def _read_rounding(kind: str, inner: Any, leaf: Leaf) -> Term:
    if kind in ("CeilToInt", "ceiling"):
        return -_read_quotient_of_negated(inner, leaf)
    quotient = _read_quotient(inner, leaf)
    low = quotient.lower_bound
    if kind == "TruncToInt" and (low is None or low < 0):
        raise DimensionError(inner, "rounding towards zero is a floor only for a value that is not negative")
    return quotient


def _read_quotient_of_negated(inner: Any, leaf: Leaf) -> Term:
    if type(inner).__name__ in ("IntTrueDiv", "FloatTrueDiv"):
        numerator, denominator = (read_term(a, leaf) for a in inner.args)
        return operate("//", (-numerator, denominator))
    return _read_quotient(-inner, leaf)


def read_formula(fact: Any, leaf: Leaf) -> Formula:
    """Return one of torch's guards as a formula."""
    if fact in (True, sympy.true):
        return TRUE
    if fact in (False, sympy.false):
        return FALSE
    kind = type(fact).__name__
    if kind in ("GreaterThan", "StrictGreaterThan"):
        return read_formula(fact.reversed, leaf)
    if kind in _RELATIONS:
        left, right = (read_term(a, leaf).dim() for a in fact.args)
        return Comparison(_RELATIONS[kind], left, right)
    parts = [read_formula(a, leaf) for a in fact.args] if kind in ("And", "Or", "Not") else []
    match kind:
        case "And":
            return all_of(parts)
        case "Or":
            return any_of(parts)
        case "Not":
            return negate(parts[0])
        case _:
            raise DimensionError(fact, "is not a comparison of sizes")


_scopes = Scopes()


def read(value: object) -> Shape:
    """Return the shape of a tensor, or of a sequence of sizes, `SymInt` and `torch.export.Dim`."""
    return shape_of(_dim(d, n) for n, d in enumerate(_dims(value)))


def read_inputs(program: torch.export.ExportedProgram) -> dict[str, Shape]:
    """Return the shapes of the user's input tensors of an `ExportedProgram`, by name."""
    return {name: read(value) for name, value in _inputs(program).items()}


def read_dim(value: Any, unknowns: int = 0) -> Dim | None:
    """Return a `SymInt` or `torch.export.Dim` as a dimension, or None for anything else."""
    if isinstance(value, conversion.load("torch", "torch").SymInt):
        return _read_symint(value)
    if type(value).__name__ == "_DimHint":
        if getattr(value, "type", value).name == "STATIC":
            raise DimensionError(value, "Dim.STATIC means the size of the example", "pass the example's size")
        return Unknown(f"?{unknowns}", getattr(value, "min", None) or 0, getattr(value, "max", None))
    if not _is_export_dim(value):
        return None
    root = getattr(value, "root", None)
    return (
        symbol(value.__name__) if root is None else read_term(value.fn(sympy_symbol(root.__name__)), read_symbol).dim()
    )


def assumptions(*values: object) -> list[sympy.Basic]:
    """Return torch's facts about the sizes in some shapes, `SymInt`, `Dim` or an `ExportedProgram`.

    Facts that are not comparisons of sizes are left out: the answer then covers more sizes, and is still right.
    """
    program = conversion.load("torch.export", "torch").ExportedProgram
    shapes = [list(_inputs(v).values()) if isinstance(v, program) else [v] for v in values]
    dims = [d for tensors in shapes for tensor in tensors for d in _dims(tensor)]
    facts: dict[sympy.Basic, None] = dict.fromkeys(_facts_on_ragged(shapes))
    for dim in dims:
        if _is_export_dim(dim):
            root = getattr(dim, "root", dim)
            facts.update(dict.fromkeys(_range(symbol(root.__name__), root.min, root.max)))
    symbols_by_env: dict[Any, set[Any]] = {}
    for dim in dims:
        if _has_symbol(dim):
            # The expression before and after replacements: a replaced size has facts too.
            symbols_by_env.setdefault(dim.node.shape_env, set()).update(
                dim.node._expr.free_symbols, dim.node.expr.free_symbols
            )
    for env, symbols in symbols_by_env.items():
        facts.update(dict.fromkeys(_facts(env, symbols)))
    return [f for f in facts if f != sympy.true]


def write(shape: ShapeLike, *, assume: Assumptions = (), min_size: int = 0) -> tuple[int | torch.export.Dim, ...]:
    """Return a shape as `torch.export.Dim` and ``int``, for ``dynamic_shapes``, with the assumed ranges.

    Raises `DimensionError` for anything that a `Dim` cannot express.
    """
    return write_all([shape], assume=assume, min_size=min_size)[0]


def write_all(
    shapes: Iterable[ShapeLike], *, assume: Assumptions = (), min_size: int = 0
) -> list[tuple[int | torch.export.Dim, ...]]:
    """Return several shapes in which one symbol is one `torch.export.Dim`."""
    export = conversion.load("torch.export", "torch")
    resolved = conversion.resolve_shapes(shapes, assume, min_size)
    resolved.refuse_others("torch.export")
    names = conversion.identifiers(resolved.names, "torch.export")
    dims = {s: _written_symbol(export, resolved, s, names[s]) for s in resolved.domains}
    return [tuple(_written(d, dims) for d in s.dims) for s in resolved.shapes]


def _dims(value: Any) -> tuple[Any, ...]:
    dims = getattr(value, "shape", value)
    if isinstance(dims, conversion.load("torch", "torch").SymInt) or _is_export_dim(dims):
        return (dims,)
    return conversion.sizes_of(dims, value, "a shape of torch", "pass a tensor, a torch.Size or a tuple of dims")


def _dim(value: Any, unknowns: int) -> Dim:
    if value is None:
        raise DimensionError(value, "torch.export reads None as the size of the example", "pass the example's size")
    # A negative number is an error in a shape of torch, but an unknown in ours.
    return check_size(value) if type(value) is int else from_dim(value, unknowns)


def _is_export_dim(value: Any) -> bool:
    # By name: before torch 2.7, Dim was a function that made classes.
    return hasattr(value, "__name__") and any(
        k.__module__ == "torch.export.dynamic_shapes" for k in type(value).__mro__
    )


def _has_symbol(value: Any) -> bool:
    is_symint = isinstance(value, conversion.load("torch", "torch").SymInt)
    return is_symint and value.node.maybe_as_int() is None and hasattr(value.node, "shape_env")


def _read_symint(value: Any) -> Dim:
    node = value.node
    size = node.maybe_as_int()
    if size is not None:
        return check_size(int(size))
    env = getattr(node, "shape_env", None)
    if env is None:
        return multiply(_ragged_size(node.nested_int()), node.nested_int_coeff())
    return read_term(node.expr, _leaf(env)).dim()


# The ragged size of each tensor of offsets, by the number that torch gives these.
_ragged: dict[int, Symbol] = {}


def _ragged_size(number: int) -> Symbol:
    if number not in _ragged:
        _ragged[number] = read_symbol(conversion.ScopedSymbol(f"j{number}"))
    return _ragged[number]


def _facts_on_ragged(shapes: Iterable[Iterable[Any]]) -> Iterator[sympy.Basic]:
    """Yield that the ragged sizes of some tensors are at least 2 and differ from all other sizes of these tensors."""
    padded_to: dict[Dim, int | None] = {}
    others: dict[Dim, None] = {}
    for value in (tensor for tensors in shapes for tensor in tensors):
        for dim in _dims(value):
            size = _dim(dim, 0)
            others[size] = None
            if isinstance(dim, conversion.load("torch", "torch").SymInt) and dim.node.is_nested_int():
                padded_to[size] = _padded_length(value)
    for ragged, length in padded_to.items():
        yield formula_to_sympy(at_most(2, ragged))
        others.pop(ragged)
        for size in others:
            if size not in (0, 1, length):
                yield formula_to_sympy(different(ragged, size))


def _padded_length(value: Any) -> int | None:
    """Return the size of a dense tensor that torch pads a nested one to: the longest row, or all rows if not known."""
    length = getattr(value, "_maybe_max_seqlen", None)
    if length is None and hasattr(value, "_ragged_idx"):
        length = value.values().shape[value._ragged_idx - 1]
    return length if type(length) is int else None  # a SymInt would guard where it is compared


def _leaf(env: Any) -> Any:
    """Return a function that maps the symbols of a `ShapeEnv` to ours."""

    def leaf(s: sympy.Symbol) -> Symbol:
        bounds = env.var_to_range.get(s)
        if not s.is_nonnegative and (bounds is None or bounds.lower < 0):
            raise DimensionError(s, "it may be negative, so it is not a size", f"call torch._check({s} >= 0) first")
        return _scopes.symbol(env, s.name)

    return leaf


def _facts(env: Any, symbols: set[Any]) -> Iterator[sympy.Basic]:
    """Yield the facts of a `ShapeEnv` about some symbols, and about symbols that these facts connect to them."""
    facts = list(_facts_on_several_symbols(env))
    # A size that was replaced after it was read is no longer in any shape.
    symbols = symbols.union(s for s in env.replacements if (env, s.name) in _scopes)
    # Facts tie sizes together: those of a tied size count too, until no more are tied.
    grown = True
    while grown:
        tied = [f for f in facts if not symbols.isdisjoint(f.free_symbols)]
        connected = symbols.union(*(f.free_symbols for f in tied))
        grown, symbols = connected != symbols, connected
    leaf = _leaf(env)
    for s in sorted(symbols, key=str):
        bounds = env.var_to_range.get(s)
        if bounds is not None and bounds.lower >= 0:
            yield from _range(_scopes.symbol(env, s.name), bounds.lower, bounds.upper)
    for fact in tied:
        try:
            yield formula_to_sympy(read_formula(fact, leaf))
        except DimensionError:
            continue


def _facts_on_several_symbols(env: Any) -> Iterator[Any]:
    """Yield the facts of a `ShapeEnv` about several symbols, as torch writes them."""
    for s, value in env.replacements.items():
        yield sympy.Eq(s, value, evaluate=False)
    yield from (sympy.Eq(divided, 0, evaluate=False) for divided in env.divisible)
    yield from (guard.expr for guard in env.guards)
    for asserts in env.deferred_runtime_asserts.values():
        yield from (a.expr for a in asserts)


def _range(s: Symbol, low: Any, high: Any) -> Iterator[sympy.Basic]:
    if low > 0:
        yield formula_to_sympy(at_most(int(low), s))
    if high < MAX_SIZE - 1:  # torch wrote "no end" as MAX_SIZE - 1 before it had an infinite integer
        yield formula_to_sympy(at_most(s, int(high)))


def _inputs(program: Any) -> dict[str, Any]:
    taken = set(program.graph_signature.user_inputs)
    nodes = [n for n in program.graph.nodes if n.op == "placeholder" and n.name in taken]
    return {n.name: n.meta["val"] for n in nodes if hasattr(n.meta.get("val"), "shape")}


def _written_symbol(export: Any, resolved: ResolvedShapes, s: Symbol, name: str) -> Any:
    if isinstance(s, Unknown):
        raise DimensionError(s, "a torch.export.Dim has a name", "write a name instead of ?")
    low, high = resolved.bounds(s, "torch.export.Dim")
    return export.Dim(name, min=low, max=high)


def _written(dim: Dim, dims: dict[Symbol, Any]) -> Any:
    if isinstance(dim, int):
        return dim
    factor, s, offset = _linear(dim)
    if factor == 1 and offset == 0:
        return dims[s]
    if factor * dims[s].min + offset < 0:
        raise DimensionError(dim, f"it is negative if {s} is {dims[s].min}", f"assume '{s} >= {-(offset // factor)}'")
    if dims[s].__name__ in sympy.__all__:
        # torch parses the name with sympify, where N and S, for example, mean something else.
        raise DimensionError(dim, f"torch does no arithmetic on a Dim called {s}", "give it another name")
    scaled = factor * dims[s] if factor > 1 else dims[s]
    return scaled + offset if offset else scaled


def _linear(value: Term) -> tuple[int, Symbol, int]:
    """Return ``a, s, b`` of a term ``a*s + b``."""
    if any(o.kind == "join" for o in conversion.operations(value)):
        raise conversion.cannot_join(value, "torch.export")
    monomials = [(m, c) for m, c in value.coefficients.items() if m]
    if len(monomials) == 1:
        (atoms, factor) = monomials[0]
        if len(atoms) == 1 and isinstance(atoms[0], Symbol) and factor > 0:
            return factor, atoms[0], value.constant
    problem = "a torch.export.Dim is a*dim + b of one dim, with a >= 1"
    raise DimensionError(value, problem, "give the axis its own name, and leave its relation to the model")
