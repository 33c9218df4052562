"""What sympy prints of sizes and conditions reads back: as text, it is the same size or condition."""

import itertools
import pickle

import pytest
import sympy
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import symbcast as sb
from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.symbols import symbol
from symbcast.errors import DimensionError, SymbcastError

NAMES = ["N", "M", "a.b", "'batch-size'", "'x y'", "'and'", "in", "half", "floor"]
TERMS = st.recursive(
    st.sampled_from([*NAMES[:2] * 4, *NAMES, "1", "2", "3"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        st.builds("({})//{}".format, inner, st.sampled_from(["2", "3", "M", "(N + 1)"])),
        st.builds("({}) % {}".format, inner, st.sampled_from(["2", "8", "M"])),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max", "broadcast"]), inner, inner),
        st.builds("({})**2".format, inner),
    ),
    max_leaves=6,
)
CONDITIONS = st.recursive(
    st.builds("{} {} {}".format, TERMS, st.sampled_from(["==", "!=", "<=", ">"]), TERMS)
    | st.lists(TERMS, min_size=2, max_size=5).map(lambda terms: f"compatible({', '.join(terms)})"),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner) | inner.map("not ({})".format)
    ),
    max_leaves=4,
)


def values(dim, names):
    """Yield the values of a dimension at some small sizes, None where it has none."""
    for sizes in itertools.islice(itertools.product([0, 1, 2, 5], repeat=len(names)), 0, None, max(1, len(names) ** 2)):
        try:
            yield dim if isinstance(dim, int) else replace_symbols(dim, dict(zip(names, sizes, strict=True)))
        except DimensionError:
            yield None


@given(TERMS, TERMS, st.sampled_from(["*", "+", "-", "max", "alone"]))
@settings(max_examples=60, deadline=None)
@example("N", "(M + 1)//2", "*")
@example("N % 8", "min(N, M)", "*")
@example("'batch-size'", "broadcast(N, M)", "*")
@example("N*(N + 1)//2", "max(N, 3)", "+")
@example("half", "in//2", "*")
def test_a_printed_size_reads_back(left, right, sign):
    try:
        first, second = sb.shape(f"{left}, {right}")
        combined = {"*": lambda a, b: a * b, "+": lambda a, b: a + b, "-": lambda a, b: a - b}
        dim = (sympy.Max if sign == "max" else combined.get(sign, lambda a, b: a))(first, second)
        (wanted,) = sb.shape((dim,)).dims
        (found,) = sb.shape(str(dim)).dims
    except SymbcastError as error:
        assert "differ and neither is 1" in str(error) or "is not negative" in str(error) or "at most" in str(error)
        return
    names = [symbol(sb.shape(name).dims[0].name) for name in NAMES]
    names = [name for name in names if not isinstance(wanted, int) and name in wanted.symbols()]
    assert list(values(found, names)) == list(values(wanted, names))


@given(CONDITIONS)
@settings(max_examples=30, deadline=None)
@example("(N == 1 or M//2 == N) and not compatible('x y', N, M, 3)")
@example("in*half == (in + half)//2")
@example("N % 8 == 0 and N >= 2 or True")
def test_a_printed_condition_reads_back(text):
    try:
        condition = sb.Condition(text)
    except SymbcastError:
        assume(False)
    for printed, is_negated in ((condition.sympy, False), (sympy.Not(condition.sympy), True)):
        again = sb.Condition(str(printed))
        names = sorted({s.name for s in condition.symbols} | {s.name for s in again.symbols})
        own, other = ({s.name for s in c.symbols} for c in (condition, again))
        guard, guard_again = condition.guard(), again.guard()
        for sizes in itertools.islice(itertools.product([0, 1, 2, 8], repeat=len(names)), 0, 400, 7):
            at = dict(zip(names, sizes, strict=True))
            holds = guard({name: size for name, size in at.items() if name in own})
            assert guard_again({name: size for name, size in at.items() if name in other}) == (holds != is_negated)


def test_a_name_that_needs_quotes_is_still_the_symbol_of_that_name():
    (ours, _) = sb.shape("'x y', N")
    plain = sympy.Symbol("x y", integer=True, nonnegative=True)
    assert ours == plain and plain == ours and hash(ours) == hash(plain) and (ours != plain) is (plain != ours) is False
    assert ours + 1 == plain + 1 and ours - plain == 0 and (ours * 2).subs(plain, 3) == 6
    assert str(ours * 2) == "2*'x y'" and sympy.latex(ours) == "x y" and sb.symbol("x y") == ours
    assert ours != sympy.Symbol("x y") and ours != sympy.Symbol("y") and ours != "x y"
    assert pickle.loads(pickle.dumps(ours)) == ours and sb.shape((plain, ours)) == sb.shape("'x y', 'x y'")


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        (sympy.Piecewise((sb.symbol("N"), sb.symbol("N") > 2), (2, True)), "max(N, 2)"),
        (sympy.Abs(sb.symbol("N") - sb.symbol("M")), "max(N - M, M - N)"),
        (sympy.ceiling(sb.symbol("N") / 2), "(N + 1)//2"),
        (sympy.floor(sb.symbol("N") / sb.symbol("M")), "N//M"),
    ],
)
def test_functions_of_sympy_are_read_as_text(printed, text):
    assert sb.shape(str(printed)) == sb.shape(text)
