"""Names for the sizes of a model's inputs: one for all that must be equal, as exporters take them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from symbcast.core.algebra.arithmetic import join_members, replace_symbols, subtract
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Compatible, Formula, Leaf, clauses, with_leaves
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.shapes import Shape
from symbcast.core.solver.groups import TiedSymbols

# Equalities that follow from others by substitution, and from these again, are looked for so often.
_ROUNDS = 4


def equal_sizes(condition: Formula, symbols: Iterable[Symbol]) -> dict[Symbol, Symbol | int]:
    """Return a representative for each size: one for sizes that a condition makes equal where none is 0 or 1.

    A size that it makes a number then has that number. Only what the clauses say plainly is followed: equalities,
    joins, and ``p + s == t and q + s == t``, so p is q.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> condition = parse_formula("(N == M or M == 1) and P + N == T and Q + N == T and K == 8")
    >>> equal_sizes(condition, map(symbol, "NMPQTK"))
    {N: N, M: N, P: P, Q: P, T: T, K: 8}
    """
    order = tuple(symbols)
    classes, firsts = TiedSymbols(order), dict[Symbol, Dim]()
    numbers: dict[Symbol, int] = {}
    zeros = list(_zeros(clauses(with_leaves(condition, _of_large_sizes))))
    for _ in range(_ROUNDS):
        before, ahead = dict(firsts), dict[object, Symbol]()
        for zero in zeros:
            _tie(replace_symbols(zero, firsts), classes, ahead, numbers)
        firsts = {s: members[0] for _, members in classes.all() for s in members[1:]}
        if firsts == before:
            break
    known = {firsts.get(s, s): number for s, number in numbers.items()}
    kept = {s: firsts.get(s, s) for s in order}
    return {s: known.get(first, first) for s, first in kept.items() if isinstance(first, Symbol)}


def _of_large_sizes(leaf: Leaf) -> Formula:
    """Return a comparison of a size with 1 as what it is of sizes from 2 on."""
    match leaf:
        case Comparison("==" | "<=", Symbol(), 1):
            return FALSE
        case Comparison("!=", Symbol(), 1):
            return TRUE
    return leaf


def _zeros(conjuncts: Iterable[Formula]) -> Iterator[Dim]:
    """Yield the differences of sizes that are equal; the members of a join are, if none is 1."""
    for clause in conjuncts:
        dims: Sequence[Dim] = ()
        if isinstance(clause, Comparison) and clause.operator == "==":
            dims = (*join_members(clause.left), *join_members(clause.right))
        elif isinstance(clause, Compatible):
            dims = clause.dims
        yield from (subtract(dims[0], other) for other in dims[1:])


def _tie(zero: Dim, classes: TiedSymbols, ahead: dict[object, Symbol], numbers: dict[Symbol, int]) -> None:
    """Note what a difference that is 0 says: of two sizes, of one and a number, or of those in other such sums."""
    if isinstance(zero, int):
        return
    sizes = {m[0]: n for m, n in zero.coefficients.items() if len(m) == 1 and isinstance(m[0], Symbol)}
    rest = zero.coefficients.keys() - {(s,) for s in sizes}
    if len(sizes) == 1 and rest <= {()}:
        ((size, times),) = sizes.items()
        if zero.constant % times == 0:
            numbers.setdefault(size, -zero.constant // times)
    elif len(sizes) == 2 and not rest and sum(sizes.values()) == 0:
        classes.tie_all(tuple(sizes))
    for size, times in sizes.items():
        others = {m: n // times for m, n in zero.coefficients.items() if m != (size,)}
        if abs(times) == 1 and all(size not in atom.symbols() for m in others for atom in m):
            classes.tie_all((ahead.setdefault(frozenset(others.items()), size), size))


def dimension_names(
    inputs: Mapping[str, Shape | None], condition: Formula, names: Mapping[Symbol, str]
) -> dict[str, dict[int, str]]:
    """Return a name for each open axis of each input, the same one for sizes that must be equal.

    ``names`` are those of the sizes, as text. Axes that a condition fixes at a number have none.
    """
    axes = {
        name: {axis: dim for axis, dim in enumerate(shape.dims) if type(dim) is Symbol}
        for name, shape in inputs.items()
        if shape is not None and shape.rank is not None
    }
    sizes = equal_sizes(
        condition, dict.fromkeys([*names, *(s for of_input in axes.values() for s in of_input.values())])
    )
    members: dict[Symbol | int, list[str]] = {}
    for of_input in axes.values():
        for size in of_input.values():
            members.setdefault(sizes[size], []).append(names.get(size, size.name))
    chosen: dict[Symbol | int, str] = {}
    for first, texts in members.items():
        chosen[first] = _name(dict.fromkeys(texts), set(chosen.values()))
    named = {
        name: {axis: chosen[sizes[s]] for axis, s in of_input.items() if not isinstance(sizes[s], int)}
        for name, of_input in axes.items()
    }
    return {name: of_input for name, of_input in named.items() if of_input}


def _name(texts: Iterable[str], taken: set[str]) -> str:
    """Return a name for sizes with some names: one without a number, or what these begin with."""
    words = [re.sub(r"\W+", "_", text).strip("_") or "size" for text in texts]
    plain = next((word for word in words if not re.search("[0-9]", word)), "")
    stem = plain or (words[0] if len(words) == 1 else re.split("[0-9]", words[0])[0].strip("_"))
    stem = stem if stem.isidentifier() else f"size_{stem}".strip("_")
    return next(name for name in _numbered(stem) if name not in taken)


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}_{number}"
        number += 1
