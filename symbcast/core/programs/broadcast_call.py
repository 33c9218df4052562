"""One broadcast: the question, and the answer that a public result shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from symbcast.core import effort
from symbcast.core.algebra.arithmetic import check_min_size, join, value_of
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, definedness, holds
from symbcast.core.algebra.symbols import sequences_of
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import CALL, CostedValue, Effort, Tier
from symbcast.core.programs import arguments
from symbcast.core.programs.arguments import Assumption, Assumptions
from symbcast.core.programs.broadcast_points import PointVerdict, point_verdict
from symbcast.core.rules import AttributeLike, Emission, Rule, find_rule
from symbcast.core.rules.broadcast_rule import members_of
from symbcast.core.rules.declaration import SIZE, Constraint, Origin
from symbcast.core.shapes import OpenShape, Shape, ShapeLike, from_text, shape, shape_of
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.solver.f1_names.one_broadcast import MaskBroadcast
from symbcast.core.verdicts import LazyAccount, Verdict, within_bound

if TYPE_CHECKING:
    import sympy

    from symbcast.core.account import Account
    from symbcast.core.programs.open_ranks import OpenRanks
    from symbcast.core.programs.program import Program
    from symbcast.core.programs.scope import Scope
    from symbcast.core.programs.stretching import AxisStretch, ValidSizes
    from symbcast.core.solver.decision import Decision


class PublicAnswer(ABC):
    """A public answer. It shows what users need of the plain answer that it holds."""

    __slots__ = ()

    @property
    @abstractmethod
    def _subject(self) -> BroadcastCall | Program:
        """The plain answer about the question's sizes, with the assumptions on them."""


T = TypeVar("T")

NOTHING: Any = ()
# The default least size, compared by identity: `False` and `0.0` equal 0, but are not valid least sizes.
ZERO = 0


# How a result is decided: integers (F0), names and integers by NumPy's rule (F1, on masks), or any other way.
SIZES, JOINS, GENERAL = range(3)


def _assumptions(assume: Assumptions, min_size: int) -> tuple[list[Assumption], int]:
    return arguments.read_assumptions(assume), check_min_size(min_size)


def _scope_of(shapes: Sequence[ShapeLike], operands: tuple[Shape, ...], assumed: list[Assumption], least: int) -> Scope:
    from symbcast.core.programs.scope import Scope

    return Scope.of_call(shapes, operands, assumed, least, is_linked=True)


# Reading a member from its class takes a tenth of the time of an answer about integers.
_ALWAYS, _NEVER = Verdict.ALWAYS, Verdict.NEVER


class BroadcastCall(LazyAccount):
    """The answer about one broadcast. Everything in it is computed on first access.

    It has no truth value: use its `verdict`. `symbcast.Result` is its public form.

    ``rule`` is the rule with its attributes set, ``budget`` the time limit of each question in seconds (None: no clock
    decides). ``_dims``, the sizes of the operands, never change; everything else is computed from them.
    """

    rule: Rule = find_rule("numpy", {})
    budget: float | None = None
    _stopped: str = ""
    _dims: tuple[tuple[Dim, ...], ...]
    _tier: int = SIZES
    _scope: Scope | None = None
    _masks: MaskBroadcast | None = None
    _aligned: tuple[Shape, ...] | None = None
    _output: Shape | None = None
    _emission: Emission | None = None
    _decision: CostedValue[Decision] | None = None
    _conflict: CostedValue[tuple[Constraint, ...]] | None = None
    _aligned_output: tuple[Dim, ...] | None = None
    _ranks: OpenRanks | None = None
    _points: PointVerdict | None = None
    """What may show the verdict before the question is read in full; None if it cannot."""
    _later: tuple[Callable[..., Scope], tuple[Any, ...]] | None = None
    """What reads the question in full, and from what: until then there is no scope."""
    _is_within: bool = False
    """Whether the question was put within a call: then that call pays for reading it."""

    def __init__(self, rule: Rule, operands: tuple[Shape, ...], scope: Scope | None) -> None:
        self.rule = rule
        self._dims = tuple([s.dims for s in operands])
        if scope is not None:
            self._read(scope, operands)
        rule.check_shapes(self._dims)

    def _read(self, scope: Scope, operands: tuple[Shape, ...]) -> None:
        self._tier = GENERAL
        self._scope, self._aligned = scope, None
        if scope.sequences:
            from symbcast.core.programs.open_ranks import OpenRanks

            self._ranks = OpenRanks(self.rule, operands, scope)
            self._dims, self._emission = self._ranks.aligned, self._ranks.emission

    def _read_in_full(self) -> None:
        """Read the question in full if that was put off."""
        if self._later is not None:
            # It counts for no call, as if it were done when the question was put.
            with effort.counted_call() if self._is_within else effort.counting(Effort(CALL, is_call=True)):
                read, question = self._later
                scope = read(*question)
                self._read(scope, scope.shapes)
            self._later = None

    @property
    def _open(self) -> OpenRanks | None:
        """The operands where the rank of some is not known; ``_dims`` are then these as the rule aligns them."""
        if self._later is not None:
            self._read_in_full()
        return self._ranks

    @classmethod
    def of(
        cls,
        shapes: Sequence[ShapeLike],
        rule: str | Rule,
        attributes: dict[str, AttributeLike],
        assume: Assumptions,
        min_size: int,
    ) -> Self:
        """Return the answer to the question for which sizes shapes broadcast: see `symbcast.broadcast`."""
        rule_read = rule if isinstance(rule, Rule) and not attributes else find_rule(rule, attributes)
        operands = tuple([s if type(s) is Shape else from_text(s) if type(s) is str else shape(s) for s in shapes])
        is_free = assume is NOTHING and min_size is ZERO
        assumed, least = ([], 0) if is_free else _assumptions(assume, min_size)
        is_free = is_free or not (assumed or least)
        call = cls(rule_read, operands, None) if is_free and OpenShape not in map(type, operands) else None
        if call is not None:
            if all(s.is_concrete for s in operands):
                return call
            if all(arguments.plain_dims(s) is not None for s in operands) and rule_read.is_join(call._dims):
                call._tier = JOINS
                return call
        dims = [s.dims for s in operands] if call is None else call._dims
        points = point_verdict(rule_read, dims, assumed, least)
        later = _scope_of, (shapes, operands, assumed, least)
        if points is None:
            scope = _scope_of(*later[1])
            return cls(rule_read, scope.shapes, scope)
        call = cls(rule_read, operands, None) if call is None else call
        call._tier, call._points, call._later = GENERAL, points, later
        call._is_within = effort.current_budget() is not None
        return call

    @property
    def operands(self) -> tuple[Shape, ...]:
        """The shapes, in the order of the rule's operands."""
        known = self._open
        return self.aligned if known is None else known.operands

    @property
    def rule_at_sizes(self) -> Rule:
        """The rule for integers in the places of the operands' sizes."""
        return self.rule if self._tier == JOINS or self.is_open else self.rule.at_sizes(self.dims)

    @property
    def is_plain(self) -> bool:
        """Whether it joins names and integers by NumPy's rule, without assumptions: then masks decide it."""
        return self._tier == JOINS

    @property
    def is_open(self) -> bool:
        """Whether the rank of some operand is unknown."""
        return self._open is not None

    def check_ranks(self, question: str) -> None:
        """Raise `UnknownRankError` if a rank is unknown and the question requires known ranks."""
        if self._open is not None:
            self._open.check(question)

    @property
    def dims(self) -> tuple[tuple[Dim, ...], ...]:
        """The sizes of the operands as the rule aligns them."""
        if self._later is not None:
            self._read_in_full()
        return self._dims

    @property
    def aligned(self) -> tuple[Shape, ...]:
        """The operands as the rule aligns them: one of unknown rank has a single axis for all its unknown axes."""
        if self._aligned is None or self._later is not None:
            self._aligned = tuple(map(shape_of, self.dims))
        return self._aligned

    @property
    def open_axes(self) -> int:
        """The number of axes of the `aligned` operands that represent several axes; they come first.

        Raises `UnknownRankError` if they do not come first, or if the answer covers only some ranks.
        """
        return 0 if self._open is None else self._open.axes

    @property
    def scope(self) -> Scope | None:
        """The sizes of the question, and the assumptions about them; None if there are only integers."""
        if self._later is not None:
            self._read_in_full()
        if self._scope is None and self._tier == JOINS:
            from symbcast.core.programs.scope import Scope

            self._scope = Scope.of_names(self.operands)
        return self._scope

    @property
    def masks(self) -> MaskBroadcast:
        """The question on masks; only for names and integers under NumPy's rule."""
        if self._masks is None:
            self._masks = MaskBroadcast(self._dims)
        return self._masks

    @property
    def _decided_verdict(self) -> Verdict:
        tier = self._tier
        if tier == JOINS:
            # Not by `masks`: a call is a fiftieth of the time of a first answer, and a fifth of that of a repeated one.
            masks = self._masks
            if masks is None:
                masks = self._masks = MaskBroadcast(self._dims)
            return masks.verdict
        if tier == GENERAL:
            points = self._points
            return self._solved if points is None or points.verdict is None else points.verdict
        return _NEVER if self._output is None and not self._work_out() else _ALWAYS

    @property
    def _solved(self) -> Verdict:
        """The verdict as far as the solver decided it."""
        verdict = self._ask(lambda decision: decision.verdict)
        if self._open is None or not self._open.reason:
            return verdict
        return Verdict.NEVER if self._open.at_any_rank.impossible else within_bound(verdict, self._open.reason)

    @property
    def account(self) -> Account:
        """What is known, from which the verdict, texts, guards and data derive; the condition decides each size."""
        from symbcast.core.account import exact_account

        return exact_account(self, self._decided_verdict)

    @property
    def shape(self) -> Shape | None:
        """The output shape wherever the condition holds; None if it holds nowhere."""
        if self._output is None:
            self._work_out()
        return self._output

    def _work_out(self) -> bool:
        """Find the output; return whether there is one."""
        if self._tier == JOINS:
            output = self.masks.output()
            if output is not None:
                self._output = shape_of([join(d) if isinstance(d, tuple) else d for d in output])
        elif self._tier == GENERAL:
            return self._collapse()
        else:
            sizes: Any = self._dims
            concrete = self.rule.concrete(sizes)
            if concrete is not None:
                self._output = shape_of(concrete)
        return self._output is not None

    @property
    def aligned_output(self) -> tuple[Dim, ...] | None:
        """The output with one size for each axis of the `aligned` operands."""
        shape = self.shape
        return self._aligned_output if self._open is not None or shape is None else shape.dims

    @effort.one_call
    def _collapse(self) -> bool:
        if self.verdict is Verdict.NEVER:
            return False
        known = self._open
        if known is None:
            from symbcast.core.solver.decision import collapsed_join

            output = self.emission.output
            self._output = shape_of(
                self._ask(lambda decision: [collapsed_join(members_of(d), decision) for d in output])
            )
        else:
            aligned_output = self._aligned_output = self._ask(known.aligned_output)
            self._output = self._ask(lambda decision: known.output(aligned_output, decision))
        return True

    def _ask(self, question: Callable[[Decision], T]) -> T:
        """Return an answer of the decision; an answer that the caller's clock stopped is computed again next time."""
        self._stopped = ""
        return effort.answer_within_budget(self.budget, lambda: question(self.decision), self._forget)

    def _forget(self, reason: str) -> None:
        self._decision, self._stopped = None, reason

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition, as formulas; empty if the condition is true."""
        if self._tier == SIZES:
            return () if self.verdict is Verdict.ALWAYS else (FALSE,)
        if self._tier == JOINS:
            return tuple(self.masks.clauses())
        if self._points is not None and self._points.clauses is not None:
            return tuple(self._points.clauses)
        if self._open is not None and self._open.reason and self._solved is not Verdict.NEVER:
            return self._open.clauses
        return tuple(self._ask(lambda decision: decision.clauses))

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition that may be redundant: it is undecided whether the others imply them."""
        if self._tier != GENERAL:
            return ()
        if self._open is not None and self._open.reason:
            return self.clauses
        return self._ask(lambda decision: tuple(filter(decision.unproven.__contains__, decision.clauses)))

    @property
    def reason(self) -> str:
        """Why the verdict is unknown or a clause is unproven; empty if nothing is open."""
        if self._tier != GENERAL or self._stopped:
            return self._stopped
        # Asking may run out of time itself, which `_stopped` says afterwards.
        bound = "" if self._open is None else self._open.reason
        return self._ask(lambda decision: decision.reason) or self._stopped or bound

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints that the rule emits, and those that make every dimension a size."""
        return (*self.size_constraints(), *self.emission.constraints)

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The sizes in the question, in order of appearance."""
        if self._tier == SIZES:
            return ()
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return tuple(map(symbol_to_sympy, self.masks.names if self.scope is None else self.scope.symbols))

    @property
    def plain_names(self) -> tuple[Symbol, ...] | None:
        """The sizes, if they are known without reading the question in full: then all are names in text."""
        if self._tier == JOINS:
            return tuple(self.masks.names)
        return None if self._points is None else self._points.names

    @property
    def shown(self) -> Mapping[Symbol, str]:
        """The name of each size, keyed by its internal form, in order of appearance."""
        if self._tier == JOINS:
            return {s: s.name for s in self.masks.names}
        return {} if self.scope is None else self.scope.names

    @property
    def min_size(self) -> int:
        """The least size of all symbols, whatever is assumed."""
        return 0 if self._tier != GENERAL or self.scope is None else self.scope.min_size

    @property
    def assumed(self) -> Formula:
        """All assumptions, with the bounds of each size; with the condition, all that holds where shapes broadcast."""
        if self._tier != GENERAL:
            return TRUE
        assert self.scope is not None

        known = arguments.assumed_formulas(self.shown, self.assumptions, self.min_size)
        if self.scope.unrolled is not None:
            # The other links are about sequences that the question does not have: the longer one of two at some place.
            own = set(sequences_of(self.shown))
            known += [f for f in self.scope.links if own.issuperset(sequences_of(symbols_in(f)))]
        return all_of(known)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions."""
        return () if self._tier != GENERAL or self.scope is None else tuple(self.scope.assumptions)

    @property
    def decision(self) -> Decision:
        """The decision behind the answer; only for symbolic shapes."""
        decision, self._decision = effort.compute_once(self._decision, self._decide)
        return decision

    def _decide(self) -> Decision:
        from symbcast.core.solver.decision import Decision  # with all tiers; for few names, masks decide

        assert self.scope is not None
        return Decision(self.scope.assumption_set, [c.requirement for c in self.constraints])

    @property
    def tiers(self) -> dict[Tier, list[str]]:
        """The tiers that decided the answer, each with the names of the sizes concerned."""
        if self._tier != GENERAL:
            names = [] if self._tier == SIZES else [s.name for s in self.masks.names]
            return {Tier.F1 if names else Tier.F0: names}
        return self._ask(lambda decision: decision.tiers(self.shown))

    @property
    def evidence_reason(self) -> str:
        """Why the witness or the counterexample may not be the smallest; empty if both are."""
        if self._tier != GENERAL:
            return ""

        def reason_of(decision: Decision) -> str:
            decision.witness()
            decision.counterexample()
            return decision.evidence_reason

        return self._ask(reason_of) or (self.reason if self._solved is Verdict.UNKNOWN else "")

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes at which the shapes broadcast; None if there are none.

        Sizes of 0 are avoided first; then the smallest sum wins, then the smallest sizes in order of appearance.
        """
        if self._tier == SIZES:
            return {} if self.verdict is Verdict.ALWAYS else None
        if self._tier == JOINS:
            return self._named(self.masks.witness())
        sizes = self._ask(lambda decision: decision.witness())
        return self._named(self._sample(0) if sizes is None else sizes)

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest sizes at which the shapes do not broadcast; None if the assumptions allow none."""
        if self._tier == SIZES:
            return None if self.verdict is Verdict.ALWAYS else {}
        if self._tier == JOINS:
            return self._named(self.masks.counterexample())
        sizes = self._ask(lambda decision: decision.counterexample())
        return self._named(self._sample(1) if sizes is None else sizes)

    def _sample(self, kind: int) -> Mapping[Symbol, int] | None:
        """Return sizes that work (0) or fail (1) where the solver decided too little to find the smallest ones."""
        if self._solved is not Verdict.UNKNOWN:
            return None
        from symbcast.core.account import samples_of

        return self._ask(lambda decision: samples_of(decision)[kind])

    @effort.one_call
    def stretch(self, operand: int, axis: int) -> AxisStretch:
        """Return where an operand is stretched on an output axis; only for shapes that can broadcast."""
        self._read_in_full()
        return self.valid_sizes().stretch(self.rule, self._dims, operand, axis)

    def valid_sizes(self) -> ValidSizes:
        """Return the sizes at which the shapes broadcast; there must be some."""
        from symbcast.core.programs.stretching import ValidSizes

        scope = self.scope
        if scope is None:
            return ValidSizes((), 0, (), None)
        formulas = [*(a.formula for a in scope.assumed), *self.clauses]
        return ValidSizes(scope.symbols, scope.min_size, formulas, self.decision)

    @property
    @effort.one_call
    def conflict(self) -> tuple[Constraint, ...]:
        """The fewest constraints that cannot hold together under the assumptions; empty unless the verdict is never."""
        self._stopped = ""
        if self.verdict is not Verdict.NEVER:
            return ()
        return effort.answer_within_budget(self.budget, self._clash_once, self._forget)

    def _question(self) -> tuple[Any, ...]:
        """Return the question: rule, operands, assumptions, minimum size and budget."""
        scope = None if self._tier == JOINS else self.scope
        assumed = () if scope is None else tuple(a.formula for a in scope.assumptions)
        operands = tuple(s.dims for s in self.operands)
        return self.rule, self.rule.called, operands, assumed, self.min_size, self.budget

    def __eq__(self, other: object) -> bool:
        """Return whether the question is the same. Each ``?`` in text is a separate size."""
        return isinstance(other, BroadcastCall) and self._question() == other._question()

    def __hash__(self) -> int:
        return hash(self._question()[:3])

    def __reduce__(self) -> tuple[Any, ...]:
        # Only the question: computed results hold a solver's state, and are computed again on demand.
        return type(self), (self.rule, self.operands, self._scope), {"_tier": self._tier, "budget": self.budget}

    def __bool__(self) -> NoReturn:
        raise TypeError("a result has no truth value: compare its .verdict, or call .require()")

    @property
    def emission(self) -> Emission:
        """The rule's emission: its constraints, and the output dimensions as joins of their members."""
        dims = self.dims
        if self._emission is None:
            is_plain = self._tier != GENERAL
            self._emission = self.rule.emit(dims if is_plain else [tuple(map(value_of, sizes)) for sizes in dims])
        return self._emission

    def size_constraints(self) -> list[Constraint]:
        """Return the constraints that make every dimension of the operands a size."""
        if self._tier != GENERAL:
            return []
        self._read_in_full()
        constraints: list[Constraint] = []
        for position, dims in enumerate(self._dims):
            for axis, dim in enumerate(dims):
                if isinstance(dim, int) or dim.is_Symbol:
                    continue
                origin = Origin("size", (position,), axis, len(dims))
                constraints.extend(Constraint(need, origin, SIZE) for need in definedness(dim))
        unrolled = None if self.scope is None else self.scope.unrolled
        if unrolled is None:
            return constraints
        return [Constraint(f, c.origin, SIZE) for c in constraints for f in unrolled.formulas(c.requirement)]

    def _clash_once(self) -> tuple[Constraint, ...]:
        clash, self._conflict = effort.compute_once(self._conflict, self._clash)
        return clash

    def _clash(self) -> tuple[Constraint, ...]:
        if self._tier == SIZES:
            return next((c,) for c in self.emission.constraints if not holds(c.requirement))
        if self._tier == JOINS:
            clashing = self.masks.conflict
            assert clashing is not None
            return next((c,) for c in self.emission.constraints if c.origin.axis == clashing.axis)
        from symbcast.core.solver.counterexamples import smallest_conflict

        assert self.scope is not None
        constraints = self.constraints
        clash = smallest_conflict([[c.requirement] for c in constraints], self.scope.assumption_set)
        return tuple(constraints[n] for n in clash) or constraints

    def _named(self, sizes: Mapping[Symbol, int] | None) -> dict[str, int] | None:
        if sizes is None:
            return None
        if self._tier == JOINS:
            return {s.name: size for s, size in sizes.items()}
        assert self.scope is not None
        return self.scope.named(sizes)
