"""Verdicts by evidence: sizes at which a broadcast works and sizes at which it fails show that both are possible.

Two points decide most questions, whatever the rule, the terms and the assumptions: all sizes alike, where nearly every
rule holds, and all sizes different, where it fails. Nothing is solved and no formula is built. If there are no points
of both kinds among a few, the question is for the solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.formulas import Comparison, Formula, dims_of
from symbcast.core.algebra.symbols import AxisSequence, Rest, SequenceSymbol
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, symbols_of, term
from symbcast.core.rules import Dims, Rule
from symbcast.core.rules.broadcast_rule import EQUALS, JOINS, Relation
from symbcast.core.solver.evaluation import holds_at, size_at, value_at
from symbcast.core.solver.f1_names.one_broadcast import separate_joins
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.programs.arguments import Assumption

_MOST_NAMES = 12
_MOST_ATOMS = 40
# Larger questions are left to the solver, which may not decide them: an answer is undecided in all of its parts.
_GREATEST = 1 << 16
_DIFFERENT = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
_ALIKE = (8, 2, 0, 4, 5, 6, 3, 12, 16, 24, 64)
_RISING = (
    (1, 2, 5, 11, 23, 47, 95, 191, 383, 767, 1535, 3071),
    (2, 7, 16, 34, 70, 142, 286, 574, 1150, 2302, 4606, 9214),
)


class PointVerdict:
    """A question whose verdict a few points may show.

    ``relations`` are the rule's requirements, axis by axis; ``dims`` all sizes of the operands; ``assumed`` the
    assumptions, about the same names; no size is below ``least``.

    Attributes:
        clauses: The conjuncts of the condition if the rule joins names with lower bounds, and none if it always holds;
            None for any other question.
        verdict: The verdict, None if the points do not show it.
    """

    __slots__ = ("_assumed", "_equal", "_least", "_names", "_relations", "_terms", "clauses", "verdict")

    def __init__(
        self, relations: Iterable[Relation], dims: Iterable[Dim], assumed: Sequence[Formula], least: int
    ) -> None:
        self._assumed = assumed
        self._least = least
        self._names: dict[Any, None] = {}
        self._terms: dict[Term, None] = {}
        for dim in dims:
            if isinstance(dim, Symbol):
                self._names[dim] = None
            elif isinstance(dim, Term):
                self._terms[dim] = None
                self._names.update(dim.symbols())
        self._equal: dict[Symbol, Dim] = {}
        self._relations = [r for r in relations if not _is_trivial(r)]
        self.clauses = self._separate()
        self.verdict: Verdict | None
        if self.clauses is not None:
            self.verdict = Verdict.SOMETIMES if self.clauses else Verdict.ALWAYS
            return
        if assumed:
            self._put_in_equal_names()
        self.verdict = self._decide() if self._is_small() else None
        self.clauses = [] if self.verdict is Verdict.ALWAYS else None

    @property
    def names(self) -> tuple[Symbol, ...] | None:
        """The names of the question, in order of appearance; None if there are sequences of axes.

        None, too, if a term has several: their order is that of the text, which is not read here.
        """
        if any(len(t.symbols()) > 1 for t in self._terms):
            return None
        names = tuple(self._names)
        return names if _PLAIN.issuperset(map(type, names)) else None

    def _equalities(self) -> Iterator[tuple[Symbol, Dim]]:
        """Yield names that are assumed to equal other sizes, each once, with these."""
        for formula in self._assumed:
            if type(formula) is Comparison and formula.operator == "==":
                for name, other in _solved(term(formula.left) - term(formula.right)):
                    if name in self._names:
                        yield name, other
                        break

    def _put_in_equal_names(self) -> None:
        """Put one name, or an integer, for all names that are assumed to equal it."""
        self._equal = dict(self._equalities())
        values: dict[Any, Any] = {}
        for name, other in self._equal.items():
            left, right = values.get(name, name), values.get(other, other)
            if type(left) is int:
                left, right = right, left
            if left is not right and type(left) is not int and (type(right) is int or right in self._names):
                values = {bound: right if value is left else value for bound, value in values.items()}
                values[left] = right
        if values:
            changed = [(kind, tuple([values.get(s, s) for s in sizes])) for kind, sizes in self._relations]
            self._relations = [r for r in changed if not _is_trivial(r)]

    def _separate(self) -> list[Formula] | None:
        """Return the condition of joins of names with lower bounds."""
        if self._terms or not (self._assumed or self._least):
            return None
        least = dict.fromkeys(self._names, self._least)
        for formula in self._assumed:
            if type(formula) is not Comparison or formula.operator != "<=" or formula.right not in least:
                return None
            if type(formula.left) is not int:
                return None
            least[formula.right] = max(formula.left, least[formula.right])
        joins = [sizes for kind, sizes in self._relations if kind == JOINS]
        return separate_joins(joins, least) if len(joins) == len(self._relations) else None

    def _is_small(self) -> bool:
        if len(self._names) > _MOST_NAMES:
            return False
        for formula in self._assumed:
            symbols = symbols_of(dims_of(formula))
            if not symbols or not self._names.keys() >= set(symbols):
                return False
        return not self._terms or sum(map(_atoms_in, self._terms)) <= _MOST_ATOMS

    def _decide(self) -> Verdict | None:
        is_certain = not self._relations and not any(map(_may_be_negative, self._terms))
        if is_certain and not self._assumed:
            return Verdict.ALWAYS
        works = fails = False
        for point in self._points():
            if self._assumed and not _all_hold(self._assumed, point):
                continue
            if is_certain:
                return Verdict.ALWAYS
            if self._holds(point):
                works = True
            else:
                fails = True
            if works and fails:
                return Verdict.SOMETIMES
        return None

    def _points(self) -> Iterator[dict[Any, int]]:
        """Yield the points: sizes that the requirements suggest, sizes that all differ, and equal sizes."""
        least, names = self._least, self._names
        suggested = self._suggested()
        if not least or all(size >= least for size in suggested.values()):
            yield self._with_equal(suggested)
        yield self._with_equal({name: size + least for name, size in zip(names, _DIFFERENT, strict=False)})
        for size in _ALIKE:
            if size >= least:
                yield self._with_equal(dict.fromkeys(names, size))
        # Assumptions such as ``2*N <= M`` hold where sizes rise or fall in order of the names.
        if self._assumed:
            for order in (tuple(names), tuple(reversed(names))):
                for sizes in _RISING:
                    yield self._with_equal({name: size + least for name, size in zip(order, sizes, strict=False)})

    def _with_equal(self, point: dict[Any, int]) -> dict[Any, int]:
        """Return a point with the names that are assumed to equal other sizes put to these, as far as they go."""
        if not self._equal:
            return point

        # An equality may use a name that another one determines, so a round for each.
        for _ in self._equal:
            for name, other in self._equal.items():
                value = value_at(other, point)
                if value is not None and value >= self._least:
                    point[name] = value
        return point

    def _suggested(self) -> dict[Any, int]:
        """Return sizes of 1, or the least size, except where a requirement names another size."""
        point: dict[Any, int] = dict.fromkeys(self._names, max(1, self._least))
        if all(kind == JOINS for kind, _ in self._relations):
            return point
        fixed: dict[Any, int] = {}
        # A size that one relation fixes may fix another one: at most one more in each round.
        for _ in range(len(self._relations)):
            before = len(fixed)
            for kind, sizes in self._relations:
                if kind == JOINS:
                    continue
                data, target = (fixed.get(s, s) for s in sizes)
                if type(data) is int and type(target) is not int and (data != 1 or kind == EQUALS):
                    fixed[target] = data
                elif kind == EQUALS and type(target) is int and type(data) is not int:
                    fixed[data] = target
            if len(fixed) == before:
                break
        point.update((s, size) for s, size in fixed.items() if s in point)
        return point

    def _holds(self, point: Mapping[Any, int]) -> bool:
        """Return whether all sizes exist at a point and satisfy the requirements."""
        values: Mapping[Any, int] = point
        if self._terms:
            values = at_terms = dict(point)
            for term in self._terms:
                at_terms[term] = size = size_at(term, point)
                if size < 0:
                    return False
        for kind, sizes in self._relations:
            at = [s if type(s) is int else values[s] for s in sizes]
            if kind == JOINS:
                if len({*at, 1}) > 2:
                    return False
            elif at[0] != at[1] and (kind == EQUALS or at[0] != 1):
                return False
        return True


def _solved(difference: Term) -> Iterator[tuple[Symbol, Dim]]:
    """Yield names that are equal to other terms where a term is 0, with these."""
    for monomial, factor in difference.coefficients.items():
        if len(monomial) == 1 and isinstance(monomial[0], Symbol) and abs(factor) == 1:
            rest = Term({m: c * -factor for m, c in difference.coefficients.items() if m != monomial})
            if monomial[0] not in rest.symbols():
                yield monomial[0], rest.dim()


def _all_hold(formulas: Iterable[Formula], point: Mapping[Any, int]) -> bool:

    return all(holds_at(f, point) for f in formulas)


def _is_trivial(relation: Relation) -> bool:
    kind, sizes = relation
    if kind == JOINS:
        return len({*sizes, 1}) <= 2
    return sizes[0] == sizes[1] or (kind != EQUALS and sizes[0] == 1)


def _may_be_negative(value: Term) -> bool:
    return value.lower_bound is None or value.lower_bound < 0


def _atoms_in(value: Term) -> int:
    """Return the number of atoms of a term that has a value at all sizes, and whose relations the solver decides.

    More than `_MOST_ATOMS` for any other term.
    """
    count = 0
    for monomial, coefficient in value.coefficients.items():
        if len(monomial) > 1 or not -_GREATEST <= coefficient <= _GREATEST:
            return _MOST_ATOMS + 1
        for atom in monomial:
            count += 1
            if not atom.is_Symbol and isinstance(atom, Operation):
                is_division = atom.kind in ("//", "%")
                if atom.kind == "join" or (is_division and not (atom.args[1].is_constant and atom.args[1].constant)):
                    return _MOST_ATOMS + 1
                count += sum(map(_atoms_in, atom.args[:1] if is_division else atom.args))
    return count


def point_verdict(rule: Rule, dims: Sequence[Dims], assumed: Sequence[Assumption], least: int) -> PointVerdict | None:
    """Return a question whose verdict points show; then its assumptions agree, and all are about its sizes.

    None for any other question. All its sizes are integers, names in text, and simple terms of these. Axes of sequences
    are names as well: there are as many as the rule distinguishes, and one that represents the others.
    """
    rule.check_number(len(dims))
    if not _PLAIN.issuperset(map(type, chain.from_iterable(dims))) and not all(
        map(_is_plain, chain.from_iterable(dims))
    ):
        if least or not any(type(dim) is Rest for shape in dims for dim in shape):
            return None
        if any(isinstance(s, SequenceSymbol) for a in assumed for s in symbols_of(dims_of(a.formula))):
            return None
        expanded = _expanded(rule, dims)
        if expanded is None:
            return None
        dims = expanded
    relations = rule.relations(dims)
    if relations is None:
        return None
    question = PointVerdict(relations, chain.from_iterable(dims), [a.formula for a in assumed], least)
    return question if question.verdict is not None else None


# The types of the sizes of most shapes: a quick test.
_PLAIN = frozenset((int, Symbol))


def _is_plain(dim: Dim) -> bool:
    return type(dim) in _PLAIN or (isinstance(dim, Term) and _PLAIN.issuperset(map(type, dim.symbols())))


def _expanded(rule: Rule, dims: Sequence[Dims]) -> list[Dims] | None:
    """Return shapes, some of unknown rank, as a rule aligns them; None unless it joins each axis of each sequence."""
    if next(rule.placement.rank_asks([0] * len(dims)), None) is not None:
        return None
    rests: dict[AxisSequence, Rest] = {}
    for shape in dims:
        for place, dim in enumerate(shape):
            if isinstance(dim, Rest) and not place:
                rests.setdefault(dim.sequence, dim)
            elif isinstance(dim, Term) and not all(type(s) is Symbol for s in dim.symbols()):
                return None
    names = {s.name for shape in dims for d in shape if isinstance(d, Term) for s in d.symbols() if type(s) is Symbol}
    if not names.isdisjoint(sequence.name for sequence in rests) or not rule.is_uniform or not rule.is_join(dims):
        return None
    expanded = rule.expand(dims)
    # A sequence that is cut at two places would share axes between the two; cut at one, its axes are sizes of their
    # own, as its rank is free.
    cut = {s for shape in expanded for s in shape if isinstance(s, Rest)}
    return expanded if len(cut) == len(rests) else None
