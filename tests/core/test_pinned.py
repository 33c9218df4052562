"""What was wrong once: each of these answers was lost, changed or never came, and must not be so again."""

from __future__ import annotations

import copy
import itertools
import multiprocessing
import pickle
import subprocess
import sys

import pytest
import sympy

import symbcast as sb

V = sb.Verdict
N, M = sb.symbol("N"), sb.symbol("M")


def size_key(sizes):
    """Return what a witness has least of: zeros, then the sum, then the sizes in order of appearance."""
    sizes = tuple(sizes)
    return sum(size == 0 for size in sizes), sum(sizes), sizes


# Pickled and copied values answer as before.

NESTED = {
    "a maximum that no sympy object keeps": "max(7, min(5, c))",
    "a quotient in a minimum that is never taken": "max(c, min(c, h//M))",
    "a minimum over a maximum": "min(3, max(5, a))",
    "minimum and maximum of one size": "min(a, max(a, b//c))",
    "a remainder by a size": "max(0, a % b)",
    "a quotient of a product": "(a*b)//b",
    "a join of terms": "broadcast(2*a, b + 1, c//2)",
    "a remainder of a multiple": "(3*a) % 6",
}
COPIES = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "deepcopy": copy.deepcopy, "copy": copy.copy}
nested = pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
copied = pytest.mark.parametrize("made", COPIES.values(), ids=COPIES)


def test_the_copy_of_a_result_keeps_its_verdict():
    result = sb.broadcast("max(c, min(c, h//M))")
    assert result.verdict is V.SOMETIMES
    assert copy.deepcopy(result).verdict is V.SOMETIMES
    assert copy.deepcopy(result).counterexample() == {"M": 0, "c": 1, "h": 1}


@copied
@nested
def test_a_result_is_copied_with_its_answers(text, made):
    result = sb.broadcast(text, "3, N")
    assert made(result).to_dict() == result.to_dict()
    assert made(result).operands == result.operands


@copied
@nested
def test_a_shape_is_copied_as_it_is(text, made):
    shape = sb.shape(f"{text}, 3")
    assert made(shape) == shape
    assert hash(made(shape)) == hash(shape)
    assert str(made(shape)) == str(shape)


@copied
@nested
def test_a_condition_is_copied_as_it_is(text, made):
    condition = sb.Condition(f"{text} == N or N % 2 == 1")
    assert made(condition) == condition
    assert hash(made(condition)) == hash(condition)
    assert str(made(condition)) == str(condition)


@copied
@nested
def test_a_program_is_copied_with_its_answers(text, made):
    env = sb.ShapeEnv(assume=f"N != {text}", on_conflict="record")
    env.broadcast(text, "2, N", origin="first")
    env.require(f"{text} >= N", origin="second")
    again = made(env)
    assert again.to_dict() == env.to_dict()
    assert again.operations[1].operands == env.operations[1].operands
    assert hash(again.operations[1].operands) == hash(env.operations[1].operands)


def _told(asked):
    """Return what an answer says, wherever it is asked."""
    return asked.to_dict()


def test_results_and_programs_answer_alike_in_another_process():
    asked = [sb.broadcast(text, "3, N") for text in NESTED.values()]
    for text in NESTED.values():
        env = sb.ShapeEnv()
        env.broadcast(text, "3, N")
        asked.append(env)
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], input=pickle.dumps(asked), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert pickle.loads(done.stdout) == [_told(a) for a in asked]


ELSEWHERE = """
import pickle, sys
asked = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps([a.to_dict() for a in asked]))
"""


def test_values_from_another_process_are_equal_to_those_made_here():
    shapes = [f"{text}, 3" for text in NESTED.values()]
    conditions = [f"{text} == N" for text in NESTED.values()]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        made = pool.map(sb.shape, shapes)
        stated = pool.map(sb.Condition, conditions)
    here = [sb.shape(text) for text in shapes]
    assert made == here
    assert list(map(hash, made)) == list(map(hash, here))
    stated_here = [sb.Condition(text) for text in conditions]
    assert stated == stated_here
    assert list(map(hash, stated)) == list(map(hash, stated_here))


# A size is never negative.

NEVER_SIZES = ["broadcast(N, -3)", "broadcast(N, M, -2)", "broadcast(N//2, -3)", "broadcast(N % 3, -2)"]


@pytest.mark.parametrize("text", NEVER_SIZES)
def test_a_join_with_a_negative_number_is_no_size(text):
    """Where N is 1 the join would be the negative number, and everywhere else it is undefined."""
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast(text)
    assert env.verdict is V.NEVER
    assert env.condition == sympy.false
    assert env.witness() is None
    assert len(env.conflict) == 1


@pytest.mark.parametrize("text", NEVER_SIZES)
def test_a_negative_join_is_refused(text):
    env = sb.ShapeEnv()
    with pytest.raises(sb.IncompatibleProgramError):
        env.broadcast(text, "3")
    with pytest.raises(sb.IncompatibleProgramError):
        env.equal(text, "K")
    with pytest.raises(sb.IncompatibleProgramError):
        env.equal(text, text)
    assert env.operations == ()


@pytest.mark.parametrize("text", NEVER_SIZES)
def test_a_negative_join_stays_negative_where_sizes_are_known(text):
    env = sb.ShapeEnv(assume=["N == 1", "M == 1"], on_conflict="record")
    env.broadcast(text)
    assert env.verdict is V.NEVER
    result = sb.broadcast(text, assume=["N == 1", sb.Condition("M == 1")])
    assert result.verdict is V.NEVER


@pytest.mark.parametrize("text", ["broadcast(N, M - 3)", "broadcast(N - 2, M, 1)", "max(N - 4, broadcast(M, 0 - N))"])
def test_a_join_that_may_be_negative_asks_that_it_is_not(text):
    env = sb.ShapeEnv()
    env.broadcast(text)
    guard = env.guard()

    def broadcast(*sizes):
        others = {size for size in sizes if size != 1}
        return -1 if len(others) > 1 or min(sizes) < 0 else max(others, default=1)

    scope = {"broadcast": broadcast, "max": lambda *sizes: -1 if -1 in sizes[1:] else max(sizes)}
    for n, m in itertools.product(range(8), repeat=2):
        assert guard(N=n, M=m) is (eval(text, scope, {"N": n, "M": m}) >= 0), (n, m)


# Linear questions: the evidence is the smallest, and does not depend on what was asked before.

SUM = ("12343*a + 98765*b + 55557*c + 77773*d", "100000007")


def test_a_witness_of_a_long_sum_that_may_not_be_the_smallest_says_so():
    """Brute force over b and d finds that 16, 870, 9 and 172 have the least sum."""
    result = sb.broadcast(*SUM)
    witness = result.witness()
    assert eval(SUM[0], {}, witness) == int(SUM[1])
    assert witness == {"a": 16, "b": 870, "c": 9, "d": 172} or "z3 reached its limit" in result.evidence_reason


def test_the_witness_does_not_depend_on_what_was_asked_before():
    first, second = sb.broadcast(*SUM), sb.broadcast(*SUM)
    first.counterexample(), first.clauses, first.verdict
    found = first.witness()
    assert second.witness() == found
    assert second.counterexample() == first.counterexample()


def test_a_sum_that_is_never_a_number_is_decided():
    """No sizes add up to the number: only where the sum is 1 would the shapes broadcast, and it is never."""
    result = sb.broadcast("123456791*a + 987654321*b + 555555557*c", "10000000000037")
    assert result.verdict is not V.UNKNOWN
    assert result.reason == ""
    smallest = _smallest_sum((123456791, 987654321, 555555557), 10000000000037)
    expected = None if smallest is None else dict(zip("abc", smallest, strict=True))
    assert result.witness() == expected
    assert result.verdict is (V.NEVER if expected is None else V.SOMETIMES)
    if expected is None:
        assert result.condition == sympy.false
    assert result.counterexample() == {"a": 1, "b": 1, "c": 1}


def _smallest_sum(coefficients, total):
    """Return the smallest sizes with a sum of multiples, by congruences: the first size runs through one residue."""
    first, second, third = coefficients
    inverse = pow(first, -1, third)
    best = None
    for b in range(total // second + 1):
        rest = total - second * b
        # first*a + third*c == rest: a lies in one residue class modulo third.
        a = rest * inverse % third
        while first * a <= rest:
            found = a, b, (rest - first * a) // third
            best = found if best is None or size_key(found) < size_key(best) else best
            a += third
    return best


def different(count, below):
    """Return sizes that are all different and below a number, and the assumptions that say so."""
    names = [f"s{n}" for n in range(count)]
    pairs = [f"{a} != {b}" for a, b in itertools.combinations(names, 2)]
    return names, [*pairs, *(f"{name} < {below}" for name in names)]


@pytest.mark.parametrize(("count", "below"), [(4, 3), (7, 6)])
def test_too_many_different_sizes_contradict_each_other(count, below):
    names, assumed = different(count, below)
    with pytest.raises(sb.AssumptionError):
        sb.broadcast(", ".join(names), assume=assumed)


@pytest.mark.parametrize("count", [4, 7, 8, 9])
def test_different_sizes_have_the_first_permutation_as_witness(count):
    names, assumed = different(count, count)
    result = sb.broadcast(", ".join(names), assume=assumed)
    assert result.verdict is V.ALWAYS
    assert result.reason == ""
    assert result.witness() == dict(zip(names, range(count), strict=True))


def test_too_many_different_sizes_are_a_requirement_that_never_holds():
    names, asked = different(6, 5)
    env = sb.ShapeEnv(on_conflict="record")
    env.broadcast(", ".join(names), origin="sizes")
    env.require(" and ".join(asked), origin="all different")
    assert env.verdict is V.NEVER
    assert env.reason == ""
    assert [op.origin for op in env.conflict] == ["all different"]


def test_the_maximum_of_many_sizes_has_a_counterexample():
    """Two sizes other than 1 differ: the last two in order, for so the sum is least and the sizes come first."""
    names = [f"s{n:02}" for n in range(100)]
    result = sb.broadcast(f"max({', '.join(names)})", "N")
    assert result.verdict is V.SOMETIMES
    assert result.witness() == {**dict.fromkeys(names, 1), "N": 1}
    assert result.counterexample() == {**dict.fromkeys(names, 1), names[-1]: 2, "N": 3}


def test_a_witness_that_may_not_be_the_smallest_says_so():
    """Sizes 1 and 2147483647 have no zero; that z3 does not find them in a quotient of sizes is no proof."""
    result = sb.broadcast("a", "(2147483648 - a)//b", rule="none")
    found = tuple(result.witness().values())
    assert size_key(found) <= size_key((1, 2147483647)) or result.evidence_reason


def test_a_counterexample_far_out_has_no_zero_that_need_not_be():
    """Other than 1, the first size that leaves 1 both modulo 1009 and modulo 1013 is 1009*1013 + 1; 2 is no such M."""
    result = sb.broadcast("N", "M", assume=["N % 1009 == 1", "N % 1013 == 1"])
    assert result.counterexample() == {"N": 1009 * 1013 + 1, "M": 2}
    assert result.witness() == {"N": 1, "M": 1}


# Errors are symbcast's own.


def floors(count):
    dim = N
    for _ in range(count):
        dim = sympy.floor(dim / 2, evaluate=False)
    return dim


FOREIGN = {
    "an undefined function": (sympy.Function("f")(N),),
    "an undefined function of two": (sympy.Function("f")(N, M) + 1,),
    "200 floors": (floors(200),),
    "2,000 floors": (floors(2000),),
}


@pytest.mark.parametrize("dims", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("ask", [lambda s: sb.broadcast(s, ("N",)).verdict, lambda s: sb.ShapeEnv().broadcast(s, "N")])
def test_what_is_no_dimension_is_refused_in_our_words(dims, ask):
    with pytest.raises(sb.SymbcastError) as refused:
        ask(dims)
    assert len(str(refused.value)) < 2000


def test_an_undefined_function_is_named():
    with pytest.raises(sb.DimensionError, match=r"f\(N\)"):
        sb.shape((sympy.Function("f")(N),))


# Conditions.

NEGATED = [
    "not compatible(broadcast(a, b), 3, c)",
    "compatible(broadcast(a, b), 3, c)",
    "not compatible(broadcast(a, 2), b, c)",
    "not compatible(broadcast(a, b), c)",
    "compatible(broadcast(a, b)//2, c, 2)",
    "not (broadcast(a, b) >= c)",
    "broadcast(a, b, c) % 2 == 0 or compatible(broadcast(a, c), b, 2)",
]


@pytest.mark.parametrize("text", NEGATED)
def test_the_boolean_of_a_join_takes_every_size(text):
    for condition in (sb.Condition(text), ~sb.Condition(text)):
        for sizes in itertools.product(range(4), repeat=3):
            bound = dict(zip("abc", sizes, strict=True))
            expected = condition.guard()({s.name: bound[s.name] for s in condition.symbols})
            shown = {s: bound[s.name] for s in condition.sympy.free_symbols}
            assert bool(condition.sympy.subs(shown)) is expected, (condition, bound)


def test_an_implication_knows_labelled_unknowns():
    result = sb.broadcast("?u, 3", "M, 1", assume="?u >= 2")
    condition = sb.Condition(result)
    assert condition.implies("M == 1 or M >= 2", assume=result.assumptions)
    assert not condition.implies("M >= 2", assume=result.assumptions)
    assert not sb.Condition("M >= 2").implies(condition, assume=result.assumptions)
    assert sb.Condition("M == 1").equivalent("M == 1", assume=result.assumptions)
    assert condition.equivalent(condition, assume=result.assumptions)


def test_an_assumption_on_an_unknown_changes_what_is_implied():
    result = sb.broadcast("?u", "M", assume="?u == 4")
    assert sb.Condition(result).equivalent("M == 1 or M == 4", assume=result.assumptions)


@pytest.mark.parametrize(
    ("shapes", "sizes", "expected"),
    [
        (["N, M", "1, M"], {"N": 5, "M": 3}, True),
        (["N, M", "K, M"], {"N": 2, "M": 3, "K": 4}, False),
        (["N, M", "K, M"], {"N": 2, "M": 3, "K": 2}, True),
        (["N + 1", "N + 1"], {"N": 0}, True),
    ],
)
def test_a_condition_takes_every_size_of_its_question(shapes, sizes, expected):
    condition = sb.Condition(sb.broadcast(*shapes))
    assert condition.guard()(sizes) is expected
    assert condition.guard()(**sizes) is expected
    with pytest.raises(sb.BindingError):
        condition.guard()({**sizes, "elsewhere": 1})


def test_a_simplified_condition_takes_the_sizes_of_the_one_it_came_from():
    condition = sb.Condition("N >= 2 or N < 2 or K == 1").simplified()
    assert condition.clauses == ()
    assert condition.guard()(N=1, K=3)
    assert sb.Condition("M == 1 and (N == M or N != M)").simplified().guard()(N=7, M=1)


@pytest.mark.parametrize(
    "text", ["K < y < 2", "K < y and y < 2", "a + 1 <= b and b <= 1", "2*a < b and b < 3", "a < b and b < c and c < 3"]
)
def test_simplifying_again_changes_nothing(text):
    condition = sb.Condition(text)
    once = condition.simplified()
    assert once.simplified() == once
    assert once.equivalent(condition)


def test_the_bounds_of_a_chain_are_simplified_to_values():
    assert str(sb.Condition("K < y < 2").simplified()) in ("y == 1 and K == 0", "K == 0 and y == 1")


# Programs read back as they were written.

PROGRAMS = {
    "literals in another order": lambda env: env.require("1 == (c+3) or b != broadcast(3, a)"),
    "a size of -1, which text takes for an unknown": lambda env: env.broadcast("broadcast(a, -1)"),
    "a negative size": lambda env: env.broadcast("broadcast(a, -3)", "b"),
}


@pytest.mark.parametrize("min_size", [0, 1])
@pytest.mark.parametrize("add", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_reads_back_as_it_was_written(add, min_size):
    env = sb.ShapeEnv(min_size=min_size, on_conflict="record")
    add(env)
    written = env.to_dict()
    assert sb.ShapeEnv.from_dict(written).to_dict() == written


# Rules from elsewhere. In a process of their own: a rule that is offered stays.

OUTSIDE = """
import pickle
import symbcast as sb
from symbcast.core.rules import Emission, Rule

@sb.rule
class First(Rule):
    name = "first-of-two"
    family = "elsewhere"
    aliases = ("elsewhere-first",)
    summary = "the first operand, whatever the second one is"
    document = "a test"

    def emit(self, shapes):
        return Emission([], tuple(shapes[0]))
"""


def outside(program):
    """Return what a program prints in a process in which there is one more rule."""
    done = subprocess.run([sys.executable, "-c", OUTSIDE + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_rule_from_elsewhere_is_listed_after_our_own():
    found = outside("for rule in sb.rules(): print(rule.name)")
    assert found == [*(rule.name for rule in sb.rules()), "first-of-two"]


def test_an_unknown_rule_beside_one_from_elsewhere_is_told():
    told = outside(
        """
try:
    sb.broadcast("N", "M", rule="first-of-too")
except sb.UnknownRuleError as error:
    print(" ".join(str(error).split()))
"""
    )
    assert len(told) == 1
    assert "first-of-two" in told[0]


def test_a_rule_from_elsewhere_answers_and_is_pickled():
    told = outside(
        """
result = sb.broadcast("N, 3", "M", rule="elsewhere-first")
print(result.shape, result.verdict.value, pickle.loads(pickle.dumps(result)).shape)
"""
    )
    assert told == ["(N, 3) always (N, 3)"]


# What was looked up in place of being read.


class Sized:
    def __init__(self, *shape):
        self.shape = shape


class SizesOfAnotherKind(tuple):
    __slots__ = ()


def test_a_program_asks_a_foreign_object_for_its_shape_each_time():
    env, tensor = sb.ShapeEnv(), Sized(2)
    assert env.broadcast(tensor, "1") == (2,)
    tensor.shape = (5,)
    assert env.broadcast(tensor, "1") == (5,)


@pytest.mark.parametrize("wrong", [True, 1.0])
def test_a_size_that_equals_an_integer_and_is_none_is_refused_in_every_kind_of_tuple(wrong):
    for kind in (tuple, list, SizesOfAnotherKind):
        env = sb.ShapeEnv()
        env.broadcast(kind((1, 3)), "N, 3")
        with pytest.raises(sb.SymbcastError):
            env.broadcast(kind((wrong, 3)), "N, 3")


@pytest.mark.parametrize("wrong", [False, 0.0, None, ""])
def test_what_is_false_is_no_least_size(wrong):
    with pytest.raises(sb.ShapeTypeError):
        sb.broadcast("N", "M", min_size=wrong)
    with pytest.raises(sb.ShapeTypeError):
        sb.ShapeEnv(min_size=wrong)


def test_assumptions_in_an_array_are_read_as_those_in_a_list():
    numpy = pytest.importorskip("numpy")
    assert sb.broadcast("N", "M", assume=numpy.array(["N >= 2", "M == 1"])).verdict is V.ALWAYS
    assert len(sb.ShapeEnv(assume=numpy.array(["N >= 2"])).assumptions) == 1
    assert sb.ShapeEnv(assume=numpy.array([])).assumptions == ()


def test_a_comparison_whose_symbols_cancel_is_no_stumbling_block():
    env = sb.ShapeEnv()
    env.require("min(a, b) == min(a, b) or a + b == c", "a + 2*b <= c")
    assert env.witness() == {"a": 1, "b": 1, "c": 3}
    assert env.counterexample() == {"a": 1, "b": 1, "c": 1}


def test_a_sum_of_two_sizes_that_equals_one_of_them():
    env = sb.ShapeEnv()
    env.equal("a", "a+b")
    assert env.witness() == {"a": 1, "b": 0}
    assert env.counterexample() == {"a": 1, "b": 1}


def test_a_program_shows_its_joins_in_one_order_whatever_was_asked_before():
    env = sb.ShapeEnv()
    env.broadcast(("M", "N"), (0, "M"))
    clauses, data = env.clauses, env.to_dict()
    assert sb.ShapeEnv.from_dict(data).to_dict() == data == pickle.loads(pickle.dumps(env)).to_dict()
    assert env.findings
    assert env.clauses == clauses
