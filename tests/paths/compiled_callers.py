"""A survey: functions of packages that compiled code is in, each traced in a child process and held against itself.

Of each module below, every callable that takes one of the argument lists of `PATTERNS`, at sizes 4 and 5, and gives
arrays or numbers back. Each child process may be killed by what it runs: that is counted, and is a fault where the
real runs alone do not kill it.

Run as ``python tests/paths/compiled_callers.py [words]``: it prints what is wrong or killed, and how many were
traced exactly, incompletely, or not at all. It takes some 20 minutes.
"""

import contextlib
import importlib
import inspect
import io
import itertools
import pkgutil
import sys
import warnings
from collections import Counter
from importlib.machinery import ExtensionFileLoader
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

import numpy as np

import symbcast as sb
from symbcast.core.isolation import DiedError, IsolatedFunction, TimedOutError

MODULES = [
    "numpy.fft",
    "numpy.linalg",
    "numpy.linalg._umath_linalg",
    "numpy.random",
    "numpy._core._multiarray_umath",
    "scipy.cluster.hierarchy",
    "scipy.cluster.vq",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.sparse",
    "scipy.sparse.csgraph",
    "scipy.sparse.linalg",
    "scipy.spatial",
    "scipy.spatial.distance",
    "scipy.special",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.covariance",
    "sklearn.decomposition",
    "sklearn.feature_extraction.image",
    "sklearn.isotonic",
    "sklearn.linear_model",
    "sklearn.manifold",
    "sklearn.metrics",
    "sklearn.metrics.pairwise",
    "sklearn.neighbors",
    "sklearn.preprocessing",
    "sklearn.utils",
    "sklearn.utils.extmath",
    "sklearn.utils.random",
    "skimage.color",
    "skimage.exposure",
    "skimage.feature",
    "skimage.filters",
    "skimage.filters.rank",
    "skimage.graph",
    "skimage.measure",
    "skimage.morphology",
    "skimage.restoration",
    "skimage.segmentation",
    "skimage.transform",
]
PACKAGES = ["scipy", "sklearn", "skimage"]
"""Their compiled modules are taken too, whatever they are called."""
F2, F1, I2, I1, B2 = "f8:2", "f8:1", "i8:2", "i8:1", "?:2"
PATTERNS = [
    (F2,), (F1,), (F2, F2), (F1, F1), (F2, F1), (F2, 2), (F1, 2), (I2,), (I1,), (B2,), (I1, I1), (F2, I1),
    (F1, F1, F1), (F2, F2, F2), ("n",), ("n", 3), ("n", "n"), (F2, 1, 2), (F2, F1, 1), (2, F1), (F2, F2, 2),
]  # fmt: skip
SECONDS = 30
UNSAFE = ("test", "show_config", "set_", "get_include", "_seterr", "breakpoint", "save", "load", "write", "open")


def names_of(module_name):
    """The names of the callables of a module."""
    with quiet():
        try:
            module = importlib.import_module(module_name)
        except Exception:
            return []
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("__")]
    compiled = isinstance(getattr(module.__spec__, "loader", None), ExtensionFileLoader)
    found = []
    for name in sorted(names):
        value = getattr(module, name, None)
        if callable(value) and not any(u in name for u in UNSAFE) and (compiled or not inspect.isclass(value)):
            found.append(name)
    return found


def modules():
    """All modules of the survey."""
    yield from MODULES
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        for info in pkgutil.walk_packages(path, f"{package}.", onerror=lambda _: None):
            if ".tests" not in info.name and "conftest" not in info.name:
                with contextlib.suppress(Exception):
                    spec = importlib.util.find_spec(info.name)
                    if spec is not None and isinstance(spec.loader, ExtensionFileLoader):
                        yield info.name


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def function_of(module_name, name):
    function = getattr(importlib.import_module(module_name), name)

    def call(*args):
        return function(*args)

    return call


def real(kind, size):
    if kind == "n":
        return size
    if not isinstance(kind, str):
        return kind
    dtype, _, rank = kind.partition(":")
    shape = (size,) * int(rank)
    return np.random.default_rng(0).random(shape) if dtype == "f8" else np.ones(shape, dtype)


def pattern_of(job):
    """The first pattern that a function takes, by its number; -1 where there is none. Run in a child."""
    module_name, name, first = job
    with quiet():
        function = function_of(module_name, name)
        for number, pattern in list(enumerate(PATTERNS))[first:]:
            with contextlib.suppress(Exception, SystemExit):
                found = function(*(real(k, 5) for k in pattern))
                values = found if isinstance(found, (tuple, list)) else [found]
                if len(values) and all(
                    v is None or isinstance(v, (np.ndarray, np.generic, float, int)) for v in values
                ):
                    return number
    return -1


def traced(job):
    """What became of the trace of a function: its outcome, and why. Run in a child."""
    from paths.held import held

    module_name, name, number = job
    function = function_of(module_name, name)
    letters = iter("ABCDEFG")
    arguments = []
    for kind in PATTERNS[number]:
        if kind == "n":
            arguments.append(sb.size(next(letters)))
        elif isinstance(kind, str):
            dtype, _, rank = kind.partition(":")
            shape = ", ".join(next(letters) for _ in range(int(rank))) + "," * (rank == "1")
            arguments.append(sb.array(shape, dtype))
        else:
            arguments.append(kind)
    with quiet():
        report = sb.trace(function, *arguments, max_paths=24)
        found = held(report, function, *arguments, sizes=range(6), most=64)
    kind = "wrong" if found.wrong else "exact" if report.complete else "incomplete"
    return kind, str(found.wrong[:2]) if found.wrong else report.reason[:120]


def killed_alone(job):
    """Do what the comparison does without a trace: whether that kills the child by itself. Run in a child."""
    module_name, name, number = job
    kinds = [(k, 1 if k == "n" else int(k[-1]) if isinstance(k, str) else 0) for k in PATTERNS[number]]
    every = list(itertools.product(range(6), repeat=sum(rank for _, rank in kinds)))
    with quiet():
        function = function_of(module_name, name)
        for sizes in every[:: -(-len(every) // 64)]:
            left = iter(sizes)
            with contextlib.suppress(Exception, SystemExit):
                function(*(shaped(k, [next(left) for _ in range(rank)]) for k, rank in kinds))


def shaped(kind, sizes):
    if not isinstance(kind, str):
        return kind
    if kind == "n":
        return sizes[0]
    return np.random.default_rng(0).random(sizes) if kind.startswith("f8") else np.ones(sizes, kind.partition(":")[0])


def outcome(module_name, name):
    """What became of one function."""
    number = 0
    while True:
        try:
            number = IsolatedFunction(pattern_of, SECONDS)((module_name, name, number))
            break
        except DiedError:
            return "killed by real arguments", "", -1
        except (TimedOutError, Exception):
            return "not taken", "", -1
    if number < 0:
        return "not taken", "", number
    job = module_name, name, number
    try:
        return *IsolatedFunction(traced, SECONDS)(job), number
    except TimedOutError:
        return "too long", "", number
    except DiedError as error:
        try:
            IsolatedFunction(killed_alone, SECONDS)(job)
        except DiedError:
            return "killed by small sizes alone", str(error), number
        return "killed", str(error), number
    except Exception as error:
        return "error", repr(error)[:200], number


def main(words):
    counts, seen = Counter(), set()
    for module_name in modules():
        if words and not any(w in module_name for w in words):
            continue
        for name in names_of(module_name):
            value = getattr(importlib.import_module(module_name), name)
            if id(value) in seen:
                continue
            seen.add(id(value))
            kind, said, number = outcome(module_name, name)
            counts[kind] += 1
            if kind in ("wrong", "killed", "error", "too long") or (kind.startswith("killed")):
                print(kind, f"{module_name}.{name}", PATTERNS[number], said, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    from paths import compiled_callers  # a child process finds its functions by this name

    compiled_callers.main(sys.argv[1:])
