"""Functions of JAX whose sizes JAX's own tests of shape polymorphism ask about, and those of threads on its tracker.

Each row is a small function of our own, named as the test of ``tests/shape_poly_test.py`` (or the thread) that asks the
same question, with the shapes of its arguments; sizes have more names than there, so that there is something to find.

Run as ``python tests/paths/jax_cases.py [NAME ...]`` to print what becomes of each, held against JAX at sizes from 1 to
4; with ``--record`` it is written to ``tests/data/jax_cases.json``.
"""

import itertools
import json
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import symbcast as sb
from symbcast.paths.answer import conclusions_of


def attention(q, k, v, mask):
    scores = jnp.einsum("btd,bsd->bts", q, k) / 8.0
    return jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1) @ v


def causal(q, k, v):
    mask = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))
    scores = jnp.einsum("btd,bsd->bts", q, k)
    return jax.nn.softmax(jnp.where(mask[None], scores, -1e9), axis=-1) @ v


def pooled_back(x):
    half = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2), (1, 2), "SAME")
    return jnp.repeat(half, 2, axis=1) + x


def halves(x):
    half = x.shape[0] // 2
    return x[:half] * x[half:]


def threefry(x):
    (a,) = x.shape
    padded = jnp.concatenate([x, jnp.zeros((a % 2,), x.dtype)])
    return x + (padded.reshape((2, -1)) + 2).reshape((-1,))[:a]


def quarters(x):
    b = x.shape[0]
    y = jnp.ones((1, 3, 4, b // 4), x.dtype).reshape((1, 3, -1))
    return x.reshape((1, 1, b)) + y


def convolved(x, w):
    return lax.conv_general_dilated(x, w, (2,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))


def convolved_same(x, w):
    return lax.conv_general_dilated(x, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


def windows(x):
    return lax.reduce_window(x, 0.0, lax.add, (2, x.shape[0]), (1, 1), "VALID")


def guarded(x, y):
    if x.shape[0] != y.shape[0]:
        raise ValueError("as many rows")
    return x.sum(0) + y.mean(0)


def rotary(x):
    first, second = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([-second, first], axis=-1) + x


def heads(x, w):
    b, t, _ = x.shape
    return (x @ w).reshape(b, t, 4, -1).transpose(0, 2, 1, 3)


F32, I32, BOOL = "float32", "int32", "bool"


def i32(shape):
    return sb.array(shape, I32)


def boolean(shape):
    return sb.array(shape, BOOL)


CASES = {
    # Threads: #24730, #22489, #36766.
    "thread_mask": (lambda q, k, m: jnp.einsum("btd,bsd->bts", q, k) + m, ["b, t, d", "b, s, d", "b, 1, m"]),
    "thread_attention": (attention, ["b, t, d", "b, s, d", "b, s, d", boolean("b, t, m")]),
    "thread_attention_free": (attention, ["b, t, d", "b, s, e", "b, s, d", boolean("b, t, m")]),
    "thread_causal": (causal, ["b, t, d", "b, s, d", "b, s, d"]),
    "thread_concat": (lambda x, y, z: jnp.concatenate([x, y], 1) + z, ["b, n", "b, m", "b, k"]),
    "thread_reshape": (lambda x: x.reshape(-1, 8), ["n, m"]),
    "thread_heads": (heads, ["b, t, d", "d, h"]),
    "thread_pooled": (pooled_back, ["b, t"]),
    "thread_halves": (halves, ["n"]),
    "thread_rotary": (rotary, ["b, t, d"]),
    "thread_take": (lambda x, i: x[i], ["n, d", i32("m")]),
    "thread_large": (lambda x: x[: jnp.iinfo("int32").max], ["n"]),
    "thread_guarded": (guarded, ["n, d", "m, e"]),
    # tests/shape_poly_test.py
    "add": (lambda x, y: jnp.expand_dims(x, 0) + y, ["b, c", "a, d, e"]),
    "add_transpose": (jax.grad(lambda x: jnp.sum(x.sum(0)[None] + jnp.sin(x))), ["b, c"]),
    "arange_b": (lambda x: x + jnp.arange(x.shape[0]), ["b"]),
    "arange_0_b-3_2": (lambda x: x + jnp.arange(0, x.shape[0] - 3, 2), ["b"]),
    "arange_5b+1_0_-2": (lambda x: jnp.arange(5 * x.shape[0] + 1, 0, -2), ["b"]),
    "arange_0_10_b": (lambda x: jnp.arange(0, 10, x.shape[0]), ["b"]),
    "arange_error_inconclusive_step_sign": (lambda x: jnp.arange(0, x.shape[0], x.shape[0] - 2), ["b"]),
    "indexing_2_4_2": (lambda x: x[2:4:2], ["c, b"]),
    "indexing_-2_None_1": (lambda x: x[-2:] + x[:2], ["c, b"]),
    "indexing_b_2b2_2": (lambda x: x[x.shape[1] : 2 * x.shape[1] + 2 : 2], ["c, b"]),
    "indexing_-b_-4_-1": (lambda x: x[-x.shape[1] : -4 : -1], ["c, b"]),
    "indexing_poly_poly": (lambda a, i: a[i], ["b, c", i32("m")]),
    "indexing_const": (lambda a: a[1], ["b, c"]),
    "argmax_0": (lambda x: lax.argmax(x, 0, np.int32), ["b, c"]),
    "average_weights": (lambda x, w: jnp.average(x, axis=0, weights=w), ["b, c", "d, e"]),
    "bincount_poly": (lambda x: jnp.bincount(x % 4, length=x.shape[0]), [i32("b")]),
    "broadcast_to": (lambda x: jnp.broadcast_to(x, (x.shape[0], x.shape[0], 4)), ["b, c"]),
    "broadcast_in_dim_poly2": (
        lambda x: lax.broadcast_in_dim(x, (x.shape[0], 5, 6, x.shape[2], 4), (0, 2, 3)),
        ["b, c, d"],
    ),
    "collapse": (lambda x: lax.collapse(x, 1, 3), ["a, b, c"]),
    "concatenate": (lambda x, y: jnp.concatenate([x, y], axis=0), ["a, b", "c, d"]),
    "conv_1d_stride=2_zero_output": (convolved, ["a, b, c", "8, c, 16"]),
    "conv_1d_stride=2_even": (convolved_same, ["a, b, c", "4, d, 16"]),
    "cumsum": (lambda x: lax.cumsum(x, 0), ["b, c"]),
    "delta": (lambda x: jnp.eye(*x.shape) + x, ["b, c"]),
    "dot_general": (lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))), ["a, b, c", "d, e"]),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (0, 1), (x.shape[0], 2)), ["b, c"]),
    "dynamic_slice_oob_small": (lambda x: lax.dynamic_slice(x, (-1, 1), (x.shape[0] - 2, 2)), ["b, c"]),
    "dynamic_update_slice": (lambda x, y: lax.dynamic_update_slice(x, y, (0, 0)), ["b, c", "d, e"]),
    "einsum_1": (lambda x, y: jnp.einsum("...ij,...jk->...ik", x, y), ["b, i, j", "c, k, l"]),
    "einsum_4": (
        lambda x, y: jnp.einsum("ij,jk->ik", jnp.concatenate([x, x], 1), jnp.concatenate([y, y], 0)),
        ["a, b", "c, d"],
    ),
    "einsum_multiple_contractions": (lambda x, y, z: jnp.einsum("ab,bc,cd->ad", x, y, z), ["a, b", "c, d", "e, f"]),
    "einsum_incompatible_contractions_error": (lambda x, y: jnp.einsum("ab,cb->ac", x, y), ["2, b0", "2, b1"]),
    "eye_poly_poly": (lambda x: jnp.eye(x.shape[0], x.shape[0] + 2) + x, ["b, c"]),
    "full": (lambda x: lax.full((x.shape[0], 2), 3.0) + x, ["b, c"]),
    "image_resize": (lambda x: jax.image.resize(x, (x.shape[0], 2 * x.shape[1], x.shape[2]), "linear"), ["a, b, c"]),
    "index_in_dim_last": (lambda x: lax.index_in_dim(x, x.shape[0] - 1, 0, False), ["b, c"]),
    "iota": (lambda x: x + lax.iota(jnp.float32, x.shape[0]), ["b"]),
    "linspace_num_poly": (lambda x: jnp.linspace(0, 100, x.shape[0]), ["b"]),
    "matmul_0": (jnp.matmul, ["a, b, c", "d, e, f"]),
    "mean_where": (lambda x, w: jnp.mean(x, axis=0, where=w), ["b, c", boolean("d, c")]),
    "nonzero_size=poly": (lambda x: jnp.nonzero(x % 3, size=x.shape[0] * 2, fill_value=100), [i32("b, c")]),
    "one_hot": (lambda x, y: jax.nn.one_hot(x, y.shape[0]), [i32("a"), "b"]),
    "ones": (lambda x: jnp.ones(x.shape) + x, ["b, c"]),
    "pad_poly_padding_config": (lambda x: lax.pad(x, 0.0, ((x.shape[0], x.shape[1], x.shape[0]), (0, 0, 0))), ["b, c"]),
    "pad_constant_bminus1": (lambda x: jnp.pad(x[1:], ((x.shape[0], 0), (x.shape[1], 1))), ["b, c"]),
    "pad_edge": (lambda x: jnp.pad(x, ((x.shape[0], 0), (1, 1)), mode="edge"), ["b, c"]),
    "pad_maximum_stat_length=b": (
        lambda x: jnp.pad(x, ((2, 0), (1, 1)), mode="maximum", stat_length=((x.shape[0] // 2, 2), (2, 2))),
        ["b, c"],
    ),
    "pad_reflect_odd": (
        lambda x: jnp.pad(x, ((x.shape[0] - 1, 0), (0, 1)), mode="reflect", reflect_type="odd"),
        ["b, c"],
    ),
    "pad_wrap": (lambda x: jnp.pad(x, ((x.shape[0], 0), (x.shape[1], 1)), mode="wrap"), ["b, c"]),
    "percentile": (lambda x: jnp.percentile(x, 50, axis=0), ["b, c"]),
    "reduce_window_static": (lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "VALID"), ["b, c"]),
    "reduce_window_dynamic": (windows, ["b, c"]),
    "repeat_poly": (lambda x: jnp.repeat(x, x.shape[0], axis=0), ["b, c"]),
    "reshape_0": (lambda x: x.reshape((x.shape[0], -1)), ["a, b, c"]),
    "reshape_2": (lambda x: x.reshape((x.shape[0], -1, x.shape[2])), ["a, b, c"]),
    "reshape_3": (lambda x: jnp.reshape(x, (2, -1)), ["a, 4, c"]),
    "reshape_error": (lambda x: x.reshape((x.shape[0], -1, 3)), ["b, 2, 4"]),
    "roll": (lambda x: jnp.roll(x, 2, axis=0), ["b, c"]),
    "segment": (lambda x, i: jax.ops.segment_sum(x, i, num_segments=x.shape[1]), ["b, s", i32("c")]),
    "select": (lambda x, y: lax.select(x > 5.0, x, y), ["b, c", "d, e"]),
    "slice_in_dim_start=neg": (lambda x: lax.slice_in_dim(x, -1, x.shape[0], 1, 0), ["b, c"]),
    "slice_in_dim_stride_sym": (lambda x: lax.slice_in_dim(x, 0, x.shape[0], 1 + x.shape[0] // 4, 0), ["b, c"]),
    "sort": (lax.sort, ["b"]),
    "split_idx_tuple_ct": (lambda x: jnp.split(x, (2,)), ["b"]),
    "split_idx_tuple_poly": (lambda x: jnp.split(x, (x.shape[0] - 2,), axis=0), ["b"]),
    "split_idx_ct": (lambda x: jnp.split(x, 2, axis=0), ["b"]),
    "split_idx_poly": (lambda x: jnp.split(x, x.shape[0] // 2, axis=0), ["b"]),
    "squeeze_error": (lambda x: jnp.squeeze(x, -1), ["a, b"]),
    "squeeze_None": (jnp.squeeze, ["a, b"]),
    "take": (lambda a, i: jnp.take(a, i, axis=1), ["a, b", i32("c")]),
    "take_along_axis_0": (lambda x, y: jnp.take_along_axis(x, y, axis=0), ["a, b", i32("c, d")]),
    "tile_1": (lambda x: jnp.tile(x, (1, x.shape[0])), ["b, c"]),
    "top_k": (lambda x: lax.top_k(x, x.shape[-1] - 1), ["b"]),
    "tri": (lambda x: jnp.tri(x.shape[0], x.shape[0] + 2) + x, ["b, c"]),
    "tril": (lambda x: jnp.tril(jnp.ones((x.shape[0], x.shape[0] + x.shape[1])), k=x.shape[1]), ["m, n"]),
    "tril_indices": (lambda x: jnp.tril_indices(x.shape[0], k=x.shape[0] - 1, m=x.shape[1]), ["n, m"]),
    "var_where": (lambda x, w: jnp.var(x, axis=(0, 1), where=w), ["b, c, d", boolean("b, e, d")]),
    "vmap_error": (jax.vmap(lambda a, b: a + b), ["a, 3", "b, 3"]),
    "vmap_while": (jax.vmap(lambda r: lax.fori_loop(0, r.shape[0], lambda i, c: c + 1.0, r)), ["b, c"]),
    "where": (jnp.where, [boolean("a"), "b", "c"]),
    "while": (lambda x: lax.while_loop(lambda c: jnp.sum(c) < 9, lambda c: c + 1, x), ["b, c"]),
    "cond": (lambda x, y: lax.cond(x.sum() > 0, lambda: x, lambda: y), ["a, b", "c, d"]),
    "constraints_basic": (lambda x: x[:8].reshape(8), ["a"]),
    "constraints_slice_in_dim": (lambda x: lax.dynamic_slice_in_dim(x, 0, 8, 0), ["a"]),
    "constraints_slice_in_dim_eq": (lambda x, y: x[: y.shape[0]] + y[2:], ["a", "b"]),
    "constraints_eq_threefry": (threefry, ["a"]),
    "constraints_eq_mod_0": (quarters, ["b"]),
}


def real_shapes(function, arguments, at):
    """The shapes that JAX gives at some sizes; None where it raises."""
    from symbcast.arrays.arguments import TraceArguments
    from symbcast.core.solver.evaluation import size_at

    given = TraceArguments(arguments, {}, dtype=F32)
    report_scope, sizes = at
    args, _ = given.build(
        report_scope.shapes,
        lambda dims, dtype: jax.ShapeDtypeStruct(tuple(size_at(d, sizes) for d in dims), dtype),
        lambda dim: size_at(dim, sizes),
    )
    try:
        return [leaf.shape for leaf in jax.tree.leaves(jax.eval_shape(function, *args))]
    except Exception:
        return None


def held(report, function, arguments, sizes=range(1, 5), most=64):
    """At how many sizes a report is right, says nothing, and where it is wrong."""
    from symbcast.core.solver.evaluation import holds_at, size_at

    symbols = list(conclusions_of(report).scope.names)
    every = list(itertools.product(sizes, repeat=len(symbols)))
    right, left, wrong = 0, 0, []
    for values in every[:: -(-len(every) // most)]:
        at = dict(zip(symbols, values, strict=True))
        real = real_shapes(function, arguments, (conclusions_of(report).scope, at))
        if holds_at(report.unexplored.formula, at):
            left += 1
            continue
        case = next((c for c in report.cases if holds_at(c.condition.formula, at)), None)
        leaves = [] if case is None else jax.tree.leaves(case.value, is_leaf=lambda v: isinstance(v, sb.Shape))
        told = None if case is None or case.error else [tuple(size_at(d, at) for d in s.dims) for s in leaves]
        if told == real:
            right += 1
        else:
            wrong.append((dict(zip(map(str, symbols), values, strict=True)), told, real))
    return right, left, wrong


def row(name):
    """What became of a case: exact, incomplete, wrong or a crash, and the constraints for its export."""
    function, arguments = CASES[name]
    start = time.perf_counter()
    try:
        report = sb.jax.trace(function, *arguments)
    except Exception as error:
        return {"name": name, "outcome": "crash", "reason": repr(error)[:200]}
    seconds = time.perf_counter() - start
    right, left, wrong = held(report, function, arguments)
    try:
        constraints = report.export_constraints()
    except sb.DimensionError:
        constraints = None
    return {
        "name": name,
        "outcome": "wrong" if wrong else "exact" if report.complete else "incomplete",
        "paths": report.paths,
        "condition": str(report.condition),
        "constraints": constraints,
        "right": right,
        "open": left,
        "wrong": [str(w) for w in wrong[:2]],
        "reason": report.reason[:200],
        "ms": round(seconds * 1000),
    }


RECORD = Path(__file__).parents[1] / "data" / "jax_cases.json"

if __name__ == "__main__":
    rows = []
    for name in [a for a in sys.argv[1:] if not a.startswith("--")] or CASES:
        rows.append(row(name))
        print(*(f"{k}={v}" for k, v in rows[-1].items()), flush=True)
    for kind in ("exact", "incomplete", "wrong", "crash"):
        print(kind, sum(r["outcome"] == kind for r in rows))
    print("at most 10 paths:", sum(r.get("paths", 99) <= 10 for r in rows))
    print("exported:", sum(r.get("constraints") is not None for r in rows))
    if "--record" in sys.argv:
        kept = [{k: v for k, v in r.items() if k != "ms"} for r in rows]
        RECORD.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
