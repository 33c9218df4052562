"""Reports about models of OpenVINO, at sizes: whether they say that the model runs, and with which shapes."""

from __future__ import annotations

from symbcast.core.algebra.formulas import all_of
from symbcast.core.solver.evaluation import holds_at, size_at


def shape_at(shape, sizes):
    """Return a shape at sizes by name; None for each that data decide."""
    found = []
    for dim in shape.dims:
        by_name = {} if isinstance(dim, int) else {s: sizes.get(s.name) for s in dim.symbols()}
        found.append(None if None in by_name.values() else int(size_at(dim, by_name)))
    return found


def accepts(report, sizes):
    """Return whether the condition holds at sizes by name."""
    env = report._checked.conditions.inputs
    return holds_at(all_of(env.clauses), {s: sizes[name] for s, name in env.shown.items() if name in sizes})


def differs(told, real):
    """Return whether a shape that is told is another one than that which came out."""
    return told is not None and (
        len(told) != len(real) or any(t is not None and t != r for t, r in zip(told, real, strict=True))
    )
