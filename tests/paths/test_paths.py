"""Paths of code over sizes: held against the code itself at all small sizes."""

import contextlib
import itertools
import math
import threading
from operator import eq, ge, gt, le, lt, ne

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import symbcast as sb
from symbcast.paths.answer import conclusions_of
from symbcast.paths.real_numbers import Real

SIZES = range(6)


def outcome(run, sizes):
    """What a run does at some sizes: its value, or the kind of its error."""
    try:
        return run(sizes)
    except Exception as error:
        return type(error).__name__


def told_at(case, names, sizes):
    at = dict(zip(names, sizes, strict=True))
    if case.error:
        return case.error.partition(":")[0]
    return value_at(case.value, at)


def value_at(value, at):
    if isinstance(value, (tuple, list)):
        return type(value)(value_at(v, at) for v in value)
    return int(value.subs({sb.symbol(n): v for n, v in at.items()})) if hasattr(value, "subs") else value


def hold(run, names, sizes=SIZES, **options):
    """Hold every case against the run at all small sizes; return the answer and how many sizes were open."""
    found = sb.explore_paths(run, ", ".join(names), **options)
    left = 0
    for at in itertools.product(sizes, repeat=len(names)):
        by_name = dict(zip(names, at, strict=True))
        cases = [c for c in found.cases if c.condition.guard()({s.name: by_name[s.name] for s in c.condition.symbols})]
        if not cases:
            assert found.unexplored.guard()({s.name: by_name[s.name] for s in found.unexplored.symbols})
            assert not found.complete
            left += 1
            continue
        (case,) = cases
        assert told_at(case, names, at) == outcome(run, at), (at, case)
        condition = found.condition
        assert condition.guard()({s.name: by_name[s.name] for s in condition.symbols}) is case.works
    return found, left


# Expressions of sizes, and statements over them: a program that ints and sizes run alike.

OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "min": min,
    "max": max,
    "abs": lambda a, b: abs(a - b),
    "half": lambda a, b: math.ceil(a / 2),
    "floor": lambda a, b: math.floor(b / 3),
    "divmod": lambda a, b: sum(divmod(a, 4)) + b,
}
COMPARED = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "truth": lambda a, b: bool(a),
    "not": lambda a, b: not b,
    "/": lambda a, b: a / 2 > b,
}
leaves = st.sampled_from([0, 1]) | st.integers(-2, 4).map(lambda n: ("number", n))
expressions = st.recursive(leaves, lambda e: st.tuples(st.sampled_from(sorted(OPERATIONS)), e, e), max_leaves=4)
tests = st.tuples(st.sampled_from(sorted(COMPARED)), expressions, expressions)
statements = st.recursive(
    expressions.map(lambda e: ("return", e)) | st.just(("raise",)),
    lambda s: st.tuples(st.just("if"), tests, s, s),
    max_leaves=5,
)


def worth(expression, sizes):
    if isinstance(expression, int):
        return sizes[expression]
    if expression[0] == "number":
        return expression[1]
    return OPERATIONS[expression[0]](worth(expression[1], sizes), worth(expression[2], sizes))


def executed(statement, sizes):
    if statement[0] == "raise":
        raise ValueError("as it says")
    if statement[0] == "return":
        return worth(statement[1], sizes)
    name, left, right = statement[1]
    return executed(statement[2 if COMPARED[name](worth(left, sizes), worth(right, sizes)) else 3], sizes)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(statements)
@example(("if", ("<", ("//", 0, 1), ("number", 2)), ("raise",), ("return", ("%", 1, 0))))
@example(("if", ("/", 0, 1), ("return", ("half", 0, 0)), ("return", ("max", 0, 1))))
def test_each_case_is_what_the_code_does_there(statement):
    found, left = hold(lambda sizes: executed(statement, sizes), ["N", "M"])
    assert found.complete
    assert not left


def test_a_size_that_must_be_a_number_is_each_of_a_few_and_the_rest_is_left():
    def total(sizes):
        return sum(range(sizes[0]))

    found, left = hold(total, ["N"])
    assert found.verdict is sb.Verdict.UNKNOWN
    assert "turns a size into a number" in found.reason
    assert found.unexplored.guard()(N=50)
    assert left < len(SIZES)
    found, left = hold(total, ["N"], range(5), assume="N <= 4")
    assert (found.complete, found.verdict, left) == (True, sb.Verdict.ALWAYS, 0)


def test_a_limit_of_paths_leaves_the_rest_unknown():
    def steps(sizes):
        n, count = sizes[0], 0
        while n > count:
            count += 1
        return count

    found, _ = hold(steps, ["N"], max_paths=3)
    assert not found.complete
    assert found.verdict is sb.Verdict.UNKNOWN


def test_facts_answer_what_they_decide():
    asked = []

    def run(sizes):
        n, m = sizes
        if n == m:
            asked.append(n + 1 > m)
            asked.append(n * 2 == m + n)
        return n

    assert sb.explore_paths(run, "N, M").paths == 2
    assert len(asked) > 2  # on the path, and with numbers
    assert all(asked)


def test_an_error_that_the_code_catches_is_no_failure():
    def run(sizes):
        try:
            return 12 // sizes[0]
        except ZeroDivisionError:
            return 0

    found, _ = hold(run, ["N"], range(4), assume="N <= 3")
    assert found.verdict is sb.Verdict.ALWAYS


def test_code_that_does_otherwise_each_time_is_not_believed():
    seen = []

    def run(sizes):
        seen.append(0)
        return 1 if sizes[0] == len(seen) else 2

    assert not sb.explore_paths(run, "N").complete


def test_sizes_are_ints_to_isinstance():
    def run(sizes):
        assert isinstance(sizes[0], int)
        assert not isinstance(sizes[0] / 3, int)
        return sizes[0]

    assert sb.explore_paths(run, "N").verdict is sb.Verdict.ALWAYS


def test_the_hash_of_a_size_is_that_of_its_number():
    found, left = hold(lambda sizes: {0: "a", 3: "b"}.get(sizes[0], "c"), ["N"], range(12))
    assert not found.complete
    assert found.cases[0].works
    assert left == 3
    few = sb.explore_paths(lambda sizes: {sizes[0]: 1}, "N", assume="N <= 3")
    assert few.complete
    assert few.cases[0].value == {sb.symbol("N"): 1}


def label(size):
    return f"<{size:3d}>"


@pytest.mark.parametrize(
    "run",
    [
        lambda n: 1 if f"{n}" == "3" else 0,
        lambda n: 1 if "%d" % n == "3" else 0,  # noqa: UP031
        lambda n: len(str(n)),
        label,
        "{:>4}".format,
    ],
)
def test_text_of_a_size_is_that_of_its_number(run):
    found, left = hold(lambda sizes: run(sizes[0]), ["N"], range(12))
    assert not found.complete
    assert left >= 2


def test_text_of_an_error_names_the_size():
    def run(sizes):
        if sizes[0] % 2:
            raise ValueError(f"{label(sizes[0])} is odd" + " for %d" % sizes[0])  # noqa: UP031
        return 0

    found = sb.explore_paths(run, "N")
    assert found.complete
    assert found.cases[1].error.startswith("ValueError: <N> is odd for ")


def test_what_a_function_does_otherwise_with_numbers_is_not_said():
    def by_type(sizes):
        return 1 if type(sizes[0]) is int else 2

    found = sb.explore_paths(by_type, "N")
    assert found.verdict is sb.Verdict.UNKNOWN
    assert "at N=2 the real call returned 1; the trace predicted the result 2" in found.reason
    assert not found.cases


@pytest.mark.parametrize("bound", [lambda count: 2 + next(count), lambda count: 2 if next(count) % 3 else None])
def test_a_function_that_does_not_do_the_same_each_time_is_not_traced(bound):
    count = itertools.count(1)

    def run(sizes):
        most = bound(count)
        if most is not None and sizes[0] > most:
            raise ValueError("large")
        return sizes[0] * 2

    found = sb.explore_paths(run, "N")
    assert found.verdict is sb.Verdict.UNKNOWN
    assert "differently from run to run" in found.reason
    assert not found.cases
    assert found.unexplored.guard()()


def test_a_size_of_another_run_or_thread_is_not_compared():
    kept = []

    def keeps(sizes):
        kept.append(sizes[0])
        return 1 if sizes[0] > 2 and kept[0] > 4 else 0

    assert sb.explore_paths(keeps, "N").verdict is sb.Verdict.UNKNOWN

    def in_a_thread(sizes):
        found = []

        def compare():
            with contextlib.suppress(Exception):
                found.append(sizes[0] > 2)

        thread = threading.Thread(target=compare)
        thread.start()
        thread.join()
        return bool(found)

    assert sb.explore_paths(in_a_thread, "N").verdict is sb.Verdict.UNKNOWN


def test_leaving_is_failing_and_an_interrupt_is_none():
    def leaves(sizes):
        if sizes[0] == 2:
            raise SystemExit(3)
        return 1

    found, _ = hold(leaves, ["N"], (0, 1, 3))
    assert found.cases[1].error == "SystemExit: 3"

    def interrupted(sizes):
        if sizes[0] == 2:
            raise KeyboardInterrupt
        return 1

    with pytest.raises(KeyboardInterrupt):
        sb.explore_paths(interrupted, "N")


def test_a_quotient_is_rounded_exactly():
    def run(sizes):
        (n,) = sizes
        assert type(n / 2) is Real or type(n) is int
        return math.floor(n / 2), math.ceil(n / 4), round(2 * n)

    found, _ = hold(run, ["N"])
    assert found.paths == 1


def test_threads_have_paths_of_their_own():
    def run(sizes):
        return 1 if sizes[0] > 2 else 0

    found = []
    threads = [threading.Thread(target=lambda: found.append(sb.explore_paths(run, "N").paths)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2] * 4


def test_assumptions_that_contradict_are_refused():
    with pytest.raises(sb.AssumptionError):
        sb.explore_paths(lambda sizes: 0, "N", assume=["N > 3", "N < 2"])


OPERATORS = {
    "radd": lambda n: 3 + n,
    "rsub": lambda n: 3 - n,
    "rmul": lambda n: 3 * n,
    "repeated": lambda n: [0] * n,
    "floordiv": lambda n: (n - 4) // 3,
    "rfloordiv": lambda n: 17 // n,
    "mod": lambda n: (n - 4) % 3,
    "rmod": lambda n: 17 % n,
    "divmod": lambda n: divmod(n, 2),
    "rdivmod": lambda n: divmod(9, n),
    "pow": lambda n: n**2,
    "modular": lambda n: pow(n, 2, 3),
    "rpow": lambda n: 3**n,
    "abs": lambda n: abs(n - 3),
    "neg": lambda n: +-n,
    "invert": lambda n: ~n,
    "and": lambda n: (n & 3, n & 5, 6 & n),
    "or": lambda n: (n | 4, 1 | n),
    "xor": lambda n: (n ^ 3, 5 ^ n),
    "shifts": lambda n: (n << 2, n >> 1),
    "rshift": lambda n: 40 >> n,
    "rlshift": lambda n: (1 << n, 3 << n),
    "bits": lambda n: n.bit_length(),
    "compared": lambda n: (n == 2, n != 2, n < 2, n <= 2, n > 2, n >= 2),
    "reversed": lambda n: [operation(2, n) for operation in (eq, ne, lt, le, gt, ge)],
    "parts": lambda n: (n.real, n.imag, n.numerator, n.denominator, n.conjugate()),
    "ratios": lambda n: (n / 2 == 1.5, n / 2 < 1.5, n / 2 >= 1, n * 0.5 != 2.0, n // 2.0 == 1.0, n % 2.0 > 0.5),
    "of ratios": lambda n: (6.0 / (n + 1) <= 2, 7.0 - n > 3, -(n / 2) < -1, abs(n - 2.5) > 1, 2.0 * n == 6),
    "no integer": lambda n: n // 2j,
    "text": lambda n: n + "",
}


@pytest.mark.parametrize("name", OPERATORS)
def test_each_operator_of_a_size_is_that_of_an_integer(name):
    found, left = hold(lambda sizes: OPERATORS[name](*sizes), "N")
    assert left <= 2 and found.cases


@pytest.mark.parametrize("ask", [sb.trace, sb.explore_paths])
def test_assumptions_about_no_size_of_the_arguments_are_refused(ask):
    with pytest.raises(sb.AssumptionError, match="did you mean N"):
        ask(lambda x: x, "N", assume="n >= 1")
    assert ask(lambda x: x, "N", assume=["N == 8*k", "k >= 2"]).complete


def test_a_loop_over_a_thousand_numbers_requires_nothing_that_is_settled():
    # Each turn required twice what the number had settled: effort grew with the square of the turns.
    def last(x):
        found = 0
        if len(x) < 1000:
            raise ValueError("short")
        for i in range(2, len(x)):
            found = x[-i] + found
        return found

    report = sb.trace(last, "N", max_paths=3)
    assert max(len(o.steps) for o in conclusions_of(report).exploration.outcomes) < 10
    assert report.guard()(N=1000)
    assert not report.guard()(N=999)
