"""Find other values for the sizes that a caller binds, if the model runs at no sizes with them."""

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
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.whole.program import Program
    from symbcast.graphs.model import Checked

_TRIED = 4
"""How many sizes are left free, one at a time; each costs another walk through the model."""


class Rebinding:
    """Walks through the model with one bound size left free, so that the whole model runs at the suggested sizes."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self.bound: Mapping[str, int] = checked.given.bind
        self._walked: dict[tuple[str, ...], Program] = {}
        """Results by the names of the sizes that stayed bound; they are reused, because several nodes may clash."""

    def instead(self, clashing: Collection[int]) -> tuple[Symbol, int, SizeSet] | None:
        """Return a bound size, its value, and the values at which the model runs if the other sizes stay bound.

        ``clashing`` are the sizes that clash: names bound to one of them are tried first.
        """
        names = list(self.bound)[::-1]  # of two sizes that clash, suggest changing the second to the first
        names.sort(key=lambda name: self.bound[name] not in clashing)
        for name in names[:_TRIED]:
            env = self._with({n: size for n, size in self.bound.items() if n != name})
            if env.verdict in (Verdict.SOMETIMES, Verdict.ALWAYS):
                members = _members(env, name)
                if members:
                    return next(s for s, n in self._checked.env.shown.items() if n == name), self.bound[name], members
        return None

    def other_sizes(self) -> str:
        """Return the advice to change all bound sizes, with the smallest values that work; empty if none work."""
        if not self.bound:
            return ""
        witness = self._with({}).witness()
        return "" if witness is None else f"bind other sizes, such as {sizes_text(dict(self._of(witness)))}"

    def _with(self, bind: Mapping[str, int]) -> Program:
        names = tuple(bind)
        if names not in self._walked:
            self._walked[names] = self._checked.again(self._checked.given._replace(bind=bind)).conditions.inputs
        return self._walked[names]

    def _of(self, witness: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        yield from ((name, size) for name, size in witness.items() if name in self.bound)


def _members(env: Program, name: str) -> SizeSet | None:
    """Return the possible values of a size; if they depend on other sizes, the smallest."""
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
