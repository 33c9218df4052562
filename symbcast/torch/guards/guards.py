"""Torch's guards as one minimal condition; each clause has the guards and source lines behind it.

This combines what `symbcast.torch.guards.recorded_guards` and `symbcast.torch.errors.refusal` read, and drops what is
redundant.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.answers.explanation.names import Namer
from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Term, term
from symbcast.core.logic.formulas import FALSE, TRUE, Comparison, Formula, all_of, at_most, clauses, dims_of, negate
from symbcast.core.program.sizes.assumptions import Assumption
from symbcast.core.program.sizes.premises import own_set
from symbcast.core.program.whole.program import Program
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.univariate import narrow
from symbcast.graphs.findings.askers import Askers
from symbcast.torch.guards.known_sizes import KnownSizes

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.solver.sets.size_sets import SizeSet
    from symbcast.torch.reading.graph import TorchNode


class Guard(NamedTuple):
    """A requirement of a program on its inputs: torch's text, and its formula, None if the text cannot be read."""

    text: str
    formula: Formula | None
    line: str = ""
    """The line of code at which torch recorded it, if known."""
    problem: str = ""
    sizes: tuple[str, ...] = ()
    """The sizes that a guard mentions that cannot be read."""


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
    did so. Both are known only for a program exported in this process.
    """

    axis: str
    size: int
    source: str
    was_open: bool = False
    line: str = ""

    def __str__(self) -> str:
        return f"{self.axis} == {self.size}" + (f"  ({self.line})" if self.line else "")


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

    @property
    def unread(self) -> tuple[Guard, ...]:
        """The guards that cannot be read as comparisons of sizes; the condition does not include them."""
        return tuple(g for g in self.all if g.formula is None)

    @property
    def open(self) -> dict[str, Guard]:
        """The sizes that guards mention that cannot be read, each with its first one: what it may be is not known."""
        found: dict[str, Guard] = {}
        for guard in self.unread:
            for name in guard.sizes:
                found.setdefault(name, guard)
        return found

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
        return list(self._needed(KnownSizes({symbol(name): least for name, least in self._least.items()})))

    def _needed(self, known: KnownSizes) -> Iterator[_Numbered]:
        """Yield the guards that may not follow from earlier ones, each with its index.

        Guards about one size come first: the sets of sizes that they give make most other guards trivial, or reduce
        them to one size.
        """
        given = [(n, g.formula) for n, g in enumerate(self.all) if g.formula is not None]
        given.sort(key=lambda pair: len(self.all[pair[0]].text))  # the simplest first, because they simplify the others
        left = yield from _learned(known, [pair for pair in given if len(symbols_in(pair[1])) == 1])
        tied = [pair for pair in given if len(symbols_in(pair[1])) != 1]
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
        namer, askers = Namer.of(self.env.shown), Askers(self.env)
        return tuple(self._clause(c, namer, askers) for c in self.env.clauses)

    def _clause(self, formula: Formula, namer: Namer, askers: Askers) -> Clause:
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
            members = None if members is None else narrow(members, clause)
        failing = None if members is None else members.least()
        return [] if failing is None else [n for n, f in about if not holds_at(f, {size: failing})]

    def _asking(self, formula: Formula, askers: Askers) -> list[int]:
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
        wanted = {d for d in dims_of(guard.formula) if not isinstance(d, int)} if guard.formula is not None else set()
        wanted = {d for d in wanted if not d.is_Symbol} or wanted
        for node, dims in self._nodes:
            if not wanted.isdisjoint(dims):
                return f"{node.name}, {node.where}" if node.where else node.name
        return ""


_Numbered: TypeAlias = "tuple[int, Formula]"
"""The index of a guard, and a formula that it asks for."""


def _learned(known: KnownSizes, left: list[_Numbered]) -> Generator[_Numbered, None, list[_Numbered]]:
    """Add guards to what is known until none adds to it, and yield those that do; return those about several sizes."""
    while True:
        others: list[_Numbered] = []
        for n, formula in left:
            plainer = known.divided(formula)
            if known.implies(plainer):
                continue
            told = known.learn(plainer)
            if told is None:
                others.append((n, plainer))
            elif told != TRUE:
                yield n, told
        if len(others) == len(left):
            others = _decided(known, others)
            if others == left:
                return left
        left = others


def _decided(known: KnownSizes, guards: list[_Numbered]) -> list[_Numbered]:
    """Return guards without the operations that the known sizes decide; those that cannot hold stay as they are."""
    pairs = zip(guards, known.decided([formula for _, formula in guards]), strict=True)
    return [(n, part) for (n, formula), made in pairs for part in clauses(formula if made == FALSE else made)]


def _bound(formula: Formula) -> tuple[Term, int] | None:
    """Return a comparison of integers as a term without common factor and its least value; None for others."""
    if not isinstance(formula, Comparison) or formula.operator not in ("<", "<="):
        return None
    rest = term(formula.right) - formula.left
    least = (1 if formula.operator == "<" else 0) - rest.constant
    if not rest.content:
        return None
    return Term({m: c // rest.content for m, c in rest.coefficients.items() if m}), -(-least // rest.content)
