"""Random functions of three arrays: broadcasts, slices, reshapes, joins, and ifs on sizes.

The wide ones have an integer argument too, which is a size, and loops, reductions, rearrangements and errors caught.

Run as ``python tests/paths/random_functions.py COUNT [SEED] [--wide]`` to hold so many against NumPy at sizes from 0 to
3.
"""

import random
import sys
import time
from pathlib import Path

import numpy as np

ARGUMENTS = ["N, M", "K, M", "N"]


class BrokenError(ValueError):
    """What a random function raises itself."""


def steps(rng, operations):
    """A random function as data: a step is an operation on the arrays so far, and numbers."""
    found = []
    for _ in range(rng.randint(1, 5)):
        name = rng.choice(sorted(operations))
        found.append((name, rng.randrange(8), rng.randrange(8), rng.randint(-3, 4), rng.randint(1, 3)))
    return found


def run(program, *arrays):
    """Run a random function: each step adds an array; the last one, and a size, are returned."""
    known = list(arrays)
    for name, left, right, number, step in program:
        known.append(OPERATIONS[name](known[left % len(known)], known[right % len(known)], number, step))
    return known[-1], known[-1].size


def run_wide(program, *arguments):
    """Run a wide random function: its operations are given the size too."""
    *arrays, size = arguments
    known = list(arrays)
    for name, left, right, number, step in program:
        a, b = known[left % len(known)], known[right % len(known)]
        known.append(WIDE[name](a, b, number, step, size))
    return known[-1], known[-1].ndim, size // 2


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


def _reduced(a, b, n, k, m):
    ways = (a.sum, a.min, a.prod, a.std, a.argmin, a.any)
    return np.asarray(ways[n % 6](axis=_axis(a, k))) if a.ndim else a


def _reduced_all(a, b, n, k, m):
    axes = tuple(range(a.ndim))[: max(k, 1)]
    return a.sum(axis=axes, keepdims=n > 1) if a.ndim else a


def _loop(a, b, n, k, m):
    found = a
    for place in range(k):
        found = found + b[place] if b.ndim else found + place
    return found


def _counted(a, b, n, k, m):
    if m > 3:
        return a
    found = np.zeros(b.shape)
    for place in range(m):
        found = found + place
    return found


def _tried(a, b, n, k, m):
    try:
        return np.concatenate([a, b], axis=0)
    except ValueError:
        return a.reshape(m, -1) if n > 1 else b


def _tried_index(a, b, n, k, m):
    try:
        return a[m]
    except IndexError:
        return b


def _einsum(a, b, n, k, m):
    match a.ndim, b.ndim:
        case 2, 2:
            return np.einsum(("ij,jk->ik", "ij,ij->i", "ij,kj->ikj")[n % 3], a, b)
        case 2, 1:
            return np.einsum("ij,j->i" if n > 0 else "ij,i->ji", a, b)
        case 1, 1:
            return np.einsum("i,j->ij" if n > 0 else "i,i->", a, b)
        case _:
            return a


def _chunks(a, b, n, k, m):
    if not a.ndim or a.shape[0] % (k + 1):
        return a
    return a.reshape(k + 1, a.shape[0] // (k + 1), *a.shape[1:])


def _padded_to(a, b, n, k, m):
    if not a.ndim or a.shape[0] >= m:
        return a
    return np.pad(a, [(0, m - a.shape[0])] + [(0, 0)] * (a.ndim - 1))


def _stacked(a, b, n, k, m):
    return (np.vstack, np.hstack, np.column_stack)[n % 3]([a, b]) if 0 < a.ndim < 3 and 0 < b.ndim < 3 else a


def _window(a, b, n, k, m):
    return a[m : m + k] if n > 0 and a.ndim else a[-m:] if a.ndim else a


WIDE = {
    "reduced": _reduced,
    "reduced_all": _reduced_all,
    "loop": _loop,
    "counted": _counted,
    "tried": _tried,
    "tried_index": _tried_index,
    "einsum": _einsum,
    "chunks": _chunks,
    "padded_to": _padded_to,
    "stacked": _stacked,
    "window": _window,
    "negative": lambda a, b, n, k, m: a[::-k] if n > 2 and a.ndim else a[-k:n] if a.ndim else a,
    "take": lambda a, b, n, k, m: np.take(a, [n, -k], axis=_axis(a, n)) if a.ndim else a,
    "full": lambda a, b, n, k, m: a + np.full((m, k), 1.0),
    "arange": lambda a, b, n, k, m: a * np.arange(n, m + k),
    "repeated": lambda a, b, n, k, m: np.repeat(a, m, axis=_axis(a, n)) if a.ndim else a,
    "tiled": lambda a, b, n, k, m: np.tile(a, (k, 1) if n > 0 else m) if a.ndim < 3 else a,
    "moved": lambda a, b, n, k, m: np.moveaxis(a, 0, -1) if a.ndim else a,
    "swapped": lambda a, b, n, k, m: np.swapaxes(a, 0, -1).reshape(-1) if a.ndim else a,
    "rolled": lambda a, b, n, k, m: np.roll(a, n, axis=0) if a.ndim else a,
    "squeezed": lambda a, b, n, k, m: np.squeeze(a),
    "added": lambda a, b, n, k, m: a + b,
    "expanded": lambda a, b, n, k, m: np.expand_dims(a, _axis(a, n)) if a.ndim < 3 else a,
    "rows": lambda a, b, n, k, m: a[np.arange(m) % max(a.shape[0], 1)] if a.ndim else a,
    "divided": lambda a, b, n, k, m: a.reshape(m // k, -1) if n > 1 else a.reshape(-1, m % (k + 1) + 1),
    "by": lambda a, b, n, k, m: a[: a.shape[0] // (m + 1)] if a.ndim else a,
    "cumulative": lambda a, b, n, k, m: np.cumsum(a, axis=_axis(a, n)) if a.ndim else a,
    "outer": lambda a, b, n, k, m: np.outer(a, b),
    "diagonal": lambda a, b, n, k, m: np.diagonal(a, n) if a.ndim == 2 else a,
    "triangle": lambda a, b, n, k, m: np.tril(a, n) if a.ndim > 1 else a,
    "split": lambda a, b, n, k, m: np.split(a, [k, m])[n % 3] if a.ndim else a,
    "matmul": lambda a, b, n, k, m: a @ b if a.ndim and b.ndim else a,
    "meshed": lambda a, b, n, k, m: np.meshgrid(a, b)[n % 2] if a.ndim == b.ndim == 1 else a,
    "minimum": lambda a, b, n, k, m: a[: min(m, b.shape[0])] if a.ndim and b.ndim else a,
    "inner": lambda a, b, n, k, m: np.inner(a, b) if a.ndim < 3 and b.ndim < 3 else a,
    "where": lambda a, b, n, k, m: np.where(a > n, a, b),
    "sorted": lambda a, b, n, k, m: np.sort(a, axis=_axis(a, n)) if a.ndim else a,
    "delete": lambda a, b, n, k, m: np.delete(a, n, axis=0) if a.ndim else a,
    "insert": lambda a, b, n, k, m: np.insert(a, k, 0.0, axis=0) if a.ndim else a,
    "flip": lambda a, b, n, k, m: np.rot90(a, k) if a.ndim > 1 else np.flip(a),
}


def checked(seed, most=64, wide=False):
    """Trace the random function of a seed and hold it against NumPy; return the report and how it compares."""
    from paths.held import held

    import symbcast as sb

    program = steps(random.Random(seed), WIDE if wide else OPERATIONS)
    arguments = [*ARGUMENTS, sb.size("S")] if wide else ARGUMENTS

    def function(*given):
        return (run_wide if wide else run)(program, *given)

    report = sb.trace(function, *arguments, max_paths=40)
    return program, report, held(report, function, *arguments, sizes=range(4), most=most)


if __name__ == "__main__":
    sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))
    numbers = [int(a) for a in sys.argv[1:] if a.isdecimal()]
    count, first = numbers[0], numbers[1] if len(numbers) > 1 else 0
    start, exact, left, wrong = time.perf_counter(), 0, 0, 0
    for seed in range(first, first + count):
        program, report, found = checked(seed, wide="--wide" in sys.argv)
        exact += report.complete and not found.wrong
        left += not report.complete
        if "-v" in sys.argv and not report.complete:
            print("left", seed, program, report.reason, flush=True)
        if found.wrong:
            wrong += 1
            print("WRONG", seed, program, found, flush=True)
    print(f"{count} functions: {exact} exact, {left} incomplete, {wrong} wrong, {time.perf_counter() - start:.0f} s")
