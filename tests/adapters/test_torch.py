"""Torch sizes in and out, held against Python's arithmetic and torch's own evaluation."""

from __future__ import annotations

import itertools
import math
from functools import reduce

import pytest
import sympy
from hypothesis import given
from solver.expressions import NAMES, expressions

import symbcast as sb
from symbcast.adapters import torch as adapter
from symbcast.core.solver.evaluation import value_function

torch = pytest.importorskip("torch")
shapes = pytest.importorskip("torch.fx.experimental.symbolic_shapes")
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.export import Dim  # noqa: E402

POINTS = list(itertools.product(range(2, 7), repeat=3))


def fake(env, *sizes):
    """Return a fake tensor whose sizes are all symbolic, as far as the environment takes them for symbols."""
    dynamic = shapes.StatelessSymbolicContext(dynamic_sizes=[shapes.DimDynamic.DYNAMIC] * len(sizes))
    return FakeTensorMode(shape_env=env).from_tensor(torch.empty(*sizes), symbolic_context=dynamic)


def unbacked(env, least=0):
    made = env.create_unbacked_symint()
    torch._check(made >= least)
    return made


ENV = shapes.ShapeEnv()
SIZES = fake(ENV, 4, 5, 6).shape
OURS = adapter.read(SIZES).dims
FUNCTIONS = {"min": lambda *sizes: reduce(torch.sym_min, sizes), "max": lambda *sizes: reduce(torch.sym_max, sizes)}


@given(
    # Positive divisors: torch makes ((a // 2) // -2) into a // -4, which is another size.
    expressions(3, divisors=(2, 3, 4), functions=("min", "max"), max_leaves=4).filter(
        lambda e: not isinstance(e.dim, int)
    )
)
def test_arithmetic_on_symints_is_pythons(expression):
    made = eval(expression.code, FUNCTIONS, dict(zip(NAMES, SIZES, strict=True)))
    if not isinstance(made, torch.SymInt) or expression.at((2, 2, 2)) < 0:  # torch may work a negative number out
        return
    (dim,) = adapter.read((made,)).dims
    compiled = value_function(dim, OURS)
    for point in POINTS:
        assert compiled(*point) == expression.at(point), point
    theirs = made.node.expr.xreplace({s.node.expr: sympy.Integer(n) for s, n in zip(SIZES, (3, 6, 2), strict=True)})
    assert compiled(3, 6, 2) == theirs


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (lambda a, b: (a - 9) // b, lambda a, b: (a - 9) // b),
        (lambda a, b: (a - 9) % b, lambda a, b: (a - 9) % b),
        (lambda a, b: (a - 9) % -3, lambda a, b: (a - 9) % -3),
        (lambda a, b: (9 - a) // -b, lambda a, b: (9 - a) // -b),
        (lambda a, b: math.ceil(a / 2), lambda a, b: -(-a // 2)),
        (lambda a, b: math.floor((a - 9) / b), lambda a, b: (a - 9) // b),
        (lambda a, b: math.trunc(a / b), lambda a, b: a // b),
        (lambda a, b: a**3, lambda a, b: a**3),
    ],
)
def test_divisions_and_powers(made, value):
    a, b, _ = SIZES
    compiled = value_function(adapter.read((made(a, b),)).dims[0], OURS)
    for point in POINTS:
        assert compiled(*point) == value(*point[:2]), point


def test_reading_adds_no_guard():
    env = shapes.ShapeEnv()
    tensor = fake(env, 4, 5)
    adapter.read(tensor), sb.shape(tensor), sb.broadcast(tensor, tensor).verdict, adapter.assumptions(tensor)
    assert not env.guards
    assert not env.replacements


def test_one_size_of_an_environment_is_one_dimension():
    env = shapes.ShapeEnv()
    tensor = fake(env, 4, 5)
    assert adapter.read(tensor) == adapter.read(tensor.shape) == sb.shape(tensor)
    assert sb.broadcast(tensor, tensor[:, :1]).verdict is sb.Verdict.ALWAYS


def test_sizes_of_two_environments_are_two():
    one, other = (fake(shapes.ShapeEnv(), 4) for _ in range(2))
    assert str(adapter.read(one)) == str(adapter.read(other))
    result = sb.broadcast(one, other, assume=[*adapter.assumptions(one), *adapter.assumptions(other)])
    assert result.verdict is sb.Verdict.SOMETIMES
    assert sorted(result.counterexample().values()) == [2, 3]


def test_the_range_of_the_environment_is_brought():
    for specialized, least in [(True, 2), (False, 0)]:
        tensor = fake(shapes.ShapeEnv(specialize_zero_one=specialized), 4)
        (dim,) = adapter.read(tensor)
        assert adapter.assumptions(tensor) == ([sympy.Ge(dim, 2)] if least else [])
        known = sb.broadcast(tensor, "n", assume=[*adapter.assumptions(tensor), "n >= 2"])
        assert known.evaluate(**{dim.name: 2, "n": 2}) == (2,)


def test_what_torch_has_learnt_is_put_in_or_assumed():
    env = shapes.ShapeEnv()
    tensor = fake(env, 4, 5, 6)
    early = adapter.read(tensor)
    a, b, c = tensor.shape
    assert a % 2 == 0
    assert b == 5
    assert c > a
    known = adapter.assumptions(tensor)
    assert adapter.read(tensor)[1] == 5
    assert sb.broadcast((early[1],), (5,), assume=known).verdict is sb.Verdict.ALWAYS
    with pytest.raises(sb.AssumptionError):
        sb.broadcast(tensor, assume=[*known, sympy.Eq(early[0], 3)])
    with pytest.raises(sb.AssumptionError):
        sb.broadcast(tensor, assume=[*known, sympy.Le(early[2], early[0])])


def test_a_quotient_that_is_whole_is_read_as_one():
    env = shapes.ShapeEnv()
    a, b = fake(env, 4, 6).shape
    assert a % 2 == 0
    ours = adapter.read((a, b)).dims
    for made, value in [(a // 2, lambda a, b: a // 2), ((a + 2 * b) // 2 + 1, lambda a, b: (a + 2 * b) // 2 + 1)]:
        compiled = value_function(adapter.read((made,)).dims[0], ours)
        for point in itertools.product((2, 4, 6), (2, 3)):
            assert compiled(*point) == value(*point), point


def test_unbacked_sizes_are_sizes_once_they_are_checked():
    env = shapes.ShapeEnv()
    size = env.create_unbacked_symint()
    with pytest.raises(sb.DimensionError, match=r"torch\._check"):
        adapter.read((size,))
    torch._check(size >= 3)
    torch._check(size <= 10)
    twice = unbacked(env)
    torch._check(twice == 2 * size)
    (dim,), known = adapter.read((size,)), adapter.assumptions((size,))
    assert sb.broadcast((dim,), (twice,), assume=known).verdict is sb.Verdict.NEVER
    assert {sympy.Ge(dim, 3), sympy.Le(dim, 10)} <= set(known)


def test_export_dims_and_arithmetic_on_them():
    batch = Dim("batch", min=2, max=9)
    assert adapter.read((batch, 2 * batch + 1, batch - 1, 3)) == sb.shape("batch, 2*batch + 1, batch - 1, 3")
    batch_size = sb.symbol("batch")
    assert adapter.assumptions((2 * batch + 1,)) == [sympy.Ge(batch_size, 2), sympy.Le(batch_size, 9)]
    assert adapter.assumptions(Dim("n")) == []
    assert sb.broadcast((batch, 3), "batch, 1").verdict is sb.Verdict.ALWAYS
    assert adapter.read((Dim.AUTO, Dim.DYNAMIC(min=2, max=5))) == sb.shape("?, 2..5")


def test_written_dims_carry_their_range_and_are_read_back():
    shape = sb.shape("b, 2*b + 1, 3, n - 1")
    assume = ["b <= 8", "n >= 1", "n <= 7"]
    written = adapter.write(shape, assume=assume)
    assert [(d.min, d.max) for d in written if not isinstance(d, int)] == [(0, 8), (1, 17), (0, 6)]
    assert adapter.read(written) == shape
    assert set(adapter.assumptions(written)) == {sb.symbol("b") <= 8, sb.symbol("n") >= 1, sb.symbol("n") <= 7}
    one, other = adapter.write_all(["N, 3", "M, K"], assume=["N == M", "K == 2"])
    assert one[0] is other[0]
    assert other[1] == 2


def test_a_program_is_exported_with_written_dims_and_read_again():
    class Model(torch.nn.Module):
        def forward(self, x, y):
            return x + y

    dims = adapter.write_all(["b, 3", "b, 1"], assume=["b >= 2", "b <= 64"])
    program = torch.export.export(Model(), (torch.ones(4, 3), torch.ones(4, 1)), dynamic_shapes=tuple(dims))
    inputs, known = adapter.read_inputs(program), adapter.assumptions(program)
    assert list(inputs) == ["x", "y"]
    result = sb.broadcast(*inputs.values(), assume=known)
    assert result.verdict is sb.Verdict.ALWAYS
    assert result.shape.rank == 2
    names = list(result.guard().names.values())
    for size in (2, 64):
        assert result.evaluate(**dict.fromkeys(names, size)) == (size, 3)
    for size in (1, 65):
        with pytest.raises(sb.BindingError):
            result.evaluate(**dict.fromkeys(names, size))


def test_concrete_tensors_have_shapes():
    assert adapter.read(torch.ones(2, 3)) == sb.shape(torch.ones(2, 3)) == sb.shape((2, 3))
    assert adapter.assumptions(torch.ones(2, 3)) == []
    assert sb.shape((torch.tensor(3), "N")) == sb.shape("3, N")


@pytest.mark.parametrize(
    ("text", "how", "says"),
    [
        ("broadcast(n, m)", {}, "broadcast of two sizes"),
        ("n*m", {}, "a\\*dim \\+ b"),
        ("n + m", {}, "a\\*dim \\+ b"),
        ("n//2", {}, "a\\*dim \\+ b"),
        ("n % 2", {}, "a\\*dim \\+ b"),
        ("max(n, 3)", {}, "a\\*dim \\+ b"),
        ("3 - n", {}, "a\\*dim \\+ b"),
        ("2*n - 3", {}, "n >= 2"),
        ("2*N", {}, "another name"),
        ("'a b'", {}, "identifiers"),
        ("?", {}, "a name instead"),
        ("2..5", {}, "a name instead"),
        ("n", {"assume": "n != 3"}, "gaps"),
        ("n", {"assume": "n % 2 == 0"}, "gaps"),
        ("n, m", {"assume": "n < m"}, "several sizes"),
    ],
)
def test_what_an_export_dim_cannot_express_says_so(text, how, says):
    with pytest.raises(sb.DimensionError, match=says):
        adapter.write(text, **how)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (3, sb.ShapeTypeError),
        (object(), sb.ShapeTypeError),
        ((None,), sb.DimensionError),
        ((-1,), sb.DimensionError),
        ((Dim.STATIC,), sb.DimensionError),
        ((2.5,), sb.DimensionError),
        ((torch.sym_ite(SIZES[0] > 3, SIZES[0], SIZES[1]),), sb.DimensionError),
    ],
)
def test_what_is_no_shape_is_refused(value, error):
    with pytest.raises(error):
        adapter.read(value)


def nested(lengths, width=4, offsets=None):
    if offsets is not None:
        return torch.nested.nested_tensor_from_jagged(torch.ones(sum(lengths), width), offsets)
    return torch.nested.nested_tensor([torch.ones(n, width) for n in lengths], layout=torch.jagged)


@pytest.mark.filterwarnings("ignore")
def test_ragged_sizes_are_tied_to_their_offsets():
    """Sums of nested tensors with each other and with dense ones: torch refuses exactly those that never broadcast."""
    first, second = nested([2, 3]), nested([2, 3])
    same, narrow = nested([2, 3], offsets=first.offsets()), nested([2, 3], 1, first.offsets())
    shapes = [(4,), (1,), (), (2, 1, 4), (1, 1, 4), (2, 1, 1), (2, 3, 4), (2, 5, 4), (3, 1, 4), (2, 1, 3), (1, 4)]
    refused = 0
    for x in (first, second, same, narrow):
        for y in (first, second, same, narrow, first.sum(1, keepdim=True), *map(torch.ones, shapes)):
            result = sb.broadcast(x, y, assume=adapter.assumptions(x, y))
            try:
                output = (x + y).shape
            except RuntimeError:
                assert result.verdict is sb.Verdict.NEVER
                refused += 1
                continue
            # A dense tensor as long as the padded nested one is open: ragged sizes are not all of that length.
            if result.verdict is sb.Verdict.SOMETIMES:
                assert not y.is_nested
                assert y.shape[1] in (3, 5)
                continue
            assert result.verdict is sb.Verdict.ALWAYS
            assert result.shape == adapter.read(output)
    assert refused > 10


def test_a_ragged_size_and_its_multiple():
    x = nested([1, 1])
    size = adapter.read(x)[1]
    assert str(size).startswith("j")
    assert adapter.read((x.shape[1] * 2,))[0] == 2 * size
    assert sb.broadcast(x, "N, M, 4", assume=adapter.assumptions(x)).implies(f"M == 1 or M == {size}")
