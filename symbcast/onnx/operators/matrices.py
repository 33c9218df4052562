"""Matrix products, and Einsum."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import zip_longest
from typing import TYPE_CHECKING

from symbcast.formulas import FALSE, Formula, all_of, any_of, at_most, different, equal
from symbcast.onnx.call import Call
from symbcast.onnx.knowing.values import Dims, Value
from symbcast.onnx.registry import operator

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim

_INNER = "the last size of the one matrix must equal the last but one of the other"


def matrix_product(call: Call, left: Dims, right: Dims) -> Dims:
    """Return the shape of a product of matrices, as ``numpy.matmul`` has it: batch axes are broadcast together."""
    if not left or not right:
        call.refuse("a matrix product needs operands of one axis or more")
    a = (1, *left) if len(left) == 1 else left
    b = (*right, 1) if len(right) == 1 else right
    call.equal(a[-1], b[-2], _INNER)
    if len(right) == 1 and len(left) > 1:
        _refuse_no_rows(call, left[:-1])
        return left[:-1]
    batch = _batch(call, a, b)
    rows = () if len(left) == 1 else (a[-2],)
    return (*batch, *rows, *right[1:][-1:])


def _batch(call: Call, left: Dims, right: Dims) -> Dims:
    """Return the batch axes of a product, broadcast; of none where both operands are matrices."""
    a, b = left[:-2], right[:-2]
    if not call.is_onnxruntime or a == b:
        return call.broadcast(a, b) if a or b else ()
    if len(a) < len(b):
        return _strictly_broadcast(call, a, b)
    something = at_most(1, left[-1])
    is_summed = call.asker.is_known(something)
    if is_summed is False or not b:
        return a
    with call.asker.under(something) if is_summed is None else nullcontext():
        batch = _strictly_broadcast(call, a, b)
    if is_summed:
        return batch
    name, text = f"{call.place.name}_batch", "an axis of the batch, by whether what is summed over is empty"
    kept = zip(a, batch, strict=True)
    return tuple(x if x == y else call.asker.by_cases(name, text, something, y, x) for x, y in kept)


def _strictly_broadcast(call: Call, left: Dims, right: Dims) -> Dims:
    """Return batch axes broadcast as ONNX Runtime does it (seen with 1.31): a 1 is not stretched to 0.

    Where all axes of the right operand are 1, and the left one has as many, it does not look at them. Where what is
    summed over is empty it does not either: the batch is then that of the left operand.
    """
    batch = call.broadcast(left, right)
    is_unlooked = all_of(equal(d, 1) for d in right) if len(left) >= len(right) else FALSE
    for a, b in zip_longest(reversed(left), reversed(right), fillvalue=1):
        _refuse_one_beside_none(call, a, b, FALSE)
        _refuse_one_beside_none(call, b, a, is_unlooked)
    return batch


def _refuse_one_beside_none(call: Call, one: Dim, none: Dim, unless: Formula) -> None:
    if not call.bounds.is_at_least(none, 1):
        call.require(any_of([different(one, 1), different(none, 0), unless]), "a batch of 1 beside one of 0")


def _refuse_no_rows(call: Call, rows: Dims) -> None:
    """Refuse matrices without rows beside a vector: ONNX Runtime takes their rows for a batch."""
    for size in rows:
        if call.is_onnxruntime and not call.bounds.is_at_least(size, 1):
            call.require(different(size, 0), "an empty matrix is not multiplied by a vector")


@operator("MatMul")
def matmul(call: Call) -> Value:
    """A product of matrices, batch axes broadcast."""
    return Value(matrix_product(call, call.shape(0), call.shape(1)), call.dtype() or call.dtype(1))


@operator("Gemm")
def gemm(call: Call) -> Value:
    """A product of two matrices, and a third one broadcast onto it, one way."""
    return Value(gemm_product(call, 0, 1, 2), call.dtype() or call.dtype(1))


def gemm_product(call: Call, left: int, right: int, bias: int) -> Dims:
    """Return the shape of a product of two matrices, each transposed if an attribute says so; a bias fits it."""
    a, b = call.rank(left, (2,), "A"), call.rank(right, (2,), "B")
    rows, inner = a[::-1] if call.integer("transA") else a
    same, columns = b[::-1] if call.integer("transB") else b
    call.equal(inner, same, "the inner sizes of A and B must be equal")
    shape = (rows, columns)
    if call.has(bias):
        is_legacy = call.node.op_type == "Gemm" and call.version < 7
        is_equal = is_legacy and not call.integer("broadcast")
        call.broadcast(call.shape(bias), shape, rule="none" if is_equal else "unidirectional")
    return shape


@operator("Det")
def determinant(call: Call) -> Value:
    """The last two axes are square, and go."""
    dims = call.shape(0)
    if len(dims) < 2:
        call.refuse("the input must have two axes or more")
    call.equal(dims[-1], dims[-2], "the last two sizes must be equal")
    return Value(dims[:-2], call.dtype())


@operator("Einsum")
def einsum(call: Call) -> Value:
    """Each letter is one size; letters that the output leaves out are summed over, ``...`` is broadcast."""
    inputs, output = _terms(call)
    sizes: dict[str, Dim] = {}
    batches: list[Dims] = []
    for letters, dims in zip(inputs, (call.shape(n) for n in range(len(call.inputs))), strict=True):
        before, ellipsis, after = letters.partition("...")
        free = len(dims) - len(before) - len(after)
        if free < 0 or (free > 0 and not ellipsis):
            call.refuse(f"the term {letters!r} must have one letter for each of {len(dims)} axes")
        named = [*zip(before, dims, strict=False), *zip(after, dims[len(before) + free :], strict=True)]
        for letter, size in _one_of_each(call, named).items():
            _meet(call, sizes, letter, size)
        if ellipsis:
            batches.append(dims[len(before) : len(before) + free])
    batch: Dims = ()
    if len({len(b) for b in batches}) > 1:
        call.refuse("an ellipsis must stand for as many axes in each term")
    if batches:
        batch = call.broadcast(*batches) if len(batches) > 1 else batches[0]
    if output is None:
        once = sorted(c for c in sizes if sum(term.count(c) for term in inputs) == 1)
        return Value((*batch, *(sizes[c] for c in once)), call.dtype())
    before, ellipsis, after = output.partition("...")
    if any(c not in sizes for c in before + after):
        call.refuse("the output may only have letters that an input has")
    middle = batch if ellipsis else ()
    return Value((*(sizes[c] for c in before), *middle, *(sizes[c] for c in after)), call.dtype())


def _terms(call: Call) -> tuple[Sequence[str], str | None]:
    equation = call.text("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(call.inputs):
        call.refuse(f"the equation has {len(terms)} terms for {len(call.inputs)} operands")
    return terms, right if arrow else None


def _one_of_each(call: Call, named: Sequence[tuple[str, Dim]]) -> dict[str, Dim]:
    """Return the size of each letter of one term; one that stands there twice, for a diagonal, has one size."""
    found: dict[str, Dim] = {}
    for letter, size in named:
        call.equal(
            found.setdefault(letter, size), size, f"axes of one term that are both called {letter} must be equal"
        )
    return found


def _meet(call: Call, sizes: dict[str, Dim], letter: str, size: Dim) -> None:
    """Take in the size of a letter: one size throughout, where 1 is broadcast, as ONNX Runtime and numpy have it."""
    known = sizes.get(letter)
    if known is None:
        sizes[letter] = size
    elif known != size:
        (sizes[letter],) = call.broadcast((known,), (size,))
