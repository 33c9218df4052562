"""The relations that the graph can represent."""

from __future__ import annotations

from typing import Any, TypeAlias

from symbcast.core.solver.sets.size_sets import SizeSet
from symbcast.core.structs import Struct

Node: TypeAlias = Any
"""A symbol, or a term treated as opaque: then all results are true, but more may hold."""


class Axis(Struct):
    """The join of ``members`` is defined."""

    members: tuple[Node, ...]


class Onto(Struct):
    """``data`` is 1 or equals ``target``."""

    data: Node
    target: Node


class Same(Struct):
    """``left`` equals ``right``."""

    left: Node
    right: Node


class Within(Struct):
    """``node`` lies in ``members``."""

    node: Node
    members: SizeSet


class EitherOne(Struct):
    """``left`` or ``right`` is 1."""

    left: Node
    right: Node


Relation: TypeAlias = Axis | Onto | Same | Within | EitherOne


def nodes_of(relation: Axis | Onto | Same | EitherOne) -> tuple[Node, ...]:
    """Return the nodes that a relation connects."""
    match relation:
        case Axis(members):
            return members
        case Onto(data, target):
            return (data, target)
        case Same(left, right) | EitherOne(left, right):
            return (left, right)
