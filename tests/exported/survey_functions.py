"""Exports every function of torch that its own tests call, and holds the reports against runs at small sizes.

``PYTHONPATH=tests:tests/support python tests/exported/survey_functions.py [NAME ...]`` takes the arguments of
``torch.testing._internal``'s table of functions (it needs expecttest): a few calls of each, also in place, with all
axes left to torch; ``0/3`` stands for the first third of all names. It prints a row for each call as JSON; ``--sum
FILE`` prints what the rows come to: how the operators of the graphs are analysed, and what is wrong. Each function has
a process of its own.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import warnings
from collections import Counter
from pathlib import Path

import torch

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from survey_exported_modules import held
from torch.utils._pytree import tree_flatten, tree_unflatten

CALLS, SECONDS = 2, 120


class Call:
    """A call of a function: all tensors of its arguments are arguments of a module."""

    def __init__(self, function, arguments):
        self._function = function
        self._leaves, self._tree = tree_flatten(arguments)
        self._places = [n for n, leaf in enumerate(self._leaves) if isinstance(leaf, torch.Tensor)]

    def module(self):
        function, leaves, tree, places = self._function, self._leaves, self._tree, self._places

        class Module(torch.nn.Module):
            def forward(self, *tensors):
                given = dict(zip(places, tensors, strict=True))
                args, kwargs = tree_unflatten([given.get(n, leaf) for n, leaf in enumerate(leaves)], tree)
                return function(*args, **kwargs)

        return Module()

    def example(self):
        return tuple(self._leaves[n].clone() for n in self._places)

    def dynamic(self):
        return (tuple(dict.fromkeys(range(t.ndim), torch.export.Dim.AUTO) for t in self.example()),)

    def __str__(self):
        shown = [f"T{tuple(v.shape)}" if isinstance(v, torch.Tensor) else repr(v)[:40] for v in self._leaves]
        return ", ".join(shown)[:200]


def calls(op):
    """Yield the calls of a function: its first sample, also in place, and some without axes of size 0 or 1."""
    supported = op.supported_dtypes("cpu")
    dtype = next(d for d in (torch.float32, torch.int64, torch.bool, torch.complex64, *supported) if d in supported)
    samples = [s for s in op.sample_inputs("cpu", dtype, requires_grad=False) if _is_dense(s)]
    tensors = [
        [t for t in tree_flatten((s.input, s.args, s.kwargs))[0] if isinstance(t, torch.Tensor)] for s in samples
    ]
    wide = [s for s, ts in zip(samples, tensors, strict=True) if ts and all(n > 1 for t in ts for n in t.shape)]
    found = [*wide[:: max(1, -(-len(wide) // CALLS))][:CALLS], *samples[:1]]
    for sample in {id(s): s for s in found}.values():
        arguments = ((sample.input, *sample.args), sample.kwargs)
        yield op.op, arguments
        if op.inplace_variant is not None and sample is found[0]:
            yield op.inplace_variant, arguments


def _is_dense(sample):
    tensors = [t for t in tree_flatten((sample.input, sample.args, sample.kwargs))[0] if isinstance(t, torch.Tensor)]
    return all(t.layout is torch.strided for t in tensors)


def row(function, arguments, number):
    """Return what is found about a call, as data."""
    call = Call(function, arguments)
    return {"call": str(call), **held(call, number)}


def of(op):
    """Yield the rows of a function, as text."""
    for n, (function, arguments) in enumerate(calls(op)):
        for style in (0, 2) if n == 0 else (0,):  # as exported, and decomposed
            yield json.dumps({"name": op.name, "style": style, **row(function, arguments, style)})


def apart(op):
    """Yield the rows of a function, made in a fork; if it dies, a row that says so."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        signal.alarm(SECONDS)
        with os.fdopen(writer, "w") as pipe:
            try:
                for text in of(op):
                    print(text, file=pipe, flush=True)
            except Exception as error:
                print(json.dumps({"name": op.name, "error": f"{type(error).__name__}: {error}"[:300]}), file=pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        yield from pipe.read().splitlines()
    status = os.waitpid(process, 0)[1]
    if status:
        yield json.dumps({"name": op.name, "error": f"ended with {status}"})


def summary(lines):
    """Return what rows come to, as text."""
    rows = [json.loads(line) for line in lines]
    kinds, outcomes, notes = {}, Counter(), Counter()
    for found in rows:
        outcomes.update(found.get("counts", {}))
        notes.update({n[:110] for n in found.get("notes", ())})
        for op in found.get("ops", ()):
            if op.startswith("aten."):
                kinds.setdefault(kind_of_any(op.removeprefix("aten.")), Counter())[op] += 1
    parts = [f"{len({r['name'] for r in rows})} functions, {sum('counts' in r for r in rows)} graphs, {dict(outcomes)}"]
    parts.append(f"not exported: {sum('unexported' in r for r in rows)}")
    parts += [f"{kind}: {len(ops)}" + ("" if kind == "with a rule" else f" {dict(ops)}") for kind, ops in kinds.items()]
    parts += [
        f"{r['name']}({r.get('call')}): {r.get('faults') or r.get('error')}"
        for r in rows
        if r.get("faults") or "error" in r
    ]
    parts += [f"{count:5d} {text}" for text, count in notes.most_common(150)]
    return "\n".join(map(str, parts))


def kind_of_any(name):
    """Return how an operator is analysed, by the overload that is known best."""
    from exported.count_operators import kind_of

    kinds = {kind_of(f"{name}.{overload}") for overload in getattr(torch.ops.aten, name).overloads()}
    return next(kind for kind in ("with a rule", "by decomposition", "unknown") if kind in kinds)


def main(names):
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(2)
    for number, op in enumerate(op_db):
        if not names or op.name in names or f"{number % 3}/3" in names:
            for line in apart(op):
                print(line, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if sys.argv[1:2] == ["--sum"]:
        print(summary(Path(sys.argv[2]).read_text("utf-8").splitlines()))
    else:
        main(sys.argv[1:])
