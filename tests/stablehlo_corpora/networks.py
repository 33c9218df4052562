"""Networks of flax and equinox that are exported with symbolic shapes; both packages must be installed."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from stablehlo_corpora.functions import Case, plain_cases
from stablehlo_corpora.more_functions import MORE_CASES


def _flax_cases() -> list[Case]:
    from flax import linen as nn

    class Mlp(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(3)(nn.relu(nn.Dense(4)(x)))

    class Cnn(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(2, (3, 3))(x))
            x = nn.avg_pool(x, (2, 2), strides=(2, 2))
            return nn.Dense(3)(x.mean(axis=(1, 2)))

    class Encoder(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.LayerNorm()(x + nn.SelfAttention(num_heads=2)(x))
            return x + nn.Dense(4)(nn.gelu(nn.Dense(8)(x)))

    class Words(nn.Module):
        @nn.compact
        def __call__(self, ids):
            return nn.RNN(nn.GRUCell(3))(nn.Embed(7, 4)(ids))

    def applied(name: str, module: nn.Module, shape: str, example: Any) -> Case:
        parameters = module.init(jax.random.key(0), example)

        def function(x):
            return module.apply(parameters, x)

        return Case(f"flax {name}", function, ((shape, example.dtype),))

    return [
        applied("mlp", Mlp(), "b, 4", jnp.zeros((2, 4))),
        applied("cnn", Cnn(), "b, h, w, 1", jnp.zeros((2, 4, 4, 1))),
        applied("encoder", Encoder(), "b, t, 4", jnp.zeros((2, 3, 4))),
        applied("words", Words(), "b, t", jnp.zeros((2, 3), jnp.int32)),
    ]


def _equinox_cases() -> list[Case]:
    import equinox as eqx

    key = jax.random.key(0)
    mlp = eqx.nn.MLP(4, 3, 5, 1, key=key)
    convolved = eqx.nn.Conv1d(2, 3, 3, stride=2, key=key)
    normed = eqx.nn.LayerNorm(4)
    attended = eqx.nn.MultiheadAttention(2, 4, key=key)
    return [
        Case("equinox mlp", jax.vmap(mlp), (("b, 4", jnp.float32),)),
        Case("equinox conv", jax.vmap(convolved), (("b, 2, t", jnp.float32),), ("t >= 3",)),
        Case("equinox norm", jax.vmap(jax.vmap(normed)), (("b, t, 4", jnp.float32),)),
        Case("equinox attention", lambda x: attended(x, x, x), (("t, 4", jnp.float32),)),
    ]


def all_cases() -> list[Case]:
    """Return all functions and networks."""
    return [*plain_cases(), *MORE_CASES, *_flax_cases(), *_equinox_cases()]
