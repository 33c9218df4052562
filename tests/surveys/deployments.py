"""Random modules deployed for ranges of sizes: what the check takes must run, and stay within the bounds.

    python tests/surveys/deployments.py 40 --start 0

Modules are those of `suggested_shapes.py`. At drawn sizes and at the corners, what the check takes is run by the
exported program with its guards and by the module; each value must be within its bounds. Inside the ranges, what both
run must be taken. With a C++ compiler, the check in C++ is compared with that in Python at 10,000 points.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from random import Random

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))
POINTS, CPP_POINTS = 300, 10_000
MAIN = """
#include <iostream>
int main() {
    for (int inputs; std::cin >> inputs;) {
        std::vector<std::vector<std::int64_t>> shapes(inputs);
        for (auto& shape : shapes) {
            int rank;
            std::cin >> rank;
            shape.resize(rank);
            for (auto& size : shape) std::cin >> size;
        }
        std::cout << accepts(shapes);
    }
}
"""


def held(number):
    """Deploy one module and hold it against runs; return counts and faults."""
    import random_modules
    import suggested_shapes
    import torch

    import symbcast as sb

    random = Random(number)
    drawn = suggested_shapes.related(number) if number % 2 else random_modules.drawn(number)
    if drawn is None:
        return {"counts": {"not drawn": 1}}
    module, example = drawn.module(), drawn.example()
    ranges = {
        f"x{n}_dim_{axis}": f"2..{size + random.choice((0, 1, 4, 9))}"
        for n, shape in enumerate(drawn.shapes)
        for axis, size in enumerate(shape)
        if random.random() < 0.8 and (n, axis) not in drawn.fixed
    }
    shapes = {f"x{n}": axes for n, axes in enumerate(drawn.dynamic())}
    counts, faults = Counter(), []
    try:
        deployed = sb.torch.deploy(module, example, ranges=ranges, dynamic_shapes=shapes)
    except sb.ModelError:
        return {"counts": {"unexported": 1}}
    except sb.BindingError as error:
        # A range of a size that torch fixes says so, and is left out.
        fixed = [name for name in ranges if name in str(error) or "no open size" in str(error)]
        open_sizes = {str(a.size) for a in sb.torch.check(module, example, dynamic_shapes=shapes)._model.declared.axes}
        ranges = {name: value for name, value in ranges.items() if name in open_sizes}
        if not fixed:
            return {"counts": {}, "faults": [f"binding: {error}"]}
        counts["range of a fixed size"] += 1
        try:
            deployed = sb.torch.deploy(module, example, ranges=ranges, dynamic_shapes=shapes)
        except sb.BindingError as other:
            return {"counts": {}, "faults": [f"binding: {other}"]}
    counts["deployed"] += 1
    counts["not proved"] += bool(deployed.report.unproven)
    check = python_check(deployed)
    if not check([tuple(x.shape) for x in example]):
        faults.append(f"the example is refused: {deployed}")
    runnable, bounds = deployed.program.module(), deployed.bounds().values
    for sizes in points(random, drawn, deployed):
        taken = check(sizes)
        tensors = tuple(torch.ones(s) for s in sizes)
        runs = [succeeds(f, tensors) for f in (runnable, module)]
        inside = all(
            (name not in ranges or int(ranges[name].partition("..")[2]) >= s[axis]) and s[axis] >= 2
            for n, s in enumerate(sizes)
            for axis in range(len(s))
            for name in [f"x{n}_dim_{axis}"]
            if (n, axis) not in drawn.fixed
        )
        counts["taken"] += taken
        if taken and not (all(runs) and inside):
            faults.append(f"taken, runs {runs}, inside {inside}: {sizes}; {deployed}"[:900])
        if not taken and all(runs) and inside:
            counts["refused though it runs"] += 1
            faults.append(f"refused, runs: {sizes}; {deployed}"[:900])
        if taken and not faults:
            faults += exceeded(deployed, bounds, tensors, sizes)
    for target in ("torch", "aoti", "executorch", "torch_tensorrt", "vllm"):
        try:
            deployed.to(target)
            counts[target] += 1
        except sb.TargetError:
            counts[f"{target} refused"] += 1
    faults += cpp_differences(random, drawn, deployed, check, counts)
    return {"counts": dict(counts), "faults": faults[:4]}


def python_check(deployed):
    """Return the check in Python."""
    space = {}
    exec(deployed.to_python(), space)
    return space["accepts"]


def points(random, drawn, deployed):
    """Return shapes: the corners of the ranges, drawn sizes, and sizes that are equal on many axes."""
    by_source = {a.source: deployed.ranges.get(str(a.size)) for a in deployed.report._model.declared.axes}
    ends = [
        [by_source[f"L['x{n}'].size()[{a}]"] or (s, s) for a, s in enumerate(d)] for n, d in enumerate(drawn.shapes)
    ]
    flat = [(low, min(high or 40, 40)) for shape in ends for low, high in shape]
    rows = list(itertools.islice(itertools.product(*(sorted({*e}) for e in flat)), 32))
    for _ in range(POINTS):
        few = random.sample(range(1, 30), 2)
        kind = random.random()
        rows.append(
            [random.choice(few) if kind < 0.3 and low != high else random.randint(low, high) for low, high in flat]
        )
    for row in rows:
        left = iter(row)
        yield [tuple(next(left) for _ in shape) for shape in drawn.shapes]


def succeeds(function, tensors):
    """Return whether a function runs."""
    try:
        function(*tensors)
    except Exception:  # whatever it says
        return False
    return True


def exceeded(deployed, bounds, tensors, sizes):
    """Return values of a run that are larger than their bounds say."""
    import torch

    found = []

    class Run(torch.fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            if isinstance(value, torch.Tensor) and node.name in bounds:
                found.append((node.name, tuple(value.shape), value.numel() * value.element_size()))
            return value

    program = deployed.program
    stored = {**program.state_dict, **program.constants}
    own = iter(tensors)
    inputs = [
        next(own) if s.kind.name == "USER_INPUT" else stored[s.target] for s in program.graph_signature.input_specs
    ]
    Run(program.graph_module).run(*inputs)
    for name, shape, count in found:
        most = bounds[name].bytes.greatest if bounds[name].bytes is not None else None
        axes = [axis.greatest for axis in bounds[name].axes]
        if (most is not None and count > most) or any(
            m is not None and s > m for s, m in zip(shape, axes, strict=True)
        ):
            return [f"bounds of {name}: {shape}, {count} bytes at {sizes}, of {axes}, {most}"]
    return []


def cpp_differences(random, drawn, deployed, check, counts):
    """Return shapes at which the checks in C++ and Python differ."""
    if shutil.which("g++") is None:
        return []
    rows = []
    for _ in range(CPP_POINTS // POINTS):
        rows += points(random, drawn, deployed)
    rows += [[(*s, 2) for s in rows[0]], rows[0][:-1]]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "check.cpp"
        source.write_text(deployed.to_cpp() + MAIN, "utf-8")
        binary = str(source.with_suffix(""))
        done = subprocess.run(
            ["g++", "-std=c++17", "-Wall", "-Werror", source, "-o", binary], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return [f"C++ does not compile: {done.stderr[:500]}"]
        lines = (" ".join([str(len(row)), *(" ".join(map(str, (len(s), *s))) for s in row)]) for row in rows)
        answers = subprocess.run([binary], input="\n".join(lines), capture_output=True, text=True, check=True).stdout
    counts["points in C++"] += len(rows)
    differ = [row for row, answer in zip(rows, answers, strict=True) if (answer == "1") is not check(row)]
    return [f"C++ differs at {row}" for row in differ[:2]]


def main():
    """Ask about modules, in this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--start", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    total, faulty = Counter(), 0
    for number in range(asked.start, asked.start + asked.count):
        print(f"# {number}", flush=True)
        found = held(number)
        total.update(found.get("counts", {}))
        for fault in found.get("faults", ()):
            faulty += 1
            print(json.dumps([number, fault]), flush=True)
    print(dict(total), f"{faulty} faults")


if __name__ == "__main__":
    main()
