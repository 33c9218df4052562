r"""Text to shapes, dimensions and formulas; nothing here evaluates text, and nothing recurses over it.

A shape is dimensions between commas, with or without ``( )`` or ``[ ]`` around them and with or without a comma at
the end; blank text, ``()`` and ``[]`` have rank 0. A dimension is

    3                        a size
    N  input.1  'a b'        a name: letters, digits and ``_``, with dots between words; any other name in quotes
                             ('...' or "...", with backslash escapes)
    ?  -1  None              an unknown size, another one each time
    ?a  ?0                   an unknown with a label: the same one wherever a text of the question has the label
    2..5  2..  ..5           an unknown with bounds, both inclusive
    ?a:2..5                  the same with a label; ``(?a:2..5)`` within arithmetic
    batch[-1]  rank(batch)   the size of an axis of a sequence, counted from its end, and how many axes it has
    + - * // % **            arithmetic as in Python; an exponent is a number up to 16
    min max mod floordiv broadcast
                             functions where a ``(`` follows, names where none does

One dimension of a shape may be a sequence of axes instead, any number of them:

    ...                      one without a name, another one each time
    *batch  *'a b'  ...0     one by its name or label: the same one wherever it is
    *batch[:-2]              all of its axes but the last ones
    broadcast(*a, *b[:-1])   the join, axis by axis from the end

A formula is comparisons (``== != <= < >= >``, also in chains: ``2 <= N <= 5``) and ``compatible(a, b, ...)``, joined
by ``and``, ``or``, ``not`` and brackets, or ``True`` or ``False``. One about sequences is about each of their axes,
each by itself: ``each(*a == *b or *a == 1)``, where ``each`` may be left out, lets one axis be equal and another be 1.

The dialects of `parse_shape`, chosen by name:

    default     the above; also MLIR where the text begins with ``tensor<`` or ``memref<``
    mlir        ``tensor<2x?xf32>``, ``memref<2x?xf32>``, ``tensor<*xf32>``; StableHLO's bounds are those of unknowns:
                ``tensor<?x?xf32, #stablehlo.bounds<?, 10>>`` is ``?, ..10``
    einops      ``b ... (h w) 3``: separated by spaces; a bracket is the product of its axes
    jaxtyping   ``*b dim-1 _ rows=3``: separated by spaces; ``_`` and ``_name`` are unknown, ``rows=3`` is 3; ``...``
                and ``*_name`` are sequences without a name

A text is at most 20,000 characters long, its brackets nest at most 100 deep, and divisions and functions 32 deep.
Every error is a `ShapeSyntaxError` that points at the place and says what could be there; for common slips,
such as ``N => 2``, ``N^2`` or ``2N``, it says what to write instead.
"""

from symbcast.core.text.parser import parse_dim, parse_formula, parse_shape

__all__ = ["parse_dim", "parse_formula", "parse_shape"]
