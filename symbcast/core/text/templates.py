"""What the texts of shapes and formulas stand for: templates with placeholders, their unknowns, mentions and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from symbcast.core.algebra.arithmetic import mentioning
from symbcast.core.algebra.formulas import factors_of
from symbcast.core.algebra.symbols import AxisSequence, Unknown, free_labels, is_sequence, mentions_rest
from symbcast.core.algebra.terms import Dim, Operation, Symbol, Term, symbols_of
from symbcast.core.text.tokens import FITS, TOO_LARGE, SyntaxFault

NO_SIZE = "a sequence of axes is not a size"


_Value = TypeVar("_Value")
_LabelledUnknown = tuple[Unknown, str, int, "int | None"]

# The placeholder for a sequence without a name until a parse hands out fresh ones.
ANY_RANK = AxisSequence("...")
ANY_REST = ANY_RANK.rest()


class Template(NamedTuple, Generic[_Value]):
    """A parsed value with a placeholder for each unknown: its label and bounds.

    ``lost`` are the names in the text that the value does not mention: ``N == 3 or True``.
    """

    value: _Value
    unknowns: tuple[_LabelledUnknown, ...]
    is_of_any_rank: bool = False
    """Whether an unknown sequence of axes is in it (``...``)."""
    lost: tuple[Symbol, ...] = ()
    reading: str = ""
    """The text in our notation, if it was written otherwise."""

    def fresh(self) -> dict[Symbol, Symbol]:
        """Return a new unknown for each placeholder; labelled ones are shown by their labels."""
        replacements: dict[Symbol, Symbol] = {}
        for old, label, lower, upper in self.unknowns:
            unknown = replacements[old] = Unknown(label, lower, upper)
            unknown.is_spoken = old.name != "?"
        if self.is_of_any_rank:
            replacements[ANY_REST] = AxisSequence.anonymous().rest()
        return replacements


@lru_cache(maxsize=1024)
def placeholder(label: str) -> Unknown:
    """Return a placeholder for the unknown called ``label`` until a parse creates fresh ones."""
    return Unknown(label)


def labelled_unknowns(dims: Iterable[Dim], bounds: Iterable[LabelBounds] = ()) -> tuple[_LabelledUnknown, ...]:
    """Return a label and bounds for every unknown in the dimensions, in order of appearance."""
    unknowns: dict[Unknown, None] = {}
    for dim in dims:
        if not isinstance(dim, int):
            # Within one dimension they were created from left to right, with ascending numbers.
            of_dim = [s for s in dim.symbols() if isinstance(s, Unknown)]
            unknowns.update(dict.fromkeys(sorted(of_dim, key=lambda u: u.number)))
    if not unknowns:
        return ()
    labels = free_labels({u.name for u in unknowns})
    limits = {bound.unknown: (bound.lower, bound.upper) for bound in bounds}
    return tuple((u, next(labels) if u.name == "?" else u.name, *limits.get(u, (u.lower, u.upper))) for u in unknowns)


# What terms mention, whatever they simplify to.


def mentioned_terms(dims: Iterable[Dim]) -> frozenset[Term]:
    """Return the symbols in dimensions, and the operations in them that may be undefined."""
    return frozenset[Term]().union(*(_mentioned_by(d) for d in dims if not isinstance(d, int)))


def _mentioned_by(value: Term) -> frozenset[Term]:
    if value.is_total:
        return frozenset(value.symbols())
    partial = [o for o in value.operations() if not o.is_total]
    return frozenset(value.symbols()).union(partial, *(mentioned_terms(o.args) for o in partial))


def mentioning_all(dim: Dim, terms: Iterable[Term]) -> Dim:
    """Return a dimension with a mention of those terms that it does not contain."""
    lost = frozenset(terms) - mentioned_terms((dim,))
    # Names that a larger term shows, such as those in a division, need no separate mention.
    covered = frozenset[Term]().union(*(mentioned_terms(t.args) for t in lost if isinstance(t, Operation)))
    for value in sorted(lost - covered, key=lambda t: t.key):
        if not _is_said(value, mentioned_terms((dim,))):
            dim = mentioning(dim, [value])
    return dim


def _is_said(value: Term, terms: frozenset[Term]) -> bool:
    """Return whether terms show the symbols of a value, and it has a value where they do: its divisors are theirs."""
    if not isinstance(value, Operation) or any(o.kind == "join" for o in value.all_operations()):
        return False
    return terms.issuperset(value.symbols()) and _divisors(terms).issuperset(_divisors((value,)))


def _divisors(terms: Iterable[Term]) -> frozenset[Term]:
    """Return the factors of the divisors in terms and their operands."""
    operations = [o for t in terms for o in t.all_operations() if o.kind in ("//", "%")]
    return frozenset(factor for o in operations for factor in factors_of(o.args[1]) if not factor.is_at_least(1))


# Checks of what was read.


class MinusOne(int):
    """The literal ``-1``, an unknown size; a computed -1 is an error."""


class LabelBounds(NamedTuple):
    """Bounds in a text for a labelled unknown, and which dimension of the shape has them."""

    unknown: Unknown
    lower: int
    upper: int | None
    place: int


def checked_shape(
    dims: Sequence[Dim], span: Callable[[int], tuple[int, int]], max_size: int | None, bounds: Sequence[LabelBounds]
) -> Template[tuple[Dim, ...]]:
    """Return a shape whose dimensions are checked."""
    sizes = tuple([checked_dim(dim, span, place, max_size) for place, dim in enumerate(dims)])
    sequences = [n for n, dim in enumerate(sizes) if not isinstance(dim, int) and is_sequence(dim)]
    if len(sequences) > 1:
        problem = "a shape has one sequence of axes ('...', '*name')"
        raise SyntaxFault(span(sequences[1]), problem, "sizes and names")
    check_bounds(bounds, span)
    is_of_any_rank = bool(sequences) and sizes[sequences[0]] == ANY_REST
    return Template(sizes, labelled_unknowns(sizes, bounds), is_of_any_rank)


def checked_dim(dim: Dim, span: Callable[[int], tuple[int, int]], place: int, max_size: int | None) -> Dim:
    """Return the dimension at a place of a shape: an integer only if it is a size."""
    if isinstance(dim, int):
        if dim >= 0 and (max_size is None or dim <= max_size):
            return dim
        if isinstance(dim, MinusOne):
            return Unknown()
        if dim < 0:
            raise SyntaxFault(span(place), "a size is not negative", "0 or more, or '?' for an unknown size")
        raise SyntaxFault(span(place), TOO_LARGE, FITS)
    if mentions_rest(dim) and not dim.is_Symbol and (not is_sequence(dim) or ANY_REST in symbols_of((dim,))):
        raise SyntaxFault(span(place), NO_SIZE, "'*name' by itself, or broadcast(*a, *b)")
    return dim


def check_bounds(bounds: Iterable[LabelBounds], span: Callable[[int], tuple[int, int]]) -> None:
    """Raise if one label has two different bounds."""
    limits: dict[Unknown, tuple[int, int | None]] = {}
    for unknown, lower, upper, place in bounds:
        if limits.setdefault(unknown, (lower, upper)) != (lower, upper):
            raise SyntaxFault(span(place), f"{unknown.name} has two different bounds")
