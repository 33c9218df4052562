"""The methods by which users record a program: broadcasts, requirements, branches, and operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, Self, SupportsIndex, TypeAlias

from symbcast.core.advice import same_parameter
from symbcast.core.programs.arguments import Assumptions, OneOrShape
from symbcast.core.programs.operations import operation_key
from symbcast.core.programs.program import OnConflict, Program
from symbcast.core.rules import AttributeLike, Rule
from symbcast.core.shapes import Shape, ShapeLike, is_open, shape
from symbcast.errors import CallError, OperatorError, ShapeTypeError
from symbcast.operators.attributes import as_list, check_equation, positive, read_target, references, several
from symbcast.operators.operator import find_operator, operator_called
from symbcast.operators.products import read_signature
from symbcast.operators.reshaping import NO_ZERO

if TYPE_CHECKING:
    import sympy


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
        functions = cls.__new__(cls)
        functions._program = program
        return functions

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._of, (self._program.fork(),)

    def _operate(self, name: str, shapes: Sequence[ShapeLike], origin: str | None, **attributes: Any) -> Shape:
        """Record an operator and return its output."""
        program = self._program
        key = operation_key(name, attributes, shapes)
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


# Operators as methods of a program: each reads its arguments, and is recorded under its name.


Size: TypeAlias = "SupportsIndex | str | sympy.Expr"
"""An integer, or text or an expression over names."""
Axes: TypeAlias = "int | Iterable[int]"
PadMode: TypeAlias = Literal["constant", "reflect", "edge", "wrap"]
Ends: TypeAlias = "int | Iterable[int | tuple[int, int]]"
"""A number for both ends of every axis; or for each axis a number, or one before it and one after it."""


class ShapeFunctions(ProgramFunctions):
    """A program with shape functions.

    Each takes shapes as `symbcast.shape` reads them, records an operation under the caller's label ``origin``, and
    returns its output shape. Each raises `OperatorError` for ranks, axes and attributes that are wrong at all sizes,
    the errors of `symbcast.shape` for invalid shapes, and `IncompatibleProgramError` if no sizes allow the operation
    together with the earlier ones.
    """

    # Products.

    def matmul(self, left: ShapeLike, right: ShapeLike, *, origin: str | None = None) -> Shape:
        """Add a matrix product, as in `numpy.matmul`: ``(*batch, n, k)`` by ``(*batch, k, m)``.

        The inner sizes must be equal; the batch axes are broadcast. An operand with one axis is a vector.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.matmul("batch, T, d", "d, 64"), env.matmul("N, M", "K, P", origin="scores")
        (Shape('(batch, T, 64)'), Shape('(N, P)'))
        >>> env.condition
        Condition('M == K')
        """
        return self._operate("matmul", (left, right), origin)

    def einsum(self, equation: str, *shapes: ShapeLike, origin: str | None = None) -> Shape:
        """Add an Einstein summation, as in `numpy.einsum`: each letter is one size, to which 1 is broadcast.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv().einsum("bik,bkj->bij", "B, N, K", "B, K, M")
        Shape('(B, N, M)')
        """
        if equation.__class__ is not str or "->" not in equation or not shapes:
            check_equation(equation, shapes)
        return self._operate("einsum", shapes, origin, equation=equation)

    def gufunc(self, signature: str, *shapes: ShapeLike, origin: str | None = None) -> Shape | tuple[Shape, ...]:
        """Add a universal function of NumPy or `numba.guvectorize`, by its signature; several outputs are a tuple.

        Core axes of one name must be equal, those with a number must have that size, and 1 is not broadcast to them;
        the axes before them are broadcast. A core axis with ``?`` is left out where an operand has too few axes, as in
        NumPy. Raises `OperatorError` for a signature that NumPy refuses.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.gufunc("(m,n),(n,p)->(m,p)", "B, N, K", "L, 4"), env.gufunc("(n)->(),(n)", "B, N")
        (Shape('(B, N, 4)'), (Shape('(B,)'), Shape('(B, N)')))
        >>> env.condition
        Condition('K == L')
        """
        if not isinstance(signature, str):
            hint = f"write gufunc('(m,n),(n,p)->(m,p)', {', '.join(['...'] * (len(shapes) + 1))})"
            raise OperatorError("gufunc", "the signature comes first, as text", hint)
        count = len(read_signature(signature).outputs)
        outputs = self._operate_parts("gufunc", shapes, origin, count, signature=signature)
        return outputs if count > 1 else outputs[0]

    # Reductions.

    def reduce(
        self, data: ShapeLike, axes: Axes | None = None, keepdims: bool = False, *, origin: str | None = None
    ) -> Shape:
        """Add a sum or similar reduction over some axes, or all: they are removed, or become 1 with ``keepdims``.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv().reduce("N, T, d", axes=-1, keepdims=True)
        Shape('(N, T, 1)')
        """
        return self._operate("reduce", (data,), origin, axes=axes, keepdims=keepdims)

    # Operators that rearrange or repeat elements.

    def reshape(
        self, data: ShapeLike, target: Size | Iterable[Size], *, zero_copies: bool = False, origin: str | None = None
    ) -> Shape:
        """Add a reshape, which keeps the number of elements; one size of the target can be -1, and is inferred.

        If a size is -1, no other size may be 0, as in NumPy. With ``zero_copies``, a 0 in the target copies the data's
        size on that axis, as in ONNX.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.reshape("batch, T, 768", ("batch", "T", 12, -1)), env.reshape("N, T, d", (0, -1), zero_copies=True)
        (Shape('(batch, T, 12, 64)'), Shape('(N, T*d)'))
        >>> env.reshape("A, B", (-1, 6))
        Shape('(A*B//6, 6)')
        """
        sizes, inferred, zeros = read_target(target)
        if inferred and zeros and not zero_copies:
            raise OperatorError("reshape", NO_ZERO, "zero_copies=True lets a 0 copy the data's size")
        copied = zeros if zero_copies else ()
        return self._operate("reshape", (data, sizes), origin, inferred=inferred or None, copied=copied)

    def flatten(self, data: ShapeLike, start: int = 0, end: int = -1, *, origin: str | None = None) -> Shape:
        """Add a reshape that merges the axes from ``start`` to ``end``, both included.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv().flatten("N, C, H, W", start=1)
        Shape('(N, C*H*W)')
        """
        return self._operate("flatten", (data,), origin, start=start, end=end)

    def transpose(
        self, data: ShapeLike, order: Iterable[int | EllipsisType] | None = None, *, origin: str | None = None
    ) -> Shape:
        """Add a transpose to another order of the axes; reversed if none is given.

        An ellipsis in the order stands for all axes that it does not name: ``(..., -1, -2)`` exchanges the last two.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.transpose("N, T, heads, d", (0, 2, 1, 3)), env.transpose("*batch, n, m", (..., -1, -2))
        (Shape('(N, heads, T, d)'), Shape('(*batch, m, n)'))
        """
        return self._operate("transpose", (data,), origin, order=order)

    def squeeze(self, data: ShapeLike, axes: Axes | None = None, *, origin: str | None = None) -> Shape:
        """Add the removal of axes, which must be 1; without ``axes``, of all axes that are 1 at all sizes.

        Raises `OperatorError` if ``axes`` is omitted and the sizes decide which axes are 1.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.squeeze("N, K, 3", axes=1), env.condition
        (Shape('(N, 3)'), Condition('K == 1'))
        """
        return self._operate("squeeze", (data,), origin, axes=axes)

    def unsqueeze(self, data: ShapeLike, axes: Axes, *, origin: str | None = None) -> Shape:
        """Add axes of size 1, at positions in the output.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv().unsqueeze("N, M", (0, -1))
        Shape('(1, N, M, 1)')
        """
        return self._operate("unsqueeze", (data,), origin, axes=axes)

    def expand(self, data: ShapeLike, target: ShapeLike, *, origin: str | None = None) -> Shape:
        """Add a broadcast of the data to a target, as in `numpy.broadcast_to`: sizes must equal the target's or be 1.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.expand("N", "B, T"), env.condition
        (Shape('(B, T)'), Condition('N == 1 or N == T'))
        """
        return self._operate("expand", (data, target), origin)

    def tile(self, data: ShapeLike, repeats: ShapeLike, *, origin: str | None = None) -> Shape:
        """Add a repetition along each axis, as in `numpy.tile`; data and repeats are aligned at the right.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv().tile("N, 3", ("k", 2))
        Shape('(N*k, 6)')
        """
        if isinstance(repeats, int):
            raise OperatorError("tile", f"repeats={repeats} is not one number for each axis", f"write (1, {repeats})")
        return self._operate("tile", (data, repeats), origin)

    # Joins and splits.

    def concat(self, shapes: Iterable[ShapeLike], axis: int = 0, *, origin: str | None = None) -> Shape:
        """Add a concatenation along an axis; the other sizes must be equal.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.concat(["batch, past, d", "batch, T, d"], axis=1)
        Shape('(batch, T + past, d)')
        """
        return self._operate("concat", several("concat", shapes), origin, axis=axis)

    def stack(self, shapes: Iterable[ShapeLike], axis: int = 0, *, origin: str | None = None) -> Shape:
        """Add a concatenation along a new axis, of tensors of the same shape.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.stack(["N, 3", "N, M"], axis=-1), env.condition
        (Shape('(N, 3, 2)'), Condition('M == 3'))
        """
        return self._operate("stack", several("stack", shapes), origin, axis=axis)

    def split(
        self, data: ShapeLike, parts: int | str | Iterable[Size], axis: int = 0, *, origin: str | None = None
    ) -> tuple[Shape, ...]:
        """Add a split along an axis into a number of equal parts, or into parts of the given sizes.

        Each part is recorded as an operation; the first one requires that the parts add up to the size.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.split("N, 3*d", 3, axis=1), env.split("N", ("K", 2))
        ((Shape('(N, d)'), Shape('(N, d)'), Shape('(N, d)')), (Shape('(K,)'), Shape('(2,)')))
        >>> env.condition
        Condition('N == K + 2')
        """
        if not isinstance(parts, Iterable):
            count = positive("split", "parts", parts)
            return self._operate_parts("split", (data,), origin, count, axis=axis, count=count)
        written = parts if isinstance(parts, str) else tuple(parts)
        sizes = shape(written)
        if is_open(sizes):
            raise OperatorError("split", f"must know the number of parts, but {sizes} does not determine it")
        if not len(sizes):
            raise OperatorError("split", "must make at least one part")
        return self._operate_parts("split", (data, written), origin, len(sizes), axis=axis)

    # Parts.

    def slice(  # noqa: PLR0913 - its attributes are its own
        self,
        data: ShapeLike,
        starts: Size | Iterable[Size | None] | None,
        stops: Size | Iterable[Size | None] | None,
        axes: Axes | None = None,
        steps: Axes | None = None,
        *,
        origin: str | None = None,
    ) -> Shape:
        """Add a slice ``start:stop:step`` of the named axes, or of the first ones; positions are clamped as in Python.

        A position is an integer (counted from the end if negative), None for the nearest end, or a size: a text or
        sympy expression that must be at least 0 and is counted from the front.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.slice("N, 10", 2, -1, axes=1), env.slice("N, 10", [None, 0], ["k", 10], steps=[1, 3])
        (Shape('(N, 7)'), Shape('(min(N, k), 4)'))
        """
        sizes: list[Any] = []
        read = {"starts": references(as_list(starts), sizes), "stops": references(as_list(stops), sizes)}
        return self._operate("slice", (data, tuple(sizes)), origin, **read, axes=axes, steps=steps)

    def gather(self, data: ShapeLike, indices: ShapeLike, axis: int = 0, *, origin: str | None = None) -> Shape:
        """Add `numpy.take` along an axis, for a shape of indices; if there are indices, the axis must not be empty.

        Whether each index is within the axis depends on data, and is not required.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.gather("vocabulary, d", "batch, T"), env.condition
        (Shape('(batch, T, d)'), Condition('batch == 0 or T == 0 or vocabulary >= 1'))
        """
        if isinstance(indices, int):
            hint = (
                f"write gather(data, {axis!r}, axis={indices})" if isinstance(axis, str) else "write '' for one index"
            )
            raise OperatorError("gather", f"indices={indices} is not the shape of the indices", hint)
        return self._operate("gather", (data, indices), origin, axis=axis)

    def pad(self, data: ShapeLike, widths: Ends, mode: PadMode = "constant", *, origin: str | None = None) -> Shape:
        """Add elements at the ends of axes, or remove some if a width is negative.

        ``widths`` is one number for all ends, or for each axis a number or a pair: before and after it. Modes other
        than ``"constant"`` repeat elements, which must exist: for ``"reflect"``, an axis must have more elements than
        are added at either end.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.pad("N, T", [0, (1, 2)], "reflect"), env.condition
        (Shape('(N, T + 3)'), Condition('T >= 3'))
        """
        return self._operate("pad", (data,), origin, widths=widths, mode=mode)

    # Windows.

    def conv(  # noqa: PLR0913 - its attributes are its own
        self,
        data: ShapeLike,
        weights: ShapeLike,
        *,
        bias: ShapeLike | None = None,
        strides: Axes = 1,
        padding: Ends | Literal["same", "valid"] = 0,
        dilations: Axes = 1,
        groups: int = 1,
        origin: str | None = None,
    ) -> Shape:
        """Add a convolution of data (N, C, ...) with weights (M, C / groups, ...) and an optional bias (M,).

        The window, gaps included, must fit into the padded axes. ``"same"`` pads so that the sizes stay the same,
        except for the strides.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv(assume=["H >= 1", "W >= 1"])
        >>> env.conv("N, 3, H, W", "64, 3, 7, 7", strides=2, padding=3)
        Shape('(N, 64, (H + 1)//2, (W + 1)//2)')
        """
        operands = (data, weights) if bias is None else (data, weights, bias)
        attributes = {"strides": strides, "padding": padding, "dilations": dilations, "groups": groups}
        return self._operate("conv", operands, origin, **attributes)

    def conv_transpose(  # noqa: PLR0913 - its attributes are its own
        self,
        data: ShapeLike,
        weights: ShapeLike,
        *,
        bias: ShapeLike | None = None,
        strides: Axes = 1,
        padding: Ends | Literal["valid"] = 0,
        dilations: Axes = 1,
        groups: int = 1,
        output_padding: Axes = 0,
        origin: str | None = None,
    ) -> Shape:
        """Add a transposed convolution of data (N, C, ...), weights (C, M / groups, ...), and an optional bias (M,).

        Neither the axes to slide along nor the output axes may be empty.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv(min_size=1).conv_transpose("N, 64, H, W", "64, 32, 2, 2", strides=2)
        Shape('(N, 32, 2*H, 2*W)')
        """
        operands = (data, weights) if bias is None else (data, weights, bias)
        attributes = {"strides": strides, "padding": padding, "dilations": dilations, "groups": groups}
        return self._operate("conv_transpose", operands, origin, **attributes, output_padding=output_padding)

    def pool(  # noqa: PLR0913 - its attributes are its own
        self,
        data: ShapeLike,
        kernel: ShapeLike | int,
        *,
        strides: Axes = 1,
        padding: Ends | Literal["same", "valid"] = 0,
        dilations: Axes = 1,
        ceil_mode: bool = False,
        origin: str | None = None,
    ) -> Shape:
        """Add a pool of data (N, C, ...); ``kernel`` has one size for each axis to slide along, or one for all.

        The window must fit into the padded axes at least once. With ``ceil_mode`` the last window may extend past the
        padding, but must start before the padding at the end.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.pool("N, C, H, 7", (2, 2), strides=2), env.condition
        (Shape('(N, C, H//2, 3)'), Condition('H >= 2'))
        """
        if isinstance(kernel, int):
            data = shape(data)
            if is_open(data):
                hint = f"write ({kernel}, {kernel}) for an image"
                raise OperatorError("pool", f"kernel={kernel} is not one size for each axis to slide along", hint)
            kernel = (kernel,) * max(0, data.rank - 2)
        attributes = {"strides": strides, "padding": padding, "dilations": dilations, "ceil_mode": ceil_mode}
        return self._operate("pool", (data, kernel), origin, **attributes)
