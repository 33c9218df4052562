"""Torch's guards as one minimal condition; each clause has the guards and source lines behind it.

This combines what programs record and what `symbcast.torch.errors.refusal` reads, and drops what is redundant.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, TypeAlias

from symbcast.answers.explanation.words import Namer
from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Formula, all_of, at_most, clauses, dims_of, negate
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Symbol, Term, term
from symbcast.core.programs.arguments import Assumption, own_set
from symbcast.core.programs.program import Program
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.errors import DimensionError
from symbcast.graphs.report.blame import OperationRequirements
from symbcast.torch.graph import SourceLine, TorchNode, is_of_torch
from symbcast.torch.guards.guard_texts import GuardReader, shown_guard
from symbcast.torch.guards.known_sizes import GuardedSizes
from symbcast.torch.inputs import InputAxis, ProgramInputs, shape_env_of


class Guard(NamedTuple):
    """A requirement of a program on its inputs: torch's text, and its formula, None if the text cannot be read."""

    text: str
    formula: Formula | None
    line: str = ""
    """The line of code at which torch recorded it, if known."""
    problem: str = ""
    sizes: tuple[str, ...] = ()
    """The sizes that a guard mentions that cannot be read."""

    @classmethod
    def read(cls, text: str, reader: GuardReader, line: str = "") -> Guard:
        """Return a guard as torch writes it."""
        try:
            return cls(shown_guard(text), reader.formula(text), line)
        except DimensionError as error:
            return cls(shown_guard(text), None, line, error.problem, reader.sizes_in(text))


class Clause(NamedTuple):
    """A clause of the minimal condition: where it comes from, and torch's guards behind it."""

    text: str
    guards: tuple[Guard, ...]
    where: str
    formula: Formula

    def __str__(self) -> str:
        return f"{self.text}  ({self.where})" if self.where else self.text


class Specialised(NamedTuple):
    """An axis whose size a program fixes.

    ``was_open`` says that torch fixed the size although it was asked to leave it open; ``line`` is the line where it
    did so. Both are known only for a program exported in this process. ``needed_by`` is the first node that needs that
    size of an axis that was open, with its line of code, if one node alone does.
    """

    axis: str
    size: int
    source: str
    was_open: bool = False
    line: str = ""
    needed_by: str = ""

    def __str__(self) -> str:
        place = self.line or (self.needed_by and f"needed by {self.needed_by}")
        return f"{self.axis} == {self.size}" + (f"  ({place})" if place else "")


def narrow(ranges: dict[str, tuple[int, int | None]], name: str, low: int, high: int | None = None) -> None:
    """Narrow the range of a size."""
    least, most = ranges.get(name, (0, None))
    ranges[name] = max(least, low), min((n for n in (most, high) if n is not None), default=None)


class Guards:
    """The requirements of an exported program on its inputs, as one condition.

    Attributes:
        all: every requirement of the program, as torch writes it.
        specialised: the axes whose sizes are fixed.
        ranges: the range that torch allows for each size; None means no upper bound.

    ``integers`` are the sizes that are integer inputs; their minimum is 0 regardless of ``min_size``.
    """

    def __init__(  # noqa: PLR0913 - each is a part of the digest
        self,
        guards: Iterable[Guard],
        sizes: Iterable[str],
        min_size: int,
        *,
        nodes: Sequence[tuple[TorchNode, Collection[Dim]]] = (),
        specialised: Iterable[Specialised] = (),
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        integers: Collection[str] = (),
    ) -> None:
        self.all = tuple(guards)
        self.specialised = tuple(specialised)
        self.ranges = dict(ranges or {})
        self._sizes = tuple(dict.fromkeys(sizes))
        self._least = {name: 0 if name in integers else min_size for name in self._sizes}
        self._nodes = nodes

    def __len__(self) -> int:
        return len(self.all)

    def with_ranges(self, ranges: Mapping[str, tuple[int, int | None]]) -> Guards:
        """Return the same requirements with other ranges of sizes."""
        other = copy(self)
        other.ranges = dict(ranges)
        return other

    def joined(self, more: Iterable[Guard]) -> Guards:
        """Return these requirements with others, and with the least sizes, which are else assumed, among them.

        Bounds of one size narrow its range.
        """
        own = (Guard(f"{name} >= {n}", at_most(n, symbol(name))) for name, n in self._least.items())
        added, ranges = [*own, *more], dict(self.ranges)
        for guard in added:
            match guard.formula:
                case Comparison("<=", int(least), Symbol() as size):
                    narrow(ranges, str(size), least)
                case Comparison("<=", Symbol() as size, int(most)):
                    narrow(ranges, str(size), 0, most)
        guards = (*self.all, *added)
        return Guards(guards, self._sizes, 0, nodes=self._nodes, specialised=self.specialised, ranges=ranges)

    @property
    def unread(self) -> tuple[Guard, ...]:
        """The guards that cannot be read as comparisons of sizes; the condition does not include them."""
        return tuple(g for g in self.all if g.formula is None)

    @property
    def open(self) -> dict[str, Guard]:
        """The sizes that guards mention that cannot be read, each with its first one: what it may be is not known."""
        guards: dict[str, Guard] = {}
        for guard in self.unread:
            for name in guard.sizes:
                guards.setdefault(name, guard)
        return guards

    @cached_property
    def env(self) -> Program:
        """The sizes and the guards' requirements on them."""
        env = Program(on_conflict="record")
        for name, least in self._least.items():
            env.assume(Assumption(at_most(least, env.named(name))))
        for n, formula in self._asked:
            env.require(Assumption(formula), origin=str(n))
        return env

    @property
    def needed(self) -> Iterator[tuple[Guard, Formula]]:
        """The guards that may not follow from others, each as torch writes it and as a simplified formula."""
        return ((self.all[n], formula) for n, formula in self._asked)

    @cached_property
    def _asked(self) -> list[tuple[int, Formula]]:
        """The guards that may not follow from others: index among all guards, and simplified formula."""
        return list(self._needed(GuardedSizes({symbol(name): least for name, least in self._least.items()})))

    def _needed(self, known: GuardedSizes) -> Iterator[_Numbered]:
        """Yield the guards that may not follow from earlier ones, each with its index."""
        numbered = [(n, g.formula) for n, g in enumerate(self.all) if g.formula is not None]
        numbered.sort(
            key=lambda pair: len(self.all[pair[0]].text)
        )  # the simplest first, because they simplify the others
        # Guards about one size come first: the sets of sizes that they give make most other guards trivial, or reduce
        # them to one size.
        left = yield from _learned(known, [pair for pair in numbered if len(symbols_in(pair[1])) == 1])
        tied = [pair for pair in numbered if len(symbols_in(pair[1])) != 1]
        yield from (yield from _learned(known, _decided(known, [*left, *tied])))

    @property
    def condition(self) -> Condition:
        """The condition on input sizes under which the program accepts its inputs."""
        return Condition(self.env)

    @property
    def formula(self) -> Formula:
        """The condition as one formula."""
        return all_of(self.env.clauses)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """The irredundant conjuncts of the condition."""
        namer, askers = Namer.of(self.env.shown), OperationRequirements(self.env)
        return tuple(self._clause(c, namer, askers) for c in self.env.clauses)

    def _clause(self, formula: Formula, namer: Namer, askers: OperationRequirements) -> Clause:
        places = self._asking_alone(formula) or self._asking(formula, askers)
        guards = tuple(self.all[n] for n in places)
        where = next((g.line for g in guards if g.line), "") or next(filter(None, map(self._where, guards)), "")
        return Clause(namer.formula(formula), guards, where, formula)

    def _asking_alone(self, formula: Formula) -> list[int]:
        """Return the indices of the one-size guards that fail where only a clause about that size fails."""
        size, *others = symbols_in(formula)
        if others:
            return []
        about = [(n, f) for n, f in self._asked if [*symbols_in(f)] == [size]]
        alike = [c for c in self.env.clauses if c is not formula and [*symbols_in(c)] == [size]]
        members: SizeSet | None = own_set(size, self._least[str(size.name)])
        for clause in (*alike, negate(formula)):
            members = None if members is None else narrowed_set(members, clause)
        failing = None if members is None else members.least()
        return [] if failing is None else [n for n, f in about if not holds_at(f, {size: failing})]

    def _asking(self, formula: Formula, askers: OperationRequirements) -> list[int]:
        """Return the indices of guards equivalent to a clause; if none, of guards that fail where only it fails."""
        bound = _bound(formula)
        said = [n for n, f in self._asked if f == formula or (bound is not None and _bound(f) == bound)]
        if said:
            return said
        failing = self.env.counterexample(formula)
        names = {name: s for s, name in self.env.shown.items()}
        sizes = None if failing is None else {names[name]: n for name, n in failing.items()}
        return [int(op.origin) for op in askers.of(formula, sizes) if op.origin]

    def _where(self, guard: Guard) -> str:
        """Return the first node with a size that occurs in a guard."""
        atoms = {d for d in dims_of(guard.formula) if not isinstance(d, int)} if guard.formula is not None else set()
        atoms = {d for d in atoms if not d.is_Symbol} or atoms
        for node, dims in self._nodes:
            if not atoms.isdisjoint(dims):
                return f"{node.name}, {node.where}" if node.where else node.name
        return ""


# The index of a guard, and a formula that it asks for.
_Numbered: TypeAlias = "tuple[int, Formula]"


def _learned(known: GuardedSizes, left: list[_Numbered]) -> Generator[_Numbered, None, list[_Numbered]]:
    """Add guards to what is known until none adds to it, and yield those that do; return those about several sizes."""
    while True:
        others: list[_Numbered] = []
        for n, formula in left:
            plainer = known.divided(formula)
            if known.implies(plainer):
                continue
            added = known.learn(plainer)
            if added is None:
                others.append((n, plainer))
            elif added != TRUE:
                yield n, added
        if len(others) == len(left):
            others = _decided(known, others)
            if others == left:
                return left
        left = others


def _decided(known: GuardedSizes, guards: list[_Numbered]) -> list[_Numbered]:
    """Return guards without the operations that the known sizes decide; those that cannot hold stay as they are."""
    pairs = zip(guards, known.decided([formula for _, formula in guards]), strict=True)
    return [
        (n, part)
        for (n, formula), simplified in pairs
        for part in clauses(formula if simplified == FALSE else simplified)
    ]


def _bound(formula: Formula) -> tuple[Term, int] | None:
    """Return a comparison of integers as a term without common factor and its least value; None for others."""
    if not isinstance(formula, Comparison) or formula.operator not in ("<", "<="):
        return None
    rest = term(formula.right) - formula.left
    least = (1 if formula.operator == "<" else 0) - rest.constant
    if not rest.content:
        return None
    # n*x >= m with integers is x >= ceil(m/n).
    return Term({m: c // rest.content for m, c in rest.coefficients.items() if m}), -(-least // rest.content)


# The requirements of an exported program on its inputs, as torch recorded them: guards, ranges and tied axes.
#
# An exported program refuses sizes that violate its guards or its ranges. It also refuses sizes that do not match on
# tied axes, which torch found to have equal sizes, or sizes computed from one another.


_NO_END = 1 << 62


def guards_of(
    program: Any, inputs: ProgramInputs, nodes: Sequence[tuple[TorchNode, Collection[Dim]]], min_size: int
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
        narrow(ranges, str(axis.size), *_range_of(program, axis))
    sizes = [str(a.size) for a in dynamic]
    read = _read(program, inputs)
    integers = [str(a.size) for a in dynamic if a.axis is None]
    return Guards(read, sizes, min_size, nodes=nodes, specialised=specialised, ranges=ranges, integers=integers)


def _first(lines: Mapping[str, str], names: Iterable[str]) -> str:
    return next((lines[n] for n in names if n in lines), "")


def _read(program: Any, inputs: ProgramInputs) -> Iterator[Guard]:
    """Yield the guards of a program, the conditions on tied axes, and the ranges."""
    reader = GuardReader({name: a.size for a in inputs.axes for name in a.names})
    lines = _lines(program)
    for n, text in enumerate(program._guards_code):
        yield Guard.read(text, reader, lines[n] if n < len(lines) else "")
    for axis, formula in inputs.holds:
        yield Guard(f"{axis.text} == {axis.known}", formula)
    yield from _ranges(program, [a for a in inputs.axes if a.is_dynamic])


def fixed_lines(program: Any) -> dict[str, str]:
    """Return the lines where torch fixed sizes, by source name in guards; empty for a program read from a file."""
    env = shape_env_of(program)
    lines = {}
    for s, value in getattr(env, "replacements", {}).items():
        if getattr(value, "is_Integer", False):
            place = getattr(env, "replacements_slocs", {}).get(s)
            line = _line(getattr(place, "maybe_user_loc", None)) or _line(getattr(place, "framework_loc", None))
            lines.update({source.name: line for source in env.var_to_sources.get(s, ())})
    return lines


def _lines(program: Any) -> list[str]:
    """Return the line of each guard of the program; empty for a program read from a file."""
    env = shape_env_of(program)
    guards = list(getattr(env, "guards", ()))
    # Guards about symbols without a source, which data decide, are not among those of the program.
    if len(guards) != len(program._guards_code):
        local = {v for v, s in getattr(env, "var_to_sources", {}).items() if s}
        guards = [g for g in guards if g.expr.free_symbols <= local]
    if len(guards) != len(program._guards_code):
        return []
    return [_line(getattr(g.sloc, "maybe_user_loc", None)) or _line(g.sloc.framework_loc) for g in guards]


def _line(frame: Any) -> str:
    """Return a line in the user's code; empty for lines in torch."""
    file, line = getattr(frame, "filename", None), getattr(frame, "lineno", None)
    # Lines in torch do not help a user.
    if file is None or is_of_torch(str(file)):
        return ""
    return f"line {SourceLine(str(file), line or 0, '')}"


def _range_of(program: Any, axis: InputAxis) -> tuple[int, int | None]:
    interval = program.range_constraints.get(axis.known)
    if interval is None:
        return 0, None
    return int(interval.lower), _end(interval.upper)


def _end(upper: Any) -> int | None:
    try:
        number = int(upper)
    except (TypeError, OverflowError, ValueError, AttributeError):
        return None
    return number if number < _NO_END else None


def _ranges(program: Any, axes: Sequence[InputAxis]) -> Iterator[Guard]:
    """Yield the ranges that the program checks."""
    seen = set()
    # Torch assumes a minimum of 2 and does not check it.
    for axis in axes:
        if axis.known in seen:
            continue
        seen.add(axis.known)
        low, high = _range_of(program, axis)
        if low > 2:
            yield Guard(f"{axis.text} >= {low}", at_most(low, axis.size))
        if high is not None:
            yield Guard(f"{axis.text} <= {high}", at_most(axis.size, high))
