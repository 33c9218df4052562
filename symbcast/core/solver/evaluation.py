"""Formulas and dimensions evaluated at sizes: directly at one point, as compiled Python functions at many.

The source of such a function is generated here from terms, with generated names (``v0``, ``v1``), never from a user's
text. Other languages that write sums, products and comparisons like Python have their own `Spelling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from symbcast.core.algebra.arithmetic import symbol_replacer
from symbcast.core.algebra.formulas import (
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    clauses,
    dims_of,
    with_dims,
    with_values,
)
from symbcast.core.algebra.formulas import holds as holds_of_sizes
from symbcast.core.algebra.symbols import AxisSequence, Rank, Rest, SequenceSymbol, axis_of
from symbcast.core.algebra.terms import Atom, Dim, Kind, Monomial, Operation, Symbol, Term, symbols_of, term
from symbcast.core.structs import Struct


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
            yield with_dims(formula, symbol_replacer({s: s.sequence.axis(s.place + n) for s in rests}))

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
        return holds_of_sizes(Comparison(formula.operator, left, right))
    return holds_of_sizes(type(formula)(tuple(size_at(d, sizes) for d in formula.dims)))


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
    if isinstance(value, Operation):
        if value not in known:
            known[value] = _OPERATIONS[value.kind](*[_value(arg, sizes, known) for arg in value.args])
        return known[value]
    if value.is_Symbol:
        return sizes[value]
    if value.is_constant:
        return value.constant
    total = 0
    for monomial, coefficient in value.coefficients.items():
        product = coefficient
        for atom in monomial:
            product *= _value(atom, sizes, known)
        total += product
    return total


# At many points.

_GLOBALS = {"__builtins__": {}, "min": min, "max": max, "sum": sum, "join": join_sizes, "compatible": _compatible}

MAX_CHAIN = 200
"""Longer sums are calls: compilers walk a chain of ``+`` by recursion."""


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
    guarded = with_values(formula) if may_be_undefined(formula) else formula
    return _function(dims_of(guarded), names, lambda named: formula_source(guarded, named))


@lru_cache(maxsize=4096)
def value_function(dim: Dim, symbols: tuple[Symbol, ...]) -> Callable[..., int]:
    """Return a function that takes the symbols' sizes, in order, and returns the dimension's size.

    It raises `ZeroDivisionError` or `UndefinedError` if the dimension is undefined.
    """
    names = {symbol: f"v{n}" for n, symbol in enumerate(symbols)}
    return _function((dim,), names, lambda named: term_source(term(dim), named))


_SHARED_FROM = 64
"""From this many atoms on, sources are searched for repeated operations."""


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


@lru_cache(maxsize=4096)
def may_be_undefined(formula: Formula) -> bool:
    """Return whether a term of the formula is undefined at some sizes."""
    return any(not isinstance(d, int) and _has_gaps(term(d)) for d in dims_of(formula))


@lru_cache(maxsize=4096)
def _has_gaps(value: Term) -> bool:
    return any(
        operation.kind == "join"
        or (operation.kind in ("//", "%") and not (operation.args[1].is_constant and operation.args[1].constant))
        or any(map(_has_gaps, operation.args))
        for operation in value.operations()
    )


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

    All formulas are compiled at once. Every term in them must be defined everywhere: see `may_be_undefined`.
    """
    names = {symbol: f"v{n}" for n, symbol in enumerate(symbols)}
    row = "".join(f"{formula_source(f, names)}, " for f in formulas)
    function: Callable[..., list[tuple[bool, ...]]] = eval(
        f"lambda points: [({row}) for {''.join(f'{n}, ' for n in names.values())} in points]", _GLOBALS
    )
    return function
