"""A survey: real functions of other packages, traced and held against themselves at all small sizes.

The functions are chosen by a rule, not by success. Of each module below, in the order of their names, the first
functions that

- are public, written in Python and defined in that package;
- need arrays only: there is a rank of 2, 1 and 3, in this order, at which random arrays of that rank and of sizes 5,
  one for each argument without a default, are taken, and numbers or arrays come back.

Each is traced with another name for each axis of each argument. Of einops, which needs patterns, it is the examples of
its front page, as they stand in `EINOPS`.

Run as ``python tests/paths/survey.py`` to print what became of each; with ``--record`` it is written to
``tests/data/survey.json``.
"""

import importlib
import inspect
import json
import string
import sys
import time
import types
import warnings
from pathlib import Path

import numpy as np

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))
from paths.held import held

import symbcast as sb

MODULES = {
    "numpy": 12,
    "numpy.linalg": 5,
    "numpy.fft": 3,
    "scipy.linalg": 5,
    "scipy.signal": 5,
    "scipy.stats": 5,
    "scipy.spatial.distance": 5,
    "sklearn.metrics": 5,
    "sklearn.metrics.pairwise": 5,
    "sklearn.preprocessing": 5,
    "sklearn.utils.extmath": 5,
    "skimage.color": 5,
    "skimage.exposure": 4,
    "skimage.metrics": 5,
    "skimage.transform": 4,
    "skimage.util": 4,
}
EINOPS = [
    ("rearrange", "b h w c -> (b h) w c", "B, H, W, C", {}),
    ("rearrange", "b h w c -> h (b w) c", "B, H, W, C", {}),
    ("rearrange", "(b1 b2) h w c -> (b1 h) (b2 w) c", "B, H, W, C", {"b1": 2}),
    ("reduce", "b h w c -> h w c", "B, H, W, C", {"reduction": "mean"}),
    ("reduce", "b (h h2) (w w2) c -> h (b w) c", "B, H, W, C", {"reduction": "max", "h2": 2, "w2": 2}),
    ("rearrange", "b (h h2) (w w2) c -> (h w2) (b w h2) c", "B, H, W, C", {"h2": 2, "w2": 2}),
    ("repeat", "h w -> h w c", "H, W", {"c": 3}),
    ("rearrange", "b c h w -> b (c h w)", "B, C, H, W", {}),
]
RANKS = (2, 1, 3)


def candidates(module_name):
    """The functions of a module that the rule admits, with the rank of their arguments."""
    module = importlib.import_module(module_name)
    package = module_name.partition(".")[0]
    for name in sorted(getattr(module, "__all__", dir(module))):
        function = getattr(module, name, None)
        inner = getattr(function, "_implementation", function)
        while hasattr(inner, "__wrapped__"):
            inner = inner.__wrapped__
        if name.startswith("_") or not isinstance(inner, types.FunctionType):
            continue
        if not inner.__module__.startswith(package):
            continue
        count = needed(inner)
        if not 1 <= count <= 3:
            continue
        rank = next((r for r in RANKS if is_taken(function, count, r)), None)
        if rank is not None:
            yield name, function, count, rank


def needed(function):
    """How many arguments have no default; 0 where one is to be named."""
    found = 0
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is parameter.empty:
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL):
                return 0
            found += parameter.kind is not parameter.VAR_KEYWORD
    return found


def is_taken(function, count, rank):
    """Whether random arrays of a rank are taken, and arrays or numbers come back."""
    random = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = function(*(random.random((5,) * rank) for _ in range(count)))
        except (Exception, SystemExit):  # some functions exit where their arguments do not fit
            return False
    values = found if isinstance(found, (tuple, list)) else [found]
    return len(values) > 0 and all(isinstance(v, (np.ndarray, np.number, float, bool)) for v in values)


def shapes(count, rank):
    """Shapes of some arguments, each axis with a name of its own."""
    names = iter(string.ascii_uppercase)
    return [", ".join(next(names) for _ in range(rank)) + "," * (rank == 1) for _ in range(count)]


def chosen():
    """All functions of the survey: their names, the functions, and the arguments."""
    for module, most in MODULES.items():
        for number, (name, function, count, rank) in enumerate(candidates(module)):
            if number == most:
                break
            yield f"{module}.{name}", function, shapes(count, rank)
    einops = importlib.import_module("einops")
    for name, pattern, shape, options in EINOPS:
        function = getattr(einops, name)

        def example(x, function=function, pattern=pattern, options=options):
            return function(x, pattern, **options)

        example.__wrapped__ = function
        yield f"einops.{name}({pattern})", example, [shape]


def row(name, function, arguments, sizes=range(7)):
    """What became of one function."""
    start = time.perf_counter()
    try:
        report = sb.trace(function, *arguments, max_paths=40)
    except Exception as error:
        return {"name": name, "outcome": "crash", "reason": repr(error)[:200]}
    seconds = time.perf_counter() - start
    checked = held(report, function, *arguments, sizes=sizes, most=343)
    outcome = "wrong" if checked.wrong else "exact" if report.complete else "incomplete"
    return {
        "name": name,
        "arguments": arguments,
        "outcome": outcome,
        "paths": report.paths,
        "condition": str(report.condition),
        "right": checked.right,
        "open": checked.open,
        "wrong": [str(w)[:200] for w in checked.wrong[:2]],
        "reason": report.reason[:200],
        "ms": round(seconds * 1000),
    }


if __name__ == "__main__":
    only = [a for a in sys.argv[1:] if not a.startswith("--")]
    rows = []
    for name, function, arguments in chosen():
        if only and not any(o in name for o in only):
            continue
        rows.append(row(name, function, arguments))
        r = rows[-1]
        print(
            r["outcome"],
            r["name"],
            *(f"{k}={r.get(k)}" for k in ("paths", "right", "open", "ms", "wrong", "reason")),
            flush=True,
        )
    for kind in ("exact", "incomplete", "wrong", "crash"):
        print(kind, sum(r["outcome"] == kind for r in rows))
    if "--record" in sys.argv:
        path = Path(__file__).parents[1] / "data" / "survey.json"
        path.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
