"""Buckets: the least padding, by brute force over all choices of valid shapes."""

import itertools
import json
import random

import pytest
from documents import ROOT

import symbcast as sb

DETECTOR = sb.Condition("H <= 4 or H % 32 == 0 or H % 32 >= 29")
CONDITIONS = ["{0} >= 1", "{0} % 4 == 0", "{0} <= 3 or {0} % 5 <= 1", "{0} % 3 == 2"]


def cost(shapes, traffic):
    """Return the elements after padding; None if a request fits no shape."""
    total = 0
    for point, count in traffic.items():
        areas = [area(shape) for shape in shapes if all(a >= b for a, b in zip(shape, point, strict=True))]
        if not areas:
            return None
        total += count * min(areas)
    return total


def area(shape):
    found = 1
    for n in shape:
        found *= n
    return found


def least(traffic, k, valid):
    """Return the least cost of at most ``k`` of all valid shapes."""
    found = (cost(shapes, traffic) for n in range(1, k + 1) for shapes in itertools.combinations(valid, n))
    return min((c for c in found if c is not None), default=None)


def histogram(chance, sizes, most):
    points = {tuple(chance.randint(1, most) for _ in range(sizes)) for _ in range(chance.randint(1, 7))}
    return {point: chance.randint(1, 9) for point in points}


@pytest.mark.parametrize("seed", range(120))
def test_buckets_of_one_size_are_the_least(seed):
    chance = random.Random(seed)
    asked = sb.Condition(chance.choice(CONDITIONS).format("H"))
    traffic, k = histogram(chance, 1, 20), chance.randint(1, 4)
    found = asked.contract(H="1..24").buckets(k, {n: count for (n,), count in traffic.items()})
    holds = asked.guard()
    valid = [(n,) for n in range(1, 25) if holds(H=n)]
    padded = cost([tuple(shape.values()) for shape in found.shapes], traffic)
    assert padded == least(traffic, k, valid)
    assert found.waste == pytest.approx(padded / sum(area(p) * n for p, n in traffic.items()) - 1)
    assert len(found.shapes) <= k
    assert found.is_least
    assert found.proof


@pytest.mark.parametrize("seed", range(80))
def test_buckets_of_two_sizes_are_the_least(seed):
    chance = random.Random(seed)
    texts = [chance.choice(CONDITIONS).format(name) for name in "HW"]
    tied = chance.choice(["H <= 2*W", "H*W <= 60", "H % 2 == W % 2", "H >= 0"])
    asked = sb.Condition(" and ".join([*texts, tied]))
    traffic, k = histogram(chance, 2, 7), chance.randint(1, 3)
    holds = asked.guard()
    valid = [(h, w) for h in range(1, 11) for w in range(1, 11) if holds(H=h, W=w)]
    expected = least(traffic, k, valid)
    contract = asked.contract(H="1..10", W="1..10")
    if expected is None:
        with pytest.raises(sb.UndecidedError):
            contract.buckets(k, traffic)
        return
    found = contract.buckets(k, traffic)
    assert cost([tuple(shape.values()) for shape in found.shapes], traffic) == expected
    assert found.is_least
    assert all(holds(**shape) for shape in found.shapes)


def test_a_request_takes_the_smallest_shape_that_is_large_enough():
    found = DETECTOR.contract(H="32..1280").buckets(3, [60, 64, 300, 301, 900])
    assert found.shapes == [{"H": 64}, {"H": 317}, {"H": 925}]
    assert found.of(H=65) == {"H": 317}
    assert found.of(H=5000) is None


def test_a_shape_works_with_all_values_of_the_other_sizes():
    contract = sb.Condition("past + seq <= total").contract(past="0..8", seq="1..8", total="1..64")
    found = contract.buckets(2, [20, 30], sizes=["total"])
    box = contract.boxes[0]
    for shape in found.shapes:
        for past, seq in itertools.product(box["past"], box["seq"]):
            assert past + seq <= shape["total"]


def test_traffic_that_is_large_is_not_exact_but_sound():
    chance = random.Random(7)
    traffic = {(chance.randint(30, 900), chance.randint(30, 900)): 1 for _ in range(150)}
    found = sb.Condition("H % 32 == 0 and W % 32 == 0").contract(H="32..1280", W="32..1280").buckets(6, traffic)
    assert not found.is_least
    assert found.reason
    assert all(found.of(H=h, W=w) is not None for h, w in traffic)
    one = sb.Condition("H % 32 == 0 and W % 32 == 0").contract(H="32..1280", W="32..1280").buckets(1, traffic)
    assert found.waste < one.waste


# Valid pairs so rare that the effort ends before those for all requests are known.
RARE = "H == 2*W or W == 2*H or H == W"


@pytest.mark.parametrize("text", ["H % 32 == 0 and W % 32 == 0", "H*W % 64 == 0", "H >= 1 and W >= 1", RARE])
def test_many_requests_of_two_sizes_are_answered(text):
    chance = random.Random(1)
    requests = [(chance.randint(30, 1200), chance.randint(30, 1200)) for _ in range(400)]
    contract = sb.Condition(text).contract(H="1..1280", W="1..1280")
    found, one = contract.buckets(4, requests), contract.buckets(1, requests)
    assert not found.is_least
    assert found.reason == "too many distinct sizes (400) to find the best; round them first"
    assert all(found.of(H=h, W=w) is not None for h, w in requests)
    assert all(sb.Condition(text).guard()(**shape) for shape in found.shapes)
    assert len(found.shapes) == 4
    assert found.waste < (0.8 if text == RARE else 0.5) * one.waste


LENGTHS = json.loads((ROOT / "tests/data/lengths.json").read_text("utf-8"))


@pytest.mark.parametrize("lengths", LENGTHS, ids=lambda found: found["name"])
def test_buckets_waste_less_than_as_many_powers_of_two(lengths):
    traffic = dict(lengths["lengths"])
    powers = {length: 1 << max(3, (length - 1).bit_length()) for length in traffic}
    contract = sb.Condition("T % 8 == 0").contract(T="8..16384", form="steps")
    found = contract.buckets(len({*powers.values()}), traffic)
    whole = sum(length * count for length, count in traffic.items())
    assert found.is_least
    assert found.waste < 0.7 * (sum(powers[n] * count for n, count in traffic.items()) / whole - 1)
    assert all(found.of(T=length) for length in traffic)


WRONG = [
    (0, [3], {}, "1 or more"),
    (2, [], {}, "at least one request"),
    (2, [(3, 4)], {}, "1 size"),
    (2, {3: -1}, {}, "how often"),
    (2, [0], {}, "1 size"),
    (2, [3], {"sizes": ["W"]}, "there is no size W"),
]


@pytest.mark.parametrize(("k", "traffic", "options", "text"), WRONG)
def test_wrong_traffic_is_refused(k, traffic, options, text):
    with pytest.raises(sb.SymbcastError, match=text):
        DETECTOR.contract(H="32..64").buckets(k, traffic, **options)


def test_sizes_that_no_valid_shape_covers_are_an_error():
    with pytest.raises(sb.UndecidedError, match="no valid shape"):
        DETECTOR.contract(H="32..64").buckets(2, [65])
