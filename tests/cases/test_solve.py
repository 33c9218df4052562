"""The sizes that give a wanted output, held against every binding of small sizes."""

import json

import pytest
import questions
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb


@st.composite
def wanted(draw):
    """Draw a question, and a shape that its output is to be: mostly of the output's rank."""
    question = draw(questions.questions())
    lengths = [len(s) for s in question.shapes]
    rank = draw(st.sampled_from([max(lengths, default=0)] * 3 + [*lengths, 1]))
    return question, draw(st.lists(questions.dims, min_size=rank, max_size=rank))


@given(wanted())
def test_the_condition_holds_where_the_output_is_the_wanted_one(drawn):
    question, out = drawn
    texts = [f"[{', '.join(shape)}]" for shape in question.shapes]
    try:
        found = sb.solve(
            *texts,
            out=f"[{', '.join(out)}]",
            rule=question.rule,
            assume=question.assume,
            min_size=question.min_size,
            **question.attributes,
        )
    except sb.AssumptionError:
        return  # the assumptions leave no sizes
    assert found.verdict is not sb.Verdict.UNKNOWN
    code = [compile(d, "dim", "eval") for d in out]
    question.assume = [*question.assume, *(f"{d} == {d}" for d in out)]  # so that its sizes are bound too
    met = []
    for sizes, output in question.outcomes():
        hit = output is not None and output == tuple(eval(d, {**sizes, "max": max}) for d in code)
        assert found.condition.guard()(sizes) is hit, sizes
        met += [sizes] * hit
    if found.verdict is sb.Verdict.NEVER:
        assert not met and found.witness() is None and found.shapes is None
    elif met:
        best = min(met, key=lambda s: (list(s.values()).count(0), sum(s.values())))
        example = found.witness()
        assert (list(example.values()).count(0), sum(example.values())) <= (
            list(best.values()).count(0),
            sum(best.values()),
        )


def test_why_there_are_none_is_said():
    assert "axis 1 (-1) has 3 of A and 4 of B" in sb.solve("N, 3", "4", out="5, 3").explain()
    assert "the output's rank is 2, not 1" in sb.solve("N, 3", "1", out="3").explain()
    assert "for all sizes" in sb.solve("2, 3", "3", out="2, 3").explain()


@given(st.sampled_from(["numpy", "pdpd", "unidirectional", "none", "bidirectional"]), st.data())
def test_the_most_general_operand_is_any_that_keeps_the_shape(rule, data):
    attributes = {"axis": data.draw(st.integers(-1, 2))} if rule == "pdpd" else {}
    target = data.draw(st.lists(st.sampled_from(["0", "1", "3", "a", "b"]), min_size=1, max_size=3))
    rank = data.draw(st.integers(0, len(target)))
    try:
        found = sb.broadcastable_to(f"[{', '.join(target)}]", rule, rank, **attributes)
    except sb.RuleArgumentError:
        found = None
    for sizes in data.draw(st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=20, max_size=20)):
        named = {"a": sizes[0], "b": sizes[1]}
        first = [named.get(d, d) for d in target]
        second = sizes[2 : 2 + rank]
        try:
            shape = sb.broadcast(list(map(int, first)), second, rule=rule, **attributes).shape
        except sb.RuleArgumentError:
            continue
        keeps = shape is not None and tuple(shape) == tuple(map(int, first))
        if found is None:
            assert not keeps
            continue
        asked = {**{n: s for n, s in named.items() if n in target}, **{f"?{n}": s for n, s in enumerate(second)}}
        assert found.condition.guard()(asked) is keeps


def test_ranks_of_the_most_general_operand():
    assert sb.broadcastable_to("N, C, 3").ranks == (0, 1, 2, 3)
    assert sb.broadcastable_to("N, C", "none").ranks == (2,)
    with pytest.raises(sb.RuleArgumentError, match="no second operand of rank 3"):
        sb.broadcastable_to("N, C", rank=3)


def test_data_and_pages():
    found = sb.solve("?, 3", "N, 1", out="5, 3")
    data = json.loads(json.dumps(found.to_dict()))
    assert (data["verdict"], data["wanted"], data["shapes"]) == ("sometimes", "(5, 3)", [[1, 3], [5, 1]])
    assert "the output is" in found._repr_html_() and "wanted" in str(found)


@pytest.mark.parametrize("rank", [-1, True, 1.5, "x"])
def test_what_is_no_rank_of_an_operand_is_refused(rank):
    with pytest.raises(sb.ShapeTypeError, match="is not a rank"):
        sb.broadcastable_to("N", rank=rank)


def test_the_sizes_of_the_second_operand_are_labelled_in_order():
    found = sb.broadcastable_to("?, ?a, 2..5")
    assert str(found.condition) == "(?2 == 1 or ?2 == ?0) and (?3 == 1 or ?3 == ?a) and (?4 == 1 or ?4 == ?1)"


def test_a_solution_has_no_truth_value():
    with pytest.raises(TypeError, match="compare its"):
        bool(sb.solve("2", out="3"))
