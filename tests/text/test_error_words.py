"""Errors in the words of the caller: each call with its whole message, and no parameter in it that the call lacks."""

from __future__ import annotations

import inspect
import re
import warnings
from functools import partial

import pytest

import symbcast as sb

OPERATIONS = [
    # One operation, given as a call; the message, without the line that repeats which operation cannot hold.
    ('reshape("7", (2, -1))', "reshape of (7,), (2, -1) is impossible: the size at -1 must be a whole number"),
    (
        'reshape("7", (2, 3))',
        "reshape of (7,), (2, 3) is impossible: 7 and 6: the number of elements must stay the same",
    ),
    (
        'reshape("7, 3", (0, 2), zero_copies=True)',
        "reshape(zero_copies=True) of (7, 3), (0, 2) is impossible: 3 and 2: the number of elements must stay the same",
    ),
    ('split("7", 2)', "split(parts=2) of (7,) is impossible: the size must be a multiple of 2, the number of parts"),
    ('split("7", (3, 3))', "split of (7,), (3, 3) is impossible: 6 and 7: the parts must add up to the size"),
    ('squeeze("2, N", 0)', "squeeze(axes=0) of (2, N) is impossible: 2 and 1: axis 0 must be 1 to be removed"),
    ('top_k("3", 5)', "top_k of (3,), (5,) is impossible: 5 and 3: the count must be at most the size of axis 0"),
    ('expand("3", "4")', "expand of (3,), (4,) is impossible: 3 and 4: the size must be 1 or the target's"),
    (
        'conv("N, 3, 2", "8, 3, 3")',
        "conv of (N, 3, 2), (8, 3, 3) is impossible: the window must fit into the padded input",
    ),
    (
        'conv("N, 3, H", "8, 3, 3", bias="4")',
        "conv of (N, 3, H), (8, 3, 3), (4,) is impossible: 8 and 4: there must be one bias for each output channel",
    ),
    ('pool("N, 3, 2", "3")', "pool of (N, 3, 2), (3,) is impossible: the window must fit into the padded input"),
    ('stack(["3", "4"])', "stack of (3,), (4,) is impossible: 4 and 3: stacked tensors must have the same shape"),
    (
        'layer_norm("N, 3", "4")',
        "layer_norm of (N, 3), (4,) is impossible: 4 and 3: scale must have the shape of the normalised axes",
    ),
    (
        'group_norm("N, 6, H", 4)',
        "group_norm(groups=4) of (N, 6, H) is impossible: the channels must be a multiple of the 4 groups",
    ),
    (
        'attention("B, 2, 4", "B, 3, 4", "B, 3, 4", mask="2, 5")',
        "attention of (B, 2, 4), (B, 3, 4), (B, 3, 4), (2, 5) is impossible: 5 and 3: "
        "the size must be 1 or the target's",
    ),
    ('equal("N, 3", "N, 4")', "equality of (N, 3), (N, 4) is impossible: axis 1 (-1): 3 and 4: sizes must be equal"),
]
REFUSALS = [
    ('transpose("N, M, K", (1, 0))', "transpose: the order [1, 0] must name each of the 3 axes once"),
    ('transpose("N, M", (0, 2))', "transpose: axis 2 is out of range for 2 axes (-2 to 1)"),
    ('reshape("N, 4", (-1, -1))', "reshape: at most one size may be -1"),
    ('pad("3", (2, 2))', "pad: widths has 2 entries for 1 axis; write one number, or one or a pair for each axis"),
    (
        'conv("N, 3, H, W", "8, 3, 3, 3", strides=(1, 2, 3))',
        "conv: strides has 3 numbers for 2 axes; write one number, or one for each axis",
    ),
    ('resize("N, 3", scales=(2.0,))', "resize: there must be 2 scales, not 1"),
    ('resize("N, 3, H, W", "2")', "resize: there must be 4 sizes, not 1"),
    ('lstm("T, B", 4)', "lstm: data must have three axes, not 2"),
    ('gru("T, B, 3, 2", 4)', "gru: data must have three axes, not 4"),
    ('transpose("N, M", perm=(1, 0))', "transpose: there is no argument perm=; write order=(1, 0)"),
    ('squeeze("2, N", dim=0)', "squeeze: there is no argument dim=; write axes=0"),
    ('conv("N, 3, H", "8, 3, 3", stride=2)', "conv: there is no argument stride=; write strides=2"),
    ('gather("N, 3", "K", axis=2)', "gather: axis 2 is out of range for 2 axes (-2 to 1)"),
    ('einsum("ij,jk->ik", "2, 3", "4")', "einsum: the term 'jk' must have one letter for each of 1 axes"),
    ('reshape("N, 12", -1, 3)', "reshape: takes 2 arguments (data, target), not 3; write reshape('N, 12', (-1, 3))"),
    (
        'concat("N, 3", "M, 3", axis=0)',
        "concat: the argument axis is given twice; write concat(['N, 3', 'M, 3'], axis=0)",
    ),
    (
        'pool("N, C, H", (2,), 2)',
        "pool: takes 2 arguments (data, kernel), not 3; write pool('N, C, H', (2,), strides=2)",
    ),
    (
        'reduce("N, T", dim=1, keepdim=True)',
        "reduce: there are no arguments dim= and keepdim=; write axes=1, keepdims=True",
    ),
    ('slice("N, 9", "1:5")', "slice: the argument stops is missing; write slice('N, 9', 1, 5)"),
    ('matmul("N, 3")', "matmul: the argument right is missing; write matmul('N, 3', right)"),
    (
        'einsum("ij->i", "N, M", optimize=True)',
        "einsum: there is no argument optimize=; leave it out: no shape depends on it",
    ),
    ('assume("N > 1", max=9)', "assume: there is no argument max=; write the relation as text: assume('N <= 9')"),
]
CLASHES = [
    # What is assumed, an operation, one that clashes with it, and the message.
    (
        [],
        'equal("N", "6")',
        'reshape("N", (4, -1))',
        ["(N,), (6,) requires N == 6", "(N,), (4, -1) requires N % 4 == 0"],
    ),
    ([], 'equal("H", "2")', 'conv("N, 3, H", "8, 3, 3")', ["requires H == 2", "(8, 3, 3) requires H >= 3"]),
    ([], 'equal("N", "7")', 'squeeze("N, 2", 0)', ["requires N == 7", "squeeze(axes=0) of (N, 2) requires N == 1"]),
    ([], 'equal("N", "3")', 'top_k("N", 5)', ["requires N == 3", "top_k of (N,), (5,) requires N >= 5"]),
    (["M >= 2", "K >= 3"], 'broadcast("N", "3")', 'equal("N", "5")', ["N == 1 or N == 3", "requires N == 5"]),
    (["N >= 1", "N <= 100"], 'broadcast("N", "3")', 'equal("N", "5")', ["N == 1 or N == 3", "requires N == 5"]),
    (["M >= 4"], 'broadcast("N", "3")', 'equal("N", "M")', ["N == 1 or N == 3", "requires N == M", "assuming M >= 4"]),
    (
        ["K >= 9", "M == 2*k", "k >= 2"],
        'broadcast("N", "3")',
        'equal("N", "M")',
        ["N == 1 or N == 3", "requires N == M", "assuming M == 2*k"],
    ),
]


def call(env, text):
    return eval(f"env.{text}", {"env": env})


@pytest.mark.parametrize(("text", "said"), OPERATIONS, ids=[text[:40] for text, _ in OPERATIONS])
def test_an_operation_that_cannot_hold(text, said):
    with pytest.raises(sb.IncompatibleProgramError) as caught:
        call(sb.ShapeEnv(), text)
    (line,) = str(caught.value).splitlines()[1:]
    assert line.partition(": ")[2] == said
    assert parameters(said) <= parameters(text) | {"parts", "axes", "groups"}, "these are given by their position"


@pytest.mark.parametrize(("text", "said"), REFUSALS, ids=[text[:40] for text, _ in REFUSALS])
def test_an_operation_that_is_refused(text, said):
    with pytest.raises((sb.OperatorError, sb.CallError)) as caught:
        call(sb.ShapeEnv(), text)
    assert str(caught.value) == said


def recorded():
    env = sb.ShapeEnv()
    env.broadcast("N, 3", "M, 1")
    env.broadcast("N", "3", origin="sum")
    return env


MISUSES = [
    ("sb.array('N', type='int32')", sb.CallError, "there is no argument type=; write dtype='int32'"),
    ("sb.ShapeEnv(N=4)", sb.CallError, "ShapeEnv: there is no argument N=; write assume='N == 4'"),
    ("sb.ShapeEnv.matmul('N, 3', '3, M')", sb.CallError, "must be called on a ShapeEnv; make one first"),
    ("sb.solve('N', 'M', '5')", sb.CallError, "the argument out is missing; write solve('N', 'M', out='5')"),
    ("sb.solve('N', 'M', output='5')", sb.CallError, "there is no argument output=; write out='5'"),
    ("sb.compare('N', 'M', rule=['numpy'])", sb.CallError, "write rules=['numpy']"),
    ("sb.compare('N', 'M', 'numpy', 'none')", sb.ShapeTypeError, "write rules=['numpy', 'none']"),
    ("sb.relation('numpy')", sb.CallError, "the argument second is missing"),
    ("sb.broadcast('N', 'M').evaluate(3, 3)", sb.CallError, "write evaluate(N=3, M=3)"),
    ("sb.broadcast('N', 'M').cases(max_cases=2)", sb.CallError, "write limit=2"),
    ("sb.broadcast('N', 'M').to_cpp(3)", ValueError, "3 cannot name a function"),
    ("sb.broadcast([('N', 3), ('M', 1)])", sb.ShapeTypeError, "give several shapes as separate arguments"),
    ("sb.broadcast(shape1='N', shape2='M')", sb.RuleArgumentError, "give shapes by position"),
    ("sb.Condition('N == M').guard('python')", sb.CallError, "write to_python()"),
    ("sb.Condition('N == M', 'M == 1')", sb.CallError, "Condition('N == M') & Condition('M == 1')"),
    ("sb.Condition('N == M').subs(N=3)", sb.CallError, "write subs({'N': 3})"),
    ("sb.Condition('N == M').subs({'K': 3})", sb.BindingError, "no size 'K'; the sizes are N, M"),
    ("sb.Condition('N == M').contract('N=1..16')", sb.ShapeTypeError, "write contract(N='1..16')"),
    ("sb.Condition('N == M').contract(N=2).to('tensorrt')", sb.TargetError, "did you mean 'trtexec'?"),
    ("sb.symbol('N + 1')", sb.DimensionError, "is not the name of a size"),
    ("sb.symbol(3)", sb.ShapeTypeError, "is not the name of a size"),
    ("sb.ShapeEnv().assume(N=4)", sb.CallError, "write assume('N == 4')"),
    ("sb.ShapeEnv().transpose('B, T, d', 1, 2)", sb.CallError, "all axes in their new order"),
    ("sb.ShapeEnv().stack('N', 'N', 'N', dim=1)", sb.CallError, "write stack(['N', 'N', 'N'], axis=1)"),
    ("sb.ShapeEnv().lstm('T, N, 80', 256, 2)", sb.CallError, "write lstm('T, N, 80', 256, layers=2)"),
    ("sb.ShapeEnv().einsum('i,j->k', 'N', 'M')", sb.OperatorError, "but 'k' is in none"),
    ("sb.ShapeEnv().einsum('N', 'i->i')", sb.OperatorError, "the equation comes first; write einsum('i->i', ...)"),
    ("sb.ShapeEnv().transpose('B, T', [0.0, 1.0])", sb.OperatorError, "write order=(0, 1)"),
    ("sb.rule('numpy')", sb.RuleDefinitionError, "write broadcast(..., rule='numpy')"),
    ("sb.size(4)", sb.ShapeTypeError, "pass the integer 4 itself"),
    ("sb.trace('N, 3', len)", sb.ShapeTypeError, "the function comes first: trace(f, 'N, 3')"),
    ("sb.trace(lambda x: x, 'N', max_paths='many')", sb.ShapeTypeError, "is not a number of paths"),
    ("sb.trace(lambda x: x, 'N', assumptions='N > 1')", sb.BindingError, "write assume='N > 1'"),
    ("sb.trace(lambda x, y: x, ('N', 'M'))", sb.BindingError, "give the arguments one by one"),
    ("sb.trace(lambda x: x, sb.array('N', 'float23'))", sb.ShapeTypeError, "did you mean 'float32'?"),
    ("sb.checked(len)", sb.ShapeTypeError, "write the shapes too"),
    ("sb.checked('N', returns='M')(lambda x: x)", sb.BindingError, "mentions M, which no argument has"),
    ("sb.checked('N', return_='N')(lambda x: x)", sb.BindingError, "write returns='N'"),
    ("sb.check_promises('annotated')", sb.ShapeTypeError, "import annotated"),
    ("sb.broadcast('N', 'M', min_size='2')", sb.ShapeTypeError, "write min_size=2"),
    ("sb.ShapeEnv(min_size=' 3 ')", sb.ShapeTypeError, "write min_size=3"),
    ("sb.broadcast('N', 'M', rule='pdpd', axis='1')", sb.RuleArgumentError, "write axis=1"),
    ("sb.broadcast('N', 'M').cases(limit='5')", sb.ShapeTypeError, "write limit=5"),
    ("sb.trace(lambda x: x, 'N', max_paths='7')", sb.ShapeTypeError, "write max_paths=7"),
    ("sb.Condition('N == M').contract(form='profiles', most='3')", sb.ShapeTypeError, "write most=3"),
    ("sb.broadcast('N', 'M').evaluate(N='640', M=1)", sb.BindingError, "write 640 without quotes"),
    ("sb.broadcast('N', 'M').guard()(4, 4)", sb.BindingError, "write guard(N=4, M=4)"),
    ("sb.broadcast('N', 'M').guard()(N=4)", sb.BindingError, "write guard(N=4, M=...)"),
    ("sb.broadcast(\"'my size'\", 'M').guard()(M=4)", sb.BindingError, "write guard({'M': 4, 'my size': ...})"),
    ("sb.compare('N', 'M', rules='numpy,pdpd')", sb.ShapeTypeError, "write a list: rules=['numpy', 'pdpd']"),
    ("sb.compare('N', 'M', rules='none')", sb.ShapeTypeError, "write a list: rules=['none']"),
    (
        "sb.compare('N', 'M', rule='explicit(axes=(0, 1)), none')",
        sb.CallError,
        "write rules=['explicit(axes=(0, 1))', 'none']",
    ),
    (
        "sb.broadcast('N', 'M', bind={'N': 4})",
        sb.RuleArgumentError,
        "broadcast has no argument bind=; write assume='N == 4'",
    ),
    (
        "sb.broadcast('N', 'M', sizes={'N': 4, 'M': 1})",
        sb.RuleArgumentError,
        "broadcast has no argument sizes=; write assume=['N == 4', 'M == 1']",
    ),
    ("sb.broadcast('N', 'M', N=4)", sb.RuleArgumentError, "broadcast has no argument N=; write assume='N == 4'"),
    ("sb.broadcast('N', 'M', verbose=1)", sb.RuleArgumentError, "its arguments are assume=, min_size=, rule= and"),
    ("sb.broadcast('N', 'M', rule='pdpd', foo=1)", sb.RuleArgumentError, "rule 'pdpd': has no attribute 'foo'"),
    ("recorded().expands('add', 0, 0)", sb.ShapeTypeError, "its broadcasts are 'broadcast_0' and 'sum'; origin= names"),
    ("sb.ShapeEnv().expands('add', 0, 0)", sb.ShapeTypeError, "is not a broadcast of this program; it has none"),
    ("sb.trace(lambda x, axis: x.sum(axis), 'N, 3', '1')", sb.BindingError, "an array of shape (1,); pass 1 for"),
    ("sb.trace(lambda x, dim: x, 'N, 3', ' -1')", sb.BindingError, "pass -1 for an axis"),
    ("sb.trace(lambda x, y: x, 'N', rule='numpy')", sb.BindingError, "passed to the function, which has no 'rule'"),
    ("sb.Condition('N == M').contract(form='step')", sb.ShapeTypeError, "did you mean 'steps'? It is one of box,"),
    (
        "sb.broadcast('N', 'M', assume='N == 640').contract(N='64..1280')",
        sb.BindingError,
        "N is bound to 640 and has the range 64..1280; drop one of the two",
    ),
    ("sb.broadcast('N', 'M', assume='N == 8192').contract(N=[8, 16])", sb.BindingError, "bound to 8192 and has the"),
    ("sb.broadcast('batch size, 3', 'M')", sb.ShapeSyntaxError, "a name has no spaces before 'size'"),
    ("sb.broadcast('batch size, 3', 'M')", sb.ShapeSyntaxError, "write batch_size, 3"),
    ("sb.broadcast('N, head dim 3, 4', 'M')", sb.ShapeSyntaxError, "write N, head_dim, 3, 4"),
    (
        "sb.broadcast('N', 'M', rule='numpy,pdpd')",
        sb.RuleArgumentError,
        "symbcast.compare(..., rules=['numpy', 'pdpd'])",
    ),
    ("sb.broadcast('N, C', 'N', rule='pdpd axis=0')", sb.RuleArgumentError, "write rule='pdpd', axis=0"),
    ("sb.Condition('N == M').evaluate(N=3)", AttributeError, "use guard()(N=..., M=...)"),
    ("sb.broadcast('N', 'M')[0]", TypeError, "'Result' object has no items: use shape[0]"),
    ("sb.trace(lambda x: x, ('N', 3))", sb.ShapeTypeError, "write the shape as text, 'N, 3'"),
    ("sb.trace(sum, ['N, 3', 'M, 3'])", sb.ShapeTypeError, "write [array('N, 3'), array('M, 3')]"),
    ("sb.broadcast('N', 'M', rule=['numpy', 'pdpd'])", sb.RuleArgumentError, "rules=['numpy', 'pdpd']"),
    ("sb.broadcast('N', 'M', out='3')", sb.RuleArgumentError, "symbcast.solve(..., out='3')"),
    ("sb.broadcast('N', 'M', assume=('N', 2))", sb.ShapeTypeError, "write 'N == 2'"),
    ("sb.Condition('N == M').contract(N='1-8')", sb.ShapeTypeError, 'write "1..8"'),
    ("sb.broadcast('N', 'M').to_rust()", AttributeError, "use to_cpp(), to_dict(), to_mlir()"),
    ("sb.symbol('N', 'M')", sb.CallError, "write symbol('N') and symbol('M')"),
    ("sb.trace(lambda x: x, 'N', dtype='int64')", sb.BindingError, "array('N, 3', dtype='int64')"),
    ("sb.ShapeEnv(rule='pdpd')", sb.CallError, "env.broadcast('N', 'M', rule='pdpd')"),
    ("sb.explore_paths('N', len)", sb.ShapeTypeError, "explore_paths(f, 'N')"),
]


@pytest.mark.parametrize(("text", "error", "said"), MISUSES, ids=[row[0][:40] for row in MISUSES])
def test_a_misuse_is_answered_by_what_to_write(text, error, said):
    with pytest.raises(error) as caught:
        eval(text, {"sb": sb, "recorded": recorded})
    assert said in str(caught.value)


def test_a_range_of_a_bound_size_is_that_size():
    result = sb.broadcast("N", "M", assume="N == 640")
    assert result.contract(N=640).boxes == result.contract(N="640..640").boxes == result.contract().boxes
    least = sb.broadcast("N", "M", assume="N >= 4096")
    assert least.contract(N="4096..4100", M=1).verdict is sb.Verdict.ALWAYS, "a least size binds none"


def test_an_error_inside_a_call_that_fits_is_passed_on():
    error = TypeError("mine")

    class Odd:
        @property
        def shape(self):
            raise error

    with pytest.raises(TypeError, match=r"^mine$"):
        sb.shape(Odd())


def test_every_public_function_and_method_gives_advice():
    functions = [f for n in sb.__all__ if inspect.isfunction(f := getattr(sb, n))]
    methods = [f for c in (sb.ShapeEnv, sb.Condition, sb.Result) for f in map(partial(getattr, c), public(c))]
    plain = [f.__name__ for f in [*functions, *methods] if inspect.isfunction(f) and not hasattr(f, "__has_advice__")]
    assert plain == ["broadcast"], "it takes any number of arguments of any name"
    assert str(inspect.signature(sb.size)) == "(text: 'str') -> 'SizeArgument'"


def public(cls):
    return [name for name in dir(cls) if not name.startswith("_")]


def parameters(text):
    """Return the names that are written before an equals sign."""
    return set(re.findall(r"(\w+)=(?!=)", text))


@pytest.mark.parametrize(("assume", "first", "second", "said"), CLASHES, ids=[row[2][:40] for row in CLASHES])
def test_operations_that_clash_name_the_assumptions_that_they_need(assume, first, second, said):
    env = sb.ShapeEnv(assume=assume)
    call(env, first)
    with pytest.raises(sb.IncompatibleProgramError) as caught:
        call(env, second)
    lines = str(caught.value).splitlines()[1:]
    assert len(lines) == len(said) and all(line.endswith(end) for line, end in zip(lines, said, strict=True))


@pytest.mark.parametrize(
    ("assume", "close"),
    [("n >= 2", "N"), ("bacth >= 2", "batch"), ("M >= 2", None), ("s2 >= 2", None), ("N >= 2", None)],
)
def test_a_mistyped_assumption_of_a_program_is_warned_of_when_it_is_asked(assume, close):
    env = sb.ShapeEnv(assume=assume)
    env.broadcast("N, batch, s1", "N, batch, 3")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert env.verdict is sb.Verdict.SOMETIMES
        assert env.explain().startswith("1 operation") and str(env.condition)
    said = [str(w.message) for w in caught]
    expected = f"the assumption {assume!r} mentions no size of the operations; did you mean {close}?"
    assert said == ([expected] if close else [])
    assert all(w.category is sb.AssumptionWarning and w.filename == __file__ for w in caught)
