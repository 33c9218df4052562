"""Formulas added one by one, and whether they can hold together, asked again and again.

Sizes at which all formulas hold are kept. New formulas often hold there too. If they do not, the sizes are repaired
locally: a few symbols are released, the others stay, and z3 is asked about the formulas that mention those few. Only if
no repair is found, and these formulas do not clash by themselves, are more released. So a check costs as much as the
neighbourhood of the new formulas, not as much as the whole conjunction.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from symbcast.core.algebra.formulas import Formula, at_most, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import SHORT_LIMIT, EffortSpentError, Satisfiability, cached_uncounted, was_stopped
from symbcast.core.solver.evaluation import holds_at, replace_in_formula, size_at, standard_names, symbols_in
from symbcast.core.solver.f3_linear.equations import solved_for
from symbcast.core.solver.points import GivenUpError, Point
from symbcast.core.solver.search import repaired_point
from symbcast.core.structs import NamedTuple

# A symbol that more formulas mention is released later than others; the limit grows by `_USERS_FACTOR` each time.
_FEW_USERS = 16
_USERS_FACTOR = 8
# So few are all let go at once.
_FEW_SYMBOLS = 10
# Symbols of formulas with more stay in their order: a formula is read once for each symbol.
_FEW_ORDERED = 32


class GrowingConjunction:
    """A conjunction that grows and shrinks; use it from one thread at a time.

    It holds no z3 object: it can be copied, sent, forked and discarded like any data. An interrupted question can be
    asked again.
    """

    def __init__(self, formulas: Iterable[Formula] = ()) -> None:
        self._network = FormulaNetwork()
        # The sizes at which all formulas were last found to hold.
        self.sizes: dict[Symbol, int] = {}
        self._holding = 0
        self._clashing: int | None = None
        self._open: set[int] = set()
        for formula in formulas:
            self.add(formula)

    def copy(self) -> GrowingConjunction:
        """Return an independent copy."""
        copied = GrowingConjunction()
        for name, value in vars(self).items():
            setattr(copied, name, value.copy() if hasattr(value, "copy") else value)
        return copied

    def __len__(self) -> int:
        return len(self._network.formulas)

    def add(self, formula: Formula) -> None:
        """Add a formula, possibly with new symbols."""
        self._network.add(formula)

    def start(self, s: Symbol, size: int) -> None:
        """Start the search at a given size of a symbol that no formula mentions yet; the default is 1."""
        self.sizes.setdefault(s, size)

    def shrink(self, length: int) -> None:
        """Remove all formulas except the first ``length``."""
        self._holding = min(self._holding, length)
        if self._clashing is not None and self._clashing > length:
            self._clashing = None
        self._open = {n for n in self._open if n < length}
        for s in self._network.shrink(length):
            self.sizes.pop(s, None)

    @property
    def formulas(self) -> list[Formula]:
        """The formulas, in the order in which they were added."""
        return self._network.formulas

    def holds_at(self, sizes: Mapping[Symbol, int], first: int = 0) -> bool:
        """Return whether the formulas from number ``first`` on hold at sizes, with the known ones of other symbols."""
        whole = {**self.sizes, **sizes}
        return all(holds_at(formula, whole) for formula in self.formulas[first:])

    def check(self, extra: Iterable[Formula] = ()) -> tuple[Satisfiability, dict[Symbol, int]]:
        """Return whether all formulas and some temporary ones can hold, and sizes at which they do.

        A formula that once left the answer undecided is not asked about again: the answer stays undecided until sizes
        are found at which it holds, the others provably clash, or it is removed.
        """
        answer = self.can_hold()
        if answer is Satisfiability.SATISFIABLE:
            return self.beside(extra)
        if answer is Satisfiability.UNSATISFIABLE:
            return answer, {}
        length = len(self)
        try:
            for formula in extra:
                self._network.add(formula)
            answer = self.can_hold()
            return answer, dict(self.sizes) if answer is Satisfiability.SATISFIABLE else {}
        finally:
            self.shrink(length)

    def beside(self, extra: Iterable[Formula], aside: Container[int] = ()) -> tuple[Satisfiability, dict[Symbol, int]]:
        """Return whether some formulas can hold with all others except those set aside, and sizes at which they do.

        The last `check` found that all others can hold.
        """
        length, sizes = len(self), dict(self.sizes)
        try:
            for formula in extra:
                self._network.add(formula)
            new = range(length, len(self))
            for s in [s for n in new for s in self._network.symbols[n]]:
                sizes.setdefault(s, 1)
            broken = [n for n in new if not holds_at(self._network.formulas[n], sizes)]
            if not broken:
                return Satisfiability.SATISFIABLE, sizes
            repair = self._network.repaired(broken, aside, sizes)
            return repair.answer, {**sizes, **repair.changed} if repair.answer is Satisfiability.SATISFIABLE else {}
        finally:
            self._network.shrink(length)

    def can_hold(self) -> Satisfiability:
        """Return whether all formulas can hold, as `check` does: change the known sizes until they do."""
        if self._clashing is not None:
            return Satisfiability.UNSATISFIABLE
        formulas, sizes = self._network.formulas, self.sizes
        new = range(self._holding, len(self))
        for position in new:
            for s in self._network.symbols[position]:
                sizes.setdefault(s, 1)
        broken = [n for n in new if not holds_at(formulas[n], sizes) and not self._is_satisfied_alone(n)]
        try:
            repaired = self._make_room(broken) or self._repair(broken)
        except EffortSpentError:
            repaired = Satisfiability.UNKNOWN
            self._open.update(broken)
        if repaired is Satisfiability.UNSATISFIABLE:
            self._clashing = len(self)
            return Satisfiability.UNSATISFIABLE
        self._holding = len(self)
        if was_stopped():
            # Formulas that the caller's clock stopped are asked about again next time.
            self._holding = min(self._open, default=len(self))
        self._open = {n for n in self._open if not holds_at(formulas[n], self.sizes)}
        return Satisfiability.UNKNOWN if self._open else Satisfiability.SATISFIABLE

    def _is_satisfied_alone(self, number: int) -> bool:
        """Return whether a formula determines a symbol that no other formula mentions; that symbol is then set."""
        for s, size in self._own_sizes(number):
            if size >= 0:
                self.sizes[s] = size
                return True
        return False

    def _own_sizes(self, number: int) -> Iterator[tuple[Symbol, int]]:
        """Yield each symbol that only this formula mentions and determines, with its size, which may be negative."""
        network = self._network
        for s in network.symbols[number]:
            if network.users[s] == [number]:
                value = solved_for(network.formulas[number], s)
                if value is not None:
                    yield s, size_at(value.dim(), self.sizes)

    def _make_room(self, broken: Sequence[int]) -> Satisfiability | None:
        """Repair formulas that would make one of their own symbols negative, with room for more like them.

        In a chain such as ``b + 1 == a``, ``c + 1 == b``, ... each formula would move all sizes of the chain by one. So
        they are moved far enough for as many more formulas. None if that is impossible, or if some formula is not of
        this kind.
        """
        short = [next(self._own_sizes(n), None) for n in broken]
        room = [at_most(-size * len(self), s) for s, size in filter(None, short)]
        if not room or len(room) < len(broken):
            return None
        length = len(self)
        try:
            for formula in room:
                self._network.add(formula)
            repair = self._network.repaired([*broken, *range(length, len(self))], self._open, self.sizes)
        finally:
            self._network.shrink(length)
        if repair.answer is not Satisfiability.SATISFIABLE:
            return None
        self.sizes.update(repair.changed)
        return repair.answer

    def _repair(self, broken: Sequence[int]) -> Satisfiability:
        """Change the sizes so that the broken formulas hold too; set aside those that stay undecided."""
        if not broken:
            return Satisfiability.SATISFIABLE
        aside = self._open.union(broken)
        repair = self._network.repaired(broken, aside, self.sizes)
        if repair.answer is Satisfiability.SATISFIABLE:
            self.sizes.update(repair.changed)
        if repair.answer is not Satisfiability.UNKNOWN:
            return repair.answer
        if len(broken) == 1:
            self._open.update(broken)
            return repair.answer
        # Formulas left undecided must not hide that others clash.
        half = len(broken) // 2
        self._open.update(broken[half:])
        first = self._repair(broken[:half])
        self._open.difference_update(broken[half:])
        return first if first is Satisfiability.UNSATISFIABLE else self._repair(broken[half:])


class SizeRepair(NamedTuple):
    """The outcome of a repair: the answer, the changed sizes, and for a clash the formulas that it concerned."""

    answer: Satisfiability
    changed: dict[Symbol, int]
    concerned: list[int]


class FormulaNetwork:
    """Formulas by number, and for each symbol the numbers of the formulas that mention it."""

    def __init__(self) -> None:
        self.formulas: list[Formula] = []
        self.symbols: list[tuple[Symbol, ...]] = []
        self.users: dict[Symbol, list[int]] = {}

    def copy(self) -> FormulaNetwork:
        """Return an independent copy."""
        copied = FormulaNetwork()
        copied.formulas, copied.symbols = list(self.formulas), list(self.symbols)
        copied.users = {s: list(users) for s, users in self.users.items()}
        return copied

    def add(self, formula: Formula) -> None:
        """Add a formula."""
        self.shrink(len(self.formulas))  # remove remains of an interrupted call
        symbols = tuple(symbols_in(formula))
        number = len(self.formulas)
        self.symbols.append(symbols)
        for s in symbols:
            self.users.setdefault(s, []).append(number)
        self.formulas.append(formula)

    def shrink(self, length: int) -> list[Symbol]:
        """Remove all formulas except the first ``length``; return the symbols that no formula mentions any more."""
        gone: list[Symbol] = []
        del self.formulas[length:]
        for symbols in self.symbols[length:]:
            for s in symbols:
                users = self.users.get(s, [])
                while users and users[-1] >= length:
                    users.pop()
                if not users:
                    self.users.pop(s, None)
                    gone.append(s)
        del self.symbols[length:]
        return gone

    def repaired(self, broken: Sequence[int], aside: Container[int], sizes: dict[Symbol, int]) -> SizeRepair:
        """Return changes to ``sizes`` that make the broken formulas hold too, or report that there are none.

        Everything that is not set aside holds before and after, except the broken formulas.
        """
        few = len(self.users) <= _FEW_SYMBOLS
        near = dict.fromkeys(self.users if few else (s for n in broken for s in self.symbols[n]))
        most, steps = _FEW_USERS, 1
        while True:
            free = near if few else {s: None for s in near if len(self.users[s]) <= most}
            concerned = sorted({*broken, *(n for s in free for n in self.users[s] if n not in aside)})
            around = dict.fromkeys(s for n in concerned for s in self.symbols[n])
            fixed = [s for s in around if s not in free]
            if free or not fixed:
                answer, changed = self._ask(concerned, around, [equal(s, sizes[s]) for s in fixed])
                if answer is not None:
                    return SizeRepair(answer, changed, concerned)
            most *= _USERS_FACTOR
            for _ in range(steps):
                near = self._wider(near, aside, most)
            steps *= 2

    def _wider(self, near: dict[Symbol, None], aside: Container[int], most: int) -> dict[Symbol, None]:
        """Return the symbols, and those that share a formula with a released one."""
        touched = sorted({n for s in near if len(self.users[s]) <= most for n in self.users[s] if n not in aside})
        return {**near, **dict.fromkeys(s for n in touched for s in self.symbols[n])}

    def _ask(
        self, concerned: Sequence[int], around: Iterable[Symbol], fixed: Sequence[Formula]
    ) -> tuple[Satisfiability | None, Point]:
        """Ask whether the formulas can hold with some sizes fixed; None if only releasing those might help."""
        formulas = [self.formulas[n] for n in concerned]
        symbols = tuple(around)
        if not fixed:
            return _can_hold(symbols, formulas)
        answer, sizes = _can_hold(symbols, [*formulas, *fixed], SHORT_LIMIT)
        if answer is Satisfiability.SATISFIABLE:
            return answer, sizes
        answer, _ = _can_hold(symbols, formulas, SHORT_LIMIT)
        return (answer if answer is Satisfiability.UNSATISFIABLE else None), {}


def _can_hold(
    symbols: Sequence[Symbol], formulas: Sequence[Formula], limit: int | None = None
) -> tuple[Satisfiability, Point]:
    # Where a search ends depends on the order of terms, and that on names: the search sees names by position.
    ordered = _in_order_of_places(symbols, formulas)
    names = standard_names(ordered)
    own = {names.get(s, s): s for s in ordered}
    try:
        sizes = repaired_point(tuple(own), [replace_in_formula(f, names) for f in formulas], limit)
    except GivenUpError:
        return Satisfiability.UNKNOWN, {}
    if sizes is None:
        return Satisfiability.UNSATISFIABLE, {}
    return Satisfiability.SATISFIABLE, {own[s]: size for s, size in sizes.items()}


_THIS, _OTHER = symbol("this"), symbol("other")


def _in_order_of_places(symbols: Sequence[Symbol], formulas: Sequence[Formula]) -> list[Symbol]:
    """Return symbols in an order that other names do not change: by formulas in which all others are one."""
    places: dict[Symbol, list[tuple[int, str]]] = {s: [] for s in symbols}
    for number, formula in enumerate(formulas):
        for s, place in _places(formula).items():
            places[s].append((number, place))
    return sorted(symbols, key=places.__getitem__)


@cached_uncounted(4096)
def _places(formula: Formula) -> dict[Symbol, str]:
    symbols = symbols_in(formula)
    others = dict.fromkeys(symbols, _OTHER)
    if len(symbols) > _FEW_ORDERED:
        return {}
    return {s: str(replace_in_formula(formula, {**others, s: _THIS})) for s in symbols}
