"""Arithmetic that is matched as a whole: counters of loops, and JAX's floor divisions and modulos of integers.

JAX writes the latter with ten operations that round towards zero: ``-n // 2`` becomes a division towards zero, less 1
if the signs differ and there is a remainder. Followed operation by operation, that is a size by cases; matched as a
whole, it is one term. JAX spreads it over functions that call one another, so values are followed through calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from symbcast.core.algebra.arithmetic import floor_divide, modulo
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.operators.values.contents import Content, Elements, sizes_of
from symbcast.stablehlo.graph import HloCall
from symbcast.stablehlo.mlir import keyword_of, splat_of

_DEEPEST = 8


class Frame(NamedTuple):
    """A call that is being followed, and the frame of the calling function."""

    call: Any
    around: Frame | None
    depth: int


class FollowedValue(NamedTuple):
    """A value and the calls through which it was reached."""

    value: Any
    frame: Frame | None


class Idiom(NamedTuple):
    """An operation on two sizes, and the values that hold them."""

    compute: Callable[[Dim, Dim], Dim]
    above: FollowedValue
    below: FollowedValue


def contents_of_idioms(call: HloCall) -> list[Content | None]:
    """Return the elements of each result that is a floor division or a modulo of known sizes; None for others."""
    # What matches is in the operations alone, so that it is found once for all walks of a node.
    node = call.node
    if node.idioms is None:
        matcher = _Matcher(node.program.functions)
        node.idioms = [list(_matched(matcher, FollowedValue(result, None))) for result in node.raw.results]
    return [_content(call, matches) for matches in node.idioms]


def steps(call: HloCall) -> list[int | None]:
    """Return what each iteration of a loop adds to each carried value: 0 if it stays, None if that is not known."""
    matcher, block = _Matcher(call.node.program.functions), call.node.raw.regions[1].blocks[0]
    *_, last = block.operations
    pairs = zip(block.arguments, last.operation.operands, strict=True)
    return [matcher.step(FollowedValue(argument, None), FollowedValue(value, None)) for argument, value in pairs]


def _matched(matcher: _Matcher, value: FollowedValue) -> Iterator[Idiom]:
    """Yield what a value may be as a whole: a floor division or a modulo."""
    parts = matcher.parts(value, "select")
    if parts is not None:
        for compute, match in ((floor_divide, matcher.quotient), (modulo, matcher.modulo)):
            pair = match(*parts)
            if pair is not None:
                yield Idiom(compute, *pair)


def _content(call: HloCall, matches: Sequence[Idiom]) -> Content | None:
    for compute, *pair in matches:
        above, below = (_size(call, p) for p in pair)
        if above is not None and below is not None and call.bounds.is_at_least(below, 1):
            return Elements((compute(above, below),))
    return None


def _size(call: HloCall, operand: FollowedValue) -> Dim | None:
    """Return the integer that a value of the current function holds, as far as it is known."""
    value = call.scope.find(call.node.program.names.of(operand.value)) if operand.frame is None else None
    sizes = None if value is None else sizes_of(value.content, value.shape)
    return sizes[0] if sizes and len(sizes) == 1 else None


class _Matcher:
    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = functions

    def step(self, before: FollowedValue, after: FollowedValue) -> int | None:
        """Match the sum of a value and a number; the value itself is the sum with 0."""
        if self.resolved(after) == before:
            return 0
        summed = self.parts(after, "add")
        return self._number(summed[1]) if summed is not None and summed[0] == before else None

    def quotient(
        self, chosen: FollowedValue, yes: FollowedValue, no: FollowedValue
    ) -> tuple[FollowedValue, FollowedValue] | None:
        """Match ``q - 1 if sign(x) != sign(y) and x % y != 0 else q``, where ``q`` is ``x / y`` towards zero."""
        pair, less = self.parts(no, "divide"), self.parts(yes, "subtract")
        if pair is None or less is None or less[0] != no or self._number(less[1]) != 1:
            return None
        signs, rest = self._both(chosen, "sign") or (None, None)
        if signs != pair:
            return None
        return (pair[0], pair[1]) if self._is_remainder(rest, pair) else None

    def modulo(
        self, chosen: FollowedValue, yes: FollowedValue, no: FollowedValue
    ) -> tuple[FollowedValue, FollowedValue] | None:
        """Match ``r + y if (r < 0) != (y < 0) and r != 0 else r``, where ``r`` is ``x - y * (x / y towards zero)``."""
        pair, summed = self.parts(no, "remainder"), self.parts(yes, "add")
        if pair is None or summed is None or summed != [no, pair[1]]:
            return None
        signs, rest = self._both(chosen, "LT") or (None, None)
        if signs != [no, pair[1]] or not self._is_remainder(rest, pair):
            return None
        return pair[0], self._but_zero(pair[1])

    def _both(self, chosen: FollowedValue, kind: str) -> tuple[list[FollowedValue], FollowedValue] | None:
        """Match the conjunction of two inequalities: one of two signs, and one of a remainder with 0."""
        parts = self.parts(chosen, "and")
        for one, other in (parts, parts[::-1]) if parts is not None else ():
            signs = [self._sign(p, kind) for p in self.parts(one, "NE") or ()]
            rest = self.parts(other, "NE")
            if rest is not None and self._number(rest[1]) == 0 and signs and None not in signs:
                return [s for s in signs if s is not None], rest[0]
        return None

    def _sign(self, value: FollowedValue, kind: str) -> FollowedValue | None:
        parts = self.parts(value, kind)
        if parts is None or (kind == "LT" and self._number(parts[1]) != 0):
            return None
        return parts[0]

    def _is_remainder(self, value: FollowedValue | None, pair: list[FollowedValue]) -> bool:
        return value is not None and self.parts(value, "remainder") == pair

    def _but_zero(self, value: FollowedValue) -> FollowedValue:
        """Return the divisor that is replaced by 1 where it is 0."""
        parts = self.parts(value, "select")
        tested = None if parts is None else self.parts(parts[0], "EQ")
        if parts is None or tested is None or tested[0] != parts[2] or self._number(tested[1]) != 0:
            return value
        return parts[2]

    def _number(self, value: FollowedValue) -> int | None:
        op = _operation(self.resolved(value).value)
        if op is None or op.name != "stablehlo.constant":
            return None
        number = splat_of(op, "value")
        return number if isinstance(number, int) else None

    def parts(self, operand: FollowedValue, kind: str) -> list[FollowedValue] | None:
        """Return the operands of an operation or a comparison of a kind; None for another one."""
        value, frame = self.resolved(operand)
        op = _operation(value)
        if op is None or not op.name.startswith("stablehlo."):
            return None
        name = op.name.partition(".")[2]
        name = keyword_of(op.attributes["comparison_direction"]) if name == "compare" else name
        return [self.resolved(FollowedValue(v, frame)) for v in op.operands] if name == kind else None

    def resolved(self, operand: FollowedValue) -> FollowedValue:
        """Return where a value comes from: through calls, parameters, and conversions to its own type."""
        value, frame = operand
        while True:
            op = _operation(value)
            if op is None:
                if frame is None or value.owner.owner.operation.name != "func.func":  # a parameter of a region stays
                    return FollowedValue(value, frame)
                value, frame = frame.call.operands[value.arg_number], frame.around
            elif op.name == "stablehlo.convert" and op.operands[0].type == value.type:
                value = op.operands[0]
            elif op.name == "func.call" and (frame is None or frame.depth < _DEEPEST):
                called = self._functions.get(op.attributes["callee"].value)
                if called is None or not len(called.regions[0].blocks):
                    return FollowedValue(value, frame)
                *_, last = called.regions[0].blocks[0].operations
                frame = Frame(op, frame, 0 if frame is None else frame.depth + 1)
                value = last.operation.operands[value.result_number]
            else:
                return FollowedValue(value, frame)


def _operation(value: Any) -> Any:
    return getattr(value.owner, "operation", None)
