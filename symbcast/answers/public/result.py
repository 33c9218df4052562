"""The question and its answer: `broadcast`, and the `Result` that it returns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from symbcast.answers.public.answer import Answer, AskedAnswer
from symbcast.answers.show.documented import Documented
from symbcast.core.advice import guessed_meanings
from symbcast.core.effort import call_about, check_budget, current_budget, one_call, within_optional
from symbcast.core.programs.arguments import Assumptions, Sizes, plain_dims
from symbcast.core.programs.broadcast_call import JOINS, NOTHING, ZERO, BroadcastCall
from symbcast.core.programs.operations import BroadcastError, ConditionalBroadcastError, IncompatibleShapesError
from symbcast.core.rules import AttributeLike, Rule
from symbcast.core.rules.declaration import Constraint
from symbcast.core.shapes import Shape, ShapeLike, sizes_of
from symbcast.core.verdicts import Verdict
from symbcast.errors import RuleArgumentError, UndecidedError

if TYPE_CHECKING:
    from symbcast.answers.cases.cases import Cases
    from symbcast.answers.contracts.question import Tensor
    from symbcast.answers.data import ResultData
    from symbcast.answers.explanation.evidence import Surprise
    from symbcast.answers.explanation.repairs import Repair
    from symbcast.answers.findings import Finding
    from symbcast.answers.public.conditions import Condition
    from symbcast.answers.public.consequences import Expansion
    from symbcast.answers.show.document import Document, Room
    from symbcast.core.programs.certificates import Certificate


def broadcast(
    *shapes: ShapeLike,
    rule: str | Rule = "numpy",
    assume: Assumptions = (),
    min_size: int = 0,
    budget: float | None = None,
    **attributes: AttributeLike,
) -> Result:
    """Return for which sizes the shapes broadcast by a rule, and the output shape.

    ``shapes`` are text, tuples or objects with a ``.shape`` (see `symbcast.shape`), in the order of the rule's
    operands. ``rule`` is a name from `symbcast.rules`, and ``attributes`` are that rule's. ``assume`` gives known facts
    about sizes: text such as ``"N >= 2"``, sympy relations, or several of them; ``min_size`` is the minimum size of all
    symbols. ``budget`` limits each question to the result to that many seconds; by default there is no limit.

    Each unknown (``?``) is a separate size; a `Shape` that is given twice has the same ones.
    Each is shown by a label (``?0``); a label in text, here and in ``assume``, refers to the size that it is shown for.
    The rank need not be known: ``..., 3`` and ``*batch, 3`` have any number of further axes, whose sizes are
    ``batch[-1]``, ``batch[-2]`` and so on, 1 where there are no more.

    Raises a `SymbcastError` for wrong input: text, rule, attributes, or assumptions that contradict each other.
    Shapes that do not broadcast are an answer, not an error.

    >>> result = broadcast("N, 3", "M, 1")
    >>> result.verdict, result.shape, result.condition
    (<Verdict.SOMETIMES: 'sometimes'>, Shape('(broadcast(M, N), 3)'), Condition('N == M or N == 1 or M == 1'))
    >>> broadcast("N, C, H, W", "C", rule="pdpd", axis=1).verdict
    <Verdict.ALWAYS: 'always'>
    """
    if rule == "numpy" and budget is None and not attributes and assume is NOTHING and min_size is ZERO:
        for shape_ in shapes:
            # `are_sizes`, without a call for each operand.
            if type(shape_) is not tuple:
                break
            for size in shape_:
                if type(size) is not int or not 0 <= size <= 0x7FFFFFFFFFFFFFFF:
                    break
            else:
                continue
            break
        else:
            call = _new(BroadcastCall)
            call._dims = cast("tuple[tuple[int, ...], ...]", shapes)
            result = _new(Result)
            result._subject, result._condition = call, None
            return result
        dims = []
        for shape_ in shapes:
            plain = plain_dims(shape_)
            if plain is None:
                break
            dims.append(plain)
        else:
            call = _new(BroadcastCall)
            call._dims = tuple(dims)
            call._tier = JOINS
            result = _new(Result)
            result._subject, result._condition = call, None
            return result
    seconds = check_budget(budget)
    with within_optional(seconds):
        call = BroadcastCall.of(shapes, rule, attributes, assume, min_size)
    call.budget = seconds
    return Result(call)


class Result(AskedAnswer, Documented):
    """The answer about one broadcast. Everything in it is worked out when it is first asked for.

    It has no truth value: use its `verdict`, or `require` it.
    """

    __slots__ = ("__weakref__", "_certificate", "_condition", "_subject")

    _meanings = guessed_meanings(
        "output out result shapes output_shape dims -> shape",
        "inputs args -> operands",
        "fixes suggest suggestions fix -> repairs()",
        "raise_if_invalid check unwrap -> require()",
        "rank ndim -> shape.rank",
        "conflicts unsat_core core -> conflict",
        "proof prove verify certificate -> certify()",
        "strides -> cases(), which have strides",
        "scope -> symbols, or assumptions",
        "tiers -> explain(trace=True)",
        base=Answer._meanings,
    )

    # A slot takes the place of the abstract property: no call in the hot path.
    _subject: BroadcastCall
    _certificate: Certificate

    def __init__(self, call: BroadcastCall) -> None:
        self._subject = call  # pyright: ignore[reportIncompatibleMethodOverride]
        self._condition: Condition | None = None

    @property
    def _tensors(self) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
        from symbcast.answers.contracts.question import Tensor
        from symbcast.answers.explanation.words import operand_names

        return {n: Tensor(s) for n, s in zip(operand_names(self._subject), self.operands, strict=True)}, {}

    # The question.

    @property
    def rule(self) -> Rule:
        """The rule with its attributes set."""
        return self._subject.rule

    @property
    def operands(self) -> tuple[Shape, ...]:
        """The shapes, in the order of the rule's operands."""
        return self._subject.operands

    # The answer.

    @property
    def shape(self) -> Shape | None:
        """The output shape wherever the condition holds; None if it holds nowhere."""
        return self._subject.shape

    @property
    def condition(self) -> Condition:
        """The sizes at which the shapes broadcast: necessary and sufficient under the assumptions, and irredundant.

        It does not repeat the assumptions. Clauses that were not proved necessary are in ``unproven``.
        """
        if self._condition is not None:
            return self._condition
        condition = super().condition
        if current_budget() is None and self._subject.budget is None:
            self._condition = condition  # no clock can have stopped it
        return condition

    @property
    def conflict(self) -> tuple[Constraint, ...]:
        """The fewest constraints that cannot hold together under the assumptions; empty unless the verdict is never."""
        return self._subject.conflict

    @property
    @one_call
    def findings(self) -> tuple[Finding, ...]:
        """The rule's requirements: one finding for each conjunct of the condition, with the reason and where it fails.

        >>> for finding in broadcast("N, 3", "M, 3").findings:
        ...     print(finding.text, finding.sizes_there)
        N == M or N == 1 or M == 1 (2, 3) and (3, 3)
        """
        from symbcast.answers.findings import findings_of_call

        return findings_of_call(self._subject)

    def evaluate(self, sizes: Sizes | None = None, /, **named: int) -> tuple[int, ...]:
        """Return the output shape at given sizes.

        Names that are not Python identifiers go into the mapping; a sequence of axes takes a tuple. Raises
        `IncompatibleShapesError` if the rule refuses the sizes, and `BindingError` for a size that is missing, unknown,
        not a size, or against the assumptions.

        >>> broadcast("N, 3", "M, 1").evaluate(N=4, M=1)
        (4, 3)
        >>> broadcast("*batch, N", "2, 3").evaluate(batch=(5, 1), N=1)
        (5, 2, 3)
        """
        from symbcast.core.programs.bindings import bind

        bound = bind(self._subject, sizes, named)
        try:
            call = BroadcastCall(self._subject.rule_at_sizes, bound.shapes, None) if bound.shapes is not None else None
        except RuleArgumentError:
            call = None  # the rule does not take these ranks
        if call is None or call.shape is None:
            raise IncompatibleShapesError(self, bound.sizes)
        return sizes_of(call.shape)

    def _failure_at(self, sizes: Mapping[str, int]) -> str:
        from symbcast.answers.explanation.evidence import Alignment, failure_at

        return failure_at(Alignment(self._subject), sizes)

    @one_call
    def explain(self, *, trace: bool = False) -> str:
        """Return the answer in words: the operands aligned, the condition, an example, and a fix.

        With ``trace``, also how it was decided: the tiers of the solver's README, with the sizes that each handled.
        """
        return self._in_words(self._subject.tiers, lambda: self.verdict) if trace else self._in_words()

    @one_call
    def require(self) -> Shape:
        """Return the output shape if the shapes always broadcast.

        Raises `IncompatibleShapesError`, `ConditionalBroadcastError` or `UndecidedError`.
        """
        verdict = self.verdict
        if verdict is Verdict.ALWAYS:
            assert self.shape is not None
            return self.shape
        if verdict is Verdict.NEVER:
            raise IncompatibleShapesError(self)
        if verdict is Verdict.SOMETIMES:
            raise ConditionalBroadcastError(self)
        raise UndecidedError(self.reason)

    @one_call
    def expands(self, operand: int | str, axis: int) -> Expansion:
        """Return whether an operand is stretched on an axis of the output: always, never, or when.

        ``operand`` is a number or the rule's name for it, ``axis`` counts from either end. An operand that does not
        reach the axis has the size 1 there. Raises `IncompatibleShapesError` if no sizes broadcast, and
        `ShapeTypeError` for another operand or axis. If the rank is not known, axes are counted from the end, as
        far as the known ends of the operands reach.

        >>> print(broadcast("n, 4", "2, 4").expands("A", 0))
        A on axis 0 (-2): stretched when n == 1
        """
        from symbcast.answers.public.consequences import ExpansionPlace, expansion_at

        call = self._subject
        if self.verdict is Verdict.UNKNOWN:
            call.check_ranks("expands")
        if self.verdict is Verdict.NEVER:
            raise IncompatibleShapesError(self)
        place = ExpansionPlace.of(self.rule, [s.rank for s in call.aligned], operand, axis, call.open_axes)
        return expansion_at(call, place)

    @one_call
    def to_stablehlo(self, name: str = "broadcast", *, element_type: str = "f32") -> str:
        """Return a StableHLO module whose function broadcasts operands to the output shape.

        Each operand that holds elements is broadcast by a ``dynamic_broadcast_in_dim`` annotated with the proved axes:
        ``known_expanding_dimensions`` and ``known_nonexpanding_dimensions``. It is correct at all sizes
        at which the shapes broadcast. Raises `IncompatibleShapesError` if there are none, and `DimensionError` for
        a layout that StableHLO cannot express.
        """
        from symbcast.answers.guards.stablehlo import stablehlo_broadcast

        self._subject.check_ranks("to_stablehlo")
        if self.verdict is Verdict.NEVER:
            raise IncompatibleShapesError(self)
        return stablehlo_broadcast(self._subject, name, element_type)

    @one_call
    def certify(self) -> Certificate:
        """Check the answer with z3: whether condition, output and conflict agree with the raw constraints."""
        if not hasattr(self, "_certificate"):
            from symbcast.core.programs.certificates import certify_call

            self._certificate = certify_call(self._subject)
        return self._certificate

    @property
    @one_call
    def surprises(self) -> tuple[Surprise, ...]:
        """The effects of the broadcast at valid sizes that are surely unintended.

        These are outer products of operands of different ranks, such as (N,) with (N, 1), which gives (N, N), and named
        sizes that are 1 and are stretched onto other named sizes.

        >>> [(s.kind, s.sizes) for s in broadcast("N", "N, 1").surprises]
        [('outer-product', {'N': 2})]
        """
        from symbcast.answers.explanation.evidence import surprises

        return surprises(self._subject)

    @one_call
    def repairs(self, limit: int = 5) -> tuple[Repair, ...]:
        """Return changes that make the shapes broadcast, or do what was intended, likeliest first.

        Each is an edit of one operand, an assumption or another rule, with its code and the answer that it gives, which
        is decided again. There are none if the shapes always broadcast and there is no outer product among the
        `surprises`. The weakest assumption that makes them broadcast is the `condition`.

        >>> best = broadcast("batch, heads, T, S", "batch, S").repairs()[0]
        >>> best.text, best.code["torch"], best.shape
        ('reshape B to (batch, 1, 1, S)', 'b[:, None, None]', Shape('(batch, heads, T, S)'))
        """
        from symbcast.answers.explanation.repairs import repairs

        return repairs(self._subject, limit)

    @one_call
    def cases(self, limit: int | None = None) -> Cases:
        """Return the cases that the valid sizes divide into, under the assumptions.

        In each case every output size is one expression, and every operand is stretched on the same axes: a compiler
        can use one kernel for it. The cases do not overlap, none is empty, and the condition holds exactly where one of
        their guards does; ``limit`` is the maximum number of cases. A size that is 1 throughout a case is stretched
        there, unless the output's is 1 too. Raises `UndecidedError` if it is undecided whether a case is empty.

        >>> for case in broadcast("N, 3", "M, 1").cases():
        ...     print(case, case.strides)
        N == M: (N, 3) (Shape('(3, 1)'), Shape('(1, 0)'))
        N == 1 and M != 1: (M, 3) (Shape('(0, 1)'), Shape('(1, 0)'))
        N != 1 and M == 1: (N, 3) (Shape('(3, 1)'), Shape('(0, 0)'))
        """
        from symbcast.answers.cases.cases import Cases
        from symbcast.answers.cases.division import cases_of_call
        from symbcast.answers.public.conditions import Condition

        return cases_of_call(Cases, self._subject, partial(Condition, self._subject), limit)

    @one_call
    def to_dict(self) -> ResultData:
        """Return the answer as plain data for JSON."""
        from symbcast.answers.show.json import result_to_dict

        return result_to_dict(self._subject)

    def __eq__(self, other: object) -> bool:
        """Return whether the question is the same. Each ``?`` in text is a separate size."""
        return isinstance(other, Result) and self._subject == other._subject

    def __hash__(self) -> int:
        return hash(self._subject)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._subject,)

    def __bool__(self) -> NoReturn:
        raise TypeError("a result has no truth value: compare its .verdict, or call .require()")

    @one_call
    def __repr__(self) -> str:
        from symbcast.answers.show.broadcast import one_line_summary

        return f"<Result {one_line_summary(self._subject)}>"

    @one_call
    def _document(self, *room: Room) -> Document:
        from symbcast.answers.show.broadcast import broadcast_document

        return broadcast_document(self._subject, *room)

    def _repr_latex_(self) -> str:
        return self._in_latex()


# One slot under two names: no call in the hot path, where a property would be a tenth of the time of a plain verdict.
Result._known = Result._plain = Result._subject  # type: ignore[assignment, method-assign, misc]


def call_of(result: Result) -> BroadcastCall:
    """Return the plain answer that a result shows."""
    return result._subject


_new = object.__new__


def message_of_error(error: BroadcastError) -> str:
    """Return the message of an error about a broadcast."""
    from symbcast.answers.show.broadcast import headline
    from symbcast.answers.show.document import message

    if error.result is None:
        return ""
    with call_about(error.result):
        return message(headline(call_of(cast("Result", error.result)), error.binding))
