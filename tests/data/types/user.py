"""What a user writes, for type checkers: each line with an error in it says so; all others have none."""

from typing import assert_type

import symbcast as sb

result = sb.broadcast("N, 3", ("M", 1), assume=["N >= 2"], min_size=1)
assert_type(result, sb.Result)
assert_type(result.shape, sb.Shape | None)
assert_type(result.verdict, sb.Verdict)
assert_type(result.witness(), dict[str, int] | None)
assert_type(result.evaluate(N=2, M=1), tuple[int, ...])
assert_type(result.to_dict()["verdict"], str)
assert_type(sb.Condition(result) & "N == 2", sb.Condition)

env = sb.ShapeEnv(assume="N >= 2")
assert_type(env.broadcast("N", (None, 3), origin="add"), sb.Shape)
assert_type(env.fork(), sb.ShapeEnv)
with env.assuming("M > 2") as branch:
    assert_type(branch, sb.ShapeEnv)

assert_type(sb.compare("N", "M", rules=["numpy", "none"]), sb.Comparison)
assert_type(sb.relation("numpy", "none", rank=2), sb.Relation)
assert_type(sb.equivalent(result, result), bool)
assert_type(result.expands("A", 0), sb.Expansion)
assert_type(env.implies("N == M"), bool)

report = sb.onnx.check("model.onnx", assume="N > 2")
assert_type(report, sb.onnx.ModelReport)
assert_type(report.outputs, dict[str, sb.Shape | None])
assert_type(sb.openvino.check("model.xml", min_size=0), sb.openvino.OpenVinoReport)


def decided(answer: sb.Answer) -> str:
    """Every kind of answer is asked in the same words."""
    assert_type(answer.verdict, sb.Verdict)
    assert_type(answer.condition, sb.Condition)
    assert_type(answer.witness(), dict[str, int] | None)
    assert_type(answer.counterexample(), dict[str, int] | None)
    assert_type(answer.implies("N == 1"), bool)
    assert_type(answer.equivalent(answer.condition), bool)
    assert_type(answer.guard()(N=1), bool)
    assert_type(answer.explain(), str)
    return answer.to_python("fits")


decided(result)
decided(env)
decided(report)
decided(sb.trace(len, "N"))
decided(sb.solve("N", "M", out="3"))
paths = sb.explore_paths(len, "N")
decided(paths)
assert_type(paths.cases[0].condition, sb.Condition)
assert_type(sb.Condition(report) & paths, sb.Condition)
assert_type(sb.equivalent(report, paths), bool)
assert_type(sb.relation("numpy", "none", rank=2).order is sb.Order.EQUAL, bool)

try:
    result.require()
except sb.BroadcastError as error:
    if error.result is not None:
        assert_type(error.result.explain(), str)

sb.nonsense  # error
sb.onnx.nonsense  # error
sb.openvino.nonsense  # error
result.nonsense  # error
report.nonsense  # error
sb.broadcast("N", min_size="1")  # error
sb.Answer()  # error
result.scope  # error
