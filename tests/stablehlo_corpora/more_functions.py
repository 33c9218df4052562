"""More functions of JAX that are exported with symbolic shapes: indexing, padding, pooling, linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from stablehlo_corpora.functions import I32, Case


def _case(name: str, function: Callable[..., Any], *shapes: str | tuple[str, Any], given: tuple[str, ...] = ()) -> Case:
    return Case(name, function, tuple((s, jnp.float32) if isinstance(s, str) else s for s in shapes), given)


MORE_CASES = [
    _case("resize2x", lambda x: jax.image.resize(x, (x.shape[0] * 2, x.shape[1]), "nearest"), "a, b"),
    _case("nonzero", lambda x: jnp.nonzero(x, size=3), "a"),
    _case("quantile", lambda x: jnp.quantile(x, 0.3, axis=0), "a, b"),
    _case("cummax rev", lambda x: lax.cummax(x, axis=0, reverse=True), "a, b"),
    _case("tensordot", lambda x, y: jnp.tensordot(x, y, axes=[[1, 2], [0, 1]]), "a, b, c", "b, c, d"),
    _case("diag k", lambda x: jnp.diag(x, k=2), "a"),
    _case("diagonal rect", lambda x: jnp.diagonal(x, offset=1), "a, b", given=("b>=a+1",)),
    _case("pad reflect", lambda x: jnp.pad(x, ((1, 1), (0, 0)), mode="reflect"), "a, b", given=("a>=2",)),
    _case("pad edge", lambda x: jnp.pad(x, ((2, 1), (1, 0)), mode="edge"), "a, b"),
    _case("pad by size", lambda x, y: jnp.pad(x, (0, y.shape[0] - x.shape[0])), "a", "b", given=("b>=a",)),
    _case("block", lambda x, y: jnp.block([[x, x], [y, y]]), "a, b", "c, b"),
    _case("where3", lambda c, x, y: jnp.where(c > 0, x, y), "a, 1", "b", "a, b"),
    _case("dyn slice", lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 3)), "a, b", I32(""), given=("a>=2", "b>=3")),
    _case("at slice set", lambda x, v: x.at[1:3].set(v), "a, b", "b", given=("a>=3",)),
    _case("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, num_segments=x.shape[1]), "a, b", I32("a")),
    _case("split at", lambda x: jnp.split(x, [1, 3]), "a, b", given=("a>=3",)),
    _case("irfft", lambda x: jnp.fft.irfft(x + 0j, n=6), "a, 4"),
    _case("matrix_power", lambda x: jnp.linalg.matrix_power(x, 3), "a, a"),
    _case("hessian", jax.hessian(lambda v: jnp.sum(v**3)), "a"),
    _case("jacfwd", jax.jacfwd(lambda v: jnp.outer(v, v)), "a"),
    _case("fori from one", lambda x: lax.fori_loop(1, x.shape[0], lambda i, c: c.at[i].set(c[i - 1] + x[i]), x), "a"),
    _case("scan rev", lambda x: lax.scan(lambda c, r: (c + r, (c, r)), jnp.zeros(x.shape[1]), x, reverse=True), "a, b"),
    _case("conv same s2k", lambda x, w: lax.conv_general_dilated(x, w, (3,), "SAME"), "b, 3, t", "4, 3, k"),
    _case(
        "conv groups",
        lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", feature_group_count=2),
        "b, 4, t",
        "6, 2, 3",
    ),
    _case(
        "conv dil",
        lambda x, w: lax.conv_general_dilated(x, w, (1,), [(1, 2)], lhs_dilation=(2,), rhs_dilation=(3,)),
        "b, 3, t",
        "4, 3, 2",
    ),
    _case("conv transpose valid", lambda x, w: lax.conv_transpose(x, w, (2,), "VALID"), "b, t, 3", "4, 3, 4"),
    _case(
        "avg pool", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, 2), "VALID") / 3, "a, b", given=("b>=3",)
    ),
    _case(
        "max pool grad",
        jax.grad(lambda v: jnp.sum(lax.reduce_window(v, -jnp.inf, lax.max, (1, 2), (1, 2), "VALID"))),
        "a, b",
        given=("b>=2",),
    ),
    _case(
        "pool dil",
        lambda x: lax.reduce_window(
            x, 0.0, lax.add, (1, 2), (1, 1), "SAME", base_dilation=(1, 2), window_dilation=(1, 3)
        ),
        "a, b",
    ),
    _case("ragged", lax.ragged_dot, "a, b", "3, b, c", I32("3")),
    _case("tile n", lambda x: jnp.tile(x, (2, x.shape[0])), "a, b"),
    _case("roll sym", lambda x: jnp.roll(x, x.shape[0] // 2, axis=0), "a, b"),
    _case(
        "window partition",
        lambda x: x.reshape(x.shape[0] // 4, 4, x.shape[1] // 4, 4).transpose(0, 2, 1, 3).reshape(-1, 16),
        "4*a, 4*b",
    ),
    _case(
        "rel shift",
        lambda x: jnp.pad(x, ((0, 0), (1, 0))).reshape(x.shape[1] + 1, x.shape[0])[1:].reshape(x.shape),
        "a, a",
    ),
    _case("rev stride", lambda x: x[::-2], "a, b"),
    _case("slice by other", lambda x, y: x[: y.shape[0]] + y, "a", "b", given=("a>=b",)),
    _case("topk k", lambda x: lax.top_k(x, x.shape[1] // 2), "a, b", given=("b>=2",)),
    _case(
        "kv cache",
        lambda k, n, i: lax.dynamic_update_slice(k, n, (0, i, 0)),
        "b, t, 4",
        "b, s, 4",
        I32(""),
        given=("t>=s",),
    ),
    _case("gather nd", lambda x, i: x[i[:, 0], i[:, 1]], "a, b", I32("c, 2")),
    _case("ix_", lambda x, i, j: x[jnp.ix_(i, j)], "a, b", I32("c"), I32("d")),
    _case("packbits free", lambda x: jnp.packbits(x > 0, axis=0), "a, b"),
]
