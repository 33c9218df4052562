"""A whole program: a sequence of operations, and the plain answers for all of them together."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, cast

from symbcast.core.algebra.formulas import all_of
from symbcast.core.algebra.symbols import SequenceSymbol, sequences_of
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.programs.arguments import OneOrShape, SizesBySymbol, as_bound, as_shape, check_origin
from symbcast.core.programs.assumptions import mistyped_assumptions
from symbcast.core.programs.operations import Key, Kind, Op, emission_of, operation_key
from symbcast.core.programs.state import needed_assumptions
from symbcast.core.rules import AttributeLike, Rule, find_rule
from symbcast.core.rules.laws import open_axes
from symbcast.core.shapes import Shape, ShapeLike, is_open, shape
from symbcast.core.solver.normal_form import symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.errors import DimensionError, ShapeTypeError, UnknownRankError

if TYPE_CHECKING:
    import sympy

    from symbcast.core.account import Account
    from symbcast.core.algebra.formulas import Formula
    from symbcast.core.algebra.terms import Symbol
    from symbcast.core.programs.answer_parts import AnswerParts, AnswerUnder
    from symbcast.core.programs.answers import ProgramAnswers, ProgramRequirement
    from symbcast.core.programs.assumptions import Assumption, Assumptions
    from symbcast.core.programs.record import OnConflict
    from symbcast.core.programs.state import ProgramState
    from symbcast.core.programs.stretching import AxisStretch
    from symbcast.core.solver.budget import Tier
    from symbcast.core.solver.decision import Decision

NO_ATTRIBUTES: Mapping[str, AttributeLike] = MappingProxyType({})


class Program:
    """The sizes of a program, and the requirements of its operations. `symbcast.ShapeEnv` is its public form.

    ``_recording`` is the program so far; an operation is added completely or not at all.
    """

    def __init__(
        self,
        assume: Assumptions = (),
        min_size: int = 0,
        *,
        on_conflict: OnConflict = "raise",
        budget: float | None = None,
    ) -> None:
        from symbcast.core.programs.assumptions import check_min_size
        from symbcast.core.programs.record import ProgramRecord
        from symbcast.core.solver.budget import check_budget

        if on_conflict not in ("raise", "record"):
            raise ShapeTypeError(on_conflict, "an answer to conflicts", "write on_conflict='raise' or 'record'")
        self._recording = ProgramRecord(check_min_size(min_size), on_conflict, check_budget(budget))
        if type(assume) is not tuple or assume:
            self.assume(assume)

    # Adding operations.

    def broadcast(
        self,
        shapes: tuple[ShapeLike, ...],
        rule: str | Rule = "numpy",
        origin: str | None = None,
        attributes: Mapping[str, AttributeLike] = NO_ATTRIBUTES,
    ) -> Shape:
        """Add a broadcast, known to the caller as ``origin``, and return its output shape.

        Shapes, rule and attributes are as in `symbcast.broadcast`. Raises `IncompatibleProgramError` if no sizes allow
        it together with the operations so far, and another `SymbcastError` for wrong input.
        """
        if origin is not None:
            check_origin(origin)
        recording = self._recording
        recording.begin()
        try:
            if recording.plain is not None and rule == "numpy" and not attributes:
                output = recording.plain.broadcast(shapes, origin)
                if output is not None:
                    return output
            found = _NUMPY if rule == "numpy" and not attributes else find_rule(rule, dict(attributes))
            if found is _NUMPY and len(shapes) == 2 and recording.plain is None:
                left, right = shapes
                if type(left) is Shape and type(right) is Shape:
                    trace = recording.trace
                    output = trace.known(left, right)
                    if output is not None:
                        trace.ops.append(Op(len(trace.ops), "broadcast", origin, (left, right), found, output=output))
                        return output
            key = operation_key((type(found), found.called), attributes, shapes) if isinstance(rule, str) else None
            output = None if key is None else recording.repeat(key, origin)
            return self.apply("broadcast", found, shapes, origin, key) if output is None else output
        finally:
            recording.end()

    def repeat(self, key: Key, origin: str | None) -> Shape | None:
        """Add an operation that the program already has, and return its output; return None if this is another one.

        ``key`` is what `operation_key` returns for it.
        """
        check_origin(origin)
        return self._recording.repeat(key, origin)

    def apply(
        self, kind: Kind, rule: Rule, shapes: Sequence[ShapeLike], origin: str | None, key: Key | None = None
    ) -> Shape:
        """Add the requirements of a rule, or an operator, on shapes, and return its output.

        ``key`` recognises the operation if it is repeated.
        """
        check_origin(origin)
        operands = [(s if isinstance(s, Shape) else shape(s), s) for s in shapes]
        return self._recording.add_shapes(kind, origin, operands, rule, key)

    @property
    def last_operands(self) -> tuple[Shape, ...]:
        """The operands of the last operation over this program's sizes; empty if all of them are names or integers."""
        recording = self._recording
        return () if recording.plain is not None else recording.trace.ops[-1].operands

    def equal(self, left: OneOrShape, right: OneOrShape, *, origin: str | None = None) -> Shape:
        """Require two shapes or two dimensions to be equal, axis by axis; return the shape that they share.

        >>> Program().equal("N, 4", ("M", "K"))
        Shape('(N, 4)')
        """
        check_origin(origin)
        key = operation_key("equal", NO_ATTRIBUTES, (left, right))
        output = None if key is None else self._recording.repeat(key, origin)
        if output is not None:
            return output
        operands = [(as_shape(s), s) for s in (left, right)]
        return self._recording.add_shapes("equal", origin, operands, None, key)

    def require(self, *requirements: Assumptions, origin: str | None = None) -> None:
        """Require relations between sizes: text such as ``"N % 8 == 0"``, sympy relations or `Condition`.

        Unlike an assumption, a requirement is part of the condition.
        """
        from symbcast.core.programs.assumptions import read_assumptions

        check_origin(origin)
        for read in [a for given in requirements for a in read_assumptions(given)]:
            self._recording.add_formula("require", origin, read)

    def least(self, size: Symbol) -> int:
        """Return a lower bound of a size, valid wherever all requirements and assumptions so far hold.

        It takes no search, and need not be the greatest lower bound.
        """
        recording = self._recording
        return recording.min_size if recording.plain is not None else recording.trace.facts.least(size)

    def assume(self, *assumptions: Assumptions) -> None:
        """Assume relations between sizes from now on; the condition does not repeat them.

        Raises `AssumptionError` if they contradict earlier assumptions, and `IncompatibleProgramError` if they rule out
        earlier requirements.
        """
        from symbcast.core.programs.assumptions import read_assumptions

        for read in [a for given in assumptions for a in read_assumptions(given)]:
            self._recording.add_formula("assume", None, read)

    def symbol(self, name: str) -> sympy.Symbol:
        """Return the size that a name means here; ``?`` with a label is an unknown."""
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return symbol_to_sympy(self.named(name))

    def named(self, name: str) -> Symbol:
        """Return the size that a name means here, in internal form."""
        if not isinstance(name, str) or name in ("", "?"):
            raise ShapeTypeError(name, "a name", "write a name such as 'N', a label such as '?a', or fresh()")
        return self._recording.named(name)

    def met(self, size: Symbol) -> Symbol:
        """Return this program's size for one from elsewhere: the one with its name, or the same axes of a sequence."""
        return self._recording.met(size)

    def fresh(self, lower: int = 0, upper: int | None = None) -> sympy.Symbol:
        """Return a new unknown size, with inclusive bounds."""
        low, high = as_bound(lower), None if upper is None else as_bound(upper)
        if high is not None and low > high:
            raise DimensionError(low, f"the lower bound is above the upper bound {high}")
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return symbol_to_sympy(self._recording.fresh(low, high))

    # Branches.

    def fork(self) -> Self:
        """Return an independent copy; operations added to it do not affect this environment."""
        made = type(self).__new__(type(self))
        made._recording = self._recording.copy()
        return made

    # Answers about the whole.

    def decided_by(self, known: Decision) -> None:
        """Take over a decision of the same question, made elsewhere; it is not used for any other question."""
        self._recording.known = known

    @property
    def verdict(self) -> Verdict:
        """Whether the program is valid always, sometimes or never, or whether that is unknown (`reason` says why)."""
        found = self.decided_verdict
        return found if found is not Verdict.UNKNOWN else self.account.verdict

    @property
    def account(self) -> Account:
        """What is known, from which the verdict, texts, guards and data derive.

        The condition decides each size, whatever the verdict.
        """
        return self._recording.account(self._account) if self.is_open else self._account()

    def _account(self) -> Account:
        from symbcast.core.account import exact_account

        verdict = self.decided_verdict
        parts = self._open_parts
        found = verdict if parts is None else parts.verdict
        points = self.witness(), self.counterexample()
        return exact_account(all_of(self.clauses), found, points, self.reason if found is Verdict.UNKNOWN else "")

    @property
    def decided_verdict(self) -> Verdict:
        """The verdict as far as it is decided for all sizes at once."""
        return self._recording.ask(lambda answers: answers.verdict)

    @property
    def is_open(self) -> bool:
        """Whether the verdict for all sizes at once is undecided."""
        return self.decided_verdict is Verdict.UNKNOWN

    @property
    def parts(self) -> AnswerParts[Program] | None:
        """The answers for large and for smaller sizes, if the one for all sizes is undecided or long."""
        from symbcast.core.programs.answer_parts import answer_parts

        return self._recording.parts(lambda: answer_parts(self, self._recording.elsewhere))

    @property
    def _open_parts(self) -> AnswerParts[Program] | None:
        """The answer in parts, if the one for all sizes at once is undecided."""
        return self.parts if self.is_open else None

    def answer_under(self, ask: AnswerUnder[Program]) -> None:
        """Answer for large sizes by another program, which ``ask`` returns under assumptions."""
        self._recording.elsewhere = ask

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition; none when it is true."""
        return tuple(self._recording.ask(lambda answers: answers.clauses))

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts that may be redundant: whether the others imply them is undecided."""
        return self._recording.ask(lambda answers: tuple(filter(answers.unproven.__contains__, answers.clauses)))

    @property
    def reason(self) -> str:
        """Why something is unknown or unproven; empty when nothing was left open."""
        found = self.decided_reason
        parts = self._open_parts if found else None
        return found if parts is None else parts.reason(found)

    @property
    def decided_reason(self) -> str:
        """Why something is unknown or unproven for all sizes at once."""
        return self._recording.reason

    @property
    def tiers(self) -> dict[Tier, list[str]]:
        """The tiers that decided the answers, each with the names of the sizes concerned."""
        return self._recording.ask(lambda answers: answers.tiers)

    @property
    def evidence_reason(self) -> str:
        """Why the witness or the counterexample may not be the smallest; empty if both are."""

        def found(answers: ProgramAnswers) -> str:
            answers.witness()
            answers.counterexample()
            return answers.evidence_reason

        reason = "" if self._recording.plain is not None else self._recording.ask_all(found)
        if reason or not self.is_open:
            return reason
        parts = self._open_parts
        return self.decided_reason if parts is None else parts.evidence_reason

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes at which every operation is valid; None if there are none."""
        found = self._recording.ask(lambda answers: answers.witness())
        if found is not None or not self.is_open:
            return found
        parts = self._open_parts
        found = None if parts is None else parts.witness()
        return found if found is not None else self._samples()[0]

    def counterexample(self, clause: Formula | None = None) -> dict[str, int] | None:
        """Return the smallest sizes at which some operation is not valid; None if the assumptions rule them all out.

        For a conjunct of the condition, return sizes at which it fails and, if possible, the others hold.
        """
        if clause is not None:
            broken = self.breaking(clause)
            return None if broken is None else dict(broken)
        found = self._recording.ask(lambda answers: answers.counterexample())
        if found is not None or not self.is_open:
            return found
        parts = self._open_parts
        found = None if parts is None else parts.counterexample()
        return found if found is not None else self._samples()[1]

    def _samples(self) -> tuple[dict[str, int] | None, dict[str, int] | None]:
        """Return points of an undecided answer: sizes at which it works, and at which it fails."""
        return self._recording.ask_all(lambda answers: answers.samples())

    def breaking(self, clause: Formula) -> Mapping[str, int] | None:
        """Return sizes at which a conjunct of the condition fails, as `counterexample` does, without copying them."""
        return self._recording.ask_all(lambda answers: answers.breaking(clause))

    def mistyped_assumptions(self) -> dict[str, str]:
        """Return assumptions that mention no size of the operations, with a size whose name is close."""
        sizes = dict.fromkeys(s for op in self.operations for shape in op.operands for s in symbols_of(shape.dims))
        required = (s for op in self.operations if op.kind == "require" and op.formula for s in symbols_in(op.formula))
        return dict(mistyped_assumptions(self.assumptions, [*sizes, *required], self.shown)) if sizes else {}

    def needed_assumptions(self) -> list[Assumption]:
        """Return the assumptions that the conflict needs."""
        return self._recording.ask_all(lambda answers: needed_assumptions(answers.trace, answers.conflict))

    @property
    def conflict(self) -> tuple[Op, ...]:
        """The fewest operations that cannot hold together; empty unless the verdict is never."""
        return self._recording.ask(lambda answers: answers.conflict)

    def clashes(self) -> tuple[ProgramRequirement, ...]:
        """Return, for each operation of the conflict, the requirements that clash with those of the others."""
        return self._recording.ask_all(lambda answers: answers.clashes)

    def failing(self, clause: Formula) -> dict[str, int] | None:
        """Return the smallest sizes at which a formula fails, whether or not the rest holds; None if there are none."""
        return self._recording.ask_all(lambda answers: answers.failing(clause))

    def stretch(self, op: Op, operand: int, axis: int) -> AxisStretch:
        """Return where a broadcast stretches an operand along an output axis, wherever the program is valid."""
        assert op.rule is not None
        rule, dims = op.rule, op.laid
        sizes = symbols_of(d for shape in dims for d in shape)
        return self._recording.ask_all(lambda answers: answers.valid_sizes_of(sizes).stretch(rule, dims, operand, axis))

    def open_axes(self, op: Op) -> int:
        """Return the number of leading axes of a broadcast's aligned operands that stand for several axes each.

        Raises `UnknownRankError` if they do not come first, or if the answer covers only some ranks.
        """
        if not any(map(is_open, op.operands)):
            return 0
        assert op.rule is not None
        found = open_axes(emission_of(op.rule, op.operands).output)
        if found is None or self._recording.ask_all(lambda answers: answers.view.bound):
            self.check_ranks("axes counted from the end")
        return found or 0

    def requirements(self) -> tuple[ProgramRequirement, ...]:
        """Return the conjuncts of the condition, each with the operations that it comes from, in order."""
        return self._recording.ask_all(lambda answers: answers.requirements)

    def requirement(self, clause: Formula) -> ProgramRequirement:
        """Return a formula that the condition implies, with the operations that it comes from."""
        return self._recording.ask_all(lambda answers: answers.requirement(clause))

    @property
    def operations(self) -> tuple[Op, ...]:
        """The operations in order, including assumptions."""
        return tuple(self._recording.ops)

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The sizes in order of appearance."""
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return tuple(map(symbol_to_sympy, self.shown))

    @property
    def shown(self) -> Mapping[Symbol, str]:
        """The name of each size, keyed by its internal form."""
        return self._recording.shown

    def check_ranks(self, question: str) -> None:
        """Raise `UnknownRankError` if a rank is unknown and the question requires known ranks."""
        for sequence in sequences_of(self.shown):
            raise UnknownRankError(question, sequence.rest().name)

    def symbol_sizes(self, sizes: Mapping[str, int]) -> Mapping[Symbol, int]:
        """Return sizes by symbol, from sizes by name as returned by `witness` or `breaking`."""
        shown = self.shown
        if isinstance(sizes, ChainMap):
            return SizesBySymbol(shown, sizes)  # `breaking` shares no axes of sequences
        axes = {s: cast("Sequence[int]", sizes[s.name]) for s in sequences_of(shown)}
        plain = {s: sizes[name] for s, name in shown.items() if not isinstance(s, SequenceSymbol)}
        if not axes:
            return plain
        from symbcast.core.solver.evaluation import AxisSizes

        return AxisSizes(plain, axes)

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions."""
        return tuple(self._recording.assumptions)

    @property
    def min_size(self) -> int:
        """The least size of all symbols."""
        return self._recording.min_size

    @property
    def on_conflict(self) -> OnConflict:
        """What happens to an operation that cannot hold: ``"raise"`` or ``"record"``."""
        return self._recording.on_conflict

    @property
    def budget(self) -> float | None:
        """The seconds that each question may take; None for no limit."""
        return self._recording.budget

    @property
    def length(self) -> int:
        """The number of operations, including assumptions."""
        return self._recording.length

    _length = length

    @classmethod
    def restored(
        cls,
        ops: Iterable[Op],
        min_size: int,
        on_conflict: OnConflict,
        symbols: Iterable[Symbol],
        budget: float | None = None,
    ) -> Self:
        """Return an environment with recorded operations, over the given sizes."""
        from symbcast.core.programs.record import ProgramRecord

        made = cls.__new__(cls)
        made._recording = ProgramRecord.of(ops, min_size, on_conflict, symbols, budget)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).restored, (self.operations, self.min_size, self.on_conflict, tuple(self.shown), self.budget)

    # Inside.

    @property
    def _trace(self) -> ProgramState:
        return self._recording.trace

    @property
    def assumed(self) -> Formula:
        """All assumptions, with the bounds of each size; with the condition, all that holds where it is valid."""
        from symbcast.core.programs.assumptions import assumed_formulas

        return all_of(assumed_formulas(self.shown, self.assumptions, self.min_size))


_NUMPY = find_rule("numpy", {})
