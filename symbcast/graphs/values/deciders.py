"""Classify what decides a value's elements: nothing (they are the same at all sizes), sizes, data, or both."""

from __future__ import annotations

from enum import IntFlag


class Decider(IntFlag):
    """What decides the elements of a value; ``|`` joins deciders.

    `DATA` alone means that data can be chosen to give a node the elements that it needs; a question about any other
    elements may have an answer that depends on sizes.
    """

    NUMBERS = 0
    SIZES = 1
    DATA = 2
    BOTH = 3
