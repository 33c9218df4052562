"""LaTeX displays: balanced, harmless whatever is in a name, and saying what the text says."""

import pytest
from hypothesis import given, settings
from pages import HOSTILE, answer, check_latex, read_latex
from questions import assumptions, dims, questions

import symbcast as sb
from symbcast.answers.show.latex import clause_lines, dim_latex
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.sympy_conversion import to_sympy
from symbcast.core.text import parse_dim, parse_formula
from symbcast.core.text.notation import dim_text, formula_text

TERMS = [
    "-N + 1",
    "(N + 1)*(M - 2)",
    "-(N + 1)*M + 7",
    "2*(N % 8)",
    "(N*M) % 8 + 1",
    "N*(M % 8)",
    "(N % 8)**2",
    "(N//8)**2",
    "(N//M)//2",
    "N//(M//2)",
    "(N % M) % 3",
    "N % (M + 1)",
    "max(N, 3)*batch_size",
    "broadcast(N, M + 1)",
    "3*N**2*M",
    "alpha*max_len.x",
]


@pytest.mark.parametrize("term", TERMS)
def test_a_term_is_bracketed_as_it_is_meant(term):
    dim = parse_dim(term)
    assert parse_dim(read_latex(dim_latex(dim, {}))) == dim


@settings(max_examples=200)
@given(dims, dims)
def test_a_formula_reads_back(left, right):
    formula = parse_formula(f"({left}) <= ({right}) or (({left}) == 1 and not ({right}) == 2)")
    latex = check_latex(f"$\\displaystyle {clause_lines([formula])[0]}$")
    assert formula_text(parse_formula(read_latex(latex))) == formula_text(formula)


@settings(max_examples=50)
@given(assumptions)
def test_a_condition_reads_back(texts):
    condition = sb.Condition(" and ".join(f"({t})" for t in texts) or "True")
    latex = check_latex(condition._repr_latex_())
    lines = latex.replace("\\begin{array}{l}", "").replace("\\end{array}", "").replace("\\\\", "").replace("{}", "")
    assert sb.Condition(read_latex(lines)) == condition


@settings(max_examples=150)
@given(questions())
def test_a_result_is_one_balanced_formula(question):
    result = answer(question)
    latex = check_latex(result._repr_latex_())
    assert result.rule.called.split("-")[0] in latex
    assert ("fails at" in latex) is bool(result.counterexample() and result.shape is not None)


def test_each_part_of_an_answer_is_there():
    latex = check_latex(sb.broadcast("N, 3", "batch, 1", assume="N >= 2")._repr_latex_())
    assert r"\text{A} & N & 3 \\ \text{B} & \mathrm{batch} & 1 \\ \hline \text{output} & N & 3" in latex
    assert r"\text{fits} & \text{?} & \text{ok}" in latex
    assert r"\text{valid when} & \mathrm{batch} = 1 \lor \mathrm{batch} = N" in latex
    assert r"\text{assuming} & \text{N }{>}\text{= 2}" in latex
    assert r"\text{fails at} & N = 2,\ \mathrm{batch} = 3" in latex
    assert r"\text{works at} & N = 2,\ \mathrm{batch} = 1\text{: output }(2, 3)" in latex


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_inert(name):
    dim = sb.symbol(name)
    result = sb.broadcast((dim, f"{'M'}"), ("M", 1), assume=[sb.Condition(result_text(symbol(name)))])
    env = sb.ShapeEnv()
    env.broadcast((dim, 3), ("M", 1), origin=name)
    for value in (result, env, sb.shape((dim,)), sb.Condition(sb.broadcast((dim,), "M"))):
        check_latex(value._repr_latex_())


def result_text(dim):
    return f"{dim_text(dim)} >= 2"


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("N", "N"),
        ("alpha", r"\mathrm{alpha}"),
        ("N0", r"\mathrm{N0}"),
        ("max_len", r"\mathrm{max\_len}"),
        ("a.b", r"\mathrm{a.b}"),
        ("größe", r"\text{größe}"),
        ("a b", r"\text{'a b'}"),
        ("a{b", r"{\text{'a}\{\text{b'}}"),
    ],
)
def test_names(name, latex):
    assert dim_latex(symbol(name), {}) == latex


def test_an_unknown_has_the_label_that_text_has():
    result = sb.broadcast("?, 3", "2..5, 1")
    latex = check_latex(result._repr_latex_())
    assert "?0" in result.explain() and r"\text{?0}" in latex
    assert r"\text{?1:2..5}" in latex
    assert sb.shape("?, 2..5, N")._repr_latex_() == r"$\displaystyle ({\text{?}}, {\text{2..5}}, N)$"


def test_long_lists_are_counted_and_conditions_are_whole():
    env = sb.ShapeEnv()
    for n in range(300):
        env.broadcast(f"a{n}, T", f"b{n}, S", origin=f"op{n}")
    assert len(check_latex(env._repr_latex_())) < 3000
    result = sb.broadcast(*[", ".join(f"x{n}_{m}" for m in range(20)) for n in range(40)])
    latex = check_latex(result._repr_latex_())
    assert len(latex) < 60_000 and r"\land \ldots" not in latex
    condition = sb.Condition(" and ".join(f"n{n} == m{n}" for n in range(50)))
    assert condition._repr_latex_().count(r"\land") == 49


def test_our_terms_are_typeset_by_sympy_too():
    shown = {
        text: to_sympy(parse_dim(text))._repr_latex_() for text in ("broadcast(N, M)", "N//M", "2*(N % M)", "(N//M)**2")
    }
    assert shown == {
        "broadcast(N, M)": r"$\displaystyle \operatorname{broadcast}\left(M, N\right)$",
        "N//M": r"$\displaystyle \left\lfloor{\frac{N}{M}}\right\rfloor$",
        "2*(N % M)": r"$\displaystyle 2 \left(N \bmod M\right)$",
        "(N//M)**2": r"$\displaystyle \left\lfloor{\frac{N}{M}}\right\rfloor^{2}$",
    }
    condition = sb.broadcast(*"abcdefg").condition.sympy
    assert condition._repr_latex_() == r"$\displaystyle \operatorname{compatible}\left(a, b, c, d, e, f, g\right)$"
    assert r"\text{?0}" in sb.broadcast("?", "3").condition.sympy._repr_latex_()
