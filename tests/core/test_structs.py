"""Values with named fields behave as frozen dataclasses do."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import pytest

from symbcast.core.structs import Struct


class Point(Struct):
    """A value with a default."""

    x: int
    y: int = 2

    @property
    def total(self) -> int:
        return self.x + self.y


class Pair(Struct):
    """Another value with the same fields."""

    x: int
    y: int


class Alone(Struct):
    """A value with one field."""

    only: tuple[int, ...]


def test_structs_are_equal_by_class_and_fields():
    assert Point(1) == Point(x=1, y=2)
    assert Point(1) != Pair(1, 2)
    assert Point(1) != (1, 2)
    assert len({Point(1), Point(1, 2), Pair(1, 2), Point(2)}) == 3
    assert Alone((1,)) == Alone((1,)) != Alone((2,))


def test_structs_print_and_match_as_dataclasses_do():
    @dataclass
    class Other:
        x: int
        y: int

    assert repr(Point(1)) == "Point(x=1, y=2)"
    assert repr(Alone((1,))) == "Alone(only=(1,))"
    assert Point.__match_args__ == Other.__match_args__
    match Point(3):
        case Point(x, y):
            assert (x, y) == (3, 2)
    assert Point(1).total == 3


def test_structs_with_other_fields_are_copies():
    first = Point(1)
    assert first.replace(y=5) == Point(1, 5)
    assert first == Point(1)
    with pytest.raises(TypeError):
        first.replace(z=1)


def test_structs_are_not_changed():
    point = Point(1)
    with pytest.raises(AttributeError, match="Point is not changed; replace"):
        point.x = 3
    assert point == pickle.loads(pickle.dumps(point)) == copy.copy(point) == Point(1)


@pytest.mark.parametrize("given", [(), (1, 2, 3)])
def test_structs_take_their_fields_only(given):
    with pytest.raises(TypeError):
        Point(*given)
