"""Conditions on sizes as values: joined, negated and compared, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.binding import missing_sizes, read_sizes
from symbcast.booleans import from_sympy, to_sympy
from symbcast.deciding.decide import Decision
from symbcast.deciding.knowledge import Knowledge
from symbcast.deciding.normal import put_in, symbols_in
from symbcast.definedness import with_values
from symbcast.dims import Unknown, symbol
from symbcast.errors import ShapeTypeError, UndecidedError
from symbcast.formulas import FORMULA_KINDS, Formula, all_of, any_of, clauses, negate
from symbcast.printing import formula_text
from symbcast.result import Result
from symbcast.scope import Scope, check_min_size, own_set, read_assumptions
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    import sympy
    from sympy.logic.boolalg import Boolean


class Condition:
    """A condition on sizes, made from text, a sympy Boolean, a `Result` (where it is valid), or another condition.

    ``&``, ``|``, ``~`` and ``>>`` (implication) make new conditions; `implies` and `equivalent` decide. A condition
    has no truth value of its own: ``==`` compares how two are written.

    >>> import symbcast as sb
    >>> valid = Condition(sb.broadcast("N", "M"))
    >>> (valid & Condition("N >= 2 and M >= 2")).simplified()
    Condition('N == M and N >= 2')
    >>> Condition("N == M").implies(valid), valid.implies("N == M")
    (True, False)
    """

    __slots__ = ("formula",)

    def __init__(self, value: Any) -> None:
        self.formula: Formula = _formula(value)

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts; none for the condition that is always true."""
        return clauses(self.formula)

    @property
    def boolean(self) -> Boolean:
        """The condition as a sympy Boolean."""
        return to_sympy(self.formula)

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The symbols in order of appearance."""
        return tuple(symbols_in(self.formula))

    def __and__(self, other: Any) -> Condition:
        return Condition(all_of((self.formula, _formula(other))))

    def __or__(self, other: Any) -> Condition:
        return Condition(any_of((self.formula, _formula(other))))

    def __invert__(self) -> Condition:
        return Condition(negate(self.formula))

    def __rshift__(self, other: Any) -> Condition:
        return Condition(any_of((negate(self.formula), _formula(other))))

    def verdict(self, assume: Any = (), min_size: int = 0) -> Verdict:
        """Return whether the condition holds always, sometimes, never, or it is unknown."""
        return self._decision(assume, min_size).verdict

    def implies(self, other: Any, assume: Any = (), min_size: int = 0) -> bool:
        """Return whether ``other`` holds wherever this condition and the assumptions do.

        Raises `UndecidedError` where that is beyond the limits.
        """
        decision = (self & ~Condition(other))._decision(assume, min_size)
        if decision.verdict is Verdict.UNKNOWN:
            raise UndecidedError(decision.reason)
        return decision.verdict is Verdict.NEVER

    def equivalent(self, other: Any, assume: Any = (), min_size: int = 0) -> bool:
        """Return whether the two hold for the same sizes under the assumptions."""
        other = Condition(other)
        return self.implies(other, assume, min_size) and other.implies(self, assume, min_size)

    def simplified(self, assume: Any = (), min_size: int = 0) -> Condition:
        """Return an equivalent condition, under the assumptions, in which nothing is redundant."""
        return Condition(all_of(self._decision(assume, min_size).clauses))

    def holds(self, sizes: Mapping[Any, int] | None = None, /, **named: int) -> bool:
        """Return whether the condition holds at some sizes, given as `Result.evaluate` takes them.

        Raises `BindingError` for a size that is missing, unknown, or not a size. A condition knows nothing of the
        assumptions that it was found under: ``condition & "N >= 2"`` adds them.

        >>> Condition("N % 8 == 0 or N == 1").holds(N=24)
        True
        """
        from symbcast.deciding.compiled import predicate

        names = {s: s.name for s in self.symbols}
        found = read_sizes(names, sizes, named)
        missing = [name for name in names.values() if name not in found]
        if missing:
            raise missing_sizes(missing, "holds")
        return predicate(self.formula, self.symbols)(*(found[s.name] for s in self.symbols))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self.formula == other.formula

    def __hash__(self) -> int:
        return hash(self.formula)

    def __bool__(self) -> NoReturn:
        raise TypeError("a condition has no truth value: see .verdict() and .holds()")

    def __str__(self) -> str:
        return formula_text(self.formula)

    def __repr__(self) -> str:
        return f"Condition({str(self)!r})"

    def _repr_html_(self) -> str:
        from symbcast.display.html.values import condition_html

        return condition_html(self)

    def _repr_latex_(self) -> str:
        from symbcast.display.latex.values import condition_display

        return condition_display(self)

    def _decision(self, assume: Any, min_size: int) -> Decision:
        scope = Scope((), (), read_assumptions(assume), check_min_size(min_size))
        assumed = [_by_name(a.formula) for a in scope.assumptions]
        symbols = tuple(dict.fromkeys((*self.symbols, *(s for f in assumed for s in symbols_in(f)))))
        known = Knowledge(symbols, {s: own_set(s, min_size) for s in symbols}, assumed)
        return Decision(known, [self.formula])


def _formula(value: Any) -> Formula:
    """Return what a condition can be made from as a formula, every name bound to the symbol of that name."""
    if isinstance(value, Condition):
        return value.formula
    if isinstance(value, Result):
        named = (
            {s: symbol(n) for s, n in value.scope.names.items() if not isinstance(s, Unknown)} if value.scope else {}
        )
        return put_in(all_of(value.clauses), {s: n for s, n in named.items() if s is not n})
    if isinstance(value, str):
        from symbcast.parsing import parse_formula

        return with_values(parse_formula(value))
    if isinstance(value, FORMULA_KINDS):
        return _by_name(value)
    if isinstance(value, bool) or hasattr(value, "free_symbols"):
        return _by_name(with_values(from_sympy(value)))
    raise ShapeTypeError(value, "a condition", "write text such as 'N == M or N == 1', a sympy Boolean or a Result")


def _by_name(formula: Formula) -> Formula:
    others = {s: symbol(s.name) for s in symbols_in(formula) if not s.is_Dummy and s is not symbol(s.name)}
    return put_in(formula, others) if others else formula
