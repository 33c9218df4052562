"""Random modules exported by torch and held against runs of them, and what came of that.

    python tests/surveys/survey_exported_modules.py 500 --start 0

Modules are drawn by number (`random_modules.py`), so that one can be drawn again: ``--show 17`` prints it. They
are asked about in batches, each in its own process: a module that ends its process is named, and the others go on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from random import Random

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))
BATCH, POINTS, LARGEST = 25, 60, 6


def survey(numbers, is_indexed=False, is_traced=False):
    """Yield what comes of modules, as a dictionary for each; the number is printed first, should the process end."""
    drawn, kinds = source(is_indexed)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for number in numbers:
        print(f"# {number}", flush=True)
        module = drawn(number)
        hold = held_trace if is_traced else held
        yield {"number": number, **hold(module, number, kinds)}


def source(is_indexed):
    """Return what draws modules, and the kinds of data that they are run with."""
    if is_indexed:
        import random_index_modules

        return random_index_modules.drawn, ("zeros", "random", "positive", "rising")
    import random_modules

    return random_modules.drawn, ("zeros",)


def held(drawn, number=0, kinds=("zeros",)):
    """Hold the report of a module against runs of its graph and of the module; return counts and what is wrong.

    ``kinds`` are the kinds of data of the runs.
    """
    import torch

    import symbcast as sb

    module = drawn.module()
    try:
        program = torch.export.export(module, drawn.example(), dynamic_shapes=drawn.dynamic())
        if number % 3 == 2:
            program = program.run_decompositions()
    except Exception as error:  # what torch does not export is no question here
        return {"unexported": f"{type(error).__name__}"}
    random = Random(number)
    least = random.choice((0, 1))
    try:
        report = sb.torch.check(program, min_size=least)
        return _compared(program, module, report, _points(random, report, least), kinds)
    except Exception as error:  # whatever it is, it is the module's finding, and the others go on
        return {"faults": [f"error {type(error).__name__}: {error}"[:300]]}


def _points(random, report, least):
    """Return sizes at which a module is run: all of them, or some that are drawn, from among small ones."""
    names = list(report.guard().names.values())
    sizes = range(least, LARGEST + 1)
    if len(sizes) ** len(names) <= POINTS:
        points = list(itertools.product(sizes, repeat=len(names)))
    else:
        points = [_drawn_point(random, (*sizes, 8, 9), len(names)) for _ in range(POINTS)]
    return [dict(zip(names, point, strict=True)) for point in points]


def _drawn_point(random, sizes, count):
    """Return sizes from a pool of a few: many axes must be equal for a module to run."""
    pool = random.sample(sizes, random.choice((1, 2, 2, 3, len(sizes))))
    return tuple(random.choice(pool) for _ in range(count))


def _compared(program, module, report, points, kinds):
    import torch
    from graph_runs import run

    from symbcast.torch.guards.comparison import ArgumentMaker, error_of

    arguments, runs_there = ArgumentMaker(program, report._model.declared), report.guard()
    accepts, digest = program.module()._guards_fn, report.guards.condition.guard()
    counts, faults, ranks = Counter(), [], _ranks(program)
    is_recorded = any("as torch recorded" in u.reason for u in report.unanalysed)
    open_nodes = {u.node for u in report.unanalysed}
    alarms = [str(u) for u in report.unanalysed if "does not require" in u.reason]
    for sizes in points:
        args, kwargs = arguments.at(sizes)
        given = tuple(torch.zeros_like(a) for a in args), kwargs  # data that index what there is
        runs = [run(program, (tuple(_data(kind, a) for a in args), kwargs)) for kind in kinds]
        real, error = next((r for r in runs if r[0] is not None), runs[0])
        failed = next((e for r, e in runs if r is None), "")
        said = _said(runs_there, sizes)
        accepted = not error_of(accepts, (given[0], {}))
        outcome = _outcome(real, said, report, open_nodes)
        if failed and said and str(report.verdict) == "ALWAYS":
            outcome, error = "always", failed
        if (is_recorded and not accepted) or (real is not None and not _is_as_exported(ranks, real)):
            outcome = "otherwise"
        counts[outcome] += 1
        if outcome in ("wrong", "refused", "always"):
            faults.append(f"{outcome} at {sizes}: {error or 'it runs'}; {report.verdict}; {report.condition}")
        if outcome == "runs":
            for shapes, _ in runs:
                faults += [] if shapes is None else _shapes(report, sizes, shapes, counts)
        if accepted != digest(**sizes) and not report.guards.unread:
            faults.append(f"digest at {sizes}: torch {'accepts' if accepted else 'refuses'}")
        if accepted:
            counts["accepted"] += 1
            eager = error_of(module, given)
            if bool(eager) != (real is None):
                counts["eager"] += 1
    notes = [f"{u.op_type}: {u.reason}" for u in report.unanalysed]
    return {
        "counts": counts, "faults": faults[:3], "alarms": alarms, "notes": notes, "verdict": str(report.verdict),
        "ops": sorted({n.op_type for n in report._model.graph.nodes}),
    }  # fmt: skip


def _data(kind, like):
    """Return data in the shape of a tensor: zeros, or others that are the same each time."""
    import torch

    if kind == "zeros" or not like.is_floating_point():
        return torch.zeros_like(like)
    made = torch.randn(like.shape, generator=torch.Generator().manual_seed(len(kind)), dtype=like.dtype)
    rising = made.reshape(-1).sort()[0].reshape(made.shape)
    return {"random": made, "positive": made.abs() + 0.5, "rising": rising}[kind]


def _said(guard, sizes):
    """Return what a guard says of sizes, None if it is open there."""
    from symbcast import UndecidedError

    try:
        return guard(**sizes)
    except UndecidedError:
        return None


def _ranks(program):
    """Return how many axes each value had when it was exported."""
    found = {}
    for node in program.graph.nodes:
        value = node.meta.get("val")
        parts = value if isinstance(value, (tuple, list)) else [value]
        for n, part in enumerate(parts):
            name = node.name if parts is not value else f"{node.name}.{n}"
            found[name] = len(part.shape) if hasattr(part, "shape") else None
    return found


def _is_as_exported(ranks, real):
    """Return whether there are as many outputs as when it was exported, with as many axes: what is said is of those."""
    found = ((ranks.get(name, -1), len(shape)) for name, shape in real.items() if not name.startswith("output"))
    return all(rank in (None, count) for rank, count in found)


def _outcome(real, said, report, open_nodes):
    """Return how a run compares with what is said of it, which may be open."""
    if said is None:
        return "noted"
    if real is not None:
        return "runs" if said else "refused"
    if not said:
        return "fails"
    if str(report.verdict) == "ALWAYS":
        return "always"
    return "noted" if open_nodes or report._checked.conditions.undecided else "wrong"


def _shapes(report, sizes, real, counts):
    """Return the first shape that is not as was said."""
    from symbcast.answers.findings import dims_at

    at = {s: sizes[name] for s, name in report._env.shown.items() if name in sizes}
    values = report._checked.walk.top.values
    for name, shape in real.items():
        if name not in values or values[name].shape is None:
            counts["unshaped"] += 1
            continue
        told = tuple(dims_at(values[name].shape, at))
        counts["shapes"] += 1
        if len(told) != len(shape) or any(t is not None and t != r for t, r in zip(told, shape, strict=True)):
            return [f"shape at {sizes}: {name} is {shape}, said {told}"]
    return []


def held_trace(drawn, number=0, kinds=("zeros",)):
    """Hold what `symbcast.torch.trace` says of a module against calls of it; return counts and what is wrong."""
    import symbcast as sb

    module, letters = drawn.module(), iter("abcdefghijklmnop")
    axes = [
        [str(d) if (n, axis) in drawn.fixed else next(letters) for axis, d in enumerate(shape)]
        for n, shape in enumerate(drawn.shapes)
    ]
    names = [name for dims in axes for name in dims if name.isalpha()]
    try:
        report = sb.torch.trace(module, *(", ".join(dims) + "," * (len(dims) == 1) for dims in axes))
        guard = report.guard()
    except Exception as error:  # whatever it is, it is the module's finding, and the others go on
        return {"faults": [f"trace: error {type(error).__name__}: {error}"[:300]]}
    if not report.complete:
        return {"counts": {"open": 1}, "verdict": str(report.verdict)}
    random, counts, faults = Random(number), Counter(), []
    points = list(itertools.product(range(1, LARGEST + 1), repeat=len(names)))
    for point in random.sample(points, min(POINTS, len(points))):
        at = dict(zip(names, point, strict=True))
        shapes = [tuple(int(at.get(d, d)) for d in dims) for dims in axes]
        runs = [_runs(module, shapes, kind) for kind in kinds]
        said = guard(**at)
        wrong = said is not any(runs) or (str(report.verdict) == "ALWAYS" and not all(runs))
        counts["traced runs" if any(runs) else "traced fails"] += 1
        if wrong:
            faults.append(f"trace at {at}: {'runs' if any(runs) else 'fails'}; {report.verdict}; {report.condition}")
    return {"counts": counts, "faults": faults[:3], "verdict": str(report.verdict)}


def _runs(module, shapes, kind):
    import torch

    try:
        with torch.no_grad():
            module(*(_data(kind, torch.zeros(shape)) for shape in shapes))
    except Exception:  # whatever it says
        return False
    return True


def _batches(start, end, *options):
    """Yield what comes of each module, from processes of their own."""
    at = start
    while at < end:
        command = [sys.executable, __file__, str(min(BATCH, end - at)), "--start", str(at), "--batch", *options]
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        lines = said.stdout.splitlines()
        yield from (json.loads(line) for line in lines if line[:1] == "{")
        last = max((int(line[2:]) for line in lines if line[:2] == "# "), default=at)
        if said.returncode:
            yield {"number": last, "faults": [f"the process ended with {said.returncode}"]}
        at = last + 1


def main():
    """Survey as many modules as are asked for, and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=1, help="how many modules")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one")
    parser.add_argument("--show", type=int, help="print the module of a number, and what came of it")
    parser.add_argument("--indices", action="store_true", help="draw modules of random_index_modules.py")
    parser.add_argument("--trace", action="store_true", help="trace the modules instead of exporting them")
    parser.add_argument("--batch", action="store_true", help="survey in this process, and print the outcomes as JSON")
    options = parser.parse_args()
    end = options.start + options.count
    if options.show is not None:
        drawn, _ = source(options.indices)
        print(drawn(options.show), drawn(options.show).source, sep="\n")
        print(*survey([options.show], options.indices, options.trace))
    elif options.batch:
        for found in survey(range(options.start, end), options.indices, options.trace):
            print(json.dumps(found), flush=True)
    else:
        kinds = [f"--{kind}" for kind in ("indices", "trace") if getattr(options, kind)]
        _told(_batches(options.start, end, *kinds))


def _told(outcomes):
    counts, notes, verdicts, ops = Counter(), Counter(), Counter(), Counter()
    faults = alarms = unexported = modules = 0
    for found in outcomes:
        modules += 1
        unexported += "unexported" in found
        counts.update(found.get("counts", {}))
        verdicts[found.get("verdict", "none")] += 1
        ops.update(found.get("ops", ()))
        notes.update({n[:90] for n in found.get("notes", ())})
        faults += bool(found.get("faults"))
        alarms += bool(found.get("alarms"))
        for kind in ("faults", "alarms"):
            for text in found.get(kind, ()):
                print(found["number"], kind, text, flush=True)
    print(f"{modules} modules, {unexported} not exported, {faults} with faults, {alarms} with alarms")
    print(dict(verdicts), dict(counts))
    print(f"{len(ops)} operators: {dict(ops.most_common())}")
    for text, count in notes.most_common():
        print(f"{count:5d} {text}")


if __name__ == "__main__":
    main()
