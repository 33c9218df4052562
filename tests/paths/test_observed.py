"""Answers that only real calls give: they are kept apart from proof, and functions with effects are not called."""

import itertools
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import symbcast as sb
from symbcast.arrays.arguments import TraceArguments
from symbcast.arrays.trace import RealRun
from symbcast.core.isolation import DiedError, ForkLimits, forked
from symbcast.paths.answer import conclusions_of
from symbcast.paths.observation import observed

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be copied here")
LIMITS = ForkLimits(cpu_seconds=5, seconds=10)


class Kept(np.ndarray):
    def __new__(cls, x):
        return np.asarray(x).view(cls)


def total(x):
    return Kept(x).sum(axis=0)


def masked(x, m):
    return np.ma.masked_array(x, mask=m).mean(axis=0)


def halves(x):
    if Kept(x).shape[0] % 2:
        raise ValueError("odd")
    return Kept(x)[: len(x) // 2], [len(x) + 1, 2.5]


def later(x):
    if Kept(x).shape[0] >= 40:
        raise ValueError("long")
    return x


def scattered(x):
    if Kept(x).shape[0] in {1, 4, 5, 9, 11}:
        raise ValueError("unlucky")
    return x


@pytest.mark.parametrize(
    ("function", "arguments", "condition", "shapes"),
    [
        (total, ["N, D"], "True", "(D,)"),
        (masked, ["N, D", "M, D"], "D == 0 or N == M or (D == M and D == 1)", "(D,)"),
        (halves, ["N"], "N % 2 == 0", "(Shape('(N//2,)'), [N + 1, <class 'float'>])"),
        (lambda x, y: Kept(x) + y, ["N, 3", "M, D"], "(D == 3 or D == 1) and (N == M or N == 1 or M == 1)", None),
        (lambda x: Kept(x)[np.asarray(x) > 0.5], ["N"], "True", "(?,)"),
    ],
)
def test_real_calls_at_all_small_sizes_are_an_answer_of_their_own(function, arguments, condition, shapes):
    report = sb.trace(function, *arguments)
    assert report.verdict is sb.Verdict.OBSERVED and not report.complete
    assert report.observed.condition.equivalent(condition)
    assert shapes is None or str(report.observed.shapes) == shapes
    assert str(report.condition) == "True" and str(report.account.works) != "True"
    assert f"{report.observed}" in " ".join(report.explain().split())
    assert "observed" in report.explain().partition("\n")[0] and "not proved beyond" in str(report.observed)
    data = json.loads(json.dumps(report.to_dict()))
    assert data["verdict"] == "observed" and data["observed"]["condition"] == str(report.observed.condition)
    (notice,) = (n for n in json.loads(report.report("json"))["account"]["open"][:1])
    assert notice["reason"]


def test_an_observed_answer_is_right_at_all_sizes_that_were_tried():
    report = sb.trace(masked, "N, D", "M, D")
    works = 0
    for n, d, m in itertools.product(range(report.observed.largest + 1), repeat=3):
        try:
            shape = masked(np.ones((n, d)), np.ones((m, d))).shape
        except Exception:
            shape = None
        assert report.observed.condition.guard()(N=n, D=d, M=m) == (shape is not None)
        assert shape in {None, (d,)}
        works += shape is not None
    assert works < report.observed.works < works + report.observed.larger and report.observed.tried == 216


def test_no_guard_takes_an_observed_answer_for_a_proof():
    report = sb.trace(total, "N, D")
    guard = report.guard()
    with pytest.raises(sb.UndecidedError):
        guard(N=40, D=50)


def test_what_fails_beyond_the_tried_sizes_is_not_known():
    assert "at all 13 sizes up to 12 and 3 larger ones tried: " in str(sb.trace(later, "N").observed)


def test_sizes_without_a_short_condition_have_no_answer():
    report = sb.trace(scattered, "N")
    # Other data might make it work where it failed.
    assert report.observed is None and report.verdict is sb.Verdict.UNKNOWN
    assert "observed     nothing: no short condition" in report.explain()


def test_the_proof_stands_where_there_is_one():
    report = sb.trace(lambda x, y: (x + y) if len(x) > 3 else Kept(x) + y, "N", "M")
    assert report.account.needed != report.account.works
    assert report.cases[0].works and report.observed.condition.equivalent("N == M or N == 1 or M == 1")


def test_it_can_be_turned_off():
    report = sb.trace(total, "N, D", observe=False)
    assert report.verdict is sb.Verdict.UNKNOWN and report.observed is None
    assert report.to_dict()["observed"] is None


def test_a_promise_that_was_only_observed_is_not_kept():
    @sb.checked("N, D", returns="D")
    def promising(x):
        return Kept(x).sum(axis=0)

    module = types.ModuleType("promises_of_mine")
    module.promising = promising
    promising.__module__ = module.__name__
    (broken,) = sb.check_promises(module)
    assert "not known whether it holds" in str(broken) and "observed at all 49 sizes" in str(broken)


def printing(x):
    print("seen")
    return Kept(x)


def writing(x):
    Path("/nowhere/written").write_text("")


def starting(x):
    subprocess.run([sys.executable, "-c", ""], check=True)


def connecting(x):
    import socket

    socket.create_connection(("localhost", 1))


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (printing, "it prints"),
        (writing, "it writes to the file /nowhere/written"),
        (starting, "it calls subprocess.Popen"),
        (connecting, "it calls socket."),
        (lambda x: Path("nowhere").unlink(), "it calls os.remove"),
    ],
)
def test_what_has_effects_is_stopped_before_the_first(work, reason):
    answer, refused = forked(lambda: work(np.ones(3)), LIMITS)
    assert answer is None and refused.startswith(reason)


def test_a_traced_function_that_prints_is_not_called(capfd):
    report = sb.trace(printing, "N", observe=False)
    traced = capfd.readouterr().out.count("seen")
    report = sb.trace(printing, "N")
    assert capfd.readouterr().out.count("seen") == traced
    assert report.observed is None and "nothing: it is not called at all small sizes: it prints" in report.explain()


def endless():
    while True:
        pass


@pytest.mark.parametrize("work", [lambda: os._exit(3), os.abort, endless])
def test_a_copy_that_ends_or_never_ends_is_no_answer(work):
    with pytest.raises(DiedError):
        forked(work, ForkLimits(cpu_seconds=1, seconds=10))


def test_what_a_copy_changes_stays_in_it():
    seen = []
    assert forked(lambda: (seen.append(1), len(seen))[1], LIMITS) == (1, "")
    assert seen == []


def jax_scan(x):
    import jax

    return jax.lax.associative_scan(jax.numpy.add, x)


def jax_split(x, h):
    import jax.numpy as jnp

    return jnp.split(x, h)


@pytest.mark.parametrize(
    ("function", "arguments", "condition"),
    [(jax_scan, ["N, D"], "True"), (jax_split, ["N, D", sb.size("H")], "N % H == 0")],
)
def test_what_jax_refuses_is_called_a_limit_of_jax(function, arguments, condition):
    pytest.importorskip("jax")
    report = sb.jax.trace(function, *arguments)
    assert report.reason.startswith("JAX does not trace this with symbolic sizes (")
    assert report.verdict is sb.Verdict.OBSERVED
    assert report.observed.condition.equivalent(condition, min_size=1)


def bisected(x):
    lo, hi = 0, len(x)
    while lo < hi:
        mid = (lo + hi) // 2
        lo, hi = (mid + 1, hi) if x[mid] < 0 else (lo, mid)
    return Kept(x)[:lo]


def test_a_shape_that_data_decide_is_not_given_a_form():
    assert str(sb.trace(bisected, "N").observed.shapes) == "(?,)"


def test_an_open_answer_names_what_would_close_it():
    def counted(x):
        return {str(n): row.sum() for n, row in enumerate(x)}

    text = sb.trace(counted, "N, M").explain()
    assert 'exact with   assume=["N <= 8"]' in text
    assert "decides by sizes again and again: return {str(n)" in " ".join(text.split())
    assert sb.trace(counted, "N, M", assume=["N <= 8"]).complete


def test_a_reason_is_in_words_of_the_users_code():
    def typed(x):
        return x + (2 if type(x) is np.ndarray else x.shape[0] @ x.shape[0])

    reason = sb.trace(typed, "N").reason
    assert reason.startswith("the trace cannot follow this line (TypeError: ") and "; real calls work, at " in reason
    assert "Size" not in reason and "a size" in reason


def test_calls_that_do_not_end_are_named(monkeypatch):
    def waits(x):
        while type(Kept(x)) is Kept:
            pass

    monkeypatch.setattr("symbcast.paths.observation.LIMITS", ForkLimits(cpu_seconds=1, seconds=10))
    calls = RealRun(waits, TraceArguments(["N"], {}), [sb.shape("N")])
    conclusions = conclusions_of(sb.trace(total, "N, D", observe=False))
    assert "calls at small sizes took more than 1 seconds" in observed(conclusions, calls).unobserved


def test_a_call_that_needs_much_memory_fails_no_size():
    report = sb.trace(lambda x: np.zeros(1 if len(Kept(x)) < 12 else 1 << 31), "N")
    assert str(report.observed.condition) == "True" and report.observed.tried == 12


def test_a_copy_has_little_memory():
    with pytest.raises(DiedError):
        forked(lambda: len(np.ones(1 << 31)), LIMITS)
