"""Conversion from and to sympy: expressions as terms, Booleans as formulas, and back.

This is the only place that reads what users hand in as sympy objects, and that makes the sympy objects they get.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from math import lcm
from operator import itemgetter
from typing import Any, ClassVar, TypeVar
from weakref import WeakValueDictionary

import sympy
from sympy.core.basic import Basic
from sympy.core.relational import Relational
from sympy.core.sorting import default_sort_key
from sympy.logic.boolalg import Boolean, BooleanFunction

from symbcast.core.algebra import arithmetic, formulas, sympy_functions, term_arithmetic, terms
from symbcast.core.algebra.symbols import Dummy, SequenceSymbol, Unknown, UserSymbol, name_text, symbol
from symbcast.core.algebra.sympy_functions import GUARDED, Coded, QuotedSymbol, SizeOfAxes, SympyDim
from symbcast.core.algebra.sympy_functions import Unknown as SympyUnknown
from symbcast.core.algebra.terms import Atom, Dim, Operation, Symbol, Term
from symbcast.core.effort import cached_uncounted
from symbcast.errors import AssumptionError, DimensionError, ShapeTypeError

MAX_POWER = 16

# The sympy symbol of each unknown, as long as somebody holds it; it holds the unknown in turn.
_unknowns: WeakValueDictionary[Unknown, SympyUnknown] = WeakValueDictionary()

_MAX_DEPTH = 100


def plain(expression: sympy.Basic) -> SympyDim:
    """Return an ``int`` for a sympy integer and the expression itself otherwise."""
    return int(expression) if isinstance(expression, sympy.Integer) else expression


# From sympy.


def check_dim(value: Any) -> Dim:
    """Return a user's sympy object as a dimension, or raise an error that explains why it is not one.

    Raises `ShapeTypeError` if the object is not an expression and `DimensionError` if the expression is not a size.
    """
    if isinstance(value, sympy.Symbol):
        return from_sympy(value)
    if not isinstance(value, sympy.Expr):
        raise ShapeTypeError(value, "a dimension", "write an int, a name such as 'N', a sympy expression or None")
    if isinstance(value, sympy.Integer):
        return arithmetic.check_size(int(value))
    _check_depth(value)
    for part in value.free_symbols:
        _check_symbol(part, value)
    try:
        return from_sympy(value)
    except DimensionError as error:
        if error.value is value:
            raise
        raise DimensionError(
            value, f"it contains {error.value}, which is not allowed: {error.problem}", error.hint
        ) from None


def _check_symbol(symbol: sympy.Symbol, value: Any) -> None:
    if symbol.is_prime or symbol.is_composite:
        raise DimensionError(value, f"{symbol} is declared prime or composite, which is not supported", "leave it out")
    if symbol.is_integer is False or symbol.is_negative or symbol.is_infinite:
        raise DimensionError(value, f"{symbol} is not a non-negative integer", "use symbcast.symbol(name)")


def _check_depth(value: Any) -> None:
    """Raise `DimensionError` for an expression that is nested too deeply for recursion."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise DimensionError("a sympy expression", f"nests more than {_MAX_DEPTH} deep", "write it flatter")
        level = list({id(a): a for e in level for a in e.args}.values())


def from_sympy(value: Any) -> Dim:
    """Return a sympy expression as a dimension.

    Raises `DimensionError` for an expression that is not an integer built from ``+ - * // % min max broadcast``.

    >>> N = sympy.Symbol("N", integer=True, nonnegative=True)
    >>> from_sympy((N + 1) ** 2), from_sympy((4 * N + 3) // 2)
    (N**2 + 2*N + 1, 2*N + 1)
    """
    return int(value) if isinstance(value, int) else _with_names(value).dim()


@cached_uncounted(4096)
def _with_names(expr: Any) -> Term:
    """Return an expression as a term that mentions each of its symbols, also where the term is simpler."""
    simplified = _read(expr)
    lost = [s for s in map(read_symbol, expr.free_symbols) if s not in simplified.symbols()]
    return (
        terms.term(arithmetic.mentioning(simplified.dim(), sorted(lost, key=lambda s: s.key))) if lost else simplified
    )


@cached_uncounted(4096)
def _read(expr: Any) -> Term:
    if isinstance(expr, int):
        return terms.constant(expr)
    return _READERS.get(expr.func, _read_other)(expr)


def read_symbol(written: sympy.Symbol) -> Symbol:
    """Return the size that a sympy symbol represents: one of our own, or the user's."""
    if isinstance(written, SympyUnknown):
        return Unknown(written.name, written.lower, written.upper, written.dummy_index)
    if isinstance(written, SizeOfAxes):
        return written.within
    if not written.is_Dummy and written == sympy.Symbol(written.name, integer=True, nonnegative=True):
        return symbol(written.name)
    _check_symbol(written, written)
    size = terms.interned(("sympy", written), _outside, written)
    assert isinstance(size, Symbol)
    return size


def _outside(written: Any) -> Symbol:
    lower = 1 if written.is_positive or written.is_nonzero else 0
    parity = 0 if written.is_even else 1 if written.is_odd else None
    kind, number = (Dummy, written.dummy_index) if written.is_Dummy else (UserSymbol, 0)
    size = terms.made_symbol(kind, written.name, number, lower, 0 if written.is_nonpositive else None, parity)
    size.outside = written
    return size


def _pickled(symbol_: UserSymbol) -> tuple[Any, ...]:
    return from_sympy, (symbol_.outside,)


# Anyone who holds one of these got it from this module, so this runs before any of them can be pickled.
copyreg.pickle(UserSymbol, _pickled)
copyreg.pickle(Dummy, _pickled)


def _read_power(expr: Any) -> Term:
    base, exponent = expr.args
    if not (exponent.is_Integer and 0 <= exponent <= MAX_POWER):
        raise DimensionError(expr, f"the exponent {exponent} is not an integer from 0 to {MAX_POWER}")
    result = terms.constant(1)
    for _ in range(int(exponent)):
        result = result * _read(base)
    return result


def _read_product(expr: Any) -> Term:
    number = expr.args[0]
    if number.is_Rational and not number.is_Integer and expr.is_integer:
        # An integer to sympy, such as half of an even size e: sympy simplifies floor(e/2) to this.
        return term_arithmetic.floordiv_terms(_read(expr * number.q), terms.constant(int(number.q)))
    result = terms.constant(1)
    for factor in expr.args:
        result = result * _read(factor)
    return result


def _read_floor(expr: Any) -> Term:
    parts = [part.as_coeff_Mul() for part in sympy.Add.make_args(expr.args[0])]
    if all(coefficient.is_Rational and not _divides(rest) for coefficient, rest in parts):
        common = lcm(*(int(coefficient.q) for coefficient, _ in parts))
        numerator = terms.collect((_read(rest), int(coefficient * common)) for coefficient, rest in parts)
        return term_arithmetic.floordiv_terms(numerator, terms.constant(common))
    numerator, denominator = sympy.fraction(sympy.together(expr.args[0]))
    return term_arithmetic.floordiv_terms(_read(sympy.expand(numerator)), _read(denominator))


def _divides(factor: Any) -> bool:
    """Return whether a product has a denominator, or a sum that may have one."""
    return any(f.is_Pow or f.is_Add for f in sympy.Mul.make_args(factor))


def _read_mod(expr: Any) -> Term:
    dividend, divisor = map(_read, expr.args)
    # sympy itself simplifies a remainder by 1 to 0; if one remains, it was written for a mention.
    return (
        term_arithmetic.mention(dividend)
        if divisor is terms.constant(1)
        else term_arithmetic.modulo_terms(dividend, divisor)
    )


def _read_join(expr: Any) -> Term:
    return term_arithmetic.join_terms(map(_read, expr.args))


def _read_other(expr: Any) -> Term:
    if isinstance(expr, sympy.Symbol):
        return read_symbol(expr)
    if isinstance(expr, sympy.Integer):
        return terms.constant(int(expr))
    called = getattr(expr.func, "__name__", None) or str(expr.func)
    hint = "write // for a quotient rounded down" if expr.is_number or expr.is_Pow else ""
    raise DimensionError(expr, f"{called} is not part of a dimension", hint)


_READERS: dict[Any, Callable[[Any], Term]] = {
    sympy.Add: lambda e: terms.collect((_read(a), 1) for a in e.args),
    sympy.Mul: _read_product,
    sympy.Pow: _read_power,
    sympy.floor: _read_floor,
    sympy.ceiling: lambda e: -_read_floor(sympy.floor(-e.args[0], evaluate=False)),
    sympy.Mod: _read_mod,
    sympy_functions.mod: _read_mod,
    sympy_functions.floordiv: lambda e: term_arithmetic.floordiv_terms(*map(_read, e.args)),
    sympy.Min: lambda e: term_arithmetic.extremum_terms("min", map(_read, e.args)),
    sympy.Max: lambda e: term_arithmetic.extremum_terms("max", map(_read, e.args)),
    sympy_functions.broadcast: _read_join,
    sympy_functions.guarded_broadcast: _read_join,
    sympy_functions.guarded_floordiv: lambda e: term_arithmetic.floordiv_terms(*map(_read, e.args)),
    sympy_functions.guarded_mod: _read_mod,
}


# To sympy.


def to_sympy(dim: Dim) -> SympyDim:
    """Return a dimension as an ``int`` or a sympy expression; sympy evaluates only what it evaluates correctly."""
    if isinstance(dim, int):
        return dim
    return symbol_to_sympy(dim) if isinstance(dim, Symbol) else plain(_written(dim))


_SIZE_ASSUMPTIONS = sympy.Symbol("N", integer=True, nonnegative=True)._hashable_content()[1:]


def symbol_to_sympy(size: Symbol) -> sympy.Symbol:
    """Return the sympy symbol of a size: the user's own if one was given."""
    if size.written is None:
        size.written = size.outside if size.outside is not None else _new_symbol(size)
    return size.written


def _new_symbol(size: Symbol) -> sympy.Symbol:
    if isinstance(size, Unknown):
        size.is_spoken = False  # whoever has the symbol holds the unknown
        shown = _unknowns.get(size)
        if shown is None:
            shown = _unknowns[size] = SympyUnknown(size.name, size.lower, size.upper, size.number)
            shown.within = size
        return shown
    if isinstance(size, SequenceSymbol):
        return SizeOfAxes(size)
    # What `sympy.Symbol` returns but for its cache, which takes four times as long for a new name: `written` keeps it.
    kind = sympy.Symbol if name_text(size.name) == size.name else QuotedSymbol
    shown_size: sympy.Symbol = sympy.Symbol.__xnew__(kind, size.name, integer=True, nonnegative=True)
    # Its hash, which sympy would find by sorting the same assumptions again for each symbol.
    shown_size._mhash = hash(("Symbol", size.name, *_SIZE_ASSUMPTIONS))
    return shown_size


@lru_cache(maxsize=4096)
def _written(value: Term) -> sympy.Expr:
    if isinstance(value, Atom):
        return _atom_written(value)
    parts = [sympy.Mul(c, *map(_atom_written, m)) for m, c in value.coefficients.items()]
    return sympy.Add(*parts)


def _atom_written(atom: Atom) -> sympy.Expr:
    if isinstance(atom, Symbol):
        return symbol_to_sympy(atom)
    assert isinstance(atom, Operation)
    return _operation_written(atom)


@lru_cache(maxsize=4096)
def _operation_written(operation: Operation) -> sympy.Expr:
    if operation.kind in ("//", "%"):
        return _division_written(operation)
    args = [sympy.sympify(to_sympy(a.dim())) for a in operation.args]
    if operation.kind == "join":
        undefined = sum(a.is_constant for a in operation.args) > 1
        return sympy_functions.broadcast(*args, evaluate=not undefined)
    # sympy compares every member with every other (seconds for a long list), and in factoring `min` out of `max`
    # it leaves Max(2, 3) unevaluated: the remaining members need no evaluation.
    return (sympy.Min if operation.kind == "min" else sympy.Max)(*args, evaluate=False)


def _division_written(operation: Operation) -> sympy.Expr:
    dividend, divisor = operation.args
    above, below = (sympy.sympify(to_sympy(a.dim())) for a in operation.args)
    if not _sympy_is_exact(dividend, divisor):
        return (sympy_functions.floordiv if operation.kind == "//" else sympy_functions.mod)(above, below)
    if operation.kind == "%":
        # For a symbol, sympy would search for two milliseconds and find nothing.
        return _unevaluated(sympy.Mod, above, below) if dividend.is_Symbol else sympy.Mod(above, below)
    # sympy's floor would spend a millisecond searching for integer parts; a term's dividend has none.
    return _unevaluated(sympy.floor, above / below)


def _unevaluated(function: Any, *args: sympy.Expr) -> sympy.Expr:
    """Return what ``function(*args, evaluate=False)`` does, which takes 0.2 ms to find the number of arguments."""
    expression: Any = Basic.__new__(function, *args)
    expression.nargs = _arities(function)
    return expression


@cache
def _arities(function: Any) -> Any:
    return function.nargs


def _sympy_is_exact(dividend: Term, divisor: Term) -> bool:
    """Return whether sympy handles a division correctly: only if it divides a polynomial by a positive number.

    Beyond that sympy 1.14 is wrong: it takes an even size over 6 for an integer, so Mod(Max(2*N, 4), 6) is 0 and
    its floor a fraction; it squares the inner Mod of M*(N % 4) % 3; and Mod(-N, 2*N) is -N. It cancels symbols:
    N*M//M would be N, and would no longer require that M is not 0.
    """
    if not divisor.is_constant or divisor.constant <= 0 or dividend.has_operations:
        return False
    return all(s.parity is None for s in dividend.symbols())


# Formulas as sympy Booleans, and back.


T = TypeVar("T")


class compatible(Coded, BooleanFunction):  # noqa: N801 - prints and parses under this name
    """The sizes broadcast together: those other than 1 are all equal. It is n-ary, so many sizes form one term.

    >>> from symbcast.core.algebra.sympy_functions import symbol
    >>> a, b, c = map(symbol, "abc")
    >>> compatible(a, b, c).subs({a: 1, b: 3, c: 3}), compatible(a, b, c).subs({a: 2, b: 3})
    (True, False)
    """

    value_function: ClassVar[str] = "size_compatible"

    @classmethod
    def eval(cls, *args: sympy.Expr) -> Boolean | None:
        members = dict.fromkeys(a for a in args if a != 1)
        if sum(1 for m in members if m.is_Integer) > 1:
            return sympy.false
        if len(members) <= 1:
            return sympy.true
        ordered = tuple(sorted(members, key=default_sort_key))
        return None if ordered == args else cls(*ordered)

    def _latex(self, printer: Any) -> str:
        return rf"\operatorname{{compatible}}\left({', '.join(map(printer._print, self.args))}\right)"

    def _eval_rewrite_as_And(self, *args: sympy.Expr, **_: Any) -> Boolean:
        return formula_to_sympy(formulas.expand(formulas.Compatible(tuple(map(from_sympy, args)))))

    def to_nnf(self, simplify: bool = True) -> Boolean:
        """Return the formula spelled out pair by pair: negation normal form has no n-ary compatibility."""
        return self.rewrite(sympy.And).to_nnf(simplify=simplify)


# The most sizes whose joint broadcast is spelled out in pairs, which any reader can evaluate. Four sizes have six pairs
# of three alternatives: sympy takes long to make them, and people to read them.
_SPELLED_OUT = 3
_TO_RELATION: dict[formulas.Operator, Any] = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Le, "<": sympy.Lt}


def formula_to_sympy(formula: formulas.Formula) -> Boolean:
    """Return a formula as a sympy Boolean.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> formula_to_sympy(formulas.Compatible((symbol("N"), symbol("M"))))
    Eq(M, 1) | Eq(N, 1) | Eq(N, M)
    """
    match formula:
        case formulas.Comparison(operator, left, right):
            plain = _equality(left, right) if operator == "==" else None
            if plain is not None:
                return plain
            spelled = formulas.each_member(formula)
            return _relation(operator, left, right) if spelled is formula else formula_to_sympy(spelled)
        case formulas.AllOf(parts):
            return _lattice(sympy.And, parts)
        case formulas.AnyOf(parts):
            return _lattice(sympy.Or, parts)
        case formulas.Compatible(dims) if len(dims) > _SPELLED_OUT:
            return _compatible(dims)
        case formulas.Clashing(dims) if len(dims) > _SPELLED_OUT:
            return sympy.Not(_compatible(dims))
        case formulas.Compatible((left, right)):
            return _lattice(sympy.Or, (formulas.equal(left, right), formulas.equal(left, 1), formulas.equal(right, 1)))
        case formulas.Compatible() | formulas.Clashing():
            return formula_to_sympy(formulas.expand(formula))


def simplified_by(boolean: Boolean, simplify: Callable[[], Boolean]) -> Boolean:
    """Return a conjunction or disjunction that ``sympy.simplify`` simplifies by a function; any other as it is.

    sympy looks for `_eval_simplify` on the object; relations have no place for it, so sympy simplifies these itself.
    Nothing else changes: copies and parts are sympy's own.
    """
    if isinstance(boolean, (sympy.And, sympy.Or)):
        boolean._eval_simplify = lambda **_: simplify()
    return boolean


def _compatible(dims: tuple[Dim, ...]) -> Boolean:
    members = dict.fromkeys(map(_guarded, dims))
    if any(isinstance(m, int) for m in members):
        return compatible(*members)
    ordered = _by_our_key([*members]) or sorted(members, key=default_sort_key)
    # In order and distinct: `eval` would change nothing.
    term: Boolean = compatible(*ordered, evaluate=len(members) < 2)
    return term


def _lattice(kind: Any, parts: Iterable[formulas.Formula]) -> Boolean:
    """Return a conjunction or disjunction as sympy would make it, without sympy's search for implied parts.

    There is nothing to find: implied parts were dropped beforehand. sympy negates each relation and compares it
    with every other one, which takes most of the time spent on a condition.
    """
    distinct: dict[Boolean, None] = {}
    for part in map(formula_to_sympy, parts):
        if part is kind.zero:
            return part
        if isinstance(part, kind):
            distinct.update(dict.fromkeys(part.args))
        elif part is not kind.identity:
            distinct[part] = None
    if len(distinct) < 2:
        return next(iter(distinct), kind.identity)
    lattice = Basic.__new__(kind, *_sorted(distinct))
    lattice._argset = frozenset(distinct)
    return lattice


def _sorted(parts: Iterable[Boolean]) -> list[Boolean]:
    """Return parts in the order of sympy: by size, and then by its own key."""
    members = list(parts)
    known = _by_our_key(members)
    if known is not None:
        return known
    counts = [_nodes(part) for part in members]
    if len(set(counts)) == len(counts):  # sympy's own key takes longest
        return [part for _, part in sorted(zip(counts, members, strict=True), key=itemgetter(0))]
    return sorted(members, key=lambda part: (_nodes(part), default_sort_key(part)))


def _by_our_key(parts: Sequence[T]) -> list[T] | None:
    """Return formulas or symbols in the order of sympy, whose own key takes ten times as long; None for others."""
    keys = [_key(part) for part in parts]
    return None if None in keys else [part for _, part in sorted(zip(keys, parts, strict=True), key=itemgetter(0))]


# How sympy orders kinds of expressions: `class_key` of each begins with its number.
_NUMBER, _SYMBOL, _COMPOUND = 1, 2, 5
_COMPOUNDS = frozenset((*_TO_RELATION.values(), sympy.Ge, sympy.Gt, sympy.And, sympy.Or, sympy.Not, compatible))


def _key(part: Basic) -> tuple[int, tuple[Any, ...]] | None:
    """Return the size of a formula of symbols and integers, and a key that orders it among others as sympy's own does.

    Return None for any other part.
    """
    kind = type(part)
    if kind is sympy.Symbol:
        return 1, (_SYMBOL, part.name)
    if kind not in _COMPOUNDS:
        return (1, (_NUMBER, int(part))) if isinstance(part, sympy.Integer) else None
    nodes, keys = 1, []
    for arg in part.args:
        if type(arg) is sympy.Symbol:  # nearly all: they skip a call
            nodes += 1
            keys.append((_SYMBOL, arg.name))
            continue
        key = _key(arg)
        if key is None:
            return None
        nodes += key[0]
        keys.append(key[1])
    return nodes, (_COMPOUND, kind.__name__, len(keys), *keys)


@lru_cache(maxsize=4096)
def _nodes(expression: Basic) -> int:
    return 1 + sum(map(_nodes, expression.args))


def _relation(operator: formulas.Operator, left_dim: Dim, right_dim: Dim) -> Boolean:
    left, right = _guarded(left_dim), _guarded(right_dim)
    if isinstance(left, int) and not isinstance(right, int):
        # 2 <= N reads better as N >= 2.
        turned = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Ge, "<": sympy.Gt}[operator]
        is_told = right.is_Symbol and operator in ("<=", "<") and not _is_open(operator, left_dim, right_dim)
        return turned(right, sympy.Integer(left), evaluate=is_told)
    # sympy would search for milliseconds to compare terms; the relation is already decided.
    numbers = all(isinstance(d, int) for d in (left, right))
    is_plain = operator in ("<=", "<") and all(isinstance(d, int) or d.is_Symbol for d in (left, right))
    evaluate = left == right or numbers or (is_plain and not _is_open(operator, left_dim, right_dim))
    return _TO_RELATION[operator](sympy.sympify(left), sympy.sympify(right), evaluate=evaluate)


def _equality(left: Dim, right: Dim) -> Boolean | None:
    """Return the equation of a name with 1 or another name, as `sympy.Eq` makes it unevaluated; None for any other."""
    if type(left) is Symbol and left is not right:
        if right == 1:
            return Basic.__new__(sympy.Eq, symbol_to_sympy(left), sympy.S.One)
        if type(right) is Symbol:
            return Basic.__new__(sympy.Eq, symbol_to_sympy(left), symbol_to_sympy(right))
    return None


def _is_open(operator: formulas.Operator, left: Dim, right: Dim) -> bool:
    """Return whether the order of two sizes is plainly undecided: sympy takes a millisecond to find that.

    A size that is only known not to be negative has a decided order only to numbers up to 0.
    """
    if type(left) is type(right) is Symbol:
        return left is not right
    if type(left) is Symbol:
        return isinstance(right, int) and right >= (operator == "<")
    return type(right) is Symbol and isinstance(left, int) and left >= (operator == "<=")


def _guarded(dim: Dim) -> SympyDim:
    """Return a dimension in sympy whose joins and divisions may lack a value: a clause says where they have one."""
    expression = to_sympy(dim)
    if isinstance(dim, int) or dim.is_total or isinstance(expression, int) or not expression.has(*GUARDED):
        return expression
    return plain(expression.replace(lambda e: type(e) in GUARDED, lambda e: GUARDED[type(e)](*e.args)))


def formula_from_sympy(value: Any) -> formulas.Formula:
    """Return a sympy Boolean (relations joined by ``& | ~``) as a formula.

    Raises `AssumptionError` for comparisons that sizes do not support.
    """
    if value is True or value is sympy.true:
        return formulas.TRUE
    if value is False or value is sympy.false:
        return formulas.FALSE
    if isinstance(value, Relational):
        return _from_relation(value)
    if isinstance(value, compatible):
        return formulas.Compatible(tuple(map(_side, value.args)))
    if isinstance(value, sympy.Not):
        return formulas.negate(formula_from_sympy(value.args[0]))
    if isinstance(value, sympy.And):
        return formulas.all_of(map(formula_from_sympy, value.args))
    if isinstance(value, sympy.Or):
        return formulas.any_of(map(formula_from_sympy, value.args))
    if isinstance(value, sympy.Implies):
        return formulas.any_of((formulas.negate(formula_from_sympy(value.args[0])), formula_from_sympy(value.args[1])))
    if isinstance(value, Boolean) and not isinstance(value, sympy.Symbol):
        raise AssumptionError(f"{value} is not a comparison of sizes", hint="write relations joined by &, | and ~")
    raise ShapeTypeError(
        value,
        "a relation between sizes" if callable(value) else "an assumption",
        "write text such as 'N >= 2' or a sympy relation",
    )


def _from_relation(value: Relational) -> formulas.Formula:
    left, right = map(_side, value.args)
    # Ours have only <= and <, so that equal relations have one form.
    if value.rel_op in (">=", ">"):
        return formulas.Comparison("<=" if value.rel_op == ">=" else "<", right, left)
    return formulas.Comparison(value.rel_op, left, right)


def _side(value: Any) -> Dim:
    """Return a side of a relation: any integer expression, negative numbers included."""
    return int(value) if isinstance(value, sympy.Integer) else check_dim(value)
