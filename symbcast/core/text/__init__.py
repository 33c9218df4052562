r"""Text to shapes, dimensions and formulas; nothing here evaluates text, and nothing recurses over long text.

A shape is dimensions separated by commas, with or without ``( )`` or ``[ ]`` around them and with or without a trailing
comma; blank text, ``()`` and ``[]`` have rank 0. A dimension is

    3                        a size
    N  input.1  'a b'        a name: letters, digits and ``_``, with dots between words; any other name in quotes
                             ('...' or "...", with backslash escapes)
    ?  -1  None              an unknown size, a new one each time
    ?a  ?0                   an unknown with a label: the same one wherever a text of the question has the label
    2..5  2..  ..5           an unknown with inclusive bounds
    ?a:2..5                  the same with a label; ``(?a:2..5)`` within arithmetic
    batch[-1]  rank(batch)   the size of an axis of a sequence, counted from its end, and its number of axes
    + - * // % **            arithmetic as in Python; an exponent is a number up to 16
    min max mod floordiv broadcast
                             functions if a ``(`` follows, otherwise names

One dimension of a shape may instead be a sequence of any number of axes:

    ...                      an unnamed one, a new one each time
    *batch  *'a b'  ...0     one with a name or label: the same one everywhere
    *batch[:-2]              all of its axes except the last two
    broadcast(*a, *b[:-1])   the join, axis by axis from the end

A formula is comparisons (``== != <= < >= >``, also in chains: ``2 <= N <= 5``) and ``compatible(a, b, ...)``, joined by
``and``, ``or``, ``not`` and brackets, or ``True`` or ``False``. A formula about sequences applies to each of their axes
separately: ``each(*a == *b or *a == 1)``, where ``each`` may be left out, lets one axis be equal and another be 1.
``all(k{i} == v{i} for i in 0..31)`` and ``any(...)`` stand for a formula with each of some numbers in its names
(`folding`), joined by ``and`` or ``or``; the numbers are ``0..31``, ``7`` or ``(0..5, 7)``.

The dialects of `parse_shape`, chosen by name:

    default     the notation above; also MLIR if the text begins with ``tensor<`` or ``memref<``
    mlir        ``tensor<2x?xf32>``, ``memref<2x?xf32>``, ``tensor<*xf32>``; StableHLO's bounds are those of unknowns:
                ``tensor<?x?xf32, #stablehlo.bounds<?, 10>>`` is ``?, ..10``
    einops      ``b ... (h w) 3``: separated by spaces; a bracket is the product of its axes
    jaxtyping   ``*b dim-1 _ rows=3``: separated by spaces; ``_`` and ``_name`` are unknown, ``rows=3`` is 3; ``...``
                and ``*_name`` are sequences without a name

A text is at most 20,000 characters long, its brackets nest at most 100 deep, and its divisions and functions 32 deep.

A text that the grammar refuses is read as a sentence (`sentences`): ``3*floor(N/2)``, ``N is between 2 and 5``, ``N in
(2, 3)``, ``Eq(Mod(N, 8), 0)``, ``N if N > 2 else 2``. Exact quotients have to be rounded, whole at all sizes, or
multiplied out by a comparison. A sentence with two readings, such as ``N + 1 mod 4 == 1``, is refused. The names of
models and other tools are no sentences: `parse_notation` reads their texts by the grammar alone.

Every error is a `ShapeSyntaxError` that points at the place and says what is expected there; for slips with one certain
meaning, such as ``N => 2``, ``N^2`` or ``2N``, it says what to write instead.
"""

from symbcast.core.text.notation import (
    names_lost,
    parse_assumption,
    parse_dim,
    parse_formula,
    parse_notation,
    parse_shape,
    symbols_as_written,
)

__all__ = [
    "names_lost",
    "parse_assumption",
    "parse_dim",
    "parse_formula",
    "parse_notation",
    "parse_shape",
    "symbols_as_written",
]
