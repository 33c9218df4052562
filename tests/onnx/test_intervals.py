"""Indices that data decide: what of them is asked of sizes, what is only noted, and what needs no word."""

import itertools

import pytest
from onnx import parser

import symbcast as sb

_MODEL = """<ir_version: 8, opset_import: ["": 18]>
    g (float[N] x, float[1] u, float[M] w) => (float[A] y)
    <int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64 three = {3}, int64 four = {4}, int64[1] flat = {-1}> {
        n = Size(x)
        m = Size(w)
        NODES
        y = Gather(w, k)
    }"""


def checked(nodes):
    return sb.onnx.check(parser.parse_model(_MODEL.replace("NODES", nodes)))


def assert_asked(report, wanted):
    condition = report.condition
    for n, m in itertools.product(range(1, 7), repeat=2):
        sizes = {"N": n, "M": m}
        assert condition.guard()({s.name: sizes[s.name] for s in condition.symbols}) == wanted(n, m), sizes


def is_noted(report):
    return any(u.is_about_data for u in report.unanalysed)


RANGE = "i = Range(zero, n, one)  r = Reshape(i, flat)"


def test_remainders_of_a_range_leave_open_all_sizes_but_those_that_were_followed():
    # No data is among them: which of the remainders there are is for the sizes to say.
    report = checked(f"{RANGE}  j = Add(r, three)  k = Mod(j, four)")
    assert_asked(report, lambda n, m: True)
    assert report.verdict is sb.Verdict.SOMETIMES and report.unanalysed
    assert not is_noted(report)
    known = report.account
    assert known.working and known.failing
    for sizes in (*known.working, *known.failing):
        works = max((r + 3) % 4 for r in range(sizes["N"])) < sizes["M"]
        assert works == (sizes in known.working)


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        # Both ends of a range are there, in whatever order, and however they are bounded and moved.
        (f"{RANGE}  k = Identity(r)", lambda n, m: n <= m),
        (f"{RANGE}  k = Min(r, three)", lambda n, m: min(n - 1, 3) < m),
        (f"{RANGE}  k = Max(r, three)", lambda n, m: max(n - 1, 3) < m),
        (f"{RANGE}  k = Clip(r, one, three)", lambda n, m: min(max(n - 1, 1), 3) < m),
        (f"{RANGE}  j = Min(r, three)  k = Sub(zero, j)", lambda n, m: -m <= -min(n - 1, 3)),
        (f"{RANGE}  j = Min(r, three)  k = Div(j, two)", lambda n, m: min(n - 1, 3) // 2 < m),
        # A row and a column of indices: each meets each.
        (
            f"{RANGE}  j = Min(r, three)  c = Unsqueeze(j, flat)  q = Range(zero, m, one)  k = Add(c, q)",
            lambda n, m: min(n - 1, 3) + m - 1 < m,
        ),
        # One number, wherever data find it.
        ("i = ArgMax(u)  k = Add(i, two)", lambda n, m: m >= 3),
    ],
)
def test_indices_of_which_both_ends_are_there_must_lie_within(nodes, wanted):
    report = checked(nodes)
    assert_asked(report, wanted)
    assert not is_noted(report)


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        # That the last place is found is not certain; that one of them is lies in the nature of the matter.
        ("k = ArgMax(x)", lambda n, m: True),
        ("i = ArgMax(x)  k = Add(i, two)", lambda n, m: m >= 3),
        ("i = Cast<to = 7>(x)  j = Mod(i, three)  k = Add(j, two)", lambda n, m: m >= 3),
        # There may be no index at all.
        ("i = NonZero(x)  j = Reshape(i, flat)  k = Add(j, four)", lambda n, m: True),
        # An integer may wrap around: of what is unbounded above, nothing is known once something is added.
        ("i = Cast<to = 7>(x)  j = Max(i, zero)  k = Add(j, four)", lambda n, m: True),
        ("i = Cast<to = 7>(x)  k = Max(i, four)", lambda n, m: m >= 5),
    ],
)
def test_indices_of_which_an_end_is_open_are_noted(nodes, wanted):
    report = checked(nodes)
    assert_asked(report, wanted)
    assert is_noted(report)


@pytest.mark.parametrize(
    "nodes",
    [
        "k = ArgMax(w)",
        "c = Reshape(one, flat)  v, k = TopK(w, c)",
        "i = NonZero(w)  k = Reshape(i, flat)",
        "i = Greater(x, u)  j = Cast<to = 7>(i)  k = Sub(j, one)",
        "i = Cast<to = 7>(x)  l = Sub(m, one)  k = Clip(i, zero, l)",
        "i = Cast<to = 7>(x)  k = Mod(i, m)",
        "i = Cast<to = 7>(x)  j = Max(i, one)  q = ArgMax(w)  k = Div(q, j)",
        "i = ArgMax(w)  j = ArgMin(w)  c = Greater(i, j)  k = Where(c, i, j)",
        "v = Unsqueeze(w, one)  i = ArgMax<axis = 0>(v)  q = NonZero(w)  k = Concat<axis = 1>(i, q)",
    ],
)
def test_indices_that_are_surely_within_need_no_word(nodes):
    report = checked(nodes)
    assert_asked(report, lambda n, m: True)
    assert not is_noted(report)


@pytest.mark.parametrize(
    ("ids", "wanted", "noted"),
    [("Cast<to = 6>(flat)", lambda b, s: True, True), ("Cast<to = 6>(rows)", lambda b, s: b * s <= 4, False)],
)
def test_ids_of_embeddings_are_rows_of_their_table(ids, wanted, noted):
    text = f"""<ir_version: 8, opset_import: ["": 18, "com.microsoft": 1]>
    g (float[B, S] flat, float[4, 2] words, float[9, 2] places, float[2] scale) => (float[A, C, D] y, int32[E] m)
    <int64 zero = {{0}}, int64 one = {{1}}> {{
        whole = Shape(flat)
        count = Size(flat)
        places_of = Range(zero, count, one)
        rows = Reshape(places_of, whole)
        ids = {ids}
        y, m = com.microsoft.EmbedLayerNormalization(ids, , words, places, , scale, scale)
    }}"""
    report = sb.onnx.check(parser.parse_model(text))
    condition = report.condition
    for b, s in itertools.product(range(1, 6), repeat=2):
        sizes = {"B": b, "S": s}
        assert condition.guard()({c.name: sizes[c.name] for c in condition.symbols}) == wanted(b, s), sizes
    assert is_noted(report) == noted
