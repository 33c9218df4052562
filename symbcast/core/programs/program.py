"""A whole program: a sequence of operations, and the plain answers for all of them together."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from symbcast.core.algebra.formulas import Formula, all_of
from symbcast.core.algebra.symbols import SequenceSymbol, sequences_of
from symbcast.core.algebra.terms import Symbol, symbols_of
from symbcast.core.programs.answers import ProgramAnswers, ProgramRequirement
from symbcast.core.programs.arguments import OneOrShape, SizesBySymbol, as_bound, as_shape, check_origin
from symbcast.core.programs.assumptions import (
    Assumption,
    Assumptions,
    assumed_formulas,
    check_min_size,
    mistyped_assumptions,
    read_assumptions,
)
from symbcast.core.programs.names_state import NamesState
from symbcast.core.programs.operations import Key, Kind, Op, emission_of, operation_key
from symbcast.core.programs.record import NUMPY, OnConflict, ProgramRecord
from symbcast.core.programs.state import needed_assumptions
from symbcast.core.programs.stretching import AxisStretch
from symbcast.core.rules import AttributeLike, Rule, find_rule
from symbcast.core.rules.laws import open_axes
from symbcast.core.shapes import Shape, ShapeLike, is_open, shape
from symbcast.core.solver.budget import Tier, check_budget, was_stopped
from symbcast.core.solver.evaluation import AxisSizes
from symbcast.core.solver.normal_form import symbols_in
from symbcast.core.verdicts import LazyAccount, Verdict
from symbcast.errors import DimensionError, ShapeTypeError, UnknownRankError

if TYPE_CHECKING:
    import sympy

    from symbcast.core.account import Account
    from symbcast.core.programs.answer_parts import AnswerParts, AnswerUnder

NO_ATTRIBUTES: Mapping[str, AttributeLike] = MappingProxyType({})


class Program(ProgramRecord, LazyAccount):
    """The sizes of a program, and the requirements of its operations. `symbcast.ShapeEnv` is its public form.

    It reads the arguments of callers and answers for all operations together; `ProgramRecord` holds the operations.
    """

    _elsewhere: AnswerUnder | None = None
    """Returns another program that answers under assumptions, if this one cannot take them."""
    _parts: tuple[object, AnswerParts | None] = (None, None)
    """The answer in parts, and the answers that it was computed from; then the account of these."""
    _open_account: tuple[object, Account | None] = (None, None)

    def __init__(
        self,
        assume: Assumptions = (),
        min_size: int = 0,
        *,
        on_conflict: OnConflict = "raise",
        budget: float | None = None,
    ) -> None:
        if on_conflict not in ("raise", "record"):
            raise ShapeTypeError(on_conflict, "an answer to conflicts", "write on_conflict='raise' or 'record'")
        super().__init__(check_min_size(min_size), on_conflict, check_budget(budget))
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
        self.begin()
        try:
            is_numpy = rule == "numpy" and not attributes
            names = self._names
            if names is not None and is_numpy:
                output = names.broadcast(shapes, origin)
                if output is not None:
                    return output
            read = NUMPY if is_numpy else find_rule(rule, dict(attributes))
            if names is None and read is NUMPY and len(shapes) == 2:
                left, right = shapes
                if type(left) is Shape and type(right) is Shape:
                    state = self.state
                    output = state.known(left, right)
                    if output is not None:
                        state.ops.append(Op(len(state.ops), "broadcast", origin, (left, right), read, output=output))
                        return output
            key = operation_key((type(read), read.called), attributes, shapes) if isinstance(rule, str) else None
            output = None if key is None else self.add_repeated(key, origin)
            return self.apply("broadcast", read, shapes, origin, key) if output is None else output
        finally:
            self.end()

    def repeat(self, key: Key, origin: str | None) -> Shape | None:
        """Add an operation that the program already has, and return its output; return None if this is another one.

        ``key`` is what `operation_key` returns for it.
        """
        check_origin(origin)
        return self.add_repeated(key, origin)

    def apply(
        self, kind: Kind, rule: Rule, shapes: Sequence[ShapeLike], origin: str | None, key: Key | None = None
    ) -> Shape:
        """Add the requirements of a rule, or an operator, on shapes, and return its output.

        ``key`` recognises the operation if it is repeated.
        """
        check_origin(origin)
        return self.add_shapes(kind, origin, [(s if isinstance(s, Shape) else shape(s), s) for s in shapes], rule, key)

    def equal(self, left: OneOrShape, right: OneOrShape, *, origin: str | None = None) -> Shape:
        """Require two shapes or two dimensions to be equal, axis by axis; return the shape that they share.

        >>> Program().equal("N, 4", ("M", "K"))
        Shape('(N, 4)')
        """
        check_origin(origin)
        key = operation_key("equal", NO_ATTRIBUTES, (left, right))
        output = None if key is None else self.add_repeated(key, origin)
        if output is not None:
            return output
        return self.add_shapes("equal", origin, [(as_shape(s), s) for s in (left, right)], None, key)

    def require(self, *requirements: Assumptions, origin: str | None = None) -> None:
        """Require relations between sizes: text such as ``"N % 8 == 0"``, sympy relations or `Condition`.

        Unlike an assumption, a requirement is part of the condition.
        """
        check_origin(origin)
        for read in [a for item in requirements for a in read_assumptions(item)]:
            self.add_formula("require", origin, read)

    def assume(self, *assumptions: Assumptions) -> None:
        """Assume relations between sizes from now on; the condition does not repeat them.

        Raises `AssumptionError` if they contradict earlier assumptions, and `IncompatibleProgramError` if they rule out
        earlier requirements.
        """
        for read in [a for item in assumptions for a in read_assumptions(item)]:
            self.add_formula("assume", None, read)

    def symbol(self, name: str) -> sympy.Symbol:
        """Return the size that a name means here; ``?`` with a label is an unknown."""
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return symbol_to_sympy(self.named(name))

    def named(self, name: str) -> Symbol:
        """Return the size that a name means here, in internal form."""
        if not isinstance(name, str) or name in ("", "?"):
            raise ShapeTypeError(name, "a name", "write a name such as 'N', a label such as '?a', or fresh()")
        return self.add_name(name)

    def fresh(self, lower: int = 0, upper: int | None = None) -> sympy.Symbol:
        """Return a new unknown size, with inclusive bounds."""
        low, high = as_bound(lower), None if upper is None else as_bound(upper)
        if high is not None and low > high:
            raise DimensionError(low, f"the lower bound is above the upper bound {high}")
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return symbol_to_sympy(self.add_unknown(low, high))

    # Answers about the whole.

    @property
    def account(self) -> Account:
        """What is known, from which the verdict, texts, guards and data derive.

        The condition decides each size, whatever the verdict. That of an undecided program is computed once.
        """
        if not self.is_open:
            return self._account()
        with self._lock:
            answers = self.answers
            of_answers, account = self._open_account
            if account is None or of_answers is not answers:
                account = self._account()
                if not was_stopped():
                    self._open_account = answers, account
            return account

    def _account(self) -> Account:
        from symbcast.core.account import exact_account

        parts = self._open_parts
        return exact_account(self, self.decided_verdict if parts is None else parts.verdict)

    @property
    def decided_verdict(self) -> Verdict:
        """The verdict as far as it is decided for all sizes at once."""
        return self.ask(lambda answers: answers.verdict)

    _decided = decided_verdict

    @property
    def is_open(self) -> bool:
        """Whether the verdict for all sizes at once is undecided."""
        return self.decided_verdict is Verdict.UNKNOWN

    @property
    def parts(self) -> AnswerParts | None:
        """The answers for large and for smaller sizes, if the one for all sizes is undecided or long."""
        if self._names is not None:
            return None
        with self._lock:
            answers = self.answers
            if self._parts[0] is not answers:
                from symbcast.core.programs.answer_parts import answer_parts

                parts = answer_parts(self, self._elsewhere)
                if was_stopped():
                    return parts
                self._parts = answers, parts
            return self._parts[1]

    @property
    def _open_parts(self) -> AnswerParts | None:
        """The answer in parts, if the one for all sizes at once is undecided."""
        return self.parts if self.is_open else None

    def answer_under(self, ask: AnswerUnder) -> None:
        """Answer for large sizes by another program, which ``ask`` returns under assumptions."""
        self._elsewhere = ask

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition; none when it is true."""
        return tuple(self.ask(lambda answers: answers.clauses))

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts that may be redundant: whether the others imply them is undecided."""
        return self.ask(lambda answers: tuple(filter(answers.unproven.__contains__, answers.clauses)))

    @property
    def reason(self) -> str:
        """Why something is unknown or unproven; empty when nothing was left open."""
        reason = self.decided_reason
        parts = self._open_parts if reason else None
        return reason if parts is None else parts.reason(reason)

    @property
    def decided_reason(self) -> str:
        """Why something is unknown or unproven for all sizes at once."""
        # Asking may run out of time itself: so this looks again afterwards.
        return self._stopped or self.ask(lambda answers: answers.reason) or self._stopped

    @property
    def tiers(self) -> dict[Tier, list[str]]:
        """The tiers that decided the answers, each with the names of the sizes concerned."""
        return self.ask(lambda answers: answers.tiers)

    @property
    def evidence_reason(self) -> str:
        """Why the witness or the counterexample may not be the smallest; empty if both are."""

        def reason_of(answers: ProgramAnswers | NamesState) -> str:
            answers.witness()
            answers.counterexample()
            return answers.evidence_reason

        reason = self.ask(reason_of)
        if reason or not self.is_open:
            return reason
        parts = self._open_parts
        return self.decided_reason if parts is None else parts.evidence_reason

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes at which every operation is valid; None if there are none."""
        sizes = self.ask(lambda answers: answers.witness())
        if sizes is not None or not self.is_open:
            return sizes
        parts = self._open_parts
        sizes = None if parts is None else parts.witness()
        return sizes if sizes is not None else self.ask_general(lambda answers: answers.samples())[0]

    def counterexample(self, clause: Formula | None = None) -> dict[str, int] | None:
        """Return the smallest sizes at which some operation is not valid; None if the assumptions rule them all out.

        For a conjunct of the condition, return sizes at which it fails and, if possible, the others hold.
        """
        if clause is not None:
            broken = self.breaking(clause)
            return None if broken is None else dict(broken)
        sizes = self.ask(lambda answers: answers.counterexample())
        if sizes is not None or not self.is_open:
            return sizes
        parts = self._open_parts
        sizes = None if parts is None else parts.counterexample()
        return sizes if sizes is not None else self.ask_general(lambda answers: answers.samples())[1]

    def breaking(self, clause: Formula) -> Mapping[str, int] | None:
        """Return sizes at which a conjunct of the condition fails, as `counterexample` does, without copying them."""
        return self.ask_general(lambda answers: answers.breaking(clause))

    def mistyped_assumptions(self) -> dict[str, str]:
        """Return assumptions that mention no size of the operations, with a size whose name is close."""
        sizes = dict.fromkeys(s for op in self.operations for shape in op.operands for s in symbols_of(shape.dims))
        required = (s for op in self.operations if op.kind == "require" and op.formula for s in symbols_in(op.formula))
        return dict(mistyped_assumptions(self.assumptions, [*sizes, *required], self.shown)) if sizes else {}

    def needed_assumptions(self) -> list[Assumption]:
        """Return the assumptions that the conflict needs."""
        return self.ask_general(lambda answers: needed_assumptions(answers.state, answers.conflict))

    @property
    def conflict(self) -> tuple[Op, ...]:
        """The fewest operations that cannot hold together; empty unless the verdict is never."""
        return self.ask(lambda answers: answers.conflict)

    def clashes(self) -> tuple[ProgramRequirement, ...]:
        """Return, for each operation of the conflict, the requirements that clash with those of the others."""
        return self.ask_general(lambda answers: answers.clashes)

    def failing(self, clause: Formula) -> dict[str, int] | None:
        """Return the smallest sizes at which a formula fails, whether or not the rest holds; None if there are none."""
        return self.ask_general(lambda answers: answers.failing(clause))

    def stretch(self, op: Op, operand: int, axis: int) -> AxisStretch:
        """Return where a broadcast stretches an operand along an output axis, wherever the program is valid."""
        assert op.rule is not None
        rule, dims = op.rule, op.aligned
        sizes = symbols_of(d for shape in dims for d in shape)
        return self.ask_general(lambda answers: answers.valid_sizes_of(sizes).stretch(rule, dims, operand, axis))

    def open_axes(self, op: Op) -> int:
        """Return the number of leading axes of a broadcast's aligned operands that stand for several axes each.

        Raises `UnknownRankError` if they do not come first, or if the answer covers only some ranks.
        """
        if not any(map(is_open, op.operands)):
            return 0
        assert op.rule is not None
        axes = open_axes(emission_of(op.rule, op.operands).output)
        if axes is None or self.ask_general(lambda answers: answers.view.bound):
            self.check_ranks("axes counted from the end")
        return axes or 0

    def requirements(self) -> tuple[ProgramRequirement, ...]:
        """Return the conjuncts of the condition, each with the operations that it comes from, in order."""
        return self.ask_general(lambda answers: answers.requirements)

    def requirement(self, clause: Formula) -> ProgramRequirement:
        """Return a formula that the condition implies, with the operations that it comes from."""
        return self.ask_general(lambda answers: answers.requirement(clause))

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The sizes in order of appearance."""
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return tuple(map(symbol_to_sympy, self.shown))

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

        return AxisSizes(plain, axes)

    @property
    def assumed(self) -> Formula:
        """All assumptions, with the bounds of each size; with the condition, all that holds where it is valid."""
        return all_of(assumed_formulas(self.shown, self.assumptions, self.min_size))
