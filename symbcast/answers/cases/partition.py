"""The sizes that meet some requirements, divided by the choices of columns: no two parts overlap, none is empty."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, product
from typing import Any

from symbcast.answers.cases.choices import AxisColumn, Choice, RankColumn
from symbcast.core.algebra.formulas import Compatible, Formula, with_dims
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import holds_at, replace_in_formula, symbols_in
from symbcast.core.solver.groups import TiedSymbols
from symbcast.core.solver.size_sets import ALL
from symbcast.errors import UndecidedError


class GroupPart:
    """The choices in columns that share sizes, and the resulting requirements on these sizes.

    ``required`` are the requirements that no column expresses.
    """

    def __init__(self, choice: Choice, group: _SizeGroup, required: Sequence[Formula]) -> None:
        self.choice = choice
        self.symbols = group.symbols
        self._group = group
        self._required = required

    def __reduce__(self) -> tuple[Any, ...]:
        return GroupPart, (self.choice, self._group, self._required)  # a decision holds a solver's state

    @cached_property
    def decision(self) -> Decision:
        """The decision about the requirements and choices."""
        return Decision(self._group.known, [*self.choice.literals, *self._required])

    @property
    def is_possible(self) -> bool:
        """Whether such sizes exist; raise `UndecidedError` if this is undecided."""
        if self.decision.satisfiable is None:
            raise UndecidedError(self.decision.reason)
        return not self.decision.impossible


class PartitionPart:
    """One part of the partition: a `GroupPart` for each independent group of sizes."""

    def __init__(self, parts: Sequence[GroupPart], assumptions: AssumptionSet) -> None:
        self._parts = tuple(parts)
        self._assumptions = assumptions
        self._resolved: dict[Dim, Dim] = {}

    @cached_property
    def _choice(self) -> Choice:
        return Choice.together([Choice.of_values(self._assumptions.values), *(p.choice for p in self._parts)])

    @property
    def key(self) -> tuple[Formula, ...]:
        """The literals of the choices, which identify the part."""
        return tuple(literal for part in self._parts for literal in part.choice.literals)

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts that distinguish the part from others, irredundant under the assumptions."""
        return tuple(c for p in self._parts for c in p.decision.clauses)

    def resolve(self, dim: Dim) -> Dim:
        """Return the value of a size wherever the part holds."""
        if isinstance(dim, int):
            return dim
        resolved = self._resolved.get(dim)
        if resolved is None:
            resolved = self._choice.resolve(dim)
            for part in {id(p): p for s in symbols_of((resolved,)) if (p := self._about.get(s)) is not None}.values():
                resolved = part.decision.fixed(resolved)
            self._resolved[dim] = resolved
        return resolved

    @cached_property
    def _about(self) -> dict[Symbol, GroupPart]:
        """The `GroupPart` that each size belongs to."""
        return {s: part for part in self._parts for s in part.symbols}

    def witness(self) -> dict[Symbol, int]:
        """Return the smallest sizes of the part; raise `UndecidedError` if none were found."""
        point: dict[Symbol, int] = {}
        for part in self._parts:
            sizes = part.decision.witness()
            if sizes is None:
                raise UndecidedError(part.decision.reason or "sizes of a case were not found")
            point.update(sizes)
        for symbol, value in self._assumptions.values.items():
            point[symbol] = value if isinstance(value, int) else point[value]  # type: ignore[index]
        return {symbol: point[symbol] for symbol in self._assumptions.symbols}


class Partition:
    """The sizes at which requirements hold and columns join, under the known facts.

    ``columns`` are ordered so that a join comes after the column that it joins. ``all_requirements`` are
    the original ones, ``requirements`` those that columns do not express.
    """

    def __init__(
        self, assumptions: AssumptionSet, columns: Iterable[AxisColumn | RankColumn], requirements: Iterable[Formula]
    ) -> None:
        self.assumptions = assumptions
        self.columns = tuple(dict.fromkeys(columns))
        covered = {_key(r) for c in self.columns for r in c.requirements}
        self.all_requirements = tuple(dict.fromkeys(requirements))
        left = [r for r in self.all_requirements if _key(r) not in covered]
        self.requirements = (
            tuple(replace_in_formula(r, assumptions.values) for r in left) if assumptions.values else tuple(left)
        )

    def parts(self, limit: int) -> tuple[list[PartitionPart], bool]:
        """Return the parts, at most ``limit`` of them, and whether those are all of them.

        Raises `UndecidedError` if it is undecided whether a part is empty.
        """
        groups, complete = [], True
        for group in self._groups:
            # One more than the limit shows that these are not all.
            choices = list(islice(group.parts(), limit + 1))
            complete = complete and len(choices) <= limit
            groups.append(choices[:limit])
        combined = [PartitionPart(parts, self.assumptions) for parts in islice(product(*groups), limit + 1)]
        return combined[:limit], complete and len(combined) <= limit

    def part_at(self, sizes: Mapping[Symbol, int]) -> PartitionPart | None:
        """Return the part that contains some sizes; None if they violate the requirements."""
        if not all(sizes[s] in domain for s, domain in self.assumptions.domains.items()):
            return None
        if any(sizes[s] != (v if isinstance(v, int) else sizes[v]) for s, v in self.assumptions.values.items()):  # type: ignore[index]
            return None
        choices = [group.part_at(sizes) for group in self._groups]
        chosen = [part for part in choices if part is not None]
        return PartitionPart(chosen, self.assumptions) if len(chosen) == len(choices) else None

    def parts_within(self, region: Sequence[Formula], limit: int) -> list[PartitionPart]:
        """Return the parts, at most ``limit``, that contain sizes of a region."""
        narrowed = Partition(self.assumptions, self.columns, [*self.all_requirements, *region])
        known = [self.part_at(parts.witness()) for parts in narrowed.parts(limit)[0]]
        return list({parts.key: parts for parts in known if parts is not None}.values())

    @cached_property
    def _groups(self) -> list[_SizeGroup]:
        """Return the columns and requirements of each independent set of sizes."""
        values = self.assumptions.values
        columns = [(c, _symbols(c, values)) for c in self.columns]
        required = [(r, tuple(symbols_in(r))) for r in self.requirements]
        ties = TiedSymbols(self.assumptions.domains)
        ties.tie(self.assumptions.others)
        for _, symbols in (*columns, *required):
            ties.tie_all(symbols)
        groups = {first: _SizeGroup(self.assumptions, symbols) for first, symbols in ties.all()}
        alone = _SizeGroup(self.assumptions, [])
        for column, symbols in columns:
            (groups[ties.find(symbols[0])] if symbols else alone).columns.append(column)
        for requirement, symbols in required:
            (groups[ties.find(symbols[0])] if symbols else alone).requirements.append(requirement)
        for first, others in ties.sorted(self.assumptions.others).items():
            groups[first].others += others
        return [*([alone] if alone.columns or alone.requirements else []), *groups.values()]


def _key(requirement: Formula) -> object:
    """Return a key that equivalent requirements share: for a join, its members other than 1."""
    return frozenset(requirement.dims) - {1} if isinstance(requirement, Compatible) else requirement


def _symbols(column: AxisColumn | RankColumn, values: Mapping[Symbol, Dim]) -> tuple[Symbol, ...]:
    sizes = column.sizes if column.output is None else (*column.sizes, column.output)
    return tuple(symbols_in(replace_in_formula(Compatible(sizes), values))) if values else symbols_of(sizes)


class _SizeGroup:
    """Sizes that are tied together, and the columns and requirements about them."""

    def __init__(self, assumptions: AssumptionSet, symbols: Sequence[Symbol]) -> None:
        self._whole = assumptions
        self.symbols = tuple(symbols)
        self.columns: list[AxisColumn | RankColumn] = []
        self.requirements: list[Formula] = []
        self.others: list[Formula] = []

    def parts(self) -> Iterator[GroupPart]:
        """Yield the parts that are not empty."""
        is_plain = self._is_plain()
        stack = [iter([Choice.of_values(self._whole.values)])]
        while stack:
            choice = next(stack[-1], None)
            if choice is None:
                stack.pop()
            elif len(stack) <= len(self.columns):
                if is_plain or GroupPart(choice, self, self.requirements).is_possible:
                    stack.append(self.columns[len(stack) - 1].choices(choice))
            else:
                part = self._part(choice)
                if is_plain or part.is_possible:
                    yield part

    def part_at(self, sizes: Mapping[Symbol, int]) -> GroupPart | None:
        """Return the part that contains some sizes; None if they violate the requirements."""
        if not all(holds_at(r, sizes) for r in (*self.requirements, *self.others)):
            return None
        choice = Choice.of_values(self._whole.values)
        for column in self.columns:
            # Literals of earlier columns hold already at these sizes: only the new ones are checked.
            count = len(choice.literals)
            matching = (c for c in column.choices(choice) if all(holds_at(f, sizes) for f in c.literals[count:]))
            choice = next(matching, None) or _REFUSED
            if choice is _REFUSED:
                return None
        part = self._part(choice)
        return part if part.is_possible else None

    def _is_plain(self) -> bool:
        """Return whether choices alone decide feasibility: nothing else is known about the names and numbers."""
        domains = self._whole.domains
        return (
            not self.requirements
            and not self.others
            and all(domains[s] is ALL for s in self.symbols)
            and all(isinstance(d, int) or d.is_Symbol for c in self.columns for d in c.sizes)
        )

    @cached_property
    def known(self) -> AssumptionSet:
        """The known facts about these sizes only."""
        domains = {s: self._whole.domains[s] for s in self.symbols}
        return AssumptionSet(self.symbols, domains, self.others, self._whole.weights)

    def _part(self, choice: Choice) -> GroupPart:
        """Return the requirements after all choices: no joins are left then."""
        return GroupPart(choice, self, [with_dims(r, choice.resolve) for r in self.requirements])


_REFUSED = Choice()
