"""Formulas, shapes and sizes as LaTeX, with the same names as in text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.answers.mathematics.layout import OMITTED, brackets, call, some
from symbcast.core.algebra.latex_names import name_latex, text_latex
from symbcast.core.algebra.sequences import mentions_rest
from symbcast.core.characters import telling_sizes, visible
from symbcast.core.logic.formulas import (
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    different,
    dims_of,
    equal,
)

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

_SIGNS = {"==": "=", "!=": r"\ne", "<=": r"\le", "<": "<"}
_MIRRORED = {"<=": r"\ge", "<": ">"}
_WORDS: dict[type[AllOf | AnyOf], str] = {AllOf: r" \land ", AnyOf: r" \lor "}
_LONGEST = 4000
"""How long the LaTeX of a clause may be; a longer one is written as text, on several lines."""
_WIDTH = 100
"""Typesetters do not break text: it continues on a new line after this many characters."""

_Kind: TypeAlias = type[AllOf | AnyOf] | None


def shape_latex(dims: Sequence[Dim]) -> str:
    r"""Return a shape that belongs to no answer: an unknown has a name only where it occurs more than once.

    >>> from symbcast.core.text import parse_shape
    >>> print(shape_latex(parse_shape("N, ?, 2*N + 1")))
    (N, {\text{?}}, 2\,N + 1)
    """
    if all(isinstance(d, int) for d in dims):
        return _in_brackets(some(dims, str))
    from symbcast.core.text.printing import dim_text, labels_of

    labels = labels_of(dims)
    uses: Counter[Any] = Counter(s for d in dims if not isinstance(d, int) for s in d.symbols())

    def write(dim: Dim) -> str:
        is_alone = _is_unknown(dim) and uses[dim] == 1
        return f"{{{text_latex(dim_text(dim))}}}" if is_alone else _dim(dim, labels)

    return _in_brackets(some(dims, write))


def pieces_latex(pieces: Sequence[Dim | str]) -> str:
    r"""Return dimensions side by side under their display names; text stays text.

    >>> print(pieces_latex(["2..5", 3]), pieces_latex(["..."]))
    {\text{2..5}}\ \&\ 3 \cdots
    """
    from symbcast.core.text.printing import labels_of

    def write(piece: Dim | str) -> str:
        if isinstance(piece, str):
            return {"...": r"\cdots", "()": "()"}.get(piece) or f"{{{text_latex(piece)}}}"
        return str(piece) if isinstance(piece, int) else _dim(piece, labels_of((piece,)))

    return r"\ \&\ ".join(map(write, pieces))


def clause_lines(clauses: Sequence[Formula]) -> list[str]:
    r"""Return clauses over sizes with their display names, a line each, and all of them.

    A clause that is too long for mathematics, or whose parts would be left out, is typed text on as many lines as it
    needs.

    >>> from symbcast.core.text import parse_formula
    >>> print(clause_lines([parse_formula("2 <= N and (N == M or M % 8 == 0)")])[0])
    N \ge 2 \land (N = M \lor M \bmod 8 = 0)
    """
    from symbcast.core.text.printing import labels_of

    labels = labels_of(d for c in clauses for d in dims_of(c))
    within = AllOf if len(clauses) > 1 else None
    found: list[str] = []
    for n, clause in enumerate(clauses):
        first, *rest = _clause_lines(clause, labels, within)
        found += [f"{{}}{_WORDS[AllOf]}{first}" if n else first, *(rf"\quad {line}" for line in rest)]
    return found


def _clause_lines(clause: Formula, labels: Mapping[Symbol, str], within: _Kind) -> list[str]:
    """Return one clause, in brackets if it is joined with others by another word."""
    latex, kind = _formula(clause, labels)
    is_joined = within is not None and kind not in (None, within)
    if len(latex) <= _LONGEST and OMITTED not in latex:
        return [brackets(latex) if is_joined else latex]
    from symbcast.core.text.printing import formula_text

    text = formula_text(clause, labels or None)
    parts = wrap(visible(f"({text})" if is_joined else text), _WIDTH, break_on_hyphens=False)
    return [text_latex(part) for part in parts]


def sizes_latex(sizes: Mapping[str, int]) -> str:
    r"""Return sizes by name; if there are many, the most common size is written once for all that have it.

    >>> print(sizes_latex({"N": 2, "max_len": 3}))
    N = 2,\ \mathrm{max\_len} = 3
    """
    told, others = telling_sizes(sizes)
    texts = some(list(told.items()), lambda named: f"{name_latex(named[0])} = {named[1]}")
    return r",\ ".join([*texts, *([text_latex(others)] if others else [])])


def _dim(dim: Dim, labels: Mapping[Symbol, str]) -> str:
    if isinstance(dim, int):
        return str(dim)
    # Imported only here: sizes that are all numbers are shown without algebra.
    from symbcast.answers.mathematics.dims import dim_latex

    return dim_latex(dim, labels)


def _is_unknown(dim: Dim) -> bool:
    if isinstance(dim, int):
        return False
    from symbcast.core.algebra.symbols import Unknown

    return isinstance(dim, Unknown)


def _in_brackets(texts: Sequence[str]) -> str:
    return brackets(f"{texts[0]}," if len(texts) == 1 else ", ".join(texts))


def _formula(formula: Formula, labels: Mapping[Symbol, str], is_within: bool = False) -> tuple[str, _Kind]:
    """Return the LaTeX of a formula and the kind of formula that joins its parts, if one does.

    Alternatives over sequences may differ from axis to axis; ``each`` marks this on the outermost of them.
    """
    match formula:
        case Comparison(operator, left, right):
            return _comparison(operator, left, right, labels), None
        case AnyOf(parts) if not is_within and any(map(mentions_rest, dims_of(formula))):
            return call("each", [_joined(parts, AnyOf, labels, True)[0]]), None
        case AllOf(parts) | AnyOf(parts):
            if not parts:
                return rf"\text{{{isinstance(formula, AllOf)}}}", None
            return _joined(parts, type(formula), labels, is_within)
        case Compatible() | Clashing():
            return _compatibility(formula, labels)


def _joined(
    parts: Sequence[Formula], kind: type[AllOf | AnyOf], labels: Mapping[Symbol, str], is_within: bool
) -> tuple[str, _Kind]:
    if len(parts) == 1:
        return _formula(parts[0], labels, is_within)

    def write(part: Formula) -> str:
        latex, inner = _formula(part, labels, is_within)
        return latex if inner in (None, kind) else brackets(latex)

    return _WORDS[kind].join(some(parts, write)), kind


def _comparison(operator: str, left: Dim, right: Dim, labels: Mapping[Symbol, str]) -> str:
    sign = _SIGNS[operator]
    if operator in _MIRRORED and isinstance(left, int) and not isinstance(right, int):
        sign, left, right = _MIRRORED[operator], right, left
    return f"{_dim(left, labels)} {sign} {_dim(right, labels)}"


def _compatibility(formula: Compatible | Clashing, labels: Mapping[Symbol, str]) -> tuple[str, _Kind]:
    """Return a compatibility; a pair is spelled out, as in text."""
    dims, is_valid = formula.dims, isinstance(formula, Compatible)
    if not dims or (len(dims) == 2 and 1 in dims):
        return rf"\text{{{is_valid}}}", None
    if len(dims) != 2 or all(isinstance(d, int) for d in dims) or any(map(mentions_rest, dims)):
        sign = "" if is_valid else r"\lnot "
        return f"{sign}{call('compatible', some(dims, lambda d: _dim(d, labels)))}", None
    left, right = dims[::-1] if isinstance(dims[0], int) else dims
    pairs = [(left, right), (left, 1), *([] if isinstance(right, int) else [(right, 1)])]
    parts = tuple((equal if is_valid else different)(a, b) for a, b in pairs)
    return _formula(AnyOf(parts) if is_valid else AllOf(parts), labels)
