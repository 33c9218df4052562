"""The methods by which users record a program: broadcasts, requirements, assumptions and branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from symbcast.core.program.whole.program import Program
from symbcast.core.program.whole.repeats import key_of
from symbcast.core.signatures import same_parameter
from symbcast.errors import CallError, ShapeTypeError
from symbcast.operators.recorded.operator import find_operator, operator_called

if TYPE_CHECKING:
    import sympy

    from symbcast.core.broadcasting import AttributeLike, Rule
    from symbcast.core.program.sizes.assumptions import Assumptions
    from symbcast.core.program.whole.arguments import OneOrShape
    from symbcast.core.program.whole.recording import OnConflict
    from symbcast.core.shapes import Shape, ShapeLike


class ProgramFunctions:
    """A program as users record it; ``_program`` is the plain one."""

    _program: Program

    def __init__(
        self,
        assume: Assumptions = (),
        min_size: int = 0,
        *,
        on_conflict: OnConflict = "raise",
        budget: float | None = None,
    ) -> None:
        self._program = Program(assume, min_size, on_conflict=on_conflict, budget=budget)

    @classmethod
    def _of(cls, program: Program) -> Self:
        """Return the public form of a plain program."""
        made = cls.__new__(cls)
        made._program = program
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self._program.fork(),)

    def _operate(self, name: str, shapes: Sequence[ShapeLike], origin: str | None, **attributes: Any) -> Shape:
        """Record an operator and return its output."""
        program = self._program
        key = key_of(name, attributes, shapes)
        output = None if key is None else program.repeat(key, origin)
        if output is not None:
            return output
        operator = find_operator(name, attributes) if key is None else operator_called(key[0], name, attributes)
        return program.apply(name, operator, shapes, origin, key)

    def _operate_parts(
        self, name: str, shapes: Sequence[ShapeLike], origin: str | None, outputs: int, **attributes: Any
    ) -> tuple[Shape, ...]:
        """Record each of some ``outputs`` of an operator as an operation on the same sizes; return the outputs.

        The first one reads the operands: if text were read again for each output, its bare ``?`` would be a new size
        each time, and a label would miss the size of this program that it names.
        """
        first = self._operate(name, shapes, origin, part=0, **attributes)
        same = self._program.last_operands or shapes
        return (first, *(self._operate(name, same, origin, part=n, **attributes) for n in range(1, outputs)))

    def broadcast(
        self, *shapes: ShapeLike, rule: str | Rule = "numpy", origin: str | None = None, **attributes: AttributeLike
    ) -> Shape:
        """Add a broadcast, which the caller knows as ``origin``, and return its output shape.

        Shapes, rule and attributes are as in `symbcast.broadcast`. Raises `IncompatibleProgramError` where no sizes
        allow it together with the operations so far, and other `SymbcastError` for wrong input.
        """
        if attributes:
            for name, value in attributes.items():
                if same_parameter(name, ("origin",)):
                    raise CallError("broadcast", f"there is no argument {name}=", f"write origin={value!r}")
        return self._program.broadcast(shapes, rule, origin, attributes)

    def equal(self, left: OneOrShape, right: OneOrShape, *, origin: str | None = None) -> Shape:
        """Ask that two shapes, or two dimensions, be equal, axis by axis; return the shape that both are then.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv().equal("N, 4", ("M", "K"))
        Shape('(N, 4)')
        """
        return self._program.equal(left, right, origin=origin)

    def require(self, *requirements: Assumptions, origin: str | None = None) -> None:
        """Ask that relations between sizes hold: text such as ``"N % 8 == 0"``, sympy relations or `Condition`.

        Unlike an assumption, a requirement is part of the condition.
        """
        self._program.require(*requirements, origin=origin)

    def assume(self, *assumptions: Assumptions) -> None:
        """Assume relations between sizes from now on; the condition does not repeat them.

        Raises `AssumptionError` where they contradict earlier assumptions, and `IncompatibleProgramError` where
        they rule out earlier requirements.
        """
        self._program.assume(*assumptions)

    def symbol(self, name: str) -> sympy.Symbol:
        """Return the size that a name means here; one of ``?`` and letters is an unknown."""
        from symbcast.core.algebra.sympy_functions import check_name

        return self._program.symbol(name if name in ("", "?") else check_name(name))

    def fresh(self, lower: int = 0, upper: int | None = None) -> sympy.Symbol:
        """Return a new unknown size, with inclusive bounds.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.broadcast((env.fresh(), 3), (env.fresh(2, 5), 1))
        Shape('(2..5, 3)')
        """
        if isinstance(lower, str):
            raise ShapeTypeError(lower, "a bound", f"write symbol({lower!r}) for a size with a name")
        return self._program.fresh(lower, upper)

    def fork(self) -> Self:
        """Return an independent copy; operations added to it do not affect this environment."""
        return self._of(self._program.fork())

    @contextmanager
    def assuming(self, *assumptions: Assumptions) -> Iterator[Self]:
        """Give a fork in which more is assumed, for a branch of the program.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> with env.assuming("N >= 2", "M >= 2") as branch:
        ...     branch.broadcast("N", "M")
        Shape('(N,)')
        >>> env.operations
        ()
        """
        branch = self.fork()
        branch.assume(*assumptions)
        yield branch
