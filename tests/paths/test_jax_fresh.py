"""JAX is as before a trace, whatever became of it; and a trace finds the same in each process."""

import gc

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from paths.jax_fresh import fresh, interp  # noqa: E402

import symbcast as sb  # noqa: E402

USED = ["interp", "scan", "vmap 3", "dense", "custom_jvp"]
FOUND = [*USED, "cond", "segments", "einsum 3", "stack", "nested jit", "raises"]


def test_fresh_processes_find_the_same_and_functions_work_afterwards():
    used = fresh(1, *USED)
    runs = [fresh(seed, "--found", *FOUND) for seed in (2, 3)]
    assert runs[0] == runs[1]
    assert used["found"] == {name: runs[0]["found"][name] for name in USED}
    for run in (used, *runs):
        assert (run["unequal again"], run["other afterwards"], run["interrupted"]) == ([], [], True)


def test_what_was_compiled_before_a_trace_stays():
    traced = []

    @jax.jit
    def double(x):
        traced.append(x.shape)
        return 2 * x

    double(jnp.ones(3))
    sb.jax.trace(lambda x: double(x) + 1, "n")
    del traced[:]
    assert double(jnp.ones(3)).shape == (3,)
    assert traced == []


def test_a_function_that_raised_in_a_trace_works_afterwards():
    def broken(x, y):
        interp(x, y)
        if x.shape[0] != 2:
            raise KeyError(x.shape[0])
        return x

    assert sb.jax.trace(broken, "n", "m").verdict is not sb.Verdict.ALWAYS
    assert interp(jnp.ones(2), jnp.ones(3)).shape == jax.jit(interp)(jnp.ones(2), jnp.ones(3)).shape == (2,)


# Each: a function that puts a size and a number into one set, its arguments, and when it works.
SETS = {
    "stack": (lambda x: jnp.stack([x, jnp.ones(3)]), ["n"], "n == 3"),
    "scan": (lambda x: lax.scan(lambda c, rows: (c, rows[0]), 0.0, (x, jnp.ones(3))), ["n"], "n == 3"),
    "vmap": (lambda x: jax.vmap(jnp.add)(x, jnp.ones(3)), ["n"], "n == 3"),
    "einsum": (lambda x: jnp.einsum("ij,jk", x, jnp.ones((3, 2))), ["m, n"], "n == 1 or n == 3"),
    "set": (lambda x: x if len({x.shape[0], 3}) == 1 else x[:9].reshape(9), ["n"], "n == 3 or n >= 9"),
    "get": (lambda x, y: x if {x.shape[0]: 1}.get(y.shape[0]) else x[:9].reshape(9), ["n", "m"], "n == m or n >= 9"),
    "count": (lambda x, y: x if [x.shape[0]].count(y.shape[0]) else x[:9].reshape(9), ["n", "m"], "n == m or n >= 9"),
}


@pytest.mark.parametrize("name", SETS)
def test_sizes_meet_numbers_in_sets(name):
    function, arguments, condition = SETS[name]
    report = sb.jax.trace(function, *arguments)
    assert report.complete, report.reason
    assert report.condition.equivalent(condition, min_size=1)


def test_traces_do_not_add_up(monkeypatch):
    from jax._src import util

    from symbcast.jax import dimension
    from symbcast.paths.path import Path

    def entries():
        return sum(c.cache_info().currsize for c in list(util._caches) if hasattr(c, "cache_keys"))

    def traced(count):
        for _ in range(count):
            sb.jax.trace(lambda x, y: jnp.where(x > 0, x, y), "n", "m")
        gc.collect()
        return entries()

    monkeypatch.setattr(dimension, "MAX_ENTRIES", 20)
    before = traced(10)
    assert traced(10) <= before + 20
    paths = [o for o in gc.get_objects() if type(o) is Path]
    assert len(paths) <= 1, "only the one that stands for all that ended"
