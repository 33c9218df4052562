"""Random small modules, an operator each, with dynamic sizes: reports about them are held against StableHLO."""

from __future__ import annotations

from stablehlo_corpora import random_networks
from stablehlo_corpora.writer import Maker, Module, Results, Writer, array, kind, makers, opened, reducer, several


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
    made = w.op(
        "stablehlo.dynamic_broadcast_in_dim", [x, shape], kinds, f"broadcast_dimensions = {array(dims)}", opened(wanted)
    )
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
    attributes = (
        f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, interior_padding = {array(inner)}"
    )
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
    return several(
        w,
        "stablehlo.reduce",
        [*taken, *starts],
        kinds,
        f"dimensions = {array(dims)}",
        [left] * inputs,
        reducer(pairs=inputs),
    )


def sort(w: Writer) -> Results:
    rank, inputs = w.draw.randint(1, 2), w.draw.randint(1, 2)
    taken = [w.argument(rank) for _ in range(inputs)]
    pairs = ", ".join(f"%a{n}: tensor<f32>, %b{n}: tensor<f32>" for n in range(inputs))
    before = "%r = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1> "
    before += "stablehlo.return %r : tensor<i1>"
    attributes = f"dimension = {w.draw.randint(-rank, rank - 1)} : i64, is_stable = true"
    kinds = [w.type_of(t) for t in taken]
    return several(
        w, "stablehlo.sort", taken, kinds, attributes, [opened(rank)] * inputs, f"({{ ^bb0({pairs}): {before} }})"
    )


def map_(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    taken = [w.argument(rank) for _ in range(2)]
    attributes = f"dimensions = {array(range(rank))}"
    return [
        (w.op("stablehlo.map", taken, [w.type_of(t) for t in taken], attributes, opened(rank), reducer()), opened(rank))
    ]


def while_(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x, n = w.argument(rank), w.argument(0, "i32")
    inner = opened(rank) if w.draw.random() < 0.6 else kind(w.sizes(rank, 0.7))
    state, kinds = f"%n: tensor<i32>, %x: {inner}", f"tensor<i32>, {inner}"
    compared = "%t = stablehlo.compare LT, %n, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>"
    test = f"({{ ^bb0({state}): {compared} stablehlo.return %t : tensor<i1> }}, "
    body = f"{{ ^bb0({state}): %y = stablehlo.add %x, %x : {inner} stablehlo.return %n, %y : {kinds} }})"
    found = several(
        w, "stablehlo.while", [n, x], ["tensor<i32>", w.type_of(x)], "", ["tensor<i32>", opened(rank)], test + body
    )
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


MAKERS: dict[str, Maker] = {**makers(globals()), **makers(vars(random_networks))}
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
