"""Constraints that simplify each other, without a solver: equalities are substituted, impossible literals removed.

Each step replaces one constraint by another that is equivalent given all others, so the conjunction stays
equivalent. A literal is removed if assuming it leads to a contradiction by these steps alone (unit propagation with
failed-literal probing, as SAT solvers do it). This decides what batches that stretch, and reshapes that multiply sizes,
require together: products of joins, of which a solver for nonlinear arithmetic makes little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations, permutations

from symbcast.core.algebra.arithmetic import join, join_members, subtract
from symbcast.core.algebra.bounds import Bounds, clear_quotients, exact_quotient, quotient_required_whole
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    clauses,
    dims_of,
    each_member,
    equal,
    expand,
    literals,
    needs_of,
    opposite,
    with_dims,
)
from symbcast.core.algebra.term_arithmetic import Substitution, operate
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, constant, made_symbol, term
from symbcast.core.effort import PROPAGATED, Effort, EffortSpentError, budget_share, charge, counting, current_budget
from symbcast.core.solver.evaluation import in_normal_form, normal_conjuncts, symbols_in
from symbcast.core.solver.f4_products.quotients import WholeQuotients, finer_quotients

_ROUNDS = 8
# Units of effort for simplifying a literal once.
_STEP = 60
# Units for refuting formulas, which no question pays: the search for sizes that is next takes as many.
_CONTRADICTED = 6_000
# Disjunctions of more literals are not probed.
_PROBED = 4
# Products of more factors are not compared factor by factor.
_FACTORS = 4
# By how many other disjunctions the case of a literal is divided.
_SPLITS = 1


def propagated(
    constraints: Sequence[Formula], least: Mapping[Symbol, int], known: Sequence[Formula] = ()
) -> list[Formula]:
    """Return constraints equivalent to the given ones, where sizes are at least ``least`` and ``known`` formulas hold.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.text import parse_formula
    >>> texts = ["compatible(a, b)", "a == broadcast(a, b)", "compatible(n*a, n*broadcast(a, b))"]
    >>> propagated(list(map(parse_formula, texts)), {symbol(s): 1 for s in "abn"})
    [AnyOf((Comparison('==', b, 1), Comparison('==', b, a)))]
    """
    closed = list(constraints)
    if not any(_is_involved(c) or _states_part(c) for c in closed) and not _shares_operations(closed):
        return closed
    bounds = Bounds({s: low for s, low in least.items() if low})
    try:
        with budget_share(PROPAGATED):
            closed = _with_coarse_quotients(closed, known)
            for _ in range(_ROUNDS):
                before = list(closed)
                _close(closed, bounds)
                _probe(closed, bounds)
                if closed == before or FALSE in closed:
                    break
    except EffortSpentError:
        pass  # each step so far kept the conjunction equivalent
    return [FALSE] if FALSE in closed else normal_conjuncts(map(_each_one, closed))


def contradict(formulas: Sequence[Formula]) -> bool:
    """Return whether formulas clash by the same steps, after unit resolution; False means undecided.

    Where all of them hold, so do the alternatives of a disjunction that no other formula excludes, together. What is
    left of disjunctions is held against the formulas about the sizes beside its own.

    >>> from symbcast.core.text import parse_formula
    >>> texts = ["broadcast(a, b) == c", "c == 1 or c == a", "a != 1", "a != c"]
    >>> contradict(list(map(parse_formula, texts))), contradict(list(map(parse_formula, texts[:3])))
    (True, False)
    """
    with suppress(EffortSpentError), counting(Effort(_CONTRADICTED, clock=current_budget())):
        return FALSE in _resolved_and_closed([c for f in formulas for c in clauses(_pairs(f))])
    return False


def _resolved_and_closed(conjuncts: list[Formula]) -> list[Formula]:
    """Return what some conjuncts require, or those of them about the sizes that resolution leaves with less choice."""
    left = _resolved(conjuncts)
    if not left or FALSE in left:
        return left
    near = symbols_in(all_of(left)).keys()
    around = {s for c in conjuncts if not near.isdisjoint(symbols_in(c)) for s in symbols_in(c)}
    # What resolution left comes first: most clashes are in it, and effort ends before a round over all others does.
    concerned = list(dict.fromkeys([*left, *(c for c in conjuncts if around.issuperset(symbols_in(c)))]))
    bounds = Bounds({})
    for formula in concerned:
        match formula:
            case Comparison("<=", int(least), Symbol() as size):
                bounds.learn(size, least)
    concerned = normal_conjuncts(concerned)
    _close(concerned, bounds, is_case=True)
    if FALSE not in concerned:  # the second round would take the effort, and forget the clash
        _close(concerned := normal_conjuncts(map(_members_of_one, concerned)), bounds, is_case=True)
    return concerned


def _pairs(formula: Formula) -> Formula:
    """Return that a few sizes have a join as disjunctions about two of them."""
    return expand(formula) if isinstance(formula, Compatible) and len(formula.dims) <= _FACTORS else formula


def _members_of_one(formula: Formula) -> Formula:
    """Return that a join is 1 as the same of each member: only 1 joins to 1."""
    match formula:
        case Comparison("==", Operation(kind="join") as joined, 1) | Comparison(
            "==", 1, Operation(kind="join") as joined
        ):
            return all_of(equal(member, 1) for member in join_members(joined))
    return formula


def _resolved(conjuncts: list[Formula]) -> list[Formula]:
    """Drop, in place, alternatives that other conjuncts exclude; return what is left of disjunctions that lost some."""
    excluded = {sides for c in conjuncts if (sides := _sides(c, is_negated=True)) is not None}
    left: dict[int, Formula] = {}
    is_new = True
    while is_new:
        is_new = False
        for position, conjunct in enumerate(conjuncts):
            if not isinstance(conjunct, AnyOf):
                continue
            parts = [part for part in conjunct.parts if _sides(part) not in excluded]
            if len(parts) == len(conjunct.parts):
                continue
            charge(_STEP)
            conjuncts[position] = left[position] = only = any_of(parts)
            sides = _sides(only, is_negated=True)
            if sides is not None:
                excluded.add(sides)
                is_new = True
    return list(left.values())


def _sides(formula: Formula, *, is_negated: bool = False) -> tuple[bool, frozenset[Dim]] | None:
    """Return whether a formula states that two sizes are equal or different, or the opposite, and the sizes."""
    if not isinstance(formula, Comparison) or formula.operator not in ("==", "!="):
        return None
    return (formula.operator == "==") is not is_negated, frozenset((formula.left, formula.right))


def _with_coarse_quotients(constraints: Sequence[Formula], known: Sequence[Formula]) -> list[Formula]:
    """Return constraints with the quotients that remainders decide written by those that they have already."""
    dims = dict.fromkeys(d for c in constraints for d in dims_of(c) if not isinstance(d, int))
    values = finer_quotients(known, lambda: dict.fromkeys(o for d in dims for o in d.all_operations()))
    if not values:
        return list(constraints)
    charge(_STEP * len(dims))
    coarse = Substitution(values, of_symbols=False)
    return [with_dims(c, coarse.dim) for c in constraints]


def _shares_operations(constraints: Sequence[Formula]) -> bool:
    """Return whether a constraint states the value of an operation in other ones, or that a quotient there is whole."""
    stated = {
        (operation, n)
        for n, c in enumerate(constraints)
        if isinstance(c, Comparison) and c.operator == "=="
        for operation in (c.left, c.right, quotient_required_whole(c))
        if isinstance(operation, Operation)
    }
    used = {
        (operation, n)
        for n, c in enumerate(constraints if stated else ())
        for dim in dims_of(c)
        if not isinstance(dim, int)
        for operation in dim.all_operations()
    }
    return any(operation == other and n != m for operation, n in stated for other, m in used)


def _states_part(formula: Formula) -> bool:
    """Return whether a formula is the equality of a join and a part of it, which bounds its other members."""
    if not isinstance(formula, Comparison) or formula.operator != "==":
        return False
    left, right = (frozenset(join_members(d)) for d in (formula.left, formula.right))
    return left < right or right < left


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


def _close(constraints: list[Formula], bounds: Bounds, *, is_case: bool = False) -> None:
    """Simplify each constraint by all others, in place, until nothing changes; stop at a contradiction.

    If ``is_case``, the constraints are only to be refuted, and a size that equals a term is replaced by it.
    """
    facts = _ConstraintFacts(constraints, bounds, is_case)
    position = unchanged = 0
    while unchanged < len(constraints):
        position %= len(constraints)
        own = constraints[position]
        simplified = [c for c in normal_conjuncts([facts.simplified(own)]) if c == own or c not in constraints]
        if simplified == [own]:
            position, unchanged = position + 1, unchanged + 1
            continue
        constraints[position : position + 1] = simplified
        if FALSE in simplified:
            return
        facts = _ConstraintFacts(constraints, bounds, is_case)
        # What changed may simplify the others again.
        position, unchanged = position + len(simplified), 0


def _probe(constraints: list[Formula], bounds: Bounds) -> None:
    """Remove the literals of short disjunctions that cannot hold where no other literal does."""
    plain, plain_bounds = _with_names([*constraints, *_joined_pairs(constraints)], bounds)
    hard = {s for c in plain if _is_involved(c) for s in symbols_in(c)}
    for position, clause in enumerate(constraints):
        parts = literals(plain[position])
        if not (1 < len(parts) <= _PROBED and hard.issuperset(symbols_in(plain[position]))):
            continue
        others = [c for n, c in enumerate(plain) if n != position and hard.issuperset(symbols_in(c))]
        known = _ConstraintFacts(others, plain_bounds, is_case=True)
        possible = list(range(len(parts)))
        for n in range(len(parts)):
            rest = [k for k in possible if k != n]
            failing = [opposite(parts[k]) for k in rest if known.defines(parts[k])]
            if _is_refuted([parts[n], *failing, *others], plain_bounds, _SPLITS):
                possible = rest
        if len(possible) < len(parts):
            constraints[position] = any_of(literals(clause)[n] for n in possible)
            return


def _with_names(constraints: Sequence[Formula], bounds: Bounds) -> tuple[list[Formula], Bounds]:
    """Return constraints with names for their simple operations, and bounds of these too.

    What is refuted of any sizes is refuted of the values of operations.
    """
    names: dict[Operation, Term] = {}
    bounds = bounds.copy()
    dims = dict.fromkeys(d for c in constraints for d in dims_of(c) if not isinstance(d, int))
    operations = dict.fromkeys(o for d in dims for o in d.all_operations() if not _is_hard(o + constant(1)))
    facts = _ConstraintFacts(constraints, bounds, is_case=True)
    for operation in sorted(operations, key=lambda o: len(o.args)):
        low = bounds.least(operation)
        if low is not None and low >= 0 and facts.has_value(operation):
            smaller = next((j for j in names if _is_part(j, operation)), None)
            if smaller is None:
                names[operation] = name = made_symbol(Symbol, f"operation {len(names)}")
                bounds.learn(name, low)
            else:
                rest = (arg for arg in operation.args if arg not in smaller.args)
                names[operation] = Operation("join", (names[smaller], *rest))
    named = Substitution(names, of_symbols=False)
    return [with_dims(c, named.dim) for c in constraints], bounds


def _is_part(smaller: Operation, joined: Operation) -> bool:
    """Return whether a join has all members of a smaller one."""
    return smaller.kind == joined.kind == "join" and set(smaller.args) < set(joined.args)


def _joined_pairs(constraints: Sequence[Formula]) -> list[Formula]:
    """Return which joins in constraints can be joined with one more size: it is the same, or one of both is 1."""
    joined = [f.dims for f in constraints if isinstance(f, Compatible)]
    dims = dict.fromkeys(d for f in constraints for d in dims_of(f) if not isinstance(d, int))
    joins = dict.fromkeys(o for d in dims for o in d.all_operations() if o.kind == "join")
    return [
        Compatible((size, base))
        for base in joins
        for members in joined
        if set(join_members(base)) < set(members)
        for size in members
        if size not in join_members(base)
    ]


def _is_refuted(constraints: Sequence[Formula], bounds: Bounds, splits: int) -> bool:
    """Return whether constraints contradict each other, by cases of at most ``splits`` disjunctions."""
    conjuncts = normal_conjuncts(constraints)
    _close(conjuncts, bounds, is_case=True)
    if FALSE in conjuncts:
        return True
    if not splits:
        return False
    for position, clause in enumerate(conjuncts):
        parts = literals(expand(clause) if isinstance(clause, Compatible) else clause)
        if 1 < len(parts) <= _PROBED:
            others = [*conjuncts[:position], *conjuncts[position + 1 :]]
            if all(_is_refuted([part, *others], bounds, splits - 1) for part in parts):
                return True
    return False


class _ConstraintFacts:
    """What constraints say plainly: equal sizes, quotients that are whole, joins that have a value.

    Attributes:
        values: terms that replace an atom, by that atom.
        onto: pairs of sizes of which the first is 1 or the second.
        whole: quotients that are whole, and `quotients` what operations on them are.
        joined: sets of sizes that have a join.
    """

    def __init__(self, constraints: Sequence[Formula], bounds: Bounds, is_case: bool) -> None:
        self.bounds = bounds
        self.is_case = is_case
        self.values: dict[Term, Term] = {}
        self.onto: set[tuple[Dim, Dim]] = set()
        self.whole: set[Operation] = set()
        self.joined: list[frozenset[Dim]] = []
        self._constraints = constraints
        for constraint in constraints:
            self._take(constraint)
        self.quotients = WholeQuotients(self.whole, bounds)

    def _take(self, constraint: Formula) -> None:
        match constraint:
            case Comparison("==", left, right):
                quotient = quotient_required_whole(constraint)
                if quotient is not None:
                    if quotient.args[1] != constant(0):  # in a case of size 0, no quotient by it has a value
                        self.whole.add(quotient)
                elif (pair := _replacement(term(left), term(right), self.is_case)) is not None:
                    self.values.setdefault(*pair)
            case Compatible(dims):
                self.joined.append(frozenset(dims))
            case AnyOf():
                self.onto |= set(_stretched_onto(constraint))

    def simplified(self, constraint: Formula) -> Formula:
        """Return a formula that is equivalent to one of the constraints where all others hold."""
        if not _is_fact(constraint):
            return self._simplified(constraint)
        others = [c for c in self._constraints if c is not constraint]
        return _ConstraintFacts(others, self.bounds, self.is_case)._simplified(constraint)

    def _simplified(self, formula: Formula) -> Formula:
        match formula:
            case Comparison():
                return self._comparison(formula)
            case Compatible(dims):
                return self._compatible(dims)
            case AllOf(parts):
                return all_of(map(self._simplified, parts))
            case AnyOf(parts):
                return any_of(map(self._simplified, parts))
        return with_dims(formula, self._written)

    def _compatible(self, dims: tuple[Dim, ...]) -> Formula:
        if not self.defines(Compatible(dims)):
            return Compatible(dims)
        members = list(dict.fromkeys(m for d in dims for m in join_members(self._written(d)) if m != 1))
        for dim in list(members):
            if any((dim, other) in self.onto for other in members):
                members.remove(dim)
        if all(isinstance(d, int) or d.is_Symbol for d in members):
            return in_normal_form(Compatible(tuple(members)))
        pairs = []
        for left, right in combinations(members, 2):
            alternatives = [equal(left, right), equal(left, 1), equal(right, 1)]
            alternative = any_of(map(self._comparison, alternatives))
            pairs.append(Compatible((left, right)) if alternative == any_of(alternatives) else alternative)
        whole = in_normal_form(Compatible(tuple(members)))
        return whole if all(isinstance(p, Compatible) for p in pairs) else all_of(pairs)

    def _comparison(self, comparison: Comparison) -> Formula:
        charge(_STEP * sum(1 if isinstance(dim, int) else 1 + dim.size for dim in dims_of(comparison)))
        rewritten = with_dims(comparison, self._written)
        lost = self._lost_values(comparison, rewritten)
        if lost:
            return all_of((*lost, rewritten))
        if not isinstance(rewritten, Comparison):
            return rewritten
        if rewritten.operator in ("==", "!="):
            rewritten = self.quotients.merged(clear_quotients(rewritten, self.whole, self.bounds, self))
        decided = self._decided(rewritten)
        if decided is None:
            spelled = each_member(rewritten)
            simpler = self._with_met_member(self._by_factors(rewritten)) if spelled is rewritten else spelled
            decided = in_normal_form(_ones(simpler))
        return rewritten if decided == TRUE and not self.defines(rewritten) else decided

    def _by_factors(self, comparison: Comparison) -> Formula:
        """Return an equality of two products, one of joins and one of their members, as one for each factor.

        A join of positive sizes that has a value is at least each member: see `symbcast.core.algebra.bounds`.
        """
        left, right = term(comparison.left), term(comparison.right)
        if comparison.operator != "==" or len(left.coefficients) != 1 or len(right.coefficients) != 1:
            return comparison
        ((high, n),), ((low, m),) = left.coefficients.items(), right.coefficients.items()
        if n != m or len(high) != len(low) or not 1 < len(high) <= _FACTORS:
            return comparison
        if not all(self.bounds.is_at_least(factor.dim(), 1) for factor in (*high, *low)):
            return comparison
        for greater, less in ((high, low), (low, high)):
            for order in permutations(less):
                if all(map(self._covers, greater, order)):
                    return all_of(equal(a.dim(), b.dim()) for a, b in zip(greater, order, strict=True) if a != b)
        return comparison

    def _with_met_member(self, formula: Formula) -> Formula:
        """Return the equality of a size and a join with that of the member which covers the size.

        A join of positive sizes that has a value is at least each member; so is that member at least the size.
        """
        if not isinstance(formula, Comparison) or formula.operator != "==":
            return formula
        for size, joined in ((formula.left, formula.right), (formula.right, formula.left)):
            members = join_members(joined)
            if len(members) < 2 or not self.bounds.is_at_least(size, 1):
                continue
            for member in members:
                if not isinstance(member, int) and member != size and self._covers(term(member), term(size)):
                    return all_of((equal(member, size), formula))
        return formula

    def _covers(self, greater: Term, less: Term) -> bool:
        """Return whether a size is another one, or a join that has it as a member, directly or by an equal join.

        ``broadcast(K, M)`` covers N if K is ``broadcast(N, L)``: a join that has a value is at least each member.
        """
        covered, ahead = {term(greater)}, [term(greater)]
        while ahead:
            size = ahead.pop()
            equal_joins = (atom for atom, value in self.values.items() if value == size)
            members = {term(m) for join in (size, *equal_joins) for m in join_members(join.dim())} - covered
            covered |= members
            ahead += members
        return less in covered

    def _decided(self, comparison: Comparison) -> Formula | None:
        is_at_least = self.bounds.is_at_least
        less, more = subtract(comparison.right, comparison.left), subtract(comparison.left, comparison.right)
        match comparison.operator:
            case "==" | "!=" if is_at_least(less, 1) or is_at_least(more, 1):
                return FALSE if comparison.operator == "==" else TRUE
            case "<=" | "<":
                low = int(comparison.operator == "<")
                return FALSE if is_at_least(more, 1 - low) else TRUE if is_at_least(less, low) else None
        return None

    def _lost_values(self, formula: Formula, rewritten: Formula) -> list[Formula]:
        """Return what a rewritten formula no longer says: that parts of it have a value.

        Where d is 0, so is ``d*(n//c)``, unless c is 0: written as 0, the formula forgets that c is not 0.
        """
        if rewritten is formula or self.defines(formula):
            return []
        needs = dict.fromkeys(with_dims(need, self._written) for need in needs_of(dims_of(formula)))
        left = {TRUE, *needs_of(dims_of(rewritten))}
        return [need for need in needs if need not in left and not self._is_met(need)]

    def _is_met(self, need: Formula) -> bool:
        """Return whether a size is known not to be 0, or sizes to have a join."""
        match need:
            case Comparison("!=", left, 0):
                return self.quotients.is_positive(term(left))
            case Compatible(dims):
                return any(joined.issuperset(dims) for joined in self.joined)
        return False

    def defines(self, formula: Formula) -> bool:
        """Return whether all sizes in a formula are known to have a value."""
        return all(isinstance(dim, int) or all(map(self.has_value, dim.operations())) for dim in dims_of(formula))

    def has_value(self, operation: Operation) -> bool:
        """Return whether an operation is known to have a value."""
        if operation.is_total or operation in self:
            return True
        is_quotient = operation.kind in ("//", "%") and self.bounds.is_at_least(operation.args[1].dim(), 1)
        is_known = is_quotient or operation.kind in ("min", "max")
        return is_known and all(self.has_value(inner) for arg in operation.args for inner in arg.operations())

    def __contains__(self, value: object) -> bool:
        """Return whether an operation is a join that is known to have a value."""
        if not isinstance(value, Operation) or value.kind != "join":
            return False
        if not all(self.has_value(inner) for arg in value.args for inner in arg.operations()):
            return False
        members = [a.dim() for a in value.args]
        return any(joined.issuperset(members) for joined in self.joined) or all(
            any({a, b} <= joined for joined in self.joined) or (a, b) in self.onto or (b, a) in self.onto
            for a, b in combinations(members, 2)
        )

    def _written(self, dim: Dim) -> Dim:
        """Return a dimension with the values put in, and without members of joins that another one covers."""
        if self.values:
            dim = Substitution(self.values, of_symbols=False).dim(dim)
        if not isinstance(dim, int):
            dim = self.quotients.multiplied_out(dim).dim()
        if isinstance(dim, int):
            return dim
        shorter = {o: value for o in dim.all_operations() if (value := self._evaluated(o)) is not o}
        return Substitution(shorter, of_symbols=False).dim(dim) if shorter else dim

    def _evaluated(self, operation: Operation) -> Term:
        """Return the simpler term that an operation equals by the facts, or itself."""
        if self.whole:
            args = tuple(map(self.quotients.multiplied_out, operation.args))
            if args != operation.args:
                return operate(operation.kind, args)
        whole = self.quotients.evaluated(operation)
        if whole is not None:
            return whole
        match operation.kind:
            case "join":
                return self._shortened(operation)
            case "//" | "%" if self.bounds.is_at_least(operation.args[1].dim(), 1):
                quotient = exact_quotient(*((arg.dim(),) for arg in operation.args))
                if quotient is not None:
                    return term(quotient) if operation.kind == "//" else constant(0)
        return operation

    def _shortened(self, joined: Operation) -> Term:
        needed = [a.dim() for a in joined.args]
        for atom, value in self.values.items():
            members = join_members(atom.dim())
            if len(members) > 1 and set(members) < set(needed):
                needed = [*(k for k in needed if k not in members), value.dim()]
        for member in list(needed):
            if any((member, other) in self.onto for other in needed if other != member):
                needed.remove(member)
        return joined if len(needed) == len(joined.args) else term(join(needed))


def _is_fact(constraint: Formula) -> bool:
    """Return whether other constraints may be simplified by a constraint."""
    match constraint:
        case Comparison("==") | Compatible():
            return True
    return bool(_stretched_onto(constraint))


def _stretched_onto(formula: Formula) -> list[tuple[Dim, Dim]]:
    """Return the size and its target if a formula says that the size is 1 or the target, in any order; else nothing."""
    match formula:
        case AnyOf((Comparison("==") as first, Comparison("==") as second)):
            return [
                (data, target)
                for one, other in ((first, second), (second, first))
                for data, target in ((other.left, other.right), (other.right, other.left))
                if (one.left, one.right) == (data, 1) and target != 1
            ]
    return []


def _replacement(left: Term, right: Term, is_case: bool) -> tuple[Term, Term] | None:
    """Return an atom and the term that an equality replaces it by; unless ``is_case``, that must be simpler."""
    for atom, value in ((left, right), (right, left)):
        if isinstance(atom, Operation):
            if value.size < atom.size and atom not in value.all_operations():
                return atom, value
        elif isinstance(atom, Symbol) and atom not in value.symbols():
            is_simpler = value.is_constant or (value.is_Symbol and value.key < atom.key)
            if is_case or is_simpler:
                return atom, value
    return None


def _each_one(formula: Formula) -> Formula:
    """Return the equality of a join and 1 as one for each member."""
    if isinstance(formula, Comparison) and formula.operator == "==" and formula.right == 1:
        return all_of(equal(member, 1) for member in join_members(formula.left))
    return formula


def _ones(formula: Formula) -> Formula:
    """Return a comparison of a product of sizes with 1 as one for each factor."""
    if not isinstance(formula, Comparison):
        return formula
    product = term(formula.left)
    if formula.operator != "==" or formula.right != 1 or len(product.coefficients) != 1:
        return formula
    ((monomial, number),) = product.coefficients.items()
    if number != 1 or not all(atom.is_at_least(0) for atom in monomial):
        return formula
    return all_of(equal(atom.dim(), 1) for atom in dict.fromkeys(monomial))
