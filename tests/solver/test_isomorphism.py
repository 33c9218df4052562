"""Groups that differ in names alone: the answers about one, renamed, are those about the other."""

from __future__ import annotations

import sympy
from hypothesis import given
from hypothesis import strategies as st
from solver.expressions import SYMBOLS, expressions, statements
from solver.test_linear_groups import domains
from steps import calls, z3_checks

from symbcast.core.algebra.arithmetic import floor_divide
from symbcast.core.algebra.formulas import Compatible, at_most, equal
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.sympy_conversion import read_symbol
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import normal_conjuncts, replace_in_formula
from symbcast.core.solver.linear_groups import IsomorphicGroups, LinearGroup, RenamedGroup
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.text.notation import formula_text

linear = statements(
    expressions(3, operators="+-", divisors=(2, 3), functions=("min", "max"), max_leaves=3), max_leaves=3
)
asked = st.lists(linear.map(lambda s: s.formula), min_size=1, max_size=3)
NAMES = ["x", "A", "n9", "n10", "zeta", "b_1", "_", "I", "é"]
names = st.lists(st.sampled_from(NAMES), min_size=3, max_size=3, unique=True)


def told(group, dims):
    return (
        [formula_text(clause) for clause in group.clauses],
        group.clauses,
        group.unproven,
        group.reason,
        (group.satisfiable, group.violable),
        (group.witness(), group.counterexample(), group.base()),
        [group.constant(d) for d in dims],
        [group.covers(d, e) for d in dims for e in dims],
    )


@given(asked, asked, names, domains, domains)
def test_a_group_like_another_is_decided_as_it_would_be_alone(formulas, assumed, others, first, second):
    """Whatever the names: where their order differs, the groups are not taken to be alike."""
    renamed = dict(zip(SYMBOLS, map(symbol, others), strict=True))
    every = (*SYMBOLS, *renamed.values())
    sizes = {s: (first, second, second)[n % 3] for n, s in enumerate(every)}
    groups = IsomorphicGroups(sizes, dict.fromkeys(every, 1))
    formulas, assumed = normal_conjuncts(formulas), normal_conjuncts(assumed[:1])
    groups.decide(SYMBOLS, assumed, formulas)
    formulas, assumed = ([replace_in_formula(f, renamed) for f in part] for part in (formulas, assumed))
    symbols = tuple(renamed.values())
    made = groups.decide(symbols, assumed, formulas)
    alone = LinearGroup(symbols, sizes, assumed, formulas, dict.fromkeys(every, 1))
    dims = [*symbols, symbols[0] + 1, 1]
    assert (made.satisfiable, made.violable) == (alone.satisfiable, alone.violable)
    if sorted(others) == others:  # else sides and ties follow the order of appearance, and alone that of the names
        assert told(made, dims) == told(alone, dims)
    if sorted(others) == others:
        assert isinstance(made, RenamedGroup)


def test_what_tells_groups_apart():
    a, b, c, d = map(symbol, "abcd")
    plain = dict.fromkeys((a, b, c, d), ALL)
    even = read_symbol(sympy.Symbol("e", integer=True, nonnegative=True, even=True))

    def alike(pair, formulas, sizes=plain, weights=None):
        groups = IsomorphicGroups({**sizes, even: ALL}, {**dict.fromkeys([a, b, c, d, even], 1), **(weights or {})})
        groups.decide((a, b), [], [equal(a + 1, 2 * b)])
        return isinstance(groups.decide(pair, [], formulas), RenamedGroup)

    assert alike((c, d), [equal(c + 1, 2 * d)])
    assert alike((d, c), [equal(d + 1, 2 * c)]), "under any names"
    assert not alike((c, d), [equal(d + 1, 2 * c)]), "the order of the symbols"
    assert not alike((c, d), [equal(c + 1, 3 * d)])
    assert not alike((c, d), [at_most(c + 1, 2 * d)])
    assert not alike((c, d), [Compatible((c + 1, 2 * d))])
    assert not alike((c, d), [equal(c + 1, 2 * d)], sizes={**plain, d: SizeSet.interval(1, None)})
    assert not alike((c, d), [equal(c + 1, 2 * d)], weights={c: 2})
    assert not alike((c, even), [equal(c + 1, 2 * even)]), "sympy knows more of it"


def test_products_are_decided_each_alone():
    a, b, c, d = map(symbol, "abcd")
    groups = IsomorphicGroups(AssumptionSet([a, b, c, d], {}, ()).domains, dict.fromkeys([a, b, c, d], 1))
    groups.decide((a, b), [], [equal(a * b, b + 1)])
    assert not isinstance(groups.decide((c, d), [], [equal(c * d, d + 1)]), RenamedGroup)


def test_a_thousand_layers():
    symbols = [symbol(f"{letter}{n:04}") for n in range(1000) for letter in "abc"]
    formulas = []
    for a, b, c in zip(symbols[::3], symbols[1::3], symbols[2::3], strict=True):
        formulas += [equal(c, a + b), Compatible((floor_divide(a, 2) + 1, b))]
    with calls() as steps, z3_checks() as checks:
        decision = Decision(AssumptionSet(symbols, {}, ()), formulas)
        assert len(decision.clauses) == 2000
        assert set(decision.witness().values()) == {1, 2}
        assert sum(decision.counterexample().values()) == 3000
    assert steps.count < 4_000_000
    assert checks.count < 100
