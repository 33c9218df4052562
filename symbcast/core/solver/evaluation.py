"""Formulas with known sizes substituted, in normal form, and evaluated at sizes.

At one point formulas and dimensions are evaluated directly, at many as compiled Python functions. The source of such a
function is generated here from terms, with generated names (``v0``, ``v1``), never from a user's text. Other languages
that write sums, products and comparisons like Python have their own `Spelling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations, pairwise
from typing import Any

from symbcast.core.algebra.arithmetic import join_members, subtract, value_of
from symbcast.core.algebra.bounds import by_signs, different_factors, equal_products
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    Leaf,
    Operator,
    all_of,
    any_of,
    apart_from_one,
    at_most,
    clauses,
    dims_of,
    equal,
    holds,
    is_total,
    lost_needs,
    needs,
    negate,
    one_or_equal,
    with_dims,
    with_leaves,
    with_values,
)
from symbcast.core.algebra.symbols import AxisSequence, Rank, Rest, SequenceSymbol, UserSymbol, axis_of, symbol
from symbcast.core.algebra.term_arithmetic import Substitution, joins_with_one, sides_of
from symbcast.core.algebra.terms import Atom, Dim, Kind, Monomial, Operation, Symbol, Term, symbols_of, term
from symbcast.core.solver.f1_names.relations import Joinable, OneWay, SameSize, nodes_of
from symbcast.core.structs import Struct

# The normal form: known sizes substituted and trivial parts removed, before a formula is decided.


def symbols_in(formula: Formula) -> dict[Symbol, None]:
    """Return the symbols of a formula, in order of appearance."""
    symbols: dict[Symbol, None] = {}
    if type(formula) is Comparison:
        dims: Iterable[Dim] = (formula.left, formula.right)
    else:
        dims = formula.dims if type(formula) is Compatible else dims_of(formula)
    for dim in dims:
        if type(dim) is Symbol:
            symbols[dim] = None
        elif not isinstance(dim, int):
            symbols.update(dim.symbols())
    return symbols


def replace_in_formula(formula: Formula, values: Mapping[Any, Dim]) -> Formula:
    """Return the formula with some symbols replaced."""
    if not values:
        return formula
    change = Substitution(values, of_symbols=True).dim
    replaced = with_dims(formula, change)
    # A product with a factor that becomes 0 loses the terms in its other factors, which must still have values.
    if replaced == formula or is_total(formula) or all(isinstance(v, Symbol) for v in values.values()):
        return replaced

    def with_needs(leaf: Leaf) -> Formula:
        changed = with_dims(leaf, change)
        return all_of([changed, *lost_needs(leaf, changed, change)])

    return with_leaves(formula, with_needs)


def standard_names(symbols: Iterable[Symbol]) -> dict[Symbol, Symbol]:
    """Return a standard symbol for each symbol by position, so that formulas that differ only in names become equal.

    A symbol with more than a name, such as a least size, is not replaced.
    """
    return {s: symbol(f"s{n:03}") if is_any_size(s) else s for n, s in enumerate(symbols)}


def names_in_order(symbols: Sequence[Symbol]) -> dict[Symbol, Symbol]:
    """Return names in alphabetical order for symbols; none if theirs are.

    Terms are sorted by names. Under these, choices among equally good answers depend on the order of symbols alone.
    Those with a least size and the like are replaced too: only for questions whose domains say all that is known.
    """
    if all(a.name < b.name for a, b in pairwise(symbols)):
        return {}
    digits = max(3, len(str(len(symbols))))
    return {s: symbol(f"s{n:0{digits}}") for n, s in enumerate(symbols)}


def is_any_size(s: Symbol) -> bool:
    """Return whether nothing is known about a symbol but its name."""
    return not isinstance(s, UserSymbol) and s.lower == 0 and s.upper is None and s.parity is None


def in_normal_form(formula: Formula) -> Formula:
    """Return the formula without duplicates, units and decided parts; the same object if nothing changes."""
    match formula:
        case Comparison(operator, left, right):
            normal = _normal_comparison(operator, left, right)
            return normal if is_total(formula) else _with_lost(formula, normal)
        case Compatible() | Clashing():
            return _with_lost(formula, _normal_leaf(formula))
        case AllOf(parts):
            return all_of(map(in_normal_form, parts))
        case AnyOf((Comparison("==", data, 1), Comparison("==", same, target))) if data == same and not (
            joins_with_one(term(data)) or joins_with_one(term(target))
        ):
            return _normal_onto(data, target)
        case AnyOf(parts):
            return any_of(map(in_normal_form, parts))


def _with_lost(leaf: Leaf, normal: Formula) -> Formula:
    """Return the normal form of a leaf, with what its terms need and the form no longer says."""
    lost = lost_needs(leaf, normal)
    return all_of([normal, *map(in_normal_form, lost)]) if lost else normal


def _normal_leaf(leaf: Compatible | Clashing) -> Formula:
    """Return the normal form of a join where all its terms have values."""
    match leaf:
        case Compatible() | Clashing() if not is_total(leaf) and (apart := apart_from_one(leaf)) is not leaf:
            return in_normal_form(apart)
        case Compatible(dims):
            return _normal_join(dims)
        case Clashing(dims):
            return _normal_clash(leaf, [value_of(d) for d in dims])


def _normal_comparison(operator: Operator, left: Dim, right: Dim) -> Formula:
    a, b = left, right = value_of(left), value_of(right)
    if type(a) is Symbol and (type(b) is int or (type(b) is Symbol and a is not b)):
        return Comparison(operator, a, b)
    if isinstance(a, int) and isinstance(b, int):
        return TRUE if holds(Comparison(operator, a, b)) else FALSE
    if _is_undefined(a) or _is_undefined(b):
        return FALSE
    comparison = Comparison(operator, left, right)
    if not is_total(comparison) and (apart := apart_from_one(comparison)) is not comparison:
        return in_normal_form(apart)
    if a == b:
        return _defined(Comparison(operator, a, b)) if operator in ("==", "<=") else FALSE
    if operator in ("==", "!=") and (rest := _without_common_terms(a, b)) is not None:
        return _normal_comparison(operator, *rest)
    if operator in ("<=", "<") and (factors := _factors_beside_0(operator, a, b)) is not None:
        return factors
    if operator in ("==", "!="):
        products = equal_products(a, b) or _some_factor_is_0(a, b)
        if products is not None:
            return in_normal_form(products if operator == "==" else negate(products, needs(comparison)))
    elif len(symbols_in(comparison)) > 1 and is_total(comparison):
        signs = by_signs(operator, a, b)
        if signs is not None:
            return in_normal_form(signs)
    return comparison


def _some_factor_is_0(left: Dim, right: Dim) -> Formula | None:
    """Return that one factor of a difference is 0; None if it has one factor only."""
    comparison = equal(left, right)
    factors = different_factors(left, right) if len(symbols_in(comparison)) > 1 and is_total(comparison) else []
    return any_of(equal(*map(Term.dim, sides_of(term(factor)))) for factor in factors) if factors else None


def _factors_beside_0(operator: Operator, left: Dim, right: Dim) -> Formula | None:
    """Return whether a product of sizes is 0, or at least 1, as a formula about its factors; None for other bounds.

    So ``1 <= 3*M*N``, ``0 <= M*N - 1`` and ``0 < M*N`` are ``1 <= M and 1 <= N``.
    """
    is_above = isinstance(left, int)
    number, value = (left, right) if isinstance(left, int) else (right, left)
    if not isinstance(number, int) or isinstance(value, int) or not value.is_total:
        return None
    number -= value.constant
    products = [(m, c) for m, c in value.coefficients.items() if m]
    if len(products) != 1 or len(products[0][0]) < 2:
        return None
    ((monomial, times),) = products
    if not all(atom.is_at_least(0) for atom in monomial):
        return None
    if operator == "<":
        number += 1 if is_above else -1
    if times < 0:
        is_above, number, times = not is_above, -number, -times
    factors = dict.fromkeys(monomial)
    if is_above:
        return all_of(at_most(1, factor) for factor in factors) if 1 <= number <= times else None
    return any_of(equal(factor, 0) for factor in factors) if 0 <= number < times else None


def _without_common_terms(left: Dim, right: Dim) -> tuple[Dim, Dim] | None:
    """Return two sums without the terms that both have and that always have a value; None if there are none."""
    if isinstance(left, int) or isinstance(right, int):
        return None
    a, b = left.coefficients, right.coefficients
    if len(a) < 2 or len(b) < 2:
        return None
    common = {m for m, n in a.items() if m and b.get(m) == n and all(atom.is_total for atom in m)}
    if not common:
        return None
    rest = (Term({m: n for m, n in each.items() if m not in common}).dim() for each in (a, b))
    return next(rest), next(rest)


def _is_undefined(dim: Dim) -> bool:
    """Return whether a dimension in normal form is undefined: it has no symbols and is not an integer."""
    return not isinstance(dim, int) and not dim.symbols()


def _defined(leaf: Comparison | Compatible | Clashing) -> Formula:
    """Return where all terms of a leaf have values: what is left of one that is true of all values."""
    return all_of(map(in_normal_form, needs(leaf)))


def _normal_clash(clash: Clashing, dims: Sequence[Dim]) -> Formula:
    if any(map(_is_undefined, dims)):
        return FALSE
    if is_total(clash):
        return negate(_normal_join(dims))
    members = tuple(dict.fromkeys(d for d in dims if d != 1))
    return Clashing(members) if len(members) > 1 else FALSE


def _normal_join(dims: Iterable[Dim]) -> Formula:
    members: dict[Dim, None] = {}
    number: int | None = None
    sizes: list[Formula] = []
    for member in (value_of(m) for dim in dims for m in _members(dim, sizes)):
        if _is_undefined(member):
            return FALSE
        if isinstance(member, int):
            if member == 1:
                continue
            if number is not None and member != number:
                return FALSE
            number = member
        else:
            members[member] = None
    if number is not None:
        return all_of([*sizes, *(_normal_onto(member, number) for member in members)])
    join = Compatible(tuple(members))
    return all_of([*sizes, join if len(members) > 1 else _defined(join)])


def _members(dim: Dim, sizes: list[Formula]) -> Sequence[Dim]:
    """Return the members of a join; add to ``sizes`` that those are not negative, which none of them says."""
    members = join_members(dim)
    if len(members) > 1:
        sizes += (at_most(0, m) for m in members if not isinstance(m, int) and not m.is_at_least(0))
    return members


def _normal_onto(data: Dim, target: Dim) -> Formula:
    data, target = value_of(data), value_of(target)
    if isinstance(data, int):
        return TRUE if data == 1 else in_normal_form(equal(target, data))
    if _is_undefined(data):
        return FALSE
    if data == target:
        return _defined(equal(data, target))
    return equal(data, 1) if target == 1 or _is_undefined(target) else one_or_equal(data, target)


def with_joins(clause: Formula) -> Formula:
    """Return a normalized clause; if it spells out the join of two sizes, in any order, it becomes a join."""
    normal = in_normal_form(clause)
    if not isinstance(normal, AnyOf) or len(normal.parts) != 3 or not is_total(normal):
        return normal  # where a term has no value, the alternatives may hold and the join does not
    sides = [(p.left, p.right) for p in normal.parts if isinstance(p, Comparison) and p.operator == "=="]
    ones = [a for a, b in sides if b == 1]
    pairs = [pair for pair in sides if pair[1] != 1]
    if len(ones) == 2 and len(pairs) == 1 and set(ones) == set(pairs[0]):
        return in_normal_form(Compatible(pairs[0]))
    return normal


def as_relation(formula: Formula) -> Joinable | OneWay | SameSize | None:
    """Return the relation of the graph that equals a formula between plain symbols, None for any other formula."""
    relation = as_relation_of_terms(formula)
    return relation if relation is not None and all(node.is_Symbol for node in nodes_of(relation)) else None


def as_relation_of_terms(formula: Formula) -> Joinable | OneWay | SameSize | None:
    """Return the relation that equals a formula, treating terms as opaque; None for any other formula."""
    match formula:
        case Compatible(dims):
            return None if any(isinstance(d, int) for d in dims) else Joinable(dims)
        case Comparison("==", left, right):
            return None if isinstance(left, int) or isinstance(right, int) else SameSize(left, right)
        case AnyOf((Comparison("==", data, 1), Comparison("==", same, target))) if data == same:
            return None if isinstance(data, int) or isinstance(target, int) else OneWay(data, target)
        case _:
            return None


def normal_conjuncts(formulas: Iterable[Formula]) -> list[Formula]:
    """Return the distinct conjuncts of some formulas in normal form, without `TRUE`."""
    distinct: dict[Formula, None] = {}
    for formula in formulas:
        for clause in clauses(in_normal_form(formula)):
            distinct[clause] = None
    return list(distinct)


def with_larger_joins(known: Sequence[Formula]) -> Iterator[Formula]:
    """Yield conjuncts in which joins of all pairs of some sizes are replaced by the equivalent join of all of them."""
    joins = {clause: join.dims for clause in known if isinstance(join := with_joins(clause), Compatible)}
    ahead = {frozenset(pair): None for dims in joins.values() for pair in combinations(dims, 2)}
    beside: dict[Dim, dict[Dim, None]] = {}
    for one, other in map(tuple, ahead):
        beside.setdefault(one, {})[other] = None
        beside.setdefault(other, {})[one] = None
    for clause in known:
        members = list(joins.get(clause, ()))
        if not members:
            yield clause
        elif any(frozenset(pair) in ahead for pair in combinations(members, 2)):
            common = dict.fromkeys(dim for dims in joins.values() for dim in dims)
            for dim in common:
                if dim not in members and all(dim in beside[member] for member in members):
                    members.append(dim)
            for pair in combinations(members, 2):
                ahead.pop(frozenset(pair), None)
            yield Compatible(tuple(members)) if len(members) > 2 else clause


def evaluated(formula: Formula) -> Formula:
    """Return a formula in which comparisons of numbers, and of a size with itself, are evaluated.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> evaluated(at_most(N, N + 1)) == TRUE, evaluated(Compatible((N, 1, N))) == TRUE, evaluated(equal(N, 1))
    (True, True, Comparison('==', N, 1))
    """
    match formula:
        case Comparison(operator, left, right):
            if isinstance(left, int) and isinstance(right, int):
                return TRUE if holds(formula) else FALSE
            difference = subtract(right, left)
            return evaluated(Comparison(operator, 0, difference)) if isinstance(difference, int) else formula
        case AllOf(parts):
            return all_of(map(evaluated, parts))
        case AnyOf(parts):
            return any_of(map(evaluated, parts))
        case Compatible(dims):
            sizes = {d for d in dims if d != 1}
            if len(sizes) < 2:
                return TRUE
            return FALSE if len([d for d in sizes if isinstance(d, int)]) > 1 else formula
        case _:
            return formula


class UndefinedError(ArithmeticError):
    """A join of sizes that do not broadcast."""


def join_sizes(*sizes: int) -> int:
    """Return the join of integers; raise `UndefinedError` if they have none, or one of them is no size."""
    result = 1
    for size in sizes:
        if size < 0:
            raise UndefinedError
        if size not in (1, result):
            if result != 1:
                raise UndefinedError
            result = size
    return result


def _compatible(*sizes: int) -> bool:
    return len({*sizes, 1}) <= 2


# At one point.

_OPERATIONS: dict[Kind, Callable[..., int]] = {
    "//": lambda dividend, divisor: dividend // divisor,
    "%": lambda dividend, divisor: dividend % divisor,
    "min": min,
    "max": max,
    "join": join_sizes,
}


class AxisSizes(dict[Any, int]):
    """Sizes by symbol, and the axis sizes of sequences, from which other symbols get their sizes."""

    def __init__(self, sizes: Mapping[Any, int], axes: Mapping[AxisSequence, Sequence[int]]) -> None:
        super().__init__(sizes)
        self.axes = axes

    def __missing__(self, s: Any) -> int:
        if not isinstance(s, SequenceSymbol) or s.sequence not in self.axes:
            raise KeyError(s)
        axes = self.axes[s.sequence]
        if isinstance(s, Rank):
            return len(axes)
        # A `Rest` stands for all axes before a place: take the last of them.
        place = s.place + 1 if isinstance(s, Rest) else s.place
        return axes[-place] if place <= len(axes) else 1

    def instances(self, formula: Formula) -> Iterator[Formula]:
        """Yield a formula's instances for each existing axis; yield a formula without such axes unchanged."""
        rests = {
            s for dim in dims_of(formula) if not isinstance(dim, int) for s in dim.symbols() if isinstance(s, Rest)
        }
        if not rests:
            yield formula
            return
        for n in range(1, max(len(self.axes[s.sequence]) - s.place for s in rests) + 1):
            axes = Substitution({s: s.sequence.axis(s.place + n) for s in rests}, of_symbols=True)
            yield with_dims(formula, axes.dim)

    def axes_of(self, dim: Dim) -> list[Dim]:
        """Return the axes of a sequence, each as a separate size, which may be undefined here."""
        rank = max(len(self.axes[s.sequence]) - s.place for s in symbols_of((dim,)) if isinstance(s, Rest))
        return [axis_of(dim, n) for n in range(rank, 0, -1)]


def holds_at(formula: Formula, sizes: Mapping[Any, int]) -> bool:
    """Return whether the formula holds at some sizes; a comparison with an undefined side does not.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> holds_at(Comparison("<=", 2, N), {N: 3})
    True
    """
    if isinstance(sizes, AxisSizes):
        # Evaluate each conjunct separately: if a sequence has no axes, the other conjuncts still count.
        return all(_holds_at(f, sizes) for clause in clauses(formula) for f in sizes.instances(clause))
    return _holds_at(formula, sizes)


def _holds_at(formula: Formula, sizes: Mapping[Any, int]) -> bool:
    match formula:
        case AllOf(parts):
            return all(holds_at(p, sizes) for p in parts)
        case AnyOf(parts):
            return any(holds_at(p, sizes) for p in parts)
    try:
        return _holds(formula, sizes)
    except (ZeroDivisionError, UndefinedError):
        return False


def _holds(formula: Comparison | Compatible | Clashing, sizes: Mapping[Any, int]) -> bool:
    if isinstance(formula, Comparison):
        left, right = size_at(formula.left, sizes), size_at(formula.right, sizes)
        return holds(Comparison(formula.operator, left, right))
    return holds(type(formula)(tuple(size_at(d, sizes) for d in formula.dims)))


def size_at(dim: Dim, sizes: Mapping[Any, int]) -> int:
    """Return a dimension's value; raise `ZeroDivisionError` or `UndefinedError` if it has none."""
    if isinstance(dim, int):
        return dim
    return sizes[dim] if dim.is_Symbol else _value(term(dim), sizes, {})


def value_at(dim: Dim, sizes: Mapping[Any, int]) -> int | None:
    """Return a dimension's value; None if it has none."""
    try:
        return size_at(dim, sizes)
    except (ZeroDivisionError, UndefinedError):
        return None


def _value(value: Term, sizes: Mapping[Any, int], known: dict[Atom, int]) -> int:
    """Return a term's value; ``known`` holds the values of operations computed before."""
    if value.is_Symbol:
        return sizes[value]
    if isinstance(value, Operation):
        if value not in known:
            known[value] = _OPERATIONS[value.kind](*[_value(arg, sizes, known) for arg in value.args])
        return known[value]
    if value.is_constant:
        return value.constant
    total = 0
    for monomial, coefficient in value.coefficients.items():
        product = coefficient
        for atom in monomial:
            product *= sizes[atom] if atom.is_Symbol else _value(atom, sizes, known)
        total += product
    return total


# At many points.

_GLOBALS = {"__builtins__": {}, "min": min, "max": max, "sum": sum, "join": join_sizes, "compatible": _compatible}

# Longer sums are calls: compilers walk a chain of ``+`` by recursion.
MAX_CHAIN = 200


def python_call(function: str, args: Sequence[str]) -> str:
    """Return a call of a function used in generated source: min, max, sum, join or compatible."""
    return f"sum(({', '.join(args)}))" if function == "sum" else f"{function}({', '.join(args)})"


class Spelling(Struct):
    """The parts of the notation that differ between languages; ``infix`` are the operations written as operators."""

    conjunction: str = " and "
    disjunction: str = " or "
    negation: str = "not "
    true: str = "True"
    false: str = "False"
    infix: frozenset[str] = frozenset(("//", "%"))
    call: Callable[[str, Sequence[str]], str] = python_call
    number: Callable[[int], str] = str


PYTHON = Spelling()


@lru_cache(maxsize=4096)
def predicate(formula: Formula, symbols: tuple[Symbol, ...]) -> Callable[..., bool]:
    """Return a function that takes the symbols' sizes, in order, and returns whether the formula holds.

    A comparison with an undefined side does not hold.
    """
    names = {symbol: f"v{n}" for n, symbol in enumerate(symbols)}
    # Compiled code would raise at a divisor of 0, where the comparison does not hold.
    guarded = with_values(formula)
    return _function(dims_of(guarded), names, lambda named: formula_source(guarded, named))


@lru_cache(maxsize=4096)
def value_function(dim: Dim, symbols: tuple[Symbol, ...]) -> Callable[..., int]:
    """Return a function that takes the symbols' sizes, in order, and returns the dimension's size.

    It raises `ZeroDivisionError` or `UndefinedError` if the dimension is undefined.
    """
    names = {symbol: f"v{n}" for n, symbol in enumerate(symbols)}
    return _function((dim,), names, lambda named: term_source(term(dim), named))


# From this many atoms on, sources are searched for repeated operations.
_SHARED_FROM = 64


def _function(
    dims: Iterable[Dim], names: Mapping[Any, str], write: Callable[[Mapping[Any, str]], str]
) -> Callable[..., Any]:
    """Return a function of the names; ``write`` returns its source, given the names of operations and symbols.

    Shared terms get names; otherwise the source would be as long as the terms written as trees. One that may be
    undefined is evaluated where it is first needed: a guard before it may prevent its evaluation.
    """
    arguments, terms = ", ".join(names.values()), [d for d in dims if not isinstance(d, int)]
    named = dict(names)
    steps: list[str] = []
    for operation in _shared(terms) if sum(t.size for t in terms) > _SHARED_FROM else ():
        source, name = _operation_source(operation, named, PYTHON), f"t{len(steps)}"
        named[operation] = name if operation.is_total else f"{name}()"
        steps.append(f" {name} = {source if operation.is_total else f'once(lambda: {source})'}\n")
    function: Callable[..., Any]
    if not steps:
        function = eval(f"lambda {arguments}: {write(named)}", _GLOBALS)
        return function
    scope: dict[str, Any] = {**_GLOBALS, "once": cache}
    exec(f"def made({arguments}):\n{''.join(steps)} return {write(named)}", scope)
    function = scope["made"]
    return function


def _shared(terms: Iterable[Term]) -> list[Operation]:
    """Return the operations that occur more than once, inner ones first."""
    uses: dict[Operation, int] = {}
    ordered: list[Operation] = []

    def visit(value: Term) -> None:
        for operation in value.operations():
            uses[operation] = uses.get(operation, 0) + 1
            if uses[operation] == 1:
                for arg in operation.args:
                    visit(arg)
                ordered.append(operation)

    for value in terms:
        visit(value)
    return [operation for operation in ordered if uses[operation] > 1]


def term_source(value: Term, names: Mapping[Any, str], spelling: Spelling = PYTHON) -> str:
    """Return an expression for a term, without brackets around it, using the symbol names in ``names``.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> term_source(term(1 - 2 * N * M), {N: "n", M: "m"})
    '1 - 2*m*n'
    """
    ordered = sorted(value.coefficients.items(), key=lambda part: (part[1] < 0, not part[0]))
    parts = [(c < 0, _product_source(m, abs(c), names, spelling)) for m, c in ordered]
    if len(parts) > MAX_CHAIN:
        return spelling.call("sum", [f"-{text}" if minus else text for minus, text in parts])
    chain = "".join(f" {'-' if minus else '+'} {text}" for minus, text in parts)
    return f"-{chain[3:]}" if chain.startswith(" -") else chain[3:] or "0"


def _product_source(monomial: Monomial, number: int, names: Mapping[Any, str], spelling: Spelling) -> str:
    factors = [_operation_source(a, names, spelling) if isinstance(a, Operation) else names[a] for a in monomial]
    if number != 1 or not factors:
        factors.insert(0, spelling.number(number))
    return "*".join(factors)


def _operation_source(operation: Operation, names: Mapping[Any, str], spelling: Spelling) -> str:
    if operation in names:
        return names[operation]
    if operation.kind in spelling.infix:
        left, right = (_bracketed(a, names, spelling) for a in operation.args)
        return f"({left} {operation.kind} {right})"
    return spelling.call(operation.kind, [term_source(a, names, spelling) for a in operation.args])


def _bracketed(value: Term, names: Mapping[Any, str], spelling: Spelling) -> str:
    source = term_source(value, names, spelling)
    is_atom = [(len(m), c) for m, c in value.coefficients.items()] == [(1, 1)]
    return source if is_atom or (value.is_constant and value.constant >= 0) else f"({source})"


def formula_source(formula: Formula, names: Mapping[Any, str], spelling: Spelling = PYTHON) -> str:
    """Return an expression for a formula."""
    match formula:
        case Comparison(operator, left, right):
            sides = (term_source(term(d), names, spelling) for d in (left, right))
            return f" {operator} ".join(sides)
        case Compatible(dims) | Clashing(dims):
            call = spelling.call("compatible", [term_source(term(d), names, spelling) for d in dims])
            return call if isinstance(formula, Compatible) else f"{spelling.negation}{call}"
        case AllOf(parts):
            return _joined(parts, spelling.conjunction, names, spelling) or spelling.true
        case AnyOf(parts):
            return _joined(parts, spelling.disjunction, names, spelling) or spelling.false


def _joined(parts: Sequence[Formula], word: str, names: Mapping[Any, str], spelling: Spelling) -> str:
    sources = ((p, formula_source(p, names, spelling)) for p in parts)
    return word.join(f"({source})" if isinstance(p, (AllOf, AnyOf)) else source for p, source in sources)


def truth_table(formulas: Sequence[Formula], symbols: tuple[Symbol, ...]) -> Callable[..., list[tuple[bool, ...]]]:
    """Return a function of points (sizes of the symbols, in order) that returns the formulas that hold at each.

    All formulas are compiled at once. Every term in them must be defined everywhere: see `is_total`.
    """
    names = {symbol: f"v{n}" for n, symbol in enumerate(symbols)}
    row = "".join(f"{formula_source(f, names)}, " for f in formulas)
    function: Callable[..., list[tuple[bool, ...]]] = eval(
        f"lambda points: [({row}) for {''.join(f'{n}, ' for n in names.values())} in points]", _GLOBALS
    )
    return function
