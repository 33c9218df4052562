"""Guards as those who take them run them: Python, a C++ compiler, z3, and MLIR's own parser and verifier.

Each function takes (condition, names) pairs or answers with guards, and points for each: tuples of sizes in the order
of the names. It returns for each pair whether the guard holds at each of its points. All pairs go through a consumer
at once.
"""

from __future__ import annotations

import itertools
import operator
import re
import shutil
import subprocess
from functools import reduce
from pathlib import Path

import numpy as np
import z3

from symbcast.answers.guards.languages.cpp import cpp_source
from symbcast.answers.guards.languages.mlir import mlir_source
from symbcast.answers.guards.languages.python import python_source
from symbcast.answers.guards.languages.smtlib import smtlib_source

COMPILER = shutil.which("g++")
STRICT = ("-Wall", "-Wextra", "-Werror", "-O1")


SOURCES = {"python": python_source, "cpp": cpp_source, "smtlib": smtlib_source, "mlir": mlir_source}


def source(language, guarded, name="guard"):
    """Return the source of a guard: of a condition and its names, or of an answer by its own method."""
    if isinstance(guarded, tuple):
        return SOURCES[language](*guarded, name)
    return getattr(guarded, f"to_{language}")(name)


def small_points(pairs, stop=7):
    """Return, for each pair, every choice of sizes below ``stop``."""
    return [list(itertools.product(range(stop), repeat=len(names))) for _, names in pairs]


def python_tables(pairs, points):
    tables = []
    for pair, sizes in zip(pairs, points, strict=True):
        namespace = {}
        exec(source("python", pair), namespace)
        tables.append([namespace["guard"](*point) for point in sizes])
    return tables


def cpp_tables(pairs, points, folder, flags=("-O0", "-w")):
    """Compile all guards as one source into ``folder``, with a main that reads the points, and run it."""
    sources = [source("cpp", pair, f"guard_{n}") for n, pair in enumerate(pairs)]
    program = build("".join(sources) + _main([len(sizes[0]) for sizes in points]), Path(folder), flags)
    numbers = (str(size) for sizes in points for part in ([(len(sizes),)], sizes) for point in part for size in point)
    run = subprocess.run([program], input=" ".join(numbers), capture_output=True, text=True, check=True, timeout=120)
    return [[c == "1" for c in line] for line in run.stdout.split("\n")[: len(pairs)]]


def build(source, folder, flags=STRICT):
    """Return the program that a C++ source compiles to; raise with the compiler's words where it does not."""
    path, program = folder / "guards.cpp", folder / "guards"
    path.write_text(source, encoding="utf-8")
    run = subprocess.run(
        [COMPILER, "-std=c++17", *flags, path, "-o", program], capture_output=True, text=True, check=False, timeout=300
    )
    assert run.returncode == 0, run.stderr[:4000]
    return program


def _main(arities):
    calls = []
    for n, arity in enumerate(arities):
        sizes = ", ".join(f"s[{place}]" for place in range(arity))
        calls.append(f"    table({arity}, [](const std::int64_t* s) {{ (void)s; return guard_{n}({sizes}); }});\n")
    return f"""\
#include <cstdio>
#include <vector>
template <class Guard> void table(int arity, Guard guard) {{
    long count = 0;
    if (std::scanf("%ld", &count) != 1) return;
    std::vector<std::int64_t> sizes(arity + 1);
    while (count-- > 0) {{
        for (int n = 0; n < arity; ++n) {{
            long size = 0;
            if (std::scanf("%ld", &size) != 1) return;
            sizes[n] = size;
        }}
        std::putchar(guard(sizes.data()) ? '1' : '0');
    }}
    std::putchar('\\n');
}}
int main() {{
{"".join(calls)}}}
"""


def smtlib_tables(pairs, points):
    """Have z3 evaluate the script's own function at each point."""
    tables = []
    for pair, sizes in zip(pairs, points, strict=True):
        script = source("smtlib", pair).replace("(check-sat)\n", "")
        calls = (f"(guard {' '.join(map(_smt_number, point))})" if point else "guard" for point in sizes)
        asked = script + "".join(f"(simplify {call})\n" for call in calls)
        context = z3.Context()
        answers = z3.Z3_eval_smtlib2_string(context.ref(), asked).split()
        assert len(answers) == len(sizes) and {*answers} <= {"true", "false"}, answers[:20]
        tables.append([answer == "true" for answer in answers])
    return tables


def _smt_number(value):
    return str(value) if value >= 0 else f"(- {-value})"


def mlir_tables(pairs, points):
    """Have MLIR parse and verify each module, and interpret the operations it has then, at all points at once."""
    from iree.compiler import ir

    tables = []
    with ir.Context(), ir.Location.unknown():
        for pair, sizes in zip(pairs, points, strict=True):
            module = ir.Module.parse(source("mlir", pair))
            assert module.operation.verify()
            function = module.body.operations[0]
            assert function.operation.name == "func.func"
            columns = [np.array(column, dtype=object) for column in zip(*sizes, strict=True)]
            tables.append(_Interpreter(len(sizes)).run(function.regions[0].blocks[0], columns))
    return tables


class _Interpreter:
    """Runs operations on arrays with one element a point; a witness is an array of whether it is passed.

    Integers wrap around at their width, ``index`` at 64 bits; a division by 0 raises.
    """

    def __init__(self, count):
        self.count = count
        self.values = {}

    def run(self, block, arguments):
        self.values.update(zip(block.arguments, arguments, strict=True))
        for op in block.operations:
            operands = [self.values[operand] for operand in op.operands]
            name = op.operation.name
            if name in ("func.return", "shape.assuming_yield"):
                return operands[0]
            if name == "shape.assuming":
                result = operands[0] & self.run(op.regions[0].blocks[0], [])
            else:
                result = self.wrapped(OPERATIONS[name](self, op, *operands), op.results[0].type)
            self.values[op.results[0]] = result
        raise AssertionError("a block without an end")

    def full(self, value):
        return np.full(self.count, value, dtype=object)

    def wrapped(self, result, kind):
        width = 64 if str(kind) == "index" else int(found[1]) if (found := re.fullmatch(r"i(\d+)", str(kind))) else 1
        if width == 1:
            return result
        half = 1 << (width - 1)
        return (result + half) % (2 * half) - half


COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def _constant(run, op):
    text = str(op.attributes["value"]).split(" : ")[0]
    return run.full({"true": True, "false": False}.get(text) if text in ("true", "false") else int(text))


def _compare(_, op, left, right):
    predicate = int(str(op.attributes["predicate"]).split(" : ")[0])
    return COMPARISONS[predicate](left, right).astype(bool)


def _broadcastable(run, _, *shapes):
    common = run.full(1)
    fits = np.ones(run.count, dtype=bool)
    for extent in shapes:
        fits &= ((extent == 1) | (common == 1) | (extent == common)).astype(bool)
        common = np.where(common == 1, extent, common)
    return fits


def _one_of_two(function):
    return lambda _, __, left, right: function(left, right)


OPERATIONS = {
    "arith.constant": _constant,
    "arith.cmpi": _compare,
    "arith.select": lambda _, __, test, left, right: np.where(test.astype(bool), left, right),
    "arith.addi": _one_of_two(operator.add),
    "arith.subi": _one_of_two(operator.sub),
    "arith.muli": _one_of_two(operator.mul),
    "arith.floordivsi": _one_of_two(operator.floordiv),
    "arith.minsi": _one_of_two(np.minimum),
    "arith.maxsi": _one_of_two(np.maximum),
    "arith.andi": _one_of_two(operator.and_),
    "arith.ori": _one_of_two(operator.or_),
    "arith.xori": _one_of_two(operator.xor),
    "arith.index_cast": lambda _, __, size: size,
    "tensor.from_elements": lambda _, __, size: size,
    "shape.is_broadcastable": _broadcastable,
    "shape.cstr_broadcastable": _broadcastable,
    "shape.cstr_require": lambda _, __, test: test.astype(bool),
    "shape.const_witness": lambda run, op: run.full("true" in str(op.attributes["passing"])).astype(bool),
    "shape.assuming_all": lambda _, __, *witnesses: reduce(operator.and_, witnesses),
}


def all_tables(pairs, points, folder):
    """Return what every consumer that is here says, by its name."""
    tables = {
        "python": python_tables(pairs, points),
        "smtlib": smtlib_tables(pairs, points),
        "mlir": mlir_tables(pairs, points),
    }
    if COMPILER is not None:
        tables["cpp"] = cpp_tables(pairs, points, folder)
    return {name: [[bool(v) for v in t] for t in found] for name, found in tables.items()}
