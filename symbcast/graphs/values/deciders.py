"""What decides the elements of a value: nothing (they are the same at all sizes), sizes, data, or sizes and data."""

from __future__ import annotations

from enum import IntFlag


class Decider(IntFlag):
    """What decides the elements of a value; ``|`` joins deciders.

    `DATA` alone means that data can be chosen to make the elements what a node needs; a question about any other
    elements may have an answer that depends on sizes.
    """

    NUMBERS = 0
    SIZES = 1
    DATA = 2
    BOTH = 3
