"""Einstein summation over letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.operators.context import Context, Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


def einsum(context: Context, equation: str, shapes: Sequence[Dims], *, aligns_ellipses: bool = False) -> Dims:
    """Return the shape of ``einsum(equation, ...)``.

    Each letter is one size, to which 1 is broadcast; letters that the output omits are summed over. The axes of ``...``
    are broadcast; each term must have the same number of them. With ``aligns_ellipses`` they are aligned at the right
    instead, and an explicit output must have them too, as in NumPy.
    """
    terms, output = _terms(context, equation, len(shapes))
    sizes: dict[str, Dim] = {}
    batches: list[Dims] = []
    for letters, dims in zip(terms, shapes, strict=True):
        before, ellipsis, after = letters.partition("...")
        free = len(dims) - len(before) - len(after)
        if free < 0 or (free > 0 and not ellipsis):
            context.refuse(f"the term {letters!r} must have one letter for each of {len(dims)} axes")
        named = [*zip(before, dims, strict=False), *zip(after, dims[len(before) + free :], strict=True)]
        for letter, size in _one_of_each(context, named).items():
            _meet(context, sizes, letter, size)
        if ellipsis:
            batches.append(dims[len(before) : len(before) + free])
    batch = _batch(context, batches, aligns_ellipses)
    if output is None:
        once = sorted(c for c in sizes if sum(term.count(c) for term in terms) == 1)
        return (*batch, *(sizes[c] for c in once))
    before, ellipsis, after = output.partition("...")
    new = [c for c in before + after if c not in sizes]
    if new:
        context.refuse(f"the output can only have letters that an input has, but {new[0]!r} is in none")
    if aligns_ellipses and batch and not ellipsis:
        context.refuse("the output must have an ellipsis if that of an input stands for any axes")
    middle = batch if ellipsis else ()
    return (*(sizes[c] for c in before), *middle, *(sizes[c] for c in after))


def _terms(context: Context, equation: str, count: int) -> tuple[Sequence[str], str | None]:
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != count:
        context.refuse(f"the equation has {len(terms)} terms for {count} operands")
    return terms, right if arrow else None


def _batch(context: Context, batches: Sequence[Dims], aligns_ellipses: bool) -> Dims:
    if not aligns_ellipses and len({len(b) for b in batches}) > 1:
        context.refuse("an ellipsis must stand for the same number of axes in each term")
    if len(batches) < 2:
        return batches[0] if batches else ()
    return context.broadcast(*batches)


def _one_of_each(context: Context, named: Sequence[tuple[str, Dim]]) -> dict[str, Dim]:
    """Return the size of each letter of one term; a letter that occurs twice, for a diagonal, has one size."""
    found: dict[str, Dim] = {}
    for letter, size in named:
        reason = f"axes of one term that are both called {letter} must be equal"
        context.equal(found.setdefault(letter, size), size, reason)
    return found


def _meet(context: Context, sizes: dict[str, Dim], letter: str, size: Dim) -> None:
    """Record the size of a letter: one size everywhere, to which 1 is broadcast, as in ONNX Runtime and NumPy."""
    known = sizes.get(letter)
    if known is None:
        sizes[letter] = size
    elif known != size:
        (sizes[letter],) = context.broadcast((known,), (size,))
