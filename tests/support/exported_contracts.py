"""Random modules whose sizes are tied, exported with their contract's text.

`python tests/support/exported_contracts.py 20 0` draws 20 from seed 0 on.

Each module has a condition that its operations require. It is exported with what the contract writes, and runs at the
ends of the box; at sizes above the box, the exported program refuses. No size inside a module is 1: torch specialises
these, and guards them.
"""

from __future__ import annotations

import itertools
import json
import random
import sys


def drawn(seed):
    """Return the source of a module, its condition, the shapes of x and y, ranges, and a form."""
    chance = random.Random(seed)
    k, c = chance.randint(2, 6), chance.randint(1, 4)
    high = chance.choice((8, 30, 200))
    source, condition, shapes, form = chance.choice(
        (
            (f"x.reshape(x.shape[0] // {k}, {k}, {c}).sum(1), y", f"a % {k} == 0 and b >= 1", ("a, {c}", "b"), "steps"),
            (f"y.reshape(x.shape[0], {k}, {c}) + x[:, None], y", f"b == {k}*a", ("a, {c}", "b, {c}"), "derived"),
            (f"x + y[{k}:], y", f"b == a + {k}", ("a, {c}", "b, {c}"), "derived"),
            ("x + y, x * 2", "a == b", ("a, {c}", "b, {c}"), "derived"),
            (f"x[:{k}] * 2, y", f"a >= {k} and b >= 1", ("a, {c}", "b, {c}"), "box"),
            (f"x.reshape(-1, {k}), y.sum(0)", f"a % {k} == 0 and b >= 1", ("a, {c}", "b"), "steps"),
            ("x @ y, y", "a == b", ("{c}, a", "b, {c}"), "derived"),
            (f"x.unflatten(0, ({k}, -1)), y", f"a % {k} == 0 and a >= {k} and b >= 1", ("a, {c}", "b"), "steps"),
        )
    )
    shapes = {name: shape.format(c=c) for name, shape in zip("xy", shapes, strict=True)}
    return source, condition, shapes, {"a": f"{2 * k}..{high + 2 * k}", "b": f"2..{high * chance.choice((1, 3))}"}, form


def mistakes(seed):
    """Return what is wrong with the text of a drawn contract for torch."""
    import torch

    import symbcast as sb

    source, condition, shapes, ranges, form = drawn(seed)
    contract = sb.Condition(condition).contract(ranges, form=form)
    if not contract.boxes:
        return []
    text = contract.to("torch", inputs=shapes)
    space = {}
    exec(text, space)
    exec(f"def forward(self, x, y):\n    return {source}", space)
    module = type("Drawn", (torch.nn.Module,), {"forward": space["forward"]})()
    (box,) = contract.boxes

    def tensors(sizes):
        dims = ([eval(d, {}, sizes) for d in shape.split(",")] for shape in shapes.values())
        return tuple(torch.ones(d) for d in dims)

    free = [name for name in box if name not in contract.derived]

    def at(values):
        sizes = dict(zip(free, values, strict=True))
        return {**sizes, **{name: eval(told, {}, dict(sizes)) for name, told in contract.derived.items()}}

    where = f"{seed} {condition}: {source}\n{text}"
    middle = at([box[name][len(box[name]) // 2] for name in free])
    try:
        program = torch.export.export(module, tensors(middle), dynamic_shapes=space["dynamic_shapes"]).module()
    except Exception as error:  # torch has several kinds
        return [f"{where}\nnot exported at {middle}: {str(error)[:300]}"]
    found = []
    for values in itertools.product(*({box[n][0], box[n][-1]} for n in free)):
        try:
            program(*tensors(at(values)))
        except Exception as error:
            found.append(f"{where}\nfails at {at(values)}: {str(error)[:200]}")
    above = at([box[n][-1] + box[n].step for n in free])
    if any(len(box[n]) > 1 for n in free):
        try:
            program(*tensors(above))
        except Exception:
            return found
        found.append(f"{where}\nruns above the box, at {above}")
    return found


if __name__ == "__main__":
    count, start = map(int, sys.argv[1:])
    lines = [line for seed in range(start, start + count) for line in mistakes(seed)]
    print(json.dumps(lines))
