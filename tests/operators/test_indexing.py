"""Shape functions of indexing held against NumPy and torch at all sizes up to 3, as operators of a context."""

from itertools import product

import numpy as np
import pytest

from symbcast.errors import OperatorError
from symbcast.operators.indexing import gather, gather_elements, index, scatter, scatter_elements
from symbcast.operators.operator import Declaration, Operator


class Shapes(Operator):
    """An operator of any shape function, of integers."""

    name = "shapes"
    variadic = True

    def __init__(self, function):
        self.declaration = Declaration(function)
        super().__init__()


def found(function, *shapes):
    """Return the output of a shape function at integers; None where it refuses them."""
    try:
        return Shapes(function).concrete(shapes)
    except (OperatorError, ValueError):
        return None


def tried(run):
    try:
        return run().shape
    except (ValueError, IndexError):
        return None


def zeros(shape):
    return np.zeros(shape, dtype=np.int64)


SHAPES = [s for rank in (1, 2) for s in product(range(4), repeat=rank)]


def test_arrays_of_indices_take_what_numpy_takes():
    for a, left, right in product([s for s in SHAPES if len(s) == 2], SHAPES, SHAPES[:9]):
        if 0 in a and 0 not in left + right:
            continue  # whether NumPy looks at indices depends on the other axes
        expected = tried(lambda a=a, left=left, right=right: zeros(a)[zeros(left), zeros(right)])
        assert found(lambda c, *s: index(c, s[0], s[1:]), a, left, right) == expected, (a, left, right)


def test_axes_of_indices_that_lie_apart_come_first():
    for size, count in product(range(1, 4), range(4)):
        shapes = ((size, 2, 3), (count,), (1, count))
        expected = zeros(shapes[0])[zeros(shapes[1]), :, zeros(shapes[2])].shape
        assert found(lambda c, d, i, k: index(c, d, [i, None, k]), *shapes) == expected
        expected = zeros(shapes[0])[:, zeros(shapes[1]), zeros(shapes[2])].shape
        assert found(lambda c, d, i, k: index(c, d, [None, i, k]), *shapes) == expected


def test_slices_that_are_replaced_have_the_shape_of_those_taken():
    for data, indices, updates in product(SHAPES, SHAPES[:9], SHAPES):
        taken = found(lambda c, d, i: gather(c, d, i, 0), data, indices)
        expected = data if updates == taken else None
        assert found(lambda c, d, i, u: scatter(c, d, i, u, 0), data, indices, updates) == expected


def test_a_batch_of_indices_is_taken_side_by_side():
    for data, indices in product(product((1, 2, 3), repeat=2), repeat=2):
        expected = (data[0], indices[1]) if data[0] == indices[0] else None
        assert found(lambda c, d, i: gather(c, d, i, 1, 1), data, indices) == expected


def test_elements_are_gathered_and_scattered_where_torch_does_it():
    torch = pytest.importorskip("torch")

    def ran(run):
        try:
            return tuple(run().shape)
        except (RuntimeError, IndexError):
            return None

    for data, indices in product(product(range(4), repeat=2), repeat=2):
        if not data[1] or 0 in indices:
            continue  # torch looks at nothing where there are no indices, and at no axis that has nothing
        x, i = torch.zeros(data), torch.zeros(indices, dtype=torch.int64)
        taken = ran(lambda x=x, i=i: torch.gather(x, 1, i))
        assert found(lambda c, d, k: gather_elements(c, d, k, 1), data, indices) == taken, (data, indices)
        put = ran(lambda x=x, i=i: x.scatter(1, i, torch.zeros(i.shape)))
        assert found(lambda c, d, k: scatter_elements(c, d, k, k, 1), data, indices) == put, (data, indices)
