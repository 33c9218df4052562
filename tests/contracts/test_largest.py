"""What is said to be the largest set of a form is the largest, by brute force over all sets (`largest_sets.py`)."""

import pytest
from largest_sets import mistakes

import symbcast as sb

PINNED = [
    # arguments of broadcast, ranges, form, size
    (("B", "B2"), {"B": "2..8", "B2": "2..8"}, "derived", 7),
    (("A, B", "A2, B2"), {"A": "2..8", "A2": "2..8", "B": "2..32", "B2": "2..32"}, "derived", 217),
    (("A", "B", "C"), dict.fromkeys("ABC", "2..8"), "derived", 7),
    (("A, B", "A2, B2"), {"A": "2..8", "A2": "2..8", "B": "2..32", "B2": "2..32"}, "list", 128),
]


@pytest.mark.parametrize(("shapes", "ranges", "form", "size"), PINNED)
def test_relations_inside_joins(shapes, ranges, form, size):
    contract = sb.broadcast(*shapes).contract(ranges, form=form)
    assert (contract.size, contract.is_largest) == (size, True)


@pytest.mark.parametrize("seed", range(80))
def test_what_is_said_to_be_the_largest_is_the_largest(seed):
    assert mistakes(seed)[0] == []


def test_more_sets_that_are_said_to_be_the_largest():
    assert [line for seed in range(1000, 1400) for line in mistakes(seed)[0]] == []


def test_profiles_that_may_not_be_the_largest_together_say_so():
    """A cross: its largest box leaves two halves of the other arm, but three boxes cover it."""
    cross = sb.Condition("(a >= 3 and a <= 5) or (b >= 3 and b <= 5)")
    contract = cross.contract(a="1..7", b="1..7", form="profiles", most=2)
    assert not contract.is_largest
    assert "other boxes may have more sizes together" in contract.reason
    assert cross.contract(a="1..7", b="1..7", form="profiles", most=3).is_largest


def test_a_list_that_has_as_many_sizes_as_it_may_is_the_largest():
    tied = sb.Condition("H*W % 64 == 0 and N >= 1 and K >= 1 and L >= 1").contract(form="list")
    assert (len(tied.boxes), tied.is_largest) == (128, True)
    assert all(tied.question and sb.Condition("H*W % 64 == 0").guard()(H=b["H"][0], W=b["W"][0]) for b in tied.boxes)


@pytest.mark.parametrize(
    ("condition", "form", "ranges", "line"),
    [
        ("H % 120 == 64", "box", {"H": "64..1024"}, "covers       1 of 961 sizes of H"),
        ("H % 120 == 64", "steps", {"H": "64..1024"}, "covers       9 of 961 sizes of H"),
        ("H % 120 == 64 and N >= 1", "list", {"H": "64..1024", "N": 4}, "covers       9 of 961 sizes of H"),
        (
            "H >= 2 and W >= 3",
            "box",
            {"H": "1..9", "W": "1..9"},
            "covers       8 of 9 sizes of H and 7 of 9 sizes of W",
        ),
        ("H >= 2", "box", {"H": "2..9"}, "covers       all wanted sizes"),
        ("H + W <= 4", "profiles", {"H": "1..3", "W": "1..3"}, "covers       6 of 9 combinations of the wanted sizes"),
    ],
)
def test_a_contract_says_what_it_covers(condition, form, ranges, line):
    contract = sb.Condition(condition).contract(ranges, form=form)
    assert line in contract.explain().splitlines()
    for name, (has, of) in contract.coverage.items():
        assert (has, of) == (len({n for box in contract.boxes for n in box[name]}), len(contract.wanted[name]))
