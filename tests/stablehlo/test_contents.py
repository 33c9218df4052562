"""Sizes that a module computes from the sizes of its arguments, element by element."""

import pytest

import symbcast as sb

pytest.importorskip("jaxlib")

COMPUTED = """
!any = tensor<?x?xf32>
!zero = tensor<i32>
!one = tensor<1xi32>
!two = tensor<2xi32>
func.func @main(%x: !any) -> tensor<?xf32> {{
  %n = stablehlo.get_dimension_size %x, dim = 0 : (!any) -> !zero
  %m = stablehlo.get_dimension_size %x, dim = 1 : (!any) -> !zero
  %a = stablehlo.reshape %n : (!zero) -> !one
  %b = stablehlo.reshape %m : (!zero) -> !one
  %nm = stablehlo.concatenate %a, %b, dim = 0 : (!one, !one) -> !two
  %c0 = stablehlo.constant dense<0> : !zero
  %c3 = stablehlo.constant dense<3> : !zero
  %c7 = stablehlo.constant dense<7> : !one
  %s = {computed}
  %r = stablehlo.dynamic_iota %{size}, dim = 0 : (!one) -> tensor<?xf32>
  return %r : tensor<?xf32>
}}"""
SLICED = "\n  %k = stablehlo.slice %s [{0}:{1}] : (!two) -> !one"
FIRST, SECOND, WHOLE = SLICED.format(0, 1), SLICED.format(1, 2), "\n  %k = stablehlo.reshape %s : (!zero) -> !one"
GATHER = "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>"


@pytest.mark.parametrize(
    ("computed", "size"),
    [
        ("stablehlo.reverse %nm, dims = [0] : !two" + FIRST, "arg0_1"),
        ("stablehlo.dynamic_update_slice %nm, %b, %c0 : (!two, !one, !zero) -> !two" + FIRST, "arg0_1"),
        ("stablehlo.dynamic_update_slice %nm, %a, %c3 : (!two, !one, !zero) -> !two" + SECOND, "arg0_0"),
        ("stablehlo.dynamic_update_slice %a, %b, %n : (!one, !one, !zero) -> !one", "arg0_1"),
        ("stablehlo.dynamic_slice %nm, %n, sizes = [2] : (!two, !zero) -> !two" + SECOND, "arg0_1"),
        ("stablehlo.pad %nm, %c3, low = [1], high = [-2], interior = [0] : (!two, !zero) -> !one", "3"),
        ("stablehlo.pad %nm, %c3, low = [2], high = [-3], interior = [0] : (!two, !zero) -> !one", "3"),
        ("stablehlo.pad %nm, %c3, low = [-1], high = [0], interior = [0] : (!two, !zero) -> !one", "arg0_1"),
        (
            "stablehlo.reduce(%nm init: %c3) applies stablehlo.maximum across dimensions = [0] : (!two, !zero) -> !zero"
            + WHOLE,
            "max(arg0_0, arg0_1, 3)",
        ),
        (
            "stablehlo.reduce(%nm init: %c3) applies stablehlo.add across dimensions = [0] : (!two, !zero) -> !zero"
            + WHOLE,
            "arg0_0 + arg0_1 + 3",
        ),
        (
            f'"stablehlo.gather"(%nm, %c7) <{{dimension_numbers = {GATHER}, slice_sizes = array<i64: 1>}}>'
            f" : (!two, !one) -> !zero{WHOLE}",
            "arg0_1",
        ),
    ],
)
def test_elements_are_followed(computed, size):
    report = sb.stablehlo.check(COMPUTED.format(computed=computed, size="k" if "%k" in computed else "s"))
    assert [str(s) for s in report.outputs.values()] == [f"({size},)"]
    assert report.verdict is sb.Verdict.ALWAYS


def test_an_element_at_a_place_that_sizes_decide_is_unknown():
    computed = "stablehlo.dynamic_slice %nm, %n, sizes = [1] : (!two, !zero) -> !one"
    report = sb.stablehlo.check(COMPUTED.format(computed=computed, size="s"))
    assert report.verdict is sb.Verdict.UNKNOWN
    assert "element 0 of %5 must be a size" in str(report.unanalysed)
