"""Repairs of mistakes that people reported, and of random ones; what is surely not meant."""

import itertools
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

import symbcast as sb
from symbcast.core.solver.evaluation import size_at

torch = None
if find_spec("torch") is not None:
    import torch

REPORTED = json.loads((Path(__file__).parents[1] / "data" / "reported_mistakes.json").read_text())
FIRST = 3


def without_leading_ones(shape):
    dims = list(map(str, shape))
    while dims and dims[0] == "1":
        del dims[0]
    return dims


def is_accepted(repair, row):
    accepted = row["accepted"]
    if "assume" in accepted:
        assumed = sb.Condition(" and ".join(repair.assume) or "True")
        return repair.kind == "assume" and assumed.equivalent(accepted["assume"])
    found, wanted = (list(map(without_leading_ones, s)) for s in (repair.operands, map(sb.shape, accepted["shapes"])))
    return repair.kind not in ("assume", "rule") and found == wanted


def place(row):
    """Return the place of the accepted fix among the repairs, None where it is not there."""
    found = sb.broadcast(*row["shapes"]).repairs(10)
    return next((n for n, repair in enumerate(found) if is_accepted(repair, row)), None)


def test_the_fix_that_was_accepted_is_among_the_first():
    places = {f"{row['mistake']}: {row['shapes']}": place(row) for row in REPORTED}
    late = [what for what, found in places.items() if found is None or found >= FIRST]
    # Of numbers alone nothing tells that the sums are of rows: it may be meant so.
    assert (len(places), late) == (52, ["sums of rows of a square matrix: ['4, 4', '4']"])


def named(shape, sizes):
    return tuple(size_at(d, sizes) for d in shape.dims)


def check_code(repair, before, sizes):
    """Check that the code of an edit makes the operand that the repair has, in NumPy and by ONNX's own reference."""
    changed = [n for n, (a, b) in enumerate(zip(before, repair.operands, strict=True)) if a.dims != b.dims]
    for position in changed:
        check_edit(repair.code, "ab"[position], named(before[position], sizes), named(repair.operands[position], sizes))


def check_edit(code, name, operand, wanted):
    """Check that code makes an array of a shape from one of another: the same in all languages that it is in."""
    array = np.arange(np.prod(operand, dtype=int)).reshape(operand)
    found = eval(code["numpy"], {name: array, "np": np})
    assert found.shape == wanted
    if torch is not None:
        assert (eval(code["torch"], {name: torch.from_numpy(array)}).numpy() == found).all()
    if "onnx" not in code:
        return
    lines = code["onnx"].splitlines()
    last = lines[-1].partition(" ")[0]
    inputs = f"int64[{', '.join(map(str, operand))}] {name}"
    outputs = f"int64[{', '.join(map(str, wanted))}] {last}"
    body = "\n".join(f"  {line}" for line in lines)
    text = f'<ir_version: 8, opset_import: ["": 18]>\ng ({inputs}) => ({outputs}) {{\n{body}\n}}'
    (run,) = ReferenceEvaluator(onnx.parser.parse_model(text)).run(None, {name: array})
    assert (run == found).all()


@pytest.mark.parametrize(
    ("shapes", "kinds"),
    [
        (("*a, 3, N", "*a, N"), ["unsqueeze"]),
        (("N", "*a, N, 1"), ["unsqueeze", "squeeze", "transpose"]),
        (("*a, 3, 4, N", "*a, N, 3, 4"), ["transpose", "transpose"]),
        (("*a, C, H, W", "C"), ["unsqueeze", "transpose", "assume", "assume"]),
        (("*a, 7", "*a, 5"), ["slice"]),
        (("*a, 1, N, K", "*a, N, 1, 1, K"), ["reshape", "reshape", "squeeze", "unsqueeze", "unsqueeze"]),
    ],
)
def test_code_counts_axes_of_an_unknown_rank_from_the_end(shapes, kinds):
    result = sb.broadcast(*shapes)
    found = result.repairs()
    assert [repair.kind for repair in found] == kinds
    sizes = {name: 2 + n for n, name in enumerate("NCHWK")}
    for repair, axes in itertools.product(found, [(), (6,), (6, 1)]):
        for n, (before, after) in enumerate(zip(result.operands, repair.operands, strict=True)):
            if before != after:
                check_edit(repair.code, "ab"[n], *(at(shape, {**sizes, "a": axes}) for shape in (before, after)))


def at(shape, sizes):
    asked = sb.broadcast(shape)
    return asked.evaluate({name: sizes[name] for name in asked.witness() or ()})


@pytest.mark.parametrize("row", REPORTED, ids=lambda row: row["mistake"])
def test_code_does_what_the_repair_says(row):
    result = sb.broadcast(*row["shapes"])
    sizes = {s: 2 + n for n, s in enumerate(result.guard().names)}
    for repair in result.repairs(10):
        if repair.kind not in ("assume", "rule"):
            check_code(repair, result.operands, sizes)


@settings(max_examples=80)
@given(st.lists(st.lists(st.sampled_from(["1", "2", "3", "a", "b", "a+1"]), max_size=4), min_size=2, max_size=2))
def test_a_repair_gives_what_it_says_at_all_small_sizes(shapes):
    result = sb.broadcast(*(f"[{', '.join(s)}]" for s in shapes))
    symbols = tuple(result.guard().names)
    for repair in result.repairs(10):
        guard, assumed = repair.condition.guard(), [sb.Condition(a).guard() for a in repair.assume]
        for values in itertools.product(range(6), repeat=len(symbols)):
            sizes = dict(zip(symbols, values, strict=True))
            if not all(c({n: sizes[n] for n in c.names}) for c in assumed):
                continue
            output = reference.numpy(*(named(s, sizes) for s in repair.operands))
            holds = guard({n: sizes[n] for n in guard.names})
            assert (output is not None) == (repair.verdict is sb.Verdict.ALWAYS or holds)
            if output is not None:
                assert named(repair.shape, sizes) == output


SURPRISES = {
    ("N", "N, 1"): ["outer-product"],
    ("2, 256, 256", "2, 1, 256, 256"): ["outer-product"],
    ("1, 3, 128, 3", "1, 3, 1, 1, 1"): ["outer-product"],
    ("32, 1, 64", "32, 64, 1"): [],
    ("N, 1", "M"): [],
    ("N, 1", "1, N"): [],
    ("N", "M"): ["stretch", "stretch"],
    ("N", "3"): [],
    ("N, C", "C"): [],
    ("2, 3", "3, 2"): [],
}


@pytest.mark.parametrize("shapes", SURPRISES, ids=" with ".join)
def test_surprises_are_told_and_happen_at_the_sizes_that_they_name(shapes):
    result = sb.broadcast(*shapes)
    assert [s.kind for s in result.surprises] == SURPRISES[shapes]
    for surprise in result.surprises:
        output = result.evaluate(surprise.sizes)
        operands = [sb.broadcast(s).evaluate({n: surprise.sizes[n] for n in surprise.sizes if n in s}) for s in shapes]
        if surprise.kind == "outer-product":
            assert np.prod(output) > max(map(np.prod, operands))
        else:
            stretched, onto = surprise.operands
            back = surprise.axis - len(output)
            assert operands[stretched][back] == 1 != operands[onto][back] == output[back]


def test_assumptions_rule_surprises_out():
    assert sb.broadcast("N", "M", assume="N == M").surprises == ()
    assert sb.broadcast("N", "M", assume=["N >= 2", "M >= 2"]).surprises == ()
    assert sb.broadcast("N", "N, 1", assume="N == 1").surprises == ()


def test_what_is_always_valid_and_meant_has_no_repairs():
    assert sb.broadcast("N, 3", "3").repairs() == ()
    assert sb.broadcast("N, 1", "M").repairs() == ()


def test_the_weakest_assumption_is_the_condition():
    result = sb.broadcast("N", "M")
    last = result.repairs()[-1]
    assert last.kind == "assume" and sb.Condition(last.assume[0]).equivalent(sb.Condition(result))


def test_rules_are_repairs_too():
    found = sb.broadcast("N, C, H, W", "C", rule="pdpd").repairs()
    assert "use axis=1" in [r.text for r in found if r.kind == "rule"]


def test_explain_tells_the_best_edit_with_its_code_and_the_outer_product():
    assert (
        "fix          reshape B to (batch, 1, 1, S): b[:, None, None]"
        in sb.broadcast("batch, heads, T, S", "batch, S").explain()
    )
    said = sb.broadcast("N", "N, 1").explain()
    assert "surprise     A (N,) and B (N, 1) make an outer product" in said
    assert "fix          reshape B to (N,): b.squeeze(1)" in said


def test_repairs_are_data():
    data = sb.broadcast("N, C, H, W", "C").repairs()[0].to_dict()
    assert json.loads(json.dumps(data)) == {
        "kind": "unsqueeze",
        "text": "reshape B to (C, 1, 1)",
        "operands": ["(N, C, H, W)", "(C, 1, 1)"],
        "rule": "numpy",
        "assume": [],
        "verdict": "always",
        "shape": "(N, C, H, W)",
        "condition": "True",
        "code": {
            "numpy": "b[:, None, None]",
            "torch": "b[:, None, None]",
            "onnx": "b_1_axes = Constant <value_ints = [1, 2]> ()\nb_1 = Unsqueeze (b, b_1_axes)",
        },
    }


@pytest.mark.parametrize(
    ("limit", "advice"),
    [
        *((limit, "write the maximum number of answers, 1 or more") for limit in (0, -1, True, 2.5)),
        ("3", "write limit=3"),
    ],
)
def test_limits_of_repairs_and_cases_are_numbers_above_0(limit, advice):
    result = sb.broadcast("N", "M")
    for ask in (result.repairs, result.cases):
        with pytest.raises(sb.ShapeTypeError, match=advice):
            ask(limit)


@pytest.mark.parametrize(
    ("shapes", "kinds"),
    [
        (("3", "3, 1"), ["outer-product"]),
        (("0", "0, 1"), ["outer-product"]),
        (("1", "1, 1"), []),
        (("3", "4, 1"), []),
        (("N", "M, 1"), []),
    ],
)
def test_an_outer_product_is_a_surprise_where_one_size_comes_twice(shapes, kinds):
    """Of two different sizes it is how an outer product is written."""
    assert [s.kind for s in sb.broadcast(*shapes).surprises] == kinds
