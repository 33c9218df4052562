"""Random small modules, an operator each, with dynamic sizes: for reports to be held against StableHLO's own answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

Sizes = tuple[int | None, ...]
"""The sizes of a tensor; None for dynamic ones."""


def kind(sizes: Iterable[int | None], element: str = "f32") -> str:
    written = ("?" if s is None else str(s) for s in sizes)
    return f"tensor<{'x'.join((*written, element))}>"


def array(numbers: Iterable[int], element: str = "i64") -> str:
    listed = ", ".join(str(n).lower() for n in numbers)
    return f"array<{element}: {listed}>" if listed else f"array<{element}>"


class Module(NamedTuple):
    """A module, and the sizes of the arguments of its ``main``."""

    operator: str
    text: str
    arguments: tuple[Sizes, ...]


class Writer:
    """Writes the body of a module with one operator; the arguments get sizes that are known or dynamic at random."""

    def __init__(self, seed: object) -> None:
        self.draw = random.Random(str(seed))
        self.lines: list[str] = []
        self.arguments: list[tuple[Sizes, str]] = []
        self._made = 0

    def sizes(self, rank: int, known: float = 0.25) -> Sizes:
        return tuple(self.draw.randint(0, 4) if self.draw.random() < known else None for _ in range(rank))

    def argument(self, rank: int, element: str = "f32", known: float = 0.25) -> str:
        """Return a new argument; its type is `type_of` it."""
        self.arguments.append((self.sizes(rank, known), element))
        return f"%arg{len(self.arguments) - 1}"

    def type_of(self, name: str) -> str:
        return kind(*self.arguments[int(name[4:])])

    def line(self, text: str) -> str:
        """Write an operation with one result, and return the result's name."""
        self._made += 1
        self.lines.append(f"%v{self._made} = {text}")
        return f"%v{self._made}"

    def constant(self, numbers: Sequence[int], element: str = "i32") -> str:
        return self.line(f"stablehlo.constant dense<{list(numbers)}> : tensor<{len(numbers)}x{element}>")

    def size_of(self, argument: str, axis: int) -> str:
        """Return the size of an argument on an axis, changed by a small number at times, as ``tensor<1xi32>``."""
        found = self.line(
            f'"stablehlo.get_dimension_size"({argument}) {{dimension = {axis} : i64}} : ({self.type_of(argument)}) -> tensor<i32>'
        )
        if self.draw.random() < 0.4:
            other = self.line(f"stablehlo.constant dense<{self.draw.choice((-1, 1, 2, 3))}> : tensor<i32>")
            operator = self.draw.choice(("add", "multiply", "divide", "maximum", "minimum", "subtract"))
            found = self.line(f"stablehlo.{operator} {found}, {other} : tensor<i32>")
        return self.line(f"stablehlo.reshape {found} : (tensor<i32>) -> tensor<1xi32>")

    def numbers(self, count: int, lowest: int = 0, highest: int = 4) -> str:
        """Return integers, as ``tensor<countxi32>``: numbers, and sizes of arguments."""
        parts = []
        for _ in range(count):
            ranked = [n for n, (sizes, _) in enumerate(self.arguments) if sizes]
            if ranked and self.draw.random() < 0.6:
                number = self.draw.choice(ranked)
                parts.append(self.size_of(f"%arg{number}", self.draw.randrange(len(self.arguments[number][0]))))
            else:
                parts.append(self.constant([self.draw.randint(lowest, highest)]))
        if count == 0:
            return self.line("stablehlo.constant dense<> : tensor<0xi32>")
        if count == 1:
            return parts[0]
        kinds = ", ".join(["tensor<1xi32>"] * count)
        return self.line(f"stablehlo.concatenate {', '.join(parts)}, dim = 0 : ({kinds}) -> tensor<{count}xi32>")

    def op(self, name: str, operands: Sequence[str], kinds: Sequence[str], attributes: str, result: str, regions: str = "") -> str:
        """Write an operator in generic form."""
        return self.line(f'"{name}"({", ".join(operands)}) {regions} {{{attributes}}} : ({", ".join(kinds)}) -> {result}')

    def module(self, operator: str, results: Sequence[tuple[str, str]]) -> Module:
        taken = ", ".join(f"%arg{n}: {kind(*a)}" for n, a in enumerate(self.arguments))
        kinds = ", ".join(k for _, k in results)
        body = "\n  ".join(self.lines)
        text = f"func.func @main({taken}) -> ({kinds}) {{\n  {body}\n  return {', '.join(n for n, _ in results)} : {kinds}\n}}\n"
        return Module(operator, text, tuple(sizes for sizes, _ in self.arguments))


Results = list[tuple[str, str]]
Maker = Callable[[Writer], Results]


def opened(rank: int, element: str = "f32") -> str:
    return kind([None] * rank, element)


def reducer(operation: str = "add", element: str = "f32", pairs: int = 1) -> str:
    scalar = f"tensor<{element}>"
    taken = ", ".join(f"%{side}{n}: {scalar}" for side in "xy" for n in range(pairs))
    lines = " ".join(f"%r{n} = stablehlo.{operation} %x{n}, %y{n} : {scalar}" for n in range(pairs))
    made, kinds = ", ".join(f"%r{n}" for n in range(pairs)), ", ".join([scalar] * pairs)
    return f"({{ ^bb0({taken}): {lines} stablehlo.return {made} : {kinds} }})"


def elementwise(w: Writer) -> Results:
    rank = w.draw.randint(0, 3)
    x, y = w.argument(rank), w.argument(rank)
    made = w.op("stablehlo.add", [x, y], [w.type_of(x), w.type_of(y)], "", opened(rank))
    return [(made, opened(rank))]


def select(w: Writer) -> Results:
    rank = w.draw.randint(0, 2)
    which = w.argument(w.draw.choice((0, rank)), "i1")
    x, y = w.argument(rank), w.argument(rank)
    made = w.op("stablehlo.select", [which, x, y], [w.type_of(v) for v in (which, x, y)], "", opened(rank))
    return [(made, opened(rank))]


def clamp(w: Writer) -> Results:
    rank = w.draw.randint(0, 2)
    taken = [w.argument(w.draw.choice((0, rank))), w.argument(rank), w.argument(w.draw.choice((0, rank)))]
    return [(w.op("stablehlo.clamp", taken, [w.type_of(v) for v in taken], "", opened(rank)), opened(rank))]


def compare(w: Writer) -> Results:
    rank = w.draw.randint(0, 2)
    x, y = w.argument(rank), w.argument(rank)
    attribute = "comparison_direction = #stablehlo<comparison_direction LT>"
    made = w.op("stablehlo.compare", [x, y], [w.type_of(x), w.type_of(y)], attribute, opened(rank, "i1"))
    return [(made, opened(rank, "i1"))]


def broadcast_in_dim(w: Writer) -> Results:
    rank = w.draw.randint(0, 2)
    wanted = [w.draw.randint(0, 4) for _ in range(rank + w.draw.randint(0, 2))]
    dims = w.draw.sample(range(len(wanted)), rank)
    x, result = w.argument(rank), kind(wanted)
    attributes = f"broadcast_dimensions = {array(dims)}"
    return [(w.op("stablehlo.broadcast_in_dim", [x], [w.type_of(x)], attributes, result), result)]


def dynamic_broadcast_in_dim(w: Writer) -> Results:
    rank = w.draw.randint(0, 2)
    wanted = rank + w.draw.randint(0, 2)
    x, _ = w.argument(rank), w.argument(w.draw.randint(1, 2))
    shape = w.numbers(wanted)
    dims = w.draw.sample(range(wanted), rank)
    kinds = [w.type_of(x), f"tensor<{wanted}xi32>"]
    made = w.op("stablehlo.dynamic_broadcast_in_dim", [x, shape], kinds, f"broadcast_dimensions = {array(dims)}", opened(wanted))
    return [(made, opened(wanted))]


def broadcast(w: Writer) -> Results:
    x, added = w.argument(w.draw.randint(0, 2)), [w.draw.randint(0, 3) for _ in range(w.draw.randint(0, 2))]
    result = opened(len(added) + w.type_of(x).count("x"))
    return [(w.op("stablehlo.broadcast", [x], [w.type_of(x)], f"broadcast_sizes = {array(added)}", result), result)]


def reshape(w: Writer) -> Results:
    x = w.argument(w.draw.randint(0, 3))
    result = kind([w.draw.choice((0, 1, 2, 3, 4, 6)) for _ in range(w.draw.randint(0, 3))])
    return [(w.op("stablehlo.reshape", [x], [w.type_of(x)], "", result), result)]


def dynamic_reshape(w: Writer) -> Results:
    x, rank = w.argument(w.draw.randint(1, 3)), w.draw.randint(1, 3)
    shape = w.numbers(rank)
    made = w.op("stablehlo.dynamic_reshape", [x, shape], [w.type_of(x), f"tensor<{rank}xi32>"], "", opened(rank))
    return [(made, opened(rank))]


def transpose(w: Writer) -> Results:
    rank = w.draw.randint(0, 3)
    x, order = w.argument(rank), w.draw.sample(range(rank), rank)
    made = w.op("stablehlo.transpose", [x], [w.type_of(x)], f"permutation = {array(order)}", opened(rank))
    return [(made, opened(rank))]


def concatenate(w: Writer) -> Results:
    rank = w.draw.randint(1, 3)
    taken = [w.argument(rank) for _ in range(w.draw.randint(1, 3))]
    axis = f"dimension = {w.draw.randrange(rank)} : i64"
    return [(w.op("stablehlo.concatenate", taken, [w.type_of(t) for t in taken], axis, opened(rank)), opened(rank))]


def slice_(w: Writer) -> Results:
    rank = w.draw.randint(0, 2)
    x = w.argument(rank)
    starts = [w.draw.randint(0, 3) for _ in range(rank)]
    limits = [s + w.draw.randint(0, 3) for s in starts]
    steps = [w.draw.randint(1, 3) for _ in range(rank)]
    attributes = f"start_indices = {array(starts)}, limit_indices = {array(limits)}, strides = {array(steps)}"
    return [(w.op("stablehlo.slice", [x], [w.type_of(x)], attributes, opened(rank)), opened(rank))]


def real_dynamic_slice(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x = w.argument(rank)
    taken = [x, w.numbers(rank, 0, 2), w.numbers(rank, 0, 4), w.constant([w.draw.randint(1, 3) for _ in range(rank)])]
    made = w.op("stablehlo.real_dynamic_slice", taken, [w.type_of(x), *[f"tensor<{rank}xi32>"] * 3], "", opened(rank))
    return [(made, opened(rank))]


def dynamic_slice(w: Writer) -> Results:
    rank = w.draw.randint(0, 2)
    x = w.argument(rank)
    starts = [w.argument(0, "i32") for _ in range(rank)]
    sizes = [w.draw.randint(0, 4) for _ in range(rank)]
    kinds = [w.type_of(x), *["tensor<i32>"] * rank]
    made = w.op("stablehlo.dynamic_slice", [x, *starts], kinds, f"slice_sizes = {array(sizes)}", opened(rank))
    return [(made, opened(rank))]


def dynamic_update_slice(w: Writer) -> Results:
    rank = w.draw.randint(0, 2)
    x, y = w.argument(rank), w.argument(rank)
    starts = [w.argument(0, "i32") for _ in range(rank)]
    kinds = [w.type_of(x), w.type_of(y), *["tensor<i32>"] * rank]
    return [(w.op("stablehlo.dynamic_update_slice", [x, y, *starts], kinds, "", opened(rank)), opened(rank))]


def pad(w: Writer) -> Results:
    rank = w.draw.randint(0, 2)
    x, value = w.argument(rank), w.argument(0)
    low, high = ([w.draw.randint(-2, 2) for _ in range(rank)] for _ in range(2))
    inner = [w.draw.randint(0, 2) for _ in range(rank)]
    attributes = f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, interior_padding = {array(inner)}"
    return [(w.op("stablehlo.pad", [x, value], [w.type_of(x), "tensor<f32>"], attributes, opened(rank)), opened(rank))]


def dynamic_pad(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x, value = w.argument(rank), w.argument(0)
    taken = [x, value, w.numbers(rank, -2, 2), w.numbers(rank, -2, 2), w.numbers(rank, 0, 2)]
    kinds = [w.type_of(x), "tensor<f32>", *[f"tensor<{rank}xi32>"] * 3]
    return [(w.op("stablehlo.dynamic_pad", taken, kinds, "", opened(rank)), opened(rank))]


def dynamic_iota(w: Writer) -> Results:
    w.argument(w.draw.randint(1, 2))
    rank = w.draw.randint(1, 3)
    axis = f"iota_dimension = {w.draw.randrange(rank)} : i64"
    made = w.op("stablehlo.dynamic_iota", [w.numbers(rank)], [f"tensor<{rank}xi32>"], axis, opened(rank))
    return [(made, opened(rank))]


def reduce(w: Writer) -> Results:
    rank, inputs = w.draw.randint(0, 3), w.draw.randint(1, 2)
    dims = sorted(w.draw.sample(range(rank), w.draw.randint(0, rank)))
    taken = [w.argument(rank) for _ in range(inputs)]
    starts = [w.argument(0) for _ in range(inputs)]
    kinds = [w.type_of(t) for t in (*taken, *starts)]
    left = opened(rank - len(dims))
    return several(w, "stablehlo.reduce", [*taken, *starts], kinds, f"dimensions = {array(dims)}", [left] * inputs, reducer(pairs=inputs))


def several(
    w: Writer, name: str, operands: Sequence[str], kinds: Sequence[str], attributes: str, results: Sequence[str], regions: str = ""
) -> Results:
    """Write an operator with several results."""
    if len(results) == 1:
        return [(w.op(name, operands, kinds, attributes, results[0], regions), results[0])]
    made = w.op(name, operands, kinds, attributes, f"({', '.join(results)})", regions)
    w.lines[-1] = w.lines[-1].replace(f"{made} =", f"{made}:{len(results)} =", 1)
    return [(f"{made}#{n}", k) for n, k in enumerate(results)]


def reduce_window(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x, start = w.argument(rank), w.argument(0)
    window, step, base, dilation = ([w.draw.randint(1, m) for _ in range(rank)] for m in (4, 3, 2, 2))
    padding = [[w.draw.randint(-1, 2), w.draw.randint(-1, 2)] for _ in range(rank)]
    attributes = f"window_dimensions = {array(window)}, window_strides = {array(step)}, base_dilations = {array(base)}, "
    attributes += f"window_dilations = {array(dilation)}, padding = dense<{padding}> : tensor<{rank}x2xi64>"
    kinds = [w.type_of(x), "tensor<f32>"]
    return [(w.op("stablehlo.reduce_window", [x, start], kinds, attributes, opened(rank), reducer("maximum")), opened(rank))]


def select_and_scatter(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x, source, start = w.argument(rank), w.argument(rank), w.argument(0)
    window, step = ([w.draw.randint(1, 3) for _ in range(rank)] for _ in range(2))
    padding = [[w.draw.randint(0, 1), w.draw.randint(0, 1)] for _ in range(rank)]
    attributes = f"window_dimensions = {array(window)}, window_strides = {array(step)}, padding = dense<{padding}> : tensor<{rank}x2xi64>"
    chosen = "%r = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1>"
    regions = f"({{ ^bb0(%x: tensor<f32>, %y: tensor<f32>): {chosen} }}, {reducer()[1:-1]})"
    kinds = [w.type_of(x), w.type_of(source), "tensor<f32>"]
    return [(w.op("stablehlo.select_and_scatter", [x, source, start], kinds, attributes, opened(rank), regions), opened(rank))]


def dot_general(w: Writer) -> Results:
    batch, contracted = w.draw.randint(0, 1), w.draw.randint(0, 2)
    ranks = [batch + contracted + w.draw.randint(0, 1) for _ in range(2)]
    x, y = w.argument(ranks[0]), w.argument(ranks[1])
    picked = [w.draw.sample(range(rank), batch + contracted) for rank in ranks]
    names = ("lhs", "rhs")
    parts = [f"{n}_batching_dimensions = {p[:batch]}" for n, p in zip(names, picked, strict=True)]
    parts += [f"{n}_contracting_dimensions = {p[batch:]}" for n, p in zip(names, picked, strict=True)]
    result = opened(sum(ranks) - batch - 2 * contracted)
    attributes = f"dot_dimension_numbers = #stablehlo.dot<{', '.join(parts)}>"
    return [(w.op("stablehlo.dot_general", [x, y], [w.type_of(x), w.type_of(y)], attributes, result), result)]


def dot(w: Writer) -> Results:
    ranks = w.draw.randint(1, 2), w.draw.randint(1, 2)
    x, y = w.argument(ranks[0]), w.argument(ranks[1])
    result = opened(sum(ranks) - 2)
    return [(w.op("stablehlo.dot", [x, y], [w.type_of(x), w.type_of(y)], "", result), result)]


def _convolution_attributes(w: Writer, spatial: int, padded: bool) -> str:
    groups = w.draw.choice(((1, 1), (1, 1), (2, 1), (1, 2), (3, 1)))
    layouts = []
    for letters in ("bf", "io", "bf"):
        places = [*letters, *map(str, range(spatial))]
        w.draw.shuffle(places)
        layouts.append(f"[{', '.join(places)}]")
    numbers = f"{layouts[0]}x{layouts[1]}->{layouts[2]}"
    step, base, dilation = ([w.draw.randint(1, m) for _ in range(spatial)] for m in (3, 2, 2))
    padding = [[w.draw.randint(-1, 2), w.draw.randint(-1, 2)] for _ in range(spatial)]
    attributes = f"dimension_numbers = #stablehlo.conv<{numbers}>, feature_group_count = {groups[0]} : i64, "
    attributes += f"batch_group_count = {groups[1]} : i64, window_strides = {array(step)}, lhs_dilation = {array(base)}, "
    attributes += f"rhs_dilation = {array(dilation)}"
    return attributes + (f", padding = dense<{padding}> : tensor<{spatial}x2xi64>" if padded else "")


def convolution(w: Writer) -> Results:
    spatial = w.draw.randint(1, 2)
    x, y = w.argument(spatial + 2, known=0.4), w.argument(spatial + 2, known=0.4)
    attributes, result = _convolution_attributes(w, spatial, True), opened(spatial + 2)
    return [(w.op("stablehlo.convolution", [x, y], [w.type_of(x), w.type_of(y)], attributes, result), result)]


def dynamic_conv(w: Writer) -> Results:
    spatial = w.draw.randint(1, 2)
    x, y = w.argument(spatial + 2, known=0.4), w.argument(spatial + 2, known=0.4)
    attributes, result = _convolution_attributes(w, spatial, False), opened(spatial + 2)
    flat = w.numbers(2 * spatial, -1, 2)
    padding = w.line(f"stablehlo.reshape {flat} : (tensor<{2 * spatial}xi32>) -> tensor<{spatial}x2xi32>")
    kinds = [w.type_of(x), w.type_of(y), f"tensor<{spatial}x2xi32>"]
    return [(w.op("stablehlo.dynamic_conv", [x, y, padding], kinds, attributes, result), result)]


def _gather_parts(w: Writer) -> tuple[int, int, int, str, int, list[int]]:
    """Return the ranks of operand and indices, the dimension numbers, the result's rank, and the slice's sizes."""
    rank, batch = w.draw.randint(1, 3), w.draw.randint(0, 2)
    indexed = w.draw.randint(0, min(rank, 2))
    start_map = w.draw.sample(range(rank), indexed)
    vector = w.draw.randint(0, batch)
    collapsed = sorted(w.draw.sample(range(rank), w.draw.randint(0, min(rank, 2))))
    offsets = rank - len(collapsed)
    places = sorted(w.draw.sample(range(batch + offsets), offsets))
    numbers = f"offset_dims = {places}, collapsed_slice_dims = {collapsed}, start_index_map = {start_map}, index_vector_dim = {vector}"
    sizes = [w.draw.randint(0, 1) if n in collapsed else w.draw.randint(0, 3) for n in range(rank)]
    return rank, batch, vector, numbers, batch + offsets, sizes


def _indices(w: Writer, batch: int, vector: int, numbers: str) -> str:
    """Return indices with as many elements in each vector as the dimension numbers say, mostly."""
    mapped = numbers.split("start_index_map = [")[1].split("]")[0]
    count = len(mapped.split(",")) if mapped else 0
    found = w.argument(batch + 1, "i32", known=0.2)
    sizes = list(w.arguments[-1][0])
    sizes[vector] = w.draw.choice((count, count, None))
    w.arguments[-1] = (tuple(sizes), "i32")
    return found


def gather(w: Writer) -> Results:
    rank, batch, vector, numbers, result, sizes = _gather_parts(w)
    x, indices = w.argument(rank), _indices(w, batch, vector, numbers)
    attributes = f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = {array(sizes)}"
    kinds = [w.type_of(x), w.type_of(indices)]
    return [(w.op("stablehlo.gather", [x, indices], kinds, attributes, opened(result)), opened(result))]


def dynamic_gather(w: Writer) -> Results:
    rank, batch, vector, numbers, result, sizes = _gather_parts(w)
    x, indices = w.argument(rank), _indices(w, batch, vector, numbers)
    wanted = w.constant(sizes) if w.draw.random() < 0.4 else w.numbers(rank, 0, 2)
    kinds = [w.type_of(x), w.type_of(indices), f"tensor<{rank}xi32>"]
    attributes = f"dimension_numbers = #stablehlo.gather<{numbers}>"
    return [(w.op("stablehlo.dynamic_gather", [x, indices, wanted], kinds, attributes, opened(result)), opened(result))]


def scatter(w: Writer) -> Results:
    rank, batch, vector, numbers, result, _ = _gather_parts(w)
    x, indices = w.argument(rank), _indices(w, batch, vector, numbers)
    updates = w.argument(result)
    renamed = numbers.replace("offset_dims", "update_window_dims").replace("collapsed_slice_dims", "inserted_window_dims")
    renamed = renamed.replace("start_index_map", "scatter_dims_to_operand_dims")
    attributes = f"scatter_dimension_numbers = #stablehlo.scatter<{renamed}>"
    kinds = [w.type_of(v) for v in (x, indices, updates)]
    return [(w.op("stablehlo.scatter", [x, indices, updates], kinds, attributes, opened(rank), reducer()), opened(rank))]


def sort(w: Writer) -> Results:
    rank, inputs = w.draw.randint(1, 2), w.draw.randint(1, 2)
    taken = [w.argument(rank) for _ in range(inputs)]
    pairs = ", ".join(f"%a{n}: tensor<f32>, %b{n}: tensor<f32>" for n in range(inputs))
    before = "%r = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1>"
    attributes = f"dimension = {w.draw.randint(-rank, rank - 1)} : i64, is_stable = true"
    kinds = [w.type_of(t) for t in taken]
    return several(w, "stablehlo.sort", taken, kinds, attributes, [opened(rank)] * inputs, f"({{ ^bb0({pairs}): {before} }})")


def map_(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    taken = [w.argument(rank) for _ in range(2)]
    attributes = f"dimensions = {array(range(rank))}"
    return [(w.op("stablehlo.map", taken, [w.type_of(t) for t in taken], attributes, opened(rank), reducer()), opened(rank))]


def while_(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x, n = w.argument(rank), w.argument(0, "i32")
    inner = opened(rank) if w.draw.random() < 0.6 else kind(w.sizes(rank, 0.7))
    state, kinds = f"%n: tensor<i32>, %x: {inner}", f"tensor<i32>, {inner}"
    test = f"({{ ^bb0({state}): %t = stablehlo.compare LT, %n, %n : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %t : tensor<i1> }}, "
    body = f"{{ ^bb0({state}): %y = stablehlo.add %x, %x : {inner} stablehlo.return %n, %y : {kinds} }})"
    found = several(w, "stablehlo.while", [n, x], ["tensor<i32>", w.type_of(x)], "", ["tensor<i32>", opened(rank)], test + body)
    return found[1:]


def if_(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    which, x, y = w.argument(0, "i1"), w.argument(rank), w.argument(rank)
    if w.draw.random() < 0.5:
        x = y
    branches = ", ".join(f"{{ stablehlo.return {v} : {w.type_of(v)} }}" for v in (x, y))
    return [(w.op("stablehlo.if", [which], ["tensor<i1>"], "", opened(rank), f"({branches})"), opened(rank))]


def reverse(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x, dims = w.argument(rank), [w.draw.randrange(rank)]
    return [(w.op("stablehlo.reverse", [x], [w.type_of(x)], f"dimensions = {array(dims)}", opened(rank)), opened(rank))]


def batch_norm_inference(w: Writer) -> Results:
    rank = w.draw.randint(1, 3)
    taken = [w.argument(rank), *(w.argument(1) for _ in range(4))]
    attributes = f"epsilon = 1.0e-3 : f32, feature_index = {w.draw.randrange(rank)} : i64"
    made = w.op("stablehlo.batch_norm_inference", taken, [w.type_of(t) for t in taken], attributes, opened(rank))
    return [(made, opened(rank))]


def batch_norm_training(w: Writer) -> Results:
    rank = w.draw.randint(1, 3)
    taken = [w.argument(rank), w.argument(1), w.argument(1)]
    attributes = f"epsilon = 1.0e-3 : f32, feature_index = {w.draw.randrange(rank)} : i64"
    results = [opened(rank), opened(1), opened(1)]
    return several(w, "stablehlo.batch_norm_training", taken, [w.type_of(t) for t in taken], attributes, results)


def batch_norm_grad(w: Writer) -> Results:
    rank = w.draw.randint(1, 3)
    taken = [w.argument(rank), *(w.argument(1) for _ in range(3)), w.argument(rank)]
    attributes = f"epsilon = 1.0e-3 : f32, feature_index = {w.draw.randrange(rank)} : i64"
    results = [opened(rank), opened(1), opened(1)]
    return several(w, "stablehlo.batch_norm_grad", taken, [w.type_of(t) for t in taken], attributes, results)


def fft(w: Writer) -> Results:
    rank = w.draw.randint(1, 3)
    form = w.draw.choice(("FFT", "IFFT", "RFFT", "IRFFT"))
    lengths = [w.draw.randint(1, 4) for _ in range(w.draw.randint(1, rank))]
    before, after = ("f32" if form == "RFFT" else "complex<f32>"), ("f32" if form == "IRFFT" else "complex<f32>")
    x, result = w.argument(rank, before), opened(rank, after)
    attributes = f"fft_type = #stablehlo<fft_type {form}>, fft_length = {array(lengths)}"
    return [(w.op("stablehlo.fft", [x], [w.type_of(x)], attributes, result), result)]


def cholesky(w: Writer) -> Results:
    rank = w.draw.randint(2, 3)
    x = w.argument(rank)
    return [(w.op("stablehlo.cholesky", [x], [w.type_of(x)], "lower = true", opened(rank)), opened(rank))]


def triangular_solve(w: Writer) -> Results:
    rank = w.draw.randint(2, 3)
    x, y = w.argument(rank), w.argument(rank)
    attributes = f"left_side = {str(w.draw.random() < 0.5).lower()}, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>"
    attributes += ", unit_diagonal = false"
    made = w.op("stablehlo.triangular_solve", [x, y], [w.type_of(x), w.type_of(y)], attributes, opened(rank))
    return [(made, opened(rank))]


def bitcast_convert(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    before, after = w.draw.choice((("f32", "i32"), ("i8", "i32"), ("i32", "i16"), ("i32", "i8")))
    change = {("f32", "i32"): 0, ("i8", "i32"): -1}.get((before, after), 1)
    x, result = w.argument(rank, before), opened(rank + change, after)
    return [(w.op("stablehlo.bitcast_convert", [x], [w.type_of(x)], "", result), result)]


def set_dimension_size(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x, axis = w.argument(rank), w.draw.randrange(rank)
    size = w.line(f"stablehlo.constant dense<{w.draw.randint(0, 4)}> : tensor<i32>")
    kinds = [w.type_of(x), "tensor<i32>"]
    made = w.op("stablehlo.set_dimension_size", [x, size], kinds, f"dimension = {axis} : i64", opened(rank))
    return [(made, opened(rank))]


def all_gather(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x = w.argument(rank)
    handle = ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids"
    attributes = f"all_gather_dim = {w.draw.randrange(rank)} : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>{handle}"
    return [(w.op("stablehlo.all_gather", [x], [w.type_of(x)], attributes, opened(rank)), opened(rank))]


def all_to_all(w: Writer) -> Results:
    rank, count = w.draw.randint(1, 2), w.draw.randint(1, 3)
    x, groups = w.argument(rank), [list(range(count))]
    attributes = f"split_dimension = {w.draw.randrange(rank)} : i64, concat_dimension = {w.draw.randrange(rank)} : i64, "
    attributes += f"split_count = {count} : i64, replica_groups = dense<{groups}> : tensor<1x{count}xi64>"
    return [(w.op("stablehlo.all_to_all", [x], [w.type_of(x)], attributes, opened(rank)), opened(rank))]


def torch_index_select(w: Writer) -> Results:
    rank, batch = w.draw.randint(1, 2), w.draw.randint(0, 1)
    x, indices = w.argument(rank), w.argument(w.draw.randint(batch, 2), "i32")
    dim = w.draw.randint(batch, max(batch, rank - 1))
    count = rank - 1 + len(w.arguments[1][0]) - batch
    attributes = f"dim = {dim} : i64, batch_dims = {batch} : i64"
    made = w.op("stablehlo.torch_index_select", [x, indices], [w.type_of(x), w.type_of(indices)], attributes, opened(count))
    return [(made, opened(count))]


def chlo_add(w: Writer) -> Results:
    ranks = w.draw.randint(0, 2), w.draw.randint(0, 2)
    x, y = w.argument(ranks[0]), w.argument(ranks[1])
    result = opened(max(ranks))
    return [(w.op("chlo.broadcast_add", [x, y], [w.type_of(x), w.type_of(y)], "", result), result)]


def chlo_top_k(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x = w.argument(rank)
    results = [opened(rank), opened(rank, "i32")]
    return several(w, "chlo.top_k", [x], [w.type_of(x)], f"k = {w.draw.randint(0, 4)} : i64", results)


MAKERS: dict[str, Maker] = {
    name.rstrip("_"): made
    for name, made in list(globals().items())
    if getattr(made, "__annotations__", {}) == {"w": "Writer", "return": "Results"}
}
"""What writes a module with each operator."""


def module(operator: str, seed: object) -> Module:
    """Return a module with an operator; the same for the same seed. Its result is added to an argument at times."""
    w = Writer(f"{operator} {seed}")
    results = MAKERS[operator](w)
    name, result = results[0]
    if "f32>" in result and "complex" not in result and w.draw.random() < 0.3:
        other = w.argument(result.count("x"))
        made = w.op("stablehlo.add", [name, other], [result, w.type_of(other)], "", opened(result.count("x")))
        results = [(made, opened(result.count("x"))), *results[1:]]
    return w.module(operator, results)
