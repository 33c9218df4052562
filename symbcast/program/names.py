"""Which size a name means throughout a program: one for each name and label, whoever brought it first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from symbcast.algebra.arithmetic import replaced
from symbcast.algebra.symbols import Dummy, Symbol, Unknown, UserSymbol, symbol
from symbcast.algebra.terms import symbols_of
from symbcast.errors import AssumptionError
from symbcast.logic.formulas import Formula
from symbcast.program.premises import own_set
from symbcast.shapes import Shape, shape_of
from symbcast.solver.normal_form import put_in, symbols_in
from symbcast.solver.set_formulas import describe

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol
    from symbcast.algebra.terms import Dim


class Names:
    """The sizes of a program in order of first appearance, and what each name and label stands for.

    A user's own symbol stands for its name if it comes first. An unknown that text brings is another one each time,
    and labelled ``?0``, ``?1``...; a label that the text gives (``?a``) is one size throughout.
    """

    def __init__(self) -> None:
        self.order: dict[Symbol, None] = {}
        self._by_name: dict[str, Symbol] = {}
        self._labels: dict[str, Unknown] = {}
        self._replaced: dict[Symbol, Symbol] = {}
        self.sizes: dict[Dim, None] = {}
        """Dimensions that are over sizes of this program alone."""
        self.brought: list[Formula] = []
        """What was known of symbols that gave way to another of their name, since this was last taken."""
        self.shown: dict[Symbol, str] = {}
        """The name that each size is shown and bound by; it never changes."""

    def copy(self) -> Names:
        """Return names that go their own way from here."""
        made = Names()
        made.order = dict(self.order)
        made._by_name, made._labels = dict(self._by_name), dict(self._labels)
        made._replaced, made.sizes, made.shown = dict(self._replaced), dict(self.sizes), dict(self.shown)
        return made

    def prefer(self, symbols: Iterable[Symbol]) -> None:
        """Reserve names and labels for symbols that come together, before any is met: a user's own have precedence."""
        found = dict.fromkeys(symbols)
        dummies = Counter(s.name for s in found if isinstance(s, Dummy))
        for s in found:
            if isinstance(s, Unknown):
                self._labels.setdefault(s.name, s)
            elif isinstance(s, UserSymbol) and not s.is_Dummy:
                self._by_name.setdefault(s.name, s)
        for s in found:
            if isinstance(s, Dummy) and dummies[s.name] == 1:  # else a text of that name means none of them
                self._by_name.setdefault(s.name, s)
        for s in found:
            if type(s) is Symbol:  # so that no dummy is shown by a name that text has
                self._by_name.setdefault(s.name, s)

    def mark(self) -> tuple[int, ...]:
        """Return the present state, for `undo`."""
        return tuple(map(len, self._tables()))

    def undo(self, mark: tuple[int, ...]) -> None:
        """Forget the sizes met since ``mark``."""
        for table, length in zip(self._tables(), mark, strict=True):
            while len(table) > length:
                table.popitem()  # the last one in
        self.brought.clear()

    def taken(self) -> list[Formula]:
        """Return what was brought, once."""
        found, self.brought = self.brought, []
        return found

    def _tables(self) -> tuple[dict[Any, Any], ...]:
        return self.order, self._by_name, self._labels, self._replaced, self.sizes, self.shown

    def named(self, name: str) -> Symbol:
        """Return the size that a name means; a label begins with ``?``."""
        if name.startswith("?"):
            return self._labels[name] if name in self._labels else self._meet(Unknown(name), is_fresh=True)
        return self._by_name[name] if name in self._by_name else self._meet(symbol(name), is_fresh=False)

    def fresh(self, lower: int, upper: int | None) -> Unknown:
        """Return an unknown of its own."""
        made = Unknown(self._free_label(), lower, upper)
        self._meet(made, is_fresh=False)
        return made

    def bind(self, shape: Shape, is_fresh: bool) -> Shape:
        """Return a shape with this program's sizes in place of others of their names.

        ``is_fresh`` says that text brought it, whose unknowns nobody else holds.
        """
        if all(type(d) is int or d in self.sizes for d in shape.dims):
            return shape
        bound = self._bindings(symbols_of(shape.dims), is_fresh)
        found = shape_of(replaced(d, bound) for d in shape.dims) if bound else shape
        self.sizes.update(dict.fromkeys(d for d in found.dims if type(d) is not int))
        return found

    def restore(self, shape: Shape) -> Shape:
        """Return a shape whose unknowns are those of their labels here, numbered ones too: it was written down here."""
        unknowns = [s for s in symbols_of(shape.dims) if isinstance(s, Unknown)]
        for s in unknowns:
            if s.name not in self._labels:
                self._meet(s, is_fresh=False)
        bound = {s: self._labels[s.name] for s in unknowns if self._labels[s.name] is not s}
        return shape_of(replaced(d, bound) for d in shape.dims) if bound else shape

    def bind_formula(self, formula: Formula) -> Formula:
        """Return a formula with this program's sizes in place of others of their names.

        Raises `AssumptionError` for an unknown that no shape has brought.
        """
        symbols = symbols_in(formula)
        for s in symbols:
            if isinstance(s, Unknown) and s not in self.order and s.name not in self._labels:
                known = f"the labels are {', '.join(self._labels)}" if self._labels else "there is no unknown size yet"
                raise AssumptionError(f"no size here is called {s.name}", hint=known)
        bound = self._bindings(symbols, is_fresh=True, labels=True)
        return put_in(formula, bound) if bound else formula

    def _bindings(self, symbols: Iterable[Symbol], is_fresh: bool, labels: bool = False) -> dict[Symbol, Symbol]:
        found: dict[Symbol, Symbol] = {}
        for s in symbols:
            if s in self.order:
                continue
            if labels and isinstance(s, Unknown):
                found[s] = self._labels[s.name]
                continue
            kept = self._replaced.get(s)
            if kept is None:
                kept = self._meet(s, is_fresh)
            if kept is not s:
                found[s] = kept
                if not own_set(kept, 0) <= own_set(s, 0):
                    self.brought.append(describe(kept, own_set(s, 0)))
        return found

    def _meet(self, s: Symbol, is_fresh: bool) -> Symbol:
        """Take a symbol in that is not known yet; return what stands for it."""
        kept: Symbol = s
        if isinstance(s, Unknown):
            if is_fresh and not s.name[1:].isdecimal() and s.name in self._labels:
                return self._labels[s.name]  # a label of the text's own; the next text has another unknown for it
            if self._labels.get(s.name, s) is not s:
                s, old = s.renamed(self._free_label()), s
                kept = s
                if not is_fresh:
                    self._replaced[old] = s
            self._labels[s.name] = s
            self.shown[s] = s.name
        elif s.is_Dummy:
            # Another size than any of its name; text means it by the name that it is shown by.
            name, number = s.name, 0
            while self._by_name.get(name, s) is not s:
                number += 1
                name = f"{s.name}_{number}"
            self._by_name[name] = s
            self.shown[s] = name
        else:
            kept = self._by_name.setdefault(s.name, s)
            if kept is not s:
                self._replaced[s] = kept
                return kept if kept in self.order else self._meet(kept, is_fresh=False)
            self.shown[s] = s.name
        self.order[kept] = None
        return kept

    def _free_label(self) -> str:
        number = len(self._labels)
        while f"?{number}" in self._labels:
            number += 1
        return f"?{number}"
