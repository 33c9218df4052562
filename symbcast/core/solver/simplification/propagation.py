"""Constraints that simplify each other, without a solver: equalities are substituted, impossible literals removed.

Each step replaces one constraint by another that is equivalent given all others, so the conjunction stays
equivalent. A literal is removed if assuming it leads to a contradiction by these steps alone (unit propagation with
failed-literal probing, as SAT solvers do it). This decides what batches that stretch, and reshapes that multiply sizes,
require together: products of joins, of which a solver for nonlinear arithmetic makes little.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import join, join_members, subtract
from symbcast.core.algebra.bounds import Bounds, exact_quotient
from symbcast.core.algebra.operations import Substitution
from symbcast.core.algebra.terms import Operation, Symbol, Term, constant, term
from symbcast.core.effort import EffortSpentError, charge
from symbcast.core.logic.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    dims_of,
    equal,
    literals,
    negate,
    one_or_equal,
    with_dims,
)
from symbcast.core.logic.whole_quotients import cleared, quotient_asked_whole
from symbcast.core.solver.budget import PROPAGATED, share
from symbcast.core.solver.groups.normal_form import flattened, normal

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

_ROUNDS = 8
_STEP = 60
"""Units of effort for simplifying a literal once."""
_PROBED = 4
"""Disjunctions of more literals are not probed."""


def propagated(constraints: Sequence[Formula], least: Mapping[Symbol, int]) -> list[Formula]:
    """Return constraints equivalent to the given ones, where sizes are at least ``least``.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> texts = ["compatible(a, b)", "a == broadcast(a, b)", "compatible(n*a, n*broadcast(a, b))"]
    >>> propagated(list(map(parse_formula, texts)), {symbol(s): 1 for s in "abn"})
    [AnyOf((Comparison('==', b, 1), Comparison('==', b, a)))]
    """
    found = list(constraints)
    if not any(map(_is_involved, found)):
        return found
    bounds = Bounds({s: low for s, low in least.items() if low})
    try:
        with share(PROPAGATED):
            for _ in range(_ROUNDS):
                before = list(found)
                _close(found, bounds)
                _probe(found, bounds)
                if found == before or FALSE in found:
                    break
    except EffortSpentError:
        pass  # each step so far kept the conjunction equivalent
    return [FALSE] if FALSE in found else found


def _is_involved(formula: Formula) -> bool:
    """Return whether a formula multiplies joins, or divides by sizes."""
    return any(not isinstance(dim, int) and _is_hard(dim) for dim in dims_of(formula))


def _is_hard(value: Term) -> bool:
    for monomial in value.coefficients:
        for atom in monomial:
            if not isinstance(atom, Operation):
                continue
            in_product = len(monomial) > 1 or any(len(m) > 1 for arg in atom.args for m in arg.coefficients)
            if atom.kind == "join" and in_product:
                return True
            if atom.kind in ("//", "%") and not atom.args[1].is_constant:
                return True
            if any(map(_is_hard, atom.args)):
                return True
    return False


def _close(found: list[Formula], bounds: Bounds, *, is_case: bool = False) -> None:
    """Simplify each constraint by all others, in place, until nothing changes; stop at a contradiction.

    If ``is_case``, the constraints are only to be refuted, and a size that equals a term is replaced by it.
    """
    for _ in range(_ROUNDS):
        before = list(found)
        position = 0
        while position < len(found):
            others = [*found[:position], *found[position + 1 :]]
            made = flattened([_Facts(others, bounds, is_case).simplified(found[position])])
            found[position : position + 1] = [c for c in made if c not in others]
            if FALSE in made:
                return
            position += len(made)
        if found == before:
            return


def _probe(found: list[Formula], bounds: Bounds) -> None:
    """Remove the literals of short disjunctions that cannot hold where no other literal does."""
    for position, clause in enumerate(found):
        parts = literals(clause)
        if not 1 < len(parts) <= _PROBED:
            continue
        others = [*found[:position], *found[position + 1 :]]
        kept = list(parts)
        for part in parts:
            rest = [k for k in kept if k is not part]
            if _is_refuted([part, *map(negate, rest), *others], bounds):
                kept = rest
        if len(kept) < len(parts):
            found[position] = any_of(kept)
            if not kept:
                return


def _is_refuted(constraints: Sequence[Formula], bounds: Bounds) -> bool:
    found = flattened(constraints)
    _close(found, bounds, is_case=True)
    return FALSE in found


class _Facts:
    """What constraints say plainly: equal sizes, quotients that are whole, joins that have a value.

    Attributes:
        values: terms that replace an atom, by that atom.
        onto: pairs of sizes of which the first is 1 or the second.
        whole: quotients that are whole.
        joined: sets of sizes that have a join.
    """

    def __init__(self, constraints: Iterable[Formula], bounds: Bounds, is_case: bool) -> None:
        self.bounds = bounds
        self.is_case = is_case
        self.values: dict[Term, Term] = {}
        self.onto: set[tuple[Dim, Dim]] = set()
        self.whole: set[Operation] = set()
        self.joined: list[frozenset[Dim]] = []
        for constraint in constraints:
            self._take(constraint)

    def _take(self, constraint: Formula) -> None:
        match constraint:
            case Comparison("==", left, right):
                quotient = quotient_asked_whole(constraint)
                if quotient is not None:
                    self.whole.add(quotient)
                elif (pair := _replacement(term(left), term(right), self.is_case)) is not None:
                    self.values.setdefault(*pair)
            case Compatible(dims):
                self.joined.append(frozenset(dims))
            case AnyOf((Comparison("==", data, 1), Comparison("==", same, target))) if data == same:
                self.onto.add((data, target))

    def simplified(self, formula: Formula) -> Formula:
        """Return a formula that is equivalent where the facts hold."""
        match formula:
            case Comparison():
                return self._comparison(formula)
            case Compatible(dims):
                return self._compatible(dims)
            case AllOf(parts):
                return all_of(map(self.simplified, parts))
            case AnyOf(parts):
                return any_of(map(self.simplified, parts))
        return with_dims(formula, self._written)

    def _compatible(self, dims: Sequence[Dim]) -> Formula:
        kept = list(dict.fromkeys(m for d in dims for m in join_members(self._written(d)) if m != 1))
        for dim in list(kept):
            if any((dim, other) in self.onto for other in kept):
                kept.remove(dim)
        if all(isinstance(d, int) or d.is_Symbol for d in kept):
            return normal(Compatible(tuple(kept)))
        pairs = []
        for left, right in combinations(kept, 2):
            given = [equal(left, right), equal(left, 1), equal(right, 1)]
            made = any_of(map(self._comparison, given))
            pairs.append(Compatible((left, right)) if made == any_of(given) else made)
        whole = normal(Compatible(tuple(kept)))
        return whole if all(isinstance(p, Compatible) for p in pairs) else all_of(pairs)

    def _comparison(self, given: Comparison) -> Formula:
        charge(_STEP)
        found = with_dims(given, self._written)
        if not isinstance(found, Comparison):
            return found
        if found.operator in ("==", "!="):
            found = cleared(found, self.whole, self.bounds, self)
        decided = self._decided(found)
        return normal(_ones(_members(found)) if decided is None else decided)

    def _decided(self, found: Comparison) -> Formula | None:
        is_at_least = self.bounds.is_at_least
        less, more = subtract(found.right, found.left), subtract(found.left, found.right)
        match found.operator:
            case "==" | "!=" if is_at_least(less, 1) or is_at_least(more, 1):
                return FALSE if found.operator == "==" else TRUE
            case "<=" | "<":
                low = int(found.operator == "<")
                return FALSE if is_at_least(more, 1 - low) else TRUE if is_at_least(less, low) else None
        return None

    def __contains__(self, value: object) -> bool:
        """Return whether an operation is a join that is known to have a value."""
        if not isinstance(value, Operation) or value.kind != "join" or not all(a.is_total for a in value.args):
            return False
        members = frozenset(a.dim() for a in value.args)
        return any(members <= joined for joined in self.joined) or all(
            any({a, b} <= joined for joined in self.joined) or (a, b) in self.onto or (b, a) in self.onto
            for a, b in combinations(members, 2)
        )

    def _written(self, dim: Dim) -> Dim:
        """Return a dimension with the values put in, and without members of joins that another one covers."""
        if isinstance(dim, int):
            return dim
        if self.values:
            dim = Substitution(self.values, of_symbols=False).term(dim).dim()
        if isinstance(dim, int):
            return dim
        shorter = {o: made for o in _operations(dim) if (made := self._evaluated(o)) is not o}
        return Substitution(shorter, of_symbols=False).term(dim).dim() if shorter else dim

    def _evaluated(self, operation: Operation) -> Term:
        """Return the simpler term that an operation equals by the facts, or itself."""
        match operation.kind:
            case "join":
                return self._shortened(operation)
            case "//" | "%" if self.bounds.is_at_least(operation.args[1].dim(), 1):
                quotient = exact_quotient(*((arg.dim(),) for arg in operation.args))
                if quotient is not None:
                    return term(quotient) if operation.kind == "//" else constant(0)
        return operation

    def _shortened(self, joined: Operation) -> Term:
        members = [a.dim() for a in joined.args]
        kept = list(members)
        for member in members:
            if any((member, other) in self.onto for other in kept if other != member):
                kept.remove(member)
        return joined if len(kept) == len(members) else term(join(kept))


def _replacement(left: Term, right: Term, is_case: bool) -> tuple[Term, Term] | None:
    """Return an atom and the term that an equality replaces it by; unless ``is_case``, that must be simpler."""
    for atom, value in ((left, right), (right, left)):
        if isinstance(atom, Operation):
            if value.size < atom.size and atom not in _operations(value):
                return atom, value
        elif isinstance(atom, Symbol) and atom not in value.symbols():
            is_simpler = value.is_constant or (value.is_Symbol and value.key < atom.key)
            if is_case or is_simpler:
                return atom, value
    return None


def _members(found: Comparison) -> Formula:
    """Return the equality of a join and one of its members as one for each other member: it is 1 or the same."""
    for joined, size in ((found.left, found.right), (found.right, found.left)):
        members = join_members(joined)
        if found.operator == "==" and len(members) > 1 and size in members:
            return all_of(one_or_equal(m, size) for m in members if m != size)
    return found


def _ones(found: Formula) -> Formula:
    """Return a comparison of a product of sizes with 1 as one for each factor."""
    if not isinstance(found, Comparison):
        return found
    product = term(found.left)
    if found.operator != "==" or found.right != 1 or len(product.coefficients) != 1:
        return found
    ((monomial, number),) = product.coefficients.items()
    if number != 1 or any(atom.lower_bound is None or atom.lower_bound < 0 for atom in monomial):
        return found
    return all_of(equal(m, 1) for atom in dict.fromkeys(monomial) for m in join_members(atom.dim()))


def _operations(value: Term) -> Iterator[Operation]:
    """Yield the operations in a term, at any depth, inner ones first."""
    for operation in value.operations():
        for arg in operation.args:
            yield from _operations(arg)
        yield operation
