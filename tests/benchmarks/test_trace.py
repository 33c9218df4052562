"""Traces: what a path costs, what a function of many operations does, and what it costs to merge a hundred paths.

python -m pytest tests/benchmarks/test_trace.py --benchmark-enable --benchmark-columns=min,median,rounds
"""

import pytest

np = pytest.importorskip("numpy")

import symbcast as sb  # noqa: E402
from benchmarks import traces  # noqa: E402

STEPS = (
    "h = np.maximum(x @ w{0}, 0)",
    "h = h + b",
    "h = h - h.mean(-1, keepdims=True)",
    "h = np.concatenate([h, h], axis=-1)[:, ::2]",
    "x = h.reshape(-1, 8) if h.shape[0] > 0 else h",
)


def program(operations):
    """Return a function of as many operations of arrays, one a line, with comments between them as code has."""
    lines = [STEPS[n % len(STEPS)].format(n % 3) for n in range(operations)]
    body = "\n".join(f"    # step {n}\n\n    assert x.ndim == 2\n    {line}" for n, line in enumerate(lines))
    source = f"def f(x, b, w0, w1, w2):\n{body}\n    return x"
    space = {"np": np}
    exec(compile(source, __file__, "exec"), space)
    return space["f"]


def remainders(sizes):
    total = 0
    for size in sizes:
        total += size + size % 2 if size % 2 else size
    return total


def broadcasts(sizes):
    found = []
    for a, b in zip(sizes[::2], sizes[1::2], strict=True):
        if a in (b, 1):
            found.append(b)
        elif b == 1:
            found.append(a)
        else:
            raise ValueError(f"{a} beside {b}")
    return tuple(found)


def rounds(sizes):
    h, w = sizes
    skips = []
    for _ in range(3):
        skips.append((h, w))
        h, w = (h + 1) // 2, (w + 1) // 2
    for skip in reversed(skips):
        h, w = (2 * n - 1 if 2 * n != s else 2 * n for n, s in zip((h, w), skip, strict=True))
    return h, w


def first(sizes):
    (size,) = sizes
    for n in range(99):
        if size == n:
            return 2 * n
    return size


RUNS = {
    "remainders": (remainders, "A, B, C, D, E, F, G"),
    "broadcasts": (broadcasts, "A, B, C, D, E, F, G, H"),
    "rounds": (rounds, "H, W"),
    "first": (first, "N"),
}


@pytest.mark.parametrize("name", RUNS)
def test_run_all_paths(benchmark, name):
    run, sizes = RUNS[name]
    found = benchmark.pedantic(sb.explore_paths, (run, sizes), rounds=3)
    benchmark.extra_info["paths"] = found.paths
    assert found.complete


@pytest.mark.parametrize("name", RUNS)
def test_merge_all_paths(benchmark, name):
    run, sizes = RUNS[name]

    def explored():
        return (sb.explore_paths(run, sizes),), {}

    merged = benchmark.pedantic(lambda found: (found.condition, found.cases, found.findings), setup=explored, rounds=3)
    assert merged[1]


@pytest.mark.parametrize("operations", [10, 50])
def test_trace_a_function_of_many_operations(benchmark, operations):
    function = program(operations)
    report = benchmark.pedantic(sb.trace, (function, "N, 8", "K", "8, 8", "8, 8", "8, 8"), rounds=5, warmup_rounds=1)
    assert report.complete
    assert [k for k in range(10) if report.at(N=3, K=k).works] == [1, 8]


@pytest.mark.parametrize("name", traces.CASES)
def test_one_path(benchmark, name):
    report = benchmark(traces.CASES[name].ask)
    assert report.complete
    assert report.verdict is sb.Verdict.ALWAYS
