"""Bounds of quotients, said of what is divided."""

from itertools import product

import pytest
from recorded_nodes import compiled

from symbcast.core.algebra.arithmetic import add, floor_divide, multiply
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.sympy_conversion import formula_to_sympy
from symbcast.graphs.walking.facts import bounded

N, M = symbol("N"), symbol("M")


@pytest.mark.parametrize("inside", [N, add(multiply(3, N), -5), add(multiply(-2, N), 7), add(multiply(2, N), M)])
@pytest.mark.parametrize(("by", "factor", "offset"), list(product((1, 2, 5), (1, 3, -1, -2), (0, -4, 3))))
def test_it_holds_where_the_bound_of_the_quotient_does(inside, by, factor, offset):
    quotient = add(multiply(factor, floor_divide(add(floor_divide(inside, 2), offset), by)), offset)
    for left, right in ((2, quotient), (quotient, 2), (M, quotient)):
        plain = compiled(formula_to_sympy(bounded(left, right)), ("N", "M"))
        sides = [compiled(side, ("N", "M")) for side in (left, right)]
        for sizes in product(range(12), range(4)):
            assert bool(plain(*sizes)) == (sides[0](*sizes) <= sides[1](*sizes)), (left, right)


def test_nothing_is_left_of_the_quotients():
    assert str(bounded(7, add(floor_divide(add(floor_divide(N, 2), 1), 4), 1)).right) == "N"
