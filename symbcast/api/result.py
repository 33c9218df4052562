"""The question and its answer: `broadcast`, and the `Result` that it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from symbcast.api.guards import Guards
from symbcast.broadcasting import AttributeLike, Rule
from symbcast.errors import UndecidedError
from symbcast.program.call import JOINS, NOTHING, ZERO, Call
from symbcast.program.operands import plain_dims
from symbcast.program.refusals import BroadcastError, ConditionalBroadcastError, IncompatibleShapesError
from symbcast.shapes import Shape, ShapeLike, sizes_of
from symbcast.solver.budget import check_budget
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.exchange.answers import ResultData
    from symbcast.program.assumptions import Assumptions
    from symbcast.program.bindings import Sizes
    from symbcast.program.certificate import Certificate


def broadcast(
    *shapes: ShapeLike,
    rule: str | Rule = "numpy",
    assume: Assumptions = (),
    min_size: int = 0,
    budget: float | None = None,
    **attributes: AttributeLike,
) -> Result:
    """Return for which sizes the shapes broadcast by a rule, and to what.

    ``shapes`` are text, tuples or objects with a ``.shape`` (see `symbcast.shape`), in the order of the rule's
    operands. ``rule`` is a name from `symbcast.rules`, and ``attributes`` are that rule's. ``assume`` is what is known
    of the sizes: text such as ``"N >= 2"``, sympy relations, or several of them; ``min_size`` is a least size for all
    symbols. ``budget`` limits each question that the result is asked to so many seconds; without one no clock decides.

    Raises a `SymbcastError` for wrong input: text, rule, attributes, or assumptions that contradict each other.
    Shapes that do not broadcast are an answer, not an error.

    >>> result = broadcast("N, 3", "M, 1")
    >>> result.verdict, result.shape, result.condition
    (<Verdict.SOMETIMES: 'sometimes'>, Shape('(broadcast(M, N), 3)'), Eq(M, 1) | Eq(N, 1) | Eq(N, M))
    >>> broadcast("N, C, H, W", "C", rule="pdpd", axis=1).verdict
    <Verdict.ALWAYS: 'always'>
    """
    if rule == "numpy" and not attributes and assume is NOTHING and min_size is ZERO:
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
            made = _new(Result)
            made._dims = cast("tuple[tuple[int, ...], ...]", shapes)
            return made
        dims = []
        for shape_ in shapes:
            plain = plain_dims(shape_)
            if plain is None:
                break
            dims.append(plain)
        else:
            made = _new(Result)
            made._dims = tuple(dims)
            made._tier = JOINS
            return made
    made = Result.asked(shapes, rule, attributes, assume, min_size)
    made.budget = check_budget(budget)
    return made


class Result(Call, Guards):
    """The answer about one broadcast. Everything in it is worked out when it is first asked for.

    It has no truth value: ask for its `verdict`, or `require` it.
    """

    _certificate: Certificate | None = None

    def evaluate(self, sizes: Sizes | None = None, /, **named: int) -> tuple[int, ...]:
        """Return the output shape at given sizes.

        Names that are not Python identifiers go into the mapping. Raises `IncompatibleShapesError` where the rule
        refuses, and `BindingError` for a size that is missing, unknown, not a size, or against the assumptions.

        >>> broadcast("N, 3", "M, 1").evaluate(N=4, M=1)
        (4, 3)
        """
        from symbcast.program.bindings import bind

        bound = bind(self, sizes, named)
        result = Result(self.rule, bound.shapes, None) if bound.shapes is not None else None
        if result is None or result.shape is None:
            raise IncompatibleShapesError(self, bound.sizes)
        return sizes_of(result.shape)

    def explain(self) -> str:
        """Return the answer in words: the operands aligned, the condition, an example, and a fix."""
        from symbcast.show import call, text

        return text.render(call.document(self))

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

    def certify(self) -> Certificate:
        """Return what z3 says of the answer: whether condition, output and conflict agree with the raw constraints."""
        if self._certificate is None:
            from symbcast.program.certificate import certify

            self._certificate = certify(self)
        return self._certificate

    def to_dict(self) -> ResultData:
        """Return the answer as plain data for JSON."""
        from symbcast.exchange.answers import result_to_dict

        return result_to_dict(self)

    def __repr__(self) -> str:
        from symbcast.show.call import summary

        return f"<Result {summary(self)}>"

    def _repr_html_(self) -> str:
        from symbcast.show import call, html
        from symbcast.show.document import Room

        return html.render(call.document(self, Room.PAGE))

    def _repr_latex_(self) -> str:
        from symbcast.show import call, latex

        return latex.render(call.document(self))


_new = object.__new__


def _words(error: BroadcastError) -> str:
    from symbcast.show import call, text

    if error.result is None:
        return ""
    return text.message(call.headline(cast("Result", error.result), error.binding))


def _shape_html(dims: Sequence[Dim]) -> str:
    from symbcast.show import html, values

    return html.render(values.shape_document(dims))


def _shape_latex(dims: Sequence[Dim]) -> str:
    from symbcast.show import latex, values

    return latex.render(values.shape_document(dims))


BroadcastError.words = staticmethod(_words)
Shape.html, Shape.latex = staticmethod(_shape_html), staticmethod(_shape_latex)
