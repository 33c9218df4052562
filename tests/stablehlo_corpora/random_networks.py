"""Random modules with operators of networks: windows, products, gathers, normalizations, collectives."""

from __future__ import annotations

from stablehlo_corpora.writer import Results, Writer, array, opened, reducer, several


def reduce_window(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x, start = w.argument(rank), w.argument(0)
    window, step, base, dilation = ([w.draw.randint(1, m) for _ in range(rank)] for m in (4, 3, 2, 2))
    padding = [[w.draw.randint(-1, 2), w.draw.randint(-1, 2)] for _ in range(rank)]
    attributes = (
        f"window_dimensions = {array(window)}, window_strides = {array(step)}, base_dilations = {array(base)}, "
    )
    attributes += f"window_dilations = {array(dilation)}, padding = dense<{padding}> : tensor<{rank}x2xi64>"
    kinds = [w.type_of(x), "tensor<f32>"]
    return [
        (w.op("stablehlo.reduce_window", [x, start], kinds, attributes, opened(rank), reducer("maximum")), opened(rank))
    ]


def select_and_scatter(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x, source, start = w.argument(rank), w.argument(rank), w.argument(0)
    window, step = ([w.draw.randint(1, 3) for _ in range(rank)] for _ in range(2))
    padding = [[w.draw.randint(0, 1), w.draw.randint(0, 1)] for _ in range(rank)]
    attributes = f"window_dimensions = {array(window)}, window_strides = {array(step)}, "
    attributes += f"padding = dense<{padding}> : tensor<{rank}x2xi64>"
    chosen = (
        "%r = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1>"
    )
    regions = f"({{ ^bb0(%x: tensor<f32>, %y: tensor<f32>): {chosen} }}, {reducer()[1:-1]})"
    kinds = [w.type_of(x), w.type_of(source), "tensor<f32>"]
    return [
        (
            w.op("stablehlo.select_and_scatter", [x, source, start], kinds, attributes, opened(rank), regions),
            opened(rank),
        )
    ]


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
    attributes += (
        f"batch_group_count = {groups[1]} : i64, window_strides = {array(step)}, lhs_dilation = {array(base)}, "
    )
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
    numbers = f"offset_dims = {places}, collapsed_slice_dims = {collapsed}, "
    numbers += f"start_index_map = {start_map}, index_vector_dim = {vector}"
    sizes = [w.draw.randint(0, 1) if n in collapsed else w.draw.randint(0, 3) for n in range(rank)]
    return rank, batch, vector, numbers, batch + offsets, sizes


def _indices(w: Writer, batch: int, vector: int, numbers: str) -> str:
    """Return indices with as many elements in each vector as the dimension numbers say, mostly."""
    mapped = numbers.split("start_index_map = [")[1].split("]", maxsplit=1)[0]
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
    renamed = numbers.replace("offset_dims", "update_window_dims").replace(
        "collapsed_slice_dims", "inserted_window_dims"
    )
    renamed = renamed.replace("start_index_map", "scatter_dims_to_operand_dims")
    attributes = f"scatter_dimension_numbers = #stablehlo.scatter<{renamed}>"
    kinds = [w.type_of(v) for v in (x, indices, updates)]
    return [
        (w.op("stablehlo.scatter", [x, indices, updates], kinds, attributes, opened(rank), reducer()), opened(rank))
    ]


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
    attributes = f"left_side = {str(w.draw.random() < 0.5).lower()}, lower = true, unit_diagonal = false, "
    attributes += "transpose_a = #stablehlo<transpose NO_TRANSPOSE>"
    made = w.op("stablehlo.triangular_solve", [x, y], [w.type_of(x), w.type_of(y)], attributes, opened(rank))
    return [(made, opened(rank))]


def all_gather(w: Writer) -> Results:
    rank = w.draw.randint(1, 2)
    x = w.argument(rank)
    attributes = f"all_gather_dim = {w.draw.randrange(rank)} : i64, use_global_device_ids, "
    attributes += "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, "
    attributes += "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
    return [(w.op("stablehlo.all_gather", [x], [w.type_of(x)], attributes, opened(rank)), opened(rank))]


def all_to_all(w: Writer) -> Results:
    rank, count = w.draw.randint(1, 2), w.draw.randint(1, 3)
    x, groups = w.argument(rank), [list(range(count))]
    attributes = (
        f"split_dimension = {w.draw.randrange(rank)} : i64, concat_dimension = {w.draw.randrange(rank)} : i64, "
    )
    attributes += f"split_count = {count} : i64, replica_groups = dense<{groups}> : tensor<1x{count}xi64>"
    return [(w.op("stablehlo.all_to_all", [x], [w.type_of(x)], attributes, opened(rank)), opened(rank))]


def torch_index_select(w: Writer) -> Results:
    rank, batch = w.draw.randint(1, 2), w.draw.randint(0, 1)
    x, indices = w.argument(rank), w.argument(w.draw.randint(batch, 2), "i32")
    dim = w.draw.randint(batch, max(batch, rank - 1))
    count = rank - 1 + len(w.arguments[1][0]) - batch
    attributes = f"dim = {dim} : i64, batch_dims = {batch} : i64"
    made = w.op(
        "stablehlo.torch_index_select", [x, indices], [w.type_of(x), w.type_of(indices)], attributes, opened(count)
    )
    return [(made, opened(count))]
