"""The relations that the graph can represent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from symbcast.core.solver.sets.size_sets import SizeSet

Node: TypeAlias = Any
"""A symbol, or a term treated as opaque: then all results are true, but more may hold."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The join of ``members`` is defined."""

    members: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Onto:
    """``data`` is 1 or equals ``target``."""

    data: Node
    target: Node


@dataclass(frozen=True, slots=True)
class Same:
    """``left`` equals ``right``."""

    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Within:
    """``node`` lies in ``members``."""

    node: Node
    members: SizeSet


@dataclass(frozen=True, slots=True)
class EitherOne:
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
