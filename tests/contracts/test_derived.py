"""Contracts with derived sizes: all points work, and as many as brute force finds for the same relations."""

import itertools

import pytest
from random_conditions import condition, tie

import symbcast as sb

CASES = [
    # condition, arguments, derived sizes, free ranges, whether it is the largest
    ("b == 2*a", {}, {"b": "2*a"}, {"a": range(1, 2049)}, True),
    ("H == W and H % 32 == 0", {}, {"W": "H"}, {"H": range(32, 4097, 32)}, True),
    ("b == 2*a and c == b + 3", {"c": "1..50"}, {"b": "2*a", "c": "2*a + 3"}, {"a": range(1, 24)}, True),
    (
        "total == past + seq",
        {"past": "0..7", "seq": "1..4", "total": "1..99"},
        {"total": "past + seq"},
        {"past": range(8), "seq": range(1, 5)},
        True,
    ),
    ("b == 8 - a", {"a": "0..20", "b": "0..20"}, {"a": "8 - b"}, {"b": range(9)}, True),
    ("a == b or a == 1", {"a": "2..9", "b": "1..9"}, {"b": "a"}, {"a": range(2, 10)}, True),
    ("H % 32 == W % 32", {}, {}, {"H": range(32, 4097, 32), "W": range(32, 4097, 32)}, True),
    ("b == 2*a", {"typical": {"b": [64]}, "a": "30..40"}, {"b": "2*a"}, {"a": range(30, 41)}, True),
    ("a*b == c", {"a": 1, "b": "1..9"}, {"c": "b"}, {"a": range(1, 2), "b": range(1, 10)}, True),
]


@pytest.mark.parametrize(("text", "arguments", "derived", "free", "is_largest"), CASES)
def test_derived_sizes(text, arguments, derived, free, is_largest):
    contract = sb.Condition(text).contract(form="derived", **arguments)
    (box,) = contract.boxes
    assert contract.derived == derived
    assert {name: box[name] for name in box if name not in derived} == free
    assert contract.is_largest is is_largest
    assert contract.size == sum(1 for _ in itertools.islice(points(contract), 10**5)) or contract.size > 10**5


def points(contract):
    """Yield the sizes of a contract with derived sizes, by evaluating the texts."""
    for box in contract.boxes:
        free = [name for name in box if name not in contract.derived]
        for chosen in itertools.product(*(box[name] for name in free)):
            sizes = dict(zip(free, chosen, strict=True))
            yield {**sizes, **{name: eval(text, {}, dict(sizes)) for name, text in contract.derived.items()}}


@pytest.mark.parametrize("seed", range(60))
def test_every_point_works(seed):
    text = f"({tie(seed)}) and ({condition(seed, 'abc')})" if seed % 2 else condition(seed, "ab")
    asked = sb.Condition(text)
    names = [str(s) for s in asked.symbols]
    contract = asked.contract(dict.fromkeys(names, range(25)), form="derived")
    holds = asked.guard()
    found = list(points(contract))
    assert all(holds(**point) for point in found)
    assert all(point[name] in contract.boxes[0][name] for point in found for name in names)
    assert contract.size == len(found)
    assert contract.proof
    assert (
        contract.size >= asked.contract(dict.fromkeys(names, range(25)), form="steps").size or not contract.is_largest
    )


def test_the_words_of_derived_sizes():
    contract = sb.Condition("b == 2*a").contract(a="1..9", b="1..18", form="derived")
    assert repr(contract) == "<Contract: always, derived, b=2*a, a=1..9>"
    assert "box          b=2*a, a=1..9" in contract.explain()
    assert contract.left_out[0].clause == "b == 2*a"
    assert len(contract.left_out) == 1  # no other sizes work
