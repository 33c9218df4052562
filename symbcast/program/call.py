"""One broadcast: the question, and the plain answer to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from symbcast.algebra.arithmetic import join
from symbcast.algebra.sequences import Rest, mentions_rest, rolled
from symbcast.algebra.terms import Dim, symbols_of
from symbcast.broadcasting import AttributeLike, Emission, Joined, Rule, find_rule
from symbcast.broadcasting.constraints import Constraint, Origin
from symbcast.broadcasting.outputs import open_axes
from symbcast.logic.definedness import definedness
from symbcast.logic.formulas import FALSE, all_of, holds
from symbcast.program.operands import plain_dims
from symbcast.reasons import SIZE
from symbcast.shapes import Shape, ShapeLike, any_shape_of, is_open, known_rank, shape, shape_of
from symbcast.solver.budget import asked
from symbcast.solver.masks import Masks
from symbcast.solver.normal_form import flattened
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    import sympy
    from sympy.logic.boolalg import Boolean

    from symbcast.algebra.symbols import Symbol
    from symbcast.logic.formulas import Formula
    from symbcast.program.assumptions import Assumption, Assumptions
    from symbcast.program.expansion import Stretch, ValidSizes
    from symbcast.program.scope import Scope
    from symbcast.solver.decision import Decision

T = TypeVar("T")

NOTHING: Any = ()
ZERO = 0
"""What is assumed unless it is said, looked at by identity: `False` and `0.0` equal 0, and are no least sizes."""


SIZES, JOINS, GENERAL = range(3)
"""How a result is decided: integers (F0), names and integers by NumPy's rule (F1, on masks), or any other way."""


class Call:
    """The answer about one broadcast. Everything in it is worked out when it is first asked for.

    It has no truth value: ask for its `verdict`. `symbcast.Result` is this answer as users see it.

    ``rule`` is the rule with its attributes set, ``budget`` how many seconds each question may take (None: no clock
    decides). Of ``_dims``, the sizes of the operands, nothing is ever changed; all else is worked out from them.
    """

    rule: Rule = find_rule("numpy", {})
    budget: float | None = None
    _stopped: str = ""
    _dims: tuple[tuple[Dim, ...], ...]
    _tier: int = SIZES
    _scope: Scope | None = None
    _masks: Masks | None = None
    _output: Shape | None = None
    _emission: Emission | None = None
    _decision: Decision | None = None
    _condition: Boolean | None = None
    _conflict: tuple[Constraint, ...] | None = None
    _laid_output: tuple[Dim, ...] | None = None
    _open: tuple[Shape, ...] = ()
    """The operands where the rank of some is not known; ``_dims`` are then these as the rule lays them."""

    def __init__(self, rule: Rule, operands: tuple[Shape, ...], scope: Scope | None) -> None:
        self.rule = rule
        self._dims = tuple(s.dims for s in operands)
        if scope is not None and scope.sequences:
            self._open = operands
            self._unroll(scope)
        rule.check_shapes(self._dims)
        if scope is not None:
            self._tier = GENERAL
            self._scope = scope

    @classmethod
    def asked(
        cls,
        shapes: Sequence[ShapeLike],
        rule: str | Rule,
        attributes: dict[str, AttributeLike],
        assume: Assumptions,
        min_size: int,
    ) -> Self:
        """Return the answer for which sizes shapes broadcast: see `symbcast.broadcast`."""
        found = find_rule(rule, attributes)
        operands = [s if type(s) is Shape else shape(s) for s in shapes]
        if assume is NOTHING and min_size is ZERO and not any(map(is_open, operands)):
            made = cls(found, tuple(operands), None)
            if all(s.is_concrete for s in operands):
                return made
            if found.is_join(made._dims) and all(plain_dims(s) is not None for s in operands):
                made._tier = JOINS
                return made
        from symbcast.program.scope import Scope

        scope = Scope.asked(shapes, operands, assume, min_size, is_linked=True)
        return cls(found, scope.shapes, scope)

    def _unroll(self, scope: Scope) -> None:
        """Lay operands of unknown rank as the rule does, and tell the axes of their sequences apart where it does."""
        given = self._dims
        self._dims = tuple(map(tuple, self.rule.expand(given)))
        found = self.rule.emit_open(given)
        sizes = [need for dims in self._dims for dim in dims if not isinstance(dim, int) for need in definedness(dim)]
        unrolled = scope.unrolled or scope.unroll([*(c.requirement for c in found.constraints), *sizes])
        constraints = [
            Constraint(formula, c.origin, c.why, c.details)
            for c in found.constraints
            for formula in unrolled.formulas(c.requirement)
        ]
        self._emission = Emission(constraints, found.output)

    @property
    def operands(self) -> tuple[Shape, ...]:
        """The shapes, in the order of the rule's operands."""
        return self._open or tuple(map(shape_of, self._dims))

    @property
    def is_open(self) -> bool:
        """Whether the rank of some operand is not known."""
        return bool(self._open)

    def check_ranks(self, question: str) -> None:
        """Raise `UnknownRankError` for a question that is asked of known ranks alone, where one is not known."""
        for operand in self._open:
            known_rank(operand, question)

    @property
    def laid(self) -> tuple[Shape, ...]:
        """The operands as the rule lays them: one of unknown rank has an axis that stands for all that are unknown."""
        return tuple(map(shape_of, self._dims))

    @property
    def open_axes(self) -> int:
        """How many axes of the operands as they are `laid` stand for others; they come first.

        Raises `UnknownRankError` where they do not, or where the answer is about some ranks only.
        """
        if not self._open:
            return 0
        found = open_axes(self.emission.output)
        if found is None or self._bound:
            self.check_ranks("axes counted from the end")
        return found or 0

    @property
    def scope(self) -> Scope | None:
        """The sizes that the answer is about, and what is known of them; None where there are integers only."""
        if self._scope is None and self._tier == JOINS:
            from symbcast.program.scope import Scope

            self._scope = Scope(self.operands, [True] * len(self._dims), (), 0)
        return self._scope

    @property
    def masks(self) -> Masks:
        """The question on masks; for names and integers by NumPy's rule alone."""
        if self._masks is None:
            self._masks = Masks(self._dims)
        return self._masks

    @property
    def verdict(self) -> Verdict:
        """Whether the shapes broadcast always, sometimes, never, or it is unknown (then `reason` says why)."""
        tier = self._tier
        if tier == JOINS:
            return self.masks.verdict
        if tier == GENERAL:
            found = self._ask(lambda decision: decision.verdict)
            if not self._bound or found is Verdict.SOMETIMES:
                return found
            return Verdict.NEVER if self._at_any_rank().impossible else Verdict.UNKNOWN
        return Verdict.NEVER if self._output is None and not self._work_out() else Verdict.ALWAYS

    @property
    def shape(self) -> Shape | None:
        """The output shape wherever the condition holds; None when there is no such place."""
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
            if self.verdict is not Verdict.NEVER:
                return self._collapse()
        else:
            sizes: Any = self._dims
            found = self.rule.concrete(sizes)
            if found is not None:
                self._output = shape_of(found)
        return self._output is not None

    @property
    def laid_output(self) -> tuple[Dim, ...] | None:
        """The output with a size for each axis of the operands as they are `laid`."""
        shape = self.shape
        return self._laid_output if self._open or shape is None else shape.dims

    def _collapse(self) -> bool:
        output = self._laid_output = self._ask(lambda _: tuple(map(self._output_dim, self.emission.output)))
        # Of a base all axes are there, so that they need not be told apart where nothing more is known of them.
        output = rolled(output) if self._open and self.rule.has_base_rank else output
        self._output = any_shape_of(d for d in output if not self._open or not self._is_empty(d))
        return True

    def _ask(self, question: Callable[[Decision], T]) -> T:
        """Return what the decision says; it is made anew for the next question where the caller's clock stopped it."""
        self._stopped = ""
        return asked(self.budget, lambda: question(self.decision), self._forget)

    def _forget(self, reason: str) -> None:
        self._decision, self._stopped = None, reason

    @property
    def condition(self) -> Boolean:
        """The necessary and sufficient condition under the assumptions, as a sympy Boolean.

        It is irredundant; where that could not be proved of a clause, ``unproven`` holds it.
        """
        if self._condition is not None:
            return self._condition
        from symbcast.logic.booleans import conjunction

        found = conjunction(self.clauses)
        if not self._stopped:
            self._condition = found
        return found

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition, as formulas; empty when it is true."""
        if self._tier == SIZES:
            return () if self.verdict is Verdict.ALWAYS else (FALSE,)
        if self._tier == JOINS:
            return tuple(self.masks.clauses())
        if self._bound and self.verdict is not Verdict.NEVER:
            return tuple(
                flattened(c.requirement for c in self.rule.emit_open([s.dims for s in self._open]).constraints)
            )
        return tuple(self._ask(lambda decision: decision.clauses))

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition of which it was not decided whether the others imply them."""
        if self._tier != GENERAL:
            return ()
        if self._bound:
            return self.clauses
        return self._ask(lambda decision: tuple(c for c in decision.clauses if c in decision.unproven))

    @property
    def reason(self) -> str:
        """Why the verdict is unknown or a clause is unproven; empty when nothing was left open."""
        if self._tier != GENERAL or self._stopped:
            return self._stopped
        return self._ask(lambda decision: decision.reason) or self._stopped or self._bound

    @property
    def _bound(self) -> str:
        """Why the answer is about some ranks only; empty where it is about all."""
        unrolled = None if self.scope is None else self.scope.unrolled
        return "" if unrolled is None else unrolled.reason

    def _at_any_rank(self) -> Decision:
        """Return what holds where the answer is about some ranks only, of what is asked whatever the ranks are."""
        from symbcast.solver.decision import Decision

        assert self.scope is not None
        asked = self.rule.emit_open([s.dims for s in self._open]).constraints
        known, formulas = self.scope.at_any_rank(c.requirement for c in asked)
        return Decision(known, formulas)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What the rule asks, as it asks it, and that every dimension be a size."""
        return (*self.size_constraints(), *self.emission.constraints)

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The sizes that the answer is about, in order of appearance."""
        if self._tier == SIZES:
            return ()
        from symbcast.algebra.door import symbol_to_sympy

        return tuple(map(symbol_to_sympy, self.masks.names if self.scope is None else self.scope.symbols))

    @property
    def shown(self) -> Mapping[Symbol, str]:
        """What each size, as it is within, is called, in order of appearance."""
        return {} if self.scope is None else self.scope.names

    def guarded(self, with_assumptions: bool) -> Formula:
        """Return the condition; with the assumptions, all that holds where the shapes broadcast."""
        if not with_assumptions or self.scope is None:
            return all_of(self.clauses)
        from symbcast.program.premises import assumed

        known = assumed(self.shown, self.assumptions, self.scope.min_size)
        if self.scope.unrolled is not None:
            known += self.scope.links
        return all_of([*known, *self.clauses])

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What was assumed."""
        return () if self._tier != GENERAL or self.scope is None else tuple(self.scope.assumptions)

    @property
    def decision(self) -> Decision:
        """The decision that the answer rests on; for symbolic shapes only."""
        if self._decision is None:
            from symbcast.solver.decision import Decision

            assert self.scope is not None
            requirements = [c.requirement for c in self.constraints]
            self._decision = Decision(self.scope.knowledge, requirements)
        return self._decision

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes at which the shapes broadcast; None where there are none.

        Smallest: sizes of 0 are avoided, then the sum is least, then the sizes in order of appearance.
        """
        if self._tier == SIZES:
            return {} if self.verdict is Verdict.ALWAYS else None
        if self._tier == JOINS:
            return self._named(self.masks.witness())
        return self._named(self._ask(lambda decision: decision.witness()))

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest sizes at which the shapes do not broadcast; None where the assumptions leave none."""
        if self._tier == SIZES:
            return None if self.verdict is Verdict.ALWAYS else {}
        if self._tier == JOINS:
            return self._named(self.masks.counterexample())
        return self._named(self._ask(lambda decision: decision.counterexample()))

    def stretch(self, operand: int, axis: int) -> Stretch:
        """Return where an operand is stretched on an output axis; only of shapes that can broadcast."""
        return self.valid_sizes().stretch(self.rule, self._dims, operand, axis)

    def valid_sizes(self) -> ValidSizes:
        """Return the sizes at which the shapes broadcast; there must be some."""
        from symbcast.program.expansion import ValidSizes

        scope = self.scope
        if scope is None:
            return ValidSizes((), 0, (), None)
        known = scope.assumptions if scope.unrolled is None else scope.unrolled.known(scope.assumptions)
        formulas = [*(a.formula for a in known), *self.clauses]
        return ValidSizes(scope.symbols, scope.min_size, formulas, self.decision)

    @property
    def conflict(self) -> tuple[Constraint, ...]:
        """The fewest constraints that cannot hold together under the assumptions; empty unless the verdict is never."""
        if self._conflict is None:
            self._stopped = ""
            never = self.verdict is Verdict.NEVER
            found = asked(self.budget, self._clash, self._forget) if never else ()
            if self._stopped:
                return found
            self._conflict = found
        return self._conflict

    def __reduce__(self) -> tuple[Any, ...]:
        # The question alone: what was worked out holds a solver's state, and is worked out again when asked for.
        return type(self), (self.rule, self.operands, self._scope), {"_tier": self._tier, "budget": self.budget}

    def __bool__(self) -> NoReturn:
        raise TypeError("a result has no truth value: compare its .verdict, or call .require()")

    @property
    def emission(self) -> Emission:
        """What the rule emitted: its constraints, and the output dimensions as joins of their members."""
        if self._emission is None:
            self._emission = self.rule.emit(self._dims)
        return self._emission

    def size_constraints(self) -> list[Constraint]:
        """Return what makes every dimension of the operands a size."""
        if self._tier != GENERAL:
            return []
        found: list[Constraint] = []
        for position, dims in enumerate(self._dims):
            for axis, dim in enumerate(dims):
                if isinstance(dim, int) or dim.is_Symbol:
                    continue
                origin = Origin("size", (position,), axis, len(dims))
                found.extend(Constraint(need, origin, SIZE) for need in definedness(dim))
        unrolled = None if self.scope is None else self.scope.unrolled
        if unrolled is None:
            return found
        return [Constraint(f, c.origin, SIZE) for c in found for f in unrolled.formulas(c.requirement)]

    def _output_dim(self, dim: Dim | Joined) -> Dim:
        members = dim if isinstance(dim, Joined) else (dim,)
        if any(map(mentions_rest, members)):
            # That all sizes of one are those of another does not say that it has as many.
            return join([m for m in members if not self._is_empty(m)] or members)
        from symbcast.solver.outputs import collapse

        return collapse(members, self._at_any_rank() if self._bound else self.decision)

    def _is_empty(self, dim: Dim) -> bool:
        """Return whether a sequence in the output is known to have no axes."""
        rests = [s for s in symbols_of((dim,)) if isinstance(s, Rest)]
        ranks = [(self.decision.fixed(s.sequence.rank), s.place) for s in rests if self.scope is not None]
        return bool(rests) and all(isinstance(rank, int) and rank <= place for rank, place in ranks)

    def _clash(self) -> tuple[Constraint, ...]:
        if self._tier == SIZES:
            return next((c,) for c in self.emission.constraints if not holds(c.requirement))
        if self._tier == JOINS:
            clashing = self.masks.conflict
            assert clashing is not None
            return next((c,) for c in self.emission.constraints if c.origin.axis == clashing.axis)
        from symbcast.solver.conflicts import smallest_conflict

        assert self.scope is not None
        constraints = self.constraints
        found = smallest_conflict([[c.requirement] for c in constraints], self.scope.knowledge)
        return tuple(constraints[n] for n in found) or constraints

    def _named(self, sizes: Mapping[Symbol, int] | None) -> dict[str, int] | None:
        if sizes is None:
            return None
        if self._tier == JOINS:
            return {s.name: size for s, size in sizes.items()}
        assert self.scope is not None
        return self.scope.named(sizes)
