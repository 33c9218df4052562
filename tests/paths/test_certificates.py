"""Certificates of traced functions: z3 proves the condition from the steps of the paths."""

from __future__ import annotations

import numpy as np

import symbcast as sb
from symbcast.paths.answer import conclusions_of
from symbcast.paths.conclusions import Conclusions


def rows(x, y):
    return (x.reshape(x.shape[0] // y.shape[0], -1) + 1).sum(axis=1)


def branching(x, y):
    n = x.shape[0] // y.shape[0]
    if n > 2 and x.shape[0] % n != 1:
        return x[:n] + y[:n]
    if n != 1:
        return x
    raise ValueError(n)


def halves(x, y):
    k = x.shape[0]
    while k > 3:
        k = k // 2
    return x[:k] + y[:k]


def chosen(x, y):
    return np.concatenate([x, y])[x > 0]


def proofs(function):
    return {claim.text: claim.proof.value for claim in sb.trace(function, "N", "M").certify().claims}


def test_all_claims_about_a_function_are_proved():
    for function in (rows, branching):
        results = [text for text in proofs(function) if "is returned where" in text]
        assert len(proofs(function)) == 4 + len(results) and set(proofs(function).values()) == {"proved"}
        assert len(results) == sum(case.works for case in sb.trace(function, "N", "M").cases) > 0


def test_a_result_at_sizes_of_another_is_refuted(monkeypatch):
    report = sb.trace(branching, "N", "M")
    cases = list(Conclusions.cases(conclusions_of(report), are_working=True))
    (first, end, text), (second, other, _) = cases
    swapped = [(second, end, text), (first, other, text)]
    monkeypatch.setattr(Conclusions, "cases", lambda found, are_working=False: iter(swapped))
    found = [claim for claim in report.certify().claims if "is returned where" in claim.text]
    assert [claim.proof.value for claim in found] == ["refuted"] * 2


def test_of_a_function_with_paths_not_followed_what_works_and_what_fails_is_proved():
    assert proofs(halves) == {
        "wherever the constraints hold, the condition does": "proved",
        "at the sizes proved to work, a path returns": "proved",
        "where the condition does not hold, a path fails": "proved",
        "every path was followed": "undecided",
    }


def test_what_data_decide_is_undecided():
    assert proofs(chosen)["wherever the condition holds, suitable data exist"] == "undecided"
    assert "refuted" not in proofs(chosen).values()
