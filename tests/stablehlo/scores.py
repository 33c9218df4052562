"""Recorded answers about modules, held against reports."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from openvino_answers import accepts, shape_at

DATA = Path(__file__).parents[1] / "data" / "stablehlo"


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a file of recorded answers."""
    return [json.loads(line) for line in gzip.decompress((DATA / name).read_bytes()).splitlines()]


class Run(NamedTuple):
    """What a module does at given shapes: the shapes of its results (None where unknown), or None if it is refused.

    ``shapes`` has None for an argument whose type stays as it is; ``values`` the integers in scalar arguments.
    """

    shapes: Sequence[Sequence[int] | None]
    values: Mapping[int, int]
    outputs: Sequence[Sequence[int | None] | None] | None


class Outcome(NamedTuple):
    """How a report and a run compare: "agrees", "open", or what is wrong."""

    kind: str
    run: Run


def compared(report: Any, runs: Sequence[Run]) -> Iterator[Outcome]:
    """Yield how a report compares with each run.

    It is "open" if the report leaves a size of a result to data, or a part of the module unanalysed, and nothing is
    wrong: a module with an unanalysed part may be refused for a reason that the report does not know.
    """
    is_whole = not report.unanalysed
    for run in runs:
        yield Outcome(_kind(report, run, is_whole), run)


def _kind(report: Any, run: Run, is_whole: bool) -> str:
    sizes = _sizes(report, run)
    try:
        is_accepted = sizes is not None and accepts(report, sizes)
    except KeyError:  # the condition is about integers, or bounded sizes, that the run leaves open
        return "open"
    if not is_accepted:
        return "agrees" if run.outputs is None else "refused, but runs" if _is_refined(run) else "open"
    if run.outputs is None:
        return "accepted, but fails" if is_whole else "open"
    pairs = [
        (told and shape_at(told, sizes), real) for told, real in zip(report.outputs.values(), run.outputs, strict=True)
    ]
    if any(_differ(told, real) for told, real in pairs):
        return "another shape"
    is_open = any(real is not None and (told is None or None in told) for told, real in pairs)
    return "open" if is_open or not is_whole else "agrees"


def _is_refined(run: Run) -> bool:
    """Return whether all sizes of the results are known: where the refinement stops, a later step may still fail."""
    return not any(shape is None or None in shape for shape in run.outputs or ())


def _differ(told: Sequence[int | None] | None, real: Sequence[int | None] | None) -> bool:
    """Return whether two shapes differ, in rank or in a size that both know."""
    if told is None or real is None:
        return False
    return len(told) != len(real) or any(t != r for t, r in zip(told, real, strict=True) if None not in (t, r))


def _sizes(report: Any, run: Run) -> dict[str, int] | None:
    """Return the sizes of a run by name; None if one name has two sizes, or an argument has another size."""
    found: dict[str, int] = {}
    named = list(report.inputs.items())
    for (_, declared), shape in zip(named, run.shapes, strict=True):
        if shape is None or declared is None:
            continue
        for dim, size in zip(declared.dims, shape, strict=True):
            if isinstance(dim, int):
                if dim != size:
                    return None
            elif found.setdefault(str(dim), size) != size:
                return None
    return {**found, **{named[n][0]: value for n, value in run.values.items()}}


def counted(outcomes: Sequence[Outcome]) -> Counter[str]:
    return Counter(o.kind for o in outcomes)
