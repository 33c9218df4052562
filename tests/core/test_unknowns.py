"""One name for one unknown: what a question shows of it can be typed back there, and means the same size."""

from __future__ import annotations

import json
import pickle

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symbcast as sb
from symbcast import Condition

V = sb.Verdict

# What was once wrong.


def test_shapes_made_apart_are_two_unknowns_with_two_names():
    a, b = sb.shape("?"), sb.shape("?")
    result = sb.broadcast(a, b)
    assert str(result.condition.sympy) == "Eq(?0, 1) | Eq(?0, ?1) | Eq(?1, 1)"
    assert str(result.condition) == "?0 == ?1 or ?0 == 1 or ?1 == 1"
    assert result.to_dict()["operands"] == ["(?0,)", "(?1,)"]
    assert sb.broadcast(a, a).verdict is V.ALWAYS


def test_sympy_shows_two_unknowns_by_two_names():
    a, b = sb.shape("?")[0], sb.shape("?")[0]
    relation = sympy.Eq(a, b)
    assert str(relation) == "Eq(?0, ?1)"
    assert str(a + 2 * b) == "?0 + 2*?1"
    assert sympy.latex(relation) == r"\text{?0} = \text{?1}"
    assert "?0" in sympy.pretty(relation) and "?1" in sympy.pretty(relation)
    assert str(a) == str(b) == "?0"
    assert str(Condition(relation)) == "?0 == ?1"
    assert str(Condition(relation).sympy) == "Eq(?0, ?1)"


def test_an_assumption_is_about_the_unknown_that_it_holds():
    a, b = sb.shape("?"), sb.shape("?")
    assert sb.broadcast(a, b, assume=sympy.Eq(b[0], 3)).condition.subs({a[0]: 3}) == sympy.true
    assert str(Condition(sb.broadcast(a, b, assume=sympy.Eq(b[0], 3)))) == "?0 == 1 or ?0 == 3"
    assert sb.broadcast(a, b, assume=sympy.Eq(a[0], b[0])).verdict is V.ALWAYS
    assert str(Condition(sb.broadcast(a, b, assume="?1 == 3"))) == "?0 == 1 or ?0 == 3"


def test_sizes_are_given_by_the_unknown_itself():
    a, b = sb.shape("?"), sb.shape("?")
    result = sb.broadcast(a, b)
    assert result.evaluate({a[0]: 3, b[0]: 1}) == result.evaluate({"?0": 3, "?1": 1}) == (3,)
    assert Condition(result).guard()({a[0]: 3, b[0]: 1}) and not Condition(result).guard()({a[0]: 3, b[0]: 2})
    assert result.guard()({b[0]: 4, a[0]: 1})


def test_an_unknown_is_itself_in_later_questions():
    a, b = sb.shape("?"), sb.shape("?")
    one = sb.broadcast(a, b, assume="?0 == 1")
    assert one.shape is not None and sb.broadcast(b, one.shape).verdict is V.ALWAYS
    assert sb.broadcast((b[0],), (b[0],), a, assume="?1 == 1").verdict is V.ALWAYS
    assert sb.Shape((b[0] - one.shape[0] + 3,)) == (3,)
    env = sb.ShapeEnv()
    shapes = [env.broadcast(s, "1") for s in (a, b)]
    env.equal(shapes[1], b)
    env.equal((b[0],), (shapes[1][0],))
    assert env.verdict is V.ALWAYS and list(env.names.values()) == ["?0", "?1"]
    assert sb.broadcast(shapes[1], b, one.shape).verdict is V.ALWAYS


@pytest.mark.parametrize("label", ["?0", "?1", "?7", "?a", "?0_1"])
def test_a_label_is_one_unknown_in_all_texts_of_a_question(label):
    assert sb.broadcast(f"{label}, 3", f"{label}, 1", assume=f"{label} >= 2").verdict is V.ALWAYS
    assert sb.broadcast((label, 3), (label, label), assume=f"{label} == 3").verdict is V.ALWAYS
    assert str(sb.shape((label, label, 3))) == f"({label}, {label}, 3)"
    env = sb.ShapeEnv()
    env.broadcast(f"{label}, ?", f"{label}, 1", origin="first")
    env.broadcast((label,), label)
    assert env.verdict is V.ALWAYS and env.symbol(label) in env.symbols
    again = sb.ShapeEnv.from_dict(json.loads(json.dumps(env.to_dict())))
    assert again.to_dict() == env.to_dict() == pickle.loads(pickle.dumps(env)).to_dict()


def test_bounds_are_given_once_or_alike():
    for sizes in (("?a:2..5", "?a", "?a:2..5"), ("?a", "?a:2..5")):
        assert sb.broadcast(sizes, "?a").witness() == {"?a": 2}
        assert str(sb.shape(sizes)).count("2..5") == 1 and len(sb.shape(sizes).symbols) == 1
    with pytest.raises(sb.DimensionError, match="two different bounds"):
        sb.shape(("?a:2..5", "?a:2..6"))
    assert sb.broadcast("?a:2..5", "?a:4..9").witness() == {"?a": 4}


def test_what_is_not_labelled_is_numbered_around_labels():
    assert sb.broadcast("?, 3", "?0, 1").to_dict()["operands"] == ["(?1, 3)", "(?0, 1)"]
    assert sb.broadcast("?, 3", (None, "?0")).to_dict()["operands"] == ["(?1, 3)", "(?2, ?0)"]
    held = sb.shape("?, 3")
    assert sb.broadcast("?, 3", held).to_dict()["operands"] == ["(?1, 3)", "(?0, 3)"]
    assert sb.broadcast(held, "?0, 1").verdict is V.ALWAYS, "it is shown as ?0"


def test_a_name_that_is_written_as_a_label_is_one():
    """Before, a name and an unknown could both be ?0, and of two sizes only one was in a witness."""
    for other in (sb.symbol("?0"), sympy.Dummy("?0", integer=True, nonnegative=True)):
        result = sb.broadcast((other,), "?")
        assert result.witness() == {"?0": 1, "?1": 1} and result.evaluate({"?0": 3, other: 3, "?1": 1}) == (3,)
        assert str(Condition(sb.broadcast((other,), "?", assume="?0 == 3"))) == "?1 == 1 or ?1 == 3"
    two = [sympy.Dummy("?0", integer=True, nonnegative=True) for _ in range(2)]
    assert sb.broadcast((two[0],), (two[1],), assume="?0_1 == ?0").verdict is V.ALWAYS


def test_dummies_of_one_name_print_apart():
    one, other = (sympy.Dummy("N", integer=True, nonnegative=True) for _ in range(2))
    assert str(sb.shape((one, other, one + other))) == "(N, N_1, N + N_1)"
    assert str(sb.broadcast((one,), (other,)).shape) == "(broadcast(N, N_1),)"
    both = Condition(sympy.Eq(one, 2 * other))
    assert str(both) == "N == 2*N_1" and both.guard()({"N": 4, "N_1": 2}) and not both.guard()({"N": 2, "N_1": 4})


def test_conditions_of_two_answers_are_about_two_unknowns():
    one, other = (Condition(sb.broadcast("?", text)) for text in "MK")
    both = one & other
    assert str(both) == "(?0 == M or ?0 == 1 or M == 1) and (?1 == K or ?1 == 1 or K == 1)"
    assert list(map(str, both.symbols)) == ["?0", "M", "?1", "K"]
    assert both.guard()({"?0": 1, "M": 5, "?1": 6, "K": 6}) and not both.guard()({"?0": 1, "M": 5, "?1": 2, "K": 6})
    assert not both.guard()({one.symbols[0]: 2, "M": 5, other.symbols[0]: 1, "K": 6})
    assert (both & "?1 == 1").implies("?1 == 1") and not (both & "?1 == 1").implies("?0 == 1")
    assert (one & one).symbols == one.symbols


@pytest.mark.parametrize("label", ["?0", "?a"])
def test_a_label_in_the_text_of_a_condition_means_the_unknown_beside_it(label):
    assert (Condition(f"{label} == 3") & f"{label} == 4").verdict is V.NEVER
    assert Condition(f"{label} == 3").equivalent(f"{label} == 3")
    answer = Condition(sb.broadcast(label.replace("?0", "?"), "3"))
    for joined in (answer & f"{label} == 2", Condition(f"{label} == 2") & answer):
        assert joined.verdict is V.NEVER and list(joined.guard().names.values()) == [label]
    bounded = Condition(sb.broadcast("2..5", "3"))
    assert (Condition("?0 >= 2") & bounded).implies("?0 <= 5") and (bounded & "?0 >= 2").implies("?0 <= 5")


# What holds of all questions.

DIMS = st.sampled_from(["?", "?", "2..5", "?a", "?0", "?1", "?b:2..3", "N", "1", "3", "?0 + 1", "2*?a", "?1 // 2"])
OPERANDS = st.tuples(st.sampled_from(["text", "tuple", "held"]), st.lists(DIMS, min_size=1, max_size=3))
ASSUMED = st.sampled_from([(), "?0 >= 2", "?0 == 3", "N >= 1", "?a == N", "?1 <= 4"])


def given_as(kind, dims):
    return tuple(dims) if kind == "tuple" else sb.shape(", ".join(dims)) if kind == "held" else ", ".join(dims)


@st.composite
def questions(draw):
    operands = [given_as(*o) for o in draw(st.lists(OPERANDS, min_size=2, max_size=3))]
    if draw(st.booleans()):
        operands.append(draw(st.sampled_from(operands)))
    try:
        return operands, sb.broadcast(*operands, assume=draw(ASSUMED), min_size=draw(st.sampled_from([0, 1])))
    except sb.AssumptionError:  # of a label that no shape has
        return operands, sb.broadcast(*operands)


@given(questions())
def test_what_a_question_shows_is_the_question(question):
    _, result = question
    data = result.to_dict()
    assert len(set(data["symbols"])) == len(data["symbols"]) == len(result.symbols)
    assert len({*map(str, result.symbols)}) == len(result.symbols)
    again = sb.broadcast(*data["operands"], assume=data["assumptions"], min_size=data["min_size"])
    assert again.to_dict() == data
    assert again.explain() == result.explain()
    if result.verdict is V.SOMETIMES:
        for assumed in (data["condition"], result.condition, Condition(result)):
            for asked in (data["operands"], result.operands):
                known = [*data["assumptions"], assumed]
                assert sb.broadcast(*asked, assume=known, min_size=data["min_size"]).verdict is V.ALWAYS
    if (sizes := result.counterexample()) is not None:
        for named in (sizes, dict(zip(result.symbols, sizes.values(), strict=True))):
            assert not Condition(result).guard()(named)
            with pytest.raises(sb.IncompatibleShapesError):
                result.evaluate(named)


@given(questions())
def test_the_same_shapes_ask_the_same_again(question):
    operands, result = question
    known = result.to_dict()["assumptions"]
    least = result.to_dict()["min_size"]
    assert sb.broadcast(*operands, assume=known, min_size=least).to_dict() == result.to_dict()
    assert sb.broadcast(*result.operands, assume=result.assumptions, min_size=least).to_dict() == result.to_dict()


@given(st.lists(OPERANDS, min_size=2, max_size=4))
def test_programs_name_unknowns_once(operands):
    env = sb.ShapeEnv(on_conflict="record")
    shapes = [env.broadcast(given_as(*o), "1", origin=f"in{n}") for n, o in enumerate(operands)]
    names = list(env.names.values())
    assert len(set(names)) == len(names) == len(env.symbols)
    texts = [op["output"] for op in env.to_dict()["operations"]]
    for shape, text, (_, dims) in zip(shapes, texts, operands, strict=True):
        assert env.broadcast(text, "1") == shape and len(dims) == shape.rank
        env.equal(shape, text)
    assert list(env.names.values()) == names, "what is typed back is no other size"
    assert env.verdict is V.ALWAYS
    data = json.loads(json.dumps(env.to_dict()))
    assert sb.ShapeEnv.from_dict(data).to_dict() == data


@given(st.lists(DIMS, min_size=1, max_size=4))
def test_a_shape_reads_back_as_it_prints(dims):
    found = sb.shape(", ".join(dims))
    assert sb.shape(str(found)) == found and str(sb.shape(str(found))) == str(found)
    assert len({*map(str, found.symbols)}) == len(found.symbols)


# Against the same question with names in the place of unknowns.


def named(operands):
    """Return operands with a name for each unknown, by what labels mean: of texts in a call, and of held shapes."""
    held, found = {}, []
    for number, (kind, dims) in enumerate(operands):
        if kind == "held":
            for label in labels_in_text(dims):
                held.setdefault(label, f"held_{number}_{label[1:]}")
    for number, (kind, dims) in enumerate(operands):
        own = iter(labels_in_text(dims))
        renamed = []
        for place, dim in enumerate(dims):
            label = next(own) if "?" in dim or ".." in dim else ""
            if kind == "held":
                name = f"held_{number}_{label[1:]}"
            elif dim in ("?", "2..5"):
                name = f"own_{number}_{place}"
            else:
                name = held.get(label, f"text_{label[1:]}")
            bounds = dim.partition(":")[0] if ":" in dim else dim
            renamed.append(name if dim in ("?", "2..5") else bounds.replace(label, name) if label else dim)
        found.append(renamed)
    return found


def labels_in_text(dims):
    """Return the label of the unknown in each size that has one, as one text of them gives it."""
    written = [d.strip("2*").split(" ")[0].partition(":")[0] for d in dims if d.startswith(("?", "2*")) and d != "?"]
    free = (label for n in range(9) if (label := f"?{n}") not in written)
    kept = iter(written)
    return [next(free) if d in ("?", "2..5") else next(kept) for d in dims if "?" in d or ".." in d]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["text", "tuple", "held"]),
            st.lists(st.sampled_from(["?", "?a", "?0", "?1", "N", "1", "3", "?0 + 1", "2*?a"]), min_size=1, max_size=3),
        ),
        min_size=2,
        max_size=3,
    )
)
def test_labels_mean_what_names_would(operands):
    result = sb.broadcast(*(given_as(*o) for o in operands))
    by_name = sb.broadcast(*(", ".join(dims) for dims in named(operands)))
    assert result.verdict is by_name.verdict
    assert len(result.symbols) == len(by_name.symbols)
    for mine, theirs in ((result.witness(), by_name.witness()), (result.counterexample(), by_name.counterexample())):
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            assert sorted(mine.values()) == sorted(theirs.values())


@pytest.mark.parametrize("label", ["?0", "?0_1", "?a"])
def test_a_model_may_call_sizes_by_labels(label):
    onnx = pytest.importorskip("onnx")
    from symbcast import onnx as models

    read = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[A, 3] x, float[B, 3] y) => (float[C, D] z) { z = Add(x, y) }'
    )
    read.graph.input[0].type.tensor_type.shape.dim[0].dim_param = label
    report = models.check(read)
    assert str(report.condition) == f"{label} == B or {label} == 1 or B == 1"
    assert report.guard()({label: 4, "B": 1})
    for known in ({"bind": {label: 4}}, {"assume": f"{label} == 4"}):
        assert str(models.check(read, **known).condition) == "B == 1 or B == 4"
    with pytest.raises(sb.AssumptionError, match="mentions \\?9, which the model does not have"):
        models.check(read, assume="?9 == 4")
