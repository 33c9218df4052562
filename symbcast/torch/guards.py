"""What torch's guards come to: one minimal condition, with the guards and source lines that each clause is from.

An exported program refuses sizes by its guards, by the ranges of its sizes, and where axes that torch found to be one
size, or arithmetic on one, are not. All of that is read here, put together, and what is redundant is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.algebra.arithmetic import subtract
from symbcast.algebra.bounds import Bounds, exact_quotient
from symbcast.algebra.terms import Operation, symbols_of, term
from symbcast.api.env import ShapeEnv
from symbcast.errors import DimensionError
from symbcast.explanation.names import Namer
from symbcast.logic.formulas import AllOf, AnyOf, Comparison, Formula, all_of, any_of, at_most, dims_of
from symbcast.onnx.report.askers import Askers
from symbcast.program.assumptions import Assumption
from symbcast.solver.normal_form import symbols_in
from symbcast.torch.graph import Source, is_of_torch
from symbcast.torch.guard_texts import GuardReader
from symbcast.torch.inputs import Axis, Inputs, shape_env_of

if TYPE_CHECKING:
    from sympy.logic.boolalg import Boolean

    from symbcast.algebra.terms import Dim
    from symbcast.torch.graph import Node

_NO_END = 1 << 62


class Guard(NamedTuple):
    """Something that a program asks of its inputs: as torch writes it, and as a formula; None where it is not read."""

    text: str
    formula: Formula | None
    line: str = ""
    """The line of code at which torch came to it, where it has one."""
    problem: str = ""


class Clause(NamedTuple):
    """A clause of the digest: what must hold, where it is from, and how torch puts it."""

    text: str
    guards: tuple[Guard, ...]
    where: str
    formula: Formula

    def __str__(self) -> str:
        return f"{self.text}  ({self.where})" if self.where else self.text


class Specialised(NamedTuple):
    """An axis that a program has a number for.

    ``was_open`` says that torch was asked to leave it open, and fixed it all the same; ``line`` is where it did so.
    Both are known of a program that torch exported in this process, and not of one that was read from a file.
    """

    axis: str
    size: int
    source: str
    was_open: bool = False
    line: str = ""

    def __str__(self) -> str:
        return f"{self.axis} == {self.size}" + (f"  ({self.line})" if self.line else "")


class Guards:
    """What an exported program accepts, as one condition.

    Attributes:
        all: everything that the program asks, as torch has it.
        specialised: the axes that the program has a number for.
        ranges: from where to where torch lets each size be, None where there is no end.
    """

    def __init__(  # noqa: PLR0913 - all that a digest is made of
        self,
        guards: Iterable[Guard],
        sizes: Iterable[str],
        min_size: int,
        *,
        nodes: Sequence[tuple[Node, Collection[Dim]]] = (),
        specialised: Iterable[Specialised] = (),
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
    ) -> None:
        self.all = tuple(guards)
        self.specialised = tuple(specialised)
        self.ranges = dict(ranges or {})
        self._sizes = tuple(dict.fromkeys(sizes))
        self._min_size = min_size
        self._nodes = nodes

    def __len__(self) -> int:
        return len(self.all)

    @property
    def unread(self) -> tuple[Guard, ...]:
        """The guards that are not comparisons of sizes; the condition does without them."""
        return tuple(g for g in self.all if g.formula is None)

    @cached_property
    def env(self) -> ShapeEnv:
        """The sizes and what is asked of them."""
        env = ShapeEnv(on_conflict="record")
        bounds = Bounds({})
        for name in self._sizes:
            size = env.named(name)
            bounds.learn(size, self._min_size)
            env.assume(Assumption(at_most(self._min_size, size)))
        read = [(n, without_factors(g.formula, bounds)) for n, g in enumerate(self.all) if g.formula is not None]
        # Those about one size first: how large it must be makes most of the others plain.
        for n, formula in sorted(read, key=lambda pair: len(list(symbols_in(pair[1]))) > 1):
            if not is_implied(formula, bounds):
                env.require(Assumption(formula), origin=str(n))
            for size in symbols_in(formula):
                bounds.learn(size, env.least(size))
        return env

    @property
    def condition(self) -> Boolean:
        """What the program accepts, as a sympy Boolean over the sizes of its inputs."""
        return self.env.condition

    @property
    def formula(self) -> Formula:
        """What the program accepts."""
        return all_of(self.env.clauses)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """The conjuncts of the condition, none of which follows from the others."""
        namer, askers = Namer.of(self.env.shown), Askers(self.env)
        return tuple(self._clause(c, namer, askers) for c in self.env.clauses)

    def _clause(self, formula: Formula, namer: Namer, askers: Askers) -> Clause:
        failing = self.env.counterexample(formula)
        names = {name: s for s, name in self.env.shown.items()}
        sizes = None if failing is None else {names[name]: n for name, n in failing.items()}
        guards = tuple(self.all[int(op.origin)] for op in askers.of(formula, sizes) if op.origin)
        where = next((g.line for g in guards if g.line), "") or next(filter(None, map(self._where, guards)), "")
        return Clause(namer.formula(formula), guards, where, formula)

    def _where(self, guard: Guard) -> str:
        """Return the node that first has a size which a guard is about."""
        wanted = {d for d in dims_of(guard.formula) if not isinstance(d, int)} if guard.formula is not None else set()
        wanted = {d for d in wanted if not d.is_Symbol} or wanted
        for node, dims in self._nodes:
            if not wanted.isdisjoint(dims):
                return f"{node.name}, {node.where}" if node.where else node.name
        return ""


def guards_of(program: Any, inputs: Inputs, nodes: Sequence[tuple[Node, Collection[Dim]]], min_size: int) -> Guards:
    """Return what an exported program asks of its inputs; ``nodes`` have the sizes of what they make."""
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
    return Guards(read, sizes, min_size, nodes=nodes, specialised=specialised, ranges=ranges)


def _first(lines: Mapping[str, str], names: Iterable[str]) -> str:
    return next((lines[n] for n in names if n in lines), "")


def _read(program: Any, inputs: Inputs) -> Iterator[Guard]:
    """Yield the guards of a program, what it takes for granted of axes that are tied, and the ranges."""
    reader = GuardReader({name: a.size for a in inputs.axes for name in a.names})
    lines = _lines(program)
    for n, text in enumerate(program._guards_code):
        line = lines[n] if n < len(lines) else ""
        try:
            yield Guard(shown_guard(text), reader.formula(text), line)
        except DimensionError as error:
            yield Guard(shown_guard(text), None, line, error.problem)
    for axis, formula in inputs.holds:
        yield Guard(f"{axis.text} == {axis.known}", formula)
    yield from _ranges(program, [a for a in inputs.axes if a.is_dynamic])


def without_factors(formula: Formula, bounds: Bounds) -> Formula:
    """Return a formula whose comparisons have no factor on both sides that is known to be 1 at least.

    >>> from symbcast.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> without_factors(Comparison("==", N * M, N * 4), Bounds({N: 1}))
    Comparison('==', M, 4)
    """
    match formula:
        case Comparison(operator, left, right):
            return Comparison(operator, *_divided(left, right, bounds))
        case AllOf(parts):
            return all_of(without_factors(p, bounds) for p in parts)
        case AnyOf(parts):
            return any_of(without_factors(p, bounds) for p in parts)
        case _:
            return formula


def _divided(left: Dim, right: Dim, bounds: Bounds) -> tuple[Dim, Dim]:
    for size in symbols_of([left]) if left != 0 and right != 0 else symbols_of([left, right]):
        while bounds.is_at_least(size, 1):
            found = [d if d == 0 else exact_quotient((d,), (size,)) for d in (left, right)]
            if found[0] is None or found[1] is None or found == [0, 0]:
                break
            left, right = found[0], found[1]
    return left, right


def is_implied(formula: Formula, bounds: Bounds) -> bool:
    """Return whether a comparison is seen to hold by how large sizes are at least.

    >>> from symbcast.algebra.symbols import symbol
    >>> N, M = symbol("N"), symbol("M")
    >>> bounds = Bounds({N: 1, M: 3})
    >>> is_implied(at_most(2, N * M - N), bounds), is_implied(Comparison("!=", N * M, 4), bounds)
    (True, False)
    """
    match formula:
        case Comparison("<=", left, right):
            return _is_at_least(subtract(right, left), 0, bounds)
        case Comparison("<", left, right):
            return _is_at_least(subtract(right, left), 1, bounds)
        case Comparison("!=", Operation(kind="%", args=(above, below)), 0):
            return _is_at_least(above.dim(), 1, bounds) and _is_at_least(subtract(below.dim(), above.dim()), 1, bounds)
        case Comparison("!=", left, right):
            return any(_is_at_least(subtract(a, b), 1, bounds) for a, b in ((left, right), (right, left)))
        case _:
            return False


def _is_at_least(dim: Dim, number: int, bounds: Bounds) -> bool:
    """Return whether a dimension is seen to be so large: as a sum, or as a product of factors of which each is."""
    if bounds.is_at_least(dim, number):
        return True
    if isinstance(dim, int):
        return dim >= number
    rest, product = term(dim) - term(min(0, dim.constant)), 1
    for atom in dict.fromkeys(a for monomial in rest.coefficients for a in monomial):
        quotient = exact_quotient((rest.dim(),), (atom,))
        least = bounds.least(atom)
        if quotient is not None and least is not None and least >= 1:
            rest, product = term(quotient), product * least
    least = bounds.least(rest.dim())
    return least is not None and least >= 0 and least * product + min(0, dim.constant) >= number


def fixed_lines(program: Any) -> dict[str, str]:
    """Return where torch fixed sizes at numbers, by what guards call them; nothing for a program read from a file."""
    env = shape_env_of(program)
    found = {}
    for s, value in getattr(env, "replacements", {}).items():
        if getattr(value, "is_Integer", False):
            place = getattr(env, "replacements_slocs", {}).get(s)
            line = _line(getattr(place, "maybe_user_loc", None)) or _line(getattr(place, "framework_loc", None))
            found.update({source.name: line for source in env.var_to_sources.get(s, ())})
    return found


def shown_guard(text: str) -> str:
    """Return a guard as torch shows it, without what stands for the arguments."""
    return re.sub(r"L\['(\w+)'\]", r"\1", text)


def _lines(program: Any) -> list[str]:
    """Return where torch came to each guard that it has code for; nothing where the program was read from a file."""
    env = shape_env_of(program)
    guards = list(getattr(env, "guards", ()))
    if len(guards) != len(program._guards_code):
        local = {v for v, s in getattr(env, "var_to_sources", {}).items() if s}
        guards = [g for g in guards if g.expr.free_symbols <= local]
    if len(guards) != len(program._guards_code):
        return []
    return [_line(getattr(g.sloc, "maybe_user_loc", None)) or _line(g.sloc.framework_loc) for g in guards]


def _line(frame: Any) -> str:
    """Return a place in the user's code; those of torch's own say nothing to a user."""
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
    """Yield the ranges that the program checks; that a size is 2 at least torch takes for granted, and leaves out."""
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
