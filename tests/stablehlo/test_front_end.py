import pytest

import symbcast as sb

pytest.importorskip("jaxlib")

TYPE = "tensor<?xf32>"
ASSERTED = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %c = stablehlo.compare GE, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%c, %n) {error_message = "Expected {0} >= 2", has_side_effect = true}
      : (tensor<i1>, tensor<i32>) -> ()
  %r = stablehlo.add %x, %y : tensor<?xf32>
  return %r : tensor<?xf32>
}"""


def test_assertions_are_required_with_their_message():
    report = sb.stablehlo.check(ASSERTED)
    assert report.equivalent("arg0_0 >= 2 and arg0_0 == arg1_0")
    reasons = [f.reason for f in report.findings]
    assert "the module asserts it: Expected arg0_0 >= 2" in reasons


def test_assertions_can_be_left_out():
    report = sb.stablehlo.check(ASSERTED, runtime="unasserted")
    assert str(report.condition) == "arg0_0 == arg1_0"


def test_gaps_of_assertions():
    refused, missed = sb.stablehlo.check(ASSERTED).gaps
    assert (refused.kind, refused.node, refused.sizes) == (
        "refuses",
        "stablehlo.custom_call",
        {"arg0_0": 1, "arg1_0": 1},
    )
    assert (missed.kind, missed.node, missed.sizes) == ("misses", "%2", {"arg0_0": 2, "arg1_0": 1})
    assert str(missed).startswith("%2 fails at sizes that pass all assertions, such as arg0_0=2, arg1_0=1: ")


def test_assertions_that_say_what_the_module_requires_have_no_gaps():
    text = ASSERTED.replace("dense<2>", "dense<1>").replace("%y : tensor<?xf32>", "%x : tensor<?xf32>")
    assert sb.stablehlo.check(text).gaps == ()


BROADCAST = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {{
  %n = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %t = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %r = "stablehlo.dynamic_broadcast_in_dim"(%x, %t) {{broadcast_dimensions = array<i64: 0>{hint}}}
      : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  {after}
  return %r : tensor<?xf32>
}}"""
EQUAL = "%s = stablehlo.add %x, %y : tensor<?xf32>"
EXPANDING = ", known_expanding_dimensions = array<i64: 0>"
NONEXPANDING = ", known_nonexpanding_dimensions = array<i64: 0>"


@pytest.mark.parametrize(
    ("hint", "after", "found"),
    [
        ("", "", []),
        ("", EQUAL, [("nonexpanding", "suggested", None)]),
        (NONEXPANDING, EQUAL, [("nonexpanding", "proven", None)]),
        (NONEXPANDING, "", [("nonexpanding", "wrong", {"arg0_0": 1, "arg1_0": 2})]),
        (EXPANDING, "", [("expanding", "wrong", {"arg0_0": 2, "arg1_0": 2})]),
    ],
)
def test_hints_of_broadcasts_are_proven_refuted_or_suggested(hint, after, found):
    report = sb.stablehlo.check(BROADCAST.format(hint=hint, after=after))
    assert [(h.kind, h.status, h.sizes) for h in report.hints] == found


def test_every_branch_is_required():
    text = """
    func.func @main(%p: tensor<i32>, %x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
      %r = "stablehlo.case"(%p) ({
        stablehlo.return %x : tensor<?xf32>
      }, {
        %s = stablehlo.add %y, %z : tensor<?xf32>
        stablehlo.return %x : tensor<?xf32>
      }) : (tensor<i32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }"""
    assert str(sb.stablehlo.check(text).condition) == "arg2_0 == arg3_0"


def test_a_loop_that_changes_a_size_runs_only_if_it_does_not():
    text = """
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %true = stablehlo.constant dense<true> : tensor<i1>
      %r = stablehlo.while(%a = %x) : tensor<?xf32>
        cond {
          stablehlo.return %true : tensor<i1>
        } do {
          %s = stablehlo.concatenate %a, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
          stablehlo.return %s : tensor<?xf32>
        }
      return %r : tensor<?xf32>
    }"""
    assert sb.stablehlo.check(text).verdict is sb.Verdict.NEVER
    assert str(sb.stablehlo.check(text, min_size=0).condition) == "arg1_0 == 0"


def test_a_requirement_on_a_counter_is_not_taken_for_granted():
    """The slice is in the vector in the first iterations only."""
    text = """
    func.func @main(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<i32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %step = stablehlo.constant dense<1> : tensor<1xi32>
      %r = stablehlo.while(%i = %zero) : tensor<i32>
        cond {
          %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %j = stablehlo.add %i, %one : tensor<i32>
          %a = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
          %b = stablehlo.reshape %j : (tensor<i32>) -> tensor<1xi32>
          %s = stablehlo.real_dynamic_slice %x, %a, %b, %step
              : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
          stablehlo.return %j : tensor<i32>
        }
      return %r : tensor<i32>
    }"""
    report = sb.stablehlo.check(text)
    assert report.verdict is sb.Verdict.UNKNOWN
    assert "what its body requires in every iteration" in str(report.unanalysed)


def test_floor_divisions_of_jax_are_one_term():
    jax = pytest.importorskip("jax")
    from jax import export

    (n,) = export.symbolic_shape("n")
    exported = export.export(jax.jit(lambda x: jax.numpy.roll(x, 3)[: -(-x.shape[0] // 2)]))(
        jax.ShapeDtypeStruct((n,), "float32")
    )
    report = sb.stablehlo.check(exported, min_size=1)
    assert report.verdict is sb.Verdict.ALWAYS
    assert [str(s) for s in report.outputs.values()] == ["((n + 1)//2,)"]


def test_answers_have_all_forms_of_the_shared_layer():
    report = sb.stablehlo.check(ASSERTED, bind={"arg0_0": 3}, assume="arg1_0 <= 4")
    assert str(report.condition) == "arg1_0 == 3"
    assert report.witness() == {"arg0_0": 3, "arg1_0": 3}
    assert report.to_dict()["runtime"] == "stablehlo"
    assert "the module asserts it" in sb.stablehlo.check(ASSERTED).explain()


def test_an_assertion_that_an_operation_implies_has_no_gap():
    """The slice needs 4 elements, and the assertion before it says so."""
    text = """
    func.func @main(%x: tensor<?xf32>) -> tensor<2xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %four = stablehlo.constant dense<4> : tensor<i32>
      %c = stablehlo.compare GE, %n, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(%c) {error_message = "too short", has_side_effect = true}
          : (tensor<i1>) -> ()
      %r = stablehlo.slice %x [1:4:2] : (tensor<?xf32>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    }"""
    assert sb.stablehlo.check(text).gaps == ()
    (gap,) = sb.stablehlo.check(text.replace("dense<4>", "dense<3>")).gaps
    assert (gap.kind, gap.sizes) == ("misses", {"arg0_0": 3})
    (gap,) = sb.stablehlo.check(text.replace("dense<4>", "dense<5>")).gaps
    assert (gap.kind, gap.sizes) == ("refuses", {"arg0_0": 4})


@pytest.mark.parametrize(
    "choice",
    [
        "%k = stablehlo.select %p, %minus, %n : tensor<i1>, tensor<i32>",
        """%k = "stablehlo.if"(%p) ({
          stablehlo.return %minus : tensor<i32>
        }, {
          stablehlo.return %n : tensor<i32>
        }) : (tensor<i1>) -> tensor<i32>""",
    ],
)
def test_a_negative_size_is_refused_where_it_is_chosen(choice):
    text = f"""
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %minus = stablehlo.constant dense<-1> : tensor<i32>
      %p = stablehlo.compare LT, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      {choice}
      %t = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
      %r = stablehlo.dynamic_iota %t, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }}"""
    assert str(sb.stablehlo.check(text).condition) == "arg0_0 >= 2"


def test_sizes_are_not_said_to_run_where_a_part_is_not_analysed():
    line = "  %r = stablehlo.add %x, %y : tensor<?xf32>"
    unknown = ASSERTED.replace(line, f"  %k = stablehlo.custom_call @kernel(%x) : ({TYPE}) -> {TYPE}\n{line}")
    assert [gap.kind for gap in sb.stablehlo.check(ASSERTED).gaps] == ["refuses", "misses"]
    assert [gap.kind for gap in sb.stablehlo.check(unknown).gaps] == ["misses"]


def test_gaps_have_sizes_of_inputs_only():
    """The loop has a counter, which is no size of an input."""
    loop = """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %i = stablehlo.while(%k = %zero) : tensor<i32>
    cond {
      %l = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %j = stablehlo.add %k, %two : tensor<i32>
      stablehlo.return %j : tensor<i32>
    }
"""
    refused, missed = sb.stablehlo.check(ASSERTED.replace("  %c =", f"{loop}  %c =")).gaps
    assert refused.sizes == {"arg0_0": 1, "arg1_0": 1}
    assert missed.sizes == {"arg0_0": 2, "arg1_0": 1}


def test_a_new_size_is_named_after_its_operator():
    """MLIR numbers operations without a name."""
    text = f"""func.func @main(%x: {TYPE}) -> {TYPE} {{
      %0 = stablehlo.custom_call @kernel(%x) : ({TYPE}) -> {TYPE}
      return %0 : {TYPE}
    }}"""
    assert [str(s) for s in sb.stablehlo.check(text).outputs.values()] == ["(custom_call_0_0_0,)"]


def test_axes_that_no_group_of_processes_changes_are_known():
    text = """func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
          channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }"""
    report = sb.stablehlo.check(text)
    assert [str(s) for s in report.outputs.values()] == ["(arg0_0, all_gather_0_0_1)"]
    assert "the number of partitions decides" in str(report.unanalysed)
    known = sb.stablehlo.check(f"module attributes {{mhlo.num_partitions = 3 : i32}} {{ {text} }}")
    assert [str(s) for s in known.outputs.values()] == ["(arg0_0, 6*arg0_1)"]


def test_branches_that_differ_are_shown():
    text = f"""func.func @main(%p: tensor<i1>, %x: {TYPE}, %y: {TYPE}) -> {TYPE} {{
      %r = "stablehlo.if"(%p) ({{ stablehlo.return %x : {TYPE} }}, {{ stablehlo.return %y : {TYPE} }})
          : (tensor<i1>) -> {TYPE}
      return %r : {TYPE}
    }}"""
    (finding,) = sb.stablehlo.check(text).findings
    assert finding.reason == "result 0 must have one shape in all branches, not (arg1_0,) and (arg2_0,)"


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (
            '"stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x0xi64>}'
            " : (tensor<?xf32>)",
            "how many processes there are decides",
        ),
        (
            '"stablehlo.custom_call"(%x) {call_target_name = "f", indices_of_shape_operands = dense<[0, 0]>'
            " : tensor<2xi64>} : (tensor<?xf32>)",
            "indices_of_shape_operands does not name an operand for each result",
        ),
        (
            '"stablehlo.rng_bit_generator"(%s) {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}'
            " : (tensor<ui64>) -> (tensor<ui64>, tensor<2xui64>)",
            "the state must have one axis",
        ),
    ],
)
def test_what_the_module_does_not_say_is_unknown(operation, reason):
    results = "" if "->" in operation else f" -> {TYPE}"
    count = ":2" if "ui64>)" in operation else ""
    report = sb.stablehlo.check(f"""func.func @main(%x: {TYPE}, %s: tensor<ui64>) -> {TYPE} {{
      %r{count} = {operation}{results}
      return %x : {TYPE}
    }}""")
    assert reason in str(report.unanalysed)
    assert report.verdict is not sb.Verdict.NEVER


def test_shapes_that_refine_arguments_keeps_are_required():
    report = sb.stablehlo.check(f"""func.func @main(%x: {TYPE}) -> {TYPE} {{
      %s = stablehlo.constant dense<3> : tensor<1xi64>
      %r = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, %s)
          {{indices_of_shape_operands = dense<1> : tensor<1xi64>}} : ({TYPE}, tensor<1xi64>) -> {TYPE}
      return %r : {TYPE}
    }}""")
    assert report.equivalent("arg0_0 == 3")
    assert not report.unanalysed
