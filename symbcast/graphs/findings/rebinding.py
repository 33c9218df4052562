"""Other sizes in the place of those that a caller binds, where a model runs at none with these."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from symbcast.core.characters import sizes_text
from symbcast.core.logic.formulas import all_of
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.core.solver.sets.size_sets import ALL, SizeSet
from symbcast.core.solver.sets.univariate import narrow
from symbcast.core.verdicts import Verdict
from symbcast.graphs.findings.sizes import knowing

if TYPE_CHECKING:
    from symbcast.answers.public.env import ShapeEnv
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula
    from symbcast.graphs.model import Checked

_TRIED = 4
"""So many sizes are left free, one at a time: for each the model is walked through once more."""


class Rebinding:
    """Finds them by walking through the model with a bound size left free: so the whole model runs at what is said."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self.bound: Mapping[str, int] = checked.given.bind
        self._walked: dict[tuple[str, ...], ShapeEnv] = {}
        """What was found with some of the sizes bound, by their names: several nodes may clash."""

    def instead(self, clashing: Collection[int]) -> tuple[Symbol, int, SizeSet] | None:
        """Return a bound size, what it is bound to, and the sizes at which the model runs with the others as they are.

        ``clashing`` are the sizes that clash: names that are bound to one of these are tried first.
        """
        names = list(self.bound)[::-1]  # of two that clash, the second is to be what the first one is
        names.sort(key=lambda name: self.bound[name] not in clashing)
        for name in names[:_TRIED]:
            env = self._with({n: size for n, size in self.bound.items() if n != name})
            if env.verdict in (Verdict.SOMETIMES, Verdict.ALWAYS):
                members = _members(env, name)
                if members:
                    return next(s for s, n in self._checked.env.shown.items() if n == name), self.bound[name], members
        return None

    def other_sizes(self) -> str:
        """Return that all bound sizes have to be others, with the smallest that will do; empty where none will."""
        if not self.bound:
            return ""
        witness = self._with({}).witness()
        return "" if witness is None else f"bind other sizes, such as {sizes_text(dict(self._of(witness)))}"

    def _with(self, bind: Mapping[str, int]) -> ShapeEnv:
        names = tuple(bind)
        if names not in self._walked:
            self._walked[names] = self._checked.again(self._checked.given._replace(bind=bind)).conditions.inputs
        return self._walked[names]

    def _of(self, witness: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        yield from ((name, size) for name, size in witness.items() if name in self.bound)


def _members(env: ShapeEnv, name: str) -> SizeSet | None:
    """Return the sizes that one may have; where that depends on others, the smallest."""
    symbol = next(s for s, n in env.shown.items() if n == name)
    clauses = [c for c in env.clauses if symbol in symbols_in(c)]
    known = knowing(env)
    found = narrow(known.domains.get(symbol, ALL), all_of(clauses)) if _is_about(symbol, clauses) else None
    if found is None:
        witness = env.witness()
        return None if witness is None else SizeSet.of([witness[name]])
    return found


def _is_about(symbol: Symbol, clauses: Collection[Formula]) -> bool:
    return all(set(symbols_in(c)) == {symbol} for c in clauses)
