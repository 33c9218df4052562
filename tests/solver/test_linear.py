"""Linear systems: whether they can hold, and the smallest sizes at which they do, against exhaustive search."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from solver.expressions import smallness

import symbcast as sb
from symbcast.core.algebra.formulas import any_of
from symbcast.core.algebra.symbols import symbol
from symbcast.core.effort import Satisfiability
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.f3_linear import branch_and_bound, z3_solver
from symbcast.core.solver.f3_linear import z3_solver as least_sizes
from symbcast.core.solver.f3_linear.branch_and_bound import Search, smallest_point, some_point
from symbcast.core.solver.f3_linear.lattices import reduce_lattice, reduced_basis
from symbcast.core.solver.f3_linear.z3_solver import Session, on_worker
from symbcast.core.solver.points import GivenUpError, SmallestPointQuestion
from symbcast.core.text import parse_formula

MOST = 7
NAMES = "abcd"
SYMBOLS = tuple(map(symbol, NAMES))
ONES = dict.fromkeys(SYMBOLS, 1)
coefficients = st.tuples(*[st.integers(-4, 5)] * 3)


@st.composite
def literals(draw):
    left = " + ".join(f"{c}*{n}" for c, n in zip(draw(coefficients), NAMES, strict=False))
    form = draw(st.sampled_from(["{}", "{}", "{}", "({})//3", "({}) % 4", "max(a, {})", "min(c, {}, 5)"]))
    return f"{form.format(left)} {draw(st.sampled_from(['==', '<=', '!=', '<', '>=']))} {draw(st.integers(-9, 20))}"


systems = st.lists(st.lists(literals(), min_size=1, max_size=2), min_size=1, max_size=4)
BOXED = [parse_formula(f"{n} <= {MOST}") for n in "abc"]


def read(system):
    return [any_of(map(parse_formula, clause)) for clause in system]


def exhaustive(formulas, weights):
    """Return the smallest sizes in the box, in a plain loop over all of them."""
    points = (p for p in product(range(MOST + 1), repeat=3))
    found = (p for p in points if all(holds_at(f, dict(zip(SYMBOLS, p, strict=False))) for f in formulas))
    least = min(found, key=lambda p: smallness(p, weights), default=None)
    return least and dict(zip(SYMBOLS, least, strict=False))


@settings(max_examples=40)
@given(systems, st.tuples(*[st.integers(1, 3)] * 3))
@example([["a != b"], ["b != c"], ["a != c"], ["a <= 2"], ["b <= 2"], ["c <= 1"]], (1, 1, 1))
@example([["4*a - 3*b == 5", "2*c == 7 + a"]], (2, 1, 3))
def test_the_smallest_sizes_are_those_of_exhaustive_search(system, weights):
    formulas = [*read(system), *BOXED]
    expected = exhaustive(formulas, weights)
    weighted = dict(zip(SYMBOLS, weights, strict=False))
    wanted = SmallestPointQuestion(SYMBOLS[:3], {}, formulas, weighted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_bound, "STEPS", 10**6)
        assert smallest_point(wanted) == expected
    assert least_sizes.smallest_point(wanted) == expected


@settings(max_examples=40)
@given(systems)
def test_some_sizes_are_right(system):
    formulas = read(system)
    try:
        found = some_point(SYMBOLS[:3], formulas)
    except GivenUpError:
        return
    assert (z3_solver.some_point(SYMBOLS[:3], formulas) is None) == (found is None)
    assert found is None or all(holds_at(f, found) for f in formulas)


@settings(max_examples=25)
@given(st.tuples(*[st.integers(1, 10**4)] * 3), st.tuples(*[st.integers(0, 30)] * 3), st.integers(0, 3))
def test_rows_with_large_coefficients(row, sizes, off):
    """The least solution of an equation, by trying every pair of the first two sizes."""
    target = sum(c * n for c, n in zip(row, sizes, strict=True)) + off
    formula = parse_formula(f"{' + '.join(f'{c}*{n}' for c, n in zip(row, NAMES, strict=False))} == {target}")
    best = None
    for a in range(min(target // row[0], 200) + 1):
        for b in range(min((target - row[0] * a) // row[1], 200) + 1):
            c, rest = divmod(target - row[0] * a - row[1] * b, row[2])
            if not rest and (best is None or smallness((a, b, c), (1, 1, 1)) < smallness(best, (1, 1, 1))):
                best = (a, b, c)
    found = least_sizes.smallest_point(SmallestPointQuestion(SYMBOLS[:3], {}, [formula], ONES))
    if best is not None:
        assert found is not None
        assert smallness(tuple(found.values()), (1, 1, 1)) <= smallness(best, (1, 1, 1))
        assert holds_at(formula, found)
    elif max(target // row[0], target // row[1]) < 200:
        assert found is None


@given(st.lists(st.lists(st.integers(-50, 50), min_size=3, max_size=3), min_size=3, max_size=3))
def test_a_reduced_basis_spans_the_same_lattice(vectors):
    vectors = [[*v, *(int(n == m) for m in range(3))] for n, v in enumerate(vectors)]
    reduced = reduce_lattice(vectors)
    for vector in reduced:  # the unit part says which multiples of the first vectors it is
        expected = [sum(k * v[n] for k, v in zip(vector[3:], vectors, strict=True)) for n in range(6)]
        assert vector == expected
    units = [v[3:] for v in reduced]
    (a, b, c), (d, e, f), (g, h, i) = units
    assert abs(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)) == 1


def test_small_rows_keep_their_symbols():
    assert reduced_basis(SYMBOLS, [parse_formula("2*a + 3*b == c")]) is None
    assert reduced_basis(SYMBOLS, [parse_formula("2*a + 300*b == c")]) is not None


KNAPSACK = "12343*a + 98765*b + 55557*c + 77773*d"


def test_a_condition_has_the_least_witness_of_a_knapsack():
    condition = sb.Condition(f"{KNAPSACK} == 100000007")
    assert condition.witness() == {"a": 16, "b": 870, "c": 9, "d": 172}
    assert sb.broadcast(KNAPSACK, "100000007").certify()


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["3*a - 3*b >= 1", "3*a - 3*b <= 2"], None),
        ([f"{10**17}*a - {10**17 - 1}*b == 1"], {"a": 1, "b": 1}),
        (["a // 7 == b", "a % 7 == 3", "b % 11 == 5", "a >= 1000"], {"a": 1039, "b": 148}),
        (["300000*a - 299999*b >= 100000", "300000*a <= 299998*b + 200000"], {"a": 100000, "b": 100000}),
    ],
)
def test_large_coefficients_are_decided(texts, expected):
    assert sb.Condition(" and ".join(texts)).witness() == expected


def test_a_knapsack_without_solution_is_decided():
    result = sb.broadcast("123456791*a + 987654321*b + 555555557*c", "10000000000037")
    assert (result.verdict, result.witness(), result.reason) == (sb.Verdict.NEVER, None, "")
    assert result.certify()


def all_different(count, bound):
    names = [f"x{n}" for n in range(count)]
    return [*(f"{a} != {b}" for a, b in combinations(names, 2)), *(f"{n} < {bound}" for n in names)]


@pytest.mark.parametrize(("count", "bound"), [(7, 7), (8, 8), (9, 9), (5, 9)])
def test_the_first_order_of_sizes_that_all_differ(count, bound):
    env = sb.ShapeEnv()
    for text in all_different(count, bound):
        env.require(text)
    first = range(count) if count == bound else range(1, count + 1)
    assert list(env.witness().values()) == list(first)
    assert set(env.counterexample().values()) == {1}


def test_too_many_sizes_that_all_differ():
    formulas = [parse_formula(text) for text in all_different(7, 6)]
    names = [symbol(f"x{n}") for n in range(7)]
    assert z3_solver.some_point(names, formulas) is None
    assert z3_solver.some_point(names, formulas[:-1]) is not None


def test_the_counterexample_of_an_extremum_of_many():
    names = [f"s{n}" for n in range(100)]
    result = sb.broadcast(f"max({', '.join(names)})", "N")
    assert result.verdict is sb.Verdict.SOMETIMES
    assert result.reason == ""
    assert set(result.witness().values()) == {1}
    assert {n: size for n, size in result.counterexample().items() if size != 1} == {"s99": 2, "N": 3}


def test_a_sum_of_many():
    names = [f"s{n}" for n in range(300)]
    result = sb.broadcast(" + ".join(names), "N")
    assert set(result.witness().values()) == {1}
    assert {n: size for n, size in result.counterexample().items() if size != 1} == {"N": 2}


def test_the_search_ends_by_counted_steps():
    far = [parse_formula("a*b == 1000003*1000033")]
    for _ in range(2):
        search = Search(SmallestPointQuestion(SYMBOLS[:2], {}, far, ONES))
        with pytest.raises(GivenUpError):
            search.at_level(0)
        assert search.steps < 0


def test_cubes_end_by_counted_units():
    """`nlsat` computes for five seconds on these three equations, on a tenth of the units."""
    cubes = [parse_formula(text) for text in ("a*a*a == b*b*c + 5", "c*c*c == a*b + 7", "b*b*b == a*c + 11")]

    def check():
        session = Session(SYMBOLS[:3], cubes)
        return session.check(), [key for key, _ in session.solver.statistics() if "nra" in key or "nlsat" in key]

    answer, uncounted = on_worker(check)
    assert answer is not Satisfiability.SATISFIABLE
    assert not uncounted
    with pytest.raises(GivenUpError):
        least_sizes.smallest_point(SmallestPointQuestion(SYMBOLS[:3], {}, cubes, ONES))
