"""Sentences about sizes mean what people mean by them: what is accepted or suggested, at all sizes up to 12."""

import csv
import itertools
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from steps import calls

import symbcast as sb
from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.symbols import symbol
from symbcast.core.text import parse_dim, parse_formula, parse_shape
from symbcast.errors import DimensionError, ShapeSyntaxError

PARSERS = {"formula": parse_formula, "size": parse_dim, "shape": parse_shape}
LARGEST = 12

with (Path(__file__).parents[1] / "data").joinpath("sentences.tsv").open(encoding="utf-8") as file:
    TEXTS = [
        (row["kind"], row["text"], row["meaning"] or "")
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    ]


def accepted_or_suggested(kind, text):
    """Return the notation that a text is read as, empty if it is refused without a suggestion."""
    try:
        PARSERS[kind](text)
    except ShapeSyntaxError as error:
        return error.correction
    return text


def values(kind, text, names):
    """Yield the values of a text at all small sizes, None where a size has no value."""
    if kind == "formula":
        guard = sb.Condition(text).guard()
        shown = [n for n in names if n in {str(s) for s in sb.Condition(text).symbols}]
    for sizes in itertools.product(range(LARGEST + 1), repeat=len(names)):
        given_sizes = dict(zip(names, sizes, strict=True))
        if kind == "formula":
            yield given_sizes, bool(guard(**{n: given_sizes[n] for n in shown}))
            continue
        replacements = {symbol(n): size for n, size in given_sizes.items()}
        found = PARSERS[kind](text)
        try:
            dims = tuple(replace_symbols(d, replacements) for d in (found if kind == "shape" else (found,)))
        except DimensionError:
            dims = (None,)
        yield given_sizes, dims if kind == "shape" else dims[0]


def expected(kind, code, sizes):
    """Return what Python computes; a relation without a value is false."""
    try:
        return eval(code, dict(sizes))
    except ZeroDivisionError:
        return False if kind == "formula" else None


@pytest.mark.parametrize(("kind", "text", "meaning"), TEXTS, ids=[f"{k}: {t}" for k, t, _ in TEXTS])
def test_a_text_is_read_or_corrected_as_meant_or_refused(kind, text, meaning):
    said = accepted_or_suggested(kind, text)
    assert bool(said) == bool(meaning), said
    if not meaning:
        return
    names = [n for n in ("N", "M", "K") if n in meaning or n in text]
    code = compile(meaning, "meaning", "eval")
    for sizes, value in values(kind, said, names):
        wanted = expected(kind, code, sizes)
        if kind == "formula" or wanted is not None:
            assert value == wanted, (said, sizes)


TERMS = st.recursive(
    st.sampled_from(["N", "M", "1", "2", "3"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner),
        st.builds("floor({}/{})".format, inner, st.sampled_from(["2", "3", "4"])),
        st.builds("ceil({}/{})".format, inner, st.sampled_from(["2", "3", "4"])),
        st.builds("int({}/{})".format, inner, st.sampled_from(["2", "3"])),
        st.builds("abs({} - {})".format, inner, inner),
        st.builds(
            "({} if {} {} {} else {})".format, inner, inner, st.sampled_from([">", "<=", "==", "!="]), inner, inner
        ),
        st.builds("({} * {} / 2)".format, inner, inner),
    ),
    max_leaves=6,
)


@given(TERMS, st.sampled_from(["==", "<=", ">", "!="]), TERMS)
@settings(max_examples=60, deadline=None)
@example("floor((N - 3)/2)", "==", "int((N - 3)/2)")
@example("(N if N == 2 else M)", "<=", "ceil((1 - N)/3)")
def test_fractions_and_choices_are_exact(left, sign, right):
    import math
    from fractions import Fraction

    text = f"{left} {sign} {right}"
    said = accepted_or_suggested("formula", text)
    if not said:
        return
    exact = text.replace("/2", "*half").replace("/3", "*third").replace("/4", "*quarter").replace("/ 2", "*half")
    code = compile(exact, "meaning", "eval")
    parts = {"half": Fraction(1, 2), "third": Fraction(1, 3), "quarter": Fraction(1, 4)}
    functions = {"floor": math.floor, "ceil": math.ceil, "int": int, "abs": abs}
    names = [n for n in ("N", "M") if n in text]
    for sizes in itertools.product(range(6), repeat=len(names)):
        given_sizes = dict(zip(names, sizes, strict=True))
        shown = {str(s) for s in sb.Condition(said).symbols}
        value = sb.Condition(said).guard()(**{n: s for n, s in given_sizes.items() if n in shown})
        assert bool(value) == eval(code, {**parts, **functions, **given_sizes}), (said, given_sizes)


def test_an_answer_shows_how_a_sentence_was_read():
    answer = sb.broadcast("N", "M", assume=["N is 2, 3 or 7", "M==1"])
    assert [a.text for a in answer.assumptions] == ["N == 2 or N == 3 or N == 7", "M==1"]
    assert "N == 2 or N == 3 or N == 7" in answer.explain()


_TEXT = (
    "N M 2 3 ( ) , and or not is even odd a multiple of twice half one more than between to in [ ] { } == = <= "
    "/ // * + - ** mod if else then same equal at least ? : min max floor Eq And neither nor both does divides "
)
WORDS = _TEXT.split()


@given(st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join) | st.lists(st.sampled_from(WORDS)).map("".join))
@settings(max_examples=150, deadline=None)
def test_any_words_are_read_or_refused(text):
    for kind, parse in PARSERS.items():
        said = accepted_or_suggested(kind, text)
        if said:
            parse(said)


ENDLESS = ["(" * 399, "not " * 99, "N or " * 79, "N," * 199, "((N is 2) or " * 30, "N > 2 ? " * 40, "twice " * 66 + "N"]


@pytest.mark.parametrize("text", ENDLESS, ids=[text[:8] for text in ENDLESS])
def test_unclear_text_is_refused_in_few_steps(text):
    accepted_or_suggested("formula", "N is even")
    with calls() as steps:
        assert not accepted_or_suggested("formula", text)
    assert steps.count < 400_000
