"""A least size of 1 changes nothing that masks cannot tell: programs on masks held against the same ones in full."""

from hypothesis import example, given
from hypothesis import strategies as st

import symbcast as sb

names = st.sampled_from("NMKL")
sizes = st.one_of(names, names, st.integers(0, 4))
shapes = st.lists(sizes, max_size=3).map(tuple)
programs = st.lists(st.lists(shapes, min_size=1, max_size=3).map(tuple), min_size=1, max_size=4)


def told(operations, least, at_start, in_full):
    """Return all that a program says where some names are at least 1."""
    env = sb.ShapeEnv(on_conflict="record")
    if in_full:
        env.require("zero == zero")  # what masks do not hold
    outputs = []
    for place, operation in enumerate(operations):
        if (place == 0) is at_start:
            env.assume(*(f"{name} >= 1" for name in least))
        try:
            outputs.append(str(env.broadcast(*operation)))
        except sb.SymbcastError as error:
            outputs.append(type(error).__name__)
    found = [env.witness(), env.counterexample()]
    for sizes_ in found:
        if sizes_ is not None:
            sizes_.pop("zero", None)
    return outputs, env.verdict, env.condition, found, [a.text for a in env.assumptions]


@given(programs, st.sets(names), st.booleans())
@example([(("N", 0), ("M", "K"))], {"N"}, True)
@example([(("N",), ("M",)), ((0,), ("N",))], {"N", "M"}, True)
@example([(("N",), (0,)), (("M",), ("N",))], {"N"}, False)
def test_names_of_at_least_one(operations, least, at_start):
    least = sorted(least)
    on_masks, in_full = (told(operations, least, at_start, full) for full in (False, True))
    assert on_masks == in_full


@given(programs)
def test_a_least_size_of_one_for_all(operations):
    found = []
    for in_full in (False, True):
        env = sb.ShapeEnv(min_size=1, on_conflict="record")
        if in_full:
            env.require("zero == zero")
        outputs = [str(env.broadcast(*operation)) for operation in operations]
        evidence = [env.witness(), env.counterexample()]
        for sizes_ in evidence:
            if sizes_ is not None:
                sizes_.pop("zero", None)
        found.append((outputs, env.verdict, env.condition, evidence))
    assert found[0] == found[1]
