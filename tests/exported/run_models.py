"""Holds what is said of the models in ``exported_models.py`` and ``exported_others.py`` against torch.

``PYTHONPATH=tests:tests/support python tests/exported/run_models.py [NAME ...]``: each is exported with AUTO and with
a `Dim` for each axis, and run at ten sizes: where it is said to run, where each clause of its condition and of its
guards fails, and at others. What is suggested is exported.
"""

from __future__ import annotations

import logging
import random
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import NamedTuple

import torch

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from exported_models import CASES
from exported_others import OTHERS
from graph_runs import run

import symbcast as sb
from symbcast.answers.findings import dims_at
from symbcast.core.algebra.formulas import all_of, negate
from symbcast.core.solver.decision import Decision
from symbcast.core.solver.evaluation import holds_at
from symbcast.graphs.report.blame import assumptions_with
from symbcast.torch.export import refusal_of
from symbcast.torch.guards.comparison import ArgumentMaker, error_of

RUNS = 10


def sizes_of(report, count=RUNS):
    """Return so many sizes at which a program is run: at the edges of its clauses first, then at random."""
    env, guards = report._env, report.guards.env
    edges = [*([negate(c)] for c in env.clauses), *([*env.clauses, negate(c)] for c in guards.clauses)]
    answers = [
        Decision(assumptions_with(env), formulas).witness() for formulas in ([], *edges, guards.clauses, env.clauses)
    ]
    found = []
    for answer in answers:
        sizes = None if answer is None else {name: answer.get(s, 2) for s, name in env.shown.items()}
        found += [sizes] if sizes is not None and sizes not in found else []
    draw, bases = random.Random(0), found[-2:]
    while len(found) < count:
        base = draw.choice(bases)
        sizes = {
            n: max(1, size * draw.choice([1, 1, 1, 2]) + draw.choice([0, 0, 0, 1, 4, draw.randrange(count)]))
            for n, size in base.items()
        }
        found += [sizes] if sizes not in found else []
    return found


class Judged(NamedTuple):
    """How often a program ran and failed as was said, how many shapes were compared, and what was wrong."""

    runs: int
    fails: int
    shapes: int
    wrong: list[str]


def judged(report):
    """Hold a report against what torch does: graph, shapes, and what its guards let through.

    A run that fails at a node that the report names as unchecked is left out.
    """
    arguments = ArgumentMaker(report.program, report._model.declared)
    accepts = report.program.module()._guards_fn
    unchecked = {u.node for u in report.unanalysed}
    runs = fails = shapes = 0
    wrong = []
    for chosen in sizes_of(report):
        given = arguments.at(chosen)
        if given is None:
            continue
        real, error = run(report.program, given)
        # The numbers that data decide are those of the run.
        sizes = chosen | _decided_by_data(report, real or {})
        said = _holds(report._env, sizes)
        if real is None and said and error.partition(":")[0] in unchecked:
            continue
        if (real is not None) != said:
            wrong.append(f"{sizes}: said to {'run' if said else 'fail'}; {error or 'it ran'}")
        runs, fails = runs + (real is not None), fails + (real is None)
        let_through = not error_of(accepts, (torch.utils._pytree.tree_leaves(given), {}))
        if let_through != _holds(report.guards.env, sizes):
            wrong.append(f"{sizes}: torch {'accepts' if let_through else 'refuses'} it, and the digest does not")
        compared, others = _shapes(report, sizes, real or {})
        shapes += compared
        wrong += others
    return Judged(runs, fails, shapes, wrong)


def _decided_by_data(report, real):
    """Return the sizes that no input has, each as the first node has it whose shape it is an axis of."""
    inputs = {str(axis.size) for axis in report._model.declared.axes}
    names = {s: name for s, name in report._env.shown.items() if name not in inputs}
    values = report._checked.walk.top.values
    found = {}
    for node, shape in real.items():
        told = values[node].shape if node in values else None
        for dim, size in zip(told or (), shape, strict=False):
            if dim in names:
                found.setdefault(names[dim], size)
    return found


def _holds(env, sizes):
    return holds_at(all_of(env.clauses), {s: sizes[name] for s, name in env.shown.items()})


def _shapes(report, sizes, real):
    """Return how many shapes were compared, and those that are not as was said."""
    at = {s: sizes[name] for s, name in report._env.shown.items()}
    values = report._checked.walk.top.values
    compared, wrong = 0, []
    for name, shape in real.items():
        if name not in values or values[name].shape is None:
            continue
        told = tuple(dims_at(values[name].shape, at))
        compared += 1
        if len(told) != len(shape) or any(t is not None and t != r for t, r in zip(told, shape, strict=True)):
            wrong.append(f"{sizes}: {name} is {shape}, said {told}")
    return compared, wrong


HEADS = (
    "model",
    "nodes",
    "guards",
    "clauses",
    "seconds",
    "runs",
    "fails",
    "shapes",
    "wrong",
    "wide",
    "narrow",
    "suggested",
)


def main(names):
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    print(f"| {' | '.join(HEADS)} |\n|---|{'--:|' * (len(HEADS) - 2)}---|")
    models = {**CASES, **OTHERS}
    for name in names or models:
        for how in ("auto", "named"):
            case = models[name]()
            shapes = case.auto() if how == "auto" else case.named()
            report = sb.torch.check(case.module, case.args, case.kwargs, dynamic_shapes=shapes)
            print(f"| {' | '.join(map(str, _row(report, f'{name} ({how})')))} |", flush=True)


def _row(report, label):
    start = process_time()
    clauses = report.guards.clauses
    seconds = process_time() - start
    found = judged(report)
    differ = report.compare().disagreements
    wide, narrow = (sum(d.kind == kind for d in differ) for kind in ("too wide", "too narrow"))
    refusal = refusal_of(report._module, report.program.example_inputs, report.suggest())
    told = "yes" if refusal is None else "no"
    for line in [*found.wrong[:3], *map(str, differ), *map(str, report.unanalysed[:3])]:
        print("  ", line, file=sys.stderr, flush=True)
    label += ", refused" if report.refusal else ""
    counts = (len(report._model.graph.nodes), len(report.guards), len(clauses))
    return label, *counts, f"{seconds:.2f}", found.runs, found.fails, found.shapes, len(found.wrong), wide, narrow, told


if __name__ == "__main__":
    main(sys.argv[1:])
