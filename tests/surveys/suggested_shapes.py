"""Random modules exported with ranges, then with what is suggested: is it accepted, and are guards and ranges kept?

    python tests/surveys/suggested_shapes.py 100 --start 0

Half of the modules are `random_modules.py`'s, half combine two inputs whose axes are related. Each has ranges on some
axes. The suggestion with the module (tried), the one without (proved), and what the refusal of plain names is repaired
to are exported again; each new program must accept the same sizes as the first one, by their digests.
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
BATCH, POINTS, LARGEST = 20, 4000, 13
RELATED = (
    "torch.cat([{x}, {x}]) + {y}", "{x}[1:] + {y}", "{x}[{n}:] + {y}", "torch.cat([{x}, {x}[:{m}]]) + {y}",
    "{x} + {y}", "{x}[::2] + {y}", "{x}.reshape({n}, -1)[0] + {y}", "{x}.reshape(-1, {n})[:, 0] + {y}",
    "torch.cat([{x}, {x}, {x}])[1:] + {y}", "F.pad({x}, ({n}, {m})) + {y}", "{x}.repeat({n}) * {y}.repeat({m})",
    "{x}.unfold(0, {n}, {m}).sum(1) + {y}", "F.max_pool1d({x}[None], {n})[0] + {y}", "({x}[:, None] + {y}).flatten()",
    "F.interpolate({x}[None, None], scale_factor={f})[0, 0] + {y}", "{x}.reshape(-1, {n}).flatten() + {y}[:1]",
    "{x}[: {x}.shape[0] // 2] + {y}", "F.conv1d({x}[None], torch.ones(1, 1, {n}), stride={m})[0] + {y}",
)  # fmt: skip


def related(number):
    """Return a module of two or three vectors whose sizes are related, as `random_modules.Drawn`."""
    import torch
    from random_modules import Drawn

    random = Random(number)
    for _ in range(200):
        count = random.choice((2, 2, 3))
        shapes = tuple((random.choice((4, 5, 6, 8, 9, 10, 12, 16, 18, 24)),) for _ in range(count))
        lines, values = [], {f"x{n}": torch.ones(shape) for n, shape in enumerate(shapes)}
        for n in range(count - 1):
            filled = {"n": random.randint(2, 4), "m": random.randint(1, 3), "f": random.choice((0.5, 2.0, 0.75, 1.5))}
            left = random.choice((f"x{n}", f"x{n}", *([lines[-1].partition(" = ")[0]] if lines else [])))
            text = random.choice(RELATED).format(x=left, y=f"x{n + 1}", **filled)
            try:
                value = eval(text, {"torch": torch, "F": torch.nn.functional, **values})
            except Exception:  # these sizes are not related so: others are drawn
                break
            values[f"z{n}"] = value
            lines.append(f"z{n} = {text}")
        else:
            return Drawn(shapes, (), (*lines, f"return ({', '.join(v for v in values if v[0] == 'z')},)"))
    return None


def given(random, drawn):
    """Return dynamic shapes with a range on some of the axes: hints, and the same with names."""
    from torch.export import Dim

    hints, names = [], []
    for n, shape in enumerate(drawn.shapes):
        hint, named = {}, {}
        for axis, size in enumerate(shape):
            if (n, axis) in drawn.fixed:
                continue
            low, high = random.randint(2, size), size + random.choice((0, 1, 2, 5, 30))
            ends = {}
            if random.random() < 0.4:
                ends["max"] = max(high, low + 1)
            if random.random() < 0.2:
                ends["min"] = low
            hint[axis], named[axis] = Dim.AUTO(**ends) if ends else Dim.AUTO, Dim(f"d{n}_{axis}", **ends)
        hints.append(hint)
        names.append(named)
    return {f"x{n}": h for n, h in enumerate(hints)}, {f"x{n}": h for n, h in enumerate(names)}


def accepts(report, rows):
    """Return whether a program accepts sizes, by its digest; each row has the sizes by torch's name of the axis."""
    declared = report._model.declared
    guard = report.guards.condition.guard()
    known = set(guard.names.values())
    for row in rows:
        sizes, fits = {}, True
        for axis in declared.axes:
            if axis.is_dynamic:
                name = str(axis.size)
                fits = fits and sizes.setdefault(name, row[axis.source]) == row[axis.source]
            else:
                fits = fits and axis.size == row[axis.source]
        yield fits and guard({name: n for name, n in sizes.items() if name in known})


def survey(numbers):
    """Yield what comes of each module, as a dictionary."""
    import random_modules

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for number in numbers:
        print(f"# {number}", flush=True)
        drawn = related(number) if number % 2 else random_modules.drawn(number)
        if drawn is not None:
            yield {"number": number, **held(drawn, number)}


def held(drawn, number):
    """Hold what is suggested for one module against its guards; return counts and faults."""
    from torch.export import export

    import symbcast as sb

    random, module, example = Random(number), drawn.module(), drawn.example()
    hints, names = given(random, drawn)
    try:
        export(module, example, dynamic_shapes=hints)
    except Exception as error:  # what torch does not export is no question here
        return {"unexported": type(error).__name__}
    counts, faults = Counter(), []
    report = sb.torch.check(module, example, dynamic_shapes=hints)
    rows = points(random, report)
    expected = list(accepts(report, rows))
    counts["accepted points"] += sum(expected)
    texts = {"tried": report.suggest, "proved": sb.torch.check(report.program).suggest}
    for kind, ask in texts.items():
        space = {}
        text = str(ask())
        exec(text, space)
        counts["Dim"] += text.count("= Dim(")
        judge(kind, module, example, space["dynamic_shapes"], rows, expected, text, counts, faults)
    try:
        export(module, example, dynamic_shapes=names)
        counts["named accepted"] += 1
    except Exception as error:
        refusal = sb.torch.read_error(error)
        shapes = refusal.repaired(names)
        judge("repaired", module, example, shapes, rows, expected, f"{shapes}\n{error}"[:1500], counts, faults)
        again = sb.torch.check(module, example, dynamic_shapes=names)
        same = list(accepts(again, rows))
        if same != expected:
            faults.append(f"digest after a refusal differs: {differences(rows, expected, same)}")
    return {"counts": dict(counts), "faults": faults}


def judge(kind, module, example, shapes, rows, expected, text, counts, faults):
    """Export with dynamic shapes, and compare the sizes that are accepted."""
    from torch.export import export

    import symbcast as sb

    try:
        program = export(module, example, dynamic_shapes=shapes)
    except Exception as error:
        counts[f"{kind} refused"] += 1
        faults.append(f"{kind} refused: {text} :: {str(error)[:500]}")
        return
    counts[f"{kind} accepted"] += 1
    if rows is not None:
        now = list(accepts(sb.torch.check(program), rows))
        if now != expected:
            faults.append(f"{kind} other sizes: {text} :: {differences(rows, expected, now)}")


def differences(rows, expected, now):
    """Return the first points that two programs accept differently."""
    return [(row, before, after) for row, before, after in zip(rows, expected, now, strict=True) if before != after][:2]


def points(random, report):
    """Return sizes by torch's name of the axis, from 2 on: all small ones, or drawn ones."""
    sources = [a.source for a in report._model.declared.axes]
    known = [[a.size] if not a.is_dynamic else None for a in report._model.declared.axes]
    pools = [k or range(2, LARGEST) for k in known]
    count = 1
    for pool in pools:
        count *= len(pool)
    rows = list(itertools.product(*pools)) if count <= POINTS else []
    rows += [tuple(random.choice(pool) for pool in pools) for _ in range(0 if rows else POINTS // 2)]
    for _ in range(POINTS // 8):
        few = random.sample(range(2, 60), 2)
        rows.append(tuple(k[0] if k else random.choice(few) for k in known))
    return [dict(zip(sources, row, strict=True)) for row in rows]


def main():
    """Ask in batches, each in its own process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--within", action="store_true", help="one batch, in this process")
    asked = parser.parse_args()
    numbers = range(asked.start, asked.start + asked.count)
    if asked.within:
        for found in survey(numbers):
            print(json.dumps(found), flush=True)
        return
    total, faulty = Counter(), 0
    for first in range(asked.start, asked.start + asked.count, BATCH):
        count = min(BATCH, asked.start + asked.count - first)
        command = [sys.executable, "-P", __file__, str(count), "--start", str(first), "--within"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print("ended", done.returncode, done.stdout.splitlines()[-1:], done.stderr[-500:])
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                found = json.loads(line)
                total.update(found.get("counts", {"unexported": 1}))
                for fault in found.get("faults", ()):
                    faulty += 1
                    print(found["number"], fault, flush=True)
    print(dict(total), f"{faulty} faults")


if __name__ == "__main__":
    main()
