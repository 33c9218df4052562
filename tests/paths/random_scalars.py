"""Random functions with loops, scalars and branches of data, held against calls in a child process.

Each is source code made from a seed. Run as ``python tests/paths/random_scalars.py COUNT [SEED]``.
"""

import random
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from paths import held as holding

from symbcast.core.isolation import ChildProcess, DiedError, TimedOutError

SECONDS = 60
STEPS = (
    "k = int({number}); x = x[k:] if len(x) > {n} else x",
    "k = int(len(x) * {share}); x = x[:k]",
    "k = int(len(x) * {share}); x = np.concatenate([x[k:], x[:k]])",
    "k = math.ceil(len(x) / {m}); x = np.pad(x, (0, k * {m} - len(x)))",
    "k = math.isqrt(len(x)); x = x[: k * k]",
    "x = np.pad(x, (0, 2 ** math.ceil(math.log2(len(x))) - len(x)))",
    "x = x[: round(len(x) * {share})]",
    "rows = [r * 2 for r in y]; x = x[: len(rows)]",
    "rows = [r.sum() for r in y]; x = np.array(rows)",
    "rows = [y[0]]\n    for i in range(1, len(y)):\n        rows.append(rows[i - 1] + y[i])\n    y = np.array(rows)",
    "rows = [r for r in y]; y = np.stack(rows[{n}:])",
    "rows = [r for r in y]; x = rows[{n}]",
    "rows = [r for r in y]; x = rows[-{m}]",
    "y = np.stack([y[i : i + {m}].sum(0) for i in range(len(y) - {n})])",
    "y = np.stack([y[i] - y[i - 1] for i in range({n}, len(y))])",
    "x = np.concatenate([x[i : i + {m}] for i in range(0, len(x), {m})])",
    "x = np.array([x[i : i + s].sum() for i in range(0, len(x) - s + 1, s)])",
    "x = x * {share} if x.mean() > {share} else x",
    "x = x[1:] if x.sum() > {share} else x",
    "x = x[int(x.argmax()) :]",
    "label = f'{{x.sum():.3f}}'; x = x if label else x",
    "notes = {{'mean': f'{{x.sum():.2f}}', 'n': '%.1f' % x.sum()}}",
    "while x.sum() > {n}:\n        x = x / 2",
    "for _ in range(12):\n        x = x / 2\n        if x.sum() < {share}:\n            break",
    "for i in range(10):\n        x = x + i",
    "total = np.zeros(y.shape[1])\n    for r in y:\n        total = total + r\n    x = total",
    "best = y[0]\n    for r in y:\n        if r.sum() > best.sum():\n            best = r\n    x = best",
    "out = np.zeros(len(y))\n    for i, r in enumerate(y):\n        out[i] = r.sum()\n    x = out",
    "for i in range(s):\n        x = x + 1",
    "for i in range(s):\n        x = x[1:]",
    "for i in range(s):\n        x = np.append(x, i)",
    "n = 0\n    for r in y:\n        n += {m}\n    x = np.ones(n)",
    "x = np.zeros(len(y)); y = y + x",
    "x = x + y[0]",
    "y = y @ y.T",
    "x = x.reshape(-1, {m}).sum(1)",
    "out = np.zeros(y.shape)\n    for i, j in np.ndindex(y.shape):\n        out[i, j] = y[i, j]\n    y = out",
    "if len(x) * {share} > {n}:\n        x = x[1:]",
    "try:\n        x = x + y[0]\n    except (ValueError, IndexError):\n        x = x[:1]",
)


def source(seed):
    """The source of a random function."""
    rng = random.Random(seed)
    body = []
    for _ in range(rng.randint(1, 3)):
        numbers = {
            "n": rng.randint(0, 2),
            "m": rng.randint(1, 3),
            "share": rng.choice((0.1, 0.25, 0.3, 0.5, 0.7, 0.8, 0.29)),
            "number": rng.choice(("len(x) / 2", "0.7 * len(x)", "np.sqrt(len(x))")),
        }
        body.append(rng.choice(STEPS).format(**numbers))
    return "def function(x, y, s):\n    " + "\n    ".join(body) + "\n    return x, y\n"


def checked(seed):
    """Whether the trace of the function of a seed is complete, why not, and where it is wrong."""
    import linecache
    import math

    import symbcast as sb

    text, file = source(seed), f"/random_scalars_{seed}.py"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"np": np, "math": math, "__name__": "random_scalars"}
    exec(compile(text, file, "exec"), space)
    arguments = "N", "M, K", sb.size("S")
    report = sb.trace(space["function"], *arguments, max_paths=40)
    found = holding.held(report, space["function"], *arguments, sizes=range(5), most=100)
    return report.complete, report.reason, found.right, found.wrong


def main(count, first):
    counts, start = Counter(), time.perf_counter()
    with ChildProcess() as child:
        for seed in range(first, first + count):
            try:
                complete, reason, _, wrong = child.ask(checked, seed, SECONDS)
                outcome = "wrong" if wrong else "exact" if complete else "incomplete"
            except (DiedError, TimedOutError) as error:
                outcome, wrong, reason = "ended", str(error), ""
            counts[outcome] += 1
            if wrong or ("-v" in sys.argv and reason):
                print(outcome, seed, wrong, reason, source(seed), sep="\n", flush=True)
    print(dict(counts), f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    from paths import random_scalars  # a child process finds its functions by this name

    numbers = [int(a) for a in sys.argv[1:] if a.isdecimal()]
    random_scalars.main(numbers[0], numbers[1] if len(numbers) > 1 else 0)
