"""Code that sympy writes for shapes and conditions: at integers, at arrays, and where something has no value."""

import itertools
import shutil
import subprocess

import numpy as np
import pytest
import sympy

import symbcast as sb

SYMBOLS = sympy.symbols("N M K", integer=True, nonnegative=True)
SHAPES = [
    "broadcast(N, M)",
    "broadcast(N, M, K)",
    "2*broadcast(N, M) + K",
    "N//M",
    "N % M",
    "(N + M)//K",
    "(M - N) % K",
]
CONDITIONS = ["broadcast(N, M) == K", "N//M == K", "N % M <= 1", "compatible(N, M, K, 3)", "N//M != 2", "not N//M == K"]
POINTS = list(itertools.product(range(5), repeat=3))


def join(*sizes):
    others = {size for size in sizes if size != 1}
    if len(others) > 1:
        raise sb.DimensionError(sizes, "clash")
    return others.pop() if others else 1


def value(text, point):
    """Return the size at a point, or the kind of error."""
    scope = {"broadcast": join, **dict(zip("NMK", point, strict=True))}
    try:
        return eval(text, scope)
    except (ZeroDivisionError, sb.DimensionError) as error:
        return type(error)


def size(text):
    (found,) = sb.shape(f"[{text}]")
    return found


@pytest.mark.parametrize("modules", ["math", "numpy", "sympy", "mpmath", "scipy", None])
@pytest.mark.parametrize("text", SHAPES)
def test_sizes_at_integers(text, modules):
    compiled = sympy.lambdify(SYMBOLS, size(text), modules=modules)
    for point in POINTS:
        expected = value(text, point)
        if isinstance(expected, type):
            with pytest.raises(expected):
                compiled(*point)
        else:
            assert compiled(*point) == expected, point


@pytest.mark.parametrize("text", SHAPES)
def test_sizes_at_arrays(text):
    compiled = sympy.lambdify(SYMBOLS, size(text), modules="numpy")
    good = [p for p in POINTS if not isinstance(value(text, p), type)]
    found = compiled(*np.array(good).T)
    assert found.tolist() == [value(text, p) for p in good]
    with pytest.raises((ZeroDivisionError, sb.DimensionError)):
        compiled(*np.array(POINTS).T)


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions_at_integers_and_arrays(text):
    condition = sb.Condition(text)
    guard = condition.guard()
    expected = [guard({n: p["NMK".index(n)] for n in guard.parameters}) for p in POINTS]
    for modules in ("math", "numpy"):
        compiled = sympy.lambdify(SYMBOLS, condition, modules=modules)
        assert [bool(compiled(*p)) for p in POINTS] == expected
    assert compiled(*np.array(POINTS).T).tolist() == expected


@pytest.mark.parametrize("text", SHAPES)
def test_python_source_runs_by_itself(text):
    source = sympy.pycode(size(text), fully_qualified_modules=True)
    import symbcast.core.algebra.arithmetic  # noqa: F401 - the source names it

    for point in POINTS:
        expected = value(text, point)
        if not isinstance(expected, type):
            assert eval(source, {"symbcast": sb, **dict(zip("NMK", point, strict=True))}) == expected


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_c_source_gives_the_same_where_there_are_values(tmp_path):
    lines = []
    for text, point in itertools.product(SHAPES, POINTS):
        if not isinstance(value(text, point), type) and "//K" not in text:  # sympy writes its own floors in floats
            sizes = "".join(f"long long {n} = {s}; " for n, s in zip("NMK", point, strict=True))
            test = f"({sympy.ccode(size(text))}) != {value(text, point)}"
            lines.append(f"{{ {sizes}(void)N; (void)M; (void)K; if ({test}) return 1; }}")
    source = tmp_path / "sizes.c"
    source.write_text("int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
    subprocess.run(["cc", "-o", tmp_path / "sizes", source], check=True)
    assert subprocess.run([tmp_path / "sizes"], check=False).returncode == 0
