"""Functions of JAX traced: the exact condition, and constraints with which `jax.export` takes them."""

import math
import subprocess
import sys

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax import export  # noqa: E402
from paths import jax_cases  # noqa: E402

import symbcast as sb  # noqa: E402


def attention(q, k, mask):
    return jnp.einsum("btd,bsd->bts", q, k) + mask


def pooled(x):
    half = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2), (1, 2), "SAME")
    return jnp.repeat(half, 2, axis=1) + x


# Each: the function, its arguments, when it works, and whether jax exports it under constraints that it can hold.
CASES = {
    "add": (lambda x, y: x + y, ["n, 3", "m, 1"], "n == m or n == 1 or m == 1", True),
    "mask": (attention, ["b, t, d", "b, s, d", "b, 1, m"], "m == s or m == 1 or s == 1", True),
    "halves": (lambda x: x[: x.shape[0] // 2] * x[x.shape[0] // 2 :], ["n"], "n <= 3 or n % 2 == 0", True),
    "concatenate": (lambda x, y, z: jnp.concatenate([x, y]) + z, ["n", "m", "k"], "k == 1 or k == n + m", True),
    "matmul": (lambda x, y: jax.nn.gelu(x) @ y, ["n, d", "e, k"], "d == e", True),
    "pooled": (pooled, ["n, h"], "h == 1 or h % 2 == 0", True),
    "split": (lambda x: jnp.split(x, 2), ["n"], "n % 2 == 0", True),
    "len": (lambda x, y: jnp.zeros(len(x)) + y, ["n, d", "m"], "n == m or n == 1 or m == 1", True),
    "squeeze": (lambda x: jnp.squeeze(x, 1), ["n, m"], "m == 1", True),
    "vmap": (jax.vmap(jnp.dot), ["n, d", "m, d"], "n == m", True),
    "grad": (lambda x, y: jax.grad(lambda a: (a @ y).sum())(x), ["n, d", "e, k"], "d == e", True),
    "scan": (lambda x: jax.lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(x.shape[1]), x), ["n, d"], "True", True),
    "pad": (lambda x: jnp.pad(x, ((0, 8 - x.shape[0]),)), ["n"], "n <= 8", True),
    "softmax": (jax.nn.softmax, ["n, d"], "True", True),
    "reshape": (lambda x: x.reshape(-1, 4), ["n"], "n % 4 == 0", True),
    # Of two alternatives jax is told what one path asks: n >= 4.
    "if": (lambda x: x if x.shape[0] > 3 else x + x[:2], ["n"], "n != 3", True),
    "number": (lambda x: x.reshape(x.shape[0] // 2, 2), ["n"], "n % 2 == 0", True),
    "number, not divided": (lambda x: x[:8].reshape(8), ["n"], "n >= 8", True),
}


@pytest.mark.parametrize("name", CASES)
def test_the_condition_is_exact_and_jax_exports(name):
    function, arguments, condition, is_exported = CASES[name]
    report = sb.jax.trace(function, *arguments)
    assert report.complete, report.reason
    assert report.condition.equivalent(condition, min_size=1)
    if not is_exported:
        with pytest.raises(sb.DimensionError):
            report.export_constraints()
        return
    scope = export.SymbolicScope(report.export_constraints())
    texts = [a + "," * ("," not in a) for a in arguments]
    shapes = [jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), "float32") for text in texts]
    export.export(jax.jit(function))(*shapes)


def test_what_jax_checks_no_earlier_than_it_compiles_is_not_said():
    report = sb.jax.trace(lambda x: jax.lax.reshape(x, (x.shape[0] // 2, 2)), "n")
    assert report.verdict is sb.Verdict.UNKNOWN
    assert "jax.lax.reshape" in report.reason


def test_a_divmod_of_the_users_own_has_its_remainder():
    def rest(x):
        quotient, remainder = divmod(x.shape[0] * x.shape[1], 4 * x.shape[0])
        return jnp.zeros((quotient, remainder))

    report = sb.jax.trace(rest, "n, m")
    assert report.verdict is sb.Verdict.ALWAYS
    assert jax_cases.held(report, rest, ["n, m"]) == (16, 0, [])


def test_jax_is_as_before_after_a_trace():
    from jax._src import core

    held = {name: getattr(core, name) for name in ("definitely_equal", "definitely_equal_shape", "is_empty_shape")}
    sb.jax.trace(lambda x, y: x + y, "n", "m")
    with pytest.raises(KeyboardInterrupt):
        sb.jax.trace(interrupted, "n")
    assert all(getattr(core, name) is function for name, function in held.items())


def interrupted(x):
    raise KeyboardInterrupt


def test_pytrees_go_in_and_come_out():
    weights = {"w": sb.array("d, h", "float32"), "b": sb.array("h", "float32")}
    report = sb.jax.trace(lambda p, x: {"y": x @ p["w"] + p["b"]}, weights, "b, e", assume=["h >= 2", "b >= 2"])
    assert report.condition.equivalent("d == e", min_size=1)
    assert report.shapes == {"y": sb.shape("b, h")}


def test_findings_name_the_line():
    (finding,) = sb.jax.trace(lambda x, y: x @ y, "n, d", "e, k").findings
    assert finding.source.startswith("(finding,) = sb.jax.trace")


def test_without_jax_the_extra_is_named():
    code = "import sys; sys.modules['jax'] = sys.modules['numpy'] = None; import symbcast; symbcast.jax"
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "MissingExtraError: symbcast.jax needs the extra jax" in run.stderr


def test_functions_of_math_take_sizes_as_data():
    report = sb.jax.trace(lambda q: q / math.sqrt(q.shape[-1]) * math.log(q.shape[0], 2), "n, d")
    assert report.complete and str(report.shapes) == "(n, d)"
    for function in (lambda x: jnp.zeros(int(math.sqrt(x.shape[0]))), lambda x: x[: math.log(x.shape[0]) > 1]):
        assert sb.jax.trace(function, "n", observe=False).verdict is sb.Verdict.UNKNOWN
