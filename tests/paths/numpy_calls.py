"""NumPy's whole public API, called in the ways it accepts, traced and compared with NumPy at all small sizes.

Calls are generated, not chosen by success: every public function of the modules in `MODULES`, every method of arrays
and some methods of universal functions are tried with arguments drawn from `KINDS`; a call that NumPy runs at some
sizes is traced, and once more with each of the `OPTIONS` that NumPy accepts for it. `tests/data/numpy_calls.txt` has
calls that a generator does not find.

A call runs in a child process, so that one that kills Python is counted and named. Run as
``python tests/paths/numpy_calls.py`` to print what became of each; ``--only TEXT`` keeps calls that contain a text,
``--part 3/8`` an eighth of them.
"""

import argparse
import collections
import inspect
import itertools
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

from symbcast.paths.answer import conclusions_of

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

DATA = Path(__file__).parents[1] / "data"
MODULES = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.lib.stride_tricks": np.lib.stride_tricks,
    "np.lib.array_utils": np.lib.array_utils,
}
KINDS = {
    "v": ("N", "float64"),
    "w": ("M", "float64"),
    "a": ("N, M", "float64"),
    "b": ("K, L", "float64"),
    "i": ("K", "int64"),
    "j": ("K, L", "int64"),
    "t": ("N", "bool"),
    "u": ("N, M", "bool"),
    "c": ("N, M, K", "float64"),
}
ONE = ("v", "a", "i", "t", "[v, w]", "[a, b]", "(2, 3)", "c")
TWO = ("w", "b", "i", "t", "2", "0", "1.5", "[0, 2]", "(2, -1)", "a", "u", "[i]", "[t]")
THREE = ("w", "v", "i", "1", "b")
OPTIONS = (DATA / "numpy_options.txt").read_text("utf-8").splitlines()
UFUNCS = ("add", "maximum", "logical_and", "subtract", "negative", "isfinite", "divmod", "ldexp", "hypot")
UFUNC_CALLS = (DATA / "ufunc_calls.txt").read_text("utf-8").splitlines()
LISTED = (DATA / "numpy_calls.txt").read_text("utf-8").splitlines()
FILLS = ("zeros", "ones", "mixed", "rising", "falling")
SIZES = range(6)
MOST = 216
"""At most so many sizes of one call are compared, spread evenly over all of them."""


def public_names():
    """The public functions and methods, as text and as Python holds them."""
    for prefix, module in MODULES.items():
        for name in sorted(set(getattr(module, "__all__", dir(module)))):
            function = getattr(module, name, None)
            if name.startswith("_") or not callable(function) or isinstance(function, type) or SKIPPED.fullmatch(name):
                continue
            yield f"{prefix}.{name}", function
    for name in sorted(dir(np.ndarray)):
        method = getattr(np.ndarray, name)
        if not name.startswith("_") and callable(method) and not SKIPPED.fullmatch(name):
            for array in ("v", "a", "i"):
                yield f"{array}.{name}", method


def public_calls(part, parts):
    """The texts of calls that NumPy accepts at some sizes: of a part of the public functions and methods."""
    for text, function in list(public_names())[part - 1 :: parts]:
        yield from calls_of(text, function)
    calls = [f"np.{name}{'' if c[0] == '(' else '.'}{c.format(a='a')}" for name in UFUNCS for c in UFUNC_CALLS]
    yield from (c for c in calls[part - 1 :: parts] if runs(c))


SKIPPED = re.compile("|".join((
    "dump|tofile|save.*|load.*|from(file|buffer|regex)|genfromtxt|open_memmap",  # files
    "(get|set)(bufsize|err|errcall)|(get_|set_)?print_?options|errstate|info|test|show_.*|get_include",  # settings
)))  # fmt: skip
"""What reads or writes files, or settings of NumPy."""


def calls_of(text, function):
    counts = (0, 1, 2) if text[1] == "." else (1, 2, 3)
    for count in counts:
        pools = {0: [], 1: [ONE], 2: [ONE, TWO], 3: [("v", "a"), ("w", "i", "2", "b"), THREE]}[count]
        if text[1] == "." and count:
            pools = [TWO, THREE][:count]
        kept = 0
        for arguments in itertools.product(*pools):
            call = f"{text}({', '.join(arguments)})"
            if not runs(call):
                continue
            kept += 1
            yield call
            if kept == 1:
                taken = named_of(function)
                for option in OPTIONS:
                    if taken is None or option.partition("=")[0] in taken:
                        more = f"{call[:-1]}{', ' * bool(arguments)}{option})"
                        if runs(more):
                            yield more
            if kept >= 5:
                break


def named_of(function):
    try:
        parameters = inspect.signature(function).parameters
    except (ValueError, TypeError):
        return None
    return None if any(p.kind is p.VAR_KEYWORD for p in parameters.values()) else set(parameters)


def names_in(call):
    names = set(compile(call, "call", "eval").co_names)
    for code in compile(call, "call", "eval").co_consts:
        names |= set(getattr(code, "co_names", ()))
    return [k for k in KINDS if k in names]


def values_of(names, at, fill):
    """Arrays at some sizes: zeros, ones, values that differ within each array, or from one array to the next."""
    for number, name in enumerate(names):
        text, dtype = KINDS[name]
        shape = [at[s.strip()] for s in text.split(",")]
        if fill in ("rising", "falling"):
            yield np.full(shape, number if fill == "rising" else -number).astype(dtype)
        elif fill == "mixed":
            made = np.modf(np.arange(1, int(np.prod(shape)) + 1) * 0.6180339887498949)[0].reshape(shape)
            yield (made * 3).astype(dtype) if dtype == "int64" else made > 0.5 if dtype == "bool" else made
        else:
            yield getattr(np, fill)(shape, dtype)


def function_of(call):
    names = names_in(call)
    return names, eval(f"lambda {', '.join(names)}: {call}", {"np": np})


def runs(call):
    """Whether NumPy runs a call at some small sizes."""
    names, function = function_of(call)
    symbols = sorted({s.strip() for n in names for s in KINDS[n][0].split(",")})
    if not names:
        return False
    for values in ((2, 2, 2, 2), (2, 3, 3, 2), (3, 2, 1, 3), (1, 1, 1, 1)):
        at = dict(zip(symbols, values, strict=False))
        for fill in ("zeros", "mixed"):
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    function(*values_of(names, at, fill))
            except Exception:
                continue
            return True
    return False


def real_results(function, names, at):
    """What NumPy does at some sizes: the shapes for each filling, None where it fails."""
    from paths.held import shapes_of

    for fill in FILLS:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found = function(*values_of(names, at, fill))
            except np.linalg.LinAlgError as error:
                if "square" in str(error) or "dimensional" in str(error):
                    yield None
                continue
            except Exception:
                yield None
                continue
        yield tuple(shapes_of(found))


def outcome(call):
    """What became of a call: ``right``, ``unknown`` with the reason, or ``wrong`` with the sizes."""
    from paths.held import _evaluated, _fits, shapes_of

    import symbcast as sb
    from symbcast.core.solver.evaluation import holds_at

    names, function = function_of(call)
    report = sb.trace(function, *(sb.array(*KINDS[n]) for n in names))
    symbols = {s: str(s) for s in conclusions_of(report).scope.names}
    data = list(conclusions_of(report).exploration.data)
    every = list(itertools.product(SIZES, repeat=len(symbols)))
    known = 0
    for values in every[:: -(-len(every) // MOST)]:
        at = dict(zip(symbols, values, strict=True))
        reals = list(real_results(function, names, {name: at[s] for s, name in symbols.items()}))
        if not reals:
            continue
        told, is_open = set(), False
        counts = sorted({*range(4), *values, int(np.prod(values))})
        choices = [range(2) if s.upper == 1 else [n for n in counts if n >= s.lower] for s in data[:3]]
        for decided in itertools.product(*choices):
            there = {**at, **dict.fromkeys(data, 0), **dict(zip(data, decided, strict=False))}
            is_open = is_open or holds_at(report.unexplored.formula, there)
            told |= {
                None if case.error else tuple(_evaluated(shapes_of(case.value), there, data))
                for case in report.cases
                if holds_at(case.condition.formula, there)
            }
        if is_open:
            continue
        working = [r for r in reals if r is not None]
        # Suitable data decide: where some data work, the trace must say so, and what comes out.
        try:
            guard = report.guard()(**{str(s): n for s, n in at.items()})
        except sb.UndecidedError:  # the answer is open there, and says so
            continue
        known += 1
        if data and working and guard:
            # Data that suit may be of sizes that were not tried: what comes out in any case counts then.
            told |= {
                tuple(_evaluated(shapes_of(c.value), {**at, **dict.fromkeys(data, 0)}, data))
                for c in report.cases
                if c.works
            }
        if guard < bool(working) or not any(_fits(t, r) for t in told for r in working or [None]):
            there = {str(s): n for s, n in at.items()}
            return "wrong", f"at {there}: told {sorted(map(str, told))}, real {reals}"
        if data == [] and guard != bool(working):
            return "wrong", f"the guard at {at}"
    return ("right", report.verdict.value) if known else ("unknown", report.reason)


def child():
    """Read calls from stdin, write what became of each."""
    for line in sys.stdin:
        call = json.loads(line)
        try:
            found = outcome(call)
        except Exception as error:  # what a trace raises is a mistake
            found = "raised", f"{type(error).__name__}: {error}"
        print(json.dumps([call, *found]), file=sys.__stdout__, flush=True)


def results(calls):
    """What became of each call, each run in a child process; the one at which a child dies is killed."""
    waiting = iter(calls)
    call = next(waiting, None)
    while call is not None:
        process = subprocess.Popen(
            [sys.executable, __file__, "--child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        while call is not None:
            process.stdin.write(json.dumps(call) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            while line and not line.startswith("["):  # LAPACK prints
                line = process.stdout.readline()
            yield json.loads(line) if line else [call, "killed", str(process.wait())]
            call = next(waiting, None)
            if not line:
                break
        process.stdin.close()
        process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--listed", action="store_true", help="only calls of tests/data/numpy_calls.txt")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.child:
        return child()
    part, parts = map(int, arguments.part.split("/"))
    calls = LISTED[part - 1 :: parts] if arguments.listed else public_calls(part, parts)
    calls = (c for c in dict.fromkeys(calls) if arguments.only in c and names_in(c))
    if arguments.list:
        print(*calls, sep="\n")
        return None
    counts = collections.Counter()
    for call, kind, text in results(calls):
        counts[kind] += 1
        print(f"{kind:8} {call}   {text}", flush=True)
    print(dict(counts))
    return None


if __name__ == "__main__":
    main()
