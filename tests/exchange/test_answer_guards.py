"""A broadcast, a condition and a program give the same guards by the same words: run, and beside a brute force."""

from __future__ import annotations

import itertools

import pytest
from exchange import consumers

import symbcast as sb

STOP = 5

QUESTIONS = [
    (("N, 3", "M, 1"), {}),
    (("2, 3", "3"), {}),
    (("2, 3", "4"), {}),
    (("N, 3, K", "M, 1, 2..3"), {"assume": "N >= 2"}),
    (("N, M", "N + 1, 2*M"), {}),
    (("N//2", "N"), {}),
    (("(N + M)//2, K", "N, M"), {"assume": ["N <= 3", "M % 2 == 0"]}),
    (("N // (M - 2)", "3"), {}),
    (("N*M, K", "6, N"), {}),
    (("?, 3", "?, 1", "2..3, 1"), {"min_size": 1}),
    (("'a b', x.y", "class, 3"), {"assume": "'a b' >= 1"}),
    (("N, C, H", "C, 1"), {"rule": "pdpd", "axis": 1}),
    (("N, 1", "M, K"), {"rule": "unidirectional"}),
    (("broadcast(N, M), 2", "K, 2"), {}),
    (("N, M", "M, K"), {"rule": "none", "assume": "N == 2*M or N == 1"}),
    (("N - 2", "M % 3"), {}),
]
ANSWERS = [sb.broadcast(*shapes, **rest) for shapes, rest in QUESTIONS]


def points(answer):
    return list(itertools.product(range(STOP), repeat=len(answer.guard().names)))


def outcome(result, sizes):
    """Return whether the shapes broadcast at some sizes, put into each shape; None for sizes that are not allowed."""
    try:
        result.evaluate(dict(zip(result.guard().names.values(), sizes, strict=True)))
    except sb.IncompatibleShapesError:
        return False
    except sb.BindingError:
        return None
    return True


def test_guards_of_broadcasts_in_every_language(tmp_path):
    places = [points(r) for r in ANSWERS]
    wanted = [[outcome(r, p) for p in sizes] for r, sizes in zip(ANSWERS, places, strict=True)]
    assert {True, False, None} == {w for row in wanted for w in row}
    for consumer, found in consumers.all_tables(ANSWERS, places, tmp_path).items():
        for result, sizes, truth, got in zip(ANSWERS, places, wanted, found, strict=True):
            wrong = [p for p, w, g in zip(sizes, truth, got, strict=True) if w is not None and w != g]
            assert not wrong, f"{consumer} at {wrong[:3]}: {result!r}"


def test_guards_of_broadcasts_check_the_assumptions_where_they_are_asked_to():
    for result in ANSWERS:
        guard = result.guard(with_assumptions=True)
        for sizes in points(result):
            assert guard.function(*sizes) == (outcome(result, sizes) is True), (result, sizes)


CONDITIONS = [
    sb.Condition("N == M or N == 1 or M == 1"),
    sb.Condition("N // (M - 3) == 2 or K == 1"),
    ~sb.Condition("compatible(N, M, K)"),
    sb.Condition("N*M*K == 24") | "N + M <= 2",
    sb.Condition("N >= 2") >> "M % N == 0",
    sb.Condition("?a == 2 and ?0 <= 3"),
    (sb.Condition(sb.broadcast("N, K", "M, K")) & "N >= 2 and M >= 2").simplified(),
    sb.Condition("True"),
    sb.Condition("N == 1 and N == 2"),
]


def test_guards_of_conditions_in_every_language(tmp_path):
    places = [points(c) for c in CONDITIONS]
    for consumer, found in consumers.all_tables(CONDITIONS, places, tmp_path).items():
        for condition, sizes, got in zip(CONDITIONS, places, found, strict=True):
            for point, is_so in zip(sizes, got, strict=True):
                names = condition.guard().names.values()
                assert condition.guard()(dict(zip(names, point, strict=True))) == is_so, (consumer, condition, point)


def test_one_question_has_one_guard():
    """Asked as a broadcast, as its condition, or as a program: the same sizes in the same order."""
    for (shapes, rest), result in zip(QUESTIONS, ANSWERS, strict=True):
        bare = sb.Condition(result).to_python(with_assumptions=False)
        assert bare == result.to_python(with_assumptions=False)
        assert sb.Condition(result).guard().parameters == result.guard().parameters
        known = {"assume": rest.get("assume", ()), "min_size": rest.get("min_size", 0)}
        if result.shape is None:
            continue  # refused by a program
        program = sb.ShapeEnv(**known)
        program.broadcast(*shapes, **{name: value for name, value in rest.items() if name not in known})
        assert sorted(program.guard().parameters) == sorted(result.guard().parameters)
        for with_assumptions in (False, True):
            ours, theirs = (a.guard(with_assumptions=with_assumptions) for a in (result, program))
            for sizes in map(dict, (zip(result.guard().names.values(), p, strict=True) for p in points(result))):
                assert with_assumptions or ours(sizes) == theirs(sizes) or outcome(result, sizes.values()) is None
                assert not with_assumptions or ours(sizes) == theirs(sizes)


GUARDED = [sb.broadcast("N, 3", "M, 1"), sb.Condition("N == M or N == 1 or M == 1"), sb.ShapeEnv()]
GUARDED[2].broadcast("N, 3", "M, 1")
LANGUAGES = ["to_python", "to_cpp", "to_smtlib", "to_mlir"]


@pytest.mark.parametrize("answer", GUARDED, ids=lambda answer: type(answer).__name__)
def test_the_words_are_the_same_everywhere(answer):
    guard = answer.guard()
    assert guard(N=4, M=1) and guard({"N": 4, "M": 4}) and not guard({answer.symbols[0]: 4, "M": 2})
    assert guard.source == answer.to_python()
    for language in LANGUAGES:
        assert "fits" in getattr(answer, language)("fits", with_assumptions=False)
        with pytest.raises(ValueError, match="cannot name a function"):
            getattr(answer, language)("a b")
    for sizes, words in [
        ({"N": 1}, "no size was given for M"),
        ({"N": 1, "X": 1}, "no size here is named 'X'"),
        ({"N": 1, "M": -1}, "M=-1 is not a size"),
        ({"N": 1, "M": 1.5}, "M=1.5 is not a size"),
    ]:
        with pytest.raises(sb.BindingError, match=words):
            guard(sizes)


def test_the_guard_of_what_is_not_decided_is_exact():
    result = sb.broadcast("N**3 + M**3", "K**3", assume=["N >= 2", "M >= 2", "K >= 2"])
    assert result.verdict is sb.Verdict.UNKNOWN
    guard = result.guard()
    for sizes in itertools.product(range(2, STOP), repeat=3):
        assert guard.function(*sizes) == outcome(result, sizes)
