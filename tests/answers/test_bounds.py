"""The least and greatest value of an expression: exact, proved not to exist, or bounded with the reason."""

from __future__ import annotations

import itertools
import json
import pickle
import random

import jsonschema
import pytest

import symbcast as sb

EXACT = [
    ("(320*n + 255) % 256", [], 63, 255),
    ("N", ["N <= 10", "N % 3 == 1"], 1, 10),
    ("N - M", ["M == N + 3"], -3, -3),
    ("N*M", ["N*M <= 1000", "N >= 3"], 0, 1000),
    ("a*b", ["2*a + 3*b <= 1000", "a % 7 == 3"], 0, 41664),
    ("a + b", ["2*a + 3*b <= 1000", "a % 7 == 3"], 3, 500),
    ("N", ["N*N <= M", "M <= 1000000"], 0, 1000),
    ("broadcast(N, M)", ["N <= 5", "M <= 7"], 0, 7),
    ("max(N, M) - min(N, M)", ["N <= 100", "M <= N + 7"], 0, 100),
    ("(H + 31)//32*32 - H", ["H <= 4096"], 0, 31),
    ("a", ["a*b == c*c", "c <= 100", "b >= 2"], 0, 5000),
    ("N", ["N <= 1099511627776", "N % 12345678901 == 5"], 5, 89 * 12345678901 + 5),
    ("max(broadcast(8, a - 7), 2*a)", ["a <= 15"], 16, 30),
    (7, [], 7, 7),
]
ENDLESS = [
    ("N", [], 0, None, ("N",)),
    ("n*(100 - n)", [], None, 2500, ("n",)),
    ("N//M", [], 0, None, ("N",)),
    ("a - b", ["2*a <= 3*b + 5", "b >= 1"], None, None, ("b",)),
    ("2*a - 3*b", ["2*a <= 3*b + 5", "a >= 1000"], None, 5, ("b",)),
    ("N", ["N*N <= M"], 0, None, ("N", "M")),
    ("N - M", ["N % 3 == M % 5", "M <= N"], 0, None, ("N",)),
]


@pytest.mark.parametrize(("size", "assume", "least", "greatest"), EXACT)
def test_exact_values_are_reached_where_the_answer_says(size, assume, least, greatest):
    found = sb.bounds(size, assume=assume)
    assert (found.least, found.greatest, found.at_least, found.at_most) == (least, greatest, least, greatest)
    assert found.is_exact and not found.reason
    for value, at in ((least, found.least_at), (greatest, found.greatest_at)):
        fixed = [*assume, *(f"{name} == {n}" for name, n in at.items())]
        assert sb.bounds(size, assume=fixed).least == value


@pytest.mark.parametrize(("size", "assume", "least", "greatest", "grows"), ENDLESS)
def test_a_value_that_does_not_exist_is_proved_not_to(size, assume, least, greatest, grows):
    found = sb.bounds(size, assume=assume)
    assert (found.least, found.greatest, found.is_exact, found.reason) == (least, greatest, True, "")
    assert grows in (found.lower.grows_with, found.upper.grows_with)


def test_what_is_not_decided_has_a_proved_limit_and_a_reason():
    found = sb.bounds("v*w*x*y*z", assume="v + w + x + y + z <= 300")
    assert found.least == 0 and found.greatest is None and not found.is_exact
    assert found.upper.reached <= 60**5 <= found.at_most
    assert "products of sizes" in found.reason and "at most" in found.explain()


def test_the_greatest_product_of_three_sizes_with_a_sum_is_limited():
    found = sb.bounds("x*y*z", assume="x + y + z <= 300")
    assert found.least == 0 and found.upper.reached <= 100**3 <= found.at_most


def test_least_of_a_size_with_a_divisor_that_may_be_zero():
    found = sb.bounds("N//M", assume="M == 0")
    assert found.is_empty and found.least is found.greatest is None and found.is_exact
    assert "no sizes are allowed" in str(found)
    assert sb.bounds("max(broadcast(8, a - 7), a)", assume=["a % 3 == 1", "3*a <= 7"]).is_empty
    assert sb.bounds("(N*M)//M", assume=["M <= 1", "N <= 3"]).least_at == {"N": 0, "M": 1}


def _term(draw, depth, names):
    if not depth or draw.random() < 0.2:
        return draw.choice(names) if draw.random() < 0.7 else str(draw.randint(0, 9))
    left, right = _term(draw, depth - 1, names), _term(draw, depth - 1, names)
    kind = draw.choice(["+", "-", "*", "+", "-", "*", "//", "%", "min", "max", "broadcast", "by"])
    if kind == "by":
        return f"({left}) {draw.choice(['//', '%'])} {draw.randint(1, 7)}"
    return f"{kind}({left}, {right})" if kind.isalpha() else f"({left}) {kind} ({right})"


def _assumption(draw, names):
    n, m, k = draw.choice(names), draw.choice(names), draw.randint(0, 5)
    return draw.choice([
        f"{n} % {k + 2} == {k % 2}", f"{n} <= {m} + {k}", f"{n}*{m} <= {5 * k + 4}", f"{n} != {k}",
        f"{n} == {m} or {n} == {k}", f"2*{n} + {k}*{m} <= 20",
    ])  # fmt: skip


def _joined(*sizes):
    others = {size for size in sizes if size != 1}
    if len(others) > 1 or min(sizes) < 0:
        raise ZeroDivisionError
    return others.pop() if others else 1


def _values(size, assume, names, top):
    """Yield the values of a size at all small sizes: the oracle."""
    for sizes in itertools.product(range(top + 1), repeat=len(names)):
        known = dict(zip(names, sizes, strict=True))
        if all(eval(text, {}, known) for text in assume):
            try:
                yield eval(size, {"broadcast": _joined}, known)
            except ZeroDivisionError:
                continue


@pytest.mark.parametrize("part", range(4))
def test_drawn_expressions_against_all_small_sizes(part):
    for seed in range(20 * part, 20 * part + 20):
        draw = random.Random(seed)
        names = "abc"[: draw.randint(1, 3)]
        size, top = _term(draw, draw.randint(1, 3), names), (0, 20, 10, 6)[len(names)]
        assume = [_assumption(draw, names) for _ in range(draw.randint(0, 3))]
        assume += [f"{n} <= {draw.randint(1, top)}" for n in names]
        try:
            found = sb.bounds(size, assume=assume)
        except (sb.DimensionError, sb.ShapeSyntaxError):  # such as broadcast(4, 9), or N//0
            continue
        except sb.AssumptionError:
            assert not any(True for _ in _values("0", assume, names, top))
            continue
        values = set(_values(size, assume, names, top))
        assert found.is_empty is not bool(values)
        assert (found.least, found.greatest) == ((min(values), max(values)) if values else (None, None)), (size, assume)


def test_answers_bound_the_sizes_at_which_they_are_valid():
    env = sb.ShapeEnv(assume=["T <= 500"], min_size=1)
    x = env.reshape("batch, T", "batch, T//64, 64", origin="windows")
    found = env.bounds(x[1])
    assert (str(found.size), found.least, found.greatest, found.greatest_at["T"]) == ("T//64", 1, 7, 448)
    result = sb.broadcast("N, 3", "M, 1", assume=["N <= 9", "M <= 4"])
    values = [m * n for n in range(10) for m in range(5) if 1 in (n, m) or n == m]
    assert (result.bounds("N*M").least, result.bounds("N*M").greatest) == (min(values), max(values))
    assert sb.broadcast("*batch, N", "N, 3").bounds("N").greatest == 3
    never = sb.ShapeEnv(on_conflict="record")
    never.equal(never.equal("N", "3"), "4")
    assert never.bounds("N").is_empty


def _halves(x):
    return x.reshape(x.shape[0] // 2, 2)


def _by_data(x):
    return x[: int(x.sum()) % 7] + x


def test_bounds_of_a_traced_function():
    found = sb.trace(_halves, "N", assume="N <= 9").bounds("N")
    assert (found.least, found.greatest, found.greatest_at) == (0, 8, {"N": 8})
    trace = sb.trace(_by_data, "N", assume="N <= 9")
    found = trace.bounds("N")
    assert found.at_most == 9 and found.is_exact is not trace.account.is_open


def test_forms():
    found = sb.bounds("N*M", assume=["N <= 4", "M <= 6"], min_size=1)
    assert found.explain().splitlines() == [
        "N*M: from 1 to 24", "", "least        1 at N=1, M=1", "greatest     24 at N=4, M=6",
        "assuming     N <= 4, M <= 6 and all sizes >= 1",
    ]  # fmt: skip
    assert repr(found) == "<SizeBounds N*M: from 1 to 24>" and "from 1 to 24" in found._repr_html_()
    assert pickle.loads(pickle.dumps(found)) == found and len({found, found}) == 1
    for each in (found, sb.bounds("N"), sb.bounds("N - M", assume="M >= 0*N"), sb.bounds("N//M", assume="M == 0")):
        jsonschema.validate(json.loads(json.dumps(each.to_dict())), sb.SizeBounds.json_schema())
    assert "none: it becomes greater than every number, with N" in str(sb.bounds("N"))
    with pytest.raises(TypeError, match=r"compare their \.least"):
        bool(found)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("N +",), sb.ShapeSyntaxError, "ends too early"),
        (("N == 3",), sb.ShapeSyntaxError, "a relation is not a size"),
        (("N, M",), sb.ShapeTypeError, "is not one size but a shape; write N"),
        ((2.5,), sb.DimensionError, "not a float"),
        ((True,), sb.ShapeTypeError, "not a dimension"),
        ((None,), sb.ShapeTypeError, "not an expression of sizes"),
        (("batch[-1]",), sb.UnknownRankError, "single sizes"),
        (("N", "N >"), sb.ShapeSyntaxError, "ends too early"),
        (("N", ["N > 3", "N < 2"]), sb.AssumptionError, "contradict"),
        (("N", (), -1), sb.DimensionError, "not negative"),
        (("N", (), 0, "soon"), sb.ShapeTypeError, "budget"),
    ],
)
def test_wrong_input(arguments, error, message):
    with pytest.raises(error, match=message):
        sb.bounds(*arguments)


def test_an_answer_has_no_bounds_of_sizes_that_it_lacks():
    with pytest.raises(sb.BindingError, match="no size here is named 'K'"):
        sb.broadcast("N", "M").bounds("K + N")


def test_a_label_is_the_size_of_the_answer():
    result = sb.broadcast("?a", "N", assume="N <= 4 and N >= 2 and ?a >= 2")
    assert (result.bounds("?a").least, result.bounds("2*?a").greatest) == (2, 8)


def test_a_product_of_many_sizes_grows():
    """The search for a point where it is large did not end."""
    assert sb.bounds("*".join(f"x{n}" for n in range(40))).upper.grows_with == ("x0",)


@pytest.mark.parametrize(("size", "value"), [("-5", -5), ("-1", -1), ("3 - 8", -5), (-5, -5), (-1, -1), (7, 7)])
def test_a_number_may_be_negative(size, value):
    found = sb.bounds(size)
    assert (found.least, found.greatest) == (value, value)
