"""The requirements of an exported program on its inputs, as torch recorded them: guards, ranges and tied axes.

An exported program refuses sizes that violate its guards or its ranges. It also refuses sizes that do not match on tied
axes, which torch found to have equal sizes, or sizes computed from one another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.logic.formulas import at_most
from symbcast.errors import DimensionError
from symbcast.torch.guards.guard_texts import GuardReader, shown_guard
from symbcast.torch.guards.guards import Guard, Guards, Specialised
from symbcast.torch.reading.graph import Source, is_of_torch
from symbcast.torch.reading.inputs import Axis, Inputs, shape_env_of

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.torch.reading.graph import TorchNode

_NO_END = 1 << 62


def guards_of(
    program: Any, inputs: Inputs, nodes: Sequence[tuple[TorchNode, Collection[Dim]]], min_size: int
) -> Guards:
    """Return the requirements of an exported program on its inputs; ``nodes`` pairs each node with its output sizes."""
    dynamic = [a for a in inputs.axes if a.is_dynamic]
    fixed = fixed_lines(program)
    specialised = [
        Specialised(a.text, a.size, a.source, any(n in fixed for n in a.names), _first(fixed, a.names))
        for a in inputs.axes
        if isinstance(a.size, int)
    ]
    ranges: dict[str, tuple[int, int | None]] = {}
    for axis in dynamic:
        low, high = ranges.get(str(axis.size), (0, None))
        least, most = _range_of(program, axis)
        ranges[str(axis.size)] = max(low, least), most if high is None else high
    sizes = [str(a.size) for a in dynamic]
    read = _read(program, inputs)
    integers = [str(a.size) for a in dynamic if a.axis is None]
    return Guards(read, sizes, min_size, nodes=nodes, specialised=specialised, ranges=ranges, integers=integers)


def _first(lines: Mapping[str, str], names: Iterable[str]) -> str:
    return next((lines[n] for n in names if n in lines), "")


def _read(program: Any, inputs: Inputs) -> Iterator[Guard]:
    """Yield the guards of a program, the conditions on tied axes, and the ranges."""
    reader = GuardReader({name: a.size for a in inputs.axes for name in a.names})
    lines = _lines(program)
    for n, text in enumerate(program._guards_code):
        line = lines[n] if n < len(lines) else ""
        try:
            yield Guard(shown_guard(text), reader.formula(text), line)
        except DimensionError as error:
            yield Guard(shown_guard(text), None, line, error.problem, reader.sizes_in(text))
    for axis, formula in inputs.holds:
        yield Guard(f"{axis.text} == {axis.known}", formula)
    yield from _ranges(program, [a for a in inputs.axes if a.is_dynamic])


def fixed_lines(program: Any) -> dict[str, str]:
    """Return the lines where torch fixed sizes, by source name in guards; empty for a program read from a file."""
    env = shape_env_of(program)
    found = {}
    for s, value in getattr(env, "replacements", {}).items():
        if getattr(value, "is_Integer", False):
            place = getattr(env, "replacements_slocs", {}).get(s)
            line = _line(getattr(place, "maybe_user_loc", None)) or _line(getattr(place, "framework_loc", None))
            found.update({source.name: line for source in env.var_to_sources.get(s, ())})
    return found


def _lines(program: Any) -> list[str]:
    """Return the line of each guard of the program; empty for a program read from a file."""
    env = shape_env_of(program)
    guards = list(getattr(env, "guards", ()))
    if len(guards) != len(program._guards_code):
        local = {v for v, s in getattr(env, "var_to_sources", {}).items() if s}
        guards = [g for g in guards if g.expr.free_symbols <= local]
    if len(guards) != len(program._guards_code):
        return []
    return [_line(getattr(g.sloc, "maybe_user_loc", None)) or _line(g.sloc.framework_loc) for g in guards]


def _line(frame: Any) -> str:
    """Return a line in the user's code; empty for lines in torch, which do not help a user."""
    file, line = getattr(frame, "filename", None), getattr(frame, "lineno", None)
    if file is None or is_of_torch(str(file)):
        return ""
    return f"line {Source(str(file), line or 0, '')}"


def _range_of(program: Any, axis: Axis) -> tuple[int, int | None]:
    held = program.range_constraints.get(axis.known)
    if held is None:
        return 0, None
    return int(held.lower), _end(held.upper)


def _end(upper: Any) -> int | None:
    try:
        number = int(upper)
    except (TypeError, OverflowError, ValueError, AttributeError):
        return None
    return number if number < _NO_END else None


def _ranges(program: Any, axes: Sequence[Axis]) -> Iterator[Guard]:
    """Yield the ranges that the program checks; torch assumes a minimum of 2 and does not check it."""
    seen = set()
    for axis in axes:
        if axis.known in seen:
            continue
        seen.add(axis.known)
        low, high = _range_of(program, axis)
        if low > 2:
            yield Guard(f"{axis.text} >= {low}", at_most(low, axis.size))
        if high is not None:
            yield Guard(f"{axis.text} <= {high}", at_most(axis.size, high))
