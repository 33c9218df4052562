"""Prepare a condition for any guard: clauses, comments, and identifiers for sizes.

A guard holds exactly where the condition does and all the comparisons that make it true have a value; see
`symbcast.core.algebra.formulas.with_values`. So the condition for each target requires a nonzero divisor and a
defined join right before the comparison that needs it, and no target has to define the value of an undefined term.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import count

from symbcast.core.algebra import formulas
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Compatible, Formula, Leaf
from symbcast.core.algebra.symbols import SequenceSymbol, Unknown, sequences_of, symbol
from symbcast.core.algebra.terms import Operation, Symbol, Term, term
from symbcast.core.solver.evaluation import replace_in_formula, symbols_in
from symbcast.core.text.notation import formula_text
from symbcast.errors import BindingError, UnknownRankError

# Identifiers for sizes, whose names can be any text.


_SPACERS = re.compile(r"_{2,}")


def identifiers(
    names: Mapping[Symbol, str], spell: Callable[[str], str], is_refused: Callable[[str], bool]
) -> dict[Symbol, str]:
    """Return an identifier for each symbol, all distinct, and the same on every run.

    ``spell`` turns a name into an identifier of a language and leaves valid ones unchanged; ``is_refused`` returns
    whether a word is reserved. Names that are valid already are kept; the others avoid them.

    >>> from symbcast.core.algebra.symbols import Symbol
    >>> names = {Symbol("x"): "a b", Symbol("y"): "a_b", Symbol("z"): "is", Symbol("t"): "?0"}
    >>> list(identifiers(names, ascii_identifier, {"is"}.__contains__).values())
    ['a_b_2', 'a_b', 'is_', 'size_0']
    """
    spellings: dict[Symbol, str] = {}
    taken: set[str] = set()
    for size, name in names.items():
        if spell(name) == name and not is_refused(name) and name not in taken:
            spellings[size] = name
            taken.add(name)
    # Only now the others: a valid name is never taken from its size by the spelling of another one.
    for size, name in names.items():
        if size not in spellings:
            spelled = spell(name)
            spellings[size] = next(c for c in _choices(spelled, taken) if c not in taken and not is_refused(c))
            taken.add(spellings[size])
    return {size: spellings[size] for size in names}


def ascii_identifier(name: str) -> str:
    """Return a name with ``_`` for all but ASCII letters and digits, not at the front, not doubled, not at the end.

    >>> [ascii_identifier(n) for n in ("N", "decoder.45_dim_1", "?0", "45", "a  b", "%", "")]
    ['N', 'decoder_45_dim_1', 'size_0', 'size_45', 'a_b', 'size', 'size']
    """
    return tidy(re.sub(r"[^A-Za-z0-9_]", "_", name))


def tidy(name: str) -> str:
    """Return a name of letters, digits and ``_`` with a letter first, and ``_`` only between others."""
    name = _SPACERS.sub("_", name).strip("_")
    if not name:
        return "size"
    return f"size_{name}" if name[0].isdecimal() else name


def _choices(name: str, taken: set[str]) -> Iterator[str]:
    yield name
    if name not in taken:
        yield f"{name}_"  # a reserved word, with the usual trailing underscore
    base = name.rstrip("_") or "size"
    yield from (f"{base}_{n}" for n in count(2))


# The largest size that a guard over machine integers accepts.
LARGEST_SIZE = 2**63 - 1


def check_known_ranks(language: str, names: Iterable[Symbol]) -> None:
    """Raise `UnknownRankError` for sizes of a sequence of axes, which guards in other languages cannot take."""
    for sequence in sequences_of(names):
        raise UnknownRankError(f"a guard in {language}", sequence.rest().name)


def guarded_clauses(condition: Formula, names: Mapping[Symbol, str]) -> tuple[Formula, ...]:
    """Return the conjuncts of a condition, each comparison preceded by the conditions that define its sides.

    Comparisons that are true or false for every size are simplified away. Raises `BindingError` for a size without a
    name.

    >>> from symbcast.core.text import parse_formula
    >>> condition = parse_formula("7//N == M and N == N")
    >>> guarded_clauses(condition, {symbol("N"): "N", symbol("M"): "M"})
    (Comparison('!=', N, 0), Comparison('==', 7//N, M))
    """
    check_named(condition, names)
    return formulas.clauses(formulas.with_leaves(formulas.with_values(condition), _without_trivial_comparisons))


def check_named(condition: Formula, names: Mapping[Symbol, str]) -> None:
    """Raise `BindingError` for a size of the condition without a name."""
    unnamed = [s.name for s in symbols_in(condition) if s not in names and not _is_of(s, names)]
    if unnamed:
        raise BindingError(f"no name was given for {', '.join(unnamed)}", "name every size of the condition")


def _is_of(s: Symbol, names: Mapping[Symbol, str]) -> bool:
    """Return whether a symbol belongs to a sequence of axes that other names also belong to."""
    return isinstance(s, SequenceSymbol) and s.sequence in sequences_of(names)


def condition_texts(condition: Formula, names: Mapping[Symbol, str]) -> list[str]:
    """Return the conjuncts as text, one per line, with the given names.

    >>> from symbcast.core.text import parse_formula
    >>> condition_texts(parse_formula("N == 2*M and M >= 1"), {symbol("N"): "batch", symbol("M"): "M"})
    ['batch == 2*M', 'M >= 1']
    """
    renamed = {s: _called(s, name) for s, name in names.items() if s.name != name}
    return [formula_text(replace_in_formula(c, renamed) if renamed else c) for c in formulas.clauses(condition)] or [
        "True"
    ]


def renamed_sizes(called: Mapping[Symbol, str], names: Mapping[Symbol, str], sign: str = "") -> list[str]:
    """Return a sentence for each size whose identifier, after a sign of the language, is not its name."""
    return [f"{sign}{word} is the size {names[s]!r}." for s, word in called.items() if word != names[s]]


def operation_kinds(parts: tuple[Formula, ...]) -> set[str]:
    """Return the kinds of operations in some formulas."""
    return {o.kind for part in parts for dim in formulas.dims_of(part) for o in term(dim).all_operations()}


@lru_cache(maxsize=4096)
def magnitude(value: Term, largest: int = LARGEST_SIZE) -> int:
    """Return a bound on the absolute values that arise in computing a term, for all sizes up to ``largest``.

    No partial sum or product exceeds it, in any order.

    >>> from symbcast.core.text import parse_dim
    >>> magnitude(term(parse_dim("2*N - 3"))) == 2 * LARGEST_SIZE + 3
    True
    >>> magnitude(term(parse_dim("2*N - 3")), 10)
    23
    """
    total = 0
    inner = 1
    for monomial, coefficient in value.coefficients.items():
        product = abs(coefficient)
        for atom in monomial:
            bound, reached = _atom_magnitude(atom, largest) if isinstance(atom, Operation) else (largest, largest)
            # A factor of 0 must not hide the other factors: they are computed before it is multiplied in.
            product *= max(bound, 1)
            inner = max(inner, reached)
        total += product
    return max(total, inner)


def _atom_magnitude(operation: Operation, largest: int) -> tuple[int, int]:
    """Return a bound on an operation's value and on all intermediate values."""
    bounds = [magnitude(arg, largest) for arg in operation.args]
    reached = max(bounds)
    # A quotient by a divisor of at least 1 is no larger than the dividend, a remainder is below the divisor.
    return {"//": bounds[0], "%": bounds[-1]}.get(operation.kind, reached), reached


def _called(size: Symbol, name: str) -> Symbol:
    return size.renamed(name) if isinstance(size, Unknown) else symbol(name)


def _without_trivial_comparisons(leaf: Leaf) -> Formula:
    """Return no comparison of a term with itself or of constants: compilers warn about them."""
    match leaf:
        case Comparison(operator, left, right):
            if term(left) == term(right):
                return TRUE if operator in ("==", "<=") else FALSE
            return (
                (TRUE if formulas.holds(leaf) else FALSE) if isinstance(left, int) and isinstance(right, int) else leaf
            )
        case _:
            # Members that are 1, or duplicates, require nothing.
            members = tuple(dict.fromkeys(d for d in leaf.dims if d != 1))
            if len(members) <= 1:
                return TRUE if isinstance(leaf, Compatible) else FALSE
            return type(leaf)(members)
