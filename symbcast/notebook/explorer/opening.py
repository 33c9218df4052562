"""`explore`: shapes and results of every kind, written into the fields of an explorer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.errors import MissingExtraError, UnknownRuleError
from symbcast.formulas import Formula
from symbcast.notebook.explorer.question import Question
from symbcast.result import Result, broadcast
from symbcast.rules import Rule, rules
from symbcast.shapes import ShapeLike

if TYPE_CHECKING:
    import sympy

    from symbcast.dims import Dim
    from symbcast.notebook.explorer.widget import Explorer

_EXAMPLE = ("N, 3", "M, 1")


def explore(  # noqa: PLR0913 - the question's arguments are those of `broadcast`
    *shapes: ShapeLike | Result,
    rule: str | Rule = "numpy",
    assume: Any = (),
    min_size: int = 0,
    sizes: Mapping[Any, int] | None = None,
    over: Sequence[Any] = (),
    up_to: int = 12,
    shade: int | None = None,
    **attributes: Any,
) -> Explorer:
    """Return a widget in which shapes, rule and sizes can be changed, with the answer beside them.

    Shapes, rule, assumptions and attributes are as in `symbcast.broadcast`, or a `Result` alone says them all; text is
    shown as it is, right or wrong. ``sizes`` are those that the sliders start at, ``over`` the one or two symbols of
    the map, whose sizes go ``up_to`` (at most 32), and ``shade`` the output axis that it is shaded by.

    Raises a `SymbcastError` for what is not text and not a shape, and `MissingExtraError` without the extra
    ``notebook``.
    """
    try:
        from symbcast.notebook.explorer.widget import LARGEST_MAP, Explorer
    except ImportError as error:
        raise MissingExtraError("symbcast.notebook.explore", "notebook") from error
    question = _question(shapes, rule, assume, min_size, attributes)
    return Explorer(
        question,
        sizes={_name(size): int(given) for size, given in (sizes or {}).items()},
        over=[_name(symbol) for symbol in over],
        up_to=min(max(1, up_to), LARGEST_MAP),
        shade=shade,
    )


def question_of(result: Result) -> Question:
    """Return the question that a result answers, as text that asks it again.

    >>> question_of(broadcast("2..5, N", ("M", None), rule="none", assume="N >= 2"))
    Question(shapes=('?u0, N', 'M, ?u1'), rule='none', attributes={}, assume='?u0 >= 2 and ?u0 <= 5 and N >= 2',
             min_size=0)
    """
    texts = {name: _attribute_text(value) for name, value in result.rule.attributes().items()}
    if result.scope is None:
        return Question(tuple(map(_shape_text, result.operands)), result.rule.name, texts)
    from symbcast.deciding.normal import put_in_dim

    renamed = _readable(result.scope.names)
    shapes = tuple(
        _shape_text([d if isinstance(d, int) else put_in_dim(d, renamed) for d in shape]) for shape in result.operands
    )
    assume = " and ".join(_assumed(result, renamed))
    return Question(shapes, result.rule.name, texts, assume, result.scope.min_size)


def _question(
    shapes: Sequence[Any], rule: str | Rule, assume: Any, min_size: int, attributes: Mapping[str, Any]
) -> Question:
    if len(shapes) == 1 and isinstance(shapes[0], Result):
        return question_of(shapes[0])
    assumed = [assume] if isinstance(assume, str) else assume
    is_text = isinstance(assumed, Iterable) and all(isinstance(t, str) for t in (*shapes, *assumed))
    if not is_text or isinstance(rule, Rule):
        return question_of(broadcast(*shapes, rule=rule, assume=assume, min_size=min_size, **attributes))
    texts = {name: _attribute_text(value) for name, value in attributes.items()}
    joined = assumed[0] if len(assumed) == 1 else " and ".join(f"({text})" for text in assumed)
    return Question(tuple(shapes) or _EXAMPLE, _rule_name(rule), texts, joined, min_size)


def _rule_name(name: str) -> str:
    """Return the name of a rule by its name or an alias."""
    found = next((r.name for r in rules() if name in (r.name, *r.aliases)), None)
    if found is None:
        raise UnknownRuleError(name, [r.name for r in rules()])
    return found


def _attribute_text(value: Any) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


def _shape_text(dims: Sequence[Dim]) -> str:
    from symbcast.printing import labelled_text

    return ", ".join(str(d) if isinstance(d, int) else labelled_text(d) for d in dims) or "()"


def _assumed(result: Result, renamed: Mapping[sympy.Symbol, sympy.Symbol]) -> Iterator[str]:
    """Yield what is known of the sizes as text: of each by itself, its own bounds, and what was assumed."""
    from symbcast.deciding.describing import describe
    from symbcast.deciding.normal import put_in
    from symbcast.deciding.sets import ALL
    from symbcast.formulas import AnyOf
    from symbcast.printing import formula_text
    from symbcast.scope import own_set

    assert result.scope is not None
    known: list[Formula] = [describe(s, own_set(s, 0)) for s in result.symbols if own_set(s, 0) is not ALL]
    for formula in (*known, *(a.formula for a in result.assumptions)):
        text = formula_text(put_in(formula, dict(renamed)))
        yield f"({text})" if isinstance(formula, AnyOf) or " or " in text else text


def _readable(names: Mapping[sympy.Symbol, str]) -> dict[sympy.Symbol, sympy.Symbol]:
    """Return symbols that text can mean for those of a result: each size by its name, an unknown by a label."""
    from symbcast.dims import Unknown, symbol

    taken = set(names.values())
    labels = (label for n in range(len(taken) * 2) if (label := f"?u{n}") not in taken)
    found: dict[sympy.Symbol, sympy.Symbol] = {}
    for s, name in names.items():
        if isinstance(s, Unknown):
            found[s] = Unknown(next(labels) if name[1:].isdecimal() else name)
        else:
            found[s] = symbol(name)
    return found


def _name(size: Any) -> str:
    return size if isinstance(size, str) else str(size)
