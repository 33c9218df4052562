"""What a list of sizes means at one node: which of its entries follow a free axis of the node's data.

Each function yields proposals, the smallest change first. What they state holds at the old sizes by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, islice, product
from math import prod
from operator import add, mul
from typing import Any, Protocol, TypeAlias

from symbcast.core.algebra.arithmetic import floor_divide, multiply, subtract
from symbcast.core.algebra.bounds import exact_quotient, numbers_of
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.structs import NamedTuple
from symbcast.graphs.graph import Node
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INTEGERS, sizes_of
from symbcast.operators.values.value import Value

_TO_THE_END = (1 << 63) - 1
# The first operator set in which Slice takes its positions as inputs.
_LISTED_SLICES = 10
# The operators that take indices apart or put them together.
COUNTING = ("Mul", "Div", "Mod")
# The smallest window that is taken for a whole image.
_WINDOW = 3
# How many ways to divide a product are tried, and how long a size may be, as text.
_CHOICES, _LONGEST = 2048, 200


class Proposal(NamedTuple):
    """Other lists of sizes for some inputs of a node; None leaves an input out.

    With ``op_type``, another operator takes the node's first input and these lists. ``others`` are such operators for
    the other outputs.
    """

    inputs: Mapping[int, Dims | None]
    why: str
    op_type: str = ""
    attributes: Mapping[str, Any] = {}
    others: Sequence[Proposal] = ()


class OldSizes(Protocol):
    """What is known about sizes in the model as it was exported."""

    def is_free(self, dim: Dim) -> bool: ...
    def old(self, dim: Dim) -> int | None: ...
    def sizes_with(self, number: int) -> Sequence[Dim]: ...
    def factors(self, dim: Dim) -> Sequence[Dim]: ...
    @property
    def version(self) -> int: ...


class Outputs(Protocol):
    """A node computed for trial."""

    @property
    def outputs(self) -> tuple[Value | None, ...]: ...
    @property
    def required(self) -> tuple[object, ...]: ...


Local: TypeAlias = "Callable[[OldSizes, Node, Sequence[Value | None], Outputs], Iterator[Proposal]]"


def local_proposals(
    sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs
) -> Iterator[Proposal]:
    """Yield the proposals for the lists of sizes that a node takes."""
    propose = LOCAL.get(node.op_type) if not node.domain else None
    if propose is not None and inputs and inputs[0] is not None and inputs[0].shape is not None:
        with suppress(ArithmeticError):  # numbers of elements that differ: another node fails before
            yield from propose(sizes, node, inputs, original)


def _dims(inputs: Sequence[Value | None], position: int) -> Dims | None:
    """Return the sizes that an input holds; None if they are not known."""
    value = inputs[position] if position < len(inputs) else None
    return None if value is None else sizes_of(value.content, value.shape)


def _numbers(sizes: OldSizes, inputs: Sequence[Value | None], position: int) -> tuple[int, ...] | None:
    """Return the numbers that an input held in the model; None if they are not known."""
    dims = _dims(inputs, position)
    numbers = [n for n in map(sizes.old, dims or ()) if n is not None]
    return tuple(numbers) if dims is not None and len(numbers) == len(dims) else None


# Reshape.


def _reshape(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    wanted, data = _numbers(sizes, inputs, 1), inputs[0].shape  # type: ignore[union-attr]
    assert data is not None
    known = _known(sizes, data)
    if wanted is None or known is None or not any(map(sizes.is_free, data)):
        return
    listed = _dims(inputs, 1) or ()
    if any(map(sizes.is_free, listed)) and not original.required:
        return  # the model computes the list from sizes
    keeps_zeros = bool(node.attributes.get("allowzero", 0))
    target = _resolved(wanted, known, keeps_zeros)
    result = () if target is None else tuple(reshaped_axes(sizes, data, target))
    made = original.outputs[0]
    if target is not None:
        yield from _moved(sizes, data, target, result)
    if not result or (made is not None and made.shape == result and not original.required):
        return
    if any(sizes.is_free(d) and d != r for d, r in zip(listed, result, strict=True)):
        return
    why = f"{size_list(data)} becomes {size_list(result)}"
    hidden = [d for d in data if sizes.is_free(d) and d not in result and sizes.old(d) in result]
    why += f"; a {sizes.old(hidden[0])} in it may stand for {hidden[0]}" if hidden else ""
    yield Proposal({1: _written(wanted, data, result, keeps_zeros)}, why)


def _moved(sizes: OldSizes, data: Dims, target: Sequence[int], result: Dims) -> Iterator[Proposal]:
    """Yield a Transpose for a Reshape that moved an axis of size 1, which is free now and would be joined to others."""
    parts = tuple(part for d in data for part in sizes.factors(d))
    known = _known(sizes, parts) or ()
    for axis, size in enumerate(parts if len(target) == len(known) else ()):
        if known[axis] == 1 and sizes.is_free(size) and size not in result:
            rest = [n for n in range(len(parts)) if n != axis]
            for place in range(len(target)):
                order = (*rest[:place], axis, *rest[place:])
                if [known[n] for n in order] == list(target):
                    why = f"it moved the axis of {size} only, which was 1"
                    yield Proposal({} if parts == data else {1: parts}, why, "Transpose", {"perm": order})


def _known(sizes: OldSizes, data: Dims) -> list[int] | None:
    """Return the numbers of a shape in the model; None if one is not known, or 0."""
    numbers = [sizes.old(d) for d in data]
    known = [n for n in numbers if n]
    return known if len(known) == len(numbers) else None


def _resolved(wanted: Sequence[int], data: Sequence[int], keeps_zeros: bool) -> tuple[int, ...] | None:
    """Return the numbers that a Reshape gives its output at the old sizes."""
    if not keeps_zeros and any(w == 0 and n >= len(data) for n, w in enumerate(wanted)):
        return None
    numbers = [data[n] if w == 0 and not keeps_zeros else w for n, w in enumerate(wanted)]
    rest = prod(n for n in numbers if n != -1)
    if rest == 0 or prod(data) % rest:
        return None
    return tuple(prod(data) // rest if n == -1 else n for n in numbers)


def reshaped_axes(sizes: OldSizes, data: Dims, target: Sequence[int]) -> Iterator[Dim]:
    """Yield the axes of a reshaped tensor, from runs of axes with equal products at the old sizes.

    The elements keep their order, so the first axes of both sides with equal products hold the same elements, and so
    do the next ones. A run that depends on a free size is divided among the target's axes.
    """
    parts = tuple(part for d in data for part in sizes.factors(d))
    before = _known(sizes, parts)
    if before is None or max((len(str(d)) for d in data), default=0) > _LONGEST:
        raise ArithmeticError
    for start, end, first, last in _runs(before, target):
        yield from _divided(sizes, parts[start:end], target[first:last])


def factor_runs(sizes: OldSizes, data: Dims, result: Dims) -> Iterator[tuple[Dim, tuple[Dim, ...]]]:
    """Yield the axes of a reshaped tensor that join several axes of the data, with these, in their order."""
    parts = tuple(part for d in data for part in sizes.factors(d))
    before, after = _known(sizes, parts), _known(sizes, result)
    with suppress(ArithmeticError):
        for start, end, first, last in _runs(before, after) if before is not None and after is not None else ():
            run = tuple(d for d in parts[start:end] if d != 1)
            for size in result[first:last]:
                if len(run) > 1 and multiply(1, *run) == size:
                    yield size, run


def _runs(before: Sequence[int], target: Sequence[int]) -> Iterator[tuple[int, int, int, int]]:
    """Yield runs of axes on both sides whose products are equal."""
    i = j = 0
    while j < len(target):
        start, first = i, j
        left, right = (before[i] if i < len(before) else 1), target[j]
        i, j = min(i + 1, len(before)), j + 1
        while left != right:
            if left < right and i < len(before):
                left, i = left * before[i], i + 1
            elif left > right and j < len(target):
                right, j = right * target[j], j + 1
            else:
                raise ArithmeticError
        # An axis of size 1 joins the axis before it, if the target has none for it, and joins no others after it.
        while i < len(before) and before[i] == 1 and (j == len(target) or target[j] != 1):
            if j < len(target) and target[j] not in accumulate(before[i + 1 :], mul):
                break
            i += 1
        # An axis of size 1 of the target may be that of a size in this run.
        while j < len(target) and target[j] == 1 and (i == len(before) or before[i] != 1):
            j += 1
        yield start, i, first, j


def _divided(sizes: OldSizes, parts: Sequence[Dim], target: Sequence[int]) -> Sequence[Dim]:
    """Divide a product among axes: in its order, or the first axis that can takes all growth, or by sizes met before.

    If none divides exactly, the first axis takes the quotient, which must be whole where the model runs.
    """
    whole = multiply(1, *parts)
    if not sizes.is_free(whole):
        return target
    ordered = _in_order(sizes, parts, target)
    if ordered:
        return ordered
    for taken, others in ((n, prod(target) // target[n]) for n in range(len(target))):
        quotient = exact_quotient((whole,), (others,))
        if quotient is not None:
            return (*target[:taken], quotient, *target[taken + 1 :])
    factored = _factored(sizes, whole, target)
    if factored is not None:
        return factored
    if len(symbols_of((whole,))) > 1:
        raise ArithmeticError
    return (floor_divide(whole, prod(target[1:])), *target[1:])


def _in_order(sizes: OldSizes, parts: Sequence[Dim], target: Sequence[int]) -> list[Dim]:
    """Return the axes that join a product's factors in their order; an empty list if one would have to be divided."""
    left, axes = list(parts), list[Dim]()
    for size in target:
        joined = list[Dim]()
        number = 1
        while left and (number < size or (size == 1 and not joined and sizes.old(left[0]) == 1)):
            joined.append(left.pop(0))
            number *= sizes.old(joined[-1]) or 0
        if number != size or (not joined and any(sizes.is_free(p) and not isinstance(p, Symbol) for p in parts)):
            return []  # an axis of size 1 may be a size within a part
        axes.append(multiply(1, *joined))
    return [*axes[:-1], multiply(axes[-1], *left)]


def _factored(sizes: OldSizes, whole: Dim, target: Sequence[int]) -> tuple[Dim, ...] | None:
    """Return sizes with the target's numbers whose product is ``whole``: free sizes, numbers, or others met before."""
    options: list[tuple[Dim, ...]] = []
    for number in target:
        met = [d for d in sizes.sizes_with(number) if d != whole]
        plain = [d for d in met if isinstance(d, Symbol)]
        options.append((*plain, number, *(d for d in met if not isinstance(d, Symbol))))
    choices = islice(product(*options), _CHOICES)
    return next((chosen for chosen in choices if multiply(1, *chosen) == whole), None)


def _written(wanted: Sequence[int], data: Dims, result: Dims, keeps_zeros: bool) -> Dims:
    """Return the list of a Reshape: 0 for an axis of the data, -1 for one other size, else sizes to compute."""
    dims: list[Dim] = [
        0 if not isinstance(d, int) and not keeps_zeros and n < len(data) and data[n] == d else d
        for n, d in enumerate(result)
    ]
    open_ = [n for n, d in enumerate(dims) if not isinstance(d, int)]
    if open_:
        inferred = next((n for n in open_ if wanted[n] == -1), max(open_, key=lambda n: (len(str(dims[n])), -n)))
        dims[inferred] = -1
    elif -1 in wanted and isinstance(dims[wanted.index(-1)], int) and dims[wanted.index(-1)] != 0:
        dims[wanted.index(-1)] = -1
    return tuple(dims)


# Other operators.


def _expand(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    wanted, data = _dims(inputs, 1), inputs[0].shape  # type: ignore[union-attr]
    assert data is not None
    if wanted is None:
        return
    lead = len(wanted) - len(data)
    pairs = [(w, data[n - lead] if n >= lead else 1) for n, w in enumerate(wanted)]
    dims = tuple(1 if sizes.is_free(d) and sizes.old(d) == w else w for w, d in pairs)
    if dims != wanted:
        yield Proposal({1: dims}, "1 keeps the size of the data")


def _slice(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    """Positions near the end of a free axis are counted from its end; an end at the old size is the end of the axis."""
    data, is_listed = inputs[0].shape or (), len(inputs) > 1  # type: ignore[union-attr]
    starts, ends = (
        _dims(inputs, n) if is_listed else tuple(node.attributes.get(name) or ())
        for n, name in ((1, "starts"), (2, "ends"))
    )
    if starts is None or ends is None:
        return
    axes = (_numbers(sizes, inputs, 3) if is_listed else node.attributes.get("axes")) or tuple(range(len(starts)))
    steps = _numbers(sizes, inputs, 4) or (1,) * len(starts)
    new: list[tuple[Dim, Dim]] = []
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size = data[axis] if -len(data) <= axis < len(data) else 0
        is_whole = sizes.is_free(size) and step >= 1 and sizes.old(size) is not None
        new.append((_start(sizes, start, size), _end(sizes, end, size)) if is_whole else (start, end))
    lists: dict[int, Dims] = {1: tuple(s for s, _ in new), 2: tuple(e for _, e in new)}
    changed = {n: dims for n, dims in lists.items() if dims != (starts, ends)[n - 1]}
    why = "a position near the end of an axis is counted from its end"
    if changed and is_listed:
        yield Proposal(changed, why)
    elif changed and all(isinstance(d, int) for dims in lists.values() for d in dims):
        yield Proposal({}, why, "Slice", {"starts": lists[1], "ends": lists[2], "axes": [*axes]})


def _start(sizes: OldSizes, start: Dim, size: Dim) -> Dim:
    """Return a start that is counted from the end, if it is nearer to that, and the rest is no size by itself."""
    old = sizes.old(size) or 0
    is_late = isinstance(start, int) and old / 2 < start < old and not isinstance(subtract(size, start), Symbol)
    return subtract(start, old) if is_late else start


def _end(sizes: OldSizes, end: Dim, size: Dim) -> Dim:
    old = sizes.old(size) or 0
    if not isinstance(end, int) or end >= _TO_THE_END >> 33:
        return end
    if end >= old:
        return _TO_THE_END
    met = [d for d in sizes.sizes_with(end) if _same_symbols(d, size)] if 1 < end < old - 1 else []
    return met[0] if met else end - old if old / 2 < end else end


def _split(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    """Equal parts stay equal, and else the largest part takes what the others leave; an attribute becomes slices."""
    data, attribute = inputs[0].shape or (), node.attributes.get("split")  # type: ignore[union-attr]
    lengths, axis = attribute or numbers_of(_dims(inputs, 1)), int(node.attributes.get("axis", 0))
    if not lengths or not -len(data) <= axis < len(data):
        return
    whole = data[axis]
    if not sizes.is_free(whole) or sizes.old(whole) != sum(lengths) or not original.required:
        return
    if len(set(lengths)) == 1 and attribute:
        yield Proposal({}, "equal parts stay equal", "Split", {"axis": axis})
    elif len(set(lengths)) == 1:
        yield Proposal({1: (floor_divide(whole, len(lengths)),) * len(lengths)}, "equal parts stay equal")
    why = "one part takes what the others leave, if these are the same at all sizes"
    for n in sorted(range(len(lengths)), key=lambda n: -lengths[n]):
        rest = subtract(whole, sum(lengths) - lengths[n])
        parts = (*lengths[:n], rest, *lengths[n + 1 :])
        if not attribute:
            yield Proposal({1: parts}, why)
        elif sizes.version >= _LISTED_SLICES:
            ends = [*accumulate(parts, add)]
            slices = zip((0, *ends), ends, strict=False)
            first, *others = (Proposal({1: (a,), 2: (b,), 3: (axis,)}, why, "Slice") for a, b in slices)
            yield first._replace(others=others)


def _pool(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    """A window as large as the whole image, without padding, takes the whole image; one of 2 x 2 may be any."""
    data, window = inputs[0].shape or (), node.attributes.get("kernel_shape", ())  # type: ignore[union-attr]
    images = data[2:]
    is_padded = any(node.attributes.get("pads") or ()) or node.attributes.get("auto_pad", b"NOTSET") != b"NOTSET"
    is_whole = [*map(sizes.old, images)] == [*window] and not is_padded and min(window) >= _WINDOW
    if is_whole and any(map(sizes.is_free, images)):
        yield Proposal({}, "the window is the whole image", f"Global{node.op_type}")


def _top_k(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    count, data = _dims(inputs, 1), inputs[0].shape  # type: ignore[union-attr]
    assert data is not None
    axis = int(node.attributes.get("axis", -1))
    if count and -len(data) <= axis < len(data) and sizes.is_free(data[axis]) and count == (sizes.old(data[axis]),):
        yield Proposal({1: (data[axis],)}, "all elements of the axis")


def _gather(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    """Indices that take every element of a free axis in order only reshape it; the last index becomes -1."""
    places, data = _numbers(sizes, inputs, 1), inputs[0].shape  # type: ignore[union-attr]
    assert data is not None
    axis = int(node.attributes.get("axis", 0))
    if not places or not -len(data) <= axis < len(data) or not sizes.is_free(data[axis]):
        return
    old, layout = sizes.old(data[axis]), inputs[1].shape  # type: ignore[union-attr]
    if places == tuple(range(old or 0))[::-1] and layout == (old,) and old != 1 and sizes.version >= _LISTED_SLICES:
        lists = {1: (-1,), 2: (-_TO_THE_END,), 3: (axis,), 4: (-1,)}
        yield Proposal(lists, "the indices take every element in reversed order", "Slice")
    elif layout and places == tuple(range(old or 0)):
        yield from _as_reshape(sizes, data, (*data[:axis], *layout, *data[axis % len(data) + 1 :]))
    elif old is not None and len(places) == 1 and 0 < places[0] == old - 1 and _dims(inputs, 1) == places:
        yield Proposal({1: (-1,)}, "the last element of the axis")


def _gather_nd(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    """Indices that take every element of the first axes in order only reshape these axes."""
    places, data = _numbers(sizes, inputs, 1), inputs[0].shape  # type: ignore[union-attr]
    layout = inputs[1].shape if inputs[1] is not None else None
    assert data is not None
    if not places or not layout or node.attributes.get("batch_dims", 0) or not isinstance(layout[-1], int):
        return
    known = _known(sizes, data[: layout[-1]])
    if known and any(map(sizes.is_free, data[: len(known)])):
        every = tuple(n for index in product(*map(range, known)) for n in index)
        if places == every:
            yield from _as_reshape(sizes, data, (*layout[:-1], *data[len(known) :]))


def _as_reshape(sizes: OldSizes, data: Dims, target: Dims) -> Iterator[Proposal]:
    known, numbers = _known(sizes, data), _known(sizes, target)
    if known is not None and numbers is not None:
        result = tuple(reshaped_axes(sizes, data, numbers))
        why = "the indices take every element in order, so the data is only reshaped"
        yield Proposal({1: _written(numbers, data, result, False)}, why, "Reshape")


def _resize(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    wanted, data = _dims(inputs, 3), inputs[0].shape  # type: ignore[union-attr]
    assert data is not None
    axes = node.attributes.get("axes") or list(range(len(data)))
    if wanted is None or len(wanted) != len(axes):
        return
    dims = tuple(_resized(sizes, data[axis], w) for axis, w in zip(axes, wanted, strict=True))
    if dims != wanted:
        yield Proposal({3: dims}, "sizes that follow those of the data")


def _resized(sizes: OldSizes, data: Dim, wanted: Dim) -> Dim:
    """Return the size of a resized axis: that of the data, one that was met before, or a multiple of the data's."""
    old = sizes.old(data) if sizes.is_free(data) else None
    if not old or not isinstance(wanted, int):
        return wanted
    if old == wanted:
        return data
    own = [d for d in sizes.sizes_with(wanted) if _same_symbols(d, data)]
    if own:
        return own[0]
    return multiply(data, wanted // old) if wanted % old == 0 else wanted


def _same_symbols(one: Dim, other: Dim) -> bool:
    return not isinstance(one, int) and not isinstance(other, int) and one.symbols().keys() == other.symbols().keys()


def _lengths(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    lengths, data = numbers_of(_dims(inputs, 4)), inputs[0].shape  # type: ignore[union-attr]
    assert data is not None
    axis = 1 if node.attributes.get("layout", 0) else 0
    if lengths and len(data) == 3 and set(lengths) == {sizes.old(data[axis])}:
        yield Proposal({4: None}, "all sequences have the whole length")


def _counting(sizes: OldSizes, node: Node, inputs: Sequence[Value | None], original: Outputs) -> Iterator[Proposal]:
    """A whole number beside indices that is a free size of the model: rows are counted by it."""
    for position, other in ((1, 0), (0, 1)):
        number, indices = _dims(inputs, position), inputs[other]
        is_counted = indices is not None and indices.dtype in INTEGERS and _dims(inputs, other) is None
        if number is not None and is_counted and len(number) == 1 and isinstance(number[0], int) and number[0] > 1:
            sizes_there = [d for d in sizes.sizes_with(number[0]) if not isinstance(d, int)]
            if sizes_there:
                yield Proposal({position: (sizes_there[0],)}, "indices are counted by it")


LOCAL: Mapping[str, Local] = {
    **dict.fromkeys(COUNTING, _counting),
    "Reshape": _reshape,
    "Expand": _expand,
    "Slice": _slice,
    "Split": _split,
    "TopK": _top_k,
    **dict.fromkeys(("AveragePool", "MaxPool"), _pool),
    "Gather": _gather,
    "GatherND": _gather_nd,
    "Resize": _resize,
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _lengths),
}


def size_list(dims: Sequence[Dim]) -> str:
    """Return sizes as text, in brackets."""
    return f"[{', '.join(map(str, dims))}]"
