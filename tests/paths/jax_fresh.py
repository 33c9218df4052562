"""Functions of JAX traced in fresh processes: what is found is the same in each, and the functions work afterwards.

Run as ``python tests/paths/jax_fresh.py [COUNT]`` to trace them in so many processes, 20 of them unless told, each with
a hash seed of its own, and to compare what they print. ``--here`` traces them in this process, ``--found`` without
running them before and after; names choose some of them.
"""

import json
import os
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import symbcast as sb
from symbcast.paths.answer import conclusions_of

SIZES = ((1, 1, 1), (2, 2, 2), (2, 3, 2), (3, 1, 3))


def interp(x, y):
    return jnp.interp(x, jnp.linspace(0, 1, y.shape[0]), y)


def conv(x, w):
    return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


def scan(x, y):
    return lax.scan(lambda carry, rows: (carry + rows[0], carry * rows[1]), jnp.zeros(3), (x, y))[1]


def while_loop(x, y):
    return lax.while_loop(lambda v: jnp.sum(v) < 9, lambda v: v + y, x + y)


def cond(x, y):
    return lax.cond(jnp.sum(x) > 0, lambda: jnp.sort(x), lambda: jnp.sort(y))


def segments(x, y):
    return jax.ops.segment_sum(x, jnp.arange(x.shape[0]) % 2, num_segments=y.shape[0])


def solved(x, y):
    return jnp.linalg.solve(x @ x.T + jnp.eye(x.shape[0]), y)


def dense(x, y):
    weights = jax.random.normal(jax.random.key(0), (x.shape[-1], y.shape[-1]))
    return jax.nn.relu(x @ weights + jnp.zeros(y.shape[-1]))


@jax.custom_jvp
def softplus(x, y):
    return jnp.log1p(jnp.exp(x)) * y


@softplus.defjvp
def softplus_jvp(primals, tangents):
    x, y = primals
    return softplus(x, y), jax.nn.sigmoid(x) * tangents[0] * y + softplus(x, 1.0) * tangents[1]


@jax.jit
def inner(x, y):
    return jnp.where(x > 0, x, y)


@jax.jit
def nested(x, y):
    return inner(x, jax.jit(lambda v: v[::-1])(y)) + inner(y, x)


def chosen(x, y):
    return jnp.unique(x, size=y.shape[0]) + jnp.where(y > 0, size=x.shape[0])[0]


# Sets that hold numbers too, and lookups by sizes.
def stacked(x):
    return jnp.stack([x, jnp.ones(3)])


def joined(x, y):
    return x if len({x.shape[0], y.shape[0]}) == 1 else y[:2].reshape(2)


FUNCTIONS = {
    "interp": (interp, ["N", "M"]),
    "conv": (conv, ["B, N, 3", "K, M, 2"]),
    "scan": (scan, ["N, 3", "M, 3"]),
    "while": (while_loop, ["N", "M"]),
    "cond": (cond, ["N", "M"]),
    "vmap": (jax.vmap(jnp.outer), ["N, 2", "M, K"]),
    "vmap 3": (jax.vmap(jnp.dot), ["N, 2", "3, M"]),
    "segments": (segments, ["N", "M"]),
    "einsum": (lambda x, y: jnp.einsum("bij,bjk->bik", x, y), ["B, N, M", "C, K, 2"]),
    "einsum 3": (lambda x, y: jnp.einsum("ij,jk", x, y), ["2, N", "3, M"]),
    "linalg": (solved, ["N, M", "K, 2"]),
    "dense": (dense, ["N, M", "K"]),
    "custom_jvp": (softplus, ["N", "M"]),
    "jit": (inner, ["N, M", "M"]),
    "nested jit": (nested, ["N", "M"]),
    "unique": (chosen, ["N", "M"]),
    "stack": (stacked, ["N"]),
    "set": (joined, ["N", "M"]),
    "grad": (jax.grad(lambda x, y: jnp.sum(jnp.tanh(x @ y))), ["N, M", "K, 2"]),
    "raises": (lambda x, y: 1 // 0 if x.shape[0] == y.shape[0] else x + y, ["N", "M"]),
}


def found(name):
    """All that a report says."""
    function, arguments = FUNCTIONS[name]
    report = sb.jax.trace(function, *arguments)
    outcomes = [
        [str(s.formula) for s in o.steps] + [repr(o.error)] for o in conclusions_of(report).exploration.outcomes
    ]
    said = [report.verdict, report.condition, report.shapes, report.reason, report.findings]
    return [*(str(s).replace(str(Path(__file__).parent), "") for s in said), outcomes]


def uses(function, arguments, jitted):
    """What the function does with numbers, in each way that JAX can run it: shapes, or the kind of error."""
    gradient = jax.grad(lambda *a: sum(map(jnp.sum, jax.tree.leaves(function(*a)))))
    shapes = [sb.shape(a).dims for a in arguments]
    names = sorted({str(d) for s in shapes for d in s if not isinstance(d, int)})
    told = []
    for sizes in SIZES:
        at = dict(zip(names, cycle(sizes), strict=False))
        arrays = [np.ones([d if isinstance(d, int) else at[str(d)] for d in s], "float32") for s in shapes]
        rows = [a[None] for a in arrays]
        told.append(called(jax.eval_shape, function, *arrays))
        told.append(called(jax.eval_shape, gradient, *arrays))
        told.append(called(jax.eval_shape, jax.vmap(function), *rows))
        if sizes == SIZES[2]:
            told += [called(way, *arrays) for way in (function, jitted, jax.jit(function))]
    return told


def called(function, *arguments):
    try:
        return str(jax.tree.map(jnp.shape, function(*arguments)))
    except Exception as error:
        return type(error).__name__


def interrupted(x, y):
    """Stop a trace in the middle."""
    inner(x, y), jax.jit(interrupt)(x + y)


def interrupt(x):
    raise KeyboardInterrupt


def answers(names, *, is_used=True):
    """What is found of each function, twice, and whether it does the same before and after."""
    jitted = {name: jax.jit(FUNCTIONS[name][0]) for name in names if is_used}
    before = {name: uses(*FUNCTIONS[name], jitted[name]) for name in jitted}
    first = {name: found(name) for name in names}
    try:
        sb.jax.trace(interrupted, "N", "M")
    except KeyboardInterrupt:
        is_interrupted = True
    second = {name: found(name) for name in names}
    after = {name: uses(*FUNCTIONS[name], jitted[name]) for name in jitted}
    changed = [name for name in before if after[name] != before[name]]
    return {
        "found": first,
        "unequal again": [name for name in first if first[name] != second[name]],
        "other afterwards": changed,
        "interrupted": is_interrupted,
    }


def fresh(seed, *options):
    """What its own process prints."""
    run = subprocess.run(
        [sys.executable, __file__, "--here", *options],
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(run.stdout)


def main():
    if "--here" in sys.argv:
        names = [name for name in FUNCTIONS if name in sys.argv] or list(FUNCTIONS)
        print(json.dumps(answers(names, is_used="--found" not in sys.argv)))
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    runs = [fresh(seed, *(["--found"] if seed else [])) for seed in range(count)]
    for name in FUNCTIONS:
        told = {json.dumps(run["found"][name]) for run in runs}
        print(f"{name}: {len(told)} answers in {count} runs; {runs[0]['found'][name][:2]}")
    print({key: [run[key] for run in runs if run[key]] for key in ("unequal again", "other afterwards")})


if __name__ == "__main__":
    main()
