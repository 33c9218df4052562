"""Contracts: sets inside conditions, the largest by brute force, each proved."""

import itertools
import json

import pytest
from random_conditions import (
    MOST,
    condition,
    largest_in_steps,
    largest_of_one,
    largest_of_two,
    largest_progression,
    tie,
)

import symbcast as sb

V = sb.Verdict
SIZES = range(MOST + 1)


def truth(text, names):
    """Return whether a condition holds, as a function of the sizes."""
    return eval(f"lambda {', '.join(names)}: {text}", {"compatible": lambda *sizes: len({*sizes, 1}) <= 2})


def members(box):
    return (dict(zip(box, point, strict=True)) for point in itertools.product(*box.values()))


def names_of(seed):
    return ["a", "b", "c"][: 1 + seed % 3]


@pytest.mark.parametrize("form", ["box", "steps", "profiles", "list"])
@pytest.mark.parametrize("seed", range(24))
def test_every_size_of_a_contract_works(seed, form):
    text = condition(seed, names_of(seed))
    asked = sb.Condition(text)
    names = [str(s) for s in asked.symbols]
    holds = truth(text, names_of(seed))
    contract = asked.contract(dict.fromkeys(names, SIZES), form=form)
    others = dict.fromkeys(names_of(seed), 0)
    assert contract.verdict in (V.ALWAYS, V.NEVER)
    for box in contract.boxes:
        for point in itertools.islice(members(box), 0, None, 1 if len(names) < 3 else 31):
            assert holds(**{**others, **point}), point
    assert contract.proof
    if len(names) < 3:
        works = any(holds(**{**others, **point}) for point in members(dict.fromkeys(names, SIZES)))
        assert bool(contract.boxes) == works


@pytest.mark.parametrize("seed", [n for n in range(40) if n % 3 < 2])
def test_boxes_of_one_and_two_sizes_are_the_largest(seed):
    text = condition(seed, names_of(seed))
    asked = sb.Condition(text)
    names = [str(s) for s in asked.symbols]
    holds, others = truth(text, names_of(seed)), dict.fromkeys(names_of(seed), 0)
    contract = asked.contract(dict.fromkeys(names, SIZES))
    rows = [holds(**{**others, **point}) for point in members(dict.fromkeys(names, SIZES))]
    if len(names) == 1:
        assert contract.size == largest_of_one(rows)
        assert asked.contract({names[0]: SIZES}, form="steps").size == largest_progression(rows)
    elif len(names) == 2:
        assert contract.size == largest_of_two([rows[n : n + len(SIZES)] for n in range(0, len(rows), len(SIZES))])
    assert contract.is_largest == bool(contract.boxes)


@pytest.mark.parametrize("seed", range(40))
def test_steps_of_two_sizes_are_the_largest(seed):
    text = tie(seed) if seed % 2 else condition(seed, "ab")
    text = f"{text} and ({condition(seed, 'ab')})" if seed % 4 == 3 else text
    asked, sizes = sb.Condition(text), range(17)
    names = [str(s) for s in asked.symbols]
    holds, others = truth(text, "ab"), dict.fromkeys("ab", 0)
    contract = asked.contract(dict.fromkeys(names, sizes), form="steps")
    rows = [[holds(**{**others, names[0]: x, names[-1]: y}) for y in sizes] for x in sizes]
    if len(names) == 2:
        assert contract.size == largest_in_steps(rows)
        assert contract.is_largest == bool(contract.boxes)
    assert all(rows[point[names[0]]][point[names[-1]]] for box in contract.boxes for point in members(box))


STEPS = [
    # condition, arguments, boxes; each is proved to be the largest
    ("H % 32 == W % 32", {}, {"H": range(32, 4097, 32), "W": range(32, 4097, 32)}),
    ("H % 32 == W % 32", {"H": "1..40", "W": "1..40"}, {"H": range(1, 34, 32), "W": range(1, 34, 32)}),
    ("H == W", {}, {"H": range(1, 2), "W": range(1, 2)}),
    ("H == W", {"typical": {"H": [640]}}, {"H": range(640, 641), "W": range(640, 641)}),
    ("W == 2*H", {"H": "3..40"}, {"W": range(6, 7), "H": range(3, 4)}),
    ("total == past + seq", {}, {"total": range(2, 3), "past": range(1, 2), "seq": range(1, 2)}),
    ("H*W % 64 == 0", {"H": "1..300"}, {"H": range(1, 301), "W": range(64, 4097, 64)}),
    ("(H + W) % 8 == 3 and W % 2 == 0", {}, None),
]


@pytest.mark.parametrize(("text", "arguments", "box"), STEPS)
def test_steps_of_tied_sizes(text, arguments, box):
    contract = sb.Condition(text).contract(form="steps", **arguments)
    assert box is None or contract.boxes == (box,)
    assert contract.is_largest, contract.reason
    holds = sb.Condition(text).guard()
    assert all(holds(**point) for box in contract.boxes for point in itertools.islice(members(box), 500))


DETECTOR = "(H <= 4 or H % 32 == 0 or H % 32 >= 29) and (W <= 4 or W % 32 == 0 or W % 32 >= 29)"
CASES = [
    # condition, arguments of the contract, boxes
    (DETECTOR, {"H": "64..1280", "W": 320}, [{"H": range(93, 97), "W": range(320, 321)}]),
    (
        DETECTOR,
        {"H": "64..1280", "W": "64..640", "form": "steps"},
        [{"H": range(64, 1281, 32), "W": range(64, 641, 32)}],
    ),
    # As many sizes begin at 29; multiples are preferred.
    ("H <= 4 or H % 32 == 0 or H % 32 >= 29", {"form": "steps"}, [{"H": range(32, 4097, 32)}]),
    ("N == M or N == 1", {}, [{"N": range(1, 2), "M": range(1, 4097)}]),
    ("past + seq <= total", {"past": "0..8", "seq": "1..8", "total": 8}, None),
    ("H % 2 == 0", {"H": "1..9 step 2"}, []),
    ("H % 2 == 0 and N >= 1", {"H": "4..8", "form": "profiles", "N": 1}, [(4,), (6,), (8,)]),
    ("N*M <= 4096", {"N": "1..4096", "M": "1..4096", "typical": {"N": [64], "M": [32, 48]}}, None),
]


@pytest.mark.parametrize(("text", "arguments", "boxes"), CASES)
def test_contracts(text, arguments, boxes):
    contract = sb.Condition(text).contract(**arguments)
    assert contract.verdict is (V.NEVER if boxes == [] else V.ALWAYS)
    if boxes and isinstance(boxes[0], dict):
        assert list(contract.boxes) == boxes
    elif boxes is not None:
        assert [tuple(box["H"]) for box in contract.boxes] == boxes
    for point in itertools.islice((p for box in contract.boxes for p in members(box)), 500):
        assert sb.Condition(text).guard()(**point)
    for name, sizes in (arguments.get("typical") or {}).items():
        assert set(sizes) <= set(contract.boxes[0][name])


def test_a_box_with_typical_sizes_is_better_than_a_larger_one():
    asked = sb.Condition("H <= 20 or H >= 30")
    assert asked.contract(H="1..100").boxes[0]["H"] == range(30, 101)
    assert asked.contract(H="1..100", typical={"H": [8]}).boxes[0]["H"] == range(1, 21)
    assert asked.contract(H=[8, 19, 100]).boxes[0]["H"] == range(8, 21)
    assert sb.Condition("H % 3 == 1 or H == 9").contract(H="1..99", typical={"H": [9]}, form="steps").size == 2


def test_a_range_that_is_large_is_searched_without_listing_points():
    contract = sb.Condition("a <= b and b + c <= 100000").contract(a="1..100000", b="1..100000", c="1..100000")
    assert contract.verdict is V.ALWAYS
    assert contract.size > 10**12
    assert not contract.is_largest
    assert "cannot be extended" in contract.reason
    assert sb.Condition("samples >= 400").contract(samples="1..480000").boxes == ({"samples": range(400, 480001)},)


def test_the_same_question_has_the_same_contract_whatever_the_order_of_its_clauses():
    one = sb.Condition("a <= b and a % 2 == 0").contract(form="profiles", a="0..300", b="0..300")
    other = sb.Condition("a % 2 == 0 and a <= b").contract(form="profiles", b="0..300", a="0..300")
    assert [dict(sorted(box.items())) for box in one.boxes] == [dict(sorted(box.items())) for box in other.boxes]


def test_a_list_of_a_large_group_keeps_what_was_found():
    text = "(c <= 39 or c*c >= 371) and (b*c >= 424 or a % 4 < 1) and (b < 2*b or c//8 > b//8 or a == 1)"
    contract = sb.Condition(text).contract(dict.fromkeys("abc", SIZES), form="list", most=16)
    assert contract.verdict is V.ALWAYS
    assert len(contract.boxes) == 16
    assert contract.is_largest  # no list has more


def test_effort_that_ends_leaves_the_contract_unknown():
    asked = sb.Condition("a*b*c + b*c*d != a*d*d + 7 and a*a*b % 17 != c*d % 13")
    contract = asked.contract()
    assert contract.verdict is not V.NEVER
    assert contract.reason
    assert all(asked.guard()(**p) for box in contract.boxes for p in itertools.islice(members(box), 50))


WRONG = [
    ({"X": 3}, sb.BindingError, "there is no size X; the sizes are H"),
    ({"H": "64...128"}, sb.ShapeTypeError, "is not a range of sizes"),
    ({"H": "9..3"}, sb.ShapeTypeError, "from a smaller to a larger one"),
    ({"H": range(0)}, sb.ShapeTypeError, "from a smaller to a larger one"),
    ({"H": -1}, sb.ShapeTypeError, "from a smaller to a larger one"),
    ({"H": True}, sb.ShapeTypeError, "is not a range of sizes"),
    ({"H": "1..3 step 0"}, sb.ShapeTypeError, "step"),
    ({"H": 1 << 40}, sb.ShapeTypeError, "2147483648"),
    ({"H": "1..1000000000"}, sb.ShapeTypeError, "over at most 16777216 sizes"),
    ({"form": "rows"}, sb.ShapeTypeError, "it is one of box, steps, derived, profiles, list"),
    ({"most": 0}, sb.ShapeTypeError, "1 or more"),
    ({"H": "64.."}, sb.ShapeTypeError, "is not a range with an end"),
    ({"H": "1..inf"}, sb.ShapeTypeError, "give the greatest size"),
    ({"typical": 640}, sb.ShapeTypeError, 'write typical={"H": \\[640\\]}'),
    ({"H": "1..64", "typical": {"H": [640]}}, sb.ShapeTypeError, "which is sought in 1..64"),
]


@pytest.mark.parametrize(("arguments", "error", "text"), WRONG)
def test_wrong_arguments_are_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        sb.Condition("H % 2 == 0").contract(**arguments)


@pytest.mark.parametrize("form", ["list", "profiles"])
def test_many_boxes_are_proved_together(form):
    contract = sb.Condition("H % 2 == 0").contract(form=form, most=5000)
    assert contract.verdict is V.ALWAYS
    assert len(contract.boxes) == 2048
    assert [str(f) for f in contract.left_out] == ["H % 2 == 0 fails at H=1"]


def test_what_a_caller_is_told():
    missed = sb.Condition("H % 2 == 0").contract(H="1..64", typical={"H": [3, 8]})
    assert "typical      H=3 in no box" in missed.explain()
    assert str(*sb.Condition("False").contract().left_out) == "no sizes satisfy the condition"
    assert "the one combination of sizes works" in sb.Condition("H == 4").contract().explain()


def test_sizes_of_a_sequence_have_no_contract():
    with pytest.raises(sb.UnknownRankError):
        sb.broadcast("*batch, N", "M").contract()


def test_the_assumptions_hold_inside_a_contract():
    contract = sb.broadcast("N, 3", "M, 1", assume="N >= 2 and M <= 5").contract(N="0..9", M="0..9")
    assert contract.boxes == ({"N": range(2, 10), "M": range(1, 2)},)
    assert contract.left_out[0].clause == "N >= 2"


def test_what_is_left_out_names_the_clause_and_the_operation():
    env = sb.ShapeEnv()
    env.broadcast("H", "H//2*2", origin="add")
    contract = env.contract(H="2..9", form="steps")
    assert contract.boxes == ({"H": range(2, 9, 2)},)
    (failure,) = contract.left_out
    assert (failure.sizes, failure.clause, failure.node) == ({"H": 3}, "H == 1 or H % 2 == 0", "add")
    box = env.contract(H="2..9")
    assert [f.sizes for f in box.left_out] == [{"H": 3}, {"H": 4}]
    assert "the form does not express them" in str(box.left_out[1])
    assert "H=2" in box.explain()


def test_a_size_without_a_range_has_what_the_assumptions_allow():
    asked = sb.broadcast("N, M", "N, M", assume="N % 8 == 0 and M >= 3 and M <= 5")
    assert asked.contract().wanted == {"N": range(8, 4097, 8), "M": range(3, 6)}
    assert asked.contract(form="steps").size == 512 * 3
    assert sb.Condition("N == 5").contract().wanted == {"N": range(1, 4097)}  # a condition is not an assumption


def test_answers_without_sizes_and_without_inputs():
    assert json.loads(sb.broadcast((2, 3), (2, 1)).contract().to("openvino")) == {"A": "[2,3]", "B": "[2,1]"}
    assert sb.broadcast((2, 3), (2, 2)).contract().verdict is V.NEVER
    assert sb.Condition("N >= 1 and N < 1").contract().verdict is V.NEVER
    assert sb.explore_paths(lambda sizes: 1 // (sizes[0] % 3), "N").contract(N="0..9").boxes == ({"N": range(1, 3)},)


def test_sizes_at_which_a_term_is_undefined_are_outside():
    contract = sb.broadcast("N//M", "K").contract(N="0..20", M="0..5", K="0..5")
    assert contract.boxes == ({"N": range(21), "M": range(1, 6), "K": range(1, 2)},)


def test_what_is_open_cannot_be_set():
    contract = sb.broadcast("N", "M").contract(N="1..4", M="1..4")
    with pytest.raises(AttributeError):
        contract.open = "?"
    assert (contract.open, contract.is_largest) == ("", True)
