"""Every recorded answer of a document or a runtime, asked again."""

from __future__ import annotations

import pytest
import recorded
import reference

import symbcast as sb


def answer(rule, shapes, **attributes):
    """Return the output for integer shapes, None where they are refused."""
    try:
        result = sb.broadcast(*map(tuple, shapes), rule=rule, **attributes)
    except sb.RuleArgumentError:
        return None
    if result.verdict is sb.Verdict.ALWAYS:
        return list(result.shape)
    assert result.verdict is sb.Verdict.NEVER
    return None


@pytest.mark.parametrize("example", recorded.document_examples(), ids=lambda e: e["id"])
def test_examples_of_the_documents(example):
    rule, shapes, attributes = recorded.question(example["rule"], example["attrs"], example["shapes"])
    if example["rule"] == "explicit" and any(isinstance(size, str) for size in shapes[0]):
        result = sb.broadcast(*map(tuple, shapes), rule=rule, **attributes)
        assert result.verdict is sb.Verdict.ALWAYS
        assert result.shape == sb.shape(tuple(example["result"]))
        return
    assert answer(rule, shapes, **attributes) == example["result"]


def test_every_example_is_there():
    assert len(recorded.document_examples()) == 56


def test_runtimes():
    wrong = []
    for row in recorded.runtimes():
        expected = row["out"] if row["ok"] else None
        if row["rule"] == "b3_pdpd":
            continue  # in no document, so not offered
        if row["rule"] == "gemm":
            a, b, c = row["shapes"]
            got = answer("unidirectional", [c, [a[0], b[1]]]) if a[1] == b[0] else None
        else:
            rule, shapes, attributes = recorded.question(row["rule"], row["attrs"], row["shapes"], "openvino")
            got = answer(rule, shapes, **attributes)
        if got != expected:
            wrong.append((row, got))
    assert wrong == []


def test_paddle_flavour_of_pdpd():
    wrong, asked = [], 0
    for row in recorded.runtimes():
        known = "paddle" in row["also"] or "paddle" in row["differ"]
        if row["rule"] != "pdpd" or not known or row["attrs"]["axis"] < -1:
            continue
        asked += 1
        expected = row["differ"].get("paddle", row["out"])
        got = answer("pdpd", row["shapes"], axis=row["attrs"]["axis"], flavour="paddle")
        if got != expected:
            wrong.append((row, got))
    assert wrong == []
    assert asked > 300


def test_documents_reading_where_runtimes_differ():
    """The default flavours are the documents': held against the reference, on the runtimes' questions."""
    wrong = []
    for row in recorded.runtimes():
        if row["rule"] not in ("pdpd", "explicit", "onnx_legacy6"):
            continue
        rule, shapes, attributes = recorded.question(row["rule"], row["attrs"], row["shapes"])
        expected = reference.RULES[rule](*shapes, **attributes)
        if answer(rule, shapes, **attributes) != (None if expected is None else list(expected)):
            wrong.append(row)
    assert wrong == []


def dim(written, bounds):
    if isinstance(written, dict):
        bounds.append((written["s"], written["i"]))
        return written["s"]
    return written


def assumption(name, interval):
    if interval == "?":
        return []
    if ".." not in interval:
        return [f"{name} == {interval}"]
    low, high = interval.split("..")
    return [f"{name} >= {low}"] * bool(low) + [f"{name} <= {high}"] * bool(high)


def test_symbolic():
    """The verdict is the brute-forced truth."""
    wrong = []
    for row in recorded.symbolic():
        bounds = []
        shapes = [tuple(dim(d, bounds) for d in s) for s in row["shapes"]]
        rule, shapes, attributes = recorded.question(row["rule"], row["attrs"], shapes)
        assume = [a for name, interval in bounds for a in assumption(name, interval)]
        try:
            result = sb.broadcast(*shapes, rule=rule, assume=assume, **attributes)
        except sb.RuleArgumentError:
            verdict = "never"
        else:
            verdict = result.verdict.value
        if verdict != row["truth"]:
            wrong.append((row, verdict))
    assert wrong == []


def test_a_bare_unknown_is_fresh_each_time():
    first, second = sb.shape("?")[0], sb.shape("?")[0]
    assert isinstance(first, sb.Unknown)
    assert first != second
