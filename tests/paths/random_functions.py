"""Random functions of two or three arrays: broadcasts, slices, reshapes, joins, and ifs on sizes.

Run as ``python tests/paths/random_functions.py COUNT [SEED]`` to hold so many against NumPy at all sizes from 0 to 3.
"""

import random
import sys
import time
from pathlib import Path

import numpy as np

ARGUMENTS = ["N, M", "K, M", "N"]


class BrokenError(ValueError):
    """What a random function raises itself."""


def steps(rng):
    """A random function as data: a step is an operation on the arrays so far, and numbers."""
    found = []
    for _ in range(rng.randint(1, 5)):
        name = rng.choice(sorted(OPERATIONS))
        found.append((name, rng.randrange(8), rng.randrange(8), rng.randint(-3, 4), rng.randint(1, 3)))
    return found


def run(program, *arrays):
    """Run a random function: each step adds an array; the last one, and a size, are returned."""
    known = list(arrays)
    for name, left, right, number, step in program:
        known.append(OPERATIONS[name](known[left % len(known)], known[right % len(known)], number, step))
    return known[-1], known[-1].size


def _axis(x, number):
    return number % x.ndim if x.ndim else 0


def _slice(a, b, n, k):
    if not a.ndim:
        return a
    return a[n::k] if n > 0 else a[: n or None : -k] if k == 3 else a[:n]


def _last(a, b, n, k):
    return a[..., n : n + k] if a.ndim else a


def _half(a, b, n, k):
    if not a.ndim:
        return a
    half = a.shape[0] // 2
    return a[:half] + a[half : 2 * half] if n > 0 else a[:half] * a[half:]


def _guard(a, b, n, k):
    if a.shape != b.shape:
        if a.size < b.size and k > 1:
            raise BrokenError("smaller")
        return a
    return a + b


def _if(a, b, n, k):
    if a.ndim and a.shape[0] > n:
        return a * 2
    if b.ndim and b.shape[-1] % (k + 1) == 1:
        return b.reshape(-1)
    return a.sum(axis=0) if a.ndim else a


def _caught(a, b, n, k):
    try:
        return a @ b
    except ValueError:
        return a


def _index(a, b, n, k):
    return a[n] if a.ndim else a


def _argsort(a, b, n, k):
    return a[np.argsort(b, axis=0)] if a.ndim and b.ndim == 1 else a


def _stack(a, b, n, k):
    return np.stack([a, b], axis=_axis(a, n))


OPERATIONS = {
    "add": lambda a, b, n, k: a + b,
    "outer": lambda a, b, n, k: a[..., None] * b if a.ndim < 3 else a,
    "matmul": lambda a, b, n, k: a @ b if a.ndim and b.ndim else a,
    "transposed": lambda a, b, n, k: a @ b.T if a.ndim and b.ndim else a,
    "concatenate": lambda a, b, n, k: np.concatenate([a, b], axis=_axis(a, n)) if a.ndim and b.ndim else a,
    "flat": lambda a, b, n, k: a.reshape(-1, k) if n > 1 else a.ravel(),
    "as": lambda a, b, n, k: a.reshape(b.shape),
    "swap": lambda a, b, n, k: a.reshape(a.shape[::-1]),
    "repeat": lambda a, b, n, k: np.repeat(a, k, axis=_axis(a, n)) if a.ndim else a,
    "pad": lambda a, b, n, k: np.pad(a, k, mode="edge" if n > 2 else "constant") if a.ndim else a,
    "max": lambda a, b, n, k: a.max(axis=_axis(a, n), keepdims=k > 1) if a.ndim else a,
    "mean": lambda a, b, n, k: a.mean(axis=_axis(a, n)) if a.ndim else a,
    "diff": lambda a, b, n, k: np.diff(a, axis=_axis(a, n)) if a.ndim else a,
    "broadcast": lambda a, b, n, k: np.broadcast_to(a, b.shape),
    "squeeze": lambda a, b, n, k: np.squeeze(a, axis=_axis(a, n)) if a.ndim else a,
    "where": lambda a, b, n, k: np.where(a > 0, a, b),
    "windows": lambda a, b, n, k: np.lib.stride_tricks.sliding_window_view(a, k, axis=0) if 0 < a.ndim < 3 else a,
    "split": lambda a, b, n, k: np.array_split(a, k)[n % k] if a.ndim else a,
    "slice": _slice,
    "last": _last,
    "half": _half,
    "guard": _guard,
    "if": _if,
    "caught": _caught,
    "index": _index,
    "argsort": _argsort,
    "stack": _stack,
}


def checked(seed, most=64):
    """Trace the random function of a seed and hold it against NumPy; return the report and how it compares."""
    from paths.held import held

    import symbcast as sb

    program = steps(random.Random(seed))

    def function(*arrays):
        return run(program, *arrays)

    report = sb.trace(function, *ARGUMENTS, max_paths=40)
    return program, report, held(report, function, *ARGUMENTS, sizes=range(4), most=most)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    start, exact, left, wrong = time.perf_counter(), 0, 0, 0
    for seed in range(first, first + count):
        program, report, found = checked(seed)
        exact += report.complete and not found.wrong
        left += not report.complete
        if found.wrong:
            wrong += 1
            print("WRONG", seed, program, found, flush=True)
    print(f"{count} functions: {exact} exact, {left} incomplete, {wrong} wrong, {time.perf_counter() - start:.0f} s")
