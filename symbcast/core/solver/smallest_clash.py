"""The fewest of thousands of groups of formulas that cannot hold together, by implicit hitting sets. It loads z3."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from contextlib import suppress

from symbcast.core.algebra.formulas import Formula, all_of
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import NEVER, EffortSpentError, Satisfiability, budget_share, charge, current
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import holds_at, replace_in_formula
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f3_linear.z3_solver import Session, on_worker
from symbcast.core.solver.incremental import FormulaNetwork, SizeRepair
from symbcast.core.solver.points import bit_positions, least_size
from symbcast.core.solver.size_sets import ALL

# Number of partial choices tried before the search is given up.
NODES = 20_000


def smallest_hitting_set(sets: Sequence[frozenset[int]], at_least: int = 0) -> tuple[int, ...] | None:
    """Return the fewest numbers that meet every set, the first in order among equals; None if the search is given up.

    No set is empty, and it is known that fewer than ``at_least`` numbers do not suffice.

    >>> smallest_hitting_set([frozenset({1, 2}), frozenset({2, 3}), frozenset({4, 5})])
    (2, 4)
    """
    search = _HittingSetSearch(sets)
    for size in range(at_least, len(sets) + 1):
        search.seen.clear()
        if not search.run((1 << len(sets)) - 1, frozenset(), size):
            return None
        if search.best is not None:
            return search.best
    return None


class _HittingSetSearch:
    """A depth-first search: some member of each set that is not yet met must be chosen."""

    def __init__(self, sets: Sequence[frozenset[int]]) -> None:
        self.met_by = _useful(sets)
        self.members = [sorted(n for n in chosen if n in self.met_by) for chosen in sets]
        self.best: tuple[int, ...] | None = None
        self.seen: set[frozenset[int]] = set()
        self.nodes = 0

    def run(self, unmet: int, chosen: frozenset[int], size: int) -> bool:
        """Try all choices of a size that extend one; return False when the search is given up."""
        if not unmet:
            hitting = tuple(sorted(chosen))
            self.best = hitting if self.best is None else min(self.best, hitting)
            return True
        self.nodes += 1
        charge(5)
        if self.nodes > NODES:
            return False
        if self._apart(unmet) > size - len(chosen):
            return True
        # The set with the fewest members gives the fewest branches.
        branch = min((self.members[n] for n in bit_positions(unmet)), key=len)
        for number in branch:
            longer = chosen | {number}
            if longer not in self.seen:
                self.seen.add(longer)
                if not self.run(unmet & ~self.met_by[number], longer, size):
                    return False
        return True

    def _apart(self, unmet: int) -> int:
        """Return a number of unmet sets without a common member: each needs a separate choice."""
        count = 0
        while unmet:
            lowest = (unmet & -unmet).bit_length() - 1
            for number in self.members[lowest]:
                unmet &= ~self.met_by[number]
            count += 1
        return count


def _useful(sets: Sequence[frozenset[int]]) -> dict[int, int]:
    """Return the sets that each number meets, as bits, without numbers that an earlier one can replace."""
    met_by: dict[int, int] = {}
    for position, members in enumerate(sets):
        for number in members:
            met_by[number] = met_by.get(number, 0) | 1 << position
    useful: dict[int, int] = {}
    for number in sorted(met_by):
        sets_met = met_by[number]
        if all(sets_met & ~earlier for earlier in set(useful.values())):
            useful[number] = sets_met
    return useful


# The fewest groups of formulas that cannot hold together, among thousands.
#
# Implicit hitting sets (Ignatiev, Previti, Liffiton, Marques-Silva: Smallest MUS Extraction with Minimal Hitting Set
# Dualization, 2015). If some groups can hold together, every clash contains one of the other groups, so it meets every
# such set of others. The smallest set of groups that meets all known sets is a smallest clash if its groups clash;
# otherwise, extended as far as possible, it gives one more set to meet.


# Number of questions to the solver before an irreducible set of groups is accepted that may not be the smallest.
QUESTIONS = 3000


def smallest_clash(
    groups: Sequence[Sequence[Formula]],
    assumptions: AssumptionSet,
    required: Collection[int] = (),
    sizes: Mapping[Symbol, int] | None = None,
) -> tuple[int, ...]:
    """Return the positions of the fewest groups that cannot hold together; empty if no clash is proved.

    Among equally small clashes, the first in order is returned. ``required`` are positions known to be in every clash,
    and ``sizes`` are sizes at which most groups hold, if known: both only save time. Undecided sets count as possible.
    When the budget is spent, the result is the fewest clashing groups that are known.
    """
    known = _Groups(groups, assumptions, sizes or {})
    best: tuple[int, ...] | None = None
    for connected in known.connected():
        needed = [frozenset({n}) for n in sorted(required) if n in connected]
        if len(needed) == len(required):
            best = _ClashSearch(known, connected, needed).run(best)
    return best or ()


_NOTHING = SizeRepair(Satisfiability.SATISFIABLE, {}, [])


class _Groups:
    """The groups and the assumptions, sizes at which many groups hold, and the groups ``out`` that fail there."""

    def __init__(
        self, groups: Sequence[Sequence[Formula]], assumptions: AssumptionSet, sizes: Mapping[Symbol, int]
    ) -> None:
        self.groups = groups
        self.assumptions = assumptions
        self.network = FormulaNetwork()
        self.clashes: list[frozenset[int]] = []
        self.questions = 0
        for group in groups:
            self.network.add(all_of(replace_in_formula(f, assumptions.values) for f in group))
        domains = assumptions.domains
        for known in (*assumptions.others, *(set_formula(s, d) for s, d in domains.items() if d is not ALL)):
            self.network.add(known)
        self.sizes = {
            s: size if (size := sizes.get(s)) is not None and size in domain else least_size(domain) or 0
            for s, domain in domains.items()
        }
        assumed = range(len(groups), len(self.network.formulas))
        broken = self._broken(assumed, self.sizes)
        if broken:
            self.sizes.update(self._repaired(broken, range(len(groups)), self.sizes).changed)
        self.out = self._grown(self._broken(range(len(groups)), self.sizes), self.sizes, frozenset())

    def connected(self) -> list[set[int]]:
        """Return the sets of groups that symbols connect to failing groups, one set for each connected component."""
        components: list[set[int]] = []
        for start in sorted(self.out):
            if not any(start in together for together in components):
                components.append({n for n in self._tied_to(start) if n < len(self.groups)})
        return components

    def _tied_to(self, start: int) -> set[int]:
        tied, ahead = {start}, [start]
        seen: set[Symbol] = set()
        while ahead:
            for symbol in self.network.symbols[ahead.pop()]:
                if symbol not in seen:
                    seen.add(symbol)
                    new = [n for n in self.network.users[symbol] if n not in tied]
                    tied.update(new)
                    ahead.extend(new)
        return tied

    def clash(self, chosen: frozenset[int]) -> dict[Symbol, int] | bool:
        """Return sizes near the known ones at which the groups hold; otherwise whether they clash."""
        if any(clash <= chosen for clash in self.clashes):
            return True
        broken = self._broken(sorted(chosen), self.sizes)
        if not broken:
            return dict(self.sizes)
        repair = self._repaired(broken, set(range(len(self.groups))) - chosen, self.sizes)
        if repair.answer is Satisfiability.SATISFIABLE:
            sizes = {**self.sizes, **repair.changed}
            if not self._broken(sorted(chosen), sizes):
                return sizes
        return repair.answer is Satisfiability.UNSATISFIABLE or self.refuted(chosen)

    def refuted(self, chosen: Iterable[int]) -> bool:
        """Return whether groups are proved to clash by any available means."""
        self.questions += 1
        formulas = [f for n in sorted(chosen) for f in self.groups[n]]
        return Decision(self.assumptions, formulas).impossible

    def others(self, chosen: frozenset[int], sizes: dict[Symbol, int], connected: set[int]) -> frozenset[int]:
        """Return the connected groups left after making as many as possible hold together with some chosen ones.

        The chosen ones hold at ``sizes``, which changes.
        """
        changed = [s for s, size in sizes.items() if size != self.sizes[s]]
        touched = {n for s in changed for n in self.network.users.get(s, ()) if n < len(self.groups)}
        broken = self._broken(sorted((touched | self.out) & connected), sizes)
        return frozenset(self._grown(broken, sizes, chosen) & connected)

    def _grown(self, broken: Sequence[int], sizes: dict[Symbol, int], chosen: frozenset[int]) -> set[int]:
        """Change the sizes so that as many of the broken groups as possible hold, and return those that do not.

        Among clashing groups, the last one that was not chosen is left out.
        """
        out: set[int] = set()
        while all(self.clashes):
            out.update(max(clash - chosen) for clash in self.clashes if clash.isdisjoint(out))
            broken = self._broken([n for n in broken if n not in out], sizes)
            repair = self._repaired(broken, out.union(broken), sizes) if broken else _NOTHING
            if repair.answer is Satisfiability.SATISFIABLE:
                sizes.update(repair.changed)
                return set(self._broken({*out, *broken}, sizes))  # some may hold anyway
            if repair.answer is Satisfiability.UNKNOWN:
                return self._one_by_one(broken, out, sizes)
        return set()  # the known facts already contradict each other

    def _one_by_one(self, broken: Sequence[int], out: set[int], sizes: dict[Symbol, int]) -> set[int]:
        aside = out.union(broken)
        for number in broken:
            repair = self._repaired([number], aside, sizes)
            if repair.answer is Satisfiability.SATISFIABLE:
                changed = {**sizes, **repair.changed}
                if not self._broken([number], changed):
                    sizes.update(changed)
                    aside.discard(number)
        return {n for n in aside if self._broken([n], sizes)}

    def _broken(self, numbers: Iterable[int], sizes: Mapping[Symbol, int]) -> list[int]:
        return [n for n in numbers if not holds_at(self.network.formulas[n], sizes)]

    def _repaired(self, broken: Sequence[int], aside: Container[int], sizes: dict[Symbol, int]) -> SizeRepair:
        """Return how to make the broken groups hold together with all groups that are not set aside."""
        self.questions += 1
        repair = self.network.repaired(broken, aside, sizes)
        if repair.answer is Satisfiability.UNSATISFIABLE:
            self._learn(repair.concerned)
        return repair

    def _learn(self, clashing: Sequence[int]) -> None:
        """Record a few clashing groups among some that clash."""
        formulas, count = self.network.formulas, len(self.groups)
        groups, assumed = [n for n in clashing if n < count], [formulas[n] for n in clashing if n >= count]
        symbols = tuple(dict.fromkeys(s for n in clashing for s in self.network.symbols[n]))
        core = on_worker(lambda: Session(symbols, assumed).core([formulas[n] for n in groups]))
        self.clashes.append(frozenset(groups[n] for n in core))


class _ClashSearch:
    """The search for the smallest clash among connected groups."""

    def __init__(self, groups: _Groups, connected: set[int], needed: Sequence[frozenset[int]]) -> None:
        self.groups = groups
        self.connected = connected
        self.to_meet = [*needed, frozenset(groups.out & connected)]
        self.found: tuple[int, ...] | None = None

    def run(self, best: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """Return the smallest clash, or ``best`` if that is smaller or none is found."""
        groups = self.groups
        if not any(clash <= self.connected for clash in groups.clashes) and not groups.refuted(self.connected):
            return best
        self.found = best
        effort = current()
        with suppress(EffortSpentError), budget_share(NEVER if effort is None else effort.left // 4 * 3):
            return self._fewest(best)
        # The rest of the effort makes the fewest that are known fewer.
        with suppress(EffortSpentError):
            self._reduce()
        return self.found

    def _fewest(self, best: tuple[int, ...] | None) -> tuple[int, ...] | None:
        groups = self.groups
        tried = 0
        while groups.questions < QUESTIONS:
            chosen = smallest_hitting_set(self.to_meet, tried)
            if chosen is None:
                break
            if best is not None and (len(chosen), chosen) >= (len(best), best):
                return best
            tried = len(chosen)
            outcome = groups.clash(frozenset(chosen))
            if outcome is True:
                return chosen
            if outcome is False:  # undecided, or no sizes were found
                left = frozenset(self.connected.difference(chosen))
            else:
                left = groups.others(frozenset(chosen), outcome, self.connected)
            if not left:
                return best
            self.to_meet.append(left)
        self._reduce()
        return self.found

    def _reduce(self) -> None:
        """Leave groups out of the fewest that are known to clash, many at once and then one by one."""
        known = [tuple(sorted(c)) for c in self.groups.clashes if c <= self.connected]
        best = [] if self.found is None else [self.found]
        self.found = min([*known, *best, tuple(sorted(self.connected))], key=lambda c: (len(c), c))
        if known or best:
            return
        step = len(self.found) // 2
        while step:
            for start in range(len(self.found) - step, -1, -step):
                fewer = (*self.found[:start], *self.found[start + step :])
                if self.groups.refuted(fewer):
                    self.found = fewer
            step //= 2
