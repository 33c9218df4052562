"""Guards mean what their conditions mean, for those who run them: Python, g++, z3 and MLIR."""

from __future__ import annotations

import itertools
import pickle
import re

import numpy as np
import pytest
import z3
from exchange import consumers
from exchange.meaning import meaning, table
from hypothesis import given, settings
from solver.expressions import NAMES, SYMBOLS, expressions, statements

from symbcast.answers.guards.languages.cpp import cpp_source
from symbcast.answers.guards.languages.mlir import mlir_source
from symbcast.answers.guards.languages.python import Guard, python_source
from symbcast.answers.guards.languages.smtlib import smtlib_source
from symbcast.core.algebra.arithmetic import add, floor_divide, join, modulo, multiply
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    all_of,
    at_most,
    different,
    equal,
    with_values,
)
from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.solver.evaluation import predicate
from symbcast.core.text import parse_formula
from symbcast.errors import BindingError

N, M, K = map(symbol, "NMK")
ABC = dict(zip(SYMBOLS, NAMES, strict=True))
dims = expressions(3, divisors=(2, 3, -2, -3), functions=("min", "max", "broadcast"), symbolic=True)
needs_compiler = pytest.mark.skipif(consumers.COMPILER is None, reason="there is no g++")
SOURCES = [python_source, cpp_source, smtlib_source, mlir_source]

WRITTEN = [
    "N // M == 2 or K == 1",
    "K % (N - M) != 1",
    "-N // (M - 3) <= -1 and N % (M - 3) < 0",
    "7 // (N % 3) == 3 or 5 % (M // 2) == 1",
    "broadcast(N - 1, M) * K == 6",
    "broadcast(N, M // K, 2) <= 2",
    "not compatible(N, M, K, 2) or compatible(N - 2, M, K + 1)",
    "min(N, M - 2, K) == max(N - K, M)",
    "not (N//M == 2 and K % M <= 1)",
    "not (broadcast(N, M) == 3 or K//N == 1) or N == M and not (K % (N//M) != 0)",
    "N == N and 2 <= 3 and (M == 1 or (K == 2 and (N >= 3 or not compatible(N, M))))",
    "N*M*K == 24 or N*N*M*M*K*K*K*N == 8",
    "1 <= 0 or compatible(1, N, N, 1)",
    "compatible(N, M) and compatible(2*N, 2*M) and compatible(N//2, M, 3)",
]


def agree(pairs, points, folder):
    expected = [table(*pair, sizes) for pair, sizes in zip(pairs, points, strict=True)]
    for consumer, found in consumers.all_tables(pairs, points, folder).items():
        for pair, sizes, wanted, got in zip(pairs, points, expected, found, strict=True):
            wrong = [p for p, w, g in zip(sizes, wanted, got, strict=True) if w != g]
            assert not wrong, f"{consumer} at {wrong[:3]}: {pair[0]}"


def test_random_conditions(tmp_path):
    """Hundreds of conditions, each at every choice of sizes from 0 to 6, by all four."""
    conditions = []

    @settings(max_examples=200, derandomize=True, database=None)
    @given(statements(dims, most=4, max_leaves=6))
    def draw(statement):
        conditions.append(statement.formula)

    draw()
    pairs = [(condition, ABC) for condition in conditions]
    agree(pairs, consumers.small_points(pairs), tmp_path)


def test_written_conditions(tmp_path):
    names = {N: "N", M: "M", K: "K"}
    pairs = [(parse_formula(text), names) for text in WRITTEN]
    pairs += [
        (TRUE, names),
        (FALSE, names),
        (TRUE, {}),
        (FALSE, {}),
        (AnyOf((AllOf((FALSE, TRUE)), equal(N, 2))), names),
    ]
    pairs += [(kind(members), names) for kind in (Compatible, Clashing) for members in [(), (N,), (1, 1), (N, 1, N)]]
    agree(pairs, consumers.small_points(pairs), tmp_path)


@given(statements(dims))
def test_the_oracle_is_the_predicate_of_the_condition_with_values(statement):
    guarded = predicate(with_values(statement.formula), SYMBOLS)
    for (point,) in [[(0, 0, 0)], [(0, 1, 2)], [(3, 0, 1)], [(2, 3, 4)], [(5, 1, 0)], [(2, 2, 6)]]:
        assert guarded(*point) == meaning(statement.formula, dict(zip(SYMBOLS, point, strict=True)))


EXTREMES = [-(2**63), -1, 0, 1, 2, 3, 2**31, 2**32, 2**62, 2**63 - 2, 2**63 - 1]
AT_EXTREMES = [
    equal(N + M, K),
    at_most(N * M, K * K),
    equal(N * M, 2**64),
    equal(N * M * K, 2**96),
    Comparison("<", N * M * K, (K + 1) * (K + 1) * (K + 1)),
    equal(modulo(-N, M), K),
    equal(modulo(N * M, K), 1),
    equal(floor_divide(-N, M), -K),
    equal(floor_divide(N * M * M, K), N * M),
    equal(modulo(-N * M * M, K - 3), 0),
    at_most(floor_divide(-N * N * M, 3), -M),
    at_most(3**90, N * M * K + 3**90 - 8),
    equal(N - M, -1),
    Comparison("<", 10**30, N * M),
    Compatible((N, M, K)),
    Clashing((N + M, 2 * K, 2)),
    equal(join((N, M)) + 1, K),
    at_most(N + 2**63, M + 2**63 + 1),
    different(multiply(*[N] * 4 + [M] * 4), multiply(*[K] * 8)),
]


def test_the_largest_sizes(tmp_path):
    names = {N: "N", M: "M", K: "K"}
    points = [(n, m, k) for n in EXTREMES for m in EXTREMES for k in EXTREMES]
    pairs = [(c, names) for c in AT_EXTREMES]
    tables = {
        "python": consumers.python_tables(pairs, [points] * len(pairs)),
        "mlir": consumers.mlir_tables(pairs, [points] * len(pairs)),
    }
    if consumers.COMPILER is not None:
        tables["cpp"] = consumers.cpp_tables(pairs, [points] * len(pairs), tmp_path)
    for number, pair in enumerate(pairs):
        expected = table(*pair, points)
        assert any(expected) or pair[0] in AT_EXTREMES[3:12]
        for consumer, found in tables.items():
            wrong = [p for p, w, g in zip(points, expected, found[number], strict=True) if w != bool(g)]
            assert not wrong, f"{consumer} at {wrong[:3]}: {pair[0]}"


WORDS = """
    batch decoder.45_dim_1 ?0 a_b a__b lambda ω ω2 N% 45 _ __x _X int class std unix max min join compatible sum guard
    guard_parts holds wide divide INT64_MAX int64_t ﬁ fi let and div mod member!0 common! .x @y true Int ' " a"b %0
    %holds index i1 ??/ None print __debug__ -1 x- select store */ // ; # - $ é a.b a..b | a|b
"""
HOSTILE = [
    *WORDS.split(),
    *("", " ", "a b", "a\tb", "\n", "\\\n", "a\\", "\x00", "\u202ex", "\ud800", "\U0001d40d", "N" * 300),
]
HOSTILE += ["line\n    return True", '\\"""']


@pytest.mark.parametrize("size", [len(HOSTILE), 3])
def test_names_may_be_anything(size, tmp_path):
    """One guard over all the names, true only where each size is what its place says; and one for every three."""
    symbols = [symbol(f"s{n}") for n in range(len(HOSTILE))]
    pairs, points = [], []
    for start in range(0, len(HOSTILE), size):
        names = dict(zip(symbols[start : start + size], HOSTILE[start : start + size], strict=True))
        right = tuple(range(2, 2 + len(names)))
        parts = [equal(s, n) for s, n in zip(names, right, strict=True)]
        pairs.append(
            (all_of([*parts, at_most(floor_divide(add(*names), 2), 10**6), Compatible((2 * symbols[start], 4))]), names)
        )
        points.append([right, right[::-1], (0,) * len(right)] if len(right) > 1 else [right, (0,)])
    agree(pairs, points, tmp_path)
    if consumers.COMPILER is not None:
        sources = "".join(cpp_source(*pair, f"guard_{n}") for n, pair in enumerate(pairs))
        consumers.build(f"{sources}int main() {{}}", tmp_path)
    for pair, (right, *_) in zip(pairs, points, strict=True):
        guard = Guard(*pair)
        assert guard(dict(zip(pair[1].values(), right, strict=True)))
        assert guard(**dict(zip(guard.parameters, right, strict=True)))
        assert guard.function(*right)


def test_two_sizes_of_one_name_are_two_parameters(tmp_path):
    pairs = [(parse_formula("N == 2*M"), {N: "x", M: "x", K: "x_"})]
    agree(pairs, consumers.small_points(pairs), tmp_path)
    with pytest.raises(BindingError, match="'x'"):
        Guard(*pairs[0])


@needs_compiler
def test_a_strict_compiler_has_nothing_to_say(tmp_path):
    names = {N: "N", M: "M", K: "K"}
    conditions = [*map(parse_formula, WRITTEN), *AT_EXTREMES, TRUE, FALSE]
    sources = "".join(cpp_source(c, names, f"guard_{n}") for n, c in enumerate(conditions))
    consumers.build(
        f"{sources}int main() {{}}", tmp_path, (*consumers.STRICT, "-Wpedantic", "-Wshadow", "-Wconversion")
    )


@needs_compiler
@pytest.mark.parametrize(
    "text", ["N*M*K == 8*N + M % 3", "(N*M - K) // (K + 1) < N - M*K*5", "max(N*N*M, K) % (N - K) == 0"]
)
def test_sizes_at_which_c_chooses_a_wider_integer(text, tmp_path):
    """The smallest integers compute up to the sizes in the source; at these, and one above, answers are exact."""
    pairs = [(parse_formula(text), {N: "N", M: "M", K: "K"})]
    chosen = {int(number) for number in re.findall(r"<= (\d+)[ )]", cpp_source(*pairs[0]))}
    assert len(chosen) == 2
    edges = [0, 1, 8, *(n + d for n in chosen for d in (0, 1)), 2**63 - 1]
    points = [list(itertools.product(edges, repeat=3))]
    assert consumers.cpp_tables(pairs, points, tmp_path) == consumers.python_tables(pairs, points)


MANY = [symbol(f"m{n}") for n in range(1000)]
WIDE = {
    "compatible": Compatible(tuple(MANY)),
    "clashing": Clashing(tuple(MANY)),
    "join": equal(join(MANY), 7),
    "clauses": AllOf(tuple(at_most(MANY[n % 5], n + 1) for n in range(5000))),
    "literals": AnyOf(tuple(equal(MANY[n % 5], n + 3) for n in range(3000))),
    "sum": equal(add(*MANY), 1006),
}


@pytest.mark.parametrize("kind", WIDE)
def test_wide_conditions(kind, tmp_path):
    """What is wide is as long in every language, and no deeper."""
    names = {s: s.name for s in (MANY[:5] if kind in ("clauses", "literals") else MANY)}
    points = [
        tuple(changed.get(n, 1) for n in range(len(names))) for changed in ({}, {3: 7}, {0: 7, 4: 8}, {3: 0}, {0: 3002})
    ]
    if kind in ("compatible", "join"):
        points.append(tuple(7 if n in (3, 900) else 1 for n in range(len(names))))
    assert max(len(source(WIDE[kind], names)) for source in SOURCES) < 900_000
    agree([(WIDE[kind], names)], [points], tmp_path)


@pytest.mark.parametrize(("text", "logic"), [("2*N == M", "QF_LIA"), ("N*M == 1", "QF_NIA"), ("N//2 == M", "QF_NIA")])
def test_the_logic_of_a_script(text, logic):
    assert f"(set-logic {logic})" in smtlib_source(parse_formula(text), {N: "N", M: "M"})


@pytest.mark.parametrize(
    ("assumptions", "answer"),
    [
        ([], z3.sat),
        (["N >= 2", "M >= 2"], z3.sat),
        (["N >= 2", "M >= 2", "N != M"], z3.unsat),
        (["7//N == 8"], z3.unsat),
    ],
)
def test_z3_decides_a_script(assumptions, answer):
    condition = parse_formula("compatible(N, M)")
    solver = z3.Solver()
    solver.from_string(smtlib_source(condition, {N: "N", M: "M"}, "fits", [parse_formula(a) for a in assumptions]))
    assert solver.check() == answer


def test_a_divisor_of_zero_does_not_make_a_script_satisfiable():
    solver = z3.Solver()
    solver.from_string(smtlib_source(parse_formula("N//M == 3 and M == 0"), {N: "N", M: "M"}))
    assert solver.check() == z3.unsat


def test_a_witness_broadcasts_where_it_can():
    text = mlir_source(parse_formula("compatible(N, M, K) and N <= 3"), {N: "N", M: "M", K: "K"})
    assert text.count("shape.cstr_broadcastable") == 1
    assert "shape.cstr_broadcastable" not in mlir_source(parse_formula("compatible(N - 1, M)"), {N: "N", M: "M"})


def test_guards_are_values():
    unknown = Unknown("?0", 2, 5)
    guard = Guard(parse_formula("N <= 8"), {N: "batch", unknown: "?0"}, "fits")
    again = pickle.loads(pickle.dumps(guard))
    assert again == guard and hash(again) == hash(guard) and again != Guard(guard.formula, {N: "N"})
    assert repr(again) == "<Guard fits(batch, size_0): batch <= 8>"
    assert again({N: 8, unknown: 3}) and again({"batch": np.int64(8)}, size_0=3) and not again(batch=9, size_0=3)
    assert again.source == python_source(guard.formula, guard.names, "fits")


@pytest.mark.parametrize("sizes", [{}, {"N": 1}, {"N": 1, "M": -1}, {"N": 1, "M": True}, {"N": 1, "M": 2, "X": 3}])
def test_a_guard_refuses_what_is_no_binding(sizes):
    with pytest.raises(BindingError):
        Guard(parse_formula("N == M"), {N: "N", M: "M"})(sizes)


@pytest.mark.parametrize("source", SOURCES)
def test_wrong_calls(source):
    with pytest.raises(BindingError, match="no name was given for M"):
        source(parse_formula("N == M"), {N: "N"})
    for name in ("", "a b", "1x", "join)" if source is smtlib_source else "a-b!"):
        with pytest.raises(ValueError, match="cannot name a function"):
            source(TRUE, {}, name)


@pytest.mark.parametrize("source", SOURCES)
def test_sources_are_alike_on_every_run(source):
    condition = parse_formula("compatible(N, 2*M, K) and (N // (M - 1) == 3 or K*M - N <= 7)")
    assert source(condition, {N: "N", M: "?0", K: "a b"}) == source(condition, {N: "N", M: "?0", K: "a b"})


@pytest.mark.parametrize("value", [True, -1, 2.5, "2", None])
def test_keywords_that_are_all_parameters_are_read_as_any_others(value):
    guard = Guard(parse_formula("compatible(N, M)"), {N: "N", M: "M"})
    assert guard(N=3, M=3) and guard(M=2, N=1) and not guard(N=2, M=3)
    assert guard(N=np.int64(3), M=3) and guard({"N": 3}, M=3)
    with pytest.raises(BindingError, match="is not a size"):
        guard(N=value, M=3)
    with pytest.raises(BindingError, match="no size was given for M"):
        guard(N=3)
    with pytest.raises(BindingError, match="K"):
        guard(N=3, M=3, K=1)


def test_another_name_that_is_also_a_parameter_means_the_other_size():
    guard = Guard(parse_formula("N == 2*M"), {N: "N", M: "M"}, others={"N": "M"})
    with pytest.raises(BindingError, match="M"):
        guard(N=2, M=1)
