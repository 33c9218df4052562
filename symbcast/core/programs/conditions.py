"""Conditions on sizes as values that can be combined, negated and compared exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeAlias, TypeVar, overload

from symbcast.core.account import Account, sampled_verdict
from symbcast.core.algebra import formulas
from symbcast.core.algebra.arithmetic import check_min_size, replace_symbols
from symbcast.core.algebra.formulas import FALSE, FORMULA_KINDS, TRUE, AllOf, AnyOf, Comparison, Formula, Operator
from symbcast.core.algebra.symbols import (
    Rest,
    SequenceSymbol,
    Unknown,
    distinct_labels,
    sequences_of,
    symbol,
    without_clashes,
)
from symbcast.core.algebra.terms import Dim, Operation, Symbol, term
from symbcast.core.effort import Tier, one_call
from symbcast.core.hooks import hooks
from symbcast.core.programs import arguments
from symbcast.core.programs.arguments import Assumption, Assumptions
from symbcast.core.programs.broadcast_call import BroadcastCall, PublicAnswer
from symbcast.core.programs.condition_sizes import ConditionSizes, QuestionFormulas, Refutation, check_kinds
from symbcast.core.programs.program import Program
from symbcast.core.programs.scope import Scope, formula_symbols
from symbcast.core.shapes import shape_of
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.evaluation import replace_in_formula, symbols_in
from symbcast.core.solver.extremes import Extreme, extremes
from symbcast.core.solver.simplification.simplify import simplified
from symbcast.core.text import names_lost, parse_formula
from symbcast.core.text.notation import formula_text, names_of
from symbcast.core.verdicts import Verdict, within_bound
from symbcast.errors import BindingError, CallError, ShapeTypeError, UnknownRankError

if TYPE_CHECKING:
    from sympy import Symbol as SympySymbol
    from sympy.logic.boolalg import Boolean

ValueT = TypeVar("ValueT")


@overload
def plain_answer(value: PublicAnswer) -> BroadcastCall | Program: ...
@overload
def plain_answer(value: ValueT) -> ValueT: ...
def plain_answer(value: object) -> object:
    """Return the plain answer of a public one; anything else as it is."""
    return value._subject if isinstance(value, PublicAnswer) else value


ConditionLike: TypeAlias = "str | bool | Boolean | Formula | Statement | BroadcastCall | Program | PublicAnswer"
"""What a condition can be made from."""


class Statement:
    """A condition on sizes, from text, a sympy Boolean, another condition, or a valid `BroadcastCall` or `Program`.

    `symbcast.Condition` is its public form. ``formula`` is its content; ``_order`` are the sizes in its question, in
    order, including those that the answer does not mention. ``_spoken`` are the unknowns that text refers to by their
    labels (``?a``, ``?0``): combined with another condition, they mean the unknowns with these labels there. Other
    unknowns are sizes of their own, whatever their label; no two in one condition share a label. ``_own`` maps the
    sizes of the answers that it came from to the form that sympy should see: symbols that a user passed in.
    """

    __slots__ = ("_order", "_own", "_spoken", "formula")

    formula: Formula
    _order: tuple[Symbol, ...]
    _spoken: frozenset[Symbol]
    _own: Mapping[Symbol, Symbol]

    def __init__(self, value: ConditionLike) -> None:
        value = plain_answer(value)
        plain = value.plain_names if isinstance(value, BroadcastCall) else None
        if plain is not None and isinstance(value, BroadcastCall):
            # Names that only text has: each is its own symbol here, and none needs another label.
            self.formula, self._order = formulas.all_of(value.clauses), plain
            self._spoken, self._own = frozenset(), {}
            return
        if isinstance(value, str):
            read = formulas.with_values(parse_formula(value))
            self.formula = _with_extremes_compared(read)
            # A comparison that holds or fails whatever its names are leaves the formula, but they are sizes here.
            sizes: Iterable[Symbol] = (*formula_symbols(read, value), *names_lost(value))
        else:
            self.formula, sizes = _formula(value), _question_sizes(value)
        self._order = tuple(dict.fromkeys((*sizes, *symbols_in(self.formula))))
        self._spoken = frozenset()
        self._own = _own(value)
        if isinstance(value, Statement):
            self._spoken = value._spoken
        elif isinstance(value, str):
            self._spoken = frozenset(u for u in self._unknowns if u.is_spoken)
        self._put(distinct_labels(self._unknowns))
        if sequences_of(self._order):
            self._put(without_clashes(self._order))
            check_kinds(self._order)

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts; empty for the condition that is always true."""
        return formulas.clauses(self.formula)

    @property
    def sympy(self) -> Boolean:
        """The condition as a sympy Boolean. sympy's own functions accept the condition directly.

        ``sympy.simplify`` of a conjunction or disjunction is `simplified`, which knows that sizes are whole numbers.

        >>> import sympy
        >>> sympy.simplify(Statement("N == 2 or N == 1 and N == 2"))
        Eq(N, 2)
        """
        from symbcast.core.algebra.sympy_conversion import formula_to_sympy, simplified_by

        boolean = formula_to_sympy(replace_in_formula(self.formula, dict(self._own)) if self._own else self.formula)
        # Of ranks that are not known, a condition may have no simplified form.
        has_sequences = bool(sequences_of(self._order))
        return boolean if has_sequences else simplified_by(boolean, lambda: self.simplified().sympy)

    def _sympy_(self) -> Boolean:
        return self.sympy

    @property
    def free_symbols(self) -> set[SympySymbol]:
        """The symbols of the condition, in the form of sympy."""
        return set(self.symbols)

    def subs(self, *args: Any, **options: Any) -> Any:
        """Return the result of sympy's ``subs``; a mapping may use names for symbols.

        As in sympy, sizes that the condition lacks are left out; if it has none of the names, `BindingError` is raised.

        >>> Statement("N == M or M == 1").subs({"N": 2})
        Eq(2, M) | Eq(M, 1)
        """
        named = {str(s): s for s in self.symbols}
        sizes = {k: v for k, v in options.items() if k not in ("simultaneous", "real", "evaluate")}
        if sizes:
            raise CallError("subs", "sizes are given in a mapping", f"write subs({sizes!r})")
        if len(args) == 2:
            args = ({args[0]: args[1]},)
        if len(args) == 1 and isinstance(args[0], Mapping):
            self._check_names(args[0], named)
            args = ({named.get(s, s) if isinstance(s, str) else s: value for s, value in args[0].items()},)
        elif len(args) == 1 and isinstance(args[0], str):
            pair = re.fullmatch(r"\s*([^\W\d]\w*)\s*={1,2}\s*(\w+)\s*", args[0])
            size, new = (pair[1], int(pair[2]) if pair[2].isdecimal() else pair[2]) if pair else (args[0], 3)
            problem = "sizes are given in a mapping" if pair else "the new size is missing"
            raise CallError("subs", problem, f"write subs({{{size!r}: {new!r}}})")
        return self.sympy.subs(*args, **options)

    def _check_names(self, values: Mapping[Any, Any], named: Mapping[str, SympySymbol]) -> None:
        known = {*named, *self._shown.values()}
        if named and values and all(isinstance(name, str) and name not in known for name in values):
            first = next(iter(values))
            raise BindingError(f"the condition has no size {first!r}", f"the sizes are {', '.join(named)}")

    @property
    def symbols(self) -> tuple[SympySymbol, ...]:
        """The symbols in order of appearance."""
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return tuple(symbol_to_sympy(self._own.get(s, s)) for s in self._symbols)

    @property
    def _shown(self) -> Mapping[Symbol, str]:
        """What each size of the question is called, also those that the condition does not mention."""
        return names_of(self._order)

    @property
    def _account(self) -> Account:
        """The account of a condition, which decides each size."""
        return Account(self.formula, self.formula)

    @property
    def _assumed(self) -> Formula:
        """The bounds of each size: a condition has no other assumptions."""
        return formulas.all_of(arguments.assumed_formulas(self._order, (), 0))

    @property
    def _symbols(self) -> tuple[Symbol, ...]:
        return tuple(symbols_in(self.formula))

    def __and__(self, other: ConditionLike) -> Self:
        ours, theirs = self._together(other)
        return ours._with(formulas.all_of((ours.formula, theirs.formula)), theirs)

    def __or__(self, other: ConditionLike) -> Self:
        ours, theirs = self._together(other)
        if ours._is_of_all_axes and theirs._is_of_all_axes:
            # Each disjunct covers all axes, and no formula about a single axis expresses their disjunction.
            raise UnknownRankError("an alternative of two conditions", _rest_in(theirs.formula), _HINT)
        return ours._with(formulas.any_of((ours.formula, theirs.formula)), theirs)

    def __invert__(self) -> Self:
        if self._is_of_all_axes:
            # It fails on some axis, which no formula here can express.
            raise UnknownRankError("the negation of a condition", _rest_in(self.formula), _HINT)
        return self._with(formulas.with_values(formulas.negate(formulas.with_values(self.formula))))

    def __rshift__(self, other: ConditionLike) -> Self:
        return ~self | other

    @property
    def _unknowns(self) -> list[Unknown]:
        return [s for s in self._order if isinstance(s, Unknown)]

    @property
    def _is_of_all_axes(self) -> bool:
        """Whether it is about each axis of a sequence, whatever their number."""
        return any(isinstance(s, Rest) for s in symbols_in(self.formula))

    def _put(self, bound: Mapping[Any, Any]) -> None:
        """Replace some unknowns or unnamed sequences by others."""
        if bound:
            self._order = tuple(dict.fromkeys(bound.get(s, s) for s in self._order))
            self._spoken = frozenset(bound.get(s, s) for s in self._spoken)
            self.formula = replace_in_formula(self.formula, dict(bound))

    def _together(self, value: ConditionLike) -> tuple[Self, Self]:
        """Return this condition and another one, with labels of unknowns that mean the same in both."""
        ours, theirs = type(self)(self), type(self)(value)
        # An unknown that text only mentions means the one with its label on the other side.
        for by, to in ((ours, theirs), (theirs, ours)):
            labelled = {u.name: u for u in to._unknowns}
            bound = {u: labelled.get(u.name, u) for u in by._unknowns if u in by._spoken}
            by._spoken = frozenset(u for u, other in bound.items() if other is u or other in to._spoken)
            by._put({u: other for u, other in bound.items() if other is not u})
        # The others are different sizes, so no two of them may share a label.
        apart = distinct_labels([*ours._unknowns, *theirs._unknowns])
        ours._put(apart)
        theirs._put(apart)
        for by, to in ((theirs, ours), (ours, theirs)):
            by._put(without_clashes(by._order, to._order))
        return ours, theirs

    def _with(self, formula: Formula, other: Statement | None = None, more: Iterable[Symbol] = ()) -> Self:
        """Return a condition about the sizes of this question and of another one."""
        condition = type(self)(formula)
        sizes = (*self._order, *(other._order if other is not None else ()), *more)
        condition._order = tuple(dict.fromkeys((*sizes, *condition._order)))
        condition._spoken = self._spoken | (other._spoken if other is not None else frozenset())
        condition._own = {**(other._own if other is not None else {}), **self._own}
        return condition

    @property
    @one_call
    def verdict(self) -> Verdict:
        """Whether the condition holds at all sizes, at some or at none, or this is unknown."""
        return self.verdict_under()

    @one_call
    def verdict_under(self, assume: Assumptions = (), min_size: int = 0) -> Verdict:
        """Return the verdict among the sizes that assumptions allow.

        >>> Statement("N == 1 or N % 2 == 0").verdict_under("N % 4 == 0")
        <Verdict.ALWAYS: 'always'>
        """
        sizes = self._sizes([self.formula], assume, min_size)
        return _verdict(sizes.decision(self.formula), sizes)

    @one_call
    def witness(self, assume: Assumptions = (), min_size: int = 0) -> dict[str, int] | None:
        """Return the smallest sizes at which the condition and the assumptions hold; None if there are no such sizes.

        Raises `UndecidedError` if this is beyond the limits.

        >>> Statement("N % 8 == 0 and N != M").witness(), Statement("N < 0").witness()
        ({'N': 8, 'M': 1}, None)
        """
        return self.counterexample(FALSE, assume, min_size)

    @one_call
    def implies(self, other: ConditionLike, assume: Assumptions = (), min_size: int = 0) -> bool:
        """Return whether ``other`` holds wherever this condition and the assumptions do.

        Raises `UndecidedError` if this is beyond the limits.
        """
        return refuting_sizes(self, other, assume, min_size)[0].is_impossible

    @one_call
    def counterexample(
        self, other: ConditionLike | None = None, assume: Assumptions = (), min_size: int = 0
    ) -> dict[str, int] | None:
        """Return the smallest sizes, under the assumptions, at which this condition does not hold.

        With ``other``, return those at which this condition holds and ``other`` does not. None means that there are
        none: then the condition always holds, or implies the other. Sizes that neither mentions are left out. Raises
        `UndecidedError` if this is beyond the limits.

        >>> Statement("N == M or M == 1").counterexample()
        {'N': 1, 'M': 2}
        >>> Statement("N == M or M == 1").counterexample("N == M", assume="N >= 3")
        {'N': 3, 'M': 1}
        """
        if other is None:
            return self._with(TRUE).counterexample(self, assume, min_size)
        refutation, names = refuting_sizes(self, other, assume, min_size)
        return refutation.witness(names)

    @one_call
    def equivalent(self, other: ConditionLike, assume: Assumptions = (), min_size: int = 0) -> bool:
        """Return whether the two hold for the same sizes under the assumptions."""
        ours, theirs = self._together(other)
        return ours.implies(theirs, assume, min_size) and theirs.implies(ours, assume, min_size)

    @one_call
    def simplified(self, assume: Assumptions = (), min_size: int = 0) -> Self:
        """Return an equivalent condition, under the assumptions, without redundancy.

        The result is the shorter one, in literals, of a conjunction of alternatives and a disjunction of cases. It uses
        the given literals where possible. Simplifying it again changes nothing.

        >>> Statement("N == M or N != M and N == 1 or N != M and N != 1 and M == 1").simplified()
        Statement('N == M or N == 1 or M == 1')
        """
        sizes = self._sizes([self.formula], assume, min_size)
        known = sizes.assumptions
        if sizes.unrolled is not None and (sizes.bound or sizes.unrolled.hidden):
            raise UnknownRankError("simplified", _rest_in(self.formula), _HINT)
        return self._with(simplified(sizes.seen(self.formula), known), more=known.symbols)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, bool):
            return self.formula == (TRUE if other else FALSE)
        # A sympy Boolean compares itself, through `_sympy_`.
        return self.formula == other.formula if isinstance(other, Statement) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.formula == TRUE) if self.formula in (TRUE, FALSE) else hash(self.formula)

    def __bool__(self) -> NoReturn:
        hint = "combine conditions with &, | and ~, compare its .verdict, or call its .guard()"
        raise TypeError(f"a condition has no truth value: {hint}")

    def __str__(self) -> str:
        return formula_text(self.formula, names=self._shown)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def _sizes(
        self,
        said: Iterable[Formula],
        assume: Assumptions,
        min_size: int,
        min_axis: int | None = None,
        required: Iterable[Formula] = (),
    ) -> ConditionSizes:
        """Return the sizes of this question that formulas mention, and the assumptions about them.

        ``required`` are the formulas that rules require.
        """
        assumptions = arguments.read_assumptions(assume)
        labels = set(self._shown.values())
        # An unknown size in an answer's assumptions is known, whether or not the condition mentions it.
        theirs = (
            s
            for a, bound in zip(assumptions, _are_bound(assume, assumptions), strict=True)
            if bound
            for s in symbols_in(a.formula)
        )
        brought = [s for s in theirs if isinstance(s, Unknown) and s.name not in labels]
        unknown = tuple(dict.fromkeys(s for s in (*self._order, *brought) if isinstance(s, Unknown)))
        sequences = tuple(sequence.rank for sequence in sequences_of(self._order))
        scope = Scope((shape_of((*unknown, *sequences)),), (True,), assumptions, check_min_size(min_size))
        assumed = [_by_name(a.formula) for a in scope.assumptions]
        least = min_size if min_axis is None else min_axis
        return ConditionSizes(self._order, QuestionFormulas(said, required, assumed), min_size, least)


S = TypeVar("S", bound=Statement)


def public_condition(value: ConditionLike) -> Statement:
    """Return a condition in its public form."""
    kind: type[Statement] = hooks.condition_class()
    return kind(value)


def condition_of_answer(kind: type[S], formula: Formula, answer: BroadcastCall | Program) -> S:
    """Return a formula over the sizes of an answer as a condition about all of these."""
    condition = condition_about(kind, named_formula(formula, answer), named_sizes(answer).values())
    condition._own = _own(answer)
    return condition


def condition_about(kind: type[S], formula: Formula, sizes: Iterable[Symbol]) -> S:
    """Return a condition of a question about some sizes, also of those that the formula does not mention."""
    condition = kind(formula)
    condition._order = tuple(dict.fromkeys((*sizes, *condition._order)))
    return condition


def condition_of_same_sizes(statement: S, formula: Formula) -> S:
    """Return another condition about the sizes of the same question."""
    return statement._with(formula)


def condition_names(statement: Statement) -> Mapping[Symbol, str]:
    """Return the name of each size of a condition's question, also of those that the condition does not mention."""
    return statement._shown


def tiers_and_verdict(
    statement: Statement, assume: Assumptions = (), min_size: int = 0
) -> tuple[dict[Tier, list[str]], Verdict]:
    """Return the tiers that decide a condition among the sizes that assumptions allow, and the verdict there.

    Each tier comes with the names of its sizes.
    """
    sizes = statement._sizes([statement.formula], assume, min_size)
    decision = sizes.decision(statement.formula)
    return decision.tiers(statement._shown), _verdict(decision, sizes)


def _verdict(decision: Decision, sizes: ConditionSizes) -> Verdict:
    verdict = within_bound(decision.verdict, sizes.bound)
    return verdict if verdict is not Verdict.UNKNOWN else sampled_verdict(decision)


def refuting_sizes(
    statement: Statement, other: ConditionLike, assume: Assumptions, min_size: int, min_axis: int | None = None
) -> tuple[Refutation, Mapping[Symbol, str]]:
    """Return where a condition and the assumptions hold and ``other`` does not, and the names of sizes there.

    The condition is that of an answer where ``min_axis`` is given: the least size of the axes of sequences.
    """
    ours, theirs = statement._together(other)
    both = ours._with(ours.formula, theirs)
    said = [theirs.formula] if min_axis is not None else [ours.formula, theirs.formula]
    required = [ours.formula] if min_axis is not None else []
    sizes = both._sizes(said, assume, min_size, min_axis, required)
    # A conjunct of both does not fail where the condition holds; negated, many conjuncts are as many cases.
    known = set(ours.clauses)
    return Refutation(sizes, ours.formula, formulas.all_of(c for c in theirs.clauses if c not in known)), both._shown


def size_extremes(
    statement: Statement, size: Dim, assume: Assumptions, min_size: int, min_axis: int | None = None
) -> tuple[tuple[Extreme, Extreme] | None, Mapping[Symbol, str]]:
    """Return the least and greatest value of a size where a condition and assumptions hold, and the names of sizes.

    None is returned if no sizes are allowed at which it has a value. The condition is that of an answer where
    ``min_axis`` is given, as in `refuting_sizes`.
    """
    ours, theirs = statement._together(Comparison("<=", 0, size))
    both, said = ours._with(ours.formula, theirs), [ours.formula, theirs.formula]
    sizes = both._sizes(() if min_axis is not None else said, assume, min_size, min_axis, said)
    assert isinstance(theirs.formula, Comparison)
    inner = () if sizes.unrolled is not None else sizes.assumptions.symbols
    names = names_of(dict.fromkeys((*both._order, *inner)))
    return _extremes_in(sizes, sizes.seen(ours.formula), theirs.formula.right), names


def _extremes_in(sizes: ConditionSizes, seen: Formula, size: Dim) -> tuple[Extreme, Extreme] | None:
    found = extremes(size, sizes.assumptions, [seen])
    if found is not None and sizes.bound:  # what holds for the ranks that were tried says nothing of others
        least, greatest = (end if end.grows else end._replace(bound=None, reason=sizes.bound) for end in found)
        return least, greatest
    return found


def extremes_in_answer(
    answer: BroadcastCall | Program, assume: Assumptions, more: Iterable[Formula] = ()
) -> Callable[[Dim], tuple[Extreme, Extreme] | None]:
    """Return the function that finds the same of sizes of an answer, where further formulas hold too.

    Each size is a call with its own effort. Points are about the symbols that the answer's names refer to.
    """
    ours = condition_of_answer(Statement, formulas.all_of((*answer.clauses, *more)), answer)
    named = named_sizes(answer)
    every = [Comparison("<=", 0, s) for s in named.values() if not isinstance(s, SequenceSymbol)]
    sizes = ours._sizes((), assume, 0, answer.min_size, [ours.formula, *every])
    seen = sizes.seen(ours.formula)
    return one_call(lambda size: _extremes_in(sizes, seen, replace_symbols(size, named)))


_HINT = "ask about ranks and named axes, such as rank(batch) and batch[-1]"


def _rest_in(formula: Formula) -> str:
    symbols = [s for s in symbols_in(formula) if isinstance(s, SequenceSymbol)]
    return next((s for s in symbols if isinstance(s, Rest)), symbols[0]).name


def _are_bound(assume: Assumptions, assumptions: Sequence[Assumption]) -> list[bool]:
    """Return for each assumption whether it comes from an answer or a condition, and so is about existing sizes."""
    items = list(assume) if isinstance(assume, (list, tuple)) else [assume]
    return (
        [not isinstance(item, str) for item in items] if len(items) == len(assumptions) else [False] * len(assumptions)
    )


def _question_sizes(value: ConditionLike) -> Iterable[Symbol]:
    """Return the sizes in the question of a condition."""
    if isinstance(value, Statement):
        return value._order
    if isinstance(value, (BroadcastCall, Program)):
        return named_sizes(value).values()
    free = getattr(value, "free_symbols", ())
    if not free:
        return ()
    from symbcast.core.algebra.sympy_conversion import read_symbol

    symbols = sorted(map(read_symbol, free), key=lambda s: s.atom_key)
    return [s if s.is_Dummy or isinstance(s, SequenceSymbol) else symbol(s.name) for s in symbols]


def _own(value: ConditionLike) -> Mapping[Symbol, Symbol]:
    """Return the sizes of answers that names in a condition refer to, if these are other symbols."""
    if isinstance(value, Statement):
        return value._own
    if isinstance(value, (BroadcastCall, Program)):
        return {named: s for s, named in named_sizes(value).items() if s is not named}
    return {}


def named_sizes(value: BroadcastCall | Program) -> dict[Symbol, Symbol]:
    """Return the sizes of an answer, each with the symbol that its name refers to in a condition."""
    names = value.shown if isinstance(value, Program) else value.scope.names if value.scope else {}
    return {s: s if isinstance(s, (Unknown, SequenceSymbol)) else symbol(name) for s, name in names.items()}


def named_formula(formula: Formula, answer: BroadcastCall | Program) -> Formula:
    """Return a formula over an answer's sizes, rewritten over the symbols that their names refer to in a condition."""
    return replace_in_formula(formula, {s: n for s, n in named_sizes(answer).items() if s is not n})


def _formula(value: ConditionLike) -> Formula:
    """Return the formula of any value that is a condition, with every name bound to the symbol of that name."""
    if isinstance(value, Statement):
        return value.formula
    if isinstance(value, (BroadcastCall, Program)):
        return named_formula(formulas.all_of(value.clauses), value)
    if isinstance(value, FORMULA_KINDS):
        return _by_name(value)
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if hasattr(type(value), "free_symbols"):
        from symbcast.core.algebra.sympy_conversion import formula_from_sympy

        return _by_name(formulas.with_values(formula_from_sympy(value)))
    raise ShapeTypeError(value, "a condition", "write text such as 'N == M or N == 1', a sympy Boolean or a Result")


def _with_extremes_compared(formula: Formula) -> Formula:
    """Return a formula in which a min or max that equals one of its members compares that with the others.

    >>> Statement("M == min(M, N) or N < max(N, K)")
    Statement('M <= N or N < K')
    """
    match formula:
        case Comparison(operator, left, right):
            for extreme, member in ((left, right), (right, left)):
                if isinstance(extreme, Operation) and extreme.kind in ("min", "max") and term(member) in extreme.args:
                    others = [o.dim() for o in extreme.args if o != term(member)]
                    return _compared(operator, extreme.kind, member, others, is_first=extreme is left)
        case AllOf(parts):
            return formulas.all_of(map(_with_extremes_compared, parts))
        case AnyOf(parts):
            return formulas.any_of(map(_with_extremes_compared, parts))
    return formula


def _compared(operator: Operator, kind: str, member: Dim, others: Sequence[Dim], *, is_first: bool) -> Formula:
    """Return how a member of a min or max compares with the others, where it compares so with all of them."""
    is_it = formulas.all_of(
        formulas.at_most(member, o) if kind == "min" else formulas.at_most(o, member) for o in others
    )
    if operator in ("==", "!="):
        return is_it if operator == "==" else formulas.negate(is_it)
    is_beyond = is_first == (kind == "min")  # the extreme one is never on the other side of its member
    if operator == "<=":
        return TRUE if is_beyond else is_it
    return formulas.negate(is_it) if is_beyond else FALSE


def _by_name(formula: Formula) -> Formula:
    plain = [s for s in symbols_in(formula) if not s.is_Dummy and not isinstance(s, SequenceSymbol)]
    others = {s: symbol(s.name) for s in plain if s is not symbol(s.name)}
    return replace_in_formula(formula, others) if others else formula
