import json
import subprocess
import sys

import pytest

import symbcast as sb

pytest.importorskip("jaxlib")

from symbcast.stablehlo.mlir import dialect, parsed

TEXT = """
module @dot attributes {jax.uses_shape_polymorphism = true} {
  func.func public @main(%a: tensor<?x?xf32> loc("x"), %b: tensor<?x8xf32>)
      -> (tensor<?x8xf32> {jax.result_info = "y"}) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> loc("scores")
    return %0 : tensor<?x8xf32>
  }
  func.func private @other(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.add %a, %b : tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
"""


def artifact(text):
    stablehlo = dialect("stablehlo")
    return stablehlo.serialize_portable_artifact_str(text, stablehlo.get_current_version())


def bytecode(text):
    from io import BytesIO

    written = BytesIO()
    parsed(text).operation.write_bytecode(written)
    return written.getvalue()


@pytest.mark.parametrize("form", [str, str.encode, artifact, bytecode, parsed])
def test_a_module_is_read_from_text_bytes_artifacts_and_objects(form):
    report = sb.stablehlo.check(form(TEXT))
    assert str(report.condition) == "x_1 == arg1_0"
    assert {name: str(shape) for name, shape in report.outputs.items()} == {"y": "(x_0, 8)"}
    assert [(f.operation, f.kind) for f in report.findings] == [("scores", "stablehlo.dot_general")]


@pytest.mark.parametrize(("ending", "form"), [(".mlir", str.encode), (".mlirbc", bytecode), (".mlir.bc", artifact)])
def test_a_module_is_read_from_a_file(tmp_path, ending, form):
    path = tmp_path / f"model{ending}"
    path.write_bytes(form(TEXT))
    assert str(sb.stablehlo.check(path).condition) == "x_1 == arg1_0"
    assert sb.stablehlo.check(str(path)).source == str(path)


def test_the_command_line_reads_modules(tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text(TEXT)
    arguments = [sys.executable, "-m", "symbcast", "model", str(path), "--format", "json"]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stderr
    (found,) = json.loads(ended.stdout)["models"]
    assert found["condition"] == "x_1 == arg1_0"


def test_findings_have_the_line_of_the_text(tmp_path):
    path = tmp_path / "model.mlir"
    path.write_text(TEXT.replace(' loc("scores")', ""))
    (finding,) = sb.stablehlo.check(path).findings
    assert finding.where == f"line {path}:5"


def test_an_exported_function_is_read_with_the_names_of_its_dimension_variables():
    jax = pytest.importorskip("jax")
    from jax import export

    b, n = export.symbolic_shape("b, n")
    shapes = [jax.ShapeDtypeStruct((b, n), "float32"), jax.ShapeDtypeStruct((n + 1,), "float32")]
    exported = export.export(jax.jit(lambda x, y: x.sum(1) + y[1:].sum()))(*shapes)
    report = sb.stablehlo.check(exported)
    assert {name: str(shape) for name, shape in report.inputs.items()} == {"x": "(b, n)", "y": "(y_0,)"}
    assert str(report.condition) == "n + 1 == y_0"
    assert [str(s) for s in report.outputs.values()] == ["(b,)"]


def test_functions_are_chosen_by_name():
    assert str(sb.stablehlo.check(TEXT, function="other").condition) == "arg0_0 == arg1_0"
    with pytest.raises(sb.ModelError, match="has no function third; its functions are main, other"):
        sb.stablehlo.check(TEXT, function="third")


def test_without_main_the_only_public_function_is_checked():
    assert str(sb.stablehlo.check(TEXT.replace("@main", "@first")).condition) == "x_1 == arg1_0"
    both = TEXT.replace("@main", "@first").replace("private @other", "@other")
    with pytest.raises(sb.ModelError, match="has no function main, but first, other; choose one by name"):
        sb.stablehlo.check(both)


def test_bounds_of_types_are_assumed_and_required():
    text = """
    func.func @main(%x: tensor<?xf32, #stablehlo.bounds<5>>) -> tensor<?xf32, #stablehlo.bounds<8>> {
      %0 = stablehlo.concatenate %x, %x, dim = 0
          : (tensor<?xf32, #stablehlo.bounds<5>>, tensor<?xf32, #stablehlo.bounds<5>>)
          -> tensor<?xf32, #stablehlo.bounds<8>>
      return %0 : tensor<?xf32, #stablehlo.bounds<8>>
    }"""
    report = sb.stablehlo.check(text)
    assert str(report.condition) == "arg0_0 <= 4"
    assert report.assumptions == ("arg0_0 <= 5",)
    assert sb.stablehlo.check(text.replace("bounds<8>", "bounds<10>")).verdict is sb.Verdict.ALWAYS


def test_scalar_integers_are_sizes():
    text = """
    func.func @main(%n: tensor<i32>, %x: tensor<?xf32>) -> tensor<?x2xf32> {
      %two = stablehlo.constant dense<2> : tensor<1xi32>
      %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %to = stablehlo.concatenate %rows, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %0 = stablehlo.dynamic_reshape %x, %to : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
      return %0 : tensor<?x2xf32>
    }"""
    assert str(sb.stablehlo.check(text).condition) == "arg1_0 == 2*arg0"
    report = sb.stablehlo.check(text, values={"arg0": 3})
    assert (str(report.condition), str(report.outputs["result0"])) == ("arg1_0 == 6", "(3, 2)")


@pytest.mark.parametrize("value", [5, None, ["module {}"], object()])
def test_other_objects_are_refused(value):
    with pytest.raises(sb.ShapeTypeError, match="is not a StableHLO module; give a path, text, bytes"):
        sb.stablehlo.check(value)


def test_constants_in_resources_are_data():
    text = """
    module {
      func.func @main(%x: tensor<?xf32>) -> tensor<?x?xf32> {
        %to = stablehlo.constant dense_resource<sizes> : tensor<2xi32>
        %0 = stablehlo.dynamic_reshape %x, %to : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
        return %0 : tensor<?x?xf32>
      }
    }
    {-# dialect_resources: {builtin: {sizes: "0x040000000100000001000000"}} #-}"""
    report = sb.stablehlo.check(text)
    assert report.verdict is sb.Verdict.UNKNOWN
    assert "must be a size" in str(report.unanalysed)


def test_complex_constants_are_read():
    text = """
    func.func @main(%x: tensor<?xf32>) -> tensor<2xcomplex<f32>> {
      %0 = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>
      return %0 : tensor<2xcomplex<f32>>
    }"""
    assert sb.stablehlo.check(text).verdict is sb.Verdict.ALWAYS


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        (
            "%0 = linalg.copy %x",
            "lower linalg to StableHLO: this jaxlib reads no operators of it in their own notation",
        ),
        ("%0 = stablehlo.abs %y : tensor<?xf32>", "correct it there, or write it with a StableHLO that"),
    ],
)
def test_text_that_is_not_read_says_what_to_do(line, hint):
    with pytest.raises(sb.ModelError, match=hint):
        sb.stablehlo.check(f"func.func @main(%x: tensor<?xf32>) {{\n  {line}\n  return\n}}")
