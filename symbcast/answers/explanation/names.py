"""The names in an answer: operands, axes, dimensions, sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.sequences import Rest, SequenceSymbol
from symbcast.core.algebra.symbols import Symbol, Unknown, symbol
from symbcast.core.algebra.terms import stored
from symbcast.core.algebra.writer import TermWriter, name_text
from symbcast.core.broadcasting import Rule
from symbcast.core.shapes import Shape
from symbcast.core.text.printing import dim_text, formula_text, labelled_text, written

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.calls.call import Call


def rule_text(rule: Rule) -> str:
    """Return the name that the caller used for a rule, with its attributes.

    >>> from symbcast.core.broadcasting import find_rule
    >>> rule_text(find_rule("pdpd", {"axis": 1}))
    'pdpd(axis=1)'
    """
    if not rule.parameters:
        return rule.written_name
    attributes = ", ".join(f"{name}={value!r}" for name, value in rule.written_attributes().items())
    return f"{rule.written_name}({attributes})" if attributes else rule.written_name


def operand_names(result: Call) -> list[str]:
    """Return the name of each operand: the rule's name if it names them all, else its number."""
    return names_of_operands(result.rule, len(result.operands))


def names_of_operands(rule: Rule | None, count: int) -> list[str]:
    """Return the names of a rule's operands, for this number of them; without a rule, A and B.

    >>> names_of_operands(None, 2), names_of_operands(None, 3)
    (['A', 'B'], ['operand 0', 'operand 1', 'operand 2'])
    """
    names = ("A", "B") if rule is None else rule.operands
    return [names[n] if count <= len(names) else f"operand {n}" for n in range(count)]


def axis_text(axis: int, rank: int, sequence: int | None = None) -> str:
    """Name an axis from both ends, or from the known one; ``sequence`` represents the unnamed axes.

    >>> axis_text(0, 2), axis_text(0, 2, 0), axis_text(1, 2, 0)
    ('axis 0 (-2)', 'each axis before axis -1', 'axis -1')
    """
    if sequence is not None and axis != sequence:
        return f"axis {axis if axis < sequence else axis - rank}"
    if sequence is not None:
        return f"each axis before axis {axis + 1 - rank}" if axis + 1 < rank else "each axis"
    return f"axis {axis} ({axis - rank})"


class Namer:
    """Writes dimensions and formulas by the names that the answer's witness and counterexample use.

    Sums list their symbols in order of first appearance in the question, so that ``T + P`` is not reordered. Unknowns
    always show their labels, so that a condition on ``?0`` can be matched to the shapes.
    """

    def __init__(self, result: Call) -> None:
        self._names = result.shown
        self._renamed = _renamed(self._names)

    @staticmethod
    def of(names: Mapping[Symbol, str]) -> Namer:
        """Return a namer for sizes with the given names; sums list them in the order of their names."""
        made = Namer.__new__(Namer)
        made._names, made._renamed, made._order = names, _renamed(names), {}
        made._writer = None  # other sizes may be written too
        return made

    @stored
    def _order(self) -> Mapping[Symbol, int]:
        return {self._renamed.get(s, s): n for n, s in enumerate(self._names)}

    @stored
    def _writer(self) -> TermWriter | None:
        """Writes terms once for all texts; None if some size needs a label, which depends on the sizes beside it."""
        is_plain = not self._renamed and all(type(s) is Symbol and not s.is_Dummy for s in self._names)
        return TermWriter({}, self._order) if is_plain else None

    @property
    def sizes(self) -> tuple[str, ...]:
        """The name of each size, and of each sequence of axes."""
        names = self._names.items()
        return tuple(dict.fromkeys(s.sequence.rest().name if isinstance(s, SequenceSymbol) else n for s, n in names))

    def dim(self, dim: Dim) -> str:
        """Return a dimension as text, without its bounds."""
        if type(dim) is Symbol and not self._renamed:
            return name_text(dim.name)
        if isinstance(dim, int):
            return str(dim)
        return self._writer.dim(dim) if self._writer is not None else labelled_text(self._rename(dim), self._order)

    def bounded(self, dim: Dim) -> str:
        """Return a dimension as text, an unknown with its bounds."""
        if type(dim) is Symbol or isinstance(dim, (int, Rest)):
            return self.dim(dim)
        if not isinstance(dim, Unknown):
            return dim_text(self._rename(dim), self._order)
        bounds = f"{dim.lower or ''}..{'' if dim.upper is None else dim.upper}"
        return self.dim(dim) if bounds == ".." else f"{self.dim(dim)}:{bounds}"

    def renamed(self, dim: Dim) -> Dim:
        """Return a dimension over symbols with their display names."""
        return replaced(dim, self._renamed) if self._renamed and not isinstance(dim, int) else dim

    def renamed_formula(self, formula: Formula) -> Formula:
        """Return a formula over symbols with their display names."""
        if not self._renamed:
            return formula
        from symbcast.core.solver.groups.normal_form import put_in

        return put_in(formula, self._renamed)

    def shape(self, dims: Shape | Sequence[Dim]) -> str:
        """Return a shape as text."""
        texts = [self.bounded(d) for d in (dims.dims if isinstance(dims, Shape) else dims)]
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"

    def formula(self, formula: Formula) -> str:
        """Return a formula as text that parses back."""
        if self._writer is not None:
            return written(formula, self._writer)
        return formula_text(self.renamed_formula(formula), order=self._order)

    def _rename(self, dim: Dim) -> Dim:
        return replaced(dim, self._renamed) if self._renamed else dim


def _renamed(names: Mapping[Symbol, str]) -> dict[Symbol, Symbol]:
    """Map each symbol whose display name differs from its own name to a symbol with the display name."""
    return {s: s.renamed(n) if isinstance(s, Unknown) else symbol(n) for s, n in names.items() if s.name != n}
