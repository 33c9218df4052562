"""Random functions that use functions as values: as keys, defaults, identities, pickles, in tables, sets and caches.

Each is a module made from a seed. One child process traces its function; another one, in which nothing was ever traced,
calls it at all sizes from 0 to 5. Run as ``python tests/paths/random_values.py COUNT [SEED]``.
"""

import importlib
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from symbcast.core.isolation import ChildProcess, DiedError, TimedOutError

SECONDS = 60
SIZES = range(6)

HEAD = """
import builtins, collections, copy, dataclasses, enum, functools, inspect, itertools, math
import operator, pickle, sys, types, weakref
import numpy as np
from numpy import {A} as A, {B} as B

HOLD = [np.{A}, np.{B}, len, max]
TABLE = {{np.{A}: 0, np.{B}: 1, len: 2, np: 3, set: 4, math.sqrt: 5, functools.partial: 6}}
NAMES = {{"a": np.{A}, "b": np.{B}, "np": np, "len": len}}
KNOWN = {{np.{A}, len}}
FROZEN = frozenset(HOLD)
PART = functools.partial(np.{A})
PARTS = {{PART: 7}}
MODULES = (np, math, functools)
ORDERED = sorted(HOLD, key=lambda f: f.__name__)
REGISTRY = {{}}
KEPT = []
PICKLED = pickle.dumps(np.{A})

class Holder:
    op = np.{A}
    static = staticmethod(np.{A})
    table = {{"a": np.{A}}}
    def __init__(self):
        self.op2 = np.{A}
    def same(self):
        return self.op2 is np.{A}

@dataclasses.dataclass
class Config:
    reduce: object = np.{A}
    module: object = np

class Kind(enum.Enum):
    FIRST = enum.nonmember(np.{A}) if hasattr(enum, "nonmember") else 1
    LAST = 2

def registered(function):
    REGISTRY[function.__name__] = function
    return function

@registered
def helper(x):
    return np.{A}(x, axis=0) if x.ndim else x

def by_default(f=np.{A}, *, g=A):
    return f is np.{A} and g is f

@functools.lru_cache(maxsize=None)
def name_of(f):
    return f.__name__

@functools.lru_cache
def kind_of(f):
    return f

@functools.singledispatch
def kinds(value):
    return "other"

@kinds.register
def _(value: types.FunctionType):
    return "function"

@kinds.register
def _(value: types.BuiltinFunctionType):
    return "builtin"

def memo(f):
    if f not in REGISTRY:
        REGISTRY[f] = len(REGISTRY)
    return REGISTRY[f]

def closed(f=None):
    g = np.{A}
    def inner():
        return g is np.{A} and g is HOLD[0]
    return inner

CLOSED = closed()

def spec(f):
    try:
        return len(inspect.getfullargspec(f).args)
    except TypeError:
        return -1

def parameters(f):
    try:
        return list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        return []

def raises(f, *args):
    try:
        f(*args)
    except Exception as error:
        return type(error).__name__
    return ""

"""

FACTS = (
    "np.{A} is np.{A}", "HOLD[0] is np.{A}", "A is np.{A}", "np.{A} is not np.{B}", "NAMES['a'] is A",
    "HOLD.index(np.{A}) == 0", "HOLD.count(np.{B}) == 1", "np.{A} in HOLD", "A in KNOWN", "np.{B} in KNOWN",
    "np.{A} in TABLE", "TABLE[np.{A}] == 0", "TABLE.get(B) == 1", "TABLE[len] == 2", "TABLE[np] == 3",
    "TABLE[set] == 4",
    "TABLE[math.sqrt] == 5", "np.{A} in FROZEN and max in FROZEN", "len({{np.{A}, A, HOLD[0]}}) == 1",
    "hash(np.{A}) == hash(HOLD[0])", "id(np.{A}) == id(HOLD[0])", "np.{A} == HOLD[0]", "np.{A} != HOLD[0]",
    "operator.is_(np.{A}, HOLD[0])", "operator.eq(np.{A}, HOLD[0])", "operator.contains(HOLD, A)",
    "any(f is np.{A} for f in HOLD)", "len([f for f in HOLD if f is not np.{A}]) == 3", "ORDERED[0] is len",
    "sorted([np.{A}, np.{B}], key=lambda f: f.__name__)[0] is np.{A}", "min([np.{A}, A], key=id) is A",
    "pickle.loads(pickle.dumps(np.{A})) is HOLD[0]", "pickle.loads(PICKLED) is np.{A}",
    "pickle.loads(pickle.dumps({{'f': [np.{A}]}}))['f'][0] is A", "pickle.dumps(np.{A}) == PICKLED",
    "copy.copy(np.{A}) is A", "copy.deepcopy(HOLD)[0] is np.{A}", "copy.deepcopy({{np.{A}: 1}}) == {{A: 1}}",
    "isinstance(np.{A}, types.FunctionType)", "isinstance(np.{A}, types.BuiltinFunctionType)", "callable(np.{A})",
    "isinstance(len, types.BuiltinFunctionType)", "type(np.{A}) is type(HOLD[0])", "type(np.{A}) is types.FunctionType",
    "type(np.{A}).__name__ == type(HOLD[0]).__name__", "type(len) is types.BuiltinFunctionType",
    "isinstance(np, types.ModuleType)", "type(np) is types.ModuleType", "np is sys.modules['numpy']",
    "np in MODULES", "MODULES.index(np) == 0", "NAMES['np'] is np", "np.linalg is sys.modules['numpy.linalg']",
    "np.{A}.__name__ == '{A}'", "np.{A}.__qualname__ == HOLD[0].__qualname__", "np.{A}.__module__ == 'numpy'",
    "np.{A}.__doc__ is HOLD[0].__doc__", "repr(np.{A}) == repr(HOLD[0])", "str(np.{A}) == f'{{HOLD[0]}}'",
    "hasattr(np.{A}, '__wrapped__')", "hasattr(np.{A}, '__code__')", "hasattr(np.{A}, '__get__')",
    "hasattr(np.{A}, '__self__')", "dir(np.{A}) == dir(HOLD[0])", "getattr(np.{A}, '__defaults__', 0) is None",
    "inspect.isfunction(np.{A})", "inspect.isbuiltin(np.{A})", "inspect.isroutine(np.{A})", "inspect.ismodule(np)",
    "inspect.isclass(np.ndindex)", "inspect.isclass(np.{A})", "'axis' in parameters(np.{A})",
    "len(parameters(np.{A})) == len(parameters(HOLD[0]))", "spec(np.{A}) > 0", "spec(np.{A}) == spec(HOLD[0])",
    "inspect.unwrap(np.{A}) is inspect.unwrap(HOLD[0])", "inspect.getmodule(np.{A}) is not None",
    "functools.partial(np.{A}).func is HOLD[0]", "PART.func is np.{A}", "PARTS[PART] == 7", "PART == PART",
    "functools.partial(A, axis=0).keywords == {{'axis': 0}}", "getattr(np, '{A}') is HOLD[0]",
    "vars(np)['{A}'] is np.{A}", "np.__dict__['{A}'] is HOLD[0]", "sys.modules['numpy'].{A} is np.{A}",
    "set is type(set())", "isinstance({{1}}, set)", "{{set: 1}}.get(type({{1}})) == 1", "type({{1}}) is set",
    "len is builtins.len", "max is HOLD[3]", "{{len: 1}}[len] == 1", "NAMES['len'] is len", "len.__name__ == 'len'",
    "weakref.ref(np.{A})() is np.{A}", "Holder.table['a'] is np.{A}", "Holder().same()", "Holder().op2 is A",
    "Holder.static is np.{A}", "vars(Holder)['op'] is np.{A}", "Config().reduce is np.{A}", "Config().module is np",
    "Config() == Config(reduce=A)", "dataclasses.asdict(Config())['reduce'] is A", "by_default()", "by_default(A)",
    "name_of(np.{A}) == '{A}'", "kind_of(np.{A}) is HOLD[0]", "kinds(np.{A}) == kinds(HOLD[0])",
    "kinds(np.{A}) == 'function'", "memo(np.{A}) == memo(HOLD[0])", "CLOSED()", "closed()()",
    "functools.wraps(np.{A})(lambda x: x).__wrapped__ is A", "isinstance(np.add, np.ufunc)", "np.add in {{np.add: 1}}",
    "np.float64 is np.dtype('f8').type", "issubclass(np.float32, np.floating)", "np.ndindex is type(np.ndindex(2))",
    "isinstance(np.ndindex(2), np.ndindex)", "isinstance(np.broadcast(1, 2), np.broadcast)",
    "isinstance(np.random.default_rng(0), np.random.Generator)", "np.random.Generator in {{np.random.Generator}}",
    "raises(lambda: np.{A}.no_such_name) == 'AttributeError'", "raises(lambda: HOLD[0] + 1) == 'TypeError'",
    "raises(lambda: TABLE[np.median]) == 'KeyError'", "raises(lambda: {{}}[np.{A}]) == 'KeyError'",
    "next(i for i, f in enumerate(HOLD) if f is B) == 1", "dict(zip(HOLD, range(4)))[np.{B}] == 1",
    "list(map(operator.attrgetter('__name__'), HOLD))[0] == '{A}'", "np.array([1, 2]).sum.__name__ == 'sum'",
    "itertools.groupby([A, np.{A}]).__next__()[0] is A", "collections.Counter([np.{A}, A])[HOLD[0]] == 2",
)  # fmt: skip
STEPS = (
    "x = NAMES['{k}'](x, axis=0)", "x = HOLD[{i}](x, axis=0)", "x = getattr(np, '{R}')(x, axis=0)",
    "x = functools.partial(np.{R}, axis=0)(x)", "x = functools.partial(np.{R}, x)(axis=0)", "x = helper(x)",
    "x = REGISTRY['helper'](x)", "x = functools.reduce(np.add, [x, x])", "x = Holder.static(x, axis=0)",
    "x = Holder().op2(x, axis=0)", "x = Config().reduce(x, axis=0)", "x = Config().module.concatenate([x, x])",
    "x = next(f for f in HOLD if f is np.{A})(x, axis=0)",
    "x = {{True: np.{R}, False: np.sort}}[x.ndim > 1](x, axis=0)",
    "x = list(map(np.{R}, [x]))[0] + x", "x = np.zeros(TABLE[len])", "x = x[: TABLE[np.{B}] + 1]",
    "x = x[HOLD.index(B):]",
    "x = np.zeros(NAMES['len'](x))", "x = (lambda f, *a: f(*a))(np.concatenate, [x, x])",
    "x = operator.methodcaller('sum', axis=0)(x)", "x = operator.call(np.{R}, x) + x",
    "x = max([x, x[:1]], key=len)", "x = sorted([x, x[:1]], key=len)[0]", "x = np.apply_along_axis(np.{R}, 0, x)",
    "KEPT.append(np.{R}); x = KEPT[-1](x, axis=0)", "REGISTRY['f'] = np.{R}; x = REGISTRY['f'](x, axis=0)",
    "f = NAMES.get('a', np.{R}); x = f(x, axis=0)", "x = np.{R}(x, axis=TABLE[np.{A}])", "x = x.sum(TABLE[np.{A}])",
    "x = np.asarray(x)[1:]", "x = np.ones(x.shape[0] // 2)", "x = [g(x) for g in (np.asarray, np.array)][0]",
    "x = np.vectorize(float)(x)", "x = np.stack([f(x, axis=0) for f in HOLD[:2]])",
    "x = np.random.default_rng(0).random(x.shape)", "x = x.reshape(-1, 2)", "x = x + y", "x = x @ y", "x = x[2:]",
)  # fmt: skip
REDUCERS = ("sum", "mean", "max", "min", "prod", "any", "ptp", "median", "sort", "cumsum", "var", "flip")


def source(seed):
    """The source of a module with a random function."""
    rng = random.Random(seed)
    first, second, third = rng.sample(REDUCERS, 3)
    names = {"A": first, "B": second, "R": rng.choice((first, second, third))}

    def filled(text):
        return text.format(**names, k=rng.choice("ab"), i=rng.randrange(2))

    lines = []
    for _ in range(rng.randint(1, 3)):
        fact = filled(rng.choice(FACTS))
        kind = rng.randrange(6)
        if kind < 2:
            lines.append(f"x = x if {fact} else x.sum(0)")
        elif kind == 2:
            lines.append(f"if not ({fact}): raise ValueError('not so')")
        elif kind == 3:
            lines.append(f"k = len(x) if {fact} else 3; x = x[: k - 1]")
        elif kind == 4:
            lines.append(f"if x.shape[0] > {rng.randint(0, 3)} and {fact}: x = x[1:]")
        else:
            lines.append(f"assert ({fact}) or x.shape[0] < {rng.randint(0, 4)}")
        if rng.random() < 0.7:
            lines.append(filled(rng.choice(STEPS)))
    body = "\n    ".join(lines)
    return HEAD.format(**names) + f"def function(x, y):\n    {body}\n    return x\n"


def module_of(seed, folder):
    """The module of a seed, imported."""
    name = f"of_values_{seed}"
    file = Path(folder) / f"{name}.py"
    if not file.exists():
        file.write_text(source(seed))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    return importlib.import_module(name)


ARGUMENTS = "N, 3", "N, 3"


def called(place):
    """What the function of a seed does at each size: a shape, or the name of an error."""
    function = module_of(*place).function
    found = []
    for n in SIZES:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found.append(np.shape(function(np.ones((n, 3)), np.ones((n, 3)))))
            except Exception as error:
                found.append(type(error).__name__)
    return found


def traced(place):
    """What the trace of the function of a seed says at each size: a shape, an error, or None; and the reason."""
    import symbcast as sb
    from symbcast.core.solver.evaluation import holds_at, size_at
    from symbcast.paths.answer import conclusions_of

    module = module_of(*place)
    before = dict(vars(module)), list(module.HOLD), dict(module.TABLE), dict(module.NAMES)
    report = sb.trace(module.function, *ARGUMENTS)
    after = dict(vars(module)), list(module.HOLD), dict(module.TABLE), dict(module.NAMES)
    kept = all(map(is_same, before, after)) and "symbcast" not in repr([module.REGISTRY, module.KEPT])
    (size,) = conclusions_of(report).scope.names
    found = []
    for n in SIZES:
        case = None if holds_at(report.unexplored.formula, {size: n}) else report.at(N=n)
        if case is None or (case.works and not hasattr(case.value, "dims")):
            found.append(None if case is None or case.error else ())
        else:
            found.append(case.error or tuple(size_at(d, {size: n}) for d in case.value.dims))
    return found, report.reason, kept


def is_same(before, after):
    """Whether a dict or a list holds the same objects as before."""
    if isinstance(before, list):
        return len(before) == len(after) and all(a is b for a, b in zip(before, after, strict=True))
    return before.keys() <= after.keys() and all(after[k] is before[k] for k in before)


def compared(seed, folder, tracing, calling):
    """The outcome for a seed: right, open, wrong, or changed if the trace left something in the module; and what."""
    said, reason, kept = tracing.ask(traced, (seed, folder), SECONDS)
    real = calling.ask(called, (seed, folder), SECONDS)
    pairs = [(s, r) for s, r in zip(said, real, strict=True) if s is not None]
    if any(isinstance(s, str) != isinstance(r, str) or (not isinstance(s, str) and s != r) for s, r in pairs):
        return "wrong", (said, real, reason)
    if not kept:
        return "changed", reason
    return ("right" if len(pairs) == len(said) else "open"), (said, real, reason)


def main(count, first):
    counts, start = Counter(), time.perf_counter()
    with ChildProcess() as tracing, ChildProcess() as calling, tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                outcome, what = compared(seed, folder, tracing, calling)
            except (DiedError, TimedOutError) as error:
                outcome, what = "ended", str(error)
            counts[outcome] += 1
            if outcome not in ("right", "open") or ("-v" in sys.argv and outcome == "open"):
                body = source(seed)
                print(outcome, seed, what, body[body.index("def function") :], sep="\n", flush=True)
    print(dict(counts), f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    from paths import random_values  # a child process finds its functions by this name

    numbers = [int(a) for a in sys.argv[1:] if a.isdecimal()]
    random_values.main(numbers[0], numbers[1] if len(numbers) > 1 else 0)
