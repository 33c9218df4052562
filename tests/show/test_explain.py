"""What is said of an answer, and that every fix that is offered works."""

import itertools
import re
import string

import pytest

import symbcast as sb
from symbcast.answers.explanation.evidence import Alignment, AxisMark
from symbcast.answers.explanation.fixes import fix
from symbcast.answers.explanation.repairs import best_edit
from symbcast.answers.explanation.words import Namer, in_words
from symbcast.core.programs.conditions import plain_answer
from symbcast.core.text import parse_formula


def ask(shapes, options):
    return sb.broadcast(*shapes, **options)


def explain(result):
    return result.explain()


def headline(result, binding=None):
    return str(sb.BroadcastError(result, binding))


# shapes, options, pieces of the explanation in order
EXPLAINED = [
    (
        ("N, 3", "M, 1"),
        {},
        [
            "numpy: valid for some sizes\n",
            "axis",
            "0   1\n",
            "-2  -1\n",
            "N   3\n",
            "M   1\n",
            "?  ok    ok fine, ? depends on the sizes\n",
            "valid when   N and M are equal, or one of them is 1\n",
            "N == M or N == 1 or M == 1\n",
            "fails at     N=2, M=3: axis 0 (-2) has 2 and 3",
            "works at     N=1, M=1: output (1, 3)",
            'fix          assume "N == M" if that is known',
        ],
    ),
    (("N//2", "N"), {}, ["N is at most 3\n", "N=4: axis 0 (-1) has 2 and 4"]),
    (("N, C, H, W", "C"), {"rule": "pdpd", "axis": 1}, ["pdpd(axis=1): valid for all sizes", "ok  ok  ok  ok"]),
    (("N, C, H, W", "C"), {"rule": "pdpd"}, ["C is 1 or equals W", "axis 3 (-1)", "fix          use axis=1"]),
    (("a", "b", "c"), {}, ["operand 0", "those of a, b and c that are not 1 are equal", "2 of operand 1 and 3"]),
    (("N, 3, N", "3, 3"), {}, ["N is 1 or 3\n", "N=2: axis 2 (-1)"]),
    (
        ("N", "3"),
        {"assume": "N % 8 == 0"},
        [
            "valid for no sizes under the assumptions",
            "assuming     N % 8 == 0",
            "axis 0 (-1) of A and B needs: N is 1 or 3\n",
            "but N is a multiple of 8\n",
            "fix          set axis 0 (-1) of B to 1, as in (1,)",
        ],
    ),
    (("3", "4"), {}, ["not valid", "3 and 4"]),
    (("32, 3", "32"), {}, ["numpy: not valid\n", "has 3 and 32", "fix          reshape B to (32, 1)"]),
    (("2, 3", "3, 2"), {}, ["fix          transpose B to (2, 3)"]),
    (("2..5", "3"), {}, ["?0:2..5", "?0 is 3\n", 'fix          assume "?0 == 3" if that is known']),
    (("N - 1", "3"), {}, ["N is 2 or 4", "fails at     N=1: axis 0 (-1) has 0 and 3"]),
    (("N - 1",), {}, ["N is at least 1", "fails at     N=0: axis 0 (-1) of A, N - 1, would not be a size"]),
    (
        ("2, 3, 3", "3, 3"),
        {"rule": "unidirectional"},
        [
            "over",
            "x  ok  ok",
            "data's rank 3 must not exceed the target's rank 2",
            "give data rank 2 or less (it is 3)",
        ],
    ),
    (
        ("2, 3", "3, N"),
        {"rule": "pdpd", "axis": 1},
        ["over", "ok  ok     ?", "N is 1\n", "past the end of A must be 1"],
    ),
    (("C", "N, D, H"), {"rule": "explicit", "axes": (1,)}, ["C is 1 or equals D", "axis 1 (-2) has 2 and 1"]),
    (("N, N", "2, 3"), {"rule": "none"}, ["N is 2\n", "N is 3\n", "these cannot hold together"]),
    (("N", "M"), {"rule": "onnx-legacy", "broadcast": 1}, ["M is 1 or equals N", "N=1, M=2: A (1,) and B (2,)"]),
    (("()",), {"rule": "paddle", "min_rank": 1}, ["A: rank 0 is below min_rank=1", "reshape A to (1,)"]),
    ((), {}, ["numpy: valid\n", "output  ()"]),
    (("N", "M"), {"min_size": 2}, ["N and M are equal\n", "assuming     every size is at least 2"]),
    (("N + M", "2*M", "7"), {}, ["operand 1 and operand 2 needs: 2*M is 1 or 7", "no sizes satisfy this"]),
    (("N", "N", "3", "4"), {}, ["axis 0 (-1) has 3 of operand 2 and 4 of operand 3"]),
    (
        ("N**3 + M**3", "K**3"),
        {"assume": ["N >= 2", "M >= 2", "K >= 2"]},
        ["not decided", "~ not decided", "open         ", "fails at"],
    ),
]


@pytest.mark.parametrize(("shapes", "options", "pieces"), EXPLAINED)
def test_explanation_says(shapes, options, pieces):
    text, position = explain(ask(shapes, options)), 0
    for piece in pieces:
        found = text.find(piece, position)
        assert found >= 0, f"{piece!r} is missing, or not in this order, in\n{text}"
        position = found
    assert len(text.splitlines()) <= 30


HEADLINES = [
    (("3", "4"), {}, None, ["numpy cannot broadcast these shapes\n", "A  3\n", "B  4\n", "x\n", "has 3 and 4"]),
    (("N, 3", "M, 1"), {}, None, ["only at some sizes", "valid when N == M or", "fails at N=2, M=3", "fix: assume"]),
    (("N, 3", "M, 1"), {}, {"N": 4, "M": 5}, ["at N=4, M=5\n", "A  4   3\n", "axis 0 (-2) has 4 and 5", "valid"]),
    (("N - 1", "3"), {}, {"N": 0}, ["axis 0 (-1) of A, N - 1, would not be a size"]),
    (("N", "3"), {"assume": "N % 8 == 0"}, None, ["at any sizes", "but N is a multiple of 8"]),
    (("N", "N"), {}, None, ["can broadcast these shapes"]),
    (
        ("1", "1, 2", "4, 4", "4", "3, K, N"),
        {"assume": "K <= 0"},
        None,
        ["operand 2      4  4\n", "axis 1 (-2) of operand 2 and operand 4 needs: K is 1 or 4"],
    ),
]


@pytest.mark.parametrize(("shapes", "options", "binding", "pieces"), HEADLINES)
def test_headline_says(shapes, options, binding, pieces):
    text = headline(ask(shapes, options), binding)
    assert [p for p in pieces if p not in text] == []
    assert len(text.splitlines()) <= 12


def test_errors_carry_the_headline():
    with pytest.raises(sb.ConditionalBroadcastError, match="only at some sizes"):
        ask(("N", "M"), {}).require()
    with pytest.raises(sb.IncompatibleShapesError, match=r"at N=2, M=3\n"):
        ask(("N", "M"), {}).evaluate(N=2, M=3)


def test_one_line_is_one_short_line():
    many = ask([f"n{i}" for i in range(1000)], {})
    for result in [many, *(ask(s, o) for s, o, _ in EXPLAINED)]:
        line = repr(result)
        assert "\n" not in line
        assert len(line) <= 209
        assert f": {result.verdict.value}" in line


WORDS = [
    ("N == 3", "N is 3"),
    ("N <= 3", "N is at most 3"),
    ("N < 3", "N is at most 2"),
    ("N > 3", "N is at least 4"),
    ("N % 2 == 0", "N is even"),
    ("N % 2 != 0", "N is odd"),
    ("N % 8 == 3", "N is 3 more than a multiple of 8"),
    ("N % 8 == 9", "N % 8 is 9"),
    ("N % M == 3", "N % M is 3"),
    ("N*M % M == 0", "M*N is a multiple of M"),
    ("N % M != 0", "N is not a multiple of M"),
    ("N % 2 == 0 or N == 1", "N is even or 1"),
    ("N % 3 == 0 or N % 3 == 1", "N is a multiple of 3 or 1 more than a multiple of 3"),
    ("N % 8 == 0 or N % 8 == 5 or N % 8 == 6 or N % 8 == 7", "N is 0 or 5 to 7 more than a multiple of 8"),
    ("N % 8 == 0 or N % 8 >= 5", "N is 0 or 5 to 7 more than a multiple of 8"),
    ("N % 8 <= 2 or N % 8 == 7", "N is 0 to 2 or 7 more than a multiple of 8"),
    ("N % 8 >= 5", "N % 8 is at least 5"),
    ("N % 8 == 0 or N % 8 >= 5 or M == 1", "N is a multiple of 8, or N % 8 is at least 5, or M is 1"),
    ("N <= 4 or N % 8 == 0 or N % 8 == 2 or N % 8 == 7", "N is at most 4, or 0, 2 or 7 more than a multiple of 8"),
    ("N >= 2 and N <= 5", "N is from 2 to 5"),
    ("N != 0 and N != 2", "N is neither 0 nor 2"),
    ("N == M", "N and M are equal"),
    ("N != M", "N and M differ"),
    ("N < M", "N is less than M"),
    ("N == 1 or M == 1", "N or M is 1"),
    ("N == M or N == 1 or M == 1", "N and M are equal, or one of them is 1"),
    ("compatible(N, M)", "N and M are equal, or one of them is 1"),
    ("not compatible(N, M)", "N and M differ and neither is 1"),
    ("not compatible(N, M, K)", "two of N, M and K differ and neither is 1"),
    ("compatible(N, M, 1, K)", "those of N, M and K that are not 1 are equal"),
    ("N == 1 or N == M and M >= 3", "N is 1, or both N and M are equal, and M is at least 3"),
    ("N != 2 and N != 3 or M != 2 and M != 3", "N is neither 2 nor 3, or M is neither 2 nor 3"),
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_formula_in_words(text, words):
    assert in_words(parse_formula(text), Namer(plain_answer(ask(("N",), {})))) == words


MARKS = [
    (("N, 3, 2", "M, 3, 4"), {}, "?ok x"),
    (("N, 3", "N, 3"), {}, "okok"),
    (("2, 3", "3, 4, 5"), {"rule": "pdpd", "axis": 1}, "okok x x"),
    (("2, 2", "2, 3"), {"rule": "explicit", "axes": (0, 0), "flavour": "openvino"}, "okok"),
    (("2, 3, 4", "2, N"), {"rule": "onnx-legacy", "broadcast": 1, "axis": 0}, " ? ?ok"),
    (("2, 3, 4", "2, 5"), {"rule": "onnx-legacy", "broadcast": 1, "axis": 0, "flavour": "openvino"}, "ok xok"),
    (("2, 3", "4, 2, 3"), {"rule": "none"}, " xokok"),
]


@pytest.mark.parametrize(("shapes", "options", "marks"), MARKS)
def test_marks(shapes, options, marks):
    alignment = Alignment(plain_answer(ask(shapes, options)))
    found = "".join(f"{alignment.mark(a).value:>2}" for a in alignment.all_axes)
    assert found.strip() == marks.strip()


# Calls that are not always valid; what is offered as their fix is asked again.
FIXED = [
    *((shapes, options) for shapes, options, _ in EXPLAINED),
    (("N, 4", "M, 3"), {}),
    (("N, K", "M, L"), {}),
    (("N, N + 1", "M, K"), {}),
    (("2*N", "3*M"), {}),
    (("N*M", "K"), {}),
    (("?, ?", "3, 4"), {}),
    (("?a", "N"), {}),
    (("N", "M"), {"rule": "pdpd", "flavour": "openvino"}),
    (("N, C, H, W", "H, W"), {"rule": "pdpd", "axis": 0}),
    (("2, 3, 4", "3"), {"rule": "onnx-legacy", "broadcast": 1}),
    (("2, 3", "3"), {"rule": "onnx-legacy"}),
    (("3, 4", "5, 4, 3, 4"), {"rule": "explicit", "axes": (0, 1)}),
    (("3, 4", "4, 3"), {"rule": "bidirectional"}),
    (("2, 3, 4", "3"), {}),
    (("2, 3, 4", "2, 3"), {}),
    (("8, N", "N, 8"), {"assume": "N >= 9"}),
    (("N//3", "5"), {"min_size": 1}),
    (("N", "1"), {"rule": "unidirectional"}),
    (("3", "1"), {"rule": "unidirectional"}),
    (("'a b'", "c.d"), {}),
]


@pytest.mark.parametrize(("shapes", "options"), FIXED)
def test_fix_works(shapes, options):
    result = ask(shapes, options)
    change = fix(Alignment(plain_answer(result)))
    if change is None:
        assert "fix" not in explain(result).split()
        return
    edit = best_edit(Alignment(plain_answer(result)))
    said = change.text if edit is None else edit[0].text
    assert said in explain(result)
    assert said in headline(result)
    expected = sb.Verdict.SOMETIMES if change.text.endswith("it is then valid for some sizes") else sb.Verdict.ALWAYS
    assert change.ask(plain_answer(result)).verdict is expected


@pytest.mark.parametrize(("shapes", "options"), FIXED)
def test_assumption_works_as_typed(shapes, options):
    result = ask(shapes, options)
    change = fix(Alignment(plain_answer(result)))
    if change is None or not change.text.startswith("assume"):
        return
    assume = options.get("assume", ())
    typed = [*([assume] if isinstance(assume, str) else assume), *re.findall(r'"([^"]*)"', change.text)]
    assert ask(shapes, {**options, "assume": typed}).verdict is sb.Verdict.ALWAYS


def test_most_calls_have_a_fix():
    results = [ask(s, o) for s, o in FIXED]
    open_ones = [r for r in results if r.verdict in (sb.Verdict.SOMETIMES, sb.Verdict.NEVER)]
    assert sum(fix(Alignment(plain_answer(r))) is not None for r in open_ones) >= 0.8 * len(open_ones)


def test_the_fix_is_looked_for_once(monkeypatch):
    result = ask(("N, 3", "M, 1"), {})
    text = explain(result)
    monkeypatch.setattr("symbcast.answers.explanation.fixes.Fix.ask", lambda *_: pytest.fail("asked again"))
    assert explain(result) == text
    assert fix(Alignment(plain_answer(result))).text in headline(result)


def test_what_is_assumed_word_for_word_needs_no_solver(monkeypatch):
    monkeypatch.setattr(
        "symbcast.core.solver.f3_linear.z3_solver.Session.check", lambda *_: pytest.fail("the solver was asked")
    )
    result = ask([f"N{n}, {'M' if n % 2 else 1}" for n in range(30)], {})
    assert fix(Alignment(plain_answer(result))).text.startswith('assume "compatible(N0, N1, ')


def test_many_operands_and_axes_are_elided():
    operands = ask([*["N"] * 500, "3", *["4"] * 499], {})
    text = explain(operands)
    assert len(text.splitlines()) <= 30
    assert "990 more" in text
    assert "operand 500" in text
    assert "operand 501" in text
    names = ["".join(pair) for pair in itertools.product(string.ascii_lowercase, repeat=2)][:200]
    axes = explain(ask([", ".join(f"{c}_{name}" for name in names) for c in "ab"], {}))
    assert max(map(len, axes.splitlines())) <= 140
    assert "and 100 more clauses; .condition and JSON have them all" in axes
    assert len([line for line in axes.splitlines() if " == 1 or " not in line]) <= 30


def test_long_and_wild_names_are_cut_in_the_table_alone():
    name = "x" * 300
    text = explain(ask((f"{name}, 'a b'", "3, 2"), {}))
    assert max(len(line) for line in text.splitlines()[:7]) < 120
    assert "'a b'=" in text


def test_dummies_of_one_name_are_told_apart():
    import sympy

    left, right = sympy.Dummy("n", integer=True, nonnegative=True), sympy.Dummy("n", integer=True, nonnegative=True)
    result = ask(((left,), (right,)), {})
    assert "n and n_1 are equal" in explain(result)
    assert set(result.witness()) == {"n", "n_1"}


def test_concrete_marks_need_no_scope():
    result = ask(((2, 3), (2, 4)), {})
    assert plain_answer(result).scope is None
    assert [Alignment(plain_answer(result)).mark(a) for a in (0, 1)] == [AxisMark.FINE, AxisMark.IMPOSSIBLE]
