import signal
import subprocess
import sys

import pytest

import symbcast as sb

pytest.importorskip("jaxlib")

from symbcast.stablehlo.mlir import dialect
from symbcast.stablehlo.reader import MAX_OPERATIONS

TYPE = "tensor<?xf32>"
SAME = f"func.func @main(%x: {TYPE}) -> {TYPE} {{\n  return %x : {TYPE}\n}}\n"


def calls(count, width=1):
    """A chain of functions, each of which calls the next one ``width`` times."""
    text = f"func.func @main(%x: {TYPE}) -> {TYPE} {{\n%0 = call @f0(%x) : ({TYPE}) -> {TYPE}\nreturn %0 : {TYPE}\n}}\n"
    for n in range(count):
        text, value = f"{text}func.func private @f{n}(%x: {TYPE}) -> {TYPE} {{\n", "%x"
        for k in range(width if n + 1 < count else 0):
            text, value = f"{text}%{k} = call @f{n + 1}({value}) : ({TYPE}) -> {TYPE}\n", f"%{k}"
        text = f"{text}return {value} : {TYPE}\n}}\n"
    return text


def nested(count):
    """Branches in branches."""
    text = f"func.func @main(%p: tensor<i1>, %x: {TYPE}) -> {TYPE} {{\n"
    text += "".join(f'%r{n} = "stablehlo.if"(%p) ({{\n' for n in range(count))
    text += f"stablehlo.return %x : {TYPE}\n"
    for n in reversed(range(count)):
        text += f"}}, {{\nstablehlo.return %x : {TYPE}\n}}) : (tensor<i1>) -> {TYPE}\n"
        text += f"stablehlo.return %r{n} : {TYPE}\n" if n else f"return %r0 : {TYPE}\n"
    return text + "}"


def test_a_parser_that_crashes_is_an_error():
    with pytest.raises(sb.ModelError, match="MLIR's parser crashes on it; it may be damaged, or nested too deeply"):
        sb.stablehlo.check(nested(5000))
    assert sb.stablehlo.check(SAME).verdict is sb.Verdict.ALWAYS


def test_a_division_by_zero_in_the_parser_is_an_error():
    text = """func.func @main(%x: tensor<4x16xf32>) -> tensor<16x4xf32> {
      %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64,
          replica_groups = dense<0> : tensor<0x2xi64>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
      return %0 : tensor<16x4xf32>
    }"""
    with pytest.raises(sb.ModelError, match="MLIR"):
        sb.stablehlo.check(text)


@pytest.mark.parametrize("text", [nested(500), calls(1000), calls(30, 2)])
def test_deep_modules_are_unknown(text):
    report = sb.stablehlo.check(text)
    assert report.verdict is sb.Verdict.UNKNOWN
    assert "nested too deeply" in str(report.unanalysed) or "expand to too many nodes" in str(report.unanalysed)


def test_recursion_is_an_error():
    text = SAME.replace("  return", f"  %0 = call @main(%x) : ({TYPE}) -> {TYPE}\n  return")
    with pytest.raises(sb.ModelError, match="the function main calls itself"):
        sb.stablehlo.check(text)
    around = text.replace("@main(%x) :", "@other(%x) :") + text.replace("@main(%x: ", "@other(%x: ")
    with pytest.raises(sb.ModelError, match="the function main calls itself"):
        sb.stablehlo.check(around)


def test_large_modules_are_an_error():
    lines = "".join(f"%{n + 1} = stablehlo.add %{n}, %{n} : {TYPE}\n" for n in range(MAX_OPERATIONS))
    text = f"func.func @main(%0: {TYPE}) -> {TYPE} {{\n{lines}return %{MAX_OPERATIONS} : {TYPE}\n}}"
    with pytest.raises(sb.ModelError, match="has more than 50000 operations"):
        sb.stablehlo.check(text)


def test_large_constants_are_not_expanded():
    text = SAME.replace("  return", "  %c = stablehlo.constant dense<1> : tensor<100000000000xi32>\n  return")
    report = sb.stablehlo.check(text)
    assert str(report.shapes["%c"]) == "(100000000000,)"


@pytest.mark.parametrize("name", ["foo.bar", "mhlo.copy", "cf.br"])
def test_unknown_operators_are_never_passed(name):
    line = f'  %0 = "{name}"(%x) : ({TYPE}) -> {TYPE}\n'
    block = f"  cf.br ^next\n^next:\n  return %x : {TYPE}"
    text = (
        SAME.replace(f"  return %x : {TYPE}", block) if name == "cf.br" else SAME.replace("  return", f"{line}  return")
    )
    report = sb.stablehlo.check(text)
    assert report.verdict is sb.Verdict.UNKNOWN
    assert [u.reason for u in report.unanalysed] == ["the operator is not supported here"]


def test_truncated_and_damaged_bytecode_is_an_error():
    stablehlo = dialect("stablehlo")
    data = stablehlo.serialize_portable_artifact_str(SAME, stablehlo.get_current_version())
    for end in range(1, len(data), 7):
        with pytest.raises(sb.ModelError):
            sb.stablehlo.check(data[:end])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty"),
        ("", "is empty"),
        (b"\x00\xff\xfe" * 9, "is neither MLIR bytecode nor text"),
        ("x = {", "MLIR does not read it: 1:1"),
        ("no_such.mlir", "there is no such file"),
        (
            SAME.replace("main(%x: tensor<?xf32>)", "main(%x: tensor<?x!quant.uniform<i8:f32, 0.1>>)"),
            "MLIR does not read it",
        ),
        ("module {\n}", "has no function with a body"),
    ],
)
def test_anything_else_is_an_error(data, problem):
    with pytest.raises(sb.ModelError, match=problem):
        sb.stablehlo.check(data)


def test_a_name_that_is_no_text_is_an_error():
    stablehlo = dialect("stablehlo")
    named = SAME.replace("@main", "@names")
    data = stablehlo.serialize_portable_artifact_str(named, stablehlo.get_current_version())
    with pytest.raises(sb.ModelError, match="MLIR does not read it: a name in it is no UTF-8"):
        sb.stablehlo.check(data.replace(b"names", b"\xff\xfe\xff\xfe\xff"))


def test_work_that_does_not_end_is_ended():
    pytest.importorskip("resource")
    code = "from symbcast.stablehlo.reader import _limited\nwith _limited(0):\n    while True: pass"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGXCPU
