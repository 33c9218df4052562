"""Matrix products, Einstein summation, signatures of universal functions, and reductions.

Shape functions, and the operators that programs record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from symbcast.core.algebra.formulas import Formula, any_of, at_most
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.placement import sequence_place
from symbcast.core.structs import NamedTuple
from symbcast.errors import OperatorError
from symbcast.operators.attributes import AxesOrAll, Text, Truth
from symbcast.operators.operator import TWICE, Context, Dims, operator
from symbcast.operators.reach import ANY, Reach, reach_of


def _matrices(shapes: Sequence[Dims]) -> list[Reach | None]:
    """The last two axes; only the last of the left operand if the right one is one matrix or a vector.

    In that case the rows of the left operand are kept, like the axes before them.
    """
    both, right = Reach(last=2, is_written=True), shapes[1]
    return [Reach(last=1) if len(right) <= 2 and sequence_place(right) is None else both, both]


@operator("matmul", operands=("A", "B"), reach=_matrices)
def matmul(context: Context, left: Dims, right: Dims) -> Dims:
    """Return the shape of a product of stacks of matrices, as in ``numpy.matmul``.

    The last size of ``left`` must equal the second to last of ``right``; the axes before the last two are broadcast. A
    vector is a row on the left or a column on the right, and its axis is removed from the output.
    """
    context.refuse_if(not left or not right, "a matrix product needs operands of one axis or more")
    a = (1, *left) if len(left) == 1 else left
    b = (*right, 1) if len(right) == 1 else right
    inner_product(context, a[-1], b[-2])
    if len(right) == 1 and len(left) > 1:
        # The right vector is one column: there is no batch to broadcast.
        return left[:-1]
    stack = context.broadcast(a[:-2], b[:-2]) if len(a) > 2 or len(b) > 2 else ()
    rows = () if len(left) == 1 else (a[-2],)
    return (*stack, *rows, *right[1:][-1:])


def inner_product(context: Context, left: Dim, right: Dim) -> None:
    """Require that the sizes summed over be equal."""
    context.equal(left, right, "the last size of one matrix must equal the second to last of the other")


def matrix_product(context: Context, left: Dims, right: Dims, *, flip_left: bool, flip_right: bool) -> Dims:
    """Return the shape of a product of two matrices, each transposed first if its flag is set."""
    rows, inner = left[::-1] if flip_left else left
    same, columns = right[::-1] if flip_right else right
    context.equal(inner, same, "the inner sizes of A and B must be equal")
    return rows, columns


# Einstein summation over letters.


def einsum(context: Context, equation: str, shapes: Sequence[Dims], *, aligns_ellipses: bool = False) -> Dims:
    """Return the shape of ``einsum(equation, ...)``.

    Each letter is one size, to which 1 is broadcast; letters that the output omits are summed over. The axes of ``...``
    are broadcast; each term must have the same number of them. With ``aligns_ellipses`` they are aligned at the right
    instead, and an explicit output must have them too, as in NumPy.
    """
    terms, output = _terms(context, equation, len(shapes))
    sizes: dict[str, Dim] = {}
    batches: list[Dims] = []
    for letters, dims in zip(terms, shapes, strict=True):
        before, ellipsis, after = letters.partition("...")
        free = len(dims) - len(before) - len(after)
        if free < 0 or (free > 0 and not ellipsis):
            context.refuse(f"the term {letters!r} must have one letter for each of {len(dims)} axes")
        named = [*zip(before, dims, strict=False), *zip(after, dims[len(before) + free :], strict=True)]
        for letter, size in _one_of_each(context, named).items():
            _meet(context, sizes, letter, size)
        if ellipsis:
            batches.append(dims[len(before) : len(before) + free])
    batch = _batch(context, batches, aligns_ellipses)
    if output is None:
        once = sorted(c for c in sizes if sum(term.count(c) for term in terms) == 1)
        return (*batch, *(sizes[c] for c in once))
    before, ellipsis, after = output.partition("...")
    new = [c for c in before + after if c not in sizes]
    if new:
        context.refuse(f"the output can only have letters that an input has, but {new[0]!r} is in none")
    if aligns_ellipses and batch and not ellipsis:
        context.refuse("the output must have an ellipsis if that of an input stands for any axes")
    middle = batch if ellipsis else ()
    return (*(sizes[c] for c in before), *middle, *(sizes[c] for c in after))


def _terms(context: Context, equation: str, count: int) -> tuple[Sequence[str], str | None]:
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    many = "" if count == 1 else "s"
    problem = f"the equation has {len(terms)} terms for {count} shape{many}; give one shape for each term"
    context.refuse_if(len(terms) != count, problem)
    return terms, right if arrow else None


def _batch(context: Context, batches: Sequence[Dims], aligns_ellipses: bool) -> Dims:
    if not aligns_ellipses and len({len(b) for b in batches}) > 1:
        context.refuse("an ellipsis must stand for the same number of axes in each term")
    if len(batches) < 2:
        return batches[0] if batches else ()
    return context.broadcast(*batches)


def _one_of_each(context: Context, named: Sequence[tuple[str, Dim]]) -> dict[str, Dim]:
    """Return the size of each letter of one term; a letter that occurs twice, for a diagonal, has one size."""
    sizes: dict[str, Dim] = {}
    for letter, size in named:
        reason = f"axes of one term that are both called {letter} must be equal"
        context.equal(sizes.setdefault(letter, size), size, reason)
    return sizes


def _meet(context: Context, sizes: dict[str, Dim], letter: str, size: Dim) -> None:
    """Record the size of a letter: one size everywhere, to which 1 is broadcast, as in ONNX Runtime and NumPy."""
    known = sizes.get(letter)
    if known is None:
        sizes[letter] = size
    elif known != size:
        (sizes[letter],) = context.broadcast((known,), (size,))


# Generalised universal functions: NumPy's, and those of `numba.guvectorize`.


class CoreAxis(NamedTuple):
    """A core axis of a signature: its name or fixed size, and whether all operands may lack it (``?``)."""

    name: str
    may_be_missing: bool = False

    @property
    def size(self) -> int | None:
        """The fixed size, None for a name."""
        return int(self.name) if self.name.isdecimal() else None


class Signature(NamedTuple):
    """The core axes of each operand and of each output of a universal function, at the end of their shapes."""

    inputs: tuple[tuple[CoreAxis, ...], ...]
    outputs: tuple[tuple[CoreAxis, ...], ...]


_CORE_AXIS = r"(?:[A-Za-z_][A-Za-z0-9_]*|[0-9]{1,18})\??"
_CORE = rf"\(\s*(?:{_CORE_AXIS}\s*(?:,\s*{_CORE_AXIS}\s*)*)?\)"
_CORES = rf"\s*{_CORE}\s*(?:,\s*{_CORE}\s*)*"


def read_signature(text: str) -> Signature:
    """Return a signature such as ``(m,n),(n,p)->(m,p)``.

    Raises `OperatorError` for a text that NumPy refuses, and for outputs with a size that no operand has.

    >>> read_signature("(n?),(3)->()").inputs
    ((CoreAxis(name='n', may_be_missing=True),), (CoreAxis(name='3', may_be_missing=False),))
    """
    if re.fullmatch(f"{_CORES}->{_CORES}", text, re.ASCII) is None:
        hint = "write it as NumPy does: '(m,n),(n,p)->(m,p)'"
        raise OperatorError("gufunc", f"{text!r} is not a signature", hint)
    inputs, outputs = map(_core_axes, text.split("->"))
    optional = {axis.name: axis.may_be_missing for core in inputs for axis in core}
    for axis in (axis for core in (*inputs, *outputs) for axis in core):
        if axis.size == 0:
            raise OperatorError("gufunc", "a fixed size must be at least 1")
        if optional.setdefault(axis.name, axis.may_be_missing) is not axis.may_be_missing:
            raise OperatorError("gufunc", f"{axis.name} must have a '?' everywhere or nowhere")
    named = {axis.name for core in inputs for axis in core}
    for axis in (axis for core in outputs for axis in core):
        if axis.size is None and axis.name not in named:
            raise OperatorError("gufunc", f"the output has a size {axis.name} that no operand has")
    return Signature(inputs, outputs)


def _core_axes(text: str) -> tuple[tuple[CoreAxis, ...], ...]:
    cores = re.findall(r"\(([^)]*)\)", text)
    return tuple(
        tuple(CoreAxis(a.rstrip("?"), a.endswith("?")) for a in map(str.strip, core.split(",")) if a) for core in cores
    )


def _missing(context: Context, signature: Signature, ranks: Sequence[int]) -> set[str]:
    """Return the optional core axes that are missing, in NumPy's order: each is then missing in all operands."""
    missing: set[str] = set()
    for number, (core, rank) in enumerate(zip(signature.inputs, ranks, strict=True)):
        for axis in core if rank < _count(core, missing) else ():
            if axis.may_be_missing and axis.name not in missing:
                missing.add(axis.name)
                # NumPy stops only here: a name that occurs twice may leave too few axes, and then more are left out.
                if rank == _count(core, missing):
                    break
        least = _count(core, missing)
        context.refuse_if(rank < least, f"operand {number} must have rank {least} or more for its core axes")
    return missing


def _count(core: Sequence[CoreAxis], missing: set[str]) -> int:
    return sum(axis.name not in missing for axis in core)


def _cores(shapes: Sequence[Dims], signature: str) -> list[Reach | None]:
    """The core axes; if some may be missing, they must be written, as their number depends on the rank."""
    inputs = read_signature(signature).inputs
    if len(inputs) != len(shapes):
        return [ANY] * len(shapes)
    is_written = any(axis.may_be_missing for core in inputs for axis in core)
    return [Reach(last=len(core), is_written=is_written and bool(core)) for core in inputs]


@operator("gufunc", reach=_cores, has_parts=True)
def gufunc_operator(context: Context, shapes: Sequence[Dims], signature: Text = "") -> list[Dims]:
    """A generalised universal function of NumPy or numba, by its signature."""
    read = read_signature(signature)
    count = len(read.inputs)
    context.refuse_if(len(shapes) != count, f"the signature has {count} operands, not {len(shapes)}")
    missing = _missing(context, read, list(map(len, shapes)))
    sizes: dict[str, Dim] = {}
    loops: list[Dims] = []
    for core, dims in zip(read.inputs, shapes, strict=True):
        start = len(dims) - _count(core, missing)
        loops.append(dims[:start])
        for axis, size in zip((a for a in core if a.name not in missing), dims[start:], strict=True):
            _core_size(context, sizes, axis, size)
    for core in read.inputs:
        for axis in core:
            # NumPy counts a missing axis as one of size 1.
            is_wrong = axis.name in missing and axis.size not in (None, 1)
            context.refuse_if(is_wrong, f"the axis of size {axis.name} is missing")
    stack = context.broadcast(*loops) if len(loops) > 1 else loops[0]
    return [
        (*stack, *(sizes[a.name] if a.size is None else a.size for a in core if a.name not in missing))
        for core in read.outputs
    ]


def _core_size(context: Context, sizes: dict[str, Dim], axis: CoreAxis, size: Dim) -> None:
    """Require that a core axis have the size that its name has elsewhere; 1 is not broadcast to it."""
    if axis.size is not None:
        context.equal(size, axis.size, f"the core axis must have size {axis.name}")
    else:
        known = sizes.setdefault(axis.name, size)
        context.equal(known, size, f"core axes that are called {axis.name} must be equal")


# Reductions: axes become size 1 or are removed.


def reduce(context: Context, dims: Dims, axes: Iterable[int] | None, *, keepdims: bool) -> Dims:
    """Return the shape after a reduction of some axes, or of all if none are named; an axis can be named twice."""
    places = range(len(dims)) if axes is None else {context.axis(a, len(dims)) for a in axes}
    return tuple(1 if n in places else d for n, d in enumerate(dims) if keepdims or n not in places)


def search(context: Context, dims: Dims, axis: int, *, keepdims: bool, unless: Iterable[Formula] = ()) -> Dims:
    """Return the shape of ``argmax`` along an axis, which must not be empty, ``unless`` a given formula holds."""
    place = context.axis(axis, len(dims))
    if not context.bounds.is_at_least(dims[place], 1):
        context.require(any_of([at_most(1, dims[place]), *unless]), "the axis to search must not be empty")
    return reduce(context, dims, [place], keepdims=keepdims)


# The operators of programs that do not take the shape functions as they are.


def _letters(shapes: Sequence[Dims], equation: str) -> list[Reach | None]:
    """The letters; all axes if there is no ellipsis, or if the output has none."""
    terms, arrow, output = equation.replace(" ", "").partition("->")
    is_kept = not arrow or "..." in output
    reaches: list[Reach | None] = []
    for letters in terms.split(","):
        before, ellipsis, after = letters.partition("...")
        of_all = Reach(rank=len(before) + len(after))
        reaches.append(Reach(len(before), len(after)) if ellipsis and is_kept else of_all)
    return reaches if len(reaches) == len(shapes) else [ANY] * len(shapes)


@operator("einsum", reach=_letters)
def einsum_operator(context: Context, shapes: Sequence[Dims], equation: Text = "") -> Dims:
    """`numpy.einsum` with the equation in letters."""
    terms, _, output = equation.replace(" ", "").partition("->")
    for term in (*terms.split(","), output):
        letters = term.replace("...", "", 1)
        if letters and not (letters.isascii() and letters.isalpha()):
            context.refuse(f"the term {term!r} must consist of letters, and '...' at most once")
    if len(set(output.replace(".", ""))) < len(output.replace(".", "")):
        context.refuse("each letter can occur only once in the output")
    return einsum(context, equation, shapes, aligns_ellipses=True)


def _reduced(_: Sequence[Dims], axes: Sequence[int] | None, keepdims: bool) -> list[Reach | None]:
    """The reduced axes; none if all are reduced and removed."""
    if axes is None:
        return [None if keepdims else ANY]
    return [reach_of(axes)]


@operator("reduce", reach=_reduced)
def reduce_operator(context: Context, data: Dims, axes: AxesOrAll = None, keepdims: Truth = False) -> Dims:
    """`numpy.sum` and similar reductions."""
    places = None if axes is None else context.distinct_axes(axes, len(data), TWICE)
    return reduce(context, data, places, keepdims=keepdims)
