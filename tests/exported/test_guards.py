"""Torch's guards, read and put together, held against Python's own evaluation of their text; without torch."""

from __future__ import annotations

import itertools
import json
import math
import random
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import symbcast as sb
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.text import parse_formula
from symbcast.torch import Guard, Guards, read_error
from symbcast.torch.guards.guard_texts import GuardReader

RECORDED = json.loads((Path(__file__).parent.parent / "data" / "torch" / "guards.json").read_text("utf-8"))


class Argument:
    """Stands for an argument in the text of a guard: it has sizes, and what it holds is an argument too."""

    def __init__(self, source, sizes):
        self._source, self._sizes = source, sizes

    def __getitem__(self, key):
        return Argument(f"{self._source}[{key!r}]", self._sizes)

    def size(self):
        return [self._sizes.get(f"{self._source}.size()[{n}]", 0) for n in range(8)]


def digest(model):
    """Return the digest of what was recorded of a model."""
    reader = GuardReader({source: symbol(name) for source, name in model["sizes"].items()})
    guards = [Guard(text, reader.formula(text)) for text in model["guards"]]
    return Guards(guards, model["sizes"].values(), 1)


def points(names, clauses):
    """Return sizes around the numbers that clauses speak of, alike and not."""
    draw = random.Random(0)
    numbers = sorted({1, 2, 3, 8, *(int(w) for c in clauses for w in c.replace("(", " ").split() if w.isdecimal())})
    for _ in range(300):
        drawn = [draw.choice(numbers) * draw.choice([1, 1, 2, 3]) + draw.choice([-1, 0, 0, 1]) for _ in names]
        base = dict(zip(names, (max(1, size) for size in drawn), strict=True))
        same = draw.choice([*base.values()])
        yield {name: same if draw.random() < 0.5 else size for name, size in base.items()}


@pytest.mark.parametrize("name", RECORDED)
def test_a_digest_accepts_what_the_guards_accept(name):
    model = RECORDED[name]
    found = digest(model)
    assert not found.unread
    by_name = {name: s for s, name in found.env.shown.items()}
    codes = [compile(text, "guard", "eval") for text in model["guards"]]
    for sizes in points(by_name, model["clauses"]):
        at = {source: sizes[size] for source, size in model["sizes"].items()}
        space = {"L": Argument("L", at), "math": math}
        try:
            accepted = all(eval(code, space) for code in codes)
        except ZeroDivisionError:
            accepted = False
        assert holds_at(found.formula, {by_name[n]: size for n, size in sizes.items()}) is accepted, sizes


@pytest.mark.parametrize("name", RECORDED)
def test_a_digest_is_what_was_recorded(name):
    """Ranges of sizes are not among the guards here, and may add to what was recorded."""
    texts = [c.text for c in digest(RECORDED[name]).clauses]
    assert texts == RECORDED[name]["clauses"] or RECORDED[name]["ranges"]


@pytest.mark.parametrize("name", RECORDED)
def test_a_digest_is_short_and_nothing_in_it_follows_from_the_rest(name):
    found = digest(RECORDED[name])
    clauses = found.env.clauses
    assert len(clauses) <= len(found.all)
    for n, clause in enumerate(clauses):
        others = sb.Condition(" and ".join(f"({c.text})" for c in found.clauses[:n] + found.clauses[n + 1 :]) or "True")
        assert not others.implies(sb.Condition(clause), min_size=1)


def test_most_digests_have_few_clauses():
    counts = sorted(len(digest(model).env.clauses) for model in RECORDED.values())
    assert counts[len(counts) // 2] <= 5 < max(len(model["guards"]) for model in RECORDED.values())


def test_each_clause_says_which_guards_it_is_from():
    found = digest(RECORDED["unet"])
    assert all(c.guards for c in found.clauses)
    assert all(str(c) == c.text for c in found.clauses)


REFUSED = [name for name, model in RECORDED.items() if model["error"]]


@pytest.mark.parametrize("name", REFUSED)
def test_an_error_of_torch_is_read(name):
    refusal = read_error(RECORDED[name]["error"])
    assert refusal.guards.all and not refusal.guards.unread
    for clause in refusal.guards.clauses:
        assert f"torch requires {clause.text}" in refusal.explain()


def test_an_error_names_the_users_dims():
    refusal = read_error(RECORDED["bert"]["error"])
    assert sorted(c.text for c in refusal.guards.clauses) == ["seq <= 512", "seq >= 2"]
    assert refusal.suggested.strip() == "seq = Dim('seq', max=512)"


def test_an_error_that_says_what_was_fixed():
    text = "- You marked batch as dynamic but your code specialized it to be a constant (2). If you're using"
    (fixed,) = read_error(RuntimeError(text)).guards.specialised
    assert (fixed.axis, fixed.size, fixed.was_open) == ("batch", 2, True)


def test_what_is_no_error_is_refused():
    with pytest.raises(sb.ShapeTypeError):
        read_error(3)
    assert read_error("nothing of the kind").explain() == "no constraint on sizes was found in torch's error"


READER = GuardReader({"L['x'].size()[0]": symbol("N"), "L['y'][0]['k'].size()[1]": symbol("M"), "L['n']": symbol("n")})


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("L['x'].size()[0] % 4 == 0", lambda n, m, k: n % 4 == 0),
        ("2 <= L['x'].size()[0] and L['x'].size()[0] <= 9", lambda n, m, k: 2 <= n <= 9),
        ("2 <= L['x'].size()[0] <= 9", lambda n, m, k: 2 <= n <= 9),
        ("not (L['x'].size()[0] == L['y'][0]['k'].size()[1])", lambda n, m, k: n != m),
        ("Eq(L['n'], L['x'].size()[0]**2) or L['n'] > 7", lambda n, m, k: k == n * n or k > 7),
        ("Max(1, L['n'] - 2) != min(L['x'].size()[0], 5)", lambda n, m, k: max(1, k - 2) != min(n, 5)),
        ("math.ceil(L['x'].size()[0] / 2) == 3", lambda n, m, k: math.ceil(n / 2) == 3),
        ("math.floor(IntTrueDiv(L['x'].size()[0], 3)) >= 2", lambda n, m, k: n // 3 >= 2),
        ("PythonMod(-L['n'], 3) == FloorDiv(L['x'].size()[0], 2)", lambda n, m, k: -k % 3 == n // 2),
    ],
)
def test_texts_mean_what_python_makes_of_them(text, holds):
    formula = READER.formula(text)
    for n, m, k in itertools.product(range(1, 9), range(1, 4), range(1, 9)):
        assert holds_at(formula, {symbol("N"): n, symbol("M"): m, symbol("n"): k}) is holds(n, m, k), (n, m, k)


@pytest.mark.parametrize(
    "text", ["L['z'].size()[0] == 1", "f(L['n']) == 1", "L['n']", "L['n'] in (1, 2)", "L['n' ==", "1.5 == L['n']"]
)
def test_other_texts_are_refused(text):
    with pytest.raises(sb.DimensionError):
        READER.formula(text)


def test_without_torch_the_extra_is_named():
    if find_spec("torch") is not None:
        pytest.skip("torch is installed")
    with pytest.raises(sb.MissingExtraError, match=r"symbcast\.torch needs the extra torch"):
        sb.torch.check("model.pt2")


def terms(names, *, divides=True):
    """Return texts of arithmetic as torch writes it; divisors may be 0, where it ``divides`` by sizes."""
    size = st.sampled_from(names)
    linear = st.builds("({}*{} + {})".format, st.integers(1, 4), size, st.integers(-3, 6))
    quotient = st.builds("({} // {})".format, linear, st.integers(2, 8))
    inner = st.one_of(size, linear, quotient, st.builds("max(1, {})".format, quotient))
    if not divides:
        return inner
    return st.one_of(
        inner,
        st.builds("({} // {})".format, inner, st.one_of(quotient, size)),
        st.builds("({} % {})".format, inner, st.one_of(quotient, st.integers(2, 8))),
        st.builds("({}*{})".format, inner, inner),
    )


def comparisons(names):
    operators = st.sampled_from(["==", "!=", "<=", "<", ">="])
    # What cancels is gone with what it divides by: so only one side divides by sizes.
    right = st.one_of(st.integers(0, 9).map(str), terms(names, divides=False))
    return st.builds("{} {} {}".format, terms(names), operators, right)


@given(st.lists(comparisons(["N"]), min_size=1, max_size=4), st.lists(comparisons(["N", "M"]), max_size=2))
@example(["(N // 2) % (N // 8) == 0", "((1*N + 0) // 2) // (N // 8) == 4"], ["N*M != M + N"])
@example(["N >= 3"], ["2 <= N*M - 2*M", "max(1, (N // 3))*max(1, M) != N*M"])
def test_guards_are_put_together_exactly(about_one, about_two):
    texts = [*about_one, *about_two]
    reader = GuardReader({"N": symbol("N"), "M": symbol("M")})
    found = Guards([Guard(text, reader.formula(text)) for text in texts], ["N", "M"], 1)
    code = compile(" and ".join(f"({text})" for text in texts), "guards", "eval")
    for n, m in itertools.product([*range(1, 26), 40, 64, 65, 127, 128, 200], [1, 2, 3, 7, 8, 24, 33]):
        try:
            accepted = bool(eval(code, {"N": n, "M": m}))
        except ZeroDivisionError:
            accepted = False
        assert holds_at(found.formula, {symbol("N"): n, symbol("M"): m}) is accepted, (n, m)


def test_quotients_that_one_size_decides_are_in_no_clause():
    """As torch records windows: the size that is rounded up is twice its own half, and so on for each stage."""
    small = {n: f"((N + {n - 1})//{n})" for n in (2, 4, 8)}
    windows = [f"({small[2]}//{small[4]})", f"({small[4]}//{small[8]})"]
    alone = [f"{small[8]} != 1", *(f"2*{small[2 * n]} == {small[n]}" for n in (2, 4))]
    alone += [text for w in windows for text in (f"{w} != 0", f"{w} == 2", f"{w} % 4 != 0", f"max(1, {w}) == {w}")]
    tied = [text for w in windows for text in (f"M*{w} >= 4", f"M*{w} % (2*M) == 0", f"{w}*max({w}, 1) <= 4*M")]
    read = [Guard(text, parse_formula(text)) for text in (*alone, *tied)]
    found = Guards(read, ["N", "M"], 1)
    assert [c.text for c in found.clauses] == ["N >= 15", "N % 8 == 0 or N % 8 == 7", "M >= 2"]
    code = compile(" and ".join(f"({text})" for text in (*alone, *tied)), "guards", "eval")
    for n, m in itertools.product(range(1, 201), range(1, 5)):
        assert holds_at(found.formula, {symbol("N"): n, symbol("M"): m}) is eval(code, {"N": n, "M": m}), (n, m)


@pytest.mark.parametrize(
    ("guard", "clause"),
    [("25 < a*b", "a*b >= 26"), ("3*a*b <= 11", "a*b <= 3"), ("6*a*b + 1 > 20", "a*b >= 4"), ("a*b < 7", "a*b <= 6")],
)
def test_a_bound_on_a_product_comes_from_the_guard_that_says_the_same(guard, clause):
    """Guards whose failures only happen to meet those of the clause are not among its reasons."""
    read = [Guard(text, parse_formula(text)) for text in ("a != 1", guard, "b*a <= a*b*7")]
    (found,) = (c for c in Guards(read, ["a", "b"], 1).clauses if "*" in c.text)
    assert found.text == clause
    assert [g.text for g in found.guards] == [guard]
